//! Many predictions: one table, charts over the settings that were varied, rows for spreadsheets.

mod charts;
mod csv;

pub(crate) use charts::grid_charts;
pub use csv::grid_csv;

use measure::grid::{GridAxis, GridPoint, GridResult};
use measure::metric::Unit;
use measure::result::Verdict;

use crate::number::{ABSENT, figure, latency, latency_beside};
use crate::table::{Cell, Column, Detail, Table};
use crate::tone::Tone;

/// One row for each point: its values, the verdict, and the figures people ask for first; in full with
/// their confidence intervals.
#[must_use]
pub fn grid_table(grid: &GridResult, detail: Detail) -> Table {
    let mut heads: Vec<Column> = grid
        .axes
        .iter()
        .map(|axis| match axis.numbers() {
            Some(_) => Column::number(axis.short_key(&grid.axes), ""),
            None => Column::text(axis.short_key(&grid.axes)),
        })
        .collect();
    heads.extend([
        Column::text("verdict"),
        Column::number("IOPS", ""),
        Column::number("database read", "average"),
        Column::number("database read", "p99"),
        Column::number("log write", "average"),
        Column::number("busiest disk", "% utilization"),
        Column::number("SSD cache hits", "%"),
        Column::number("on SSD tier", "% of pages"),
        Column::number("flash", "capacity"),
    ]);
    let mut table = Table::new(heads);
    table.names = grid.axes.len();
    for point in &grid.points {
        table.push(row(grid, point, detail));
    }
    table.without_empty_columns()
}

fn row(grid: &GridResult, point: &GridPoint, detail: Detail) -> Vec<Cell> {
    let value = |axis: &GridAxis| point.values.get(&axis.key).cloned().unwrap_or_default();
    let mut cells: Vec<Cell> = grid
        .axes
        .iter()
        .map(|axis| Cell::new(value(axis)))
        .collect();
    let over = |value: Option<f64>, limit: Option<f64>| {
        value.zip(limit).is_some_and(|(value, limit)| value > limit)
    };
    let read_over = over(point.database_read_ms, point.database_read_limit_ms);
    cells.push(verdict(point.verdict));
    let half = |half: Option<f64>| half.filter(|_| detail == Detail::Full);
    let half_iops = half(point.achieved_half_width_iops);
    let rate = with_half_width(point.achieved_iops, half_iops, |value, _| figure(value));
    cells.push(Cell::of(point.achieved_iops, Unit::Iops).written(rate));
    let half_ms = half(point.database_read_half_width_ms);
    let mut read = with_half_width(point.database_read_ms, half_ms, latency_beside);
    if let (Some(low), Some(high)) = (point.database_read_low_ms, point.database_read_high_ms) {
        read.push_str(&format!(" ({} to {})", latency(low), latency(high)));
    }
    let read = Cell::of(point.database_read_ms, Unit::Milliseconds).written(read);
    cells.push(read.notable_when(read_over));
    cells.push(Cell::of(point.database_read_p99_ms, Unit::Milliseconds));
    cells.push(Cell::of(point.log_write_ms, Unit::Milliseconds));
    cells.push(Cell::of(point.busiest_disk_fraction, Unit::Fraction));
    cells.push(Cell::of(point.read_cache_hit_fraction, Unit::Fraction));
    cells.push(Cell::of(point.performance_tier_fraction, Unit::Fraction));
    cells.push(Cell::of(point.flash_bytes as f64, Unit::Bytes));
    cells
}

/// A value with the half-width of its confidence interval, where there is one; `text` writes a number in
/// the unit of another.
fn with_half_width(
    value: Option<f64>,
    half: Option<f64>,
    text: impl Fn(f64, f64) -> String,
) -> String {
    let Some(value) = value else {
        return ABSENT.to_string();
    };
    let half = half.map_or_else(String::new, |half| format!(" \u{b1} {}", text(half, value)));
    text(value, value) + &half
}

fn verdict(verdict: Option<Verdict>) -> Cell {
    let Some(verdict) = verdict else {
        return Cell::new("not computed");
    };
    let tone = Tone::of_verdict(verdict);
    let word = verdict.as_str();
    Cell::verdict(tone).written(match tone {
        Tone::Fail => word.to_uppercase(),
        _ => word.to_string(),
    })
}

/// Why points did not pass: name and reason.
pub(crate) fn reasons(grid: &GridResult) -> Vec<(&str, &str)> {
    let open = grid
        .points
        .iter()
        .filter(|point| point.verdict != Some(Verdict::Pass));
    open.map(|point| (point.name.as_str(), point.verdict_reason.as_str()))
        .collect()
}

/// Warnings, those that differ by numbers alone joined: of how many points, and the first.
pub(crate) fn warnings(grid: &GridResult) -> Vec<(String, &str)> {
    let mut found: Vec<(String, &str, usize)> = Vec::new();
    for warning in grid.points.iter().flat_map(|point| &point.warnings) {
        let kind = warning.replace(|letter: char| letter.is_ascii_digit(), "");
        match found.iter_mut().find(|(known, ..)| *known == kind) {
            Some((.., points)) => *points += 1,
            None => found.push((kind, warning, 1)),
        }
    }
    let joined = found.into_iter().map(|(_, warning, points)| {
        let of = format!("{points} of {} points", grid.points.len());
        (of, warning)
    });
    joined.collect()
}

/// What the grid is about, as a title.
pub(crate) fn title(grid: &GridResult) -> String {
    // Documents of earlier versions do not say what a search looks for.
    let what = if grid.find.is_empty() && grid.answers.is_empty() {
        "Sweep"
    } else {
        "Search"
    };
    format!("{what}: {} on {}", grid.workload, grid.array)
}
