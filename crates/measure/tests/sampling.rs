//! From recorders through the collector to totals, rows and the result document.

use std::sync::Arc;

use measure::metric::{IoMetric, Metric, RowScope, Stream};
use measure::result::RunResult;
use measure::sample::{
    Collector, CopyQueues, Layout, OperationKind, Phase, Recorder, Sample, SampleReader, SampleRow,
    SampleWriter, ShardSample, rows_of,
};
use proptest::prelude::*;

const NS_PER_S: u64 = 1_000_000_000;

fn layout(databases: usize) -> Arc<Layout> {
    let names: Vec<String> = (1..=databases).map(|d| format!("database {d}")).collect();
    Arc::new(Layout::new(
        names,
        [
            "insert".into(),
            "read".into(),
            OperationKind::outside_total("commit-lazy"),
        ],
    ))
}

/// One request of a generated run.
#[derive(Debug, Clone)]
struct Request {
    stream: usize,
    bytes: u64,
    latency_ns: u64,
}

fn requests() -> impl Strategy<Value = Vec<Request>> {
    let request = (0..Stream::COUNT, 1u64..1 << 20, 1u64..10 * NS_PER_S).prop_map(
        |(stream, bytes, latency_ns)| Request {
            stream,
            bytes,
            latency_ns,
        },
    );
    prop::collection::vec(request, 0..20)
}

/// Shard samples of one shard: `ticks` intervals of warm-up, then as many measured ones.
fn shard_run(layout: &Arc<Layout>, shard: usize, ticks: &[Vec<Request>]) -> Vec<ShardSample> {
    let mut recorder = Recorder::new(Arc::clone(layout), shard, Phase::WarmUp, 0);
    let mut samples = Vec::new();
    let half = ticks.len() / 2;
    for (i, requests) in ticks.iter().enumerate() {
        for r in requests {
            recorder.io(shard, Stream::ALL[r.stream], r.bytes, r.latency_ns);
            recorder.operation(shard, r.stream % 3, r.latency_ns, None);
        }
        let now_ns = (i as u64 + 1) * NS_PER_S;
        samples.push(match i + 1 {
            end if end == half => recorder.begin_phase(Phase::Measured, now_ns),
            end if end == ticks.len() => recorder.begin_phase(Phase::Close, now_ns),
            _ => recorder.take(now_ns),
        });
    }
    samples
}

/// Feeds the shard samples in an order that `choices` decides, each shard in its own order.
fn collect(
    collector: &mut Collector,
    runs: Vec<Vec<ShardSample>>,
    choices: &[usize],
) -> Vec<Sample> {
    let mut queues: Vec<_> = runs.into_iter().map(Vec::into_iter).collect();
    let mut samples = Vec::new();
    for &choice in choices
        .iter()
        .chain([0usize, 1, 2].iter().cycle().take(300))
    {
        let index = choice % queues.len();
        if let Some(part) = queues[index].next() {
            samples.extend(collector.accept(part));
        }
    }
    samples.extend(collector.finish());
    samples
}

fn sum(samples: &[Sample], phase: Phase, database: usize, stream: Stream) -> (u64, u64, u64) {
    samples
        .iter()
        .filter(|s| s.phase == phase)
        .filter_map(|s| s.databases[database].stream(stream))
        .fold((0, 0, 0), |(count, bytes, ns), m| {
            (
                count + m.count(),
                bytes + m.bytes,
                ns + m.latency.total_ns(),
            )
        })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn the_collector_conserves_what_was_counted(
        ticks in prop::collection::vec(prop::collection::vec(requests(), 8), 3),
        choices in prop::collection::vec(0usize..3, 0..40),
        per_sample in 1u64..4,
    ) {
        let layout = layout(3);
        let runs = ticks.iter().enumerate().map(|(s, t)| shard_run(&layout, s, t)).collect();
        let mut collector = Collector::new(Arc::clone(&layout), 3, per_sample as f64, None);
        let samples = collect(&mut collector, runs, &choices);

        for (shard, ticks) in ticks.iter().enumerate() {
            for stream in Stream::ALL {
                let expected = |ticks: &[Vec<Request>]| {
                    ticks.iter().flatten().filter(|r| r.stream == stream.index()).fold(
                        (0u64, 0u64, 0u64),
                        |(n, b, ns), r| (n + 1, b + r.bytes, ns + r.latency_ns),
                    )
                };
                let (warm_up, measured) = ticks.split_at(4);
                prop_assert_eq!(sum(&samples, Phase::WarmUp, shard, stream), expected(warm_up));
                prop_assert_eq!(sum(&samples, Phase::Measured, shard, stream), expected(measured));
                let (_, totals) = collector.totals().databases().nth(shard).unwrap();
                let meter = &totals.stream(stream).meter;
                let got = (meter.count(), meter.bytes, meter.latency.total_ns());
                prop_assert_eq!(got, expected(measured), "totals hold the measured phase only");
            }
        }
        // Samples come in order, without gaps, and never mix two phases.
        for (i, pair) in samples.windows(2).enumerate() {
            prop_assert_eq!(pair[0].number, i as u64);
            let end_s = pair[0].begins_s + pair[0].length_s;
            prop_assert!((end_s - pair[1].begins_s).abs() < 1e-6);
        }
        prop_assert!((collector.totals().measured_s() - 4.0).abs() < 1e-9);
    }

    #[test]
    fn rows_survive_the_file(requests in requests(), failures in 0u64..5) {
        let layout = layout(2);
        let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
        for r in &requests {
            recorder.io(0, Stream::ALL[r.stream], r.bytes, r.latency_ns);
            recorder.operation(1, r.stream % 3, r.latency_ns, Some(r.latency_ns * 2));
        }
        (0..failures).for_each(|_| recorder.operation_failed(0, 1));
        recorder.io_error(1, Stream::LogRead);
        recorder.database_size(0, 1 << 40);
        let mut collector = Collector::new(layout, 1, 15.0, None);
        let mut samples = collector.accept(recorder.take(15 * NS_PER_S));
        samples.extend(collector.finish());
        prop_assert_eq!(samples.len(), 1);

        let mut file = Vec::new();
        SampleWriter::begin(&mut file).unwrap().append(&samples[0]).unwrap();
        let read = SampleReader::read_all(file.as_slice()).unwrap();
        let rows = rows_of(&samples[0]);
        prop_assert_eq!(read.len(), rows.len());
        for (read, row) in read.iter().zip(&rows) {
            prop_assert!(nearly_equal(read, row), "{:?}\n{:?}", read, row);
        }
    }
}

/// Equal but for the six digits after the point that the file keeps.
fn nearly_equal(a: &SampleRow, b: &SampleRow) -> bool {
    let near = |a: f64, b: f64| (a - b).abs() <= 1e-6;
    let (read, written): (Vec<_>, Vec<_>) = (a.values.iter().collect(), b.values.iter().collect());
    let values_are_near = written.iter().all(|(metric, value)| {
        let found = a.get(*metric);
        found.is_some_and(|found| near(found, *value))
    });
    read.len() == written.len()
        && values_are_near
        && (a.sample, a.scope, a.phase, &a.name) == (b.sample, b.scope, b.phase, &b.name)
        && near(a.begins_s, b.begins_s)
        && near(a.length_s, b.length_s)
}

/// A run of one database: `seconds` samples of one second, each with one read of each latency.
fn steady_run(seconds: u64, latencies_ms: &[u64]) -> (Collector, Vec<Sample>) {
    let layout = layout(1);
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
    let mut collector = Collector::new(layout, 1, 1.0, None);
    let mut samples = Vec::new();
    for second in 0..seconds {
        for &ms in latencies_ms {
            recorder.io(0, Stream::DatabaseRead, 32_768, ms * 1_000_000);
        }
        recorder.page_fault_stalls_so_far(0, (second + 1) * 3);
        recorder.database_size(0, 1000 + second);
        recorder.operation(0, 0, 1_000_000, None);
        recorder.operation(0, 2, 2_000_000, None);
        samples.extend(collector.accept(recorder.take((second + 1) * NS_PER_S)));
    }
    samples.extend(collector.finish());
    (collector, samples)
}

#[test]
fn totals_fill_the_result() {
    let (collector, samples) = steady_run(20, &[2, 4, 12]);
    assert_eq!(samples.len(), 20);
    let mut result = RunResult::new();
    result.throughput.target_iops = Some(6.0);
    collector.totals().fill(&mut result);
    assert!((result.duration_s - 20.0).abs() < 1e-9);
    assert_eq!(result.samples.count, 20);
    let database = &result.databases[0];
    assert_eq!(database.name, "database 1");
    assert_eq!(
        (
            database.figures.size_begin_bytes,
            database.figures.size_end_bytes
        ),
        (1000, 1019)
    );
    assert_eq!(database.figures.reads.count, 60);
    assert!((database.figures.reads.per_second - 3.0).abs() < 1e-9);
    assert!((database.figures.reads.average_bytes - 32_768.0).abs() < 1e-9);
    let latency = database.figures.reads.latency.unwrap();
    assert!((latency.average_ms - 6.0).abs() < 1e-9);
    assert!((latency.max_ms - 12.0).abs() < 1e-9);
    assert!((latency.p50_ms - 4.0).abs() < 0.01);
    assert!((latency.max_sample_average_ms - 6.0).abs() < 1e-6);
    assert!(latency.average_half_width_ms.unwrap() < 1e-6);
    assert_eq!(database.figures.writes.latency, None);
    assert!((database.figures.page_fault_stalls_per_second - 3.0).abs() < 1e-9);
    assert!((result.throughput.achieved_iops - 3.0).abs() < 1e-9);
    assert!((result.throughput.achieved_fraction.unwrap() - 0.5).abs() < 1e-9);
    assert!(
        (result.throughput.operations_per_second - 1.0).abs() < 1e-9,
        "commits are left out"
    );
    assert_eq!(result.operations.len(), 3);
    assert_eq!(result.operations[2].name, "commit-lazy");
    assert_eq!(result.operations[2].count, 20);
    assert_eq!(result.totals.reads.count, 60);

    let mut again = result.clone();
    again.databases[0].path = "/mnt/a/one.edb".to_owned();
    collector.totals().fill(&mut again);
    assert_eq!(
        again.databases.len(),
        1,
        "an entry of the same name is filled, not added"
    );
    assert_eq!(again.databases[0].path, "/mnt/a/one.edb");
}

#[test]
fn a_short_last_sample_counts_but_is_not_judged_alone() {
    let layout = layout(1);
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
    let mut collector = Collector::new(layout, 1, 10.0, None);
    recorder.io(0, Stream::DatabaseRead, 4096, 1_000_000);
    let mut samples = collector.accept(recorder.take(10 * NS_PER_S));
    recorder.io(0, Stream::DatabaseRead, 4096, 900_000_000);
    samples.extend(collector.accept(recorder.begin_phase(Phase::Close, 11 * NS_PER_S)));
    samples.extend(collector.accept(recorder.take(11 * NS_PER_S)));
    samples.extend(collector.finish());
    assert_eq!(
        samples.len(),
        2,
        "nothing is made of an interval without length and counts"
    );
    let totals = collector.totals();
    assert_eq!(totals.full_samples(), 1);
    let mut result = RunResult::new();
    totals.fill(&mut result);
    let latency = result.databases[0].figures.reads.latency.unwrap();
    assert!((latency.max_sample_average_ms - 1.0).abs() < 1e-6);
    assert!((latency.max_ms - 900.0).abs() < 1e-9);
}

#[test]
fn a_row_has_the_metrics_that_were_counted_and_the_throughput_that_follows() {
    let (_, samples) = steady_run(1, &[2, 4]);
    let rows = rows_of(&samples[0]);
    let of = |scope| rows.iter().find(|row| row.scope == scope).unwrap();
    let (total, operation) = (of(RowScope::Total), of(RowScope::Operation));
    assert_eq!(total.get(Metric::Iops), Some(2.0));
    assert_eq!(operation.get(Metric::Iops), None);
    let read = |metric| total.io(Stream::DatabaseRead, metric);
    assert_eq!(read(IoMetric::AverageBytes), Some(32_768.0));
    assert_eq!(read(IoMetric::Throughput), Some(65_536.0));
    let log = |metric| operation.io(Stream::LogWrite, metric);
    assert_eq!(log(IoMetric::Throughput), None);
}

/// Shards may count in intervals that do not divide the length of a sample.
#[test]
fn a_sample_takes_the_number_of_intervals_that_comes_nearest() {
    for (interval_s, wanted_s, length_s) in [
        (1, 1.0, 1.0),
        (1, 2.4, 2.0),
        (1, 2.6, 3.0),
        (3, 10.4, 9.0),
        (3, 10.6, 12.0),
        (4, 1.0, 4.0),
    ] {
        let layout = layout(1);
        let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
        let mut collector = Collector::new(layout, 1, wanted_s, None);
        let ends_s = (1..=40).map(|number| number * interval_s);
        let samples = ends_s.flat_map(|end_s| {
            recorder.io(0, Stream::DatabaseRead, 4096, 1_000_000);
            collector.accept(recorder.take(end_s * NS_PER_S))
        });
        let lengths_s: Vec<f64> = samples.map(|sample| sample.length_s).collect();
        assert!(lengths_s.len() > 5);
        assert!(
            lengths_s.iter().all(|found| *found == length_s),
            "{wanted_s} s of intervals of {interval_s} s: {lengths_s:?}"
        );
    }
}

#[test]
fn a_shard_that_ended_is_not_waited_for() {
    let layout = layout(2);
    let mut first = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
    let mut second = Recorder::new(Arc::clone(&layout), 1, Phase::Measured, 0);
    let mut collector = Collector::new(layout, 2, 1.0, None);
    assert_eq!(collector.accept(first.take(NS_PER_S)).len(), 0);
    assert_eq!(collector.accept(second.take(NS_PER_S)).len(), 1);
    assert_eq!(collector.accept(first.take(2 * NS_PER_S)).len(), 0);
    assert_eq!(collector.shard_ended(1).len(), 1);
    assert_eq!(collector.accept(first.take(3 * NS_PER_S)).len(), 1);
}

#[test]
fn the_last_sample_of_a_phase_comes_when_all_shards_have_ended_the_phase() {
    let layout = layout(2);
    let mut first = Recorder::new(Arc::clone(&layout), 0, Phase::WarmUp, 0);
    let mut second = Recorder::new(Arc::clone(&layout), 1, Phase::WarmUp, 0);
    let mut collector = Collector::new(layout, 2, 1.0, None);
    let end_ns = NS_PER_S / 4;
    assert_eq!(collector.accept(first.take(end_ns / 2)).len(), 0);
    let ended = first.begin_phase(Phase::Measured, end_ns);
    assert_eq!(collector.accept(ended).len(), 0);
    assert_eq!(collector.accept(second.take(end_ns / 2)).len(), 0);
    // The host is looked at when a sample is given: it must not be an interval later.
    let samples = collector.accept(second.begin_phase(Phase::Measured, end_ns));
    assert_eq!(samples.len(), 1);
    assert_eq!(
        (samples[0].phase, samples[0].length_s),
        (Phase::WarmUp, 0.25)
    );
}

#[test]
fn a_broken_samples_file_is_refused_with_the_place_and_a_cut_line_is_left_out() {
    let (_, samples) = steady_run(2, &[5]);
    let mut file = Vec::new();
    let mut writer = SampleWriter::begin(&mut file).unwrap();
    samples.iter().for_each(|s| writer.append(s).unwrap());
    drop(writer);
    let text = String::from_utf8(file).unwrap();
    let rows = SampleReader::read_all(text.as_bytes()).unwrap();
    assert_eq!(
        rows.iter()
            .filter(|r| r.scope == RowScope::Database)
            .count(),
        2
    );

    let cut = &text[..text.len() - 60];
    assert_eq!(
        SampleReader::read_all(cut.as_bytes()).unwrap().len(),
        rows.len() - 1
    );

    let broken = text.replacen("measured,1,1,total,all,1", "measured,1,1,total,all,fast", 1);
    let error = SampleReader::read_all(broken.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("`fast` is not a valid iops") && error.contains("line 7"),
        "{error}"
    );

    let other = text.replacen("scope", "color", 1);
    let error = SampleReader::read_all(other.as_bytes())
        .unwrap_err()
        .to_string();
    assert!(error.contains("column `scope` is missing"), "{error}");
}

#[test]
fn no_column_name_comes_twice() {
    let columns = SampleRow::columns();
    let mut unique = columns.clone();
    unique.sort();
    unique.dedup();
    assert_eq!(unique.len(), columns.len());
}

#[test]
fn the_queues_of_the_copies_there_are_add_up() {
    let layout = layout(3);
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
    for (database, copy) in [(0, 2), (2, 3)] {
        recorder.copy_queues(database, CopyQueues { copy, replay: 1 });
    }
    let mut collector = Collector::new(layout, 1, 1.0, None);
    let mut samples = collector.accept(recorder.take(NS_PER_S));
    samples.extend(collector.finish());
    let rows = rows_of(&samples[0]);
    let queues: Vec<_> = rows
        .iter()
        .filter(|row| row.scope != RowScope::Operation)
        .map(|row| (row.get(Metric::CopyQueue), row.get(Metric::ReplayQueue)))
        .collect();
    let expected = [
        (Some(5.0), Some(2.0)),
        (Some(2.0), Some(1.0)),
        (None, None),
        (Some(3.0), Some(1.0)),
    ];
    assert_eq!(queues, expected);
}
