//! Heat of small I/O over a long window, planned every few minutes.
//!
//! Source: IBM Easy Tier as its manuals describe it (Storwize V5020, p. 465; confirmed): statistics
//! per extent in periods of five minutes, averaged over a rolling day, I/O up to 64 KB counted;
//! promotion, swap, and demotion of what has become cold. Here an extent is a page, the rolling
//! day an exponential one, and warm demotion (of an overloaded tier) is left out. It differs from
//! scan, rank and move by its numbers (`interval_s = 300`, a half-life of many hours, I/O up to 64
//! KB) and by cold demotion: pages below `cold_score` leave a full tier though nothing waits.

use super::scan_rank_move::Scores;
use super::{PlannedMove, TierSpace, TieringPolicy, Touch};
use crate::pool::settings::{Affinity, TieringSettings};
use crate::pool::tier::Tier;

/// Heat by period.
#[derive(Debug)]
pub(crate) struct Heat {
    scores: Scores,
}

impl Heat {
    pub(crate) fn new(settings: &TieringSettings) -> Self {
        Self {
            scores: Scores::new(settings, settings.cold_score),
        }
    }
}

impl TieringPolicy for Heat {
    fn add_pages(&mut self, pages: u32, affinity: Affinity) {
        self.scores.add_pages(pages, affinity);
    }

    #[inline]
    fn touched(&mut self, touch: Touch) {
        self.scores.touched(touch);
    }

    fn placed(&mut self, page: u32, tier: Tier) {
        self.scores.ranked.place(page, tier);
    }

    fn removed(&mut self, page: u32) {
        self.scores.ranked.remove(page);
    }

    fn plan(&mut self, room: &TierSpace, movable: &dyn Fn(u32) -> bool) -> Vec<PlannedMove> {
        self.scores.plan(room, movable)
    }

    fn is_hot(&self, page: u32) -> bool {
        self.scores.promotable(page)
    }
}
