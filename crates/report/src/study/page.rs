//! The page of studies: the papers' charts drawn from the model, and the figures.

use proofload::study::{ChartPlan, LinePlan, StudyOutcome, measured_value};

use super::tables;
use crate::chart::{Chart, HorizontalAxis, Mark, Point};
use crate::comparison::{Comparison, comparison_charts};
use crate::document::{Document, Section};
use crate::files::load_run;
use crate::run::Run;

/// Everything that came out, as a page. The cases over time are read from their run directories.
#[must_use]
pub fn study_page(outcomes: &[StudyOutcome]) -> Document {
    let title = match outcomes {
        [one] => format!("Study: {}", one.named.study.title),
        several => format!("{} studies", several.len()),
    };
    let sections = outcomes.iter().flat_map(sections);
    Document {
        title,
        version: env!("CARGO_PKG_VERSION").to_owned(),
        sections: sections.collect(),
    }
}

fn sections(outcome: &StudyOutcome) -> Vec<Section> {
    let study = &outcome.named.study;
    let mut paragraphs = vec![format!(
        "Published by {}.",
        study.source.trim_end_matches('.')
    )];
    paragraphs.extend(study.about.split("\n\n").map(str::to_owned));
    paragraphs.retain(|text| !text.trim().is_empty());
    let charts = study.chart.iter().enumerate();
    let charts = charts.map(|(number, plan)| {
        let identity = format!("{}-{number}", outcome.named.name);
        chart(identity, plan, outcome)
    });
    let mut sections = vec![
        Section {
            head: study.title.clone(),
            paragraphs,
            charts: charts.filter(|chart| !chart.is_empty()).collect(),
            ..Section::default()
        },
        Section {
            head: "Figures".to_owned(),
            paragraphs: vec![tables::counted(outcome)],
            table: Some(tables::table(outcome)),
            charts: Vec::new(),
        },
    ];
    let notes = notes(outcome);
    if !notes.is_empty() {
        sections.push(Section {
            head: "Notes".to_owned(),
            paragraphs: notes,
            ..Section::default()
        });
    }
    sections.extend(time_series(outcome));
    sections
}

/// Notes on figures, each with its number.
fn notes(outcome: &StudyOutcome) -> Vec<String> {
    let figures = outcome.figures.iter().zip(&outcome.named.study.figure);
    figures
        .filter(|(judged, figure)| judged.note != format!("{}.", figure.metric))
        .map(|(judged, _)| format!("{}: {}", judged.figure, judged.note))
        .collect()
}

/// The cases over time.
fn time_series(outcome: &StudyOutcome) -> Option<Section> {
    let study = &outcome.named.study;
    let runs = outcome.own.iter().filter_map(|(name, case)| {
        let title = study.case.get(name).and_then(|case| case.title.clone());
        // Its result was read a moment ago; should that fail now, the figures are there without it.
        let run = load_run(&case.directory).ok()?;
        let name = title.unwrap_or_else(|| name.clone());
        Some(Run { name, ..run })
    });
    let runs: Vec<Run> = runs.collect();
    let mut charts = comparison_charts(&Comparison::new(&runs));
    for chart in &mut charts {
        chart.identity = format!("{}-{}", outcome.named.name, chart.identity).into();
    }
    (!charts.is_empty()).then(|| Section {
        head: "The cases over time".to_owned(),
        charts,
        ..Section::default()
    })
}

fn chart(identity: String, plan: &ChartPlan, outcome: &StudyOutcome) -> Chart {
    let across = match &plan.axis {
        Some(name) => HorizontalAxis::Number(name.clone().into()),
        None => HorizontalAxis::Names(plan.names.clone()),
    };
    let mut chart = Chart::new(identity, &plan.title, plan.unit.clone(), across);
    for (tone, line) in plan.line.iter().enumerate() {
        let mark = match line.figures.is_empty() {
            true => Mark::LineAndDots,
            false => Mark::Dots,
        };
        chart.add(&line.name, tone, mark, &points(plan, line, outcome));
    }
    chart
}

fn points(plan: &ChartPlan, line: &LinePlan, outcome: &StudyOutcome) -> Vec<Point> {
    let place = |index: usize| plan.axis_values.get(index).copied().unwrap_or(index as f64);
    let of_case = |name: &String| {
        let run = outcome.own.get(name)?;
        measured_value(line.measure?, run, &line.group)
    };
    let of_figure = |id: &String| {
        let figures = outcome.named.study.figure.iter();
        figures
            .filter(|figure| figure.id == *id)
            .map(|figure| figure.published)
            .next()
    };
    let values: Vec<Option<f64>> = match line.figures.is_empty() {
        true => line.cases.iter().map(of_case).collect(),
        false => line.figures.iter().map(of_figure).collect(),
    };
    values
        .into_iter()
        .enumerate()
        .map(|(index, value)| (place(index), value.unwrap_or(f64::NAN)))
        .collect()
}
