//! Which page leaves next: LRU-K with K = 2 (O'Neil, O'Neil and Weikum, 1993), approximated by an
//! index of buckets.
//!
//! - A touch within the correlation time of the last one counted is the same touch. Until that time
//!   is over, whoever has read the page may still need it, so it leaves only if no other can.
//! - A page is aged by its *place* on the time axis: the time of its last touch if it has one, the
//!   time of the touch before plus the timeout if it has two. So a page touched twice outlives one
//!   touched once, by at most the timeout (100 s).
//! - Touches further apart than the timeout do not count together; a place therefore never lies
//!   before the last touch.
//! - The last touch of an evicted page is remembered. If the page is read again while a page of
//!   that age would still be in the cache, it comes back with two touches; within the correlation
//!   time the remembered touch and the new one are the same. An older touch is forgotten. Were it
//!   kept for the whole timeout, random reads alone would make so many pages touched twice that
//!   these fill the cache, and pages touched once would leave before their transaction has ended.
//! - Super-cold pages (brought in by scans, or released) leave before all others.

use super::history::History;
use super::list::{Links, List};
use crate::position::PageNumber;
use crate::settings::{Engine, LRU_K_HISTORY_ENTRIES, LRU_K_TIMEOUT_S};
use runtime::time::SECOND_NS;
use std::collections::VecDeque;

/// Width of a bucket. Those of ESE are eight times as wide, and small caches turn over in less: the
/// order within a bucket would then decide, and the root of a tree would leave before a leaf.
const BUCKET_NS: u64 = 125_000_000;

/// The numbers of the policy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LruKSettings {
    /// Touches closer together than this are one.
    pub(super) correlation_ns: u64,
    /// Touches further apart than this do not count together.
    pub(super) timeout_ns: u64,
    /// Evicted pages to remember.
    pub(super) history_entries: usize,
}

impl From<&Engine> for LruKSettings {
    fn from(engine: &Engine) -> Self {
        Self {
            correlation_ns: engine.lru_k_correlation.as_ns(),
            timeout_ns: LRU_K_TIMEOUT_S * SECOND_NS,
            history_entries: LRU_K_HISTORY_ENTRIES,
        }
    }
}

/// The list a slot stands in: a bucket by its number, or one of three others. Four bytes, so that
/// what a touch looks at is short.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct ListId(u32);

impl ListId {
    const NONE: Self = Self(u32::MAX);
    const SUPER_COLD: Self = Self(u32::MAX - 1);
    const FRESH: Self = Self(u32::MAX - 2);

    fn bucket(number: u64) -> Self {
        match u32::try_from(number) {
            Ok(number) if number < Self::FRESH.0 => Self(number),
            _ => panic!("a run ends before bucket {number}"),
        }
    }
}

/// A touch that never was.
const NEVER: u64 = u64::MAX;

#[derive(Debug, Clone, Copy)]
struct Touches {
    last_ns: u64,
    /// [`NEVER`] if one touch alone counts.
    before_ns: u64,
    list: ListId,
    /// Came in ahead of need: the first use counts as the first touch.
    unused: bool,
}

/// The index over all slots that hold a page.
pub(super) struct Replacement {
    settings: LruKSettings,
    links: Links,
    touches: Vec<Touches>,
    buckets: VecDeque<List>,
    first_bucket: u64,
    super_cold: List,
    /// Pages whose last touch may go on, in the order of these touches.
    fresh: List,
    history: History,
    /// The highest bucket from which a page had to leave as the coldest one, but not after the
    /// present: pages of that age do not stay.
    frontier: u64,
}

impl Replacement {
    pub(super) fn new(settings: LruKSettings) -> Self {
        Self {
            settings,
            links: Links::default(),
            touches: Vec::new(),
            buckets: VecDeque::new(),
            first_bucket: 0,
            super_cold: List::default(),
            fresh: List::default(),
            history: History::new(settings.history_entries),
            frontier: 0,
        }
    }

    pub(super) fn grow(&mut self, slots: usize) {
        self.links.grow(slots);
        if slots > self.touches.len() {
            let never = Touches {
                last_ns: 0,
                before_ns: NEVER,
                list: ListId::NONE,
                unused: false,
            };
            self.touches.resize(slots, never);
        }
    }

    /// A page has come into `slot`; `ahead`: nobody has asked for it yet.
    pub(super) fn insert(&mut self, slot: u32, page: PageNumber, now_ns: u64, ahead: bool) {
        let remembered = self.history.take(page);
        let counts = |touch_ns: &u64| self.is_worth_remembering(*touch_ns, now_ns);
        let before_ns = remembered.filter(counts).unwrap_or(NEVER);
        let touches = &mut self.touches[slot as usize];
        touches.last_ns = now_ns;
        touches.before_ns = before_ns;
        touches.unused = ahead;
        self.link_fresh(slot);
    }

    /// Somebody uses the page in `slot`.
    pub(super) fn touch(&mut self, slot: u32, now_ns: u64) {
        let touches = &mut self.touches[slot as usize];
        let since_ns = now_ns - touches.last_ns;
        if since_ns < self.settings.correlation_ns && !touches.unused {
            if touches.list == ListId::SUPER_COLD {
                self.unlink(slot);
                self.link_fresh(slot);
            }
            return;
        }
        if !touches.unused {
            let counts = since_ns <= self.settings.timeout_ns;
            touches.before_ns = if counts { touches.last_ns } else { NEVER };
        }
        touches.unused = false;
        touches.last_ns = now_ns;
        self.unlink(slot);
        self.link_fresh(slot);
    }

    /// The page in `slot` goes out before others.
    pub(super) fn make_super_cold(&mut self, slot: u32) {
        if self.touches[slot as usize].list != ListId::SUPER_COLD {
            self.unlink(slot);
            self.touches[slot as usize].list = ListId::SUPER_COLD;
            self.links.push_back(&mut self.super_cold, slot);
        }
    }

    /// Whether a page touched at `touch_ns`, by somebody else than now, would still be there.
    fn is_worth_remembering(&self, touch_ns: u64, now_ns: u64) -> bool {
        let counted = self.settings.correlation_ns..=self.settings.timeout_ns;
        counted.contains(&(now_ns - touch_ns)) && touch_ns / BUCKET_NS >= self.frontier
    }

    /// The page in `slot` is the first to leave of those looked at in the order of the index.
    /// Source of what follows from it: ESE.
    pub(super) fn note_frontier(&mut self, slot: u32, now_ns: u64) {
        let list = self.touches[slot as usize].list;
        if list != ListId::SUPER_COLD && list != ListId::FRESH {
            let bucket = u64::from(list.0).min(now_ns / BUCKET_NS);
            self.frontier = self.frontier.max(bucket);
        }
    }

    /// The page that should leave first.
    pub(super) fn coldest(&mut self, now_ns: u64) -> Option<u32> {
        if let Some(slot) = self.super_cold.first() {
            return Some(slot);
        }
        self.age(now_ns);
        while let Some(bucket) = self.buckets.front() {
            if let Some(slot) = bucket.first() {
                return Some(slot);
            }
            self.buckets.pop_front();
            self.first_bucket += 1;
        }
        self.fresh.first()
    }

    /// Gives the pages whose last touch is over their places.
    fn age(&mut self, now_ns: u64) {
        while let Some(slot) = self.fresh.first() {
            let since_ns = now_ns - self.touches[slot as usize].last_ns;
            if since_ns < self.settings.correlation_ns {
                break;
            }
            self.unlink(slot);
            self.link(slot, self.place_ns(slot) / BUCKET_NS);
        }
    }

    /// The page that should leave first, as far as that is known without a search.
    pub(super) fn likely_coldest(&self) -> Option<u32> {
        let super_cold = self.super_cold.first();
        super_cold.or_else(|| self.buckets.front()?.first())
    }

    /// The page in `slot` cannot leave now: it is not looked at until it is put back.
    pub(super) fn set_aside(&mut self, slot: u32) {
        self.unlink(slot);
    }

    /// The page in `slot` was set aside: it is looked at again after all those whose place is
    /// before `now_ns`.
    pub(super) fn put_back(&mut self, slot: u32, now_ns: u64) {
        let place_ns = self.place_ns(slot).max(now_ns);
        self.link(slot, place_ns / BUCKET_NS);
    }

    /// The page has left `slot`; its last touch is remembered unless nobody ever used it, or pages
    /// touched then do not stay anyway.
    pub(super) fn remove(&mut self, slot: u32, page: PageNumber) {
        self.unlink(slot);
        let touches = self.touches[slot as usize];
        if !touches.unused && touches.last_ns / BUCKET_NS >= self.frontier {
            self.history.remember(page, touches.last_ns);
        }
    }

    /// Whether the page came in ahead of need and nobody has used it.
    pub(super) fn is_unused(&self, slot: u32) -> bool {
        self.touches[slot as usize].unused
    }

    /// Forgets every page, the remembered ones too.
    pub(super) fn clear(&mut self) {
        *self = Self::new(self.settings);
    }

    fn place_ns(&self, slot: u32) -> u64 {
        let touches = self.touches[slot as usize];
        match touches.before_ns {
            NEVER => touches.last_ns,
            before_ns => before_ns + self.settings.timeout_ns,
        }
    }

    fn link_fresh(&mut self, slot: u32) {
        self.touches[slot as usize].list = ListId::FRESH;
        self.links.push_back(&mut self.fresh, slot);
    }

    fn link(&mut self, slot: u32, bucket: u64) {
        if self.buckets.is_empty() {
            self.first_bucket = bucket;
        }
        while bucket < self.first_bucket {
            self.buckets.push_front(List::default());
            self.first_bucket -= 1;
        }
        let index = (bucket - self.first_bucket) as usize;
        if index >= self.buckets.len() {
            self.buckets.resize(index + 1, List::default());
        }
        self.touches[slot as usize].list = ListId::bucket(bucket);
        self.links.push_back(&mut self.buckets[index], slot);
    }

    fn unlink(&mut self, slot: u32) {
        match std::mem::replace(&mut self.touches[slot as usize].list, ListId::NONE) {
            ListId::SUPER_COLD => self.links.remove(&mut self.super_cold, slot),
            ListId::FRESH => self.links.remove(&mut self.fresh, slot),
            ListId::NONE => panic!("slot {slot} holds no page and cannot be moved"),
            ListId(bucket) => {
                let index = (u64::from(bucket) - self.first_bucket) as usize;
                self.links.remove(&mut self.buckets[index], slot);
            }
        }
    }
}
