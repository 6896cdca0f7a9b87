//! How pages move between tiers: one rule per file, behind [`TieringPolicy`].
//!
//! A rule is notified of what is done with each page and is asked for a plan once per interval. The pool
//! carries the plan out.

mod lru;
mod off;
mod plan;
mod ranked;
mod recency;
mod scan_rank_move;
#[cfg(test)]
mod tests;

use enum_dispatch::enum_dispatch;

use super::settings::{Affinity, TieringName, TieringSettings};
use super::tier::Tier;
use lru::LruTiering;
use recency::RankedBy;
use scan_rank_move::ScanRankMove;

pub(crate) use plan::{PlannedMove, TierSpace};

/// A request to a page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Touch {
    pub(crate) page: u32,
    pub(crate) sectors: u32,
    /// Part of a stream.
    pub(crate) sequential: bool,
}

/// A rule for moving pages between tiers.
#[enum_dispatch]
pub(crate) trait TieringPolicy {
    /// Volumes were added: pages below `pages` exist, the new ones with this affinity.
    fn add_pages(&mut self, pages: u32, affinity: Affinity);

    /// A page was read or written.
    fn touched(&mut self, touch: Touch);

    /// A page lies on `tier` from now on.
    fn placed(&mut self, page: u32, tier: Tier);

    /// A page lies nowhere any more.
    fn removed(&mut self, page: u32);

    /// An interval has passed: what should move. `room` says what fits; only pages that
    /// `movable` holds for can move.
    fn plan(&mut self, room: &TierSpace, movable: &dyn Fn(u32) -> bool) -> Vec<PlannedMove>;

    /// Whether `page` is asked for so often that it is worth promoting. A rule without such a
    /// threshold says so of every page.
    fn is_hot(&self, _page: u32) -> bool {
        true
    }
}

/// The rules by name, without indirection on the way of a request.
#[enum_dispatch(TieringPolicy)]
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "a pool has one, and it is never moved; a box would cost every request a step"
)]
pub(crate) enum AnyTiering {
    Off(off::Off),
    ScanRankMove(ScanRankMove),
    Lru(LruTiering),
}

impl AnyTiering {
    /// The rule called `policy`, with the numbers of `settings`.
    pub(crate) fn new(policy: TieringName, settings: &TieringSettings) -> Self {
        match policy {
            TieringName::Off => Self::Off(off::Off),
            TieringName::ScanRankMove => Self::ScanRankMove(ScanRankMove::new(settings, 0.0)),
            TieringName::Heat => {
                Self::ScanRankMove(ScanRankMove::new(settings, settings.cold_score))
            }
            TieringName::Lru => Self::Lru(LruTiering::new(RankedBy::LastUse, settings)),
            TieringName::Lru2 => Self::Lru(LruTiering::new(RankedBy::LastButOne, settings)),
        }
    }
}

/// Growth of the weight of a count from one interval to the next, for scores that halve in
/// `half_life_s`.
fn growth_per_interval(settings: &TieringSettings) -> f32 {
    if settings.half_life_s == 0.0 {
        return 1.0;
    }
    (settings.interval_s / settings.half_life_s).exp2() as f32
}
