//! Rules about a database server.

use super::evidence::Evidence;
use crate::display::number::{count, percent};
use crate::result::{Check, CheckId, OutageCause, OutageResult, WaitClass};

/// Sessions that wait for locks, in percent, when fewer wait for storage.
const LOCKS_PERCENT: f64 = 30.0;
/// Transactions are slow by something else when fewer of the busy sessions wait for storage, in percent.
const FEW_STORAGE_WAITS_PERCENT: f64 = 30.0;
/// The same where no wait events are known, when every device was busy for less of the time.
const IDLE_DEVICE: f64 = 0.3;

/// Outages that no storage is the reason for: an outage without a known cause may be one of the storage.
pub(super) fn not_available(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let outages = &evidence.result.server.as_ref()?.outages;
    let first = outages.first()?;
    let explains = match check.id {
        CheckId::Downtime => true,
        CheckId::TransactionRate => reaches_rate_while_up(evidence, check, outages)?,
        CheckId::OperationP90 => waited_for_server(evidence, check, outages)?,
        _ => false,
    };
    let is_known = |one: &OutageResult| one.cause != OutageCause::Other;
    (explains && outages.iter().all(is_known)).then(|| {
        let which = match outages.len() {
            1 => "the outage".to_owned(),
            all => format!("each of {} outages", count(all as u64)),
        };
        format!(
            "{which} of the server began with a command to it, or with all of its connections in use: {}.",
            first.reason.trim_end_matches('.')
        )
    })
}

/// Whether the rate over the time in which the server was up is the one that was required.
fn reaches_rate_while_up(
    evidence: &Evidence<'_>,
    check: &Check,
    outages: &[OutageResult],
) -> Option<bool> {
    let result = evidence.result;
    let down_s: f64 = outages.iter().map(|one| one.measured_s).sum();
    let up_s = result.duration_s - down_s;
    Some(up_s > 0.0 && check.value? * result.duration_s / up_s >= check.limit)
}

/// Whether the transactions that waited for the server in an outage, one of each session at most, can be those
/// that took too long, a tenth or more of their kind.
fn waited_for_server(
    evidence: &Evidence<'_>,
    check: &Check,
    outages: &[OutageResult],
) -> Option<bool> {
    let result = evidence.result;
    let operation = result
        .operations
        .iter()
        .find(|one| one.name == check.subject)?;
    let is_long = |one: &&OutageResult| one.measured_s > 0.0 && one.length_s * 1e3 >= check.limit;
    let waited = result.throughput.threads? * outages.iter().filter(is_long).count() as u64;
    Some(operation.count > 0 && waited * 10 >= operation.count)
}

pub(super) fn lock_waits(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let locks_percent = evidence.waits_percent(WaitClass::Locks);
    let storage_percent = evidence.waits_percent(WaitClass::Storage);
    (locks_percent >= LOCKS_PERCENT && locks_percent > storage_percent).then(|| {
        format!(
            "{locks_percent:.0} % of the busy sessions waited for locks, {storage_percent:.0} % for \
             storage."
        )
    })
}

/// A transaction is more than its I/O: what it took says nothing of storage that it did not wait for.
pub(super) fn few_storage_waits(evidence: &Evidence<'_>, check: &Check) -> Option<String> {
    let result = evidence.result;
    let server = result.server.as_ref()?;
    let is_of_transactions = matches!(check.id, CheckId::OperationP90 | CheckId::TransactionRate);
    if !is_of_transactions {
        return None;
    }
    if !server.waits.is_empty() {
        let storage_percent = evidence.waits_percent(WaitClass::Storage);
        return (storage_percent < FEW_STORAGE_WAITS_PERCENT).then(|| {
            format!(
                "only {storage_percent:.0} % of the busy sessions of the server waited for storage."
            )
        });
    }
    let busiest = result.host.devices.iter().map(|one| one.busy_fraction);
    let busiest = busiest.max_by(f64::total_cmp)?;
    (busiest < IDLE_DEVICE).then(|| {
        format!(
            "the storage was busy for {} % of the time, and the database reports no wait events.",
            percent(busiest)
        )
    })
}
