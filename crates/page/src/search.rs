//! Searches and sweeps: grids of predictions.

use config::Choice;
use measure::grid::{GridAnswer, GridResult};
use measure::result::Verdict;
use proofload::{Axis, Find, StopRequest, sweep};
use report::{grid_table, html_grid, table::Detail, tone::Tone};
use serde::Serialize;

use crate::design::Design;
use crate::fault::Fault;
use crate::progress::{Report, of_grid};
use crate::tables::{TableData, table};

/// What a search or a sweep found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// `pass`, `fail` or `open`.
    pub tone: &'static str,
    /// The answers, or what all points come to, in sentences.
    pub sentences: Vec<String>,
    /// What was searched over, and the value that was found, for each answer.
    pub answers: Vec<(String, Option<String>)>,
    /// Every point that was predicted.
    pub table: Option<TableData>,
    /// The grid, as `proofload predict` writes it.
    pub grid: GridResult,
    /// The report of the grid.
    pub html: String,
}

/// Searches for the most load that passes, or for the least flash with which this load passes.
///
/// # Errors
/// Everything that is wrong with the design, and what cannot be searched for.
pub fn find(design: &Design, name: &str, axes: &[String], report: &Report) -> Result<Found, Fault> {
    let find = Find::of_name(name).ok_or_else(|| {
        Fault::new(
            format!("There is no search called '{name}'."),
            "Search for max-iops or min-flash.",
        )
    })?;
    let prepared = sweep::Prepared::search(&design.scenario(), find, &parse(axes)?, Some(1))?;
    let outcome = prepared.run(of_grid(report, None), &StopRequest::new())?;
    Ok(found(outcome.grid, outcome.verdict))
}

/// Predicts every combination of the values of these axes, written as those of `--sweep`.
///
/// # Errors
/// Everything that is wrong with an axis or with a point.
pub fn swept(design: &Design, axes: &[String], report: &Report) -> Result<Found, Fault> {
    let axes = parse(axes)?;
    let points = axes.iter().map(|axis| axis.values.len()).product();
    let prepared = sweep::Prepared::new(&design.scenario(), &axes, Some(1))?;
    let outcome = prepared.run(of_grid(report, Some(points)), &StopRequest::new())?;
    Ok(found(outcome.grid, outcome.verdict))
}

/// The value of the setting that was searched over, at the point that is the answer.
fn value_found(grid: &GridResult, answer: &GridAnswer) -> Option<String> {
    let name = answer.point.as_ref()?;
    let point = grid.points.iter().find(|point| point.name == *name)?;
    point.values.get(&answer.key).cloned()
}

fn parse(axes: &[String]) -> Result<Vec<Axis>, Fault> {
    let axes = axes.iter().map(|text| Axis::parse(text));
    axes.collect::<Result<_, _>>().map_err(Fault::from)
}

fn found(grid: GridResult, verdict: Verdict) -> Found {
    let answers = grid.answers.iter();
    let mut sentences: Vec<String> = answers.clone().map(|one| one.sentence.clone()).collect();
    sentences.push(grid.summary.clone());
    Found {
        tone: Tone::of_verdict(verdict).class(),
        sentences,
        answers: answers
            .map(|one| (one.key.clone(), value_found(&grid, one)))
            .collect(),
        table: table("Points", grid_table(&grid, Detail::Short)),
        html: html_grid(&grid),
        grid,
    }
}
