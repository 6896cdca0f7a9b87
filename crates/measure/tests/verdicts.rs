//! The words of verdicts and of rules, exactly: they are what people act upon.

mod reasons;

use std::sync::Arc;

use measure::metric::Stream;
use measure::result::{
    Bound, Check, CheckId, ErrorCount, ErrorKind, ErrorRecord, IntegrityClass, RunResult,
    SteadyState, Verdict,
};
use measure::sample::{DatabaseMeters, Layout, Phase, RunTotals, Sample};
use measure::service_level::{
    Levels, Measured, OperationLevels, PercentileLevel, ServiceLevels, ShareLevel, add_checks,
    describe_counts, evaluate, judge,
};

const MS: u64 = 1_000_000;

/// Samples of 15 s, each with a read, a log write and operations of these times.
fn totals(reads_ms: &[u64]) -> RunTotals {
    let layout = Arc::new(Layout::new(["db1"], ["buy", "sell", "look"]));
    let mut totals = RunTotals::new(Arc::clone(&layout), 15.0);
    for (number, read_ms) in (0..).zip(reads_ms) {
        let mut databases = DatabaseMeters::for_layout(&layout);
        let meters = &mut databases[0];
        let read = &mut meters.stream_mut(Stream::DatabaseRead).latency;
        (0..45).for_each(|_| read.record(read_ms * MS));
        let log = &mut meters.stream_mut(Stream::LogWrite).latency;
        log.record(2 * MS);
        for (operation, count) in [(0, 3), (1, 5)] {
            for request in 1..=count {
                let service = &mut meters.operation_mut(operation).service;
                service.record(request * 10 * MS);
            }
        }
        totals.add(&Sample {
            layout: Arc::clone(&layout),
            number,
            phase: Phase::Measured,
            phase_number: 0,
            begins_s: 15.0 * number as f64,
            length_s: 15.0,
            databases,
            host: None,
            array: None,
        });
    }
    totals
}

fn measured(totals: &RunTotals) -> Measured<'_> {
    Measured {
        totals,
        planned_s: None,
        target_iops: Some(3.0),
        errors: &[],
        error_counts: &[],
        hung_after_s: None,
        interrupted: false,
        tests: &[],
        must_be_steady: None,
    }
}

fn rule(checks: &[Check], id: CheckId) -> &str {
    &checks
        .iter()
        .find(|check| check.id == id)
        .expect("a check")
        .rule
}

#[test]
fn each_rule_can_be_checked_by_hand() {
    let totals = totals(&[10, 100, 101, 30, 40]);
    let levels = Levels {
        p99_database_read_ms: 50.0,
        allowed_errors: 1_000,
        ..Levels::default()
    };
    let levels = levels.with(OperationLevels::default());
    let checks = evaluate(&levels, &measured(&totals));
    for (id, wanted) in [
        (
            CheckId::DatabaseReadAverage,
            "Sum of all latencies divided by their number, over the 225 database reads of the \
             measured phase. Allowed: 20 ms.",
        ),
        (
            CheckId::DatabaseReadP99,
            "99 % of the latencies, over the 225 database reads of the measured phase, are at \
             most this long. Allowed: 50 ms.",
        ),
        // A sample at the limit is not above it.
        (
            CheckId::DatabaseReadMax,
            "Allowed: no sample (15 s) with an average database read latency above the strict \
             limit of 100 ms. Found: 1 of 5.",
        ),
        (
            CheckId::AchievedIops,
            "Database reads plus database writes per second, all databases, without log, \
             maintenance and header traffic. Required: the target of 3 IOPS less a margin of 5 %.",
        ),
        (
            CheckId::Errors,
            "Failed requests, also for want of space, and pages with a wrong checksum, page \
             number or version, in all phases of the run. A page that is met again counts \
             once. Allowed: 1,000.",
        ),
    ] {
        assert_eq!(rule(&checks, id), wanted);
    }
    let values: Vec<(CheckId, Option<f64>, f64)> = checks
        .iter()
        .filter(|check| check.id != CheckId::LogWriteMax)
        .map(|check| (check.id, check.value, check.limit))
        .collect();
    assert_eq!(
        values,
        [
            (CheckId::DatabaseReadAverage, Some(56.2), 20.0),
            (CheckId::DatabaseReadP99, Some(101.0), 50.0),
            (CheckId::DatabaseReadMax, Some(101.0), 100.0),
            (CheckId::LogWriteAverage, Some(2.0), 10.0),
            (CheckId::PageFaultStalls, Some(0.0), 1.0),
            (CheckId::AchievedIops, Some(3.0), 3.0 * 0.95),
            (CheckId::Errors, Some(0.0), 1_000.0),
        ]
    );
    let mut tolerant = levels.clone();
    tolerant.allowed_maximum_violations = 1;
    let checks = evaluate(&tolerant, &measured(&totals));
    assert_eq!(
        rule(&checks, CheckId::DatabaseReadMax),
        "Allowed: at most 1 sample (15 s) with an average database read latency above the strict \
         limit of 100 ms, so the value is number 2 from the top. Found: 1 of 5."
    );
    // As many samples as may exceed the limit, and one more.
    for (allowed, value, passed) in [
        (1, Some(100.0), Some(true)),
        (4, Some(10.0), Some(true)),
        (5, None, None),
    ] {
        let mut levels = levels.clone();
        levels.allowed_maximum_violations = allowed;
        let checks = evaluate(&levels, &measured(&totals));
        let check = checks
            .iter()
            .find(|check| check.id == CheckId::DatabaseReadMax);
        let check = check.unwrap();
        assert_eq!((check.value, check.passed), (value, passed), "{allowed}");
        if passed.is_none() {
            levels.fewest_samples = 1;
            let judgement = judge(&levels, &measured(&totals), std::slice::from_ref(check));
            assert_eq!(
                judgement.reason,
                "The database read latency, highest sample average of db1 could not be judged, because each of 5 samples may be \
                 above its limit (service_levels.allowed_maximum_violations is 5): run longer, or sample more \
                 often."
            );
        }
    }
}

#[test]
fn a_run_without_a_completed_transaction_does_not_pass() {
    let layout = Arc::new(Layout::new(["db1"], ["buy", "sell", "look"]));
    let mut totals = RunTotals::new(Arc::clone(&layout), 15.0);
    totals.add(&Sample {
        databases: DatabaseMeters::for_layout(&layout),
        layout,
        number: 0,
        phase: Phase::Measured,
        phase_number: 0,
        begins_s: 0.0,
        length_s: 15.0,
        host: None,
        array: None,
    });
    let levels = Levels {
        fewest_samples: 1,
        ..Levels::default()
    };
    let levels = levels.with(OperationLevels::default());
    let judgement = judge(&levels, &measured(&totals), &[]);
    assert_eq!(judgement.verdict, Verdict::Inconclusive);
    assert!(
        judgement.reason.starts_with("No transaction was completed"),
        "{}",
        judgement.reason
    );
}

#[test]
fn a_rate_is_not_judged_before_time_has_passed() {
    let totals = totals(&[]);
    let checks = evaluate(&ServiceLevels::default(), &measured(&totals));
    for id in [CheckId::PageFaultStalls, CheckId::AchievedIops] {
        let check = checks.iter().find(|check| check.id == id).unwrap();
        assert_eq!((check.value, check.passed), (None, None));
    }
}

#[test]
fn kinds_of_operations_have_levels_of_their_own() {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let percentile = |operation: &str, p90_ms| PercentileLevel {
        operation: operation.to_owned(),
        p90_ms,
    };
    let share = |of: &[&str], among: &[&str], chance_operations| ShareLevel {
        name: "share of buy".to_owned(),
        of: names(of),
        among: names(among),
        percent: 40.0,
        tolerance_points: 2.5,
        chance_operations,
    };
    let levels = ServiceLevels {
        operations: OperationLevels {
            p90: vec![
                percentile("buy", 30.0),
                percentile("sell", 49.0),
                percentile("look", 1.0),
            ],
            shares: vec![
                share(&["buy"], &["buy", "sell"], 0.0),
                share(&["buy", "look"], &["sell", "buy", "look"], 2.0),
                share(&["buy"], &["look"], 1.0),
            ],
        },
        ..ServiceLevels::default()
    };
    let totals = totals(&[10; 5]);
    let checks = evaluate(&levels, &measured(&totals));
    let operations = checks
        .iter()
        .filter(|check| [CheckId::OperationP90, CheckId::MixDeviation].contains(&check.id));
    let found: Vec<(&str, f64, Option<f64>, Option<bool>)> = operations
        .clone()
        .map(|check| (check.name.as_str(), check.limit, check.value, check.passed))
        .collect();
    let (p90, mix) = ("p90 service time", "mix deviation: share of buy");
    // 15 of 40 are 37.5 %.
    assert_eq!(
        found,
        [
            (&*format!("{p90}: buy"), 30.0, Some(30.0), Some(true)),
            (&*format!("{p90}: sell"), 49.0, Some(50.0), Some(false)),
            (&*format!("{p90}: look"), 1.0, None, None),
            (mix, 2.5, Some(2.5), Some(true)),
            (mix, 7.5, Some(2.5), Some(true)),
            (mix, 100.0, None, None),
        ]
    );
    let rules: Vec<&str> = operations.map(|check| check.rule.as_str()).collect();
    assert_eq!(
        rules[1],
        "90 % of the sell transactions of the measured phase take at most this long, from start \
         to commit. Allowed: 49 ms."
    );
    assert_eq!(
        rules[4],
        "share of buy of the 40 transactions of the measured phase. Required: 40 %, \u{b1} 2.50 \
         percentage points, and 5.00 for chance in so few of them; it was 37.5 %."
    );
}

fn check(id: CheckId, place: &str, limit: f64, value: Option<f64>) -> Check {
    Check::of(id, place, limit, value, String::new())
}

#[test]
fn the_reason_names_the_check_that_matters_most() {
    let good = check(CheckId::DatabaseReadAverage, "db1", 20.0, Some(20.0));
    let read = check(CheckId::DatabaseReadAverage, "db1", 20.0, Some(20.5));
    let rate = check(CheckId::AchievedIops, "run", 1_000.0, Some(999.5));
    let slower = check(CheckId::DatabaseReadAverage, "db2", 20.0, Some(31.0));
    let mix = check(CheckId::MixDeviation, "run", 1.0, Some(2.0));
    let down = check(CheckId::Downtime, "run", 0.0, Some(4.5));
    let errors = check(CheckId::Errors, "run", 0.0, Some(1_000.0));
    let totals = totals(&[10; 5]);
    for (checks, reason) in [
        (
            vec![&good, &read],
            "1 of 2 checks failed: average database read latency of db1 is 20.5 ms (limit 20 ms).",
        ),
        (
            vec![&rate, &good, &read],
            "2 of 3 checks failed: achieved transactional I/O is 999.5 IOPS (required 1,000 \
             IOPS), one of them.",
        ),
        (
            vec![&read, &slower, &good],
            "2 of 3 checks failed: average database read latency of db2 is 31.0 ms (limit 20 ms), \
             the worst of them.",
        ),
        (
            vec![&mix, &rate],
            "2 of 2 checks failed: achieved transactional I/O is 999.5 IOPS (required 1,000 \
             IOPS), one of them.",
        ),
        (
            vec![&mix, &read, &down],
            "3 of 3 checks failed: downtime is 4.50 s (limit 0 s), one of them.",
        ),
        (
            vec![&errors],
            "1 of 1 checks failed: I/O errors and bad pages is 1,000 errors (limit 0 errors).",
        ),
    ] {
        let checks: Vec<Check> = checks.into_iter().cloned().collect();
        let judgement = judge(&ServiceLevels::default(), &measured(&totals), &checks);
        assert_eq!(
            (judgement.verdict, judgement.reason.as_str()),
            (Verdict::Fail, reason)
        );
        let mut result = RunResult::default();
        judgement.enter(checks.clone(), &mut result);
        assert_eq!((result.verdict, result.exit_status), (Verdict::Fail, 1));
        assert_eq!(
            (result.verdict_reason.as_str(), &result.checks),
            (reason, &checks)
        );
    }
}

#[test]
fn doubt_says_what_to_do() {
    let steady = |steady| SteadyState {
        variable: "IOPS".to_owned(),
        steady,
        range_fraction: 0.25,
        slope_fraction: 0.125,
        ..SteadyState::default()
    };
    let (one, enough) = (totals(&[10]), totals(&[10; 5]));
    let open = [check(CheckId::LogWriteAverage, "db1", 10.0, None)];
    let unseen = [check(CheckId::Errors, "run", 0.0, None)];
    let (unsteady, unknown, good) = (steady(Some(false)), steady(None), steady(Some(true)));
    let few = totals(&[10; 4]);
    let cases: [(&RunTotals, &[Check], Option<&SteadyState>, &str); 7] = [
        (
            &one,
            &[],
            None,
            "Only 1 sample was taken and 5 are needed: run longer, or sample more often.",
        ),
        (
            &few,
            &[],
            None,
            "Only 4 samples were taken and 5 are needed: run longer, or sample more often.",
        ),
        (
            &enough,
            &open,
            None,
            "The average log write latency of db1 could not be judged, because there was no such \
             I/O: use databases larger than the cache, or run longer, unless a warning gives \
             another reason.",
        ),
        (
            &enough,
            &[],
            Some(&unsteady),
            "No steady state: IOPS has a range of 25.0 % and a slope of 12.5 % of the mean; run \
             longer (--duration), or warm up longer (--set run.warm_up.minimum=20m).",
        ),
        (
            &enough,
            &[],
            Some(&unknown),
            "There were too few samples to judge the steady state of IOPS: run longer, or sample \
             more often.",
        ),
        (&enough, &unseen, Some(&good), "All 1 checks passed."),
        (&enough, &[], None, "All 0 checks passed."),
    ];
    for (totals, checks, must_be_steady, reason) in cases {
        let measured = Measured {
            must_be_steady,
            ..measured(totals)
        };
        let judgement = judge(&ServiceLevels::default(), &measured, checks);
        assert_eq!(judgement.reason, reason);
        let passes = reason.starts_with("All");
        assert_eq!(judgement.verdict == Verdict::Pass, passes, "{reason}");
    }
}
