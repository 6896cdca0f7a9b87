//! What a report warns of, in sentences.

use measure::display::number::percent;
use measure::result::SteadyState;
use measure::steady::SteadyRule;

/// What there is to say of caches that had less than their largest size in the measured phase.
pub(super) fn shrunk_caches(size_fraction: Option<f64>) -> Option<String> {
    let fraction = size_fraction.filter(|fraction| *fraction < 1.0)?;
    Some(format!(
        "Memory was short: in the measured phase a database cache had no more than {} % of its largest size for a time, \
         and more was read from the storage.",
        percent(fraction)
    ))
}

/// That the load was not steady.
pub(super) fn not_steady(steady: &SteadyState, rule: &SteadyRule) -> String {
    format!(
        "The run was not steady: over {} rounds {} has a range of {} % ({} % allowed) and a slope of {} % ({} % \
         allowed) of its mean.",
        rule.fewest_samples(),
        steady.variable,
        percent(steady.range_fraction),
        percent(rule.range_fraction),
        percent(steady.slope_fraction),
        percent(rule.slope_fraction),
    )
}
