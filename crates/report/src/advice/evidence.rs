//! The figures that rules are based on.

use measure::metric::Metric;
use measure::result::{Check, CheckKind, DatabaseResult, IoFigures, RunResult, Scope};

/// The failed check of this kind and scope that is furthest beyond its limit.
pub(super) fn worst_failed(result: &RunResult, kind: CheckKind, scope: Scope) -> Option<&Check> {
    result
        .failed_checks()
        .filter(|check| check.kind() == kind && check.scope() == scope)
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

/// The average of a host counter.
pub(super) fn host_average(result: &RunResult, metric: Metric) -> Option<f64> {
    let counter = result.host.counter(metric)?;
    Some(counter.average).filter(|value| value.is_finite())
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
