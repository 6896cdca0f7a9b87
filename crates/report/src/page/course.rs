//! The charts of a run: what happened over time, and how the latencies were spread.

use measure::sample::Phase;

use super::events;
use crate::chart::{Across, Band, Chart, Mark, Point, Upright};
use crate::limits;
use crate::run::{Flow, Moment, Run};

/// Up to this many databases have a line each; of more, the lowest, middle and highest are drawn.
const MOST_LINES: usize = 6;
/// Up to this many devices have lines of their own.
const MOST_DEVICES: usize = 3;
const MIB: f64 = 1_048_576.0;

/// A line of a chart of requests: name, tone, mark, and where its values come from.
type Kind = (&'static str, usize, Mark, fn(&Moment) -> Flow);
/// A line of the spread chart: name, mark, and which rank of so many it shows.
type Ranked = (&'static str, Mark, fn(usize) -> usize);

/// Every chart that has something to show, over the time under load.
pub(super) fn charts(run: &Run) -> Vec<Chart> {
    let run = &under_load(run);
    let mut charts = vec![
        latency(run),
        rates(run),
        slowest_hundredth(run),
        distribution(run),
        throughput(run),
        each_database(run),
        databases_over_time(run),
        devices(run),
        processor(run),
        operations(run),
        operation_latency(run),
        stalls(run),
        events::rebuilds(run),
    ];
    charts.retain(|chart| !chart.is_empty());
    for chart in &mut charts {
        if chart.across == Across::Elapsed {
            chart.bands = phases(&run.timeline);
            chart.moments = events::marks(&run.result);
        }
    }
    charts
}

/// The run without building, closing and verifying: their bursts would flatten what users feel.
/// Nor is the short rest of a phase a point of a curve. A run that never came to its load is shown
/// as it is.
pub(super) fn under_load(run: &Run) -> Run {
    let whole_s = run.result.samples.interval_s / 2.0;
    let is_load = |moment: &&Moment| {
        let names = [Phase::Build, Phase::Close, Phase::Checksum].map(Phase::name);
        !names.contains(&moment.phase.as_str()) && moment.length_s >= whole_s
    };
    let mut shown = run.clone();
    let timeline: Vec<Moment> = run.timeline.iter().filter(is_load).cloned().collect();
    if !timeline.is_empty() {
        shown.timeline = timeline;
    }
    shown
}

pub(super) fn over_time(identity: &'static str, title: &str, unit: &'static str) -> Chart {
    Chart::new(identity, title, unit, Across::Elapsed)
}

pub(super) fn line(run: &Run, value: impl Fn(&Moment) -> f64) -> Vec<Point> {
    run.timeline
        .iter()
        .map(|moment| (moment.ends_s, value(moment)))
        .collect()
}

/// Adds a line each for database reads, database writes and log writes.
fn add_streams(chart: &mut Chart, run: &Run, log_mark: Mark, value: fn(&Flow) -> f64) {
    let streams: [Kind; 3] = [
        ("database reads", 0, Mark::Line, |moment| moment.reads),
        ("database writes", 2, Mark::Line, |moment| moment.writes),
        ("log writes", 1, log_mark, |moment| moment.log_writes),
    ];
    for (name, tone, mark, flow) in streams {
        chart.add(name, tone, mark, &line(run, |moment| value(&flow(moment))));
    }
}

fn latency(run: &Run) -> Chart {
    let mut chart = over_time("latency", "Latency, average of each sample", "ms");
    chart.upright = Upright::ByLimits;
    add_streams(&mut chart, run, Mark::Line, |flow| flow.average_ms);
    limits::database_read(&run.result).draw(&mut chart, Some(0));
    limits::log_write(&run.result).draw(&mut chart, Some(1));
    chart
}

/// What averages hide: the latency that one request of a hundred exceeds.
fn slowest_hundredth(run: &Run) -> Chart {
    let mut chart = over_time(
        "latency-99",
        "Latency, 99th percentile of each sample",
        "ms",
    );
    chart.note = "One request of a hundred took longer.".to_string();
    chart.upright = Upright::ByLimits;
    limits::percentiles(&run.result).draw(&mut chart, None);
    add_streams(&mut chart, run, Mark::Line, |flow| flow.p99_ms);
    chart
}

fn rates(run: &Run) -> Chart {
    let mut chart = over_time("iops", "Requests to the storage", "1/s");
    let transactional = |moment: &Moment| moment.reads.per_second + moment.writes.per_second;
    chart.add(
        "transactional I/O (reads + writes)",
        5,
        Mark::Line,
        &line(run, transactional),
    );
    add_streams(&mut chart, run, Mark::Dashed, |flow| flow.per_second);
    let maintenance = line(run, |moment| moment.maintenance_reads.per_second);
    if maintenance.iter().any(|point| point.1 > 0.0) {
        chart.add("maintenance reads", 3, Mark::Dashed, &maintenance);
    }
    limits::rate(&run.result).draw(&mut chart, Some(5));
    chart
}

fn throughput(run: &Run) -> Chart {
    let mut chart = over_time("throughput", "Throughput", "MiB/s");
    let kinds: [Kind; 4] = [
        ("database reads", 0, Mark::Line, |moment| moment.reads),
        ("database writes", 2, Mark::Line, |moment| moment.writes),
        ("log writes", 1, Mark::Dashed, |moment| moment.log_writes),
        ("maintenance reads", 3, Mark::Dashed, |moment| {
            moment.maintenance_reads
        }),
    ];
    for (name, tone, mark, flow) in kinds {
        let points = line(run, |moment| flow(moment).bytes_per_second / MIB);
        if points.iter().any(|point| point.1 > 0.0) {
            chart.add(name, tone, mark, &points);
        }
    }
    chart
}

fn distribution(run: &Run) -> Chart {
    let mut chart = Chart::new(
        "distribution",
        "Latency distribution",
        "ms",
        Across::Percentile,
    );
    chart.upright = Upright::Logarithmic;
    chart.note = "So many percent of the requests were at most this slow.".to_string();
    for (index, distribution) in run.distributions.iter().enumerate() {
        let (tone, mark) = match distribution.name.as_str() {
            "database reads" => (0, Mark::Line),
            "database writes" => (2, Mark::Line),
            "log writes" => (1, Mark::Line),
            "maintenance reads" => (3, Mark::Dashed),
            _ => (4 + index, Mark::Dashed),
        };
        chart.add(&distribution.name, tone, mark, &distribution.points);
    }
    chart
}

/// Average and 99th percentile of each database, side by side.
fn each_database(run: &Run) -> Chart {
    let databases = &run.result.databases;
    let names = databases
        .iter()
        .map(|database| database.name.clone())
        .collect();
    let mut chart = Chart::new(
        "each-database",
        "Average latency of each database",
        "ms",
        Across::Names(names),
    );
    if databases.len() < 2 {
        return chart;
    }
    chart.upright = Upright::ByLimits;
    let each = |value: &dyn Fn(&measure::result::DatabaseResult) -> Option<f64>| -> Vec<Point> {
        let values = databases.iter().map(|one| value(one).unwrap_or(f64::NAN));
        values
            .enumerate()
            .map(|(index, value)| (index as f64, value))
            .collect()
    };
    let reads = each(&|one| one.reads.latency.map(|latency| latency.average_ms));
    let writes = each(&|one| one.writes.latency.map(|latency| latency.average_ms));
    let logs = each(&|one| one.log_writes.latency.map(|latency| latency.average_ms));
    chart.add("database reads", 0, Mark::Dots, &reads);
    chart.add("database writes", 2, Mark::Dots, &writes);
    chart.add("log writes", 1, Mark::Dots, &logs);
    limits::database_read(&run.result).draw(&mut chart, Some(0));
    limits::log_write(&run.result).draw(&mut chart, Some(1));
    chart
}

/// The read latency of each database over time, or the spread of many.
fn databases_over_time(run: &Run) -> Chart {
    let mut chart = over_time("databases", "Database read latency of each database", "ms");
    chart.upright = Upright::ByLimits;
    let names: Vec<&String> = run.timeline.first().map_or_else(Vec::new, |moment| {
        moment
            .databases
            .iter()
            .map(|database| &database.name)
            .collect()
    });
    if names.len() < 2 {
        return chart;
    }
    limits::database_read(&run.result).draw(&mut chart, None);
    if names.len() <= MOST_LINES {
        for (index, name) in names.iter().enumerate() {
            let of = |moment: &Moment| {
                let found = moment
                    .databases
                    .iter()
                    .find(|database| database.name == **name);
                found.map_or(f64::NAN, |database| database.average_read_ms)
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
    chart.title = format!(
        "Database read latency, spread over {} databases",
        names.len()
    );
    let ranked: [Ranked; 3] = [
        ("slowest database", Mark::Dashed, |count| count - 1),
        ("median database", Mark::Line, |count| count / 2),
        ("fastest database", Mark::Dashed, |_| 0),
    ];
    for (index, (name, mark, rank)) in ranked.into_iter().enumerate() {
        chart.add(
            name,
            index,
            mark,
            &line(run, |moment| ranked_read(moment, rank)),
        );
    }
    chart
}

/// The read latency at a rank among the databases of one sample.
fn ranked_read(moment: &Moment, rank: fn(usize) -> usize) -> f64 {
    let mut values: Vec<f64> = moment
        .databases
        .iter()
        .map(|database| database.average_read_ms)
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
        "Measured by the kernel below the file system; all traffic of the device is in it."
            .to_string();
    chart.upright = Upright::ByLimits;
    let mut names: Vec<&str> = Vec::new();
    for device in run.timeline.iter().flat_map(|moment| &moment.devices) {
        if !names.contains(&device.name.as_str()) {
            names.push(&device.name);
        }
    }
    for (index, name) in names.iter().take(MOST_DEVICES).enumerate() {
        let of = |moment: &Moment, write: bool| {
            let found = moment.devices.iter().find(|device| device.name == *name);
            found.map_or(f64::NAN, |device| {
                if write {
                    device.average_write_ms
                } else {
                    device.average_read_ms
                }
            })
        };
        let (reads, writes) = (format!("{name} reads"), format!("{name} writes"));
        chart.add(
            &reads,
            index * 2,
            Mark::Line,
            &line(run, |moment| of(moment, false)),
        );
        chart.add(
            &writes,
            index * 2 + 1,
            Mark::Dashed,
            &line(run, |moment| of(moment, true)),
        );
    }
    if names.len() > MOST_DEVICES {
        chart.note += &format!(
            " {} more devices are in the table of the host.",
            names.len() - MOST_DEVICES
        );
    }
    chart
}

fn processor(run: &Run) -> Chart {
    let mut chart = over_time("processor", "Processor time of the host", "%");
    chart.add(
        "busy",
        5,
        Mark::Line,
        &line(run, |moment| moment.processor_percent),
    );
    chart.top = Some(100.0);
    chart.note = "Near 100 % the host is the bottleneck, not the storage.".to_string();
    chart
}

fn operations(run: &Run) -> Chart {
    let mut chart = over_time("operations", "Operations of the workload", "1/s");
    let points = line(run, |moment| moment.operations_per_second);
    if points.iter().any(|point| point.1 > 0.0) {
        chart.add("operations", 4, Mark::Line, &points);
    }
    chart
}

/// How long the users wait, with and without the time before an operation could start.
fn operation_latency(run: &Run) -> Chart {
    let title = "Operations of the workload, 99th percentile of each sample";
    let mut chart = over_time("operation-latency", title, "ms");
    let service = line(run, |moment| moment.operation_p99_ms);
    let from_due = line(run, |moment| moment.operation_from_due_p99_ms);
    if service.iter().any(|point| point.1 > 0.0) {
        chart.add("from begin to end", 4, Mark::Line, &service);
        chart.add("from the moment it was due", 6, Mark::Dashed, &from_due);
    }
    chart
}

/// Page-fault stalls, when there were any.
fn stalls(run: &Run) -> Chart {
    let mut chart = over_time("stalls", "Page-fault stalls", "1/s");
    let points = line(run, |moment| moment.stalls_per_second);
    if points.iter().any(|point| point.1 > 0.0) {
        chart.add("stalls", 6, Mark::Line, &points);
        let resource = measure::result::CheckKind::Resource;
        for check in run
            .result
            .checks
            .iter()
            .filter(|check| check.kind == resource)
            .take(1)
        {
            chart.limit("limit", check.limit, None);
        }
    }
    chart
}

/// The phases as spans of the time axis; none when all samples belong to one.
pub(super) fn phases(timeline: &[Moment]) -> Vec<Band> {
    let mut bands: Vec<Band> = Vec::new();
    for moment in timeline {
        let from = moment.ends_s - moment.length_s;
        match bands.last_mut() {
            Some(band) if band.label == moment.phase => band.to = moment.ends_s,
            _ => bands.push(Band {
                label: moment.phase.clone(),
                from,
                to: moment.ends_s,
            }),
        }
    }
    if bands.len() < 2 { Vec::new() } else { bands }
}
