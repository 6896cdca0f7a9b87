//! Whether it was the storage: before a run fails by a level that was not met, the figures must show
//! that the storage was the reason; before it passes, that it measured storage and not a cache.
//!
//! [`attribute`] works on a result document alone, so the verdict of a run can be worked out again
//! from what the run left behind. Each rule is a line of data in [`rules`]: what must hold, a sentence
//! with the figures, and a remedy. [`evidence`] has the figures that several rules need, [`cpu`] those about
//! busy CPUs, [`server`] those about a database server, [`other_io`] the one about other programs at the
//! devices, [`placement`] the one about files of a server on another storage, [`cached`] the rules about caches.
//!
//! - A level that was not met is **in doubt** when a rule holds that explains it without the storage. A
//!   rule about the host does not hold against a device that accounts for most of the latency
//!   ([`evidence::DEVICE_SHARE`]) in the same samples.
//! - When every level that was not met is in doubt, the run is inconclusive. When one of them is not,
//!   the run fails.
//! - A run that met its levels and was not steady stays inconclusive. Where the host was short of CPU or
//!   memory, that is named first, unless a device was busy all the time.
//! - A prediction on a calibrated array is inconclusive where its verdict depends on a limit that lies within
//!   an error bar ([`calibrated`]).
//! - A run that passes on data that fits a cache is inconclusive, unless that is allowed.
//! - A run of a database server that has files on another storage is inconclusive.

mod cached;
mod caches;
mod calibrated;
mod cpu;
mod evidence;
mod other_io;
mod placement;
mod rules;
mod server;
#[cfg(test)]
mod tests;

pub use other_io::other_io_at_devices;
pub use rules::{PAUSE_MS, PAUSE_SHARE, few_requests, rule_sentences};

use crate::display::number::count;
use crate::result::{Cause, CauseId, Check, CheckId, CheckKind, RunKind, RunResult, Verdict};
use evidence::Evidence;
use rules::{RULES, Rule, is_of_host};

/// Attributes what was measured on real storage: enters the causes, and makes the verdict inconclusive
/// where they leave it in doubt. Predictions have no host that could be the reason, but a load that may
/// not be the one asked for.
pub fn attribute(result: &mut RunResult) {
    result.causes.clear();
    if !result.kind.is_of_workload() || !result.complete || !result.has_measured_phase() {
        return;
    }
    let is_real = result.kind == RunKind::Run;
    match result.verdict {
        Verdict::Fail => attribute_failure(result),
        _ if !is_real => {}
        Verdict::Pass => {
            cached::attribute_success(result);
            placement::attribute_placement(result);
        }
        Verdict::Inconclusive => {
            attribute_doubt(result);
            placement::attribute_placement(result);
        }
        _ => {}
    }
    calibrated::attribute_calibrated(result);
}

fn attribute_failure(result: &mut RunResult) {
    let mut causes: Vec<Cause> = Vec::new();
    for check in result.failed_checks() {
        let explanations = explanations(result, check);
        if explanations.is_empty() {
            return;
        }
        for cause in explanations {
            if !causes.iter().any(|known| known.id == cause.id) {
                causes.push(cause);
            }
        }
    }
    let Some(first) = causes.first() else {
        return;
    };
    let reason = format!(
        "{} The figures do not show that it was the storage: {} {}",
        result.verdict_reason, first.text, first.remedy
    );
    result.set_verdict(Verdict::Inconclusive, reason);
    result.causes = causes;
}

/// Names what has kept a run without a missed level from a verdict: too few samples, or the state of the host,
/// which may have kept it from being steady.
fn attribute_doubt(result: &mut RunResult) {
    let evidence = Evidence::of(result);
    // The rate is what has to be steady, so it is judged as one that was missed.
    let rate = Check {
        id: CheckId::AchievedIops,
        ..Check::default()
    };
    let mut causes = causes_in(&evidence, &rate);
    // The reason of the verdict says it already.
    if causes
        .iter()
        .any(|cause| cause.id == CauseId::TooFewSamples)
    {
        causes.retain(|cause| cause.id == CauseId::TooFewSamples);
        result.causes = causes;
        return;
    }
    if evidence.missed_steady_state().is_none() {
        return;
    }
    // None of these holds against a device that was busy all the time.
    causes.retain(|cause| is_of_host(cause.id));
    let Some(first) = causes.first() else {
        return;
    };
    let reason = format!(
        "The host may have disturbed the run: {} {} {}",
        first.text, first.remedy, result.verdict_reason
    );
    result.set_verdict(Verdict::Inconclusive, reason);
    result.causes = causes;
}

/// What explains a level that was not met without the storage; empty when it stands.
fn explanations(result: &RunResult, check: &Check) -> Vec<Cause> {
    if check.slow_samples.is_empty() {
        return causes_in(&Evidence::of(result), check);
    }
    let whole = Evidence::of(result);
    let allowed = whole.number("service_levels.allowed_maximum_violations");
    causes_in_samples(result, check, allowed.unwrap_or(0.0))
}

/// The same of a level of samples: each sample above the limit is explained by what was seen in that
/// sample. The level stands when more of them than allowed have no explanation.
fn causes_in_samples(result: &RunResult, check: &Check, allowed: f64) -> Vec<Cause> {
    let mut causes: Vec<(Cause, u64, f64)> = Vec::new();
    let mut without = 0u64;
    for sample in &check.slow_samples {
        let found = causes_in(&Evidence::of_sample(result, sample), check);
        without += u64::from(found.is_empty());
        for cause in found {
            match causes.iter_mut().find(|(known, ..)| known.id == cause.id) {
                Some((_, samples, _)) => *samples += 1,
                None => causes.push((cause, 1, sample.begins_s)),
            }
        }
    }
    // Where not all are listed, the others count like those that are.
    let listed = check.slow_samples.len() as f64;
    let share = (check.samples_above as f64 / listed).max(1.0);
    if without as f64 * share > allowed {
        return Vec::new();
    }
    causes.sort_by_key(|(_, samples, _)| std::cmp::Reverse(*samples));
    let slow = match check.slow_samples.len() as u64 {
        listed if listed < check.samples_above => format!("the {} slowest", count(listed)),
        listed => count(listed),
    };
    let text = |(cause, samples, begins_s): (Cause, u64, f64)| Cause {
        text: format!(
            "in {} of {slow} samples above the limit, the first of them {begins_s:.0} s after the start \
             of the run: {}",
            count(samples),
            cause.text
        ),
        ..cause
    };
    causes.into_iter().map(text).collect()
}

/// The rules that hold.
fn causes_in(evidence: &Evidence<'_>, check: &Check) -> Vec<Cause> {
    let is_real = evidence.result.kind == RunKind::Run;
    let may_apply: fn(&Rule) -> bool = match check.kind() {
        CheckKind::Mix => |rule| matches!(rule.id, CauseId::WrongMix | CauseId::LockWaits),
        CheckKind::Service => |rule| rule.id == CauseId::ServerNotAvailable,
        CheckKind::Completion | CheckKind::Integrity => |_| false,
        _ if !is_real => |_| false,
        CheckKind::Latency
        | CheckKind::Percentile
        | CheckKind::Spike
        | CheckKind::Throughput
        | CheckKind::Resource => |_| true,
    };
    let storage_is_shown = evidence.shows_storage(check);
    let holding = RULES
        .iter()
        .filter(|rule| may_apply(rule))
        .filter_map(|rule| {
            if storage_is_shown && !(rule.holds_against_device)(check) {
                return None;
            }
            Some(Cause {
                id: rule.id,
                text: (rule.seen)(evidence, check)?,
                remedy: rule.remedy.to_owned(),
            })
        });
    holding.collect()
}
