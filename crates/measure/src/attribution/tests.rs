mod bounds;
mod calibration;
mod conditions;
mod mix;
mod other_io;
mod outages;
mod placement;
mod search;
mod slow_samples;
mod unsteady;
use super::*;
use crate::metric::{Metric, Stream};
use crate::result::{
    CauseId, CheckId, CounterSummary, DatabaseResult, DeviceResult, ErrorCount, LatencyFigures,
    OutageCause, ServerResult, SlowSample, SteadyState, TargetPath, WaitClass, WaitShare,
};

const SIZE: u64 = 10 << 30;

type Change = fn(&mut RunResult);

fn figures(result: &mut RunResult, stream: Stream, count: u64, average_ms: f64) {
    let database = &mut result.databases[0].figures;
    let all = [database, &mut result.totals];
    for figures in all {
        let io = match stream {
            Stream::LogWrite => &mut figures.log_writes,
            _ => &mut figures.reads,
        };
        (io.count, io.per_second, io.average_bytes) = (count, 100.0, 32_768.0);
        io.latency = Some(LatencyFigures {
            average_ms,
            ..LatencyFigures::default()
        });
    }
}

fn check(id: CheckId, limit: f64, value: f64) -> Check {
    Check::of(id, "db1", limit, Some(value), String::new())
}

fn counter(result: &mut RunResult, metric: Metric, value: f64) {
    result.host.counters.push(CounterSummary {
        id: metric.id().into_owned(),
        unit: metric.unit(),
        average: value,
        minimum: value,
        maximum: value,
    });
}

/// A run whose reads took 25 ms, 10 ms of it in the device: neither is the device shown to be the
/// reason, nor anything else.
fn slow() -> RunResult {
    let mut result = RunResult::new();
    result.complete = true;
    result.samples.count = 100;
    for (path, value) in [
        ("service_levels.fewest_samples", 5.into()),
        ("run.warm_up.cache_fill_percent", 90.0.into()),
        ("run.steady_state.required", true.into()),
    ] {
        result.workload.settings.insert(path.to_owned(), value);
    }
    result.host.cpus = 4;
    result.host.memory_bytes = 1 << 30;
    result.host.devices = vec![DeviceResult {
        name: "sda".to_owned(),
        targets: vec!["/t".to_owned()],
        average_read_ms: Some(10.0),
        average_write_ms: Some(0.2),
        read_bytes_per_second: 100.0 * 32_768.0,
        busy_fraction: 0.5,
        ..DeviceResult::default()
    }];
    result.databases = vec![DatabaseResult {
        name: "db1".to_owned(),
        path: "/t/db1.edb".to_owned(),
        log_path: "/t/log".to_owned(),
        ..DatabaseResult::default()
    }];
    figures(&mut result, Stream::DatabaseRead, 100_000, 25.0);
    result.totals.size_end_bytes = SIZE;
    result.checks = vec![check(CheckId::DatabaseReadAverage, 20.0, 25.0)];
    result.set_verdict(Verdict::Fail, "1 of 9 checks failed.");
    result
}

fn passed() -> RunResult {
    let mut result = slow();
    result.checks[0].passed = Some(true);
    result.set_verdict(Verdict::Pass, "All 9 checks passed.");
    result
}

fn server(result: &mut RunResult, waits: &[(WaitClass, f64)]) {
    let wait = |&(class, share_percent): &(WaitClass, f64)| WaitShare {
        class,
        share_percent,
        ..WaitShare::default()
    };
    result.server = Some(ServerResult {
        size_begin_bytes: SIZE,
        waits: waits.iter().map(wait).collect(),
        ..ServerResult::default()
    });
}

fn causes(mut result: RunResult) -> (Verdict, Vec<CauseId>) {
    attribute(&mut result);
    let ids = result.causes.iter().map(|cause| cause.id).collect();
    for cause in &result.causes {
        assert!(cause.text.ends_with('.') && cause.remedy.ends_with('.'));
    }
    (result.verdict, ids)
}

#[test]
fn without_another_cause_a_failure_stands() {
    assert_eq!(causes(slow()), (Verdict::Fail, vec![]));
    assert_eq!(causes(passed()), (Verdict::Pass, vec![]));
}

#[test]
fn an_unsteady_run_is_in_doubt_where_a_steady_state_is_required() {
    let unsteady = |required: Option<bool>| {
        let mut result = slow();
        let settings = &mut result.workload.settings;
        settings.remove("run.steady_state.required");
        settings.extend(required.map(|is| ("run.steady_state.required".to_owned(), is.into())));
        result.steady_state = Some(SteadyState {
            steady: Some(false),
            ..SteadyState::default()
        });
        causes(result).1
    };
    assert_eq!(unsteady(Some(true)), [CauseId::NotSteady]);
    assert_eq!(unsteady(None), [CauseId::NotSteady]);
    assert_eq!(unsteady(Some(false)), []);
}

#[test]
fn each_cause_of_a_failure_holds_alone() {
    let cases: [(CauseId, Change); 22] = [
        (CauseId::FilesElsewhere, placement::files_elsewhere),
        (CauseId::TooFewSamples, |one| one.samples.count = 4),
        (CauseId::TooFewRequests, |one| {
            figures(one, Stream::DatabaseRead, 99, 25.0);
        }),
        (CauseId::NotSteady, |one| {
            one.steady_state = Some(SteadyState {
                steady: Some(false),
                ..SteadyState::default()
            });
        }),
        (CauseId::CacheFilling, |one| {
            one.throughput.cache_fill_fraction = Some(0.89);
        }),
        (CauseId::CacheShrunk, |one| {
            one.throughput.cache_size_fraction = Some(0.89);
        }),
        (CauseId::Paused, |one| {
            counter(one, Metric::LongestPause, 1e3);
        }),
        (CauseId::Paused, |one| {
            counter(one, Metric::LongestPause, 500.0);
            counter(one, Metric::Paused, 1.0);
        }),
        (CauseId::OtherIo, |one| {
            one.host.devices[0].write_bytes_per_second = 2e6;
        }),
        (CauseId::LoadGeneratorBusy, |one| {
            counter(one, Metric::CpuBusy, 95.0);
            counter(one, Metric::ProcessCpu, 200.0);
        }),
        (CauseId::ServerBusy, |one| {
            counter(one, Metric::CpuBusy, 95.0);
            counter(one, Metric::ProcessCpu, 50.0);
            one.server = Some(ServerResult {
                cpu_percent: Some(250.0),
                ..ServerResult::default()
            });
        }),
        (CauseId::HostBusy, |one| {
            counter(one, Metric::CpuBusy, 95.0);
            counter(one, Metric::ProcessCpu, 100.0);
        }),
        (CauseId::CpuSteal, |one| {
            counter(one, Metric::CpuSteal, 10.0);
        }),
        (CauseId::RunQueue, |one| {
            counter(one, Metric::RunQueueDelay, 25.0);
            counter(one, Metric::ProcessCpu, 50.0);
        }),
        (CauseId::ThreadBusy, |one| {
            counter(one, Metric::BusiestThread, 95.0);
        }),
        (CauseId::Swapping, |one| {
            counter(one, Metric::Swap, 1_048_576.0);
        }),
        (CauseId::MemoryPressure, |one| {
            counter(one, Metric::MemoryPressure, 10.0);
        }),
        (CauseId::ServerNotAvailable, |one| {
            outages::down(one, &[OutageCause::Command]);
        }),
        (CauseId::LockWaits, |one| {
            server(one, &[(WaitClass::Locks, 45.0), (WaitClass::Storage, 30.0)]);
        }),
        (CauseId::FewStorageWaits, |one| {
            server(one, &[(WaitClass::Cpu, 71.0), (WaitClass::Storage, 29.0)]);
            one.checks = vec![mix::slow_transactions()];
        }),
        (CauseId::AboveDevice, |one| {
            one.host.devices[0].average_read_ms = Some(7.4);
        }),
        (CauseId::WrongMix, |one| {
            one.checks = vec![mix::share("buy", 1.7)];
        }),
    ];
    let cases: Vec<_> = cases.into_iter().chain(search::CASES).collect();
    for &(id, change) in &cases {
        let mut result = slow();
        change(&mut result);
        assert_eq!(causes(result), (Verdict::Inconclusive, vec![id]), "{id:?}");
    }
    let is_tested = |rule: &Rule| cases.iter().any(|&(id, _)| id == rule.id);
    assert!(RULES.iter().all(is_tested));
}

#[test]
fn just_below_its_bound_no_cause_holds() {
    let cases: [Change; 12] = [
        |one| one.samples.count = 5,
        |one| figures(one, Stream::DatabaseRead, 100, 25.0),
        |one| one.throughput.cache_fill_fraction = Some(0.9),
        |one| one.throughput.cache_size_fraction = Some(0.9),
        |one| counter(one, Metric::LongestPause, 999.0),
        |one| {
            counter(one, Metric::CpuBusy, 89.9);
            counter(one, Metric::ProcessCpu, 300.0);
        },
        |one| counter(one, Metric::CpuSteal, 9.9),
        |one| {
            counter(one, Metric::RunQueueDelay, 49.0);
            counter(one, Metric::ProcessCpu, 100.0);
        },
        |one| counter(one, Metric::Swap, 1e6),
        |one| counter(one, Metric::MemoryPressure, 9.9),
        |one| server(one, &[(WaitClass::Locks, 35.0), (WaitClass::Storage, 36.0)]),
        |one| one.host.devices[0].average_read_ms = Some(7.6),
    ];
    for (number, change) in cases.into_iter().enumerate() {
        let mut result = slow();
        change(&mut result);
        assert_eq!(causes(result), (Verdict::Fail, vec![]), "case {number}");
    }
}

#[test]
fn a_device_that_accounts_for_the_latency_fails_whatever_the_host_did() {
    let mut result = slow();
    result.host.devices[0].average_read_ms = Some(15.0);
    counter(&mut result, Metric::CpuBusy, 100.0);
    counter(&mut result, Metric::ProcessCpu, 400.0);
    counter(&mut result, Metric::LongestPause, 5_000.0);
    assert_eq!(causes(result.clone()), (Verdict::Fail, vec![]));
    // A pause shows in the highest samples, which the average of a device hides.
    result.checks = vec![check(CheckId::DatabaseReadMax, 100.0, 900.0)];
    let expected = (Verdict::Inconclusive, vec![CauseId::Paused]);
    assert_eq!(causes(result.clone()), expected);
    // In an average a pause shows only if it is long beside the measured phase.
    let mut paused = slow();
    paused.samples.interval_s = 10.0;
    counter(&mut paused, Metric::LongestPause, 9_999.0);
    assert_eq!(causes(paused.clone()), (Verdict::Fail, vec![]));
    paused.host.counters[0].maximum = 10_000.0;
    assert_eq!(causes(paused), expected);
    // One level that stands is enough.
    result
        .checks
        .push(check(CheckId::DatabaseReadAverage, 20.0, 25.0));
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}

#[test]
fn log_writes_are_several_requests_of_a_device() {
    let mut result = slow();
    result.checks = vec![check(CheckId::LogWriteAverage, 0.5, 1.0)];
    counter(&mut result, Metric::CpuSteal, 50.0);
    figures(&mut result, Stream::LogWrite, 10_000, 1.0);
    assert_eq!(causes(result.clone()), (Verdict::Fail, vec![]));
    result.host.devices[0].average_write_ms = Some(0.19);
    let expected = (Verdict::Inconclusive, vec![CauseId::CpuSteal]);
    assert_eq!(causes(result), expected);
}

#[test]
fn a_rate_is_missed_by_a_busy_device_or_by_a_busy_host() {
    let mut result = slow();
    result.checks = vec![Check::of_run(
        CheckId::AchievedIops,
        480.0,
        Some(100.0),
        String::new(),
    )];
    counter(&mut result, Metric::CpuBusy, 99.0);
    counter(&mut result, Metric::ProcessCpu, 390.0);
    let expected = (Verdict::Inconclusive, vec![CauseId::LoadGeneratorBusy]);
    assert_eq!(causes(result.clone()), expected);
    result.host.devices[0].busy_fraction = 0.9;
    assert_eq!(causes(result.clone()), (Verdict::Fail, vec![]));
    result.host.devices[0].busy_fraction = 0.5;
    server(&mut result, &[(WaitClass::Storage, 91.0)]);
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}

#[test]
fn errors_of_data_are_never_in_doubt() {
    for id in [CheckId::HungRequests, CheckId::Downtime] {
        let mut result = slow();
        result.checks = vec![Check::of_run(id, 0.0, Some(1.0), String::new())];
        counter(&mut result, Metric::LongestPause, 5_000.0);
        assert_eq!(causes(result), (Verdict::Fail, vec![]), "{id:?}");
    }
    let mut result = slow();
    result.error_counts = vec![ErrorCount::default()];
    result.set_verdict(Verdict::Error, "A page is bad.");
    counter(&mut result, Metric::LongestPause, 5_000.0);
    assert_eq!(causes(result), (Verdict::Error, vec![]));
}

#[test]
fn each_cache_keeps_a_run_from_passing_unless_it_is_allowed() {
    let cases: [(CauseId, Change); 5] = [
        (CauseId::EngineCache, |one| {
            one.target.engine_cache_bytes = Some(SIZE);
        }),
        (CauseId::HostMemory, |one| {
            server(one, &[]);
            one.target.databases = vec![TargetPath::default()];
            one.host.memory_bytes = SIZE;
        }),
        (CauseId::ArrayCache, |one| {
            one.target.array_cache_bytes = Some(SIZE);
        }),
        (CauseId::FewReadsAtDevice, |one| {
            one.host.devices[0].read_bytes_per_second = 49.0 * 32_768.0;
        }),
        (CauseId::BufferedLoop, |one| {
            one.host.devices[0].buffered_loops = vec!["loop0".to_owned()];
        }),
    ];
    for (id, change) in cases {
        let mut result = passed();
        change(&mut result);
        let expected = (Verdict::Inconclusive, vec![id]);
        assert_eq!(causes(result.clone()), expected, "{id:?}");
        result.target.allow_cached = true;
        assert_eq!(causes(result), (Verdict::Pass, vec![id]), "{id:?}");
    }
    let cases: [Change; 5] = [
        |one| {
            // No target lies on it.
            one.host.devices.push(DeviceResult {
                buffered_loops: vec!["loop0".to_owned()],
                ..DeviceResult::default()
            });
        },
        |one| one.target.engine_cache_bytes = Some(SIZE - 1),
        |one| {
            server(one, &[]);
            one.host.memory_bytes = SIZE;
        },
        |one| one.target.array_cache_bytes = Some(SIZE - 1),
        |one| one.host.devices[0].read_bytes_per_second = 50.0 * 32_768.0,
    ];
    for (number, change) in cases.into_iter().enumerate() {
        let mut result = passed();
        change(&mut result);
        assert_eq!(causes(result), (Verdict::Pass, vec![]), "case {number}");
    }
}

#[test]
fn writes_that_are_not_flushed_are_not_allowed_as_those_to_a_cache() {
    for is_of_logs in [false, true] {
        let mut result = passed();
        let place = TargetPath {
            path: "/mnt".to_owned(),
            unflushed_by: Some("nobarrier".to_owned()),
            ..TargetPath::default()
        };
        match is_of_logs {
            true => result.target.logs = vec![place],
            false => result.target.databases = vec![place],
        }
        // A cache that is allowed changes nothing.
        result.target.engine_cache_bytes = Some(SIZE);
        result.target.allow_cached = true;
        attribute(&mut result);
        assert_eq!(result.verdict, Verdict::Inconclusive);
        let ids: Vec<CauseId> = result.causes.iter().map(|one| one.id).collect();
        assert_eq!(ids, [CauseId::EngineCache, CauseId::NoFlushes]);
        let reason = &result.verdict_reason;
        assert!(
            reason.contains("/mnt is mounted with 'nobarrier'"),
            "{reason}"
        );
    }
}

#[test]
fn a_prediction_has_no_host_to_doubt() {
    let mut result = slow();
    result.kind = RunKind::Prediction;
    counter(&mut result, Metric::LongestPause, 5_000.0);
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}

#[test]
fn every_cause_has_its_condition() {
    let known: Vec<CauseId> = rule_sentences().map(|(id, _)| id).collect();
    let mut missing = CauseId::ALL.iter().filter(|id| !known.contains(id));
    assert_eq!(missing.next(), None);
}
