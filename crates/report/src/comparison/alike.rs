//! Whether two runs had the same load, on as much data, for as long: otherwise a difference in their
//! figures says nothing of the storage.

use measure::metric::Unit;
use measure::result::RunResult;

use crate::number::{bounded, bytes, count, duration};

/// Sizes and lengths that differ by less than this share are the same.
const SAME: f64 = 0.1;
/// Targets that differ by less than this share are the same load; they come from one profile.
const SAME_TARGET: f64 = 0.01;

/// What differs between the tests of two runs, each as words of the run and of the first one.
pub(super) fn differences(run: &RunResult, base: &RunResult) -> Vec<String> {
    let pairs = [
        workload(run).zip(workload(base)),
        differing(target(run), target(base), SAME_TARGET, |iops| {
            format!("a target of {}", bounded(iops, Unit::Iops))
        }),
        differing(held(run), held(base), SAME_TARGET, |iops| {
            format!("a held rate of {}", bounded(iops, Unit::Iops))
        }),
        differing(clients(run), clients(base), 0.0, |clients| {
            format!("{} threads or users", count(clients as u64))
        }),
        differing(data_bytes(run), data_bytes(base), SAME, |size| {
            format!("{} of data", bytes(size))
        }),
        differing(Some(run.duration_s), Some(base.duration_s), SAME, |s| {
            format!("{} measured", duration(s))
        }),
    ];
    let pairs = pairs.into_iter().flatten();
    let pairs = pairs.filter(|(own, other)| own != other);
    pairs
        .map(|(own, other)| format!("{own} (first run: {other})"))
        .collect()
}

/// Both values in words, where they differ by more than this share, or only one run has one.
fn differing(
    own: Option<f64>,
    other: Option<f64>,
    same: f64,
    words: impl Fn(f64) -> String,
) -> Option<(String, String)> {
    let known = |value: Option<f64>| value.filter(|value| value.is_finite() && *value > 0.0);
    let is_same = match (known(own), known(other)) {
        (Some(a), Some(b)) => (a - b).abs() <= same * a.max(b),
        (None, None) => true,
        _ => false,
    };
    let text = |value| known(value).map_or_else(|| "none".to_owned(), &words);
    (!is_same).then(|| (text(own), text(other)))
}

fn workload(run: &RunResult) -> Option<String> {
    Some(format!("workload {}", run.workload.name))
}

fn target(run: &RunResult) -> Option<f64> {
    run.throughput.target_iops
}

fn held(run: &RunResult) -> Option<f64> {
    run.throughput.rate_iops
}

/// Sessions or users, where they were asked for; tuning finds their number, as a result.
fn clients(run: &RunResult) -> Option<f64> {
    let threads = run.throughput.threads.filter(|_| run.tuning.is_none());
    threads.map(|threads| threads as f64)
}

fn data_bytes(run: &RunResult) -> Option<f64> {
    let of_server = run.server.as_ref().map(|server| server.size_begin_bytes);
    let size = of_server.unwrap_or(run.totals.size_begin_bytes);
    Some(size as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::TuningResult;

    fn run() -> RunResult {
        let mut run = RunResult::new();
        run.workload.name = "mail".to_owned();
        run.throughput.target_iops = Some(400.0);
        run.throughput.threads = Some(8);
        run.totals.size_begin_bytes = 100 << 30;
        run.duration_s = 7_200.0;
        run
    }

    #[test]
    fn each_difference_of_load_size_and_length_is_named() {
        type Change = fn(&mut RunResult);
        let cases: [(Change, &str); 6] = [
            (
                |run| run.workload.name = "brokerage".to_owned(),
                "workload brokerage (first run: workload mail)",
            ),
            (
                |run| run.throughput.target_iops = Some(500.0),
                "a target of 500 IOPS (first run: a target of 400 IOPS)",
            ),
            (
                |run| run.throughput.rate_iops = Some(300.0),
                "a held rate of 300 IOPS (first run: none)",
            ),
            (
                |run| run.throughput.threads = Some(16),
                "16 threads or users (first run: 8 threads or users)",
            ),
            (
                |run| run.totals.size_begin_bytes = 50 << 30,
                "50 GiB of data (first run: 100 GiB of data)",
            ),
            (
                |run| run.duration_s = 600.0,
                "10 min measured (first run: 2 h measured)",
            ),
        ];
        for (change, text) in cases {
            let mut other = run();
            change(&mut other);
            assert_eq!(differences(&other, &run()), [text]);
        }
    }

    #[test]
    fn what_a_test_finds_by_itself_is_no_difference() {
        let mut other = run();
        assert!(differences(&other, &run()).is_empty());
        other.totals.size_begin_bytes = 95 << 30;
        other.duration_s = 7_000.0;
        other.throughput.achieved_iops = 900.0;
        other.throughput.threads = Some(16);
        other.tuning = Some(TuningResult::default());
        let mut base = run();
        base.tuning = Some(TuningResult::default());
        assert!(differences(&other, &base).is_empty());
    }
}
