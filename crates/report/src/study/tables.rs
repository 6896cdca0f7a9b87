//! The figures of studies as tables.

use measure::units;
use proofload::study::{Bound, Kind, StudyOutcome, TOLERANCE};

use crate::document::{Document, Section};
use crate::number::figure;
use crate::table::{Cell, Column, Table};
use crate::tone::Tone;

/// The figures of all studies, one table each.
#[must_use]
pub fn study_tables(outcomes: &[StudyOutcome]) -> Document {
    let sections = outcomes.iter().map(|outcome| Section {
        head: outcome.named.study.title.clone(),
        paragraphs: vec![counted(outcome)],
        table: Some(table(outcome)),
        charts: Vec::new(),
    });
    Document {
        title: "Published studies: predicted beside published".to_owned(),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: sections.collect(),
    }
}

/// How many figures are within tolerance, in sentences.
pub(super) fn counted(outcome: &StudyOutcome) -> String {
    let figures = outcome.named.study.figure.iter().zip(&outcome.figures);
    let figures: Vec<_> = figures.collect();
    let count = |kind: Kind, within: bool| {
        let meant = figures.iter().filter(|(described, judged)| {
            described.kind == kind && judged.is_compared && (judged.within || !within)
        });
        meant.count() as u64
    };
    let [values, ratios] = [Kind::Measured, Kind::Ratio].map(|kind| count(kind, false));
    let part = |kind, all: u64, noun| {
        let within = count(kind, true);
        (all > 0).then(|| format!("{within} of {}", units::count(all, noun)))
    };
    let parts = [
        part(Kind::Measured, values, "measured value"),
        part(Kind::Ratio, ratios, "ratio"),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let mut text = match parts.is_empty() {
        true => "Nothing was compared.".to_owned(),
        false => format!(
            "{} are within {:.0} % of the published value, or meet the published bound.",
            parts.join(" and "),
            TOLERANCE * 100.0
        ),
    };
    let contradicted = outcome.figures.iter().filter(|one| one.is_contradicted());
    let contradicted = contradicted.count() as u64;
    let left = figures.len() as u64 - values - ratios - contradicted;
    for (what, count) in [("Not comparable", contradicted), ("Not modelled", left)] {
        if count > 0 {
            text.push_str(&format!(" {what}: {count}."));
        }
    }
    if outcome
        .figures
        .iter()
        .any(|one| one.blind_predicted.is_some())
    {
        text.push_str(
            " Blind is the same without what was chosen by this study or by another one of the product \
             family or the workload.",
        );
    }
    text
}

/// One row for each figure.
pub(super) fn table(outcome: &StudyOutcome) -> Table {
    let mut table = Table::new(vec![
        Column::text("figure"),
        Column::text("what"),
        Column::text("of"),
        Column::text("unit"),
        Column::number("published", ""),
        Column::number("predicted", ""),
        Column::number("ratio", ""),
        Column::text("within tolerance"),
        Column::number("blind", ""),
        Column::number("blind ratio", ""),
    ]);
    for (described, judged) in outcome.named.study.figure.iter().zip(&outcome.figures) {
        let (tone, word) = match (judged.is_compared, judged.within) {
            (true, true) => (Tone::Pass, "yes"),
            (true, false) => (Tone::Fail, "NO"),
            (false, _) if judged.is_contradicted() => (Tone::Open, "not comparable"),
            (false, _) => (Tone::Open, "not modelled"),
        };
        table.push(vec![
            Cell::new(judged.figure.clone()),
            Cell::new(described.metric.clone()),
            Cell::new(judged.configuration.clone()),
            Cell::new(judged.unit.clone()),
            Cell::new(format!(
                "{}{}",
                sign(described.bound),
                figure(judged.published)
            )),
            Cell::figure(judged.predicted),
            Cell::figure(judged.ratio),
            Cell::verdict(tone).written(word.to_owned()),
            Cell::figure(judged.blind_predicted),
            Cell::figure(judged.blind_ratio),
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
