//! Rate and read latency over what was varied.

use measure::grid::{GridAxis, GridPoint, GridResult};
use measure::metric::Unit;

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
    let over = axis.short_key(&grid.axes).to_string();
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
        Some(format!("{}={value}", other.short_key(&grid.axes)))
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

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of so many read caches and two numbers of disks.
    fn grid(caches: usize) -> GridResult {
        let names: Vec<String> = (1..=caches).map(|size| format!("cache {size}")).collect();
        let axis = |key: &str, values: &[String]| GridAxis {
            key: key.to_owned(),
            values: values.to_vec(),
        };
        let disks = ["24", "12"].map(str::to_owned);
        let points = names.iter().flat_map(|cache| {
            disks.iter().map(|disks| GridPoint {
                values: [
                    ("array.cache".to_owned(), cache.clone()),
                    ("array.disks".to_owned(), disks.clone()),
                ]
                .into(),
                achieved_iops: disks.parse().ok(),
                target_iops: Some(20.0),
                ..GridPoint::default()
            })
        });
        GridResult {
            points: points.collect(),
            axes: vec![axis("array.cache", &names), axis("array.disks", &disks)],
            ..GridResult::default()
        }
    }

    #[test]
    fn lines_that_are_not_drawn_are_counted() {
        for (caches, drawn, note) in [
            (1, 1, ""),
            (MOST_LINES, MOST_LINES, ""),
            (
                MOST_LINES + 1,
                MOST_LINES,
                "The first 12 of 13 lines are drawn.",
            ),
        ] {
            let charts = grid_charts(&grid(caches));
            // No point has a latency, so there is no chart of it.
            let [rate] = charts.as_slice() else {
                panic!("{} charts", charts.len());
            };
            assert_eq!((rate.series.len(), rate.note.as_str()), (drawn, note));
            assert_eq!(rate.series[0].name, "cache=cache 1");
            let places: Vec<f64> = rate.series[0].points.iter().map(|at| at.0).collect();
            assert_eq!(places, [12.0, 24.0], "in the order of the axis");
            assert_eq!(rate.limits.len(), 1);
        }
    }

    #[test]
    fn a_limit_is_drawn_where_all_points_share_it() {
        let mut grid = grid(2);
        grid.points[3].target_iops = Some(30.0);
        assert_eq!(grid_charts(&grid)[0].limits.len(), 0);
    }
}
