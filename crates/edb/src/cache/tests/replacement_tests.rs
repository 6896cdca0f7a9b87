//! The replacement index against a naive one that looks at every page.

use crate::cache::replacement::LruKSettings;
use crate::cache::replacement::Replacement;
use crate::position::PageNumber;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use std::collections::BTreeMap;

const SECOND_NS: u64 = 1_000_000_000;
const BUCKET_NS: u64 = SECOND_NS / 8;
const SETTINGS: LruKSettings = LruKSettings {
    correlation_ns: 128_000_000,
    timeout_ns: 100 * SECOND_NS,
    history_entries: 20,
};

#[derive(Clone, Copy)]
struct Known {
    last: u64,
    before: Option<u64>,
    cold: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Rank {
    SuperCold,
    Place(u64),
    Fresh(u64),
}

/// The policy as its definition says it, page by page.
#[derive(Default)]
struct Naive {
    pages: BTreeMap<u32, Known>,
    /// Evicted pages, latest last.
    history: Vec<(u32, u64)>,
    /// Latest bucket from which a page had to leave.
    frontier: u64,
}

impl Naive {
    fn insert(&mut self, page: u32, now: u64) {
        let remembered = self.history.iter().rposition(|&(other, _)| other == page);
        let touch = remembered.map(|index| self.history[index].1);
        if remembered.is_some() {
            // Entries out of date keep their place in the order; the page is forgotten.
            for entry in &mut self.history {
                if entry.0 == page {
                    entry.0 = u32::MAX;
                }
            }
        }
        let counts = |touch: &u64| {
            let counted = SETTINGS.correlation_ns..=SETTINGS.timeout_ns;
            counted.contains(&(now - touch)) && touch / BUCKET_NS >= self.frontier
        };
        let known = Known {
            last: now,
            before: touch.filter(counts),
            cold: false,
        };
        self.pages.insert(page, known);
    }

    fn touch(&mut self, page: u32, now: u64) {
        let known = self.pages.get_mut(&page).expect("present");
        known.cold = false;
        let since = now - known.last;
        if since >= SETTINGS.correlation_ns {
            known.before = (since <= SETTINGS.timeout_ns).then_some(known.last);
            known.last = now;
        }
    }

    /// Super-cold pages before all, then by the place on the time axis, fresh ones last.
    fn rank(&self, page: u32, now: u64) -> Rank {
        let known = self.pages[&page];
        let place = known
            .before
            .map_or(known.last, |before| before + SETTINGS.timeout_ns);
        match known {
            Known { cold: true, .. } => Rank::SuperCold,
            Known { last, .. } if now - last < SETTINGS.correlation_ns => Rank::Fresh(last),
            _ => Rank::Place(place / BUCKET_NS),
        }
    }

    fn remove(&mut self, page: u32, now: u64) {
        if let Rank::Place(bucket) = self.rank(page, now) {
            self.frontier = self.frontier.max(bucket.min(now / BUCKET_NS));
        }
        let known = self.pages.remove(&page).expect("present");
        if known.last / BUCKET_NS < self.frontier {
            return;
        }
        self.history.push((page, known.last));
        while self.history.len() > SETTINGS.history_entries {
            self.history.remove(0);
        }
    }
}

#[test]
fn the_coldest_page_is_the_one_by_definition() {
    for seed in 0..200 {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut index = Replacement::new(SETTINGS);
        index.grow(100);
        let mut naive = Naive::default();
        let mut now = 0;
        for _ in 0..600 {
            let step = [1_000, 50_000_000, 400_000_000, 30 * SECOND_NS];
            let most = step[random.random_range(0..4)];
            now += random.random_range(0..most);
            let page: u32 = random.random_range(0..100);
            if naive.pages.contains_key(&page) {
                if random.random_bool(0.1) {
                    index.make_super_cold(page);
                    naive.pages.get_mut(&page).expect("present").cold = true;
                } else {
                    index.touch(page, now);
                    naive.touch(page, now);
                }
            } else {
                index.insert(page, PageNumber(page), now, false);
                naive.insert(page, now);
            }
            while naive.pages.len() > 60 {
                let victim = index.coldest(now).expect("there are pages");
                let first = naive.pages.keys().map(|&page| naive.rank(page, now)).min();
                let rank = naive.rank(victim, now);
                assert_eq!(Some(rank), first, "seed {seed}: page {victim}");
                index.note_frontier(victim, now);
                index.remove(victim, PageNumber(victim));
                naive.remove(victim, now);
            }
        }
    }
}

#[test]
fn a_page_used_twice_outlives_a_scan() {
    let mut index = Replacement::new(SETTINGS);
    index.grow(1000);
    index.insert(0, PageNumber(0), 0, false);
    index.touch(0, SECOND_NS);
    for page in 1..1000 {
        index.insert(
            page,
            PageNumber(page),
            2 * SECOND_NS + u64::from(page),
            false,
        );
    }
    for _ in 1..1000 {
        let victim = index.coldest(3 * SECOND_NS).expect("pages are left");
        assert_ne!(victim, 0, "the page used twice is the last to go");
        index.remove(victim, PageNumber(victim));
    }
    assert_eq!(index.coldest(3 * SECOND_NS), Some(0));
}

/// A mail server reads pages at random, most of them never again. Those that happen to be read again
/// within the timeout must not fill the cache: a page has to stay until its transaction has ended.
#[test]
fn random_reads_leave_every_page_some_seconds() {
    const SLOTS: u32 = 1000;
    const PAGES: u32 = 20_000;
    const READS_PER_SECOND: u64 = 100;
    let settings = LruKSettings {
        history_entries: 100_000,
        ..SETTINGS
    };
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut index = Replacement::new(settings);
    index.grow(SLOTS as usize);
    let mut slots: BTreeMap<u32, u32> = BTreeMap::new();
    let mut held = vec![(0, 0); SLOTS as usize];
    for read in 0..500 * READS_PER_SECOND {
        let now = read * SECOND_NS / READS_PER_SECOND;
        let page: u32 = random.random_range(0..PAGES);
        if let Some(&slot) = slots.get(&page) {
            index.touch(slot, now);
            continue;
        }
        let mut slot = slots.len() as u32;
        if slot == SLOTS {
            slot = index.coldest(now).expect("there are pages");
            let (old, came) = held[slot as usize];
            let stayed = now - came;
            assert!(stayed > 2 * SECOND_NS, "page {old} stayed {stayed} ns");
            index.note_frontier(slot, now);
            index.remove(slot, PageNumber(old));
            slots.remove(&old);
        }
        index.insert(slot, PageNumber(page), now, false);
        slots.insert(page, slot);
        held[slot as usize] = (page, now);
    }
}

#[test]
fn a_page_read_again_at_once_has_still_been_used_once() {
    let mut index = Replacement::new(SETTINGS);
    index.grow(3);
    let soon = SETTINGS.correlation_ns / 2;
    for (slot, again_after) in [(0, soon), (1, 2 * soon)] {
        let page = PageNumber(slot);
        index.insert(slot, page, 0, false);
        index.note_frontier(slot, soon);
        index.remove(slot, page);
        index.insert(slot, page, again_after, false);
    }
    index.insert(2, PageNumber(2), 50 * SECOND_NS, false);
    let mut order = Vec::new();
    while let Some(slot) = index.coldest(51 * SECOND_NS) {
        index.remove(slot, PageNumber(slot));
        order.push(slot);
    }
    assert_eq!(
        order,
        [0, 2, 1],
        "only the later read of page 1 was another use"
    );
}

/// Every leaf is used by two transactions, so that soon all pages have been touched twice; the cache
/// turns over in a second or less.
#[test]
fn a_root_outlives_leaves_in_a_small_cache() {
    const AGAIN_AFTER: u32 = 150;
    for slots in [200_u32, 300, 1000] {
        let mut index = Replacement::new(SETTINGS);
        index.grow(slots as usize);
        let mut held = vec![0; slots as usize];
        let root_slot = 0;
        index.insert(root_slot, PageNumber(0), 0, false);
        for leaf in 1..20_000_u32 {
            let now = u64::from(leaf) * 1_000_000;
            let mut slot = leaf;
            if leaf >= slots {
                slot = index.coldest(now).expect("there are pages");
                assert_ne!(
                    slot, root_slot,
                    "{slots} slots: the root leaves at {now} ns"
                );
                index.note_frontier(slot, now);
                index.remove(slot, PageNumber(held[slot as usize]));
            }
            held[slot as usize] = leaf;
            index.insert(slot, PageNumber(leaf), now, false);
            index.touch(root_slot, now);
            let again = leaf.saturating_sub(AGAIN_AFTER);
            if let Some(slot) = held.iter().position(|&held| held == again && again > 0) {
                index.touch(slot as u32, now);
            }
        }
    }
}
