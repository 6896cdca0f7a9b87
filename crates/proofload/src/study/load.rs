//! From a name to a study that keeps every rule.

use std::collections::BTreeSet;
use std::io;
use std::path::Path;

use config::{ConfigError, Diagnostic, Document, Format, Source};

use super::bundled::{BUNDLED_STUDIES, BundledStudy, bundled_study};
use super::description::{Figure, Study};
use crate::files::Files;
use execution::Error;

impl BundledStudy {
    /// Its name for people.
    ///
    /// # Errors
    /// Everything that is wrong with its TOML, which tests keep empty.
    pub fn title(self) -> Result<String, ConfigError> {
        Study::load(&[Source::file(self.name, self.toml)]).map(|study| study.title)
    }
}

/// A study with the name it goes by.
#[derive(Clone, Debug)]
pub struct NamedStudy {
    /// The bundled name, or the stem of the file's name.
    pub name: String,
    /// Cases, figures and charts of the study.
    pub study: Study,
}

/// The studies of these names and paths; all bundled ones when there is none.
pub fn load(names: &[String]) -> Result<Vec<NamedStudy>, Error> {
    let all = || BUNDLED_STUDIES.iter().map(|study| study.name.to_owned());
    let names: Vec<String> = match names {
        [] => all().collect(),
        names => names.to_vec(),
    };
    let mut studies: Vec<NamedStudy> = Vec::new();
    for name in &names {
        let (name, text) = text_of(name)?;
        if studies.iter().any(|study| study.name == name) {
            continue;
        }
        let study = Study::load(&[Source::file(&name, &text)])?;
        studies.push(NamedStudy { name, study });
    }
    Ok(studies)
}

/// The text of a study: a bundled name, or the path of a file.
fn text_of(name: &str) -> Result<(String, String), Error> {
    if let Some(study) = bundled_study(name) {
        return Ok((study.name.to_owned(), study.toml.to_owned()));
    }
    match Files::default().read_text(name) {
        Ok(text) => {
            let stem = Path::new(name).file_stem().unwrap_or_default();
            Ok((stem.to_string_lossy().into_owned(), text))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names: Vec<&str> = BUNDLED_STUDIES.iter().map(|study| study.name).collect();
            Err(Error::usage(
                format!("There is no bundled study and no file called '{name}'."),
                format!(
                    "Name one of {}, or give the path of a TOML file.",
                    names.join(", ")
                ),
            ))
        }
        Err(error) => Err(Error::usage(
            format!("The study {name} cannot be read: {error}."),
            "Give the path of a readable TOML file, or a name from 'proofload list studies'.",
        )),
    }
}

impl Study {
    /// Reads a study: files and assignments, each over those before it.
    ///
    /// # Errors
    /// Everything that is wrong, each with its place.
    pub fn load(sources: &[Source]) -> Result<Self, ConfigError> {
        static STUDY: Format = Format::plain("study");
        let document = Document::load_with_rules(&STUDY, sources, broken)?;
        let found = broken(&document);
        Ok(document.accept(found)?.settings)
    }
}

/// The rules that a study breaks.
fn broken(document: &Document<Study>) -> Vec<Diagnostic> {
    let study = &document.settings;
    let mut found = Vec::new();
    let mut report = |path: &str, message: String| {
        found.push(document.diagnostic(path, message, None));
    };
    check_cases(study, &mut report);
    check_figures(study, &mut report);
    check_charts(study, &mut report);
    found
}

fn check_cases(study: &Study, report: &mut impl FnMut(&str, String)) {
    if study.defaults.title.is_some() {
        let message = "the title of all cases would be the same; give each its own";
        report("defaults.title", message.to_owned());
    }
    for (name, case) in &study.case {
        let path = format!("case.{name}");
        let case = case.over(&study.defaults);
        if case.workload.is_none() {
            report(&path, format!("case {name} names no workload"));
        }
        if case.array.is_none() {
            report(&path, format!("case {name} names no array"));
        }
        let safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if name.is_empty() || !name.chars().all(safe) {
            let message = format!("'{name}' may hold letters, digits and hyphens only");
            report(&path, message);
        }
    }
}

fn check_figures(study: &Study, report: &mut impl FnMut(&str, String)) {
    let mut seen = BTreeSet::new();
    for (number, figure) in study.figure.iter().enumerate() {
        let mut report = |key: &str, problem: &str| {
            let path = format!("figure.{number}.{key}");
            report(&path, format!("figure {} {problem}", figure.id));
        };
        if !seen.insert(&figure.id) {
            report("id", "is there twice");
        }
        if let Some((key, problem)) = problem_of(study, figure) {
            report(key, &problem);
        }
    }
}

/// What is wrong with a figure, and the key to change.
fn problem_of(study: &Study, figure: &Figure) -> Option<(&'static str, String)> {
    for (key, names) in [
        ("cases", &figure.cases),
        ("baseline_cases", &figure.baseline_cases),
    ] {
        if let Some(name) = names.iter().find(|name| !study.case.contains_key(*name)) {
            let message = format!("names the case {name}, which is not described");
            return Some((key, message));
        }
    }
    let is_modelled = figure.measure.is_some();
    let pairs = figure.baseline_cases.len();
    let zero = figure.published == 0.0 && figure.bound.is_none();
    let rules = [
        (
            is_modelled && figure.not_modelled.is_some(),
            "not_modelled",
            "has a measure and a reason against it",
        ),
        (
            !is_modelled && figure.not_modelled.is_none(),
            "measure",
            "has neither a measure nor a reason in `not_modelled`",
        ),
        (
            !is_modelled && figure.not_comparable.is_some(),
            "not_comparable",
            "needs a measure",
        ),
        (
            is_modelled && figure.cases.is_empty(),
            "cases",
            "names no case with `cases`",
        ),
        (
            is_modelled && figure.baseline_cases.is_empty() != figure.comparison.is_none(),
            "comparison",
            "needs both `baseline_cases` and `comparison`, or neither",
        ),
        (
            is_modelled && pairs > 1 && pairs != figure.cases.len(),
            "baseline_cases",
            "needs one case in `baseline_cases`, or as many as in `cases`",
        ),
        (
            is_modelled && zero && figure.tolerance.is_none(),
            "published",
            "is zero, so it needs a `tolerance` in its unit",
        ),
    ];
    let mut broken = rules.into_iter().filter(|(is_broken, ..)| *is_broken);
    broken.next().map(|(_, key, rule)| (key, rule.to_owned()))
}

fn check_charts(study: &Study, report: &mut impl FnMut(&str, String)) {
    for (number, chart) in study.chart.iter().enumerate() {
        let places = match &chart.axis {
            Some(_) => chart.axis_values.len(),
            None => chart.names.len(),
        };
        for (turn, line) in chart.line.iter().enumerate() {
            let mut report = |key: &str, what: String| {
                let path = format!("chart.{number}.line.{turn}.{key}");
                report(&path, format!("chart '{}' {what}", chart.title));
            };
            let case = |name: &&String| !name.is_empty() && !study.case.contains_key(*name);
            if let Some(name) = line.cases.iter().find(case) {
                report(
                    "cases",
                    format!("names the case {name}, which is not described"),
                );
            }
            let figure = |name: &&String| {
                !name.is_empty() && !study.figure.iter().any(|figure| figure.id == **name)
            };
            if let Some(name) = line.figures.iter().find(figure) {
                let message = format!("names the figure {name}, which is not there");
                report("figures", message);
            }
            let points = line.cases.len().max(line.figures.len());
            let one = line.cases.is_empty() != line.figures.is_empty();
            if !one || points != places || (line.measure.is_some() == line.cases.is_empty()) {
                let message = format!(
                    "has a line '{}' that is not {places} cases with a measure, or as many figures",
                    line.name
                );
                report("name", message);
            }
        }
    }
}

#[cfg(test)]
mod tests;
