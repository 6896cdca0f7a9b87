//! The courses of several runs laid over one another, each from the start of its measured phase.

use measure::result::RunResult;
use measure::sample::RowScope;

use super::Comparison;
use crate::chart::{Across, Chart, Mark, Point, Upright};
use crate::limits::{self, Limits};
use crate::run::{Moment, Run};

/// Latency, rates and distributions of all runs in common charts; only those with lines.
#[must_use]
pub fn comparison_charts(comparison: &Comparison) -> Vec<Chart> {
    let mut charts = vec![
        over_time(
            comparison,
            "read-latency",
            "Database read latency, average",
            "ms",
            |moment| moment.reads.average_ms,
        ),
        over_time(
            comparison,
            "log-latency",
            "Log write latency, average",
            "ms",
            |moment| moment.log_writes.average_ms,
        ),
        over_time(comparison, "iops", "Transactional I/O", "1/s", |moment| {
            moment.reads.per_second + moment.writes.per_second
        }),
        over_time(
            comparison,
            "throughput",
            "Read and written",
            "MiB/s",
            |moment| {
                let flows = [
                    moment.reads,
                    moment.writes,
                    moment.log_writes,
                    moment.maintenance_reads,
                ];
                flows.iter().map(|flow| flow.bytes_per_second).sum::<f64>() / 1_048_576.0
            },
        ),
    ];
    let of_each: [fn(&RunResult) -> Limits; 3] =
        [limits::database_read, limits::log_write, limits::rate];
    for (chart, limits) in charts.iter_mut().zip(of_each) {
        shared(comparison, limits).draw(chart, None);
    }
    charts[0].upright = Upright::ByLimits;
    charts[1].upright = Upright::ByLimits;
    charts.push(over_time(
        comparison,
        "array-busy",
        "Disks of the array busy, mean",
        "%",
        disks_busy,
    ));
    charts.push(distributions(
        comparison,
        "read-distribution",
        "database reads",
    ));
    charts.push(distributions(comparison, "log-distribution", "log writes"));
    charts.retain(|chart| !chart.is_empty());
    charts
}

/// The mean over the disks of a modelled array.
fn disks_busy(moment: &Moment) -> f64 {
    let disks = moment
        .array
        .iter()
        .filter(|part| part.scope == RowScope::ArrayDisk);
    let busy: Vec<f64> = disks
        .filter_map(|disk| disk.figures.array_busy_fraction)
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
    value: fn(&Moment) -> f64,
) -> Chart {
    let mut chart = Chart::new(identity, title, unit, Across::Elapsed);
    chart.note = "Time counts from the start of each measured phase.".to_string();
    for (index, (run, name)) in comparison.runs().iter().zip(comparison.names()).enumerate() {
        chart.add(name, index, mark(index), &measured(run, value));
    }
    chart
}

/// The samples of the measured phase, counted from its start; all samples when none is marked. The
/// short rest of a phase is no point of a curve.
pub(super) fn measured(run: &Run, value: fn(&Moment) -> f64) -> Vec<Point> {
    let marked = |moment: &&Moment| moment.phase == "measured";
    let any = run.timeline.iter().any(|moment| marked(&moment));
    let moments: Vec<&Moment> = run
        .timeline
        .iter()
        .filter(|moment| !any || marked(moment))
        .filter(|moment| moment.length_s >= run.result.samples.interval_s / 2.0)
        .collect();
    let start = moments
        .first()
        .map_or(0.0, |moment| moment.ends_s - moment.length_s);
    moments
        .iter()
        .map(|moment| (moment.ends_s - start, value(moment)))
        .collect()
}

fn distributions(comparison: &Comparison, identity: &'static str, name: &str) -> Chart {
    let title = format!("Latency distribution, {name}");
    let mut chart = Chart::new(identity, &title, "ms", Across::Percentile);
    chart.upright = Upright::Logarithmic;
    for (index, (run, label)) in comparison.runs().iter().zip(comparison.names()).enumerate() {
        let found = run
            .distributions
            .iter()
            .find(|distribution| distribution.name == name);
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
