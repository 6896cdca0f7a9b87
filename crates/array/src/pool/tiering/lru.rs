//! The pages used last, or whose last use but one is most recent, are on the highest tier: LRU and
//! LRU-2 over pages.
//!
//! Sources: the textbook rule of caches, and O'Neil, O'Neil, Weikum, "The LRU-K page replacement
//! algorithm for database disk buffering", SIGMOD 1993, applied to tiers for comparison; no array is
//! known to do it. By LRU, pages that are used alike change places for ever, as fast as the limit
//! lets them: that is what the rule does. By LRU-2, one use alone promotes nothing.

use super::plan::{PlannedMove, TierSpace, plan_moves};
use super::recency::{RankedBy, Recency};
use super::{TieringPolicy, Touch};
use crate::pool::settings::{Affinity, TieringSettings};
use crate::pool::tier::Tier;

/// Pages by their last use, or by their last use but one.
#[derive(Debug)]
pub(crate) struct LruTiering {
    recency: Recency,
    counted_sectors_max: u32,
    free_pages: u32,
}

impl LruTiering {
    pub(super) fn new(ranked_by: RankedBy, settings: &TieringSettings) -> Self {
        Self {
            recency: Recency::new(ranked_by),
            counted_sectors_max: settings.counted_io_max_kib.saturating_mul(2),
            free_pages: settings.free_pages,
        }
    }
}

impl TieringPolicy for LruTiering {
    fn add_pages(&mut self, pages: u32, affinity: Affinity) {
        self.recency.add_pages(pages, affinity);
    }

    #[inline]
    fn touched(&mut self, touch: Touch) {
        if !touch.sequential && touch.sectors <= self.counted_sectors_max {
            self.recency.touched(touch.page);
        }
    }

    fn placed(&mut self, page: u32, tier: Tier) {
        self.recency.placed(page, tier);
    }

    fn removed(&mut self, page: u32) {
        self.recency.removed(page);
    }

    fn plan(&mut self, room: &TierSpace, movable: &dyn Fn(u32) -> bool) -> Vec<PlannedMove> {
        let moves = plan_moves(&mut self.recency, room, self.free_pages, movable);
        self.recency.plan_made();
        moves
    }
}
