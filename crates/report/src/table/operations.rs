//! Operations of the workload, traffic by cause, phases and the tuning trail.

use measure::result::{IoFigures, RunResult};

use super::{Cell, Column, Table};
use crate::number::{bytes, count, duration, figure, figure_or_absent, moment};

/// What the users did: one row for each kind of operation.
#[must_use]
pub fn operations_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("operation"),
        Column::number("done", ""),
        Column::number("rate", "1/s"),
        Column::number("average", "ms"),
        Column::number("median", "ms"),
        Column::number("95 %", "ms"),
        Column::number("99 %", "ms"),
        Column::number("longest", "ms"),
        Column::number("from intended start, 99 %", "ms"),
        Column::number("failed", ""),
    ]);
    for operation in &result.operations {
        let service = operation.service;
        let intended = operation.from_intended_start;
        table.push(vec![
            Cell::new(operation.name.clone()),
            Cell::new(count(operation.count)),
            Cell::new(figure(operation.per_second)),
            Cell::new(figure_or_absent(service.map(|latency| latency.average_ms))),
            Cell::new(figure_or_absent(service.map(|latency| latency.p50_ms))),
            Cell::new(figure_or_absent(service.map(|latency| latency.p95_ms))),
            Cell::new(figure_or_absent(service.map(|latency| latency.p99_ms))),
            Cell::new(figure_or_absent(service.map(|latency| latency.max_ms))),
            Cell::new(figure_or_absent(intended.map(|latency| latency.p99_ms))),
            Cell::new(count(operation.failures)).notable_when(operation.failures > 0),
        ]);
    }
    table.without_empty_columns()
}

/// All requests to the storage by cause, all databases together.
#[must_use]
pub fn traffic_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("cause"),
        Column::number("requests", "1/s"),
        Column::number("throughput", "per second"),
        Column::number("average size", ""),
        Column::number("average", "ms"),
        Column::number("median", "ms"),
        Column::number("95 %", "ms"),
        Column::number("99 %", "ms"),
        Column::number("99.9 %", "ms"),
        Column::number("longest", "ms"),
        Column::number("errors", ""),
    ]);
    for (name, figures) in causes(result) {
        if figures.count > 0 || figures.errors > 0 {
            table.push(traffic_row(name, figures));
        }
    }
    table.without_empty_columns()
}

/// The requests of a run by cause, in the order in which people read them.
#[must_use]
pub fn causes(result: &RunResult) -> [(&'static str, &IoFigures); 7] {
    let totals = &result.totals;
    [
        ("database reads", &totals.reads),
        ("database writes", &totals.writes),
        ("log writes", &totals.log_writes),
        ("log replication reads", &totals.log_reads),
        ("maintenance reads", &totals.maintenance_reads),
        ("header writes", &totals.header_writes),
        ("other writes", &totals.other_writes),
    ]
}

fn traffic_row(name: &str, figures: &IoFigures) -> Vec<Cell> {
    let latency = figures.latency;
    vec![
        Cell::new(name),
        Cell::new(figure(figures.per_second)),
        Cell::new(bytes(figures.bytes_per_second())),
        Cell::new(bytes(figures.average_bytes)),
        Cell::new(figure_or_absent(latency.map(|latency| latency.average_ms))),
        Cell::new(figure_or_absent(latency.map(|latency| latency.p50_ms))),
        Cell::new(figure_or_absent(latency.map(|latency| latency.p95_ms))),
        Cell::new(figure_or_absent(latency.map(|latency| latency.p99_ms))),
        Cell::new(figure_or_absent(latency.map(|latency| latency.p99_9_ms))),
        Cell::new(figure_or_absent(latency.map(|latency| latency.max_ms))),
        Cell::new(count(figures.errors)).notable_when(figures.errors > 0),
    ]
}

/// The phases of the run.
#[must_use]
pub fn phases_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("phase"),
        Column::text("began"),
        Column::number("took", ""),
    ]);
    for phase in &result.phases {
        table.push(vec![
            Cell::new(phase.name.clone()),
            Cell::new(moment(&phase.started)),
            Cell::new(duration(phase.duration_s)),
        ]);
    }
    table
}

/// What tuning tried.
#[must_use]
pub fn tuning_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::number("threads", ""),
        Column::number("held rate", "1/s"),
        Column::number("achieved", "1/s"),
        Column::number("database read", "ms"),
        Column::number("log write", "ms"),
        Column::number("took", ""),
        Column::text("settled"),
        Column::text("conclusion"),
    ]);
    for step in result.tuning.iter().flat_map(|tuning| &tuning.steps) {
        table.push(vec![
            Cell::new(count(step.threads)),
            Cell::new(figure_or_absent(step.rate_iops)),
            Cell::new(figure(step.achieved_iops)),
            Cell::new(figure_or_absent(step.average_database_read_ms)),
            Cell::new(figure_or_absent(step.average_log_write_ms)),
            Cell::new(duration(step.duration_s)),
            Cell::new(if step.steady { "yes" } else { "no" }),
            Cell::new(step.conclusion.clone()),
        ]);
    }
    table.without_empty_columns()
}
