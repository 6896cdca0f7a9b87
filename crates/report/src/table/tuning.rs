//! Steps of a search for the load, and of a curve.

use measure::metric::Unit;
use measure::result::{RunResult, TuningStep};

use super::{Cell, Column, Table};

/// The steps of a search for the load.
#[must_use]
pub fn tuning_table(result: &RunResult) -> Table {
    let steps = result.tuning.iter().flat_map(|tuning| &tuning.steps);
    table_of(steps)
}

/// The steps at parts of a load.
#[must_use]
pub fn curve_table(result: &RunResult) -> Table {
    let steps = result.tuning.iter().flat_map(|tuning| &tuning.curve);
    table_of(steps)
}

fn table_of<'a>(steps: impl Iterator<Item = &'a TuningStep>) -> Table {
    let mut table = Table::new(vec![
        Column::number("load", "%"),
        Column::number("threads", ""),
        Column::number("held rate", "IOPS"),
        Column::number("achieved", "IOPS"),
        Column::number("database read", "average"),
        Column::number("database read", "p99"),
        Column::number("log write", "average"),
        Column::number("log write", "p99"),
        Column::number("page-fault stalls", "/s"),
        Column::number("duration", ""),
        Column::text("steady"),
        Column::text("conclusion"),
    ]);
    for step in steps {
        let holds_rate = step.rate_iops.is_some();
        let threads = (!holds_rate).then_some(step.threads);
        let stalls = Some(step.page_fault_stalls_per_second).filter(|rate| *rate > 0.0);
        table.push(vec![
            Cell::of(step.percent, Unit::Percent),
            threads.map_or_else(|| Cell::new(""), Cell::count),
            Cell::of(step.rate_iops, Unit::Iops),
            Cell::of(step.achieved_iops, Unit::Iops),
            Cell::of(step.average_database_read_ms, Unit::Milliseconds),
            Cell::of(step.p99_database_read_ms, Unit::Milliseconds),
            Cell::of(step.average_log_write_ms, Unit::Milliseconds),
            Cell::of(step.p99_log_write_ms, Unit::Milliseconds),
            Cell::of(stalls, Unit::StallsPerSecond),
            Cell::of(step.duration_s, Unit::Seconds),
            Cell::new(if step.steady { "yes" } else { "no" }),
            Cell::new(step.conclusion.clone()),
        ]);
    }
    table.without_empty_columns()
}

/// Steps in few columns, for a terminal: load, rate, latencies and the level that was missed.
#[must_use]
pub fn short_steps_table(steps: &[TuningStep]) -> Table {
    let mut table = Table::new(vec![
        Column::number("load", "%"),
        Column::number("threads", ""),
        Column::number("held rate", "IOPS"),
        Column::number("achieved", "IOPS"),
        Column::number("read", "average"),
        Column::number("read", "p99"),
        Column::number("log write", "average"),
        Column::text("service levels"),
    ]);
    for step in steps {
        let threads = step.rate_iops.is_none().then_some(step.threads);
        let levels = match (step.kept, step.missed) {
            (true, _) => "met",
            (false, Some(id)) => id.label(),
            (false, None) => "not settled",
        };
        table.push(vec![
            Cell::of(step.percent, Unit::Percent),
            threads.map_or_else(|| Cell::new(""), Cell::count),
            Cell::of(step.rate_iops, Unit::Iops),
            Cell::of(step.achieved_iops, Unit::Iops),
            Cell::of(step.average_database_read_ms, Unit::Milliseconds),
            Cell::of(step.p99_database_read_ms, Unit::Milliseconds),
            Cell::of(step.average_log_write_ms, Unit::Milliseconds),
            Cell::new(levels),
        ]);
    }
    table.without_empty_columns()
}
