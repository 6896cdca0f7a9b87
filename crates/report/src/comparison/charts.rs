//! Time series of several runs in common charts, each from the start of its measured phase.

use measure::metric::{IoMetric, Metric};
use measure::metric::{RowScope, Stream};
use measure::result::RunResult;
use measure::sample::Phase;

use super::Comparison;
use crate::chart::{Chart, HorizontalAxis, Mark, Point, VerticalAxis};
use crate::limits::{self, Limits};
use crate::run::{Run, Sample};

/// Latency, rates and distributions of all runs in common charts; only those with lines.
#[must_use]
pub fn comparison_charts(comparison: &Comparison) -> Vec<Chart> {
    let mut charts = vec![
        over_time(
            comparison,
            "read-latency",
            "Database read latency, average",
            "ms",
            |sample| sample.io(Stream::DatabaseRead, IoMetric::Average),
        ),
        over_time(
            comparison,
            "log-latency",
            "Log write latency, average",
            "ms",
            |sample| sample.io(Stream::LogWrite, IoMetric::Average),
        ),
        over_time(comparison, "iops", "Transactional I/O", "IOPS", |sample| {
            sample.get(Metric::Iops)
        }),
        over_time(
            comparison,
            "throughput",
            "Throughput, read and written",
            "MiB/s",
            |sample| {
                let streams = [
                    Stream::DatabaseRead,
                    Stream::DatabaseWrite,
                    Stream::LogWrite,
                    Stream::MaintenanceRead,
                ];
                let of = |stream| sample.io(stream, IoMetric::Throughput);
                streams.map(of).iter().sum::<f64>() / 1_048_576.0
            },
        ),
    ];
    let of_each: [fn(&RunResult) -> Limits; 3] =
        [limits::database_read, limits::log_write, limits::rate];
    for (chart, limits) in charts.iter_mut().zip(of_each) {
        shared(comparison, limits).draw(chart, None);
    }
    charts[0].vertical = VerticalAxis::ByLimits;
    charts[1].vertical = VerticalAxis::ByLimits;
    charts.push(over_time(
        comparison,
        "array-busy",
        "Disk utilization of the array, average",
        "%",
        disks_busy,
    ));
    charts.push(distributions(
        comparison,
        "read-distribution",
        Stream::DatabaseRead,
    ));
    charts.push(distributions(
        comparison,
        "log-distribution",
        Stream::LogWrite,
    ));
    charts.retain(|chart| !chart.is_empty());
    charts
}

/// The mean over the disks of a modelled array.
fn disks_busy(sample: &Sample) -> f64 {
    let disks = sample.of(RowScope::ArrayDisk);
    let busy: Vec<f64> = disks
        .filter_map(|disk| disk.get(Metric::ArrayBusy))
        .collect();
    match busy.len() {
        0 => f64::NAN,
        count => 100.0 * busy.iter().sum::<f64>() / count as f64,
    }
}

/// The limits that hold for every run; one that holds for some would be read as one for all.
fn shared(comparison: &Comparison, limits: fn(&RunResult) -> Limits) -> Limits {
    let runs = comparison.runs().iter();
    let of_runs = runs.map(|run| limits(&run.result));
    of_runs
        .reduce(|shared, limits| shared.in_both(&limits))
        .unwrap_or_default()
}

fn over_time(
    comparison: &Comparison,
    identity: &'static str,
    title: &str,
    unit: &'static str,
    value: fn(&Sample) -> f64,
) -> Chart {
    let mut chart = Chart::new(identity, title, unit, HorizontalAxis::Elapsed);
    chart.since = "time since the start of the measured phase";
    for (index, (run, name)) in comparison.runs().iter().zip(comparison.names()).enumerate() {
        chart.add(name, index, mark(index), &measured(run, value));
    }
    chart
}

/// The samples of the measured phase, counted from its start; all samples when none is marked. The
/// short rest of a phase is no point of a curve.
pub(super) fn measured(run: &Run, value: fn(&Sample) -> f64) -> Vec<Point> {
    let marked = |sample: &&Sample| sample.phase == Phase::Measured;
    let any = run.timeline.iter().any(|sample| marked(&sample));
    let samples: Vec<&Sample> = run
        .timeline
        .iter()
        .filter(|sample| !any || marked(sample))
        .filter(|sample| sample.length_s >= run.result.samples.interval_s / 2.0)
        .collect();
    let start = samples
        .first()
        .map_or(0.0, |sample| sample.ends_s - sample.length_s);
    samples
        .iter()
        .map(|sample| (sample.ends_s - start, value(sample)))
        .collect()
}

fn distributions(comparison: &Comparison, identity: &'static str, stream: Stream) -> Chart {
    let title = format!("Cumulative latency distribution, {}", stream.label());
    let mut chart = Chart::new(identity, &title, "ms", HorizontalAxis::Percentile);
    chart.vertical = VerticalAxis::Logarithmic;
    for (index, (run, label)) in comparison.runs().iter().zip(comparison.names()).enumerate() {
        let found = run
            .distributions
            .iter()
            .find(|distribution| distribution.stream == stream);
        if let Some(distribution) = found {
            chart.add(label, index, mark(index), &distribution.points);
        }
    }
    chart
}

/// Every second run is dashed, so that neighbours differ by more than colour.
fn mark(index: usize) -> Mark {
    if index.is_multiple_of(2) {
        Mark::Line
    } else {
        Mark::Dashed
    }
}
