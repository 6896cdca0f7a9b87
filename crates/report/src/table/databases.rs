//! Each database: rates, sizes and latencies of its reads, writes and log writes.

use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{CheckId, DatabaseFigures, RunResult};

use super::{Cell, Column, Table};
use crate::number::latency_beside;
use crate::words::{place_noun, stream_name};

/// How much a table shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Detail {
    /// What fits a terminal.
    Short,
    /// All that there is.
    Full,
}

/// One row for each database, and the sums.
#[must_use]
pub fn databases_table(result: &RunResult, detail: Detail) -> Table {
    let full = detail == Detail::Full;
    let shown: &[IoMetric] = if full { &FULL } else { &SHORT };
    let mut table = Table::new(heads(result, shown, full));
    for database in &result.databases {
        table.push(row(result, &database.name, &database.figures, shown, full));
    }
    if result.databases.len() > 1 {
        table.sums = row(result, "all", &result.totals, shown, full);
    }
    table.without_empty_columns()
}

/// The streams that have columns.
const STREAMS: [Stream; 3] = [
    Stream::DatabaseRead,
    Stream::DatabaseWrite,
    Stream::LogWrite,
];

/// What a terminal shows of each stream.
const SHORT: [IoMetric; 3] = [IoMetric::Rate, IoMetric::Average, IoMetric::HalfWidth];

/// What a page shows of each stream.
const FULL: [IoMetric; 5] = [
    IoMetric::Rate,
    IoMetric::Average,
    IoMetric::HalfWidth,
    IoMetric::P99,
    IoMetric::Max,
];

fn heads(result: &RunResult, shown: &[IoMetric], full: bool) -> Vec<Column> {
    let mut heads = vec![Column::text(place_noun(result))];
    if full {
        heads.push(Column::number("size", ""));
    }
    for stream in STREAMS {
        let columns = shown.iter().map(|metric| match metric {
            IoMetric::HalfWidth => Column::number("\u{b1}", metric.label()),
            metric => Column::io(*metric),
        });
        heads.extend(columns.map(|column| column.of(stream_name(result, stream))));
    }
    if full {
        heads.push(Column::io(IoMetric::Rate).of(Stream::MaintenanceRead.label()));
        heads.push(Column::of_unit("stalls", Unit::StallsPerSecond));
    }
    heads
}

fn row(
    result: &RunResult,
    name: &str,
    figures: &DatabaseFigures,
    shown: &[IoMetric],
    full: bool,
) -> Vec<Cell> {
    let mut cells = vec![Cell::new(name)];
    if full {
        let size = figures.size_end_bytes as f64;
        cells.push(Cell::of(size, Unit::Bytes));
    }
    for stream in STREAMS {
        for metric in shown {
            let io = figures.stream(stream);
            let mut cell = Cell::io(io, *metric);
            let average_ms = io.get(IoMetric::Average);
            if let (IoMetric::HalfWidth, Some(half_ms)) = (metric, io.get(*metric)) {
                cell = cell.written(latency_beside(half_ms, average_ms.unwrap_or(half_ms)));
            }
            cells.push(cell.notable_when(is_beyond(result, name, stream, *metric)));
        }
    }
    if full {
        cells.push(Cell::io(&figures.maintenance_reads, IoMetric::Rate));
        let stalls = figures.page_fault_stalls_per_second;
        cells.push(Cell::of(stalls, Unit::StallsPerSecond));
    }
    cells
}

/// Whether the latency of a database failed its service level.
fn is_beyond(result: &RunResult, database: &str, stream: Stream, metric: IoMetric) -> bool {
    let level = match (stream, metric) {
        (Stream::DatabaseRead, IoMetric::Average) => CheckId::DatabaseReadAverage,
        (Stream::DatabaseRead, IoMetric::P99) => CheckId::DatabaseReadP99,
        (Stream::LogWrite, IoMetric::Average) => CheckId::LogWriteAverage,
        (Stream::LogWrite, IoMetric::P99) => CheckId::LogWriteP99,
        _ => return false,
    };
    result
        .failed_checks()
        .any(|check| check.id == level && check.place == database)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::{Check, DatabaseResult, IoFigures, LatencyFigures};

    fn requests(per_second: f64) -> IoFigures {
        IoFigures {
            count: (per_second * 100.0) as u64,
            per_second,
            latency: Some(LatencyFigures {
                average_ms: 21.0,
                p99_ms: 40.0,
                ..LatencyFigures::default()
            }),
            ..IoFigures::default()
        }
    }

    #[test]
    fn streams_without_requests_have_no_columns_and_failed_latencies_stand_out() {
        let mut result = RunResult::default();
        for (name, rate) in [("db1", 100.0), ("db2", 50.0)] {
            result.databases.push(DatabaseResult {
                name: name.to_owned(),
                figures: DatabaseFigures {
                    reads: requests(rate),
                    ..DatabaseFigures::default()
                },
                ..DatabaseResult::default()
            });
        }
        result.totals.reads = requests(150.0);
        let failed = Check::of(
            CheckId::DatabaseReadAverage,
            "db2",
            20.0,
            Some(21.0),
            String::new(),
        );
        result.checks.push(failed);
        let table = databases_table(&result, Detail::Short);
        let heads: Vec<(&str, &str)> = table
            .columns
            .iter()
            .map(|column| (column.group.as_str(), column.head.as_str()))
            .collect();
        assert_eq!(
            heads,
            [
                ("", "database"),
                ("database reads", "IOPS"),
                ("database reads", "average")
            ]
        );
        let beyond = |row: usize| table.rows[row].iter().map(|cell| cell.notable).collect();
        let (first, second): (Vec<bool>, Vec<bool>) = (beyond(0), beyond(1));
        assert_eq!(first, [false; 3]);
        assert_eq!(second, [false, false, true]);
        assert_eq!(table.sums[1].text, "150");
    }
}
