//! Measures by arithmetic on a result whose numbers are known.

use measure::metric::Metric;
use measure::result::{DatabaseFigures, DatabaseResult, LatencyFigures};

use super::*;

fn flow(per_second: f64, average_bytes: f64, average_ms: f64) -> IoFigures {
    IoFigures {
        count: (per_second * 10.0) as u64,
        per_second,
        average_bytes,
        latency: Some(LatencyFigures {
            average_ms,
            ..LatencyFigures::default()
        }),
        ..IoFigures::default()
    }
}

/// 100 reads of 10 kB in 4 ms, 50 reads of the maintenance of 100 kB in 10 ms, 50 writes of 20 kB
/// in 1 ms, 20 log writes of 5 kB in 0.5 ms.
fn run() -> CaseResult {
    let mut run = CaseResult::default();
    let totals = &mut run.result.totals;
    totals.reads = flow(100.0, 10e3, 4.0);
    totals.maintenance_reads = flow(50.0, 100e3, 10.0);
    totals.writes = flow(50.0, 20e3, 1.0);
    totals.log_writes = flow(20.0, 5e3, 0.5);
    for (name, read_ms) in [("a", 3.0), ("b", 5.0)] {
        run.result.databases.push(DatabaseResult {
            path: format!("data-{name}"),
            log_path: format!("log-{name}"),
            figures: DatabaseFigures {
                reads: flow(50.0, 10e3, read_ms),
                maintenance_reads: flow(25.0, 100e3, 10.0),
                ..DatabaseFigures::default()
            },
            ..DatabaseResult::default()
        });
    }
    run.result.throughput.operations_per_second = 77.0;
    run
}

#[track_caller]
fn assert_measure(measure: Measure, run: &CaseResult, groups: &[&str], expected: f64) {
    let groups: Vec<String> = groups.iter().map(|name| (*name).to_owned()).collect();
    let found = value(measure, run, &groups).unwrap_or_else(|| panic!("{measure:?} has no value"));
    let error = (found - expected).abs();
    assert!(
        error < 1e-9 * expected.abs().max(1.0),
        "{measure:?}: {found}, not {expected}"
    );
}

#[test]
fn what_a_host_sees_follows_from_the_streams() {
    let run = run();
    let expect = |measure, expected| assert_measure(measure, &run, &[], expected);
    expect(Measure::HighestDatabaseReadMs, 5.0);
    expect(Measure::HostReadMs, (100.0 * 4.0 + 50.0 * 10.0) / 150.0);
    expect(
        Measure::HighestHostReadMs,
        (50.0 * 5.0 + 25.0 * 10.0) / 75.0,
    );
    // Two volumes of databases at 3 and 5 ms and 10 ms for a third of the reads; no reads of logs.
    let of_databases = (50.0 * 3.0 + 250.0) / 75.0 + (50.0 * 5.0 + 250.0) / 75.0;
    expect(Measure::VolumesReadMs, of_databases / 4.0);
    expect(Measure::HostWriteMs, 1.0);
    expect(Measure::HostTransferMs, (400.0 + 500.0 + 50.0) / 200.0);
    expect(Measure::LogWriteMs, 0.5);
    expect(Measure::HighestLatencyMs, 4.0);
    expect(Measure::ReadMbPerS, 1.0 + 5.0);
    expect(Measure::WriteMbPerS, 1.0);
    expect(Measure::TotalMbPerS, 6.0 + 1.0 + 0.1);
    expect(Measure::DatabaseIops, 200.0);
    expect(Measure::TotalIops, 220.0);
    expect(Measure::ReadSharePercent, 75.0);
    expect(Measure::TransactionsPerS, 77.0);
    expect(Measure::LogKbPerS, 50.0);
}

#[test]
fn volumes_of_logs_count_like_those_of_databases() {
    let mut run = run();
    for database in &mut run.result.databases {
        database.figures.reads = flow(10.0, 32e3, 16.0);
        database.figures.maintenance_reads = IoFigures::default();
    }
    assert_measure(Measure::VolumesReadMs, &run, &[], 8.0);
    // However many requests they have.
    run.result.databases[0].figures.log_reads = flow(1000.0, 256e3, 3.0);
    assert_measure(Measure::VolumesReadMs, &run, &[], 8.0 + 3.0 / 4.0);
    run.result.databases[1].figures.log_reads = flow(1.0, 256e3, 5.0);
    assert_measure(Measure::VolumesReadMs, &run, &[], 10.0);
    run.result.databases.clear();
    assert_eq!(value(Measure::VolumesReadMs, &run, &[]), None);
}

#[test]
fn a_mean_over_samples_counts_slow_and_fast_ones_alike() {
    let mut run = run();
    let row = |phase, rate, average_ms| SampleRow {
        sample: 0,
        phase,
        begins_s: 0.0,
        length_s: 15.0,
        scope: RowScope::Total,
        name: "all".to_owned(),
        values: [
            (IoMetric::Rate, Some(rate)),
            (IoMetric::Average, average_ms),
        ]
        .map(|(metric, value)| (Metric::Io(Stream::DatabaseRead, metric), value))
        .into_iter()
        .collect(),
    };
    run.samples = ReadSample::measured(&[
        row(Phase::WarmUp, 10.0, Some(100.0)),
        row(Phase::Measured, 10.0, Some(20.0)),
        row(Phase::Measured, 1000.0, Some(2.0)),
        row(Phase::Measured, 0.0, None),
    ]);
    assert_measure(Measure::SampledHostReadMs, &run, &[], 11.0);
    run.samples.clear();
    assert_eq!(value(Measure::SampledHostReadMs, &run, &[]), None);
}

#[test]
fn the_inside_is_taken_by_group_and_by_volume() {
    let mut run = run();
    assert_eq!(value(Measure::DiskLatencyMs, &run, &[]), None, "no array");
    let disk = |group: &str, rate: f64, latency: f64, depth: f64, online| ArrayDisk {
        group: group.to_owned(),
        online,
        reads_per_second: rate,
        average_disk_latency_ms: Some(latency),
        average_disk_queue_depth: depth,
        busy_fraction: 0.5,
        ..ArrayDisk::default()
    };
    let volume = |name: &str, writes: f64, latency: f64| ArrayVolume {
        name: name.to_owned(),
        reads_per_second: 10.0,
        writes_per_second: writes,
        read_bytes_per_second: 4e3,
        written_bytes_per_second: 6e3,
        average_write_ms: Some(latency),
        ..ArrayVolume::default()
    };
    run.result.array = Some(ArrayResult {
        disks: vec![
            disk("one", 100.0, 4.0, 1.0, true),
            disk("one", 300.0, 8.0, 3.0, true),
            disk("two", 100.0, 1.0, 9.0, true),
            disk("two", 0.0, 0.0, 0.0, false),
        ],
        volumes: vec![
            volume("data-a", 10.0, 1.0),
            volume("data-b", 30.0, 2.0),
            volume("log-a", 5.0, 0.2),
            volume("else", 100.0, 90.0),
        ],
        ..ArrayResult::default()
    });
    assert_measure(Measure::DiskLatencyMs, &run, &["one"], 7.0);
    assert_measure(Measure::DiskLatencyMs, &run, &[], 2900.0 / 500.0);
    assert_measure(Measure::DiskQueueDepth, &run, &["one"], 2.0);
    assert_measure(Measure::DiskQueueDepth, &run, &["two"], 9.0);
    assert_measure(Measure::DiskIops, &run, &[], 500.0 / 3.0);
    assert_measure(Measure::DiskBusyPercent, &run, &[], 50.0);
    assert_measure(Measure::ArrayDatabaseWriteMs, &run, &[], 70.0 / 40.0);
    assert_measure(Measure::ArrayLogWriteMs, &run, &[], 0.2);
    assert_measure(Measure::ArrayKbPerS, &run, &[], 40.0);
    assert_measure(Measure::ArrayRequestsPerS, &run, &[], 185.0);
    assert_eq!(value(Measure::ReadCacheHitPercent, &run, &[]), None);
    let none = value(Measure::DiskQueueDepth, &run, &["three".to_owned()]);
    assert_eq!(none, None, "there is no such group");
}
