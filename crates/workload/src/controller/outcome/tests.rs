use super::*;
use crate::controller::testing::plan;
use config::TimeSpan;
use measure::result::{BackedUpDatabase, TestKind};
use measure::sample::{Collector, Phase as MeasuredPhase, Recorder};

const SAMPLE_NS: u64 = 15_000_000_000;
const HOUR_S: u64 = 3_600;

/// Samples with this many reads of this many ms in each, and 1 log write of 1 ms for each of them.
fn totals(plan: &RunPlan, samples: &[(u64, u64)]) -> RunTotals {
    let layout = Arc::clone(&plan.layout);
    let mut recorder = Recorder::new(Arc::clone(&layout), 0, MeasuredPhase::Measured, 0);
    let mut collector = Collector::new(layout, 1, 15.0, None);
    for (&(reads, ms), number) in samples.iter().zip(1..) {
        for _ in 0..reads {
            recorder.io(0, Stream::DatabaseRead, 32_768, ms * 1_000_000);
            recorder.io(0, Stream::LogWrite, 4_096, 1_000_000);
            recorder.operation(0, 0, ms * 1_000_000, None);
        }
        let _: Vec<Sample> = collector.accept(recorder.take(number * SAMPLE_NS));
    }
    collector.finish();
    collector.totals().clone()
}

const GOOD: [(u64, u64); 20] = [(30, 10); 20];

fn account() -> Account {
    Account::new(RunResult::new(), plan().layout)
}

/// The result of a run with these samples.
fn result_of(
    plan: &RunPlan,
    account: &Account,
    samples: &[(u64, u64)],
    complete: bool,
) -> RunResult {
    let totals = totals(plan, samples);
    account.result(plan, &totals, &LoadControl::new(plan), 0, complete)
}

fn verdict(change: impl Fn(&mut RunPlan, &mut Account), samples: &[(u64, u64)]) -> Verdict {
    let (mut plan, mut account) = (plan(), account());
    change(&mut plan, &mut account);
    result_of(&plan, &account, samples, true).verdict
}

fn failure(kind: FailureKind) -> Failure {
    Failure::new(kind, "db1", "a read", "it failed")
}

#[test]
fn a_run_is_judged_by_what_its_plan_asks_for() {
    let passed = result_of(&plan(), &account(), &GOOD, true);
    assert_eq!(passed.verdict, Verdict::Pass, "{}", passed.verdict_reason);
    assert!(passed.steady_state.is_some() && passed.warnings.is_empty());
    let target = |iops: f64| verdict(move |plan, _| plan.target_iops = iops, &GOOD);
    // 30 reads in 15 s.
    assert_eq!(target(2.0), Verdict::Pass);
    assert_eq!(target(3.0), Verdict::Fail);
    // A sample above the strict limit, in a test that lasts for long.
    let mut spike = GOOD;
    spike[3] = (30, 150);
    let lasting = |hours: u64| {
        verdict(
            move |plan, _| plan.run.duration = TimeSpan::seconds(hours * HOUR_S),
            &spike,
        )
    };
    assert_eq!(lasting(7), Verdict::Pass);
    assert_eq!(lasting(2), Verdict::Fail);
    assert_eq!(
        verdict(|_, one| one.interrupt(), &GOOD),
        Verdict::Interrupted
    );
    let mut account = account();
    account.judge_hung_requests(30_000_000_000);
    let result = result_of(&plan(), &account, &GOOD, true);
    assert!(
        result
            .checks
            .iter()
            .any(|check| check.id == CheckId::HungRequests)
    );
}

#[test]
fn a_steady_state_is_needed_where_it_is_required() {
    let mut falling = GOOD;
    for (number, sample) in falling.iter_mut().enumerate() {
        *sample = (400 - 15 * number as u64, 10);
    }
    let mut rising = GOOD;
    for (number, sample) in rising.iter_mut().enumerate() {
        *sample = (30, 1 + number as u64 / 2);
    }
    let judged = |required: bool, steady_by: SteadyBy, samples: &[(u64, u64)]| {
        let mut plan = plan();
        plan.run.steady_state.required = required;
        plan.steady_by = steady_by;
        let result = result_of(&plan, &account(), samples, true);
        (result.verdict, result.warnings.len())
    };
    use SteadyBy::{Rate, ReadLatency};
    assert_eq!(judged(true, Rate, &falling), (Verdict::Inconclusive, 0));
    assert_eq!(judged(false, Rate, &falling), (Verdict::Pass, 1));
    assert_eq!(judged(true, ReadLatency, &falling), (Verdict::Pass, 0));
    assert_eq!(
        judged(true, ReadLatency, &rising),
        (Verdict::Inconclusive, 0)
    );
    assert_eq!(judged(true, Rate, &rising), (Verdict::Pass, 0));
}

#[test]
fn a_held_rate_of_transactions_is_judged_with_its_margin() {
    // 30 operations in 15 s, two for each transaction.
    let at = |held: f64| {
        verdict(
            move |plan, _| {
                plan.operations_per_transaction = 2;
                plan.held_transactions_per_second = Some(held);
            },
            &GOOD,
        )
    };
    assert_eq!(at(1.04), Verdict::Pass, "5 % less are allowed");
    assert_eq!(at(1.06), Verdict::Fail);
    let mut plan = plan();
    plan.held_transactions_per_second = Some(1.0);
    let nothing = result_of(&plan, &account(), &[], true);
    assert!(nothing.failed_checks().next().is_none());
}

#[test]
fn a_build_is_no_verdict_on_storage() {
    let build = |change: fn(&mut Account), complete: bool| {
        let (mut plan, mut account) = (plan(), account());
        plan.build_only = true;
        change(&mut account);
        result_of(&plan, &account, &[], complete).verdict
    };
    assert_eq!(build(|_| (), true), Verdict::Built);
    assert_ne!(build(|_| (), false), Verdict::Built);
    assert_eq!(build(Account::interrupt, true), Verdict::Interrupted);
    let failed = |one: &mut Account| one.fail(&failure(FailureKind::Io), 1);
    assert_eq!(build(failed, true), Verdict::Error);
}

#[test]
fn a_run_without_a_measured_phase_is_judged_when_it_is_complete() {
    let backup = |bytes: u64, complete: bool| {
        let mut account = Account::new(
            RunResult {
                tests: vec![TestKind::Backup],
                ..RunResult::new()
            },
            plan().layout,
        );
        account.backup = Some(BackupResult {
            databases: vec![BackedUpDatabase {
                name: "db1".to_owned(),
                size_bytes: 100,
                bytes,
                ..BackedUpDatabase::default()
            }],
            ..BackupResult::default()
        });
        let result = result_of(&plan(), &account, &[], complete);
        assert_eq!(result.steady_state, None);
        (result.verdict, result.checks.is_empty())
    };
    assert_eq!(backup(100, true), (Verdict::Pass, false));
    assert_eq!(backup(99, true), (Verdict::Fail, false));
    assert!(backup(99, false).1, "not judged yet");
}

#[test]
fn a_run_that_measured_nothing_says_why() {
    let reason = |change: fn(&mut Account)| {
        let mut account = account();
        change(&mut account);
        let result = result_of(&plan(), &account, &[], true);
        (result.verdict, result.verdict_reason)
    };
    let (verdict, text) = reason(|_| ());
    assert_eq!(verdict, Verdict::Inconclusive);
    assert!(text.contains("Nothing has been measured"), "{text}");
    let (verdict, text) = reason(Account::interrupt);
    assert_eq!(verdict, Verdict::Interrupted);
    assert!(text.contains("before anything was measured"), "{text}");
    let (verdict, _) = reason(|one| one.fail(&failure(FailureKind::Io), 1));
    assert_eq!(verdict, Verdict::Error);
    let unfinished = result_of(&plan(), &account(), &GOOD, false);
    assert_eq!(
        (unfinished.complete, unfinished.verdict),
        (false, Verdict::Interrupted)
    );
}

#[test]
fn time_that_stands_still_leaves_a_run_open_and_ends_it() {
    let stands = |one: &mut Account| one.fail(&failure(FailureKind::ZeroDelayLoop), 1);
    assert_eq!(verdict(|_, one| stands(one), &GOOD), Verdict::Inconclusive);
    let mut account = account();
    assert!(!account.has_failed());
    stands(&mut account);
    assert!(account.has_failed() && account.errors() == 0);
    let mut other = self::account();
    other.fail(&failure(FailureKind::Io), 1);
    assert!(other.has_failed());
}

#[test]
fn levels_are_judged_while_a_run_lasts_once_something_was_measured() {
    let plan = plan();
    let mut account = account();
    account.judge(&plan, &totals(&plan, &[]), Some(3.0));
    assert!(account.checks.is_empty() && account.failing().is_empty());
    account.judge(&plan, &totals(&plan, &GOOD), Some(3.0));
    assert_eq!(account.failing(), ["achieved transactional I/O"]);
}
