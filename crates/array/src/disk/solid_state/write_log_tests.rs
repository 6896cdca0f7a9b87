//! The log against a map of pages: real blocks, cleaned the emptiest first, with copies apart from what
//! the host writes.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::amplification::{spread_for, valid_at_cleaning};
use super::description::WriteHistory;
use super::write_log::WriteLog;

const PAGES: usize = 1 << 17;
/// Large enough that the disk has many stretches.
const PAGE_SECTORS: u64 = 256;
const BLOCK_PAGES: usize = 256;
/// Where pages go that the host writes, and that cleaning copies.
const HOST: usize = 0;
const COPIES: usize = 1;

struct PageMap {
    /// The block of each page.
    place: Vec<usize>,
    contents: Vec<Vec<usize>>,
    valid: Vec<usize>,
    empty: Vec<usize>,
    sealed: Vec<usize>,
    open: [usize; 2],
    programmed: u64,
}

impl PageMap {
    fn new(spread: f64) -> Self {
        let blocks = (PAGES as f64 * spread / BLOCK_PAGES as f64) as usize + 4;
        Self {
            place: vec![usize::MAX; PAGES],
            contents: vec![Vec::new(); blocks],
            valid: vec![0; blocks],
            empty: (2..blocks).rev().collect(),
            sealed: Vec::new(),
            open: [0, 1],
            programmed: 0,
        }
    }

    fn put(&mut self, page: usize, into: usize) {
        let open = self.open[into];
        if let Some(valid) = self.valid.get_mut(self.place[page]) {
            *valid -= 1;
        }
        self.place[page] = open;
        self.valid[open] += 1;
        self.contents[open].push(page);
        self.programmed += 1;
        if self.contents[open].len() == BLOCK_PAGES {
            self.sealed.push(open);
            self.open[into] = self.empty.pop().expect("an empty block");
        }
    }

    fn write(&mut self, page: usize) {
        self.put(page, HOST);
        while self.empty.len() < 3 {
            let places = 0..self.sealed.len();
            let emptiest = places.min_by_key(|&place| self.valid[self.sealed[place]]);
            let block = self.sealed.swap_remove(emptiest.expect("a sealed block"));
            let mut pages: Vec<usize> = self.contents[block].drain(..).collect();
            pages.retain(|&page| self.place[page] == block);
            pages.sort_unstable();
            pages.dedup();
            for page in pages {
                self.put(page, COPIES);
            }
            self.empty.push(block);
        }
    }
}

/// Writes an eighth of the disk again and again; returns for each time the amplification of the log, and
/// that of the map.
fn both(
    spread: f64,
    history: WriteHistory,
    is_sequential: bool,
    used: f64,
    times: usize,
) -> Vec<(f64, f64)> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
    let mut map = PageMap::new(spread);
    match history {
        WriteHistory::Fresh => {}
        WriteHistory::Sequential => (0..PAGES).for_each(|page| map.write(page)),
        WriteHistory::Random => {
            (0..6 * PAGES).for_each(|_| map.write(random.random_range(0..PAGES)));
        }
    }
    let when_full = 1.0 / (1.0 - valid_at_cleaning(spread));
    let mut log = WriteLog::new(PAGES as u64 * PAGE_SECTORS, when_full, 1.0, history);
    let used = (PAGES as f64 * used) as usize;
    let mut next = 0;
    let mut one_eighth = || {
        map.programmed = 0;
        let mut programmed = 0.0;
        for _ in 0..PAGES / 8 {
            let page = match is_sequential {
                true => next,
                false => random.random_range(0..used),
            };
            next = (next + 1) % used;
            map.write(page);
            log.write(page as u64 * PAGE_SECTORS, PAGE_SECTORS, is_sequential);
            programmed += log.amplification();
        }
        assert!(log.valid() <= 1.005, "{}", log.valid());
        let written = (PAGES / 8) as f64;
        (programmed / written, map.programmed as f64 / written)
    };
    (0..times).map(|_| one_eighth()).collect()
}

fn assert_alike(found: &[(f64, f64)], what: &str) {
    for (number, (log, map)) in found.iter().enumerate() {
        assert!(
            (log / map - 1.0).abs() < 0.1,
            "{what}, eighth {number}: {log} against {map} of {found:?}"
        );
    }
    let mean = |of: fn(&(f64, f64)) -> f64| found.iter().map(of).sum::<f64>();
    let ratio = mean(|pair| pair.0) / mean(|pair| pair.1);
    assert!((ratio - 1.0).abs() < 0.03, "{what}: {ratio} of {found:?}");
}

#[test]
fn random_writes_cost_what_a_map_of_pages_costs_whatever_was_before() {
    for spread in [1.08, 1.28] {
        for history in [
            WriteHistory::Fresh,
            WriteHistory::Sequential,
            WriteHistory::Random,
        ] {
            let found = both(spread, history, false, 1.0, 20);
            assert_alike(&found, &format!("{spread} {history:?}"));
        }
    }
}

#[test]
fn sequential_writes_cost_copies_until_they_have_passed_over_all_of_it() {
    for spread in [1.08, 1.28] {
        for history in [WriteHistory::Fresh, WriteHistory::Sequential] {
            for (log, map) in both(spread, history, true, 1.0, 20) {
                assert!(log < 1.01 && map < 1.01, "{log} {map}");
            }
        }
        let found = both(spread, WriteHistory::Random, true, 1.0, 20);
        assert_alike(&found, &format!("{spread} in sequence"));
        let (log, map) = found[10];
        assert!(log < 1.01 && map < 1.01, "{log} {map}");
    }
}

#[test]
fn a_part_of_the_disk_is_cheaper_to_write_than_all_of_it() {
    for spread in [1.08, 1.28] {
        for history in [WriteHistory::Fresh, WriteHistory::Sequential] {
            let found = both(spread, history, false, 0.5, 20);
            assert_alike(&found, &format!("{spread} half {history:?}"));
        }
    }
}

#[test]
fn all_data_are_counted() {
    for (filled, history) in [
        (1.0, WriteHistory::Random),
        (0.6, WriteHistory::Random),
        (1.0, WriteHistory::Sequential),
        (0.25, WriteHistory::Sequential),
    ] {
        let log = WriteLog::new(1 << 22, 4.0, filled, history);
        assert!((log.valid() - filled).abs() < 0.01, "{}", log.valid());
    }
    let log = WriteLog::new(1 << 22, 4.0, 1.0, WriteHistory::Fresh);
    assert!(log.valid() < 1e-12);
}

#[test]
fn a_disk_with_endless_flash_never_copies() {
    assert_eq!(spread_for(1.0), None);
    for history in [
        WriteHistory::Fresh,
        WriteHistory::Sequential,
        WriteHistory::Random,
    ] {
        let mut log = WriteLog::new(1 << 20, 1.0, 1.0, history);
        for number in 0..1_000_000_u64 {
            log.write(number * 7_919 % (1 << 17) * 8, 8, false);
            assert!(log.amplification() == 1.0);
        }
    }
}
