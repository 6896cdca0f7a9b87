//! One row for each point of a grid.

use measure::grid::{GridPoint, GridResult};

/// The head row and one row for each point, lines ended by `\n`. The last part of a column's name is
/// its unit; an empty field means "not measured".
#[must_use]
pub fn grid_csv(grid: &GridResult) -> String {
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = fields(&GridPoint::default());
    let mut heads: Vec<&str> = grid.axes.iter().map(|axis| axis.key.as_str()).collect();
    heads.extend(names.iter().map(|(name, _)| *name));
    let mut rows = vec![heads.into_iter().map(str::to_owned).collect::<Vec<_>>()];
    for point in &grid.points {
        let own = grid.axes.iter().map(|axis| point.values.get(&axis.key));
        let mut row: Vec<String> = own
            .map(|value| value.cloned().unwrap_or_default())
            .collect();
        row.extend(fields(point).into_iter().map(|(_, value)| value));
        rows.push(row);
    }
    for row in rows {
        let written = writer.write_record(row);
        assert!(
            written.is_ok(),
            "memory takes every row, and all rows are equally long"
        );
    }
    let bytes = writer.into_inner().unwrap_or_default();
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fields(point: &GridPoint) -> Vec<(&'static str, String)> {
    let number = |value: Option<f64>| {
        let value = value.filter(|value| value.is_finite());
        value.map_or(String::new(), |value| {
            let text = format!("{value:.6}");
            text.trim_end_matches('0').trim_end_matches('.').to_owned()
        })
    };
    vec![
        (
            "verdict",
            point
                .verdict
                .map_or(String::new(), |verdict| verdict.to_string()),
        ),
        ("verdict_reason", point.verdict_reason.clone()),
        ("directory", point.directory.clone()),
        (
            "threads",
            number(point.threads.map(|threads| threads as f64)),
        ),
        ("achieved_iops", number(point.achieved_iops)),
        (
            "achieved_half_width_iops",
            number(point.achieved_half_width_iops),
        ),
        ("target_iops", number(point.target_iops)),
        ("database_read_ms", number(point.database_read_ms)),
        (
            "database_read_half_width_ms",
            number(point.database_read_half_width_ms),
        ),
        ("database_read_p99_ms", number(point.database_read_p99_ms)),
        ("database_write_ms", number(point.database_write_ms)),
        ("log_write_ms", number(point.log_write_ms)),
        (
            "log_write_half_width_ms",
            number(point.log_write_half_width_ms),
        ),
        ("busiest_disk_fraction", number(point.busiest_disk_fraction)),
        (
            "read_cache_hit_fraction",
            number(point.read_cache_hit_fraction),
        ),
        (
            "performance_tier_fraction",
            number(point.performance_tier_fraction),
        ),
        ("flash_bytes", point.flash_bytes.to_string()),
        ("simulated_seconds", number(point.simulated_seconds)),
        ("wall_seconds", number(point.wall_seconds)),
    ]
}
