//! Many ranks as one result: nothing is lost, and the worst of them decides.

use std::sync::Arc;
use std::time::Instant;

use measure::metric::Stream;
use measure::ranks::{Part, combine};
use measure::result::{
    Check, CheckId, LatencyFigures, RankResult, RunResult, Verdict, VerificationResult,
    VerifiedDatabase,
};
use measure::sample::{DatabaseMeters, Layout, Phase, RunTotals, Sample};

const SAMPLES: u64 = 12;

/// A latency that depends on its number, from 20 us to some 80 ms.
fn latency_ns(number: u64) -> u64 {
    let mixed = number.wrapping_mul(0x9E37_79B9_7F4A_7C15).rotate_left(23);
    20_000 + mixed % 80_000_000
}

fn sample(
    layout: &Arc<Layout>,
    number: u64,
    count: impl Fn(usize) -> std::ops::Range<u64>,
) -> Sample {
    let mut databases = DatabaseMeters::for_layout(layout);
    for (index, meters) in databases.iter_mut().enumerate() {
        for request in count(index) {
            let meter = meters.stream_mut(Stream::DatabaseRead);
            meter.latency.record(latency_ns(request));
            meter.bytes += 32_768;
            let meter = meters.operation_mut(0);
            meter.service.record(latency_ns(request) * 2);
        }
        meters.size_bytes = Some(1 << 30);
    }
    Sample {
        layout: Arc::clone(layout),
        number,
        phase: Phase::Measured,
        phase_number: 1,
        begins_s: number as f64,
        length_s: 1.0,
        databases,
        host: None,
        array: None,
    }
}

/// The requests of a rank in a sample: each rank has others.
fn requests(rank: u64, number: u64) -> std::ops::Range<u64> {
    let first = (rank * SAMPLES + number) * 1_000;
    first..first + 50 + rank % 30
}

fn totals_of(ranks: std::ops::Range<u64>) -> RunTotals {
    let names = ranks.clone().map(|rank| format!("{rank}/mail-001"));
    let layout = Arc::new(Layout::new(names, ["insert"]));
    let mut totals = RunTotals::new(Arc::clone(&layout), 1.0);
    let first = ranks.start;
    for number in 0..SAMPLES {
        let count = |index: usize| requests(first + index as u64, number);
        totals.add(&sample(&layout, number, count));
    }
    totals
}

fn part(rank: u64, verdict: Verdict) -> Part {
    let totals = totals_of(rank..rank + 1);
    let mut result = RunResult::new();
    totals.fill(&mut result);
    result.complete = true;
    result.set_verdict(verdict, format!("It is {verdict}."));
    let value = Some(rank as f64);
    let check = Check::of(
        CheckId::DatabaseReadAverage,
        "mail-001",
        990.0,
        value,
        String::new(),
    );
    result.checks.push(check);
    Part {
        rank: RankResult {
            rank,
            host: format!("host-{rank}"),
            ..RankResult::default()
        },
        result: Some(result),
        totals: Some(totals),
    }
}

#[test]
fn the_whole_is_what_one_run_over_all_databases_would_have_counted() {
    let ranks = 1_000;
    let parts: Vec<Part> = (0..ranks).map(|rank| part(rank, Verdict::Pass)).collect();
    let began = Instant::now();
    let whole = combine(parts);
    // For docs/scale.md; run with --nocapture.
    println!(
        "{ranks} ranks combined in {:.3} s",
        began.elapsed().as_secs_f64()
    );
    let bytes = serde_json::to_vec_pretty(&whole).expect("a document").len();
    println!("{bytes} bytes of result.json");
    let mut at_once = RunResult::new();
    totals_of(0..ranks).fill(&mut at_once);
    let exact = |figures: Option<LatencyFigures>| LatencyFigures {
        average_half_width_ms: None,
        max_sample_average_ms: 0.0,
        ..figures.expect("latencies")
    };
    let reads = |result: &RunResult| exact(result.totals.reads.latency);
    assert_eq!(reads(&whole), reads(&at_once));
    let service = |result: &RunResult| exact(result.operations[0].service_time);
    assert_eq!(service(&whole), service(&at_once));
    // Averages of samples are kept with seven digits, and are joined a thousand times.
    let near = |a: f64, b: f64| assert!((a - b).abs() < a * 1e-4, "{a} {b}");
    let of_samples = |result: &RunResult| {
        let reads = result.totals.reads.latency.expect("latencies");
        (
            reads.max_sample_average_ms,
            reads.average_half_width_ms.expect("samples"),
        )
    };
    let (a, b) = (of_samples(&whole), of_samples(&at_once));
    near(a.0, b.0);
    near(a.1 + 1.0, b.1 + 1.0);
    assert_eq!(whole.totals.reads.count, at_once.totals.reads.count);
    assert_eq!(whole.totals.size_end_bytes, at_once.totals.size_end_bytes);
    let (a, b) = (
        whole.throughput.achieved_iops,
        at_once.throughput.achieved_iops,
    );
    assert!((a - b).abs() < 1e-6, "{a} {b}");
    assert_eq!((whole.duration_s, whole.samples.count), (12.0, SAMPLES));
    assert_eq!((whole.verdict, whole.complete), (Verdict::Pass, true));
    assert_eq!((whole.databases.len(), whole.ranks.len()), (1_000, 1_000));
    assert_eq!(whole.databases[7].name, "7/7/mail-001");
    // Of one level the check nearest to its limit is kept, or each one that was not met.
    let failed: Vec<&str> = whole
        .checks
        .iter()
        .map(|check| check.place.as_str())
        .collect();
    assert_eq!((failed.len(), failed[0]), (9, "999/mail-001"));
}

#[test]
fn what_every_rank_has_verified_is_in_the_whole() {
    let verified = |errors| VerificationResult {
        databases: vec![VerifiedDatabase {
            name: "mail-001".to_owned(),
            pages: 1_536,
            errors,
            ..VerifiedDatabase::default()
        }],
        ..VerificationResult::default()
    };
    let mut parts: Vec<Part> = (0..3).map(|rank| part(rank, Verdict::Pass)).collect();
    for (part, errors) in parts.iter_mut().zip([0, 2]) {
        part.result.as_mut().expect("a result").verification = Some(verified(errors));
    }
    let whole = combine(parts[..2].to_vec())
        .verification
        .expect("a verification");
    let databases = whole.databases.iter();
    let found: Vec<_> = databases
        .map(|one| (one.name.as_str(), one.pages, one.errors))
        .collect();
    assert_eq!(found, [("0/mail-001", 1_536, 0), ("1/mail-001", 1_536, 2)]);
    assert_eq!(whole.not_verified, "");
    // One that has verified nothing must not look as if it had.
    let whole = combine(parts).verification.expect("a verification");
    assert_eq!(
        whole.not_verified,
        "1 rank verified nothing: rank 2 on host-2 is the first."
    );
    assert_eq!(combine([part(0, Verdict::Pass)]).verification, None);
}

#[test]
fn the_worst_rank_decides_and_is_named() {
    use Verdict::{Error, Fail, Inconclusive, Interrupted, Pass};
    for (verdicts, expected, named) in [
        ([Pass, Pass, Pass], Pass, "All"),
        ([Pass, Inconclusive, Pass], Inconclusive, "Rank 1 on host-1"),
        ([Inconclusive, Pass, Fail], Fail, "Rank 2 on host-2"),
        ([Interrupted, Fail, Pass], Interrupted, "Rank 0 on host-0"),
        ([Interrupted, Interrupted, Error], Error, "Rank 2 on host-2"),
    ] {
        let numbered = (0..).zip(verdicts);
        let whole = combine(numbered.map(|(rank, verdict)| part(rank, verdict)));
        assert_eq!(whole.verdict, expected, "{verdicts:?}");
        assert!(
            whole.verdict_reason.starts_with(named),
            "{}",
            whole.verdict_reason
        );
    }
}

#[test]
fn a_lost_rank_makes_the_run_interrupted_and_is_named() {
    let mut parts = vec![part(0, Verdict::Pass), part(1, Verdict::Interrupted)];
    parts.push(Part {
        rank: RankResult {
            rank: 2,
            host: "host-2".to_owned(),
            lost: "nothing was heard of it for 10.0 s.".to_owned(),
            ..RankResult::default()
        },
        ..Part::default()
    });
    let whole = combine(parts);
    assert_eq!(
        (whole.verdict, whole.complete),
        (Verdict::Interrupted, false)
    );
    let expected = "Rank 2 on host-2 is lost: nothing was heard of it for 10.0 s.";
    assert_eq!(whole.verdict_reason, expected);
    assert!(whole.warnings.contains(&expected.to_owned()));
    assert!(
        whole.totals.reads.count > 0,
        "what the others measured is there"
    );
}
