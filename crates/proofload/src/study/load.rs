//! From a name to a study that keeps every rule.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::Path;

use super::bundled::{BUNDLED_STUDIES, bundled_study};
use super::description::{Figure, Study};
use crate::failure::Failure;

/// A study with the name it goes by.
#[derive(Clone, Debug)]
pub struct Named {
    /// The bundled name, or the stem of the file's name.
    pub name: String,
    /// What it says.
    pub study: Study,
}

/// The studies of these names and paths; all bundled ones when there is none.
pub fn load(names: &[String]) -> Result<Vec<Named>, Failure> {
    let all = || BUNDLED_STUDIES.iter().map(|study| study.name.to_owned());
    let names: Vec<String> = match names {
        [] => all().collect(),
        names => names.to_vec(),
    };
    let mut studies: Vec<Named> = Vec::new();
    for name in &names {
        let (name, text) = text_of(name)?;
        if studies.iter().any(|study| study.name == name) {
            continue;
        }
        let study = parse(&text).map_err(|problem| faulty(&name, &problem))?;
        studies.push(Named { name, study });
    }
    Ok(studies)
}

fn faulty(name: &str, problem: &str) -> Failure {
    Failure::usage(
        format!("The study {name} is wrong: {}", problem.trim_end()),
        "'proofload show msa2040 --study' prints one that is right.",
    )
}

/// The text of a study: a bundled name, or the path of a file.
fn text_of(name: &str) -> Result<(String, String), Failure> {
    if let Some(study) = bundled_study(name) {
        return Ok((study.name.to_owned(), study.toml.to_owned()));
    }
    match fs::read_to_string(name) {
        Ok(text) => {
            let stem = Path::new(name).file_stem().unwrap_or_default();
            Ok((stem.to_string_lossy().into_owned(), text))
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let names: Vec<&str> = BUNDLED_STUDIES.iter().map(|study| study.name).collect();
            Err(Failure::usage(
                format!("There is no bundled study and no file called '{name}'."),
                format!(
                    "Name one of {}, or give the path of a TOML file.",
                    names.join(", ")
                ),
            ))
        }
        Err(error) => Err(Failure::usage(
            format!("The study {name} cannot be read: {error}."),
            "Give the path of a readable TOML file, or a name from 'proofload list studies'.",
        )),
    }
}

/// The study that a text describes, or what is wrong with it, as whole sentences.
pub fn parse(text: &str) -> Result<Study, String> {
    let study: Study = toml::from_str(text).map_err(|error| error.to_string())?;
    let mut wrong = Vec::new();
    check_cases(&study, &mut wrong);
    check_figures(&study, &mut wrong);
    check_charts(&study, &mut wrong);
    match wrong.is_empty() {
        true => Ok(study),
        false => Err(wrong.join("\n")),
    }
}

fn check_cases(study: &Study, wrong: &mut Vec<String>) {
    for (name, case) in &study.case {
        let case = case.over(&study.defaults);
        if case.workload.is_none() {
            wrong.push(format!("Case {name} names no workload."));
        }
        if case.array.is_none() {
            wrong.push(format!("Case {name} names no array."));
        }
        let safe = |letter: char| letter.is_ascii_alphanumeric() || letter == '-';
        if name.is_empty() || !name.chars().all(safe) {
            wrong.push(format!(
                "The name of case '{name}' may hold letters, digits and hyphens only."
            ));
        }
    }
}

fn check_figures(study: &Study, wrong: &mut Vec<String>) {
    let mut seen = BTreeSet::new();
    for figure in &study.figure {
        if !seen.insert(&figure.id) {
            wrong.push(format!("Figure {} is there twice.", figure.id));
        }
        if let Some(problem) = problem_of(study, figure) {
            wrong.push(format!("Figure {} {problem}", figure.id));
        }
    }
}

fn problem_of(study: &Study, figure: &Figure) -> Option<String> {
    if !figure.paper.is_finite() {
        return Some("has a published value that is not a number.".to_owned());
    }
    let unknown = |name: &&String| !study.case.contains_key(*name);
    if let Some(name) = figure.of.iter().chain(&figure.against).find(unknown) {
        return Some(format!("names the case {name}, which is not described."));
    }
    match (figure.measure, &figure.not_modelled) {
        (Some(_), Some(_)) => return Some("has a measure and a reason against it.".to_owned()),
        (None, None) => {
            return Some("has neither a measure nor a reason in `not_modelled`.".to_owned());
        }
        (None, Some(_)) => return None,
        (Some(_), None) => {}
    }
    if figure.of.is_empty() {
        return Some("names no case with `of`.".to_owned());
    }
    if figure.against.is_empty() != figure.relation.is_none() {
        return Some("needs both `against` and `as`, or neither.".to_owned());
    }
    let pairs = figure.against.len();
    if pairs > 1 && pairs != figure.of.len() {
        return Some("needs one case in `against`, or as many as in `of`.".to_owned());
    }
    let zero = figure.paper == 0.0 && figure.bound.is_none();
    if zero && figure.tolerance.is_none() {
        return Some("is zero, so it needs a `tolerance` in its unit.".to_owned());
    }
    None
}

fn check_charts(study: &Study, wrong: &mut Vec<String>) {
    for chart in &study.chart {
        let mut complain = |what: String| wrong.push(format!("Chart '{}' {what}", chart.title));
        let places = match &chart.across {
            Some(_) => chart.at.len(),
            None => chart.names.len(),
        };
        for line in &chart.line {
            let case = |name: &&String| !name.is_empty() && !study.case.contains_key(*name);
            if let Some(name) = line.of.iter().find(case) {
                complain(format!("names the case {name}, which is not described."));
            }
            let figure = |name: &&String| {
                !name.is_empty() && !study.figure.iter().any(|figure| figure.id == **name)
            };
            if let Some(name) = line.figures.iter().find(figure) {
                complain(format!("names the figure {name}, which is not there."));
            }
            let points = line.of.len().max(line.figures.len());
            let one = line.of.is_empty() != line.figures.is_empty();
            if !one || points != places || (line.measure.is_some() == line.of.is_empty()) {
                complain(format!(
                    "has a line '{}' that is not {places} cases with a measure, or as many figures.",
                    line.name
                ));
            }
        }
    }
}

#[cfg(test)]
mod tests;
