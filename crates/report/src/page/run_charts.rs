//! The charts of a run: time series and latency distributions.

use measure::metric::{IoMetric, Metric, RowScope, Stream, Unit};
use measure::result::{CheckId, DatabaseResult, RunKind};
use measure::sample::{Phase, SampleRow};

use super::events;
use crate::chart::{Band, Chart, HorizontalAxis, Mark, Point, VerticalAxis};
use crate::limits;
use crate::run::{Run, Sample};
use crate::words::{place_noun, stream_name};

/// Up to this many databases have a line each; of more, the lowest, middle and highest are drawn.
const MOST_LINES: usize = 6;
/// Up to this many devices have lines of their own.
const MOST_DEVICES: usize = 3;
const MIB: f64 = 1_048_576.0;

/// A line of the range chart: name, mark, and which rank of so many it shows.
type Ranked = (&'static str, Mark, fn(usize) -> usize);

/// Every chart that has something to show, over the time under load.
pub(super) fn charts(run: &Run) -> Vec<Chart> {
    let run = &under_load(run);
    let mut charts = vec![
        latency(run),
        rates(run),
        percentile(run),
        distribution(run),
        throughput(run),
        each_database(run),
        databases_over_time(run),
        devices(run),
        cpu(run),
        operations(run),
        copy_queues(run),
        operation_latency(run),
        stalls(run),
        events::rebuilds(run),
    ];
    charts.retain(|chart| !chart.is_empty());
    for chart in &mut charts {
        if chart.horizontal == HorizontalAxis::Elapsed {
            chart.bands = phases(&run.timeline);
            chart.events = events::marks(&run.result);
            for interruption in &run.result.interruptions {
                chart.break_lines(interruption.last_sample_s);
            }
        }
    }
    charts
}

/// The run without building, closing and verifying, whose bursts would dwarf the load. Nor is the
/// short rest of a phase a point of a curve. A run that never reached its load is shown as it is.
pub(super) fn under_load(run: &Run) -> Run {
    let whole_s = run.result.samples.interval_s / 2.0;
    let is_load = |sample: &&Sample| sample.phase.is_under_load() && sample.length_s >= whole_s;
    let mut shown = run.clone();
    let timeline: Vec<Sample> = run.timeline.iter().filter(is_load).cloned().collect();
    if !timeline.is_empty() {
        shown.timeline = timeline;
    }
    shown
}

pub(super) fn over_time(identity: &'static str, title: &str, unit: &'static str) -> Chart {
    Chart::new(identity, title, unit, HorizontalAxis::Elapsed)
}

pub(super) fn line(run: &Run, value: impl Fn(&Sample) -> f64) -> Vec<Point> {
    run.timeline
        .iter()
        .map(|sample| (sample.ends_s, value(sample)))
        .collect()
}

/// The tone of a stream, the same in all charts.
fn tone(stream: Stream) -> usize {
    match stream {
        Stream::DatabaseRead => 0,
        Stream::LogWrite => 1,
        Stream::DatabaseWrite => 2,
        Stream::MaintenanceRead => 3,
        _ => 4,
    }
}

/// Adds a line each for database reads, database writes and log writes.
fn add_streams(chart: &mut Chart, run: &Run, log_mark: Mark, metric: IoMetric) {
    for (stream, mark) in [
        (Stream::DatabaseRead, Mark::Line),
        (Stream::DatabaseWrite, Mark::Line),
        (Stream::LogWrite, log_mark),
    ] {
        let points = line(run, |sample| sample.io(stream, metric));
        chart.add(
            stream_name(&run.result, stream),
            tone(stream),
            mark,
            &points,
        );
    }
}

fn latency(run: &Run) -> Chart {
    let mut chart = over_time("latency", "Latency, average of each sample", "ms");
    chart.vertical = VerticalAxis::ByLimits;
    add_streams(&mut chart, run, Mark::Line, IoMetric::Average);
    limits::database_read(&run.result).draw(&mut chart, Some(0));
    limits::log_write(&run.result).draw(&mut chart, Some(1));
    chart
}

/// The 99th percentile of each sample.
fn percentile(run: &Run) -> Chart {
    let mut chart = over_time("latency-99", "Latency, p99 of each sample", "ms");
    chart.note = "1 % of the requests took longer than this.".to_string();
    chart.vertical = VerticalAxis::ByLimits;
    limits::percentiles(&run.result).draw(&mut chart, None);
    add_streams(&mut chart, run, Mark::Line, IoMetric::P99);
    chart
}

fn rates(run: &Run) -> Chart {
    let mut chart = over_time("iops", "I/O requests", "IOPS");
    let transactional = line(run, |sample| sample.get(Metric::Iops));
    let name = match run.result.kind {
        RunKind::Trace | RunKind::Served => "reads + writes",
        _ => "transactional I/O (reads + writes)",
    };
    chart.add(name, 5, Mark::Line, &transactional);
    add_streams(&mut chart, run, Mark::Dashed, IoMetric::Rate);
    add_used(
        &mut chart,
        run,
        Stream::MaintenanceRead,
        Mark::Dashed,
        |sample| sample.io(Stream::MaintenanceRead, IoMetric::Rate),
    );
    limits::rate(&run.result).draw(&mut chart, Some(5));
    chart
}

/// Adds a line of a stream that had requests.
fn add_used(
    chart: &mut Chart,
    run: &Run,
    stream: Stream,
    mark: Mark,
    value: impl Fn(&Sample) -> f64,
) {
    let points = line(run, value);
    if points.iter().any(|point| point.1 > 0.0) {
        chart.add(
            stream_name(&run.result, stream),
            tone(stream),
            mark,
            &points,
        );
    }
}

fn throughput(run: &Run) -> Chart {
    let mut chart = over_time("throughput", "Throughput", "MiB/s");
    for (stream, mark) in [
        (Stream::DatabaseRead, Mark::Line),
        (Stream::DatabaseWrite, Mark::Line),
        (Stream::LogWrite, Mark::Dashed),
        (Stream::MaintenanceRead, Mark::Dashed),
    ] {
        add_used(&mut chart, run, stream, mark, |sample| {
            sample.io(stream, IoMetric::Throughput) / MIB
        });
    }
    chart
}

fn distribution(run: &Run) -> Chart {
    let mut chart = Chart::new(
        "distribution",
        "Cumulative latency distribution",
        "ms",
        HorizontalAxis::Percentile,
    );
    chart.vertical = VerticalAxis::Logarithmic;
    chart.note = "Share of the requests with at most this latency.".to_string();
    for distribution in &run.distributions {
        let stream = distribution.stream;
        let mark = match stream {
            Stream::DatabaseRead | Stream::DatabaseWrite | Stream::LogWrite => Mark::Line,
            _ => Mark::Dashed,
        };
        let name = stream_name(&run.result, stream);
        chart.add(name, tone(stream), mark, &distribution.points);
    }
    chart
}

/// Average latency of each database, side by side.
fn each_database(run: &Run) -> Chart {
    let databases = &run.result.databases;
    let names = databases
        .iter()
        .map(|database| database.name.clone())
        .collect();
    let mut chart = Chart::new(
        "each-database",
        &format!("Average latency of each {}", place_noun(&run.result)),
        "ms",
        HorizontalAxis::Names(names),
    );
    if databases.len() < 2 {
        return chart;
    }
    chart.vertical = VerticalAxis::ByLimits;
    for stream in [
        Stream::DatabaseRead,
        Stream::DatabaseWrite,
        Stream::LogWrite,
    ] {
        let average = |database: &DatabaseResult| {
            let figures = database.figures.stream(stream);
            figures.get(IoMetric::Average).unwrap_or(f64::NAN)
        };
        let numbered = databases.iter().enumerate();
        let points: Vec<Point> = numbered
            .map(|(number, one)| (number as f64, average(one)))
            .collect();
        chart.add(
            stream_name(&run.result, stream),
            tone(stream),
            Mark::Dots,
            &points,
        );
    }
    limits::database_read(&run.result).draw(&mut chart, Some(0));
    limits::log_write(&run.result).draw(&mut chart, Some(1));
    chart
}

/// The read latency of each database over time, or the range of many.
fn databases_over_time(run: &Run) -> Chart {
    let noun = place_noun(&run.result);
    let what = match run.result.kind {
        RunKind::Trace | RunKind::Served => "Read latency",
        _ => "Database read latency",
    };
    let mut chart = over_time("databases", &format!("{what} of each {noun}"), "ms");
    chart.vertical = VerticalAxis::ByLimits;
    let first = run.timeline.first();
    let names: Vec<&str> = first
        .iter()
        .flat_map(|sample| sample.of(RowScope::Database))
        .map(|row| row.name.as_str())
        .collect();
    if names.len() < 2 {
        return chart;
    }
    limits::database_read(&run.result).draw(&mut chart, None);
    if names.len() <= MOST_LINES {
        for (index, name) in names.iter().enumerate() {
            let of = |sample: &Sample| {
                let row = sample.row(RowScope::Database, name);
                row.and_then(read_average).unwrap_or(f64::NAN)
            };
            let mark = if index.is_multiple_of(2) {
                Mark::Line
            } else {
                Mark::Dashed
            };
            chart.add(name, index, mark, &line(run, of));
        }
        return chart;
    }
    chart.title = format!("{what}, range over {} {noun}s", names.len());
    let ranked: [Ranked; 3] = [
        ("worst", Mark::Dashed, |count| count - 1),
        ("median", Mark::Line, |count| count / 2),
        ("best", Mark::Dashed, |_| 0),
    ];
    for (index, (name, mark, rank)) in ranked.into_iter().enumerate() {
        chart.add(
            &format!("{name} {noun}"),
            index,
            mark,
            &line(run, |sample| ranked_read(sample, rank)),
        );
    }
    chart
}

fn read_average(row: &SampleRow) -> Option<f64> {
    row.io(Stream::DatabaseRead, IoMetric::Average)
}

/// The read latency at a rank among the databases of one sample.
fn ranked_read(sample: &Sample, rank: fn(usize) -> usize) -> f64 {
    let databases = sample.of(RowScope::Database);
    let mut values: Vec<f64> = databases
        .filter_map(read_average)
        .filter(|value| value.is_finite())
        .collect();
    if values.is_empty() {
        return f64::NAN;
    }
    values.sort_by(f64::total_cmp);
    values[rank(values.len())]
}

/// The latency of the block devices beneath, as the kernel measured it.
fn devices(run: &Run) -> Chart {
    let mut chart = over_time("devices", "Latency of the block devices", "ms");
    chart.note =
        "From /proc/diskstats, below the file system; all I/O of the device is in it.".to_string();
    chart.vertical = VerticalAxis::ByLimits;
    let mut names: Vec<&str> = Vec::new();
    for device in run
        .timeline
        .iter()
        .flat_map(|sample| sample.of(RowScope::Device))
    {
        if !names.contains(&device.name.as_str()) {
            names.push(&device.name);
        }
    }
    for (index, name) in names.iter().take(MOST_DEVICES).enumerate() {
        let of = |metric| {
            line(run, |sample| {
                let row = sample.row(RowScope::Device, name);
                row.and_then(|row| row.get(metric)).unwrap_or(f64::NAN)
            })
        };
        let (reads, writes) = (format!("{name} reads"), format!("{name} writes"));
        let points = of(Metric::DeviceReadAverage);
        chart.add(&reads, index * 2, Mark::Line, &points);
        let points = of(Metric::DeviceWriteAverage);
        chart.add(&writes, index * 2 + 1, Mark::Dashed, &points);
    }
    if names.len() > MOST_DEVICES {
        chart.note += &format!(
            " {} more devices are in the table of the host.",
            names.len() - MOST_DEVICES
        );
    }
    chart
}

fn cpu(run: &Run) -> Chart {
    let mut chart = over_time("processor", "CPU utilization of the host, all cores", "%");
    let points = line(run, |sample| sample.get(Metric::CpuBusy));
    chart.add("busy", 5, Mark::Line, &points);
    chart.top = Some(100.0);
    chart.note = "Near 100 % the host is the bottleneck, not the storage.".to_string();
    chart
}

/// A chart of one line; empty when it never rises above zero.
fn single(
    run: &Run,
    identity: &'static str,
    title: &str,
    (label, tone): (&str, usize),
    metric: Metric,
) -> Chart {
    let mut chart = over_time(identity, title, metric.unit().text());
    let points = line(run, |sample| sample.get(metric));
    if points.iter().any(|point| point.1 > 0.0) {
        chart.add(label, tone, Mark::Line, &points);
    }
    chart
}

fn operations(run: &Run) -> Chart {
    let title = "Operations of the workload";
    let label = ("operations", 4);
    single(run, "operations", title, label, Metric::OperationRate)
}

/// Service time, and response time where a rate is held.
fn operation_latency(run: &Run) -> Chart {
    let title = "Operation latency, p99 of each sample";
    let label = ("service time (start to finish)", 4);
    let mut chart = single(run, "operation-latency", title, label, Metric::OperationP99);
    if !chart.is_empty() {
        let response = line(run, |sample| sample.get(Metric::ResponseP99));
        chart.add("response time (from due time)", 6, Mark::Dashed, &response);
    }
    chart
}

/// What the passive copies lack, when there are any.
fn copy_queues(run: &Run) -> Chart {
    let title = "Passive copies: log files not shipped or not replayed";
    let mut chart = over_time("copy-queues", title, Unit::LogFiles.text());
    for (tone, mark, metric) in [
        (4, Mark::Line, Metric::CopyQueue),
        (6, Mark::Dashed, Metric::ReplayQueue),
    ] {
        let points = line(run, |sample| sample.get(metric));
        if points.iter().any(|point| point.1.is_finite()) {
            chart.add(metric.label(), tone, mark, &points);
        }
    }
    chart
}

/// Page-fault stalls, when there were any.
fn stalls(run: &Run) -> Chart {
    let label = ("stalls", 6);
    let mut chart = single(
        run,
        "stalls",
        "Page-fault stalls",
        label,
        Metric::PageFaultStalls,
    );
    let mut checks = run.result.checks.iter();
    let check = checks.find(|check| check.id == CheckId::PageFaultStalls);
    if let Some(check) = check.filter(|_| !chart.is_empty()) {
        chart.limit("limit", check.limit, None);
    }
    chart
}

/// The phases as spans of the time axis; none when all samples belong to one.
pub(super) fn phases(timeline: &[Sample]) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for sample in timeline {
        let from = sample.ends_s - sample.length_s;
        let label = sample.phase.name();
        match bands.last_mut() {
            Some(band) if band.label == label => band.to = sample.ends_s,
            _ => bands.push(Band {
                label: label.to_owned(),
                is_measured: sample.phase == Phase::Measured,
                from,
                to: sample.ends_s,
            }),
        }
    }
    if bands.len() < 2 { Vec::new() } else { bands }
}
