//! Rules about the caches of the engine.

use super::evidence::Evidence;
use crate::display::number::percent;
use crate::result::Check;

/// The caches were not full when measuring began.
pub(super) fn cache_filling(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let fill = evidence.result.throughput.cache_fill_fraction?;
    let wanted_percent = evidence.number("run.warm_up.cache_fill_percent")?;
    (fill * 100.0 < wanted_percent).then(|| {
        format!(
            "the caches were only {} % full when measuring began, target {wanted_percent} %.",
            percent(fill)
        )
    })
}

/// Memory was short, and a cache had less than it may have.
pub(super) fn cache_shrunk(evidence: &Evidence<'_>, _: &Check) -> Option<String> {
    let size = evidence.result.throughput.cache_size_fraction?;
    let wanted_percent = evidence.number("run.warm_up.cache_fill_percent")?;
    (size * 100.0 < wanted_percent).then(|| {
        format!(
            "memory was short, and a database cache had only {} % of its largest size for a time.",
            percent(size)
        )
    })
}
