//! Predictions without a terminal.

use jiff::Timestamp;
use measure::result::RunResult;
use workload::controller::Unheard;
use workload::progress::StopRequest;

use super::{Plan, run};
use crate::cli::PredictOptions;

/// A small database on four flash drives, some seconds of simulated time.
fn small(seed: u64) -> PredictOptions {
    let set = [
        "run.sample_interval=250ms",
        "engine.cache_size_per_database=8MiB",
        "engine.checkpoint_depth=4MiB",
        "run.warm_up.maximum=1s",
    ];
    PredictOptions {
        workload: "exchange-2013".to_owned(),
        array: "nvme-raid10".to_owned(),
        duration: Some("3s".to_owned()),
        threads: Some("2".to_owned()),
        databases: Some("1".to_owned()),
        target_size: Some("48MiB".to_owned()),
        seed: Some(seed.to_string()),
        set: set.map(str::to_owned).to_vec(),
        ..PredictOptions::default()
    }
}

/// The result of a plan, without what depends on the machine and the hour.
fn predicted(plan: &Plan) -> RunResult {
    let started = Timestamp::UNIX_EPOCH;
    let (mut result, _) = run(plan, started, StopRequest::new(), Unheard).expect("a result");
    result.wall_seconds = None;
    result.host = measure::result::HostResult::default();
    result
}

#[test]
fn one_seed_is_one_result_on_any_thread() {
    let plan = Plan::check(&small(1)).expect("a sound plan");
    let other = Plan::check(&small(2)).expect("a sound plan");
    let (first, second, third) = std::thread::scope(|scope| {
        let runs = [&plan, &plan, &other].map(|plan| scope.spawn(|| predicted(plan)));
        let [first, second, third] = runs.map(|run| run.join().expect("a result"));
        (first, second, third)
    });
    assert!(first.totals.reads.count > 100, "{first:?}");
    assert_eq!(first, second);
    assert_ne!(first.totals, third.totals, "another seed is another run");
}

#[test]
fn a_prediction_that_is_stopped_keeps_what_it_has() {
    let plan = Plan::check(&small(1)).expect("a sound plan");
    let stop = StopRequest::new();
    stop.stop();
    let (result, _) = run(&plan, Timestamp::UNIX_EPOCH, stop, Unheard).expect("a result");
    assert_eq!(result.verdict, measure::result::Verdict::Interrupted);
    assert!(result.array.is_some());
}
