//! Rate and read latency over what was varied.

use measure::grid::{GridAxis, GridPoint, GridResult};
use measure::metric::Unit;

use super::short_key;
use crate::chart::{Chart, HorizontalAxis, Mark, Point, VerticalAxis};
use crate::number::bounded;

/// More lines than this cannot be distinguished.
const MOST_LINES: usize = 12;

/// A chart of the rate and one of the read latency; each other combination of values is a line.
pub(crate) fn grid_charts(grid: &GridResult) -> Vec<Chart> {
    let Some(axis) = across(grid) else {
        return Vec::new();
    };
    let mut rate = chart(
        grid,
        axis,
        "grid-rate",
        "Transactional I/O",
        "IOPS",
        |point| point.achieved_iops,
    );
    let mut read = chart(
        grid,
        axis,
        "grid-read",
        "Database read latency, average",
        "ms",
        |point| point.database_read_ms,
    );
    read.vertical = VerticalAxis::ByLimits;
    if let Some(value) = shared(grid, |point| point.database_read_limit_ms) {
        read.limit(
            &format!("read limit {}", bounded(value, Unit::Milliseconds)),
            value,
            None,
        );
    }
    if let Some(value) = shared(grid, |point| point.target_iops) {
        rate.limit(
            &format!("target {}", bounded(value, Unit::Iops)),
            value,
            None,
        );
    }
    let mut charts = vec![rate, read];
    charts.retain(|chart| !chart.is_empty());
    charts
}

/// The last axis of numbers with several values, else the last axis.
fn across(grid: &GridResult) -> Option<&GridAxis> {
    let several = grid.axes.iter().rev().filter(|axis| axis.values.len() > 1);
    let numeric = several.clone().find(|axis| axis.numbers().is_some());
    numeric
        .or_else(|| several.clone().next())
        .or_else(|| grid.axes.last())
}

fn chart(
    grid: &GridResult,
    axis: &GridAxis,
    identity: &'static str,
    title: &str,
    unit: &'static str,
    value: fn(&GridPoint) -> Option<f64>,
) -> Chart {
    let numbers = axis.numbers();
    let over = short_key(axis, &grid.axes).to_string();
    let title = format!("{title} by {over}");
    let kind = match &numbers {
        Some(_) => HorizontalAxis::Number(over.into()),
        None => HorizontalAxis::Names(axis.values.clone()),
    };
    let mut chart = Chart::new(identity, &title, unit, kind);
    let mut lines: Vec<(String, Vec<Point>)> = Vec::new();
    for point in &grid.points {
        let Some(own) = point.values.get(&axis.key) else {
            continue;
        };
        let place = match &numbers {
            Some(_) => own.parse().unwrap_or(f64::NAN),
            None => axis
                .values
                .iter()
                .position(|known| known == own)
                .unwrap_or(0) as f64,
        };
        let name = line_name(grid, axis, point);
        let at = (place, value(point).unwrap_or(f64::NAN));
        match lines.iter_mut().find(|(known, _)| *known == name) {
            Some((_, points)) => points.push(at),
            None => lines.push((name, vec![at])),
        }
    }
    if lines.len() > MOST_LINES {
        chart.note = format!("The first {MOST_LINES} of {} lines are drawn.", lines.len());
    }
    for (index, (name, points)) in lines.iter_mut().take(MOST_LINES).enumerate() {
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        let mark = if numbers.is_some() {
            Mark::LineAndDots
        } else {
            Mark::Dots
        };
        chart.add(name, index, mark, points);
    }
    chart
}

/// The values of the other axes.
fn line_name(grid: &GridResult, axis: &GridAxis, point: &GridPoint) -> String {
    let others = grid.axes.iter().filter(|other| other.key != axis.key);
    let parts = others.filter_map(|other| {
        let value = point.values.get(&other.key)?;
        Some(format!("{}={value}", short_key(other, &grid.axes)))
    });
    let name = parts.collect::<Vec<_>>().join(", ");
    if name.is_empty() {
        grid.workload.clone()
    } else {
        name
    }
}

/// The value that all points share.
fn shared(grid: &GridResult, value: fn(&GridPoint) -> Option<f64>) -> Option<f64> {
    let mut values = grid.points.iter().filter_map(value);
    let first = values.next()?;
    values.all(|other| other == first).then_some(first)
}
