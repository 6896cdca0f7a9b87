//! What each rule needs besides its bound, and what it leaves alone.

use super::mix::{share, slow_transactions};
use super::*;
use crate::result::{ArrayResult, SearchEnd, TestKind, TuningResult};

fn with(change: Change) -> (Verdict, Vec<CauseId>) {
    let mut result = slow();
    change(&mut result);
    causes(result)
}

fn passing(change: Change) -> (Verdict, Vec<CauseId>) {
    let mut result = passed();
    change(&mut result);
    causes(result)
}

fn open(id: CauseId) -> (Verdict, Vec<CauseId>) {
    (Verdict::Inconclusive, vec![id])
}

const FAIL: (Verdict, Vec<CauseId>) = (Verdict::Fail, vec![]);
const PASS: (Verdict, Vec<CauseId>) = (Verdict::Pass, vec![]);

/// Other programs keep the CPUs busy.
fn busy(result: &mut RunResult) {
    counter(result, Metric::CpuBusy, 90.0);
    counter(result, Metric::ProcessCpu, 100.0);
}

#[test]
fn only_complete_runs_of_a_workload_have_causes() {
    assert_eq!(with(busy), open(CauseId::HostBusy), "exactly at the bound");
    let unknown = with(|one| {
        counter(one, Metric::CpuBusy, 95.0);
        counter(one, Metric::ProcessCpu, f64::NAN);
    });
    assert_eq!(unknown, FAIL);
    let changes: [Change; 6] = [
        |one| one.complete = false,
        |one| one.tests = vec![TestKind::Backup],
        |one| {
            one.kind = RunKind::Trace;
            one.checks = vec![share("buy", 1.7)];
        },
        // Not everything is a matter of speed.
        |one| one.checks = vec![check(CheckId::BackupRead, 100.0, 99.0)],
        |one| one.checks = vec![check(CheckId::Downtime, 0.0, 5.0)],
        |one| one.checks = vec![check(CheckId::Errors, 0.0, 5.0)],
    ];
    for change in changes {
        let mut result = slow();
        busy(&mut result);
        change(&mut result);
        assert_eq!(causes(result), FAIL);
    }
    let predicted = passing(|one| {
        one.kind = RunKind::Prediction;
        one.array = Some(ArrayResult::default());
        one.target.engine_cache_bytes = Some(SIZE);
    });
    assert_eq!(predicted, PASS);
}

#[test]
fn the_host_is_named_for_an_unsteady_run_only_where_no_device_was_busy() {
    let unsteady = |busy_fraction| {
        let mut result = passed();
        busy(&mut result);
        result.host.devices[0].busy_fraction = busy_fraction;
        result.steady_state = Some(SteadyState {
            steady: Some(false),
            ..SteadyState::default()
        });
        result.set_verdict(Verdict::Inconclusive, "No steady state.");
        causes(result)
    };
    assert_eq!(unsteady(0.89), open(CauseId::HostBusy));
    assert_eq!(unsteady(0.9), (Verdict::Inconclusive, vec![]));
    for steady in [Some(true), None] {
        let mut result = slow();
        result.steady_state = Some(SteadyState {
            steady,
            ..SteadyState::default()
        });
        assert_eq!(causes(result), FAIL, "{steady:?}");
    }
}

#[test]
fn a_latency_is_compared_with_the_device_below_it() {
    // Nothing was read, so a device accounts for nothing.
    let nothing = with(|one| {
        busy(one);
        figures(one, Stream::DatabaseRead, 100_000, 0.0);
    });
    assert_eq!(nothing, open(CauseId::HostBusy));
    // The only database is that of a check of another name.
    let elsewhere = with(|one| {
        figures(one, Stream::DatabaseRead, 99, 25.0);
        one.checks[0].place = "all".to_owned();
    });
    assert_eq!(elsewhere, open(CauseId::TooFewRequests));
    // Logs lie on a device of their own, whose writes are slow.
    let logs = |one: &mut RunResult| {
        busy(one);
        one.checks = vec![check(CheckId::LogWriteAverage, 0.5, 1.0)];
        figures(one, Stream::LogWrite, 10_000, 1.0);
        let device = DeviceResult {
            name: "sdb".to_owned(),
            targets: vec!["/logs".to_owned()],
            average_write_ms: Some(0.9),
            ..DeviceResult::default()
        };
        one.host.devices.push(device);
        one.host.devices[0].average_write_ms = Some(0.01);
        one.databases[0].log_path = "/logs/db1".to_owned();
    };
    assert_eq!(with(logs), FAIL);
    // In a single sample as well.
    let mut result = slow();
    logs(&mut result);
    let number = |name: Metric, value: f64| (name.id().into_owned(), value);
    let sample = SlowSample {
        requests: 100,
        average_ms: 20.0,
        host: [(Metric::CpuBusy, 95.0), (Metric::ProcessCpu, 100.0)]
            .map(|(metric, value)| number(metric, value))
            .into(),
        devices: [(
            "sdb".to_owned(),
            [number(Metric::DeviceWriteAverage, 18.0)].into(),
        )]
        .into(),
        ..SlowSample::default()
    };
    result.checks = vec![Check {
        samples_above: 1,
        slow_samples: vec![sample],
        ..check(CheckId::LogWriteMax, 10.0, 20.0)
    }];
    assert_eq!(causes(result), FAIL);
}

#[test]
fn a_cache_is_one_that_holds_data_of_this_run() {
    let empty = passing(|one| {
        one.totals.size_end_bytes = 0;
        one.target.engine_cache_bytes = Some(SIZE);
    });
    assert_eq!(empty, PASS);
    // The memory of the host caches for a server only.
    let without_server = passing(|one| {
        one.host.memory_bytes = SIZE;
        one.target.databases = vec![TargetPath::default()];
    });
    assert_eq!(without_server, PASS);
    let server_on_host = |one: &mut RunResult| {
        server(one, &[]);
        one.target.databases = vec![TargetPath::default()];
    };
    let mut result = passed();
    server_on_host(&mut result);
    result.host.memory_bytes = SIZE;
    // That which the load has written by itself is not its size.
    result.totals.size_end_bytes = 2 * SIZE;
    assert_eq!(causes(result), open(CauseId::HostMemory));
    // Few reads at the device: not of a server, nor where no device is known.
    let few = |one: &mut RunResult| one.host.devices[0].read_bytes_per_second = 1_000.0;
    assert_eq!(passing(few), open(CauseId::FewReadsAtDevice));
    let of_server = passing(|one| {
        one.host.devices[0].read_bytes_per_second = 1_000.0;
        server(one, &[]);
    });
    assert_eq!(of_server, PASS);
    assert_eq!(passing(|one| one.host.devices.clear()), PASS);
    let of_others = passing(|one| {
        one.host.devices[0].read_bytes_per_second = 1_000.0;
        one.host.devices.push(DeviceResult {
            name: "sdb".to_owned(),
            read_bytes_per_second: 1e9,
            ..DeviceResult::default()
        });
    });
    assert_eq!(of_others, open(CauseId::FewReadsAtDevice));
}

#[test]
fn a_pause_of_a_second_shows_in_single_requests() {
    let paused = |id: CheckId, samples: u64| {
        let mut result = slow();
        // The device accounts for the latency.
        result.host.devices[0].average_read_ms = Some(24.0);
        (result.samples.count, result.samples.interval_s) = (samples, 15.0);
        figures(&mut result, Stream::DatabaseRead, 1_000_000, 25.0);
        counter(&mut result, Metric::LongestPause, 1_000.0);
        result.checks = vec![check(id, 20.0, 25.0)];
        causes(result)
    };
    for id in [CheckId::DatabaseReadP99, CheckId::DatabaseReadMax] {
        assert_eq!(paused(id, 100), open(CauseId::Paused), "{id:?}");
    }
    assert_eq!(paused(CheckId::DatabaseReadAverage, 100), FAIL);
}

#[test]
fn few_database_reads_say_nothing_of_transactions() {
    let few = with(|one| {
        figures(one, Stream::DatabaseRead, 10, 25.0);
        one.checks = vec![slow_transactions()];
    });
    assert_eq!(few, FAIL);
}

/// A search that was ended by something else than the storage, and missed its target.
fn search(change: impl Fn(&mut TuningResult), id: CheckId) -> (Verdict, Vec<CauseId>) {
    let mut result = slow();
    let (limit, value) = match id {
        CheckId::AchievedIops => (5_000.0, 900.0),
        _ => (20.0, 25.0),
    };
    result.checks = vec![check(id, limit, value)];
    let mut tuning = TuningResult {
        target_iops: Some(5_000.0),
        maximum_iops: Some(900.0),
        ended: SearchEnd::Time,
        ..TuningResult::default()
    };
    change(&mut tuning);
    result.tuning = Some(tuning);
    causes(result)
}

#[test]
fn a_search_is_the_reason_where_it_ended_before_the_storage_did() {
    let rate = CheckId::AchievedIops;
    let limit = open(CauseId::SearchLimit);
    assert_eq!(search(|_| (), rate), limit);
    assert_eq!(search(|_| (), CheckId::DatabaseReadAverage), FAIL);
    assert_eq!(search(|one| one.reached = true, rate), FAIL);
    let by_level = |id| {
        search(
            move |one| {
                one.ended = SearchEnd::ServiceLevel;
                one.stopped_by = Some(id);
            },
            rate,
        )
    };
    assert_eq!(by_level(CheckId::PageFaultStalls), limit);
    assert_eq!(by_level(CheckId::DatabaseReadAverage), FAIL);
}

#[test]
fn a_maximum_is_not_held_where_a_search_has_chosen_it() {
    let held = |change: fn(&mut TuningResult)| {
        let mut result = slow();
        result.throughput.rate_iops = Some(900.0);
        let mut tuning = TuningResult {
            finds_maximum: true,
            maximum_iops: Some(900.0),
            ..TuningResult::default()
        };
        change(&mut tuning);
        result.tuning = Some(tuning);
        causes(result)
    };
    assert_eq!(held(|_| ()), open(CauseId::MaximumNotHeld));
    assert_eq!(held(|one| one.finds_maximum = false), FAIL);
    assert_eq!(held(|one| one.maximum_iops = None), FAIL);
    // Somebody asked for more.
    assert_eq!(held(|one| one.target_iops = Some(5_000.0)), FAIL);
}

#[test]
fn what_lies_exactly_at_a_bound_holds() {
    let half = with(|one| {
        counter(one, Metric::CpuBusy, 95.0);
        counter(one, Metric::ProcessCpu, 100.0);
        server(one, &[]);
        if let Some(server) = &mut one.server {
            server.cpu_percent = Some(190.0);
        }
    });
    assert_eq!(half, open(CauseId::ServerBusy));
    let locks = with(|one| server(one, &[(WaitClass::Locks, 30.0), (WaitClass::Storage, 10.0)]));
    assert_eq!(locks, open(CauseId::LockWaits));
}
