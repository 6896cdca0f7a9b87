//! Limits in single cases.

use super::*;

#[test]
fn a_run_that_shows_nothing_is_inconclusive() {
    let levels = strict();
    let (verdict, reason, _) = Run {
        reads_ms: vec![1; 4],
        log_writes_ms: vec![1; 4],
        ..Run::default()
    }
    .verdict(&levels);
    assert_eq!((verdict, verdict.exit_status()), (Verdict::Inconclusive, 5));
    assert!(reason.contains("Only 4 samples"), "{reason}");

    let (verdict, reason, checks) = Run {
        reads_ms: vec![],
        ..Run::default()
    }
    .verdict(&levels);
    assert_eq!(verdict, Verdict::Inconclusive);
    assert_eq!(find(&checks, CheckId::DatabaseReadAverage).passed, None);
    assert_eq!(find(&checks, CheckId::DatabaseReadMax).passed, None);
    assert!(
        reason.contains("average database read latency of db1"),
        "{reason}"
    );

    // A read-only workload writes no log, and that is no doubt.
    let (verdict, _, checks) = Run {
        log_writes_ms: vec![],
        ..Run::default()
    }
    .verdict(&levels);
    assert_eq!(verdict, Verdict::Pass);
    assert!(!checks.iter().any(|c| c.scope() == Scope::Log));
}

#[test]
fn an_unsteady_run_is_inconclusive_unless_it_failed() {
    let levels = strict();
    let (good, bad) = (
        Run::default().totals(),
        Run {
            reads_ms: vec![500; 8],
            ..Run::default()
        }
        .totals(),
    );
    let state = |steady| SteadyState {
        steady,
        ..SteadyState::default()
    };
    for (totals, steady, expected) in [
        (&good, Some(true), Verdict::Pass),
        (&good, Some(false), Verdict::Inconclusive),
        (&good, None, Verdict::Inconclusive),
        (&bad, Some(false), Verdict::Fail),
    ] {
        let state = state(steady);
        let measured = Measured {
            must_be_steady: Some(&state),
            ..measured(totals)
        };
        let verdict = judge(&levels, &measured, &evaluate(&levels, &measured)).verdict;
        assert_eq!(verdict, expected, "{steady:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// The rule is stated by position from the top; it must mean "at most N samples above".
    #[test]
    fn the_spike_rule_counts_samples_above_the_limit(
        reads_ms in prop::collection::vec(95u64..105, 1..20),
        allowed in 0u32..8,
    ) {
        let above = reads_ms.iter().filter(|&&ms| ms > 100).count();
        let levels = Levels { allowed_maximum_violations: allowed, ..Levels::default() };
        let levels = levels.with(OperationLevels::default());
        let run = Run { reads_ms, ..Run::default() };
        let (_, _, checks) = run.verdict(&levels);
        let passed = find(&checks, CheckId::DatabaseReadMax).passed;
        let is_judged = run.totals().full_samples() > allowed as usize;
        prop_assert_eq!(passed, is_judged.then_some(above <= allowed as usize));
    }
}

#[test]
fn tests_without_a_measured_phase_are_judged_by_their_errors() {
    let levels = strict();
    let totals = Run {
        reads_ms: vec![500],
        log_writes_ms: vec![2],
        ..Run::default()
    }
    .totals();
    let measured = Measured {
        tests: &[TestKind::Backup],
        ..measured(&totals)
    };
    let checks = evaluate(&levels, &measured);
    let ids: Vec<CheckId> = checks.iter().map(|check| check.id).collect();
    assert_eq!(ids, [CheckId::Errors]);
    // Samples are not what they are judged by.
    let judgement = judge(&levels, &measured, &checks);
    assert_eq!(judgement.verdict, Verdict::Pass);
}

#[test]
fn a_stress_test_is_judged_by_the_lenient_limits_however_long_it_is() {
    let levels = strict();
    let totals = Run {
        reads_ms: vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 150],
        ..Run::default()
    }
    .totals();
    for (test, passed) in [(TestKind::Performance, false), (TestKind::Stress, true)] {
        let measured = Measured {
            tests: &[test],
            ..measured(&totals)
        };
        let checks = evaluate(&levels, &measured);
        assert_eq!(find(&checks, CheckId::DatabaseReadMax).passed, Some(passed));
    }
}
