//! What came out, for people and for programs.

use std::fs;
use std::path::Path;

use report::number::{figure, figure_or_absent};
use report::table::{Cell, Column, Table};
use report::tone::Tone;
use report::{Document, Section, Style};

use super::description::{Bound, Kind};
use super::judge::{Judged, TOLERANCE};
use super::{Outcome, page};
use crate::cli::StudyOptions;
use crate::commands::print;
use crate::failure::Failure;
use crate::human;

/// The figures of all studies as JSON, in the directory of the results.
const FIGURES_FILE: &str = "figures.json";

/// The report, in the same place.
const PAGE_FILE: &str = "report.html";

/// Refuses a directory that holds something else than an earlier study.
pub fn check_vacant(out: &Path) -> Result<(), Failure> {
    let is_ours = out.join("cases").is_dir();
    let Ok(mut entries) = fs::read_dir(out) else {
        return match out.exists() {
            true => Err(Failure::usage(
                format!("{} is not a directory.", out.display()),
                "Name a new directory with --out.",
            )),
            false => Ok(()),
        };
    };
    if is_ours || entries.next().is_none() {
        return Ok(());
    }
    Err(Failure::usage(
        format!(
            "{} holds something that no study has written.",
            out.display()
        ),
        "Name a new directory with --out, or that of an earlier study.",
    ))
}

/// Writes the report and the figures, and prints what was asked for.
pub fn tell(options: &StudyOptions, outcomes: &[Outcome], out: &Path) -> Result<(), Failure> {
    let figures: Vec<&Judged> = outcomes.iter().flat_map(|one| &one.figures).collect();
    let json = serde_json::to_string_pretty(&figures)
        .map_err(|error| Failure::environment(format!("The figures: {error}."), ""))?;
    write(&out.join(FIGURES_FILE), &format!("{json}\n"))?;
    let page = out.join(PAGE_FILE);
    write(&page, &report::html_document(&page::document(outcomes)))?;
    if options.json {
        print(&format!("{json}\n"))?;
    } else if !options.quiet {
        let text = report::terminal_document(&summary(outcomes), &Style::of_standard_output());
        print(&format!("{text}\nReport: {}\n", page.display()))?;
    }
    Ok(())
}

fn write(path: &Path, text: &str) -> Result<(), Failure> {
    let parent = path.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(parent).and_then(|()| fs::write(path, text));
    written.map_err(|error| {
        Failure::environment(
            format!("{} cannot be written: {error}.", path.display()),
            "Name another directory with --out.",
        )
    })
}

/// The tables of all studies.
fn summary(outcomes: &[Outcome]) -> Document {
    let sections = outcomes.iter().map(|outcome| Section {
        head: outcome.named.study.title.clone(),
        paragraphs: vec![counted(outcome)],
        table: Some(table(outcome)),
        charts: Vec::new(),
    });
    Document {
        title: "Published studies: the model beside the paper".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: sections.collect(),
    }
}

/// How many figures are inside, in sentences.
pub fn counted(outcome: &Outcome) -> String {
    let figures = outcome.named.study.figure.iter().zip(&outcome.figures);
    let figures: Vec<_> = figures.collect();
    let count = |kind: Kind, within: bool| {
        let meant = figures.iter().filter(|(described, judged)| {
            described.kind == kind && judged.model.is_some() && (judged.within || !within)
        });
        meant.count() as u64
    };
    let [values, ratios] = [Kind::Measured, Kind::Ratio].map(|kind| count(kind, false));
    let mut text = format!(
        "{} of {} and {} of {} are inside: {:.0} % of the published value, bounds as bounds.",
        count(Kind::Measured, true),
        human::count(values, "measured value"),
        count(Kind::Ratio, true),
        human::count(ratios, "ratio"),
        TOLERANCE * 100.0
    );
    let left = figures.len() as u64 - values - ratios;
    if left > 0 {
        text.push_str(&format!(" Not modelled: {left}."));
    }
    if outcome.figures.iter().any(|one| one.blind_model.is_some()) {
        text.push_str(
            " Blind is the same with the assumptions of the product family taken from the others.",
        );
    }
    text
}

/// One row for each figure.
pub fn table(outcome: &Outcome) -> Table {
    let mut table = Table::new(vec![
        Column::text("figure"),
        Column::text("what"),
        Column::text("of"),
        Column::text("unit"),
        Column::number("paper", ""),
        Column::number("model", ""),
        Column::number("ratio", ""),
        Column::text("inside"),
        Column::number("blind", ""),
        Column::number("ratio", ""),
    ]);
    for (described, judged) in outcome.named.study.figure.iter().zip(&outcome.figures) {
        let tone = match (judged.model, judged.within) {
            (None, _) => Tone::Open,
            (Some(_), true) => Tone::Pass,
            (Some(_), false) => Tone::Fail,
        };
        let word = match tone {
            Tone::Open => "not modelled",
            Tone::Pass => "yes",
            Tone::Fail => "NO",
        };
        table.push(vec![
            Cell::new(judged.figure.clone()),
            Cell::new(described.metric.clone()),
            Cell::new(judged.configuration.clone()),
            Cell::new(judged.unit.clone()),
            Cell::new(format!("{}{}", sign(described.bound), figure(judged.paper))),
            Cell::new(figure_or_absent(judged.model)),
            Cell::new(figure_or_absent(judged.ratio)),
            Cell {
                text: word.to_owned(),
                tone: Some(tone),
                notable: tone == Tone::Fail,
            },
            Cell::new(figure_or_absent(judged.blind_model)),
            Cell::new(figure_or_absent(judged.blind_ratio)),
        ]);
    }
    table.without_empty_columns()
}

fn sign(bound: Option<Bound>) -> &'static str {
    match bound {
        Some(Bound::Upper) => "<= ",
        Some(Bound::Lower) => ">= ",
        None => "",
    }
}
