//! Score every page, rank them every few seconds, move a bounded number.
//!
//! Source: the real-time engine of the MSA 2040 family (Dot Hill). Confirmed: it works on 4 MB
//! pages it keeps I/O statistics for, every five seconds, and a page with performance affinity
//! has a lower promotion threshold and preferred residency. *Unconfirmed*, remembered only: only
//! random I/O counts, streams being filtered out, and at most 80 MB move per five seconds. Not
//! public: how scores fade, the threshold, and what keeps equal pages from changing places for
//! ever; here an exponential half-life, and a page must beat another by a ratio and a margin.
//!
//! With other numbers (`interval_s = 300`, a half-life of many hours, I/O up to 64 KB) and cold
//! demotion it is the heat of small I/O over a long window. Source: IBM Easy Tier as its manuals
//! describe it (Storwize V5020, p. 465; confirmed): statistics per extent in periods of five minutes,
//! averaged over a rolling day, I/O up to 64 KB counted; promotion, swap, and demotion of what has
//! become cold. Here an extent is a page, the rolling day an exponential one, and warm demotion (of
//! an overloaded tier) is left out.

use super::plan::{Movable, PlannedMove, Ranking, TierSpace, plan_moves};
use super::ranked::RankedPages;
use super::{TieringPolicy, Touch, growth_per_interval};
use crate::pool::settings::{Affinity, TieringSettings};
use crate::pool::tier::Tier;

/// Ranked pages and the thresholds their scores are held against. Scores are of random I/O and fade
/// with age.
#[derive(Debug)]
pub(crate) struct ScanRankMove {
    ranked: RankedPages,
    /// I/Os of the running interval, by page: a request costs one count, and the scan at the end
    /// of the interval ranks the pages that were counted.
    counts: Vec<u16>,
    /// The pages whose count is not zero.
    counted: Vec<u32>,
    counted_sectors_max: u32,
    free_pages: u32,
    affinities: Vec<Affinity>,
    promote_score: f32,
    promote_score_preferred: f32,
    swap_ratio: f32,
    swap_margin: f32,
    cold_score: f32,
}

impl ScanRankMove {
    /// Pages below `cold_score` leave a full tier though nothing waits; 0: none does.
    pub(super) fn new(settings: &TieringSettings, cold_score: f32) -> Self {
        Self {
            ranked: RankedPages::new(growth_per_interval(settings)),
            counts: Vec::new(),
            counted: Vec::new(),
            counted_sectors_max: settings.counted_io_max_kib.saturating_mul(2),
            free_pages: settings.free_pages,
            affinities: Vec::new(),
            promote_score: settings.promote_score,
            promote_score_preferred: settings.promote_score_preferred,
            swap_ratio: settings.swap_ratio,
            swap_margin: settings.swap_margin,
            cold_score,
        }
    }

    /// Whether a page reaches the score from which it is worth promoting, as of the last interval.
    fn promotable(&self, page: u32) -> bool {
        let threshold = match self.affinities[page as usize] {
            Affinity::None => self.promote_score,
            Affinity::Performance => self.promote_score_preferred,
            Affinity::Archive => return false,
        };
        self.ranked.score(page) >= threshold
    }
}

impl Ranking for ScanRankMove {
    fn hottest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>) {
        // Below the lower of both thresholds nothing is promotable.
        let threshold = self.promote_score.min(self.promote_score_preferred);
        // A bucket is an eighth of an octave wide and not ordered within.
        let threshold = threshold * 0.875;
        let hot = self.ranked.hottest(tier);
        let hot = hot.take_while(|&page| self.ranked.score(page) >= threshold);
        let hot = hot.filter(|&page| self.promotable(page) && movable(page));
        pages.extend(hot.take(limit));
    }

    fn coldest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>) {
        let cold = self.ranked.coldest(tier).filter(|&page| movable(page));
        pages.extend(cold.take(limit));
    }

    fn is_hotter(&self, one: u32, other: u32) -> bool {
        self.ranked.score(one) > self.ranked.score(other)
    }

    fn beats(&self, waiting: u32, resident: u32) -> bool {
        let preferred = |page: u32| self.affinities[page as usize] == Affinity::Performance;
        let ratio = if preferred(resident) && !preferred(waiting) {
            self.swap_ratio * self.swap_ratio
        } else {
            self.swap_ratio
        };
        let (waiting, resident) = (self.ranked.score(waiting), self.ranked.score(resident));
        waiting > resident && waiting >= resident * ratio && waiting >= resident + self.swap_margin
    }

    fn is_cold(&self, resident: u32) -> bool {
        self.ranked.score(resident) < self.cold_score
    }
}

impl TieringPolicy for ScanRankMove {
    fn add_pages(&mut self, pages: u32, affinity: Affinity) {
        self.ranked.resize(pages);
        self.counts.resize(pages as usize, 0);
        self.affinities.resize(pages as usize, affinity);
    }

    /// Counts a request, if it is short and not part of a stream.
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
        self.ranked.place(page, tier);
    }

    fn removed(&mut self, page: u32) {
        self.ranked.remove(page);
    }

    /// Ends the interval: ranks what was counted and plans.
    fn plan(&mut self, room: &TierSpace, movable: Movable<'_>) -> Vec<PlannedMove> {
        for page in self.counted.drain(..) {
            let count = std::mem::take(&mut self.counts[page as usize]);
            self.ranked.count(page, f32::from(count));
        }
        let moves = plan_moves(self, room, self.free_pages, movable);
        self.ranked.tick();
        moves
    }

    fn is_hot(&self, page: u32) -> bool {
        self.promotable(page)
    }
}
