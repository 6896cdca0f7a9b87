//! Causes of rates that were missed by the load: by its search, by its pace, by its number of threads.

use super::{Change, causes, check, slow};
use crate::result::{
    CauseId, CheckId, LatencyFigures, OperationResult, RunKind, RunResult, SearchEnd, TuningResult,
    Verdict,
};

/// Two threads missed the rate, on a device that was busy all the time; their transactions took so long.
fn two_threads(result: &mut RunResult, average_ms: f64) {
    result.host.devices[0].busy_fraction = 1.0;
    result.checks = vec![check(CheckId::AchievedIops, 480.0, 100.0)];
    result.throughput.threads = Some(2);
    result.operations = vec![OperationResult {
        per_second: 100.0,
        service_time: Some(LatencyFigures {
            average_ms,
            ..LatencyFigures::default()
        }),
        ..OperationResult::default()
    }];
}

/// The average latency of reads, judged.
fn read_latency(result: &mut RunResult, average_ms: f64) {
    let check = check(CheckId::DatabaseReadAverage, 20.0, average_ms);
    result.checks.push(check);
}

pub(super) const CASES: [(CauseId, Change); 4] = [
    (CauseId::IdleSessions, |one| {
        two_threads(one, 9.9);
        one.host.devices[0].busy_fraction = 0.5;
    }),
    (CauseId::FewThreads, |one| {
        two_threads(one, 10.0);
        read_latency(one, 19.0);
    }),
    (CauseId::MaximumNotHeld, |one| {
        one.throughput.rate_iops = Some(900.0);
        one.tuning = Some(TuningResult {
            finds_maximum: true,
            reached: true,
            maximum_iops: Some(900.0),
            ..TuningResult::default()
        });
    }),
    (CauseId::SearchLimit, |one| {
        one.checks = vec![check(CheckId::AchievedIops, 5_000.0, 900.0)];
        one.tuning = Some(TuningResult {
            target_iops: Some(5_000.0),
            maximum_iops: Some(900.0),
            ended: SearchEnd::LargestLoad,
            ..TuningResult::default()
        });
    }),
];

#[test]
fn threads_that_work_all_the_time_are_too_few_only_where_latencies_are_known_to_be_within_limits() {
    let after = |change: Change| {
        let mut result = slow();
        two_threads(&mut result, 10.0);
        change(&mut result);
        causes(result)
    };
    let fail = (Verdict::Fail, vec![]);
    // No latency is judged.
    assert_eq!(after(|_| ()), fail);
    assert_eq!(after(|one| read_latency(one, 21.0)), fail);
    // A search chose the number.
    let searched = after(|one| {
        read_latency(one, 19.0);
        one.tuning = Some(TuningResult::default());
    });
    assert_eq!(searched, fail);
    let unknown = after(|one| {
        read_latency(one, 19.0);
        one.throughput.threads = None;
    });
    assert_eq!(unknown, fail);
}

#[test]
fn idle_sessions_explain_a_missed_rate_only() {
    // What they wait for besides is not in the times of their operations.
    let mut busy = slow();
    two_threads(&mut busy, 9.9);
    assert_eq!(causes(busy), (Verdict::Fail, vec![]));
    let two_threads = |result: &mut RunResult, average_ms| {
        two_threads(result, average_ms);
        result.host.devices[0].busy_fraction = 0.5;
    };
    let mut result = slow();
    two_threads(&mut result, 9.9);
    read_latency(&mut result, 21.0);
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
    let mut untimed = slow();
    two_threads(&mut untimed, 9.9);
    untimed.operations[0].service_time = None;
    assert_eq!(causes(untimed), (Verdict::Fail, vec![]));
    let mut predicted = slow();
    two_threads(&mut predicted, 9.9);
    predicted.kind = RunKind::Prediction;
    assert_eq!(causes(predicted), (Verdict::Fail, vec![]));
}
