//! Figures for the line that shows how a run is doing.

use super::{DatabaseMeters, Phase, Sample};
use crate::histogram::LatencyHistogram;
use crate::metric::Stream;

/// The latest figures of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LiveFigures {
    /// What the run is doing; `None` before the first figures.
    pub phase: Option<Phase>,
    /// End of the interval of these figures, in seconds since the start of the run.
    pub ends_s: f64,
    /// Database reads plus writes per second, all databases.
    pub iops: f64,
    /// Mean database read latency over all databases; `None` without reads.
    pub database_read_ms: Option<f64>,
    /// Mean log write latency over all databases; `None` without log writes.
    pub log_write_ms: Option<f64>,
    /// Operations per second, commits not counted.
    pub operations_per_second: f64,
}

impl LiveFigures {
    /// The figures of one interval.
    pub fn of(sample: &Sample) -> LiveFigures {
        let operations: u64 = sample
            .databases
            .iter()
            .flat_map(|d| {
                let kinds = sample.layout.operations.iter().enumerate();
                kinds
                    .filter(|(_, kind)| kind.in_total)
                    .filter_map(|(i, _)| d.operation(i))
            })
            .map(super::OperationMeter::count)
            .sum();
        LiveFigures {
            phase: Some(sample.phase),
            ends_s: sample.begins_s + sample.length_s,
            iops: sample.iops(),
            database_read_ms: average_ms(&sample.databases, Stream::DatabaseRead),
            log_write_ms: average_ms(&sample.databases, Stream::LogWrite),
            operations_per_second: operations as f64 / sample.length_s,
        }
    }
}

/// Mean latency of a stream over all databases.
fn average_ms(databases: &[DatabaseMeters], stream: Stream) -> Option<f64> {
    let meters = databases
        .iter()
        .filter_map(|d| d.stream(stream))
        .map(|m| &m.latency);
    let (count, total_ns) = meters.fold(
        (0, 0),
        |(count, total): (u64, u64), l: &LatencyHistogram| {
            (count + l.count(), total.saturating_add(l.total_ns()))
        },
    );
    (count > 0).then(|| total_ns as f64 / count as f64 / 1e6)
}
