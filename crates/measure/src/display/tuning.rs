//! What a search for a load came to, in words.

use super::number::{bounded, quantity};
use crate::metric::Unit;
use crate::result::TuningResult;

/// The outcome in short: the maximum, what stopped the search, the target that was not reached.
/// `None` when a load that reaches the target was found, or nothing was tried.
#[must_use]
pub fn tuning_outcome(tuning: &TuningResult) -> Option<String> {
    if tuning.steps.is_empty() || (!tuning.finds_maximum && !tuning.misses_target()) {
        return None;
    }
    let found = match tuning.maximum_iops {
        Some(maximum) => format!("maximum found {}", quantity(maximum, Unit::Iops)),
        None => "no load that was tried kept every service level".to_owned(),
    };
    let stopped = tuning.stopped_by();
    let stopped = stopped.map_or(String::new(), |what| format!(", stopped by {what}"));
    let missed = tuning.target_iops.filter(|_| tuning.misses_target());
    let missed = missed.map_or(String::new(), |target| {
        format!("; target {} not reached", bounded(target, Unit::Iops))
    });
    Some(format!("{found}{stopped}{missed}"))
}
