//! Samples whose every count is known: each figure of their rows and of the result is what it
//! always was.

use std::path::Path;
use std::sync::Arc;

use measure::grid::{GridAxis, GridPoint};
use measure::host::{DeviceSample, HostSample};
use measure::metric::{IoMetric, Metric, Stream};
use measure::result::{
    ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume, Check, CheckId,
    DeviceResult, IoFigures, LatencyFigures, RunResult, Verdict,
};
use measure::sample::{
    Collector, DatabaseMeters, Layout, OperationKind, Phase, Recorder, RunTotals, Sample, rows_of,
};

const MS: u64 = 1_000_000;
const S: u64 = 1_000_000_000;

fn expect(file: &str, text: &str) {
    let known = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/known");
    test_support::expect(&known.join(file), text);
}

/// Counts on two databases; `times` makes every latency so many times as long.
fn databases(layout: &Layout, times: u64) -> Vec<DatabaseMeters> {
    let mut all = DatabaseMeters::for_layout(layout);
    for (number, meters) in (1..).zip(&mut all) {
        for (place, stream) in (1..).zip(Stream::ALL) {
            let meter = meters.stream_mut(stream);
            for request in 1..=place + number {
                meter.latency.record(request * place * times * MS);
                meter.bytes += 1_000 * place * number;
            }
            meter.errors = place + 10 * number;
        }
        for operation in 0..2 {
            let meter = meters.operation_mut(operation);
            for request in 1..=3 + number + operation as u64 {
                meter.service.record(request * times * 7 * MS);
                meter.response_time.record(request * times * 11 * MS);
            }
            meter.failures = number + 2;
        }
        meters.page_fault_stalls = 5 * number * times;
        meters.size_bytes = Some(70_000 * number + times);
    }
    all
}

fn host(times: f64) -> HostSample {
    let of_host = [
        11.0, 12.0, 13.0, 14e6, 15e6, 16.0, 1.0, 17.0, 18.0, 2.0, 4096.0, 3.0,
    ];
    let of_host = Metric::HOST.into_iter().zip(of_host);
    let of_device = [
        (Metric::DeviceReads, 21.0),
        (Metric::DeviceWrites, 22.0),
        (Metric::DeviceReadBytes, 23e3),
        (Metric::DeviceWriteBytes, 24e3),
        (Metric::DeviceReadAverage, 2.5),
        (Metric::DeviceWriteAverage, 2.75),
        (Metric::DeviceQueueDepth, 2.25),
        (Metric::DeviceBusy, 0.25),
    ];
    let value = |(metric, value)| (metric, Some(value * times));
    HostSample {
        length_s: 4.0,
        values: of_host.map(value).collect(),
        devices: vec![DeviceSample {
            name: "sda".to_owned(),
            values: of_device.into_iter().map(value).collect(),
        }],
    }
}

fn array() -> ArrayResult {
    let pool = |name: &str, scale: u64, hits: Option<f64>| ArrayPool {
        name: name.to_owned(),
        performance_pages: 30 * scale,
        standard_pages: 50 * scale,
        archive_pages: 20 * scale,
        performance_slots: 40 * scale,
        promoted_bytes: 8_000 * scale,
        demoted_bytes: 6_000 * scale,
        read_cache_lines_max: 80,
        read_cache_lines: 20 * scale,
        read_cache_hit_fraction: hits,
        ..ArrayPool::default()
    };
    ArrayResult {
        counted_s: 4.0,
        controllers: vec![
            ArrayController {
                number: 1,
                requests_per_second: 31.0,
                received_bytes_per_second: 32.0,
                sent_bytes_per_second: 33.0,
                cpu_busy_fraction: 0.34,
                link_busy_fraction: 0.35,
                cache_lines_max: 360,
                cache_dirty_lines: 90,
                ..ArrayController::default()
            },
            ArrayController::default(),
        ],
        volumes: vec![ArrayVolume {
            name: "volume".to_owned(),
            reads_per_second: 41.0,
            writes_per_second: 42.0,
            read_bytes_per_second: 43.0,
            written_bytes_per_second: 44.0,
            read_hit_fraction: Some(0.45),
            average_read_hit_ms: Some(0.46),
            average_read_miss_ms: Some(4.7),
            average_write_ms: Some(0.48),
            average_queue_depth: 4.9,
            ..ArrayVolume::default()
        }],
        pools: vec![
            pool("first", 1, Some(0.5)),
            pool("second", 3, Some(0.25)),
            pool("third", 1, None),
        ],
        groups: vec![
            ArrayGroup {
                name: "group".to_owned(),
                reads_per_second: 51.0,
                writes_per_second: 52.0,
                average_busy_fraction: 0.53,
                max_busy_fraction: 0.54,
                average_disk_latency_ms: Some(5.5),
                average_disk_queue_depth: 5.6,
                rebuild_completed_fraction: Some(0.57),
                ..ArrayGroup::default()
            },
            ArrayGroup {
                max_busy_fraction: 0.125,
                ..ArrayGroup::default()
            },
        ],
        disks: vec![ArrayDisk {
            number: 6,
            reads_per_second: 61.0,
            writes_per_second: 62.0,
            read_bytes_per_second: 63.0,
            written_bytes_per_second: 64.0,
            busy_fraction: 0.65,
            average_disk_latency_ms: Some(6.6),
            average_latency_ms: Some(6.7),
            average_disk_queue_depth: 6.8,
            ..ArrayDisk::default()
        }],
        ..ArrayResult::default()
    }
}

fn sample(phase: Phase, times: u64, length_s: f64) -> Sample {
    let layout = Layout::new(
        ["first", "second"],
        ["insert".into(), OperationKind::outside_total("commit-lazy")],
    );
    Sample {
        databases: databases(&layout, times),
        layout: Arc::new(layout),
        number: times,
        phase,
        phase_number: 1,
        begins_s: 8.0,
        length_s,
        host: Some(host(times as f64)),
        array: Some(array()),
    }
}

#[test]
fn each_figure_has_its_place_in_the_rows() {
    let mut text = String::new();
    for row in rows_of(&sample(Phase::Measured, 1, 4.0)) {
        let (scope, name) = (row.scope.name(), &row.name);
        let (number, begins_s, length_s) = (row.sample, row.begins_s, row.length_s);
        text += &format!("{scope} {name}: sample {number} from {begins_s} for {length_s} s\n");
        for (metric, value) in row.values.iter() {
            text += &format!("  {} = {value}\n", metric.id());
        }
    }
    expect("rows.txt", &text);
}

#[test]
fn each_figure_has_its_place_in_the_result() {
    let first = sample(Phase::WarmUp, 1, 4.0);
    let mut totals = RunTotals::new(Arc::clone(&first.layout), 4.0);
    totals.add(&first);
    totals.add(&sample(Phase::Measured, 2, 4.0));
    totals.add(&sample(Phase::Measured, 3, 4.0));
    // Half of the interval is a full sample, less is not.
    totals.add(&sample(Phase::Measured, 4, 2.0));
    totals.add(&sample(Phase::Measured, 5, 1.5));
    totals.add(&sample(Phase::Checksum, 6, 4.0));
    let mut result = RunResult::default();
    result.throughput.target_iops = Some(8.0);
    result.host.devices.push(DeviceResult {
        name: "sda".to_owned(),
        ..DeviceResult::default()
    });
    totals.fill(&mut result);
    let parts = serde_json::json!({
        "duration_s": result.duration_s,
        "samples": result.samples,
        "throughput": result.throughput,
        "databases": result.databases,
        "totals": result.totals,
        "operations": result.operations,
        "counters": result.host.counters,
        "devices": result.host.devices,
    });
    expect("result.json", &format!("{parts:#}\n"));

    assert_eq!((totals.interval_s(), totals.measured_s()), (4.0, 11.5));
    assert_eq!(totals.iops_by_sample(), [3.0, 3.0, 6.0]);
    let shown = totals.average_ms_by_sample(Stream::LogWrite);
    assert_eq!(shown.len(), 3);
    // First database: 3, 6, 9, 12 ms; second: these and 15 ms; twice, three and four times as long.
    for (shown, times) in shown.iter().zip([2.0, 3.0, 4.0]) {
        assert!((shown - 75.0 / 9.0 * times).abs() < 1e-5, "{shown}");
    }
    assert_eq!(totals.operation_count("insert"), 36);
    assert_eq!(totals.operation_count("delete"), 0);
}

#[test]
fn what_only_a_short_sample_has_is_its_own_highest_average() {
    let mut samples = [(1, 4.0), (2, 1.0)].map(|(times, length_s)| {
        let mut sample = sample(Phase::Measured, times, length_s);
        sample.databases = DatabaseMeters::for_layout(&sample.layout);
        sample
    });
    let reads = samples[1].databases[0].stream_mut(Stream::DatabaseRead);
    reads.latency.record(9 * MS);
    let mut totals = RunTotals::new(Arc::clone(&samples[0].layout), 4.0);
    samples.iter().for_each(|sample| totals.add(sample));
    let mut result = RunResult::default();
    totals.fill(&mut result);
    let latency = result.totals.reads.latency.unwrap();
    assert_eq!(latency.max_sample_average_ms, 9.0);
    assert!(totals.average_ms_by_sample(Stream::DatabaseRead).is_empty());
}

#[test]
fn each_figure_of_a_stream_is_found_by_its_metric() {
    let figures = IoFigures {
        count: 3,
        per_second: 1.5,
        bytes: 300,
        average_bytes: 100.0,
        errors: 4,
        latency: Some(LatencyFigures {
            average_ms: 5.0,
            average_half_width_ms: Some(6.0),
            p50_ms: 7.0,
            p90_ms: 8.0,
            p95_ms: 9.0,
            p99_ms: 10.0,
            p99_9_ms: 11.0,
            max_ms: 12.0,
            max_sample_average_ms: 13.0,
            saturated: 14,
        }),
    };
    for (metric, value) in [
        (IoMetric::Count, 3.0),
        (IoMetric::Rate, 1.5),
        (IoMetric::AverageBytes, 100.0),
        (IoMetric::Throughput, 150.0),
        (IoMetric::Errors, 4.0),
        (IoMetric::Average, 5.0),
        (IoMetric::HalfWidth, 6.0),
        (IoMetric::P50, 7.0),
        (IoMetric::P90, 8.0),
        (IoMetric::P95, 9.0),
        (IoMetric::P99, 10.0),
        (IoMetric::P99_9, 11.0),
        (IoMetric::Max, 12.0),
        (IoMetric::MaxSample, 13.0),
    ] {
        assert_eq!(figures.get(metric), Some(value), "{metric:?}");
    }
    let none = IoFigures::default();
    assert_eq!(none.get(IoMetric::AverageBytes), None);
    assert_eq!(none.get(IoMetric::Average), None);
    assert_eq!(none.get(IoMetric::Rate), Some(0.0));
}

#[test]
fn totals_without_a_sample_are_empty() {
    let layout = Arc::new(Layout::new(["first"], ["insert"]));
    let totals = RunTotals::new(layout, 4.0);
    let mut result = RunResult::default();
    result.throughput.target_iops = Some(0.0);
    totals.fill(&mut result);
    assert_eq!((totals.achieved_iops(), totals.full_samples()), (0.0, 0));
    assert_eq!(result.throughput.achieved_fraction, None);
    assert_eq!(result.databases[0].figures.reads.average_bytes, 0.0);
    assert_eq!(result.operations[0].per_second, 0.0);
}

#[test]
fn a_sample_has_the_figures_of_the_live_line() {
    let layout = Arc::new(Layout::new(
        ["first", "second"],
        ["insert".into(), OperationKind::outside_total("commit-lazy")],
    ));
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::WarmUp, 2 * S);
    let mut collector = Collector::new(layout, 1, 4.0, None);
    for (database, ms) in [(0, 2), (0, 4), (1, 12)] {
        recorder.io(database, Stream::DatabaseRead, 1, ms * MS);
        recorder.operation(database, 0, MS, None);
        recorder.operation(database, 1, MS, None);
    }
    recorder.io(1, Stream::DatabaseWrite, 1, MS);
    recorder.io(1, Stream::LogWrite, 1, 3 * MS);
    let sample = collector.accept(recorder.take(6 * S)).pop().unwrap();
    assert_eq!((sample.iops(), sample.operations_per_second()), (1.0, 0.75));
    assert_eq!(sample.average_ms(Stream::DatabaseRead), Some(6.0));
    assert_eq!(sample.average_ms(Stream::LogWrite), Some(3.0));
    let idle = collector.accept(recorder.take(10 * S)).pop().unwrap();
    assert_eq!(idle.average_ms(Stream::DatabaseRead), None);
}

#[test]
fn each_figure_of_a_prediction_has_its_place_in_the_grid() {
    let mut totals = RunTotals::new(sample(Phase::Measured, 1, 4.0).layout, 4.0);
    for times in 1..=12 {
        totals.add(&sample(Phase::Measured, times, 4.0));
    }
    let mut result = RunResult {
        array: Some(array()),
        warnings: vec!["Beware.".to_owned()],
        simulated_seconds: Some(300.0),
        wall_seconds: Some(1.5),
        ..RunResult::default()
    };
    result.throughput.target_iops = Some(8.0);
    result.throughput.threads = Some(7);
    result.set_verdict(Verdict::Fail, "Too slow.");
    for (id, limit) in [
        (CheckId::LogWriteAverage, 10.0),
        (CheckId::DatabaseReadAverage, 20.0),
    ] {
        let check = Check::of(id, "first", limit, None, String::new());
        result.checks.push(check);
    }
    totals.fill(&mut result);
    let mut point = GridPoint::default();
    point.fill(&result);
    let text = serde_json::to_string_pretty(&point).unwrap();
    expect("point.json", &format!("{text}\n"));

    let mut unmeasured = GridPoint::default();
    unmeasured.fill(&RunResult {
        array: Some(ArrayResult {
            pools: vec![ArrayPool {
                performance_pages: 5,
                ..ArrayPool::default()
            }],
            ..ArrayResult::default()
        }),
        ..RunResult::default()
    });
    let shares = [
        unmeasured.achieved_iops,
        unmeasured.busiest_disk_fraction,
        unmeasured.read_cache_hit_fraction,
        unmeasured.performance_tier_fraction,
    ];
    assert_eq!(shares, [None; 4]);
    unmeasured.fill(&RunResult {
        array: Some(ArrayResult {
            pools: vec![ArrayPool {
                performance_slots: 5,
                ..ArrayPool::default()
            }],
            ..ArrayResult::default()
        }),
        ..RunResult::default()
    });
    assert_eq!(unmeasured.performance_tier_fraction, None);
}

#[test]
fn an_axis_of_numbers_is_known() {
    let axis = |values: &[&str]| {
        let values = values.iter().map(|value| (*value).to_owned()).collect();
        let key = "threads".to_owned();
        GridAxis { key, values }.numbers()
    };
    assert_eq!(axis(&["8", "2.5"]), Some(vec![8.0, 2.5]));
    assert_eq!(axis(&["8", "auto"]), None);
}
