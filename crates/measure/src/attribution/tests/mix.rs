//! Levels of the transactions of a brokerage: their mix, and how long they take.

use super::*;

/// The share of an operation that may differ by a percentage point.
pub(super) fn share(operation: &str, points: f64) -> Check {
    let check = Check::of_run(CheckId::MixDeviation, 1.0, Some(points), String::new());
    check.about(&format!("share of {operation}"))
}

/// Transactions that took longer than they may.
pub(super) fn slow_transactions() -> Check {
    let check = Check::of_run(CheckId::OperationP90, 500.0, Some(900.0), String::new());
    check.about("trade-order")
}

/// What became of a run that missed its mix and its response times, with sessions of the server that waited for
/// these; none are known of a database without wait events.
fn missed_both(
    waits: Option<&[(WaitClass, f64)]>,
    change: fn(&mut RunResult),
) -> (Verdict, Vec<CauseId>) {
    let mut result = slow();
    server(&mut result, waits.unwrap_or_default());
    result.checks = vec![slow_transactions(), share("buy", 1.7)];
    change(&mut result);
    causes(result)
}

#[test]
fn slow_transactions_beside_a_wrong_mix_fail_a_run_only_where_they_waited_for_storage() {
    use CauseId::{FewStorageWaits, HostBusy, WrongMix};
    let busy = |result: &mut RunResult| {
        counter(result, Metric::CpuBusy, 95.0);
        counter(result, Metric::ProcessCpu, 100.0);
    };
    let idle = |result: &mut RunResult| result.host.devices[0].busy_fraction = 0.29;
    let open = |causes: &[CauseId]| (Verdict::Inconclusive, causes.to_vec());
    let fail = (Verdict::Fail, vec![]);
    let waits = |storage| {
        [
            (WaitClass::Storage, storage),
            (WaitClass::Cpu, 100.0 - storage),
        ]
    };
    // A busy host, and then one that is busy to a part.
    assert_eq!(
        missed_both(Some(&waits(29.0)), busy),
        open(&[HostBusy, FewStorageWaits, WrongMix])
    );
    assert_eq!(
        missed_both(Some(&waits(30.0)), busy),
        open(&[HostBusy, WrongMix])
    );
    assert_eq!(
        missed_both(Some(&waits(29.0)), |_| ()),
        open(&[FewStorageWaits, WrongMix])
    );
    // Most of them waited for storage, however busy the host was.
    assert_eq!(missed_both(Some(&waits(50.0)), busy), fail);
    assert_eq!(missed_both(Some(&waits(30.0)), |_| ()), fail);
    // Without wait events a device that did little shows it.
    assert_eq!(missed_both(None, busy), open(&[HostBusy, WrongMix]));
    assert_eq!(missed_both(None, idle), open(&[FewStorageWaits, WrongMix]));
    assert_eq!(
        missed_both(None, |one| one.host.devices[0].busy_fraction = 0.3),
        fail
    );
    assert_eq!(missed_both(None, |one| one.host.devices.clear()), fail);
}

#[test]
fn a_wrong_mix_says_nothing_of_the_storage_whatever_the_device_did() {
    let mut result = slow();
    result.checks = vec![share("buy", 1.7), share("sell", 2.0), share("look", 0.5)];
    result.host.devices[0].busy_fraction = 1.0;
    server(&mut result, &[(WaitClass::Storage, 100.0)]);
    attribute(&mut result);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    let texts: Vec<&str> = result.causes.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        texts,
        ["the share of sell differed from the profile by 2.00 percentage points (allowed: 1)."]
    );
    // The mix of a prediction is not the one asked for either.
    result.kind = RunKind::Prediction;
    result.set_verdict(Verdict::Fail, "");
    assert_eq!(causes(result.clone()).0, Verdict::Inconclusive);
    // A level that the storage has missed stands beside it.
    result.kind = RunKind::Run;
    result.set_verdict(Verdict::Fail, "");
    result
        .checks
        .push(check(CheckId::DatabaseReadAverage, 20.0, 25.0));
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}

/// A lock that another client holds keeps the transactions that need it from their share.
#[test]
fn a_mix_that_locks_have_changed_names_the_locks() {
    let mut result = slow();
    server(
        &mut result,
        &[(WaitClass::Locks, 60.0), (WaitClass::Storage, 10.0)],
    );
    result.checks = vec![share("buy", 1.7)];
    let both = vec![CauseId::LockWaits, CauseId::WrongMix];
    assert_eq!(causes(result), (Verdict::Inconclusive, both));
}
