//! Pages ranked by when they were used: the common part of LRU and LRU-2.
//!
//! A page's key only ever grows. So the coldest page of a tier need not be kept on top of a heap
//! while pages are used: the heap holds each page under a key it once had, and a page that comes
//! to the top under an old key is put back under its present one. A use costs two stores.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::plan::{Movable, Ranking};
use crate::pool::settings::Affinity;
use crate::pool::tier::Tier;

/// Uses in the order they came. 0: never.
type Clock = u64;

/// Which use of a page ranks it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RankedBy {
    /// Its last use: plain LRU.
    LastUse,
    /// The last but one.
    LastButOne,
}

/// When each page was used last, and the one time before.
#[derive(Debug)]
pub(super) struct Recency {
    ranked_by: RankedBy,
    now: Clock,
    uses: Vec<(Clock, Clock)>,
    affinities: Vec<Affinity>,
    /// The tier each page lies on.
    tiers: Vec<Option<Tier>>,
    /// Pages of the tiers above the lowest under keys they once had.
    heaps: [BinaryHeap<Reverse<(Clock, u32)>>; 3],
    /// Pages used since the last plan, each once, with the clock of the plan they were seen at.
    used: Vec<u32>,
    planned_at: Clock,
}

impl Recency {
    pub(super) fn new(ranked_by: RankedBy) -> Self {
        Self {
            ranked_by,
            now: 0,
            uses: Vec::new(),
            affinities: Vec::new(),
            tiers: Vec::new(),
            heaps: Default::default(),
            used: Vec::new(),
            planned_at: 0,
        }
    }

    pub(super) fn add_pages(&mut self, pages: u32, affinity: Affinity) {
        self.uses.resize(pages as usize, (0, 0));
        self.affinities.resize(pages as usize, affinity);
        self.tiers.resize(pages as usize, None);
    }

    #[inline]
    pub(super) fn touched(&mut self, page: u32) {
        self.now += 1;
        let (last, _) = self.uses[page as usize];
        if last <= self.planned_at {
            self.used.push(page);
        }
        self.uses[page as usize] = (self.now, last);
    }

    pub(super) fn placed(&mut self, page: u32, tier: Tier) {
        self.tiers[page as usize] = Some(tier);
        self.heaps[tier.rank()].push(Reverse((self.key(page), page)));
    }

    pub(super) fn removed(&mut self, page: u32) {
        self.tiers[page as usize] = None;
        self.uses[page as usize] = (0, 0);
    }

    /// A plan was made: uses count as new from here on.
    pub(super) fn plan_made(&mut self) {
        self.used.clear();
        self.planned_at = self.now;
    }

    fn key(&self, page: u32) -> Clock {
        let (last, before) = self.uses[page as usize];
        match self.ranked_by {
            RankedBy::LastUse => last,
            RankedBy::LastButOne => before,
        }
    }
}

impl Ranking for Recency {
    fn hottest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>) {
        let mut hot: Vec<u32> = self
            .used
            .iter()
            .copied()
            .filter(|&page| self.tiers[page as usize] == Some(tier))
            .filter(|&page| self.key(page) > 0 && movable(page))
            .filter(|&page| self.affinities[page as usize] != Affinity::Archive)
            .collect();
        // A page that was removed meanwhile may be in the list twice.
        let most = limit.saturating_mul(2);
        if hot.len() > most && most > 0 {
            hot.select_nth_unstable_by_key(most - 1, |&page| Reverse((self.key(page), page)));
            hot.truncate(most);
        }
        hot.sort_unstable_by_key(|&page| Reverse((self.key(page), page)));
        hot.dedup();
        pages.extend(hot.into_iter().take(limit));
    }

    fn coldest(&mut self, tier: Tier, limit: usize, pages: &mut Vec<u32>, movable: Movable<'_>) {
        let mut passed = Vec::new();
        let mut found = 0;
        while found < limit {
            let Some(Reverse((key, page))) = self.heaps[tier.rank()].pop() else {
                break;
            };
            if self.tiers[page as usize] != Some(tier) {
                continue;
            }
            let present = self.key(page);
            if key < present {
                self.heaps[tier.rank()].push(Reverse((present, page)));
                continue;
            }
            passed.push(Reverse((key, page)));
            // A page that left the tier and came back is in the heap twice.
            if movable(page) && !pages.contains(&page) {
                pages.push(page);
                found += 1;
            }
        }
        passed.dedup();
        self.heaps[tier.rank()].extend(passed);
    }

    fn is_hotter(&self, one: u32, other: u32) -> bool {
        self.key(one) > self.key(other)
    }

    fn beats(&self, waiting: u32, resident: u32) -> bool {
        self.key(waiting) > self.key(resident)
    }
}
