//! Each database: rates, sizes and latencies of its reads, writes and log writes.

use measure::result::{CheckKind, DatabaseResult, IoFigures, RunResult, Scope};

use super::{Cell, Column, Table};
use crate::limits::is_percentile;
use crate::number::{bytes, figure, figure_or_absent};

/// How much of the databases a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What decides: rates and average latencies. Fits a terminal.
    Short,
    /// Sizes, percentiles, maintenance and stalls too.
    Full,
}

/// One row for each database, and the sums.
#[must_use]
pub fn databases_table(result: &RunResult, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let noun = match result.trace {
        Some(_) => "volume",
        None => "database",
    };
    let mut table = Table::new(heads(noun, full));
    for database in &result.databases {
        table.push(row(result, database, full));
    }
    if result.databases.len() > 1 {
        let totals = &result.totals;
        let all = DatabaseResult {
            name: "all".to_string(),
            size_end_bytes: totals.size_end_bytes,
            reads: totals.reads.clone(),
            writes: totals.writes.clone(),
            log_writes: totals.log_writes.clone(),
            log_reads: totals.log_reads.clone(),
            maintenance_reads: totals.maintenance_reads.clone(),
            page_fault_stalls_per_second: totals.page_fault_stalls_per_second,
            ..DatabaseResult::default()
        };
        table.sums = row(result, &all, full);
    }
    table.without_empty_columns()
}

fn heads(noun: &str, full: bool) -> Vec<Column> {
    let mut heads = vec![Column::text(noun)];
    if full {
        heads.push(Column::number("size", ""));
    }
    for group in ["reads", "writes", "log writes"] {
        heads.push(Column::number("rate", "1/s").of(group));
        if full {
            heads.push(Column::number("size", "KiB").of(group));
        }
        heads.push(Column::number("average", "ms").of(group));
        heads.push(Column::number("+-", "95 %").of(group));
        if full {
            heads.push(Column::number("99 %", "ms").of(group));
            heads.push(Column::number("longest", "ms").of(group));
        }
    }
    if full {
        heads.push(Column::number("rate", "1/s").of("maintenance"));
        heads.push(Column::number("rate", "1/s").of("stalls"));
    }
    heads
}

fn row(result: &RunResult, database: &DatabaseResult, full: bool) -> Vec<Cell> {
    let mut cells = vec![Cell::new(database.name.clone())];
    if full {
        cells.push(Cell::new(bytes(database.size_end_bytes as f64)));
    }
    let requests = [
        (
            &database.reads,
            failed_latency(result, database, Scope::Database),
        ),
        (&database.writes, (false, false)),
        (
            &database.log_writes,
            failed_latency(result, database, Scope::Log),
        ),
    ];
    for (figures, (average_failed, p99_failed)) in requests {
        cells.push(Cell::new(figure(figures.per_second)));
        if full {
            cells.push(Cell::new(figure(figures.average_bytes / 1024.0)));
        }
        cells.push(Cell::new(average(figures)).notable_when(average_failed));
        let half = figures
            .latency
            .and_then(|latency| latency.average_half_width_ms);
        cells.push(Cell::new(figure_or_absent(half)));
        if full {
            let p99 = figure_or_absent(figures.latency.map(|latency| latency.p99_ms));
            cells.push(Cell::new(p99).notable_when(p99_failed));
            cells.push(Cell::new(figure_or_absent(
                figures.latency.map(|l| l.max_ms),
            )));
        }
    }
    if full {
        cells.push(Cell::new(figure(database.maintenance_reads.per_second)));
        cells.push(Cell::new(figure(database.page_fault_stalls_per_second)));
    }
    cells
}

fn average(figures: &IoFigures) -> String {
    figure_or_absent(figures.latency.map(|latency| latency.average_ms))
}

/// Which of a database's latencies are beyond their limits: the average, the 99th percentile.
fn failed_latency(result: &RunResult, database: &DatabaseResult, scope: Scope) -> (bool, bool) {
    let failed = |percentile: bool| {
        result.failed_checks().any(|check| {
            check.kind == CheckKind::Latency
                && check.scope == scope
                && check.place == database.name
                && is_percentile(check) == percentile
        })
    };
    (failed(false), failed(true))
}
