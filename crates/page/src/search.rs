//! Searches and sweeps: grids of predictions.

use config::Choice;
use measure::display::number::{counted, quantity};
use measure::grid::{GridAnswer, GridResult};
use measure::metric::Unit;
use measure::result::Verdict;
use proofload::predict::{self, Plan};
use proofload::{Axis, Find, StopRequest, sweep};
use report::{grid_table, html_grid, table::Detail, tone::Tone};
use serde::Serialize;

use crate::design::Design;
use crate::fault::Fault;
use crate::progress::{Report, of_grid};
use crate::tables::{TableData, table};

/// What is searched over where flash is looked for, and what makes use of it.
const SSD_COUNT: &str = "array.pool.ssd_count";
const SSD_USE: &str = "array.pool.0.ssd_use";

/// What a search or a sweep found.
#[derive(Clone, Debug, Serialize)]
pub struct Found {
    /// `pass`, `fail` or `open`.
    pub tone: &'static str,
    /// The answers, or what all points come to, in sentences.
    pub sentences: Vec<String>,
    /// The settings by which the answer becomes the design; empty unless there is one answer.
    pub take: Vec<(String, String)>,
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
    let mut searched = design.clone();
    let gets_tier = find == Find::MinFlash && has_room_for_ssds(design);
    if gets_tier {
        searched.set(SSD_USE, "tier")?;
    }
    let prepared = sweep::Prepared::search(&searched.scenario(), find, &parse(axes)?, Some(1))?;
    let outcome = prepared.run(of_grid(report, None), &StopRequest::new())?;
    let mut found = found(&searched, outcome.grid, outcome.verdict);
    if gets_tier && !found.take.is_empty() {
        found.sentences.insert(0, "With SSDs as a tier:".to_owned());
        found
            .take
            .insert(0, (SSD_USE.to_owned(), "tier".to_owned()));
    }
    Ok(found)
}

/// Whether SSDs are known for the first pool and have no use yet.
fn has_room_for_ssds(design: &Design) -> bool {
    let Ok(description) = predict::load_array(&design.scenario()) else {
        return false;
    };
    let settings = description.settings();
    let text = |path: &str| settings.get(path).and_then(serde_json::Value::as_str);
    text("pool.0.ssd_use") == Some("none") && text("pool.0.ssd_disk").is_some()
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
    Ok(found(design, outcome.grid, outcome.verdict))
}

/// The value of the setting that was searched over, at the point that is the answer.
fn value_found(grid: &GridResult, answer: &GridAnswer) -> Option<String> {
    let name = answer.point.as_ref()?;
    let point = grid.points.iter().find(|point| point.name == *name)?;
    point.values.get(&answer.key).cloned()
}

/// How many mailboxes ask for a rate, as a sentence.
fn in_mailboxes(design: &Design, key: &str, value: &str) -> Option<String> {
    let rate: f64 = value.parse().ok().filter(|_| key == "rate")?;
    let plan = Plan::check(&design.scenario()).ok()?;
    let settings = plan.profile.settings();
    let each = settings.get("mail.iops_per_mailbox")?.as_f64()?;
    let mailboxes = (rate / each).floor();
    (each > 0.0).then(|| {
        format!(
            "That is the rate of {} at {} each; whether their data have room is another question.",
            counted(mailboxes as u64, "mailbox"),
            quantity(each, Unit::Iops)
        )
    })
}

fn parse(axes: &[String]) -> Result<Vec<Axis>, Fault> {
    let axes = axes.iter().map(|text| Axis::parse(text));
    axes.collect::<Result<_, _>>().map_err(Fault::from)
}

fn found(design: &Design, grid: GridResult, verdict: Verdict) -> Found {
    let mut sentences: Vec<String> = Vec::new();
    let mut take = Vec::new();
    for answer in &grid.answers {
        sentences.push(answer.sentence.clone());
        if let Some(value) = value_found(&grid, answer) {
            sentences.extend(in_mailboxes(design, &answer.key, &value));
            let (path, value) = match (answer.key.as_str(), value.as_str()) {
                ("rate", value) => ("run.held_rate", value),
                (SSD_COUNT, "0") => (SSD_USE, "none"),
                (path, value) => (path, value),
            };
            take.push((path.to_owned(), value.to_owned()));
        }
    }
    if grid.answers.len() != 1 {
        take.clear();
    }
    sentences.push(grid.summary.clone());
    Found {
        tone: Tone::of_verdict(verdict).class(),
        sentences,
        take,
        table: table("Points", grid_table(&grid, Detail::Short)),
        html: html_grid(&grid),
        grid,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::grid::GridPoint;

    /// A search over a setting whose answer is this value.
    fn answered(key: &str, value: &str) -> Found {
        let design = Design::new("exchange-2013", "msa2050").expect("bundled ones");
        let point = GridPoint {
            name: "the point".to_owned(),
            values: [(key.to_owned(), value.to_owned())].into(),
            ..GridPoint::default()
        };
        let answer = GridAnswer {
            key: key.to_owned(),
            point: Some(point.name.clone()),
            sentence: "An answer.".to_owned(),
            ..GridAnswer::default()
        };
        let grid = GridResult {
            points: vec![point],
            answers: vec![answer],
            ..GridResult::default()
        };
        found(&design, grid, Verdict::Pass)
    }

    #[test]
    fn an_answer_becomes_settings_of_the_design() {
        let take = |key: &str, value: &str| answered(key, value).take;
        let setting = |path: &str, value: &str| vec![(path.to_owned(), value.to_owned())];
        assert_eq!(take("rate", "400"), setting("run.held_rate", "400"));
        assert_eq!(take(SSD_COUNT, "2"), setting(SSD_COUNT, "2"));
        assert_eq!(take(SSD_COUNT, "0"), setting(SSD_USE, "none"));
        assert_eq!(
            take("brokerage.users", "60"),
            setting("brokerage.users", "60")
        );
    }

    #[test]
    fn a_rate_is_also_so_many_mailboxes() {
        let sentences = answered("rate", "400").sentences.join(" ");
        assert!(
            sentences.contains("the rate of 4,000 mailboxes at 0.100 IOPS each"),
            "{sentences}"
        );
        assert_eq!(answered(SSD_COUNT, "2").sentences[0], "An answer.");
    }
}
