//! Heat of small I/O over a long window, planned every few minutes.
//!
//! Source: IBM Easy Tier as its manuals describe it (Storwize V5020, p. 465; confirmed): statistics
//! per extent in periods of five minutes, averaged over a rolling day, I/O up to 64 KB counted;
//! promotion, swap, and demotion of what has become cold. Here an extent is a page, the rolling
//! day an exponential one, and warm demotion (of an overloaded tier) is left out. What happens
//! within a period ranks nothing before the period is over.

use super::plan::{PlannedMove, TierRoom, plan_moves};
use super::scan_rank_move::Scores;
use super::{TieringPolicy, Touch};
use crate::pool::settings::{Affinity, Tier, TieringSettings};

/// Heat by period.
#[derive(Debug)]
pub(crate) struct Heat {
    scores: Scores,
    /// I/Os of the running period, by page.
    counts: Vec<u16>,
    /// The pages whose count is not zero.
    counted: Vec<u32>,
    counted_sectors_max: u32,
    free_pages: u32,
}

impl Heat {
    pub(crate) fn new(settings: &TieringSettings) -> Self {
        Self {
            scores: Scores::new(settings, settings.cold_score),
            counts: Vec::new(),
            counted: Vec::new(),
            counted_sectors_max: settings.counted_io_max_kib.saturating_mul(2),
            free_pages: settings.free_pages,
        }
    }
}

impl TieringPolicy for Heat {
    fn add_pages(&mut self, pages: u32, affinity: Affinity) {
        self.scores.add_pages(pages, affinity);
        self.counts.resize(pages as usize, 0);
    }

    #[inline]
    fn touched(&mut self, touch: Touch) {
        if touch.sequential || touch.sectors > self.counted_sectors_max {
            return;
        }
        let count = &mut self.counts[touch.page as usize];
        if *count == 0 {
            self.counted.push(touch.page);
        }
        *count = count.saturating_add(1);
    }

    fn placed(&mut self, page: u32, tier: Tier) {
        self.scores.ranked.place(page, tier);
    }

    fn removed(&mut self, page: u32) {
        self.scores.ranked.remove(page);
    }

    fn plan(&mut self, room: &TierRoom, movable: &dyn Fn(u32) -> bool) -> Vec<PlannedMove> {
        for page in self.counted.drain(..) {
            let count = std::mem::take(&mut self.counts[page as usize]);
            self.scores.ranked.count_many(page, f32::from(count));
        }
        let moves = plan_moves(&mut self.scores, room, self.free_pages, movable);
        self.scores.ranked.tick();
        moves
    }
}
