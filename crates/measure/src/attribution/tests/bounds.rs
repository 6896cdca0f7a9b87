//! What lies exactly at a bound, and which levels a cause is not for.

use super::*;

fn with(change: impl Fn(&mut RunResult)) -> (Verdict, Vec<CauseId>) {
    let mut result = slow();
    change(&mut result);
    causes(result)
}

fn unexplained() -> (Verdict, Vec<CauseId>) {
    (Verdict::Fail, vec![])
}

#[test]
fn each_kind_of_level_needs_requests_of_its_own() {
    for (id, fewest) in [
        (CheckId::DatabaseReadAverage, 100),
        (CheckId::DatabaseReadP99, 1_000),
        // Ten for each sample.
        (CheckId::DatabaseReadMax, 300),
    ] {
        let with_requests = |requests| {
            with(|one| {
                one.samples.count = 30;
                figures(one, Stream::DatabaseRead, requests, 25.0);
                one.checks = vec![check(id, 20.0, 25.0)];
            })
        };
        let too_few = (Verdict::Inconclusive, vec![CauseId::TooFewRequests]);
        assert_eq!(with_requests(fewest - 1), too_few, "{id:?}");
        assert_eq!(with_requests(fewest), unexplained(), "{id:?}");
    }
}

#[test]
fn half_of_the_cpus_is_most_of_them() {
    let busy = with(|one| {
        counter(one, Metric::CpuBusy, 95.0);
        // 95 % of four CPUs are 380 % of one.
        counter(one, Metric::ProcessCpu, 190.0);
        server(one, &[]);
        if let Some(server) = &mut one.server {
            server.cpu_percent = Some(190.0);
        }
    });
    let expected = (Verdict::Inconclusive, vec![CauseId::LoadGeneratorBusy]);
    assert_eq!(busy, expected);
}

#[test]
fn as_many_waits_for_storage_as_for_locks_explain_nothing() {
    let equal = with(|one| server(one, &[(WaitClass::Locks, 35.0), (WaitClass::Storage, 35.0)]));
    assert_eq!(equal, unexplained());
}

#[test]
fn requests_wait_above_a_device_of_databases_only() {
    // 30 % of 25 ms.
    let at_the_bound = with(|one| one.host.devices[0].average_read_ms = Some(7.5));
    assert_eq!(at_the_bound, unexplained());
    let stalls = with(|one| {
        one.host.devices[0].average_read_ms = Some(1.0);
        one.checks = vec![check(CheckId::PageFaultStalls, 1.0, 5.0)];
    });
    assert_eq!(stalls, unexplained());
    let log_writes = with(|one| {
        one.checks = vec![check(CheckId::LogWriteAverage, 0.5, 1.0)];
        figures(one, Stream::LogWrite, 10_000, 1.0);
        one.host.devices[0].average_write_ms = Some(0.05);
    });
    assert_eq!(log_writes, unexplained());
}

#[test]
fn sentences_name_numbers_and_programs() {
    let text = |change: &dyn Fn(&mut RunResult)| {
        let mut result = slow();
        change(&mut result);
        attribute(&mut result);
        let texts: Vec<String> = result.causes.into_iter().map(|one| one.text).collect();
        texts.join(" ")
    };
    let samples = text(&|one| one.samples.count = 1);
    assert!(
        samples.contains("only 1 sample was taken and 5"),
        "{samples}"
    );
    let samples = text(&|one| one.samples.count = 2);
    assert!(
        samples.contains("only 2 samples were taken and 5"),
        "{samples}"
    );
    let busy = |server_percent: Option<f64>| {
        text(&|one| {
            counter(one, Metric::CpuBusy, 95.0);
            counter(one, Metric::ProcessCpu, 38.0);
            server(one, &[]);
            if let Some(server) = &mut one.server {
                server.cpu_percent = server_percent;
            }
        })
    };
    let unknown = busy(None);
    assert!(
        unknown.contains("most of it with the database server or other programs"),
        "{unknown}"
    );
    let idle = busy(Some(38.0));
    assert!(
        idle.contains("95 % busy, most of it with other programs"),
        "{idle}"
    );
    let server = busy(Some(285.0));
    assert!(
        server.contains("75.0 % of it with the database server"),
        "{server}"
    );
}

/// A device with several requests at once is busy all the time and may have room for more.
#[test]
fn a_thread_without_time_explains_a_rate_beside_a_busy_device() {
    let busy = |id: CheckId, (limit, value): (f64, f64), percent: f64| {
        with(|one| {
            counter(one, Metric::BusiestThread, percent);
            (
                one.host.devices[0].busy_fraction,
                one.host.devices[0].average_read_ms,
            ) = (1.0, Some(20.0));
            one.checks = vec![check(id, limit, value)];
        })
    };
    let expected = (Verdict::Inconclusive, vec![CauseId::ThreadBusy]);
    let rate = (5_000.0, 900.0);
    assert_eq!(busy(CheckId::AchievedIops, rate, 95.0), expected);
    assert_eq!(busy(CheckId::AchievedIops, rate, 94.9), unexplained());
    let latency = busy(CheckId::DatabaseReadAverage, (20.0, 25.0), 100.0);
    assert_eq!(latency, unexplained());
}
