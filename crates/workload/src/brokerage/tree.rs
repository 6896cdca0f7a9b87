//! One tree of pages: which pages a row lies under, and which come to it when it grows.
//!
//! Rows are known by their rank in the order of the key. The pages of a tree as built lie side by
//! side, leaves first, then each level above. Leaves and upper pages that come later are taken
//! from the free pages at the end of the database.

use super::schema::{Kind, Order};
use rustc_hash::FxHashMap;

/// Bytes of a page that hold no rows.
const PAGE_HEADER_BYTES: u32 = 96;
/// Most pages between a root and a leaf, both included.
pub const MOST_LEVELS: usize = 8;
/// How full the leaves are that splits make.
const FILL_AFTER_SPLITS: f64 = 0.7;

/// The pages from the root to a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Path {
    pages: [u32; MOST_LEVELS],
    length: usize,
}

impl Path {
    /// The pages, the root first.
    #[must_use]
    pub fn pages(&self) -> &[u32] {
        &self.pages[..self.length]
    }

    /// The page that holds the row.
    #[must_use]
    pub fn leaf(&self) -> u32 {
        self.pages[self.length - 1]
    }

    fn push(&mut self, page: u32) {
        self.pages[self.length] = page;
        self.length += 1;
    }
}

/// Hands out free pages.
pub trait FreePages {
    /// The next free page; `None` when the files are full.
    fn take(&mut self) -> Option<u32>;
}

/// Pages of one height.
#[derive(Debug, Clone)]
struct Level {
    first_page: u32,
    built: u64,
    /// Pages that came later, behind those built.
    later: Vec<u32>,
}

impl Level {
    fn pages(&self) -> u64 {
        self.built + self.later.len() as u64
    }

    fn page(&self, number: u64) -> u32 {
        if number < self.built {
            return self.first_page + number as u32;
        }
        self.later[(number - self.built) as usize]
    }
}

/// What has come between the rows of a leaf.
#[derive(Debug, Clone, Default)]
struct Crowded {
    rows: u32,
    split_off: Vec<u32>,
}

/// A tree.
#[derive(Debug, Clone)]
pub struct Tree {
    order: Order,
    rows: u64,
    rows_per_leaf: u64,
    most_per_leaf: u64,
    fan_out: u64,
    /// Leaves first.
    levels: Vec<Level>,
    /// Leaves into which rows have come, by their number.
    crowded: FxHashMap<u64, Crowded>,
    split_off: u64,
}

impl Tree {
    /// The tree of `rows` rows as built from `first_page` on.
    #[must_use]
    pub fn build(kind: &Kind, rows: u64, page_bytes: u32, fill: f64, first_page: u32) -> Self {
        let room = f64::from(page_bytes - PAGE_HEADER_BYTES);
        let fitting = |bytes: u32, share: f64| (room * share / f64::from(bytes)).floor() as u64;
        let rows_per_leaf = fitting(kind.row_bytes, fill).max(1);
        let fan_out = fitting(kind.entry_bytes, 1.0).max(2);
        let mut levels = Vec::new();
        let (mut pages, mut first_page) = (rows.div_ceil(rows_per_leaf).max(1), first_page);
        loop {
            levels.push(Level {
                first_page,
                built: pages,
                later: Vec::new(),
            });
            first_page += pages as u32;
            if pages == 1 {
                break;
            }
            pages = pages.div_ceil(fan_out);
        }
        assert!(levels.len() < MOST_LEVELS, "{kind:?} is too high");
        Self {
            order: kind.order,
            rows,
            rows_per_leaf,
            most_per_leaf: fitting(kind.row_bytes, 1.0).max(rows_per_leaf),
            fan_out,
            levels,
            crowded: FxHashMap::default(),
            split_off: 0,
        }
    }

    /// Rows in it.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows of a leaf as built.
    #[must_use]
    pub fn rows_per_leaf(&self) -> u64 {
        self.rows_per_leaf
    }

    /// Pages of all heights.
    #[must_use]
    pub fn pages(&self) -> u64 {
        let levels: u64 = self.levels.iter().map(Level::pages).sum();
        levels + self.split_off
    }

    /// Pages between root and leaf, both included.
    #[must_use]
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// The pages to go through to the row of this rank; one behind the last stands for the last.
    #[must_use]
    pub fn path(&self, row: u64) -> Path {
        let leaves = self.levels[0].pages();
        let leaf = (row / self.rows_per_leaf).min(leaves - 1);
        let mut path = Path::default();
        let mut below = self.fan_out.pow(self.levels.len() as u32 - 1);
        for level in self.levels[1..].iter().rev() {
            path.push(level.page((leaf / below).min(level.pages() - 1)));
            below /= self.fan_out;
        }
        let crowded = self
            .crowded
            .get(&leaf)
            .filter(|one| !one.split_off.is_empty());
        path.push(match crowded {
            None => self.levels[0].page(leaf),
            Some(one) => match row as usize % (one.split_off.len() + 1) {
                0 => self.levels[0].page(leaf),
                number => one.split_off[number - 1],
            },
        });
        path
    }

    /// Adds a row behind all others; gives its rank and the pages that came for it, `None` when
    /// there was no free page.
    pub fn append(&mut self, free: &mut dyn FreePages) -> Option<(u64, Vec<u32>)> {
        debug_assert_eq!(self.order, Order::Ascending);
        let row = self.rows;
        let mut new = Vec::new();
        if row / self.rows_per_leaf >= self.levels[0].pages() {
            let mut wanted = self.levels[0].pages() + 1;
            for level in &mut self.levels {
                if level.pages() >= wanted {
                    break;
                }
                let page = free.take()?;
                level.later.push(page);
                new.push(page);
                wanted = wanted.div_ceil(self.fan_out);
            }
            let top = self.levels.last().map_or(1, Level::pages);
            if top > 1 && self.levels.len() + 1 < MOST_LEVELS {
                let root = free.take()?;
                new.push(root);
                self.levels.push(Level {
                    first_page: root,
                    built: 1,
                    later: Vec::new(),
                });
            }
        }
        self.rows += 1;
        Some((row, new))
    }

    /// Adds a row beside the one of this rank; gives the page that its leaf was split into, if it
    /// was. `None` when there was no free page for that.
    pub fn insert(&mut self, row: u64, free: &mut dyn FreePages) -> Option<Option<u32>> {
        let leaf = (row / self.rows_per_leaf).min(self.levels[0].pages() - 1);
        let built = self.built_rows_of(leaf);
        let crowded = self.crowded.entry(leaf).or_default();
        let room = match crowded.split_off.len() {
            0 => self.most_per_leaf as f64,
            more => self.most_per_leaf as f64 * FILL_AFTER_SPLITS * (more + 1) as f64,
        };
        let mut split = None;
        if (built + u64::from(crowded.rows) + 1) as f64 > room.max((built + 1) as f64 * 0.5) {
            let page = free.take()?;
            crowded.split_off.push(page);
            self.split_off += 1;
            split = Some(page);
        }
        crowded.rows += 1;
        self.rows += 1;
        Some(split)
    }

    /// Takes a row away. Its leaf stays, as leaves do until somebody rebuilds the tree.
    pub fn remove(&mut self, row: u64) {
        let leaf = (row / self.rows_per_leaf).min(self.levels[0].pages() - 1);
        let crowded = self.crowded.get_mut(&leaf);
        if let Some(one) = crowded.filter(|one| one.rows > 0) {
            one.rows -= 1;
        }
        self.rows = self.rows.saturating_sub(1);
    }

    fn built_rows_of(&self, leaf: u64) -> u64 {
        let before = leaf * self.rows_per_leaf;
        self.rows.saturating_sub(before).min(self.rows_per_leaf)
    }
}

#[cfg(test)]
mod tests {
    use super::super::schema::{TABLES, Table};
    use super::*;
    use std::collections::BTreeSet;

    struct Counter(u32);

    impl FreePages for Counter {
        fn take(&mut self) -> Option<u32> {
            self.0 += 1;
            Some(self.0)
        }
    }

    #[test]
    fn every_row_has_a_path_and_pages_are_counted_once() {
        for kind in TABLES {
            let tree = Tree::build(&kind, 300_000, 8192, 0.9, 100);
            let mut seen = BTreeSet::new();
            for row in 0..300_000 {
                let path = tree.path(row);
                assert_eq!(path.pages().len(), tree.height());
                seen.extend(path.pages().iter().copied());
            }
            assert_eq!(seen.len() as u64, tree.pages(), "{kind:?}");
            let range = 100..100 + tree.pages() as u32;
            assert!(seen.iter().all(|page| range.contains(page)));
        }
    }

    #[test]
    fn growing_keeps_count_of_its_pages() {
        let mut free = Counter(1 << 20);
        let trade = TABLES[Table::Trade as usize];
        let mut tree = Tree::build(&trade, 10, 8192, 0.9, 0);
        let by_account = TABLES[Table::TradeByAccount as usize];
        let mut index = Tree::build(&by_account, 1_000, 8192, 0.9, 0);
        let (before, index_before) = (tree.pages(), index.pages());
        for row in 10..200_000 {
            assert_eq!(tree.append(&mut free).unwrap().0, row);
        }
        assert_eq!(tree.rows(), 200_000);
        let appended = u64::from(free.0 - (1 << 20));
        assert_eq!(tree.pages(), before + appended);
        let as_built = Tree::build(&trade, 200_000, 8192, 0.9, 0);
        assert_eq!(
            (tree.height(), tree.pages()),
            (as_built.height(), as_built.pages())
        );
        let taken = free.0;
        for number in 0..50_000_u64 {
            index.insert(number * 7_919 % 1_000, &mut free).unwrap();
        }
        assert_eq!(index.pages(), index_before + u64::from(free.0 - taken));
        let per_page = 51_000.0 / index.pages() as f64;
        assert!(
            (100.0..240.0).contains(&per_page),
            "{per_page} rows per page"
        );
    }
}
