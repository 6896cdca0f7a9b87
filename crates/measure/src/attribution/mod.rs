//! Whether it was the storage: before a run fails by a level that was not met, the figures must show
//! that the storage was the reason; before it passes, that it measured storage and not a cache.
//!
//! [`attribute`] works on a result document alone, so the verdict of a run can be worked out again
//! from what the run left behind. Each rule is a line of data in [`rules`]: what must hold, a sentence
//! with the figures, and a remedy. [`evidence`] has the figures that several rules need, [`cached`] the
//! rules about caches.
//!
//! - A level that was not met is **in doubt** when a rule holds that explains it without the storage. A
//!   rule about the host does not hold against a device that accounts for most of the latency
//!   ([`evidence::DEVICE_SHARE`]) in the same samples.
//! - When every level that was not met is in doubt, the run is inconclusive. When one of them is not,
//!   the run fails.
//! - A run that passes on data that fits a cache is inconclusive, unless that is allowed.

mod cached;
mod evidence;
mod rules;
#[cfg(test)]
mod tests;

pub use rules::rule_sentences;

use crate::result::{Cause, Check, CheckKind, RunKind, RunResult, Verdict};
use evidence::Evidence;
use rules::RULES;

/// Attributes what was measured on real storage: enters the causes, and makes the verdict inconclusive
/// where they leave it in doubt. Predictions have no host that could be the reason.
pub fn attribute(result: &mut RunResult) {
    result.causes.clear();
    if result.kind != RunKind::Run || !result.complete {
        return;
    }
    match result.verdict {
        Verdict::Fail => attribute_failure(result),
        Verdict::Pass => cached::attribute_success(result),
        _ => {}
    }
}

fn attribute_failure(result: &mut RunResult) {
    let evidence = Evidence::of(result);
    let mut causes: Vec<Cause> = Vec::new();
    for check in result.failed_checks() {
        let doubts = doubts(&evidence, check);
        if doubts.is_empty() {
            return;
        }
        for cause in doubts {
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

/// What explains a level that was not met without the storage.
fn doubts(evidence: &Evidence<'_>, check: &Check) -> Vec<Cause> {
    let of_speed = matches!(
        check.kind(),
        CheckKind::Latency
            | CheckKind::Percentile
            | CheckKind::Spike
            | CheckKind::Throughput
            | CheckKind::Resource
    );
    if !of_speed {
        return Vec::new();
    }
    let storage_is_shown = evidence.shows_storage(check);
    let holding = RULES.iter().filter_map(|rule| {
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
