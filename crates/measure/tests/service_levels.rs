//! The rules at their limits, and the verdict.

mod limits;

use std::sync::Arc;

use measure::host::{DeviceSample, HostSample};
use measure::metric::{Metric, Stream, Values};
use measure::result::{
    Check, CheckId, CheckKind, ErrorKind, ErrorRecord, Scope, SteadyState, TestKind, Verdict,
};
use measure::sample::{DatabaseMeters, Layout, Phase, Recorder, RunTotals, Sample};
use measure::service_level::{Levels, Measured, OperationLevels, ServiceLevels, evaluate, judge};
use proptest::prelude::*;

const NS_PER_MS: u64 = 1_000_000;
const SAMPLE_NS: u64 = 15_000_000_000;

/// A run of samples, in each of which every database reads with one latency of `reads_ms` and
/// writes its log with one of `log_writes_ms`.
struct Run {
    databases: usize,
    reads_ms: Vec<u64>,
    log_writes_ms: Vec<u64>,
    /// Whether log writes are counted among the other writes.
    mixed_up: bool,
    stalls: u64,
    failed_requests: u64,
}

impl Default for Run {
    fn default() -> Self {
        Run {
            databases: 1,
            reads_ms: vec![10; 8],
            log_writes_ms: vec![2; 8],
            mixed_up: false,
            stalls: 0,
            failed_requests: 0,
        }
    }
}

impl Run {
    fn totals(&self) -> RunTotals {
        let names: Vec<String> = (1..=self.databases).map(|d| format!("db{d}")).collect();
        let layout = Arc::new(Layout::new(names, Vec::<String>::new()));
        let mut recorder = Recorder::new(Arc::clone(&layout), 0, Phase::Measured, 0);
        let mut collector = measure::sample::Collector::new(layout, 1, 15.0, None);
        let samples = self.reads_ms.len().max(self.log_writes_ms.len());
        for sample in 0..samples {
            for database in 0..self.databases {
                if let Some(&ms) = self.reads_ms.get(sample) {
                    recorder.io(database, Stream::DatabaseRead, 32_768, ms * NS_PER_MS);
                }
                if let Some(&ms) = self.log_writes_ms.get(sample) {
                    let stream = if self.mixed_up {
                        Stream::DatabaseWrite
                    } else {
                        Stream::LogWrite
                    };
                    recorder.io(database, stream, 4096, ms * NS_PER_MS);
                }
            }
            if sample == 0 {
                recorder.page_fault_stalls_so_far(0, self.stalls);
                (0..self.failed_requests).for_each(|_| recorder.io_error(0, Stream::DatabaseRead));
            }
            let _: Vec<Sample> = collector.accept(recorder.take((sample as u64 + 1) * SAMPLE_NS));
        }
        collector.finish();
        collector.totals().clone()
    }

    fn verdict(&self, levels: &ServiceLevels) -> (Verdict, String, Vec<Check>) {
        let totals = self.totals();
        let measured = measured(&totals);
        let checks = evaluate(levels, &measured);
        let judgement = judge(levels, &measured, &checks);
        (judgement.verdict, judgement.reason, checks)
    }
}

fn measured(totals: &RunTotals) -> Measured<'_> {
    Measured {
        totals,
        planned_s: None,
        target_iops: None,
        errors: &[],
        error_counts: &[],
        hung_after_s: None,
        interrupted: false,
        tests: &[],
        must_be_steady: None,
    }
}

/// The default levels without any tolerated spike.
fn strict() -> ServiceLevels {
    let levels = Levels {
        allowed_maximum_violations: 0,
        ..Levels::default()
    };
    levels.with(OperationLevels::default())
}

fn find(checks: &[Check], id: CheckId) -> &Check {
    checks
        .iter()
        .find(|c| c.id == id)
        .unwrap_or_else(|| panic!("no check {id:?}: {checks:?}"))
}

#[test]
fn a_good_run_passes_every_check() {
    let (verdict, reason, checks) = Run::default().verdict(&strict());
    assert_eq!(
        (verdict, reason.as_str()),
        (Verdict::Pass, "All 6 checks passed.")
    );
    assert!(
        checks
            .iter()
            .all(|c| c.passed == Some(true) && !c.rule.is_empty())
    );
    assert!(
        !checks.iter().any(|c| c.kind() == CheckKind::Percentile),
        "inf is not judged"
    );
}

#[test]
fn a_value_at_the_limit_passes_and_the_next_one_fails() {
    let levels = strict();
    let at = Run {
        reads_ms: vec![20; 8],
        log_writes_ms: vec![10; 8],
        ..Run::default()
    };
    assert_eq!(at.verdict(&levels).0, Verdict::Pass);
    let above = Run {
        reads_ms: [vec![20; 7], vec![21]].concat(),
        ..Run::default()
    };
    let (verdict, reason, checks) = above.verdict(&levels);
    assert_eq!(verdict, Verdict::Fail);
    let check = find(&checks, CheckId::DatabaseReadAverage);
    assert_eq!((check.value, check.passed), (Some(20.125), Some(false)));
    assert!(reason.contains("1 of 6 checks failed"), "{reason}");
    assert!(
        reason.contains("of db1 is 20.1 ms (limit 20 ms)"),
        "{reason}"
    );

    // 120 stalls in 8 samples of 15 s are exactly one per second.
    assert_eq!(
        Run {
            stalls: 120,
            ..Run::default()
        }
        .verdict(&levels)
        .0,
        Verdict::Pass
    );
    assert_eq!(
        Run {
            stalls: 121,
            ..Run::default()
        }
        .verdict(&levels)
        .0,
        Verdict::Fail
    );

    let spike = Run {
        log_writes_ms: vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 100],
        ..Run::default()
    };
    let (verdict, _, checks) = spike.verdict(&levels);
    assert_eq!(verdict, Verdict::Pass);
    let check = find(&checks, CheckId::LogWriteMax);
    assert!(check.rule.contains("Found: 0 of 12."), "{}", check.rule);
    let spike = Run {
        log_writes_ms: vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 101],
        ..Run::default()
    };
    let (verdict, _, checks) = spike.verdict(&levels);
    assert_eq!(verdict, Verdict::Fail);
    let check = find(&checks, CheckId::LogWriteMax);
    assert_eq!((check.id, check.value), (CheckId::LogWriteMax, Some(101.0)));
    assert!(check.rule.contains("Found: 1 of 12."), "{}", check.rule);
}

#[test]
fn where_log_writes_are_not_separate_all_writes_are_judged() {
    let good = Run {
        mixed_up: true,
        ..Run::default()
    };
    let (verdict, _, checks) = good.verdict(&strict());
    assert_eq!(verdict, Verdict::Pass);
    let check = find(&checks, CheckId::LogWriteAverage);
    assert_eq!((check.value, check.passed), (Some(2.0), Some(true)));
    assert!(
        check.rule.contains("all writes are judged"),
        "{}",
        check.rule
    );
    let slow = Run {
        log_writes_ms: vec![101; 8],
        ..good
    };
    let (verdict, _, checks) = slow.verdict(&strict());
    assert_eq!(verdict, Verdict::Fail);
    let check = find(&checks, CheckId::LogWriteMax);
    assert_eq!((check.value, check.passed), (Some(101.0), Some(false)));
    assert!(
        check.rule.contains("all writes are judged"),
        "{}",
        check.rule
    );
}

#[test]
fn each_database_is_judged_on_its_own() {
    let mut levels = strict();
    levels.fewest_samples = 1;
    let run = Run {
        databases: 3,
        ..Run::default()
    };
    let (_, _, checks) = run.verdict(&levels);
    let places: Vec<&str> = checks
        .iter()
        .filter(|c| c.id == CheckId::DatabaseReadAverage)
        .map(|c| c.place.as_str())
        .collect();
    assert_eq!(places, ["db1", "db2", "db3"]);
    levels.p99_database_read_ms = 5.0;
    assert_eq!(run.verdict(&levels).0, Verdict::Fail);
}

#[test]
fn samples_above_the_limit_are_listed_with_what_host_and_device_did() {
    let layout = Arc::new(Layout::new(["db1"], Vec::<String>::new()));
    let mut totals = RunTotals::new(Arc::clone(&layout), 15.0);
    let values = |pairs: &[(Metric, f64)]| -> Values {
        pairs.iter().map(|&(m, value)| (m, Some(value))).collect()
    };
    for (number, read_ms) in [10, 150, 20, 130].into_iter().enumerate() {
        let mut databases = DatabaseMeters::for_layout(&layout);
        let reads = databases[0].stream_mut(Stream::DatabaseRead);
        (0..3).for_each(|_| reads.latency.record(read_ms * NS_PER_MS));
        totals.add(&Sample {
            layout: Arc::clone(&layout),
            number: number as u64,
            phase: Phase::Measured,
            phase_number: 0,
            begins_s: 100.0 + 15.0 * number as f64,
            length_s: 15.0,
            databases,
            host: Some(HostSample {
                length_s: 15.0,
                values: values(&[(Metric::CpuBusy, read_ms as f64 / 10.0)]),
                devices: vec![DeviceSample {
                    name: "sda".to_owned(),
                    values: values(&[(Metric::DeviceReadAverage, read_ms as f64 - 1.0)]),
                }],
            }),
            array: None,
        });
    }
    let checks = evaluate(&strict(), &measured(&totals));
    let check = find(&checks, CheckId::DatabaseReadMax);
    assert_eq!((check.passed, check.samples_above), (Some(false), 2));
    let listed: Vec<_> = check
        .slow_samples
        .iter()
        .map(|one| {
            let busy = one.host_counter(Metric::CpuBusy);
            let device_ms = one.device_figure("sda", Metric::DeviceReadAverage);
            (
                one.begins_s,
                one.requests,
                one.average_ms.round(),
                busy,
                device_ms,
            )
        })
        .collect();
    assert_eq!(
        listed,
        [
            (115.0, 3, 150.0, Some(15.0), Some(149.0)),
            (145.0, 3, 130.0, Some(13.0), Some(129.0)),
        ]
    );
    let others = checks
        .iter()
        .filter(|one| one.id != CheckId::DatabaseReadMax);
    assert!(
        others
            .clone()
            .all(|one| one.samples_above == 0 && one.slow_samples.is_empty())
    );
}

#[test]
fn long_tests_are_judged_by_the_lenient_limits() {
    let levels = strict();
    let totals = Run {
        reads_ms: vec![1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 150],
        ..Run::default()
    }
    .totals();
    let passed = |planned_s: f64| {
        let measured = Measured {
            planned_s: Some(planned_s),
            ..measured(&totals)
        };
        find(&evaluate(&levels, &measured), CheckId::DatabaseReadMax).passed
    };
    assert_eq!(
        passed(6.0 * 3600.0),
        Some(false),
        "six hours are not more than six hours"
    );
    assert_eq!(passed(6.0 * 3600.0 + 1.0), Some(true));
}

#[test]
fn the_achieved_rate_may_stay_below_the_target_by_the_margin() {
    let levels = strict();
    // 8 reads in 120 s.
    let totals = Run::default().totals();
    let achieved = 8.0 / 120.0;
    let verdict = |target: f64| {
        let measured = Measured {
            target_iops: Some(target),
            ..measured(&totals)
        };
        judge(&levels, &measured, &evaluate(&levels, &measured)).verdict
    };
    assert_eq!(verdict(achieved / 0.951), Verdict::Pass);
    assert_eq!(verdict(achieved / 0.949), Verdict::Fail);
}

#[test]
fn errors_come_before_everything_else() {
    let levels = strict();
    let run = Run {
        failed_requests: 1,
        reads_ms: vec![500; 8],
        ..Run::default()
    };
    let (verdict, reason, _) = run.verdict(&levels);
    assert_eq!(verdict, Verdict::Error);
    assert!(reason.contains("reported 1 error."), "{reason}");

    let totals = Run::default().totals();
    let errors = [ErrorRecord {
        file: "/mnt/a/db1.edb".to_owned(),
        page: Some(7),
        error: "page 7 has a wrong checksum".to_owned(),
        ..ErrorRecord::default()
    }];
    let measured = Measured {
        errors: &errors,
        interrupted: true,
        ..measured(&totals)
    };
    let full = [ErrorRecord {
        kind: ErrorKind::OutOfSpace,
        ..errors[0].clone()
    }];
    let checks = evaluate(&levels, &measured);
    let judgement = judge(
        &levels,
        &Measured {
            errors: &full,
            ..measured
        },
        &checks,
    );
    assert_eq!(judgement.verdict, Verdict::Error);
    assert_eq!(judgement.reason, "No space was left for /mnt/a/db1.edb.");
    assert_eq!(find(&checks, CheckId::Errors).value, Some(1.0));
    let judgement = judge(&levels, &measured, &checks);
    assert_eq!(
        (judgement.verdict, judgement.verdict.exit_status()),
        (Verdict::Error, 4)
    );
    assert!(
        judgement
            .reason
            .contains("/mnt/a/db1.edb: page 7 has a wrong checksum")
    );
}

#[test]
fn an_interrupted_run_says_so_whatever_the_checks_say() {
    let levels = strict();
    for (reads_ms, words) in [(10, "no check had failed"), (500, "checks failed")] {
        let totals = Run {
            reads_ms: vec![reads_ms; 8],
            ..Run::default()
        }
        .totals();
        let measured = Measured {
            interrupted: true,
            ..measured(&totals)
        };
        let judgement = judge(&levels, &measured, &evaluate(&levels, &measured));
        assert_eq!(judgement.verdict.exit_status(), 130);
        assert!(
            judgement.reason.contains("after 120 s"),
            "{}",
            judgement.reason
        );
        assert!(judgement.reason.contains(words), "{}", judgement.reason);
    }
}
