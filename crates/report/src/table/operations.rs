//! Operations of the workload, I/O by type, phases and the steps of tuning.

use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{LatencyFigures, RunResult};

use crate::words::stream_name;

use super::{Cell, Column, Table};
use crate::number::moment;

/// One row for each kind of operation.
#[must_use]
pub fn operations_table(result: &RunResult) -> Table {
    const SHOWN: [IoMetric; 5] = [
        IoMetric::Average,
        IoMetric::P50,
        IoMetric::P95,
        IoMetric::P99,
        IoMetric::Max,
    ];
    let mut heads = vec![
        Column::text("operation"),
        Column::number("count", ""),
        Column::number("rate", "operations/s"),
    ];
    heads.extend(SHOWN.map(|metric| Column::io(metric).of("service time")));
    heads.push(Column::io(IoMetric::P99).of("response time"));
    heads.push(Column::number("failed", ""));
    let mut table = Table::new(heads);
    for operation in &result.operations {
        let figure_of = |latency: Option<LatencyFigures>, metric: IoMetric| {
            let value = latency.and_then(|latency| latency.get(metric));
            Cell::of(value, metric.unit())
        };
        let mut row = vec![
            Cell::new(operation.name.clone()),
            Cell::count(operation.count),
            Cell::of(operation.per_second, Unit::OperationsPerSecond),
        ];
        row.extend(SHOWN.map(|metric| figure_of(operation.service_time, metric)));
        row.push(figure_of(operation.response_time, IoMetric::P99));
        row.push(Cell::count(operation.failures).notable_when(operation.failures > 0));
        table.push(row);
    }
    table.without_empty_columns()
}

/// All requests to the storage by type, all databases together.
#[must_use]
pub fn traffic_table(result: &RunResult) -> Table {
    const SHOWN: [IoMetric; 9] = [
        IoMetric::Rate,
        IoMetric::Throughput,
        IoMetric::AverageBytes,
        IoMetric::Average,
        IoMetric::P50,
        IoMetric::P95,
        IoMetric::P99,
        IoMetric::P99_9,
        IoMetric::Max,
    ];
    let mut heads = vec![Column::text("type")];
    heads.extend(SHOWN.map(Column::io));
    heads.push(Column::number("queue depth", ""));
    heads.push(Column::io(IoMetric::Errors));
    let mut table = Table::new(heads);
    let mut errors = 0;
    for stream in Stream::ALL {
        let figures = result.totals.stream(stream);
        if figures.count > 0 || figures.errors > 0 {
            let mut row = vec![Cell::new(stream_name(result, stream))];
            row.extend(SHOWN.map(|metric| Cell::io(figures, metric)));
            row.push(Cell::figure(figures.average_queue_depth()));
            row.push(Cell::io(figures, IoMetric::Errors).notable_when(figures.errors > 0));
            table.push(row);
            errors += figures.errors;
        }
    }
    if table.rows.len() > 1 {
        table.sums = traffic_sums(result, &SHOWN, errors);
    }
    table.without_empty_columns()
}

/// All types together: what adds up. Latencies of different types have no common meaning.
fn traffic_sums(result: &RunResult, shown: &[IoMetric], errors: u64) -> Vec<Cell> {
    let totals = &result.totals;
    let (rate, bytes) = (totals.all_per_second(), totals.all_bytes_per_second());
    let mut sums = vec![Cell::new("all")];
    sums.extend(shown.iter().map(|metric| match metric {
        IoMetric::Rate => Cell::of(rate, metric.unit()),
        IoMetric::Throughput => Cell::of(bytes, metric.unit()),
        IoMetric::AverageBytes => Cell::of((rate > 0.0).then(|| bytes / rate), metric.unit()),
        _ => Cell::new(""),
    }));
    let depths = Stream::ALL.map(|stream| totals.stream(stream).average_queue_depth());
    sums.push(Cell::figure(depths.iter().flatten().sum::<f64>()));
    sums.push(Cell::count(errors).notable_when(errors > 0));
    sums
}

/// The phases of the run.
#[must_use]
pub fn phases_table(result: &RunResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("phase"),
        Column::text("started"),
        Column::number("duration", ""),
    ]);
    for phase in &result.phases {
        table.push(vec![
            Cell::new(phase.name.clone()),
            Cell::new(moment(&phase.started)),
            Cell::of(phase.duration_s, Unit::Seconds),
        ]);
    }
    table
}
