//! Pages of each tier in the order of their scores, kept while the scores change.
//!
//! A plan that sorted every page every few seconds would cost more than the array it plans for.
//! Here a page changes its place only when its score does. Scores are counts that fade by half in
//! a half-life. All of them fade alike, so instead of shrinking the old ones each new count is
//! made heavier (forward decay: Cormode, Shkapenyuk, Srivastava, Xu, "Forward Decay: A Practical
//! Time Decay Model for Streaming Systems", ICDE 2009): the order of untouched pages never
//! changes. Pages are in buckets an eighth of an octave wide (the exponent and the first three
//! bits of the score as a floating-point number), first in, first out within a bucket. Whether a
//! page is worth moving is then decided by its exact score.

use crate::pool::tier::Tier;

/// Marks the end of a bucket's list.
const NONE: u32 = u32::MAX;
/// Buckets: all values of the top 11 bits of a positive `f32`.
const BUCKETS: usize = 1 << 11;
/// Bits of a score below its bucket's number.
const BUCKET_SHIFT: u32 = 20;
/// The weight of a new count at which all scores are scaled down, a power of two.
const WEIGHT_MAX: f32 = 1.8446744e19; // 2^64

#[derive(Debug, Clone, Copy)]
struct Links {
    before: u32,
    after: u32,
}

/// The buckets of one tier.
#[derive(Debug)]
struct Buckets {
    first: Vec<u32>,
    last: Vec<u32>,
    /// One bit per bucket that is not empty.
    taken: [u64; BUCKETS / 64],
}

/// Scores and order of the pages of a pool. 13 bytes per page.
#[derive(Debug)]
pub(crate) struct RankedPages {
    scores: Vec<f32>,
    links: Vec<Links>,
    /// The tier each page is listed under, or `UNLISTED`.
    tiers: Vec<u8>,
    buckets: [Buckets; 3],
    weight: f32,
    growth_per_tick: f32,
}

const UNLISTED: u8 = u8::MAX;

impl RankedPages {
    /// No pages yet. `growth_per_tick` is how much heavier counts become from one tick to the
    /// next: 2 to the power of interval over half-life.
    pub(crate) fn new(growth_per_tick: f32) -> Self {
        assert!((1.0..=65_536.0).contains(&growth_per_tick));
        let empty = || Buckets {
            first: vec![NONE; BUCKETS],
            last: vec![NONE; BUCKETS],
            taken: [0; BUCKETS / 64],
        };
        Self {
            scores: Vec::new(),
            links: Vec::new(),
            tiers: Vec::new(),
            buckets: [empty(), empty(), empty()],
            weight: 1.0,
            growth_per_tick,
        }
    }

    /// Makes room for `pages` pages in all.
    pub(crate) fn resize(&mut self, pages: u32) {
        let none = Links {
            before: NONE,
            after: NONE,
        };
        self.scores.resize(pages as usize, 0.0);
        self.links.resize(pages as usize, none);
        self.tiers.resize(pages as usize, UNLISTED);
    }

    /// The score of `page` as of now.
    #[inline]
    pub(crate) fn score(&self, page: u32) -> f32 {
        self.scores[page as usize] / self.weight
    }

    /// Counts a number of I/Os on `page`.
    #[inline]
    pub(crate) fn count(&mut self, page: u32, count: f32) {
        let index = page as usize;
        let old = self.scores[index];
        let new = old + self.weight * count;
        self.scores[index] = new;
        let tier = self.tiers[index];
        if tier != UNLISTED && bucket_of(old) != bucket_of(new) {
            self.unlink(page, tier, bucket_of(old));
            self.link(page, tier, bucket_of(new));
        }
    }

    /// `page` lies on `tier` from now on, with the score it has.
    pub(crate) fn place(&mut self, page: u32, tier: Tier) {
        self.take_off(page);
        let tier = tier.rank() as u8;
        self.tiers[page as usize] = tier;
        self.link(page, tier, bucket_of(self.scores[page as usize]));
    }

    /// `page` lies nowhere any more and its score is forgotten.
    pub(crate) fn remove(&mut self, page: u32) {
        self.take_off(page);
        self.scores[page as usize] = 0.0;
    }

    fn take_off(&mut self, page: u32) {
        let tier = self.tiers[page as usize];
        if tier != UNLISTED {
            self.unlink(page, tier, bucket_of(self.scores[page as usize]));
            self.tiers[page as usize] = UNLISTED;
        }
    }

    /// An interval has passed: counts become heavier.
    pub(crate) fn tick(&mut self) {
        self.weight *= self.growth_per_tick;
        if self.weight >= WEIGHT_MAX {
            self.scale_down();
        }
    }

    /// Divides every score by 2^64, which is exact but for scores too small to matter, and lists
    /// the pages again in their order.
    fn scale_down(&mut self) {
        self.weight /= WEIGHT_MAX;
        let orders = [0, 1, 2].map(|tier| self.ascending(tier).collect::<Vec<u32>>());
        for score in &mut self.scores {
            *score /= WEIGHT_MAX;
        }
        for (tier, order) in orders.into_iter().enumerate() {
            let buckets = &mut self.buckets[tier];
            buckets.first.fill(NONE);
            buckets.last.fill(NONE);
            buckets.taken.fill(0);
            for page in order {
                self.link(page, tier as u8, bucket_of(self.scores[page as usize]));
            }
        }
    }

    /// The pages of `tier`, the coldest bucket first and the one listed longest first within it.
    pub(crate) fn coldest(&self, tier: Tier) -> impl Iterator<Item = u32> + '_ {
        self.ascending(tier.rank() as u8)
    }

    fn ascending(&self, tier: u8) -> impl Iterator<Item = u32> + '_ {
        let buckets = &self.buckets[usize::from(tier)];
        let mut page = NONE;
        let mut bucket = 0;
        std::iter::from_fn(move || {
            while page == NONE {
                bucket = buckets.next_taken(bucket)?;
                page = buckets.first[bucket];
                bucket += 1;
            }
            let this = page;
            page = self.links[this as usize].after;
            Some(this)
        })
    }

    /// The pages of `tier`, the hottest bucket first and the one listed longest first within it.
    pub(crate) fn hottest(&self, tier: Tier) -> impl Iterator<Item = u32> + '_ {
        let buckets = &self.buckets[tier.rank()];
        let mut page = NONE;
        let mut below = BUCKETS;
        std::iter::from_fn(move || {
            while page == NONE {
                below = buckets.last_taken_below(below)?;
                page = buckets.first[below];
            }
            let this = page;
            page = self.links[this as usize].after;
            Some(this)
        })
    }

    fn link(&mut self, page: u32, tier: u8, bucket: usize) {
        let buckets = &mut self.buckets[usize::from(tier)];
        let before = buckets.last[bucket];
        self.links[page as usize] = Links {
            before,
            after: NONE,
        };
        if before == NONE {
            buckets.first[bucket] = page;
            buckets.taken[bucket / 64] |= 1 << (bucket % 64);
        } else {
            self.links[before as usize].after = page;
        }
        buckets.last[bucket] = page;
    }

    fn unlink(&mut self, page: u32, tier: u8, bucket: usize) {
        let Links { before, after } = self.links[page as usize];
        let buckets = &mut self.buckets[usize::from(tier)];
        if before == NONE {
            buckets.first[bucket] = after;
        } else {
            self.links[before as usize].after = after;
        }
        if after == NONE {
            buckets.last[bucket] = before;
        } else {
            self.links[after as usize].before = before;
        }
        if buckets.first[bucket] == NONE {
            buckets.taken[bucket / 64] &= !(1 << (bucket % 64));
        }
    }
}

/// The bucket of a score that is not negative.
fn bucket_of(score: f32) -> usize {
    (score.to_bits() >> BUCKET_SHIFT) as usize
}

impl Buckets {
    /// The first bucket from `from` on that is not empty.
    fn next_taken(&self, from: usize) -> Option<usize> {
        let mut word = from / 64;
        let mut bits = *self.taken.get(word)? & (u64::MAX << (from % 64));
        while bits == 0 {
            word += 1;
            bits = *self.taken.get(word)?;
        }
        Some(word * 64 + bits.trailing_zeros() as usize)
    }

    /// The last bucket below `below` that is not empty.
    fn last_taken_below(&self, below: usize) -> Option<usize> {
        let mut word = below / 64;
        let mut bits = match below % 64 {
            0 => 0,
            rest => self.taken[word] & ((1 << rest) - 1),
        };
        while bits == 0 {
            word = word.checked_sub(1)?;
            bits = self.taken[word];
        }
        Some(word * 64 + 63 - bits.leading_zeros() as usize)
    }
}
