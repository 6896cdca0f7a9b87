//! The figures that rules look at.

use measure::result::{
    Check, CheckKind, DatabaseResult, DeviceResult, IoFigures, RunResult, Scope,
};

use crate::limits::is_percentile;

/// The failed check of this kind and scope that is furthest beyond its limit; percentiles are
/// left to [`worst_failed_percentile`].
pub(super) fn worst_failed(result: &RunResult, kind: CheckKind, scope: Scope) -> Option<&Check> {
    result
        .failed_checks()
        .filter(|check| check.kind == kind && check.scope == scope && !is_percentile(check))
        .max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// The failed percentile check of this scope that is furthest beyond its limit.
pub(super) fn worst_failed_percentile(result: &RunResult, scope: Scope) -> Option<&Check> {
    result
        .failed_checks()
        .filter(|check| check.scope == scope && is_percentile(check))
        .max_by(|a, b| a.value.unwrap_or(0.0).total_cmp(&b.value.unwrap_or(0.0)))
}

/// Whether any latency or spike check of this scope failed.
pub(super) fn latency_failed(result: &RunResult, scope: Scope) -> bool {
    worst_failed(result, CheckKind::Latency, scope).is_some()
        || worst_failed(result, CheckKind::Spike, scope).is_some()
}

/// The database with this name; the only one when there is just one.
pub(super) fn database<'a>(result: &'a RunResult, name: &str) -> Option<&'a DatabaseResult> {
    let named = result
        .databases
        .iter()
        .find(|database| database.name == name);
    named.or(if let [only] = &result.databases[..] {
        Some(only)
    } else {
        None
    })
}

/// The block device under a path: the one whose target is the longest beginning of the path.
pub(super) fn device_under<'a>(result: &'a RunResult, path: &str) -> Option<&'a DeviceResult> {
    let length = |device: &DeviceResult| {
        let targets = device
            .targets
            .iter()
            .filter(|target| path.starts_with(target.as_str()));
        targets.map(String::len).max()
    };
    let devices = result.host.devices.iter();
    devices
        .filter_map(|device| Some((length(device)?, device)))
        .max_by_key(|pair| pair.0)
        .map(|p| p.1)
}

/// Average processor time of the host in percent.
pub(super) fn processor_percent(result: &RunResult) -> Option<f64> {
    let counters = result.host.counters.iter();
    let mut found = counters.filter(|counter| {
        let name = counter.name.to_lowercase();
        (name.contains("processor") || name.contains("cpu")) && counter.unit.contains('%')
    });
    found
        .next()
        .map(|counter| counter.average)
        .filter(|value| value.is_finite())
}

/// Average processor time of the run's own process, in percent of one processor.
pub(super) fn own_processor_percent(result: &RunResult) -> Option<f64> {
    let mut counters = result.host.counters.iter();
    let found = counters.find(|counter| counter.name == "processor time of this process");
    found
        .map(|counter| counter.average)
        .filter(|value| value.is_finite())
}

/// Average latency in milliseconds.
pub(super) fn average_ms(figures: &IoFigures) -> Option<f64> {
    figures
        .latency
        .map(|latency| latency.average_ms)
        .filter(|value| value.is_finite())
}

/// The value in the middle of a list.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.retain(|value| value.is_finite());
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied()
}
