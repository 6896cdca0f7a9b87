//! Predictions without a terminal.

use jiff::Timestamp;
use measure::result::{ErrorKind, RunResult};
use workload::controller::NoListener;
use workload::progress::StopRequest;

use super::{Plan, run};
use crate::registry::WORKLOADS;
use crate::scenario::Scenario;
use crate::setting::{Key, Setting, Value};

/// A small database on four flash drives, some seconds of simulated time.
fn small(seed: u32) -> Scenario {
    let mut scenario = Scenario::new("exchange-2013")
        .on_array("nvme-raid10")
        .with("run.sample_interval", "250ms")
        .with("engine.cache_size_per_database", "8MiB")
        .with("engine.checkpoint_depth", "4MiB")
        .with("run.warm_up.maximum", "1s");
    for (key, value) in [
        (Key::Duration, "3s"),
        (Key::Threads, "2"),
        (Key::Databases, "1"),
        (Key::TargetSize, "48MiB"),
    ] {
        scenario.set(&key, &Value::from(value));
    }
    scenario.set(&Key::Seed, &Value::from(seed));
    scenario
}

/// The result of a plan, without what depends on the machine and the hour.
fn predicted(plan: &Plan) -> RunResult {
    let started = Timestamp::UNIX_EPOCH;
    let (mut result, _) = run(plan, started, &StopRequest::new(), NoListener, 1).expect("a result");
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

/// A database on an array with tiers or read caches, a few seconds of simulated time.
fn on_flash(array: &str, settled: bool, set: &[&str]) -> Scenario {
    let mut scenario = small(1).on_array(array);
    scenario.settled = settled;
    for (key, value) in [
        (Key::TargetSize, "2GiB"),
        (Key::Duration, "6s"),
        (Key::Threads, "8"),
    ] {
        scenario.set(&key, &Value::from(value));
    }
    for text in set {
        scenario
            .settings
            .push(Setting::parse(text).expect("a setting"));
    }
    scenario
}

#[test]
fn a_settled_tier_is_full_and_an_empty_one_is_warned_of() {
    let check = |settled| Plan::check(&on_flash("msa2050-tier", settled, &[]));
    let settled = predicted(&check(true).expect("a sound plan"));
    let pools = settled.array.expect("an array").pools;
    let high: u64 = pools.iter().map(|pool| pool.performance_pages).sum();
    let low: u64 = pools.iter().map(|pool| pool.standard_pages).sum();
    assert!(
        high > 500 && low <= high / 10,
        "{high} pages up, {low} below"
    );
    assert!(settled.warnings.is_empty(), "{:?}", settled.warnings);
    let empty = predicted(&check(false).expect("a sound plan"));
    let warned = |warning: &String| warning.contains("still filling");
    assert!(empty.warnings.iter().any(warned), "{:?}", empty.warnings);
}

#[test]
fn what_the_user_sets_counts_more_than_what_settles() {
    let set = ["array.pool.tiering.settled_percent=20"];
    let plan = Plan::check(&on_flash("msa2050-tier", true, &set)).expect("a sound plan");
    let pools = plan.planned.settings.pools.values();
    let percents: Vec<f64> = pools
        .map(|pool| pool.policy.tiering.settled_percent)
        .collect();
    assert_eq!(percents, [20.0, 20.0]);
}

#[test]
fn a_read_cache_begins_with_what_writes_leave_in_it() {
    let warm_percent = |set: &[&str]| {
        let plan = Plan::check(&on_flash("msa2050-cache", true, set)).expect("a sound plan");
        let pool = plan.planned.settings.pools.values().next();
        let cache = pool.and_then(|pool| pool.read_cache.as_ref());
        cache.map(|cache| cache.policy.fill.warm_percent)
    };
    assert_eq!(warm_percent(&[]), Some(60.0));
    let kept = ["array.pool.read_cache.on_write='update'"];
    assert_eq!(warm_percent(&kept), Some(100.0));
}

#[test]
fn counters_of_the_array_are_those_of_the_measured_phase() {
    let plan = Plan::check(&small(1)).expect("a sound plan");
    let (result, _) = run(
        &plan,
        Timestamp::UNIX_EPOCH,
        &StopRequest::new(),
        NoListener,
        1,
    )
    .expect("a result");
    let counted_s = result.array.expect("the inside of the array").counted_s;
    let off_s = counted_s - result.duration_s;
    assert!(off_s.abs() < 0.02, "{counted_s} of {}", result.duration_s);
}

#[test]
fn a_prediction_that_is_stopped_keeps_what_it_has() {
    let plan = Plan::check(&small(1)).expect("a sound plan");
    let stop = StopRequest::new();
    stop.stop();
    let (result, _) = run(&plan, Timestamp::UNIX_EPOCH, &stop, NoListener, 1).expect("a result");
    assert_eq!(result.verdict, measure::result::Verdict::Interrupted);
    assert!(result.array.is_some());
}

#[test]
fn a_brokerage_that_outgrows_its_files_is_out_of_space_and_no_failure_of_the_array() {
    let mut scenario = Scenario::new("brokerage").on_array("msa2042");
    scenario.set(&Key::TargetSize, &Value::from("400MB"));
    scenario.set(&Key::Duration, &Value::from("20s"));
    let result = predicted(&Plan::check(&scenario).expect("a plan"));
    let error = result.ending_error().expect("an error");
    assert_eq!(error.kind, ErrorKind::OutOfSpace, "{error:?}");
    let contribution = WORKLOADS.contribution(&result);
    let advice = &contribution.advice[0];
    assert!(advice.text.contains("growth_reserve_percent"), "{advice:?}");
}
