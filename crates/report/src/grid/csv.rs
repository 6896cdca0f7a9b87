//! One row for each point of a grid.

use measure::grid::{GridPoint, GridResult};
use serde_json::Value;

use crate::summary::{number, written};

/// The head row and one row for each point, lines ended by `\n`. The last part of a column's name is
/// its unit; an empty field means "not measured".
#[must_use]
pub fn grid_csv(grid: &GridResult) -> String {
    let mut heads: Vec<String> = grid.axes.iter().map(|axis| axis.key.clone()).collect();
    let figures = figures(grid);
    heads.extend(figures.iter().filter_map(Clone::clone));
    let mut rows = vec![heads];
    for point in &grid.points {
        let own = grid.axes.iter().map(|axis| point.values.get(&axis.key));
        let mut row: Vec<String> = own
            .map(|value| value.cloned().unwrap_or_default())
            .collect();
        let named = fields(point).into_iter().zip(&figures);
        row.extend(named.filter_map(|((_, value), head)| head.as_ref().map(|_| value)));
        rows.push(row);
    }
    written(rows)
}

/// The name of the column of each figure. What was varied may be a figure as well, such as the number
/// of sessions: it has one column where both are the same, and another one where they differ.
fn figures(grid: &GridResult) -> Vec<Option<String>> {
    let all = fields(&GridPoint::default()).into_iter().enumerate();
    let heads = all.map(|(number, (name, _))| {
        if !grid.axes.iter().any(|axis| axis.key == name) {
            return Some(name.to_owned());
        }
        let differs = grid.points.iter().any(|point| {
            let value = &fields(point)[number].1;
            !value.is_empty() && point.values.get(name) != Some(value)
        });
        differs.then(|| format!("actual_{name}"))
    });
    heads.collect()
}

/// The fields of a point that have columns, in the order of these.
const COLUMNS: [&str; 21] = [
    "verdict",
    "verdict_reason",
    "directory",
    "threads",
    "achieved_iops",
    "achieved_half_width_iops",
    "target_iops",
    "database_read_ms",
    "database_read_half_width_ms",
    "database_read_low_ms",
    "database_read_high_ms",
    "database_read_p99_ms",
    "database_write_ms",
    "log_write_ms",
    "log_write_half_width_ms",
    "busiest_disk_fraction",
    "read_cache_hit_fraction",
    "performance_tier_fraction",
    "flash_bytes",
    "simulated_seconds",
    "wall_seconds",
];

fn fields(point: &GridPoint) -> Vec<(&'static str, String)> {
    let point = serde_json::to_value(point).unwrap_or_default();
    let text = |value: &Value| match value {
        Value::String(text) => text.clone(),
        value => number(value.as_f64()),
    };
    COLUMNS.map(|name| (name, text(&point[name]))).into()
}

#[cfg(test)]
mod tests {
    use measure::grid::GridAxis;

    use super::*;

    fn grid(asked: &[(&str, Option<u64>)]) -> GridResult {
        let points = asked.iter().map(|(value, threads)| GridPoint {
            values: [("threads".to_owned(), (*value).to_owned())].into(),
            threads: *threads,
            ..GridPoint::default()
        });
        GridResult {
            axes: vec![GridAxis {
                key: "threads".to_owned(),
                values: asked.iter().map(|(value, _)| (*value).to_owned()).collect(),
            }],
            points: points.collect(),
            ..GridResult::default()
        }
    }

    /// The columns whose names end in `threads`, row by row.
    fn threads(grid: &GridResult) -> Vec<Vec<String>> {
        let text = grid_csv(grid);
        let mut rows = text.lines().map(|line| line.split(','));
        let heads: Vec<&str> = rows.next().unwrap().collect();
        let wanted = |number: &usize| heads[*number].ends_with("threads");
        let places: Vec<usize> = (0..heads.len()).filter(wanted).collect();
        let mut found = vec![
            places
                .iter()
                .map(|place| heads[*place].to_owned())
                .collect(),
        ];
        found.extend(rows.map(|row| {
            let row: Vec<&str> = row.collect();
            assert_eq!(row.len(), heads.len(), "{text}");
            places.iter().map(|place| row[*place].to_owned()).collect()
        }));
        found
    }

    #[test]
    fn what_was_varied_has_one_column() {
        let grid = grid(&[("8", Some(8)), ("16", None)]);
        assert_eq!(threads(&grid), [["threads"], ["8"], ["16"]]);
    }

    #[test]
    fn an_actual_value_that_differs_has_its_own_column() {
        let grid = grid(&[("8", Some(8)), ("auto", Some(40))]);
        assert_eq!(
            threads(&grid),
            [["threads", "actual_threads"], ["8", "8"], ["auto", "40"]]
        );
    }
}
