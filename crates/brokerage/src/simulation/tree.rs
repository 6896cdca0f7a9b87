//! A B+ tree: the path to a row, and the pages added when it grows.
//!
//! Rows are identified by their rank in key order. The initial pages of a tree are consecutive,
//! leaves first, then each level above. Pages added later are taken from the free pages at the end
//! of the database.

use super::schema::{Kind, Placement};
use rustc_hash::FxHashMap;

/// Header bytes of a page.
const PAGE_HEADER_BYTES: u32 = 96;
/// Most levels of a tree.
pub const MAX_LEVELS: usize = 8;
/// Average fill of leaves that were split.
const FILL_AFTER_SPLITS: f64 = 0.7;

/// The pages from the root to a leaf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Path {
    pages: [u32; MAX_LEVELS],
    length: usize,
}

impl Path {
    /// The pages, root first.
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

/// Allocates pages at the end of the database.
pub trait FreePages {
    /// The next free page; `None` when the files are full.
    fn take(&mut self) -> Option<u32>;
}

/// The pages of one level.
#[derive(Debug, Clone)]
struct Level {
    first_page: u32,
    built: u64,
    /// Pages added later, after the initial ones.
    added: Vec<u32>,
}

impl Level {
    fn pages(&self) -> u64 {
        self.built + self.added.len() as u64
    }

    fn page(&self, number: u64) -> u32 {
        if number < self.built {
            return self.first_page + number as u32;
        }
        self.added[(number - self.built) as usize]
    }
}

/// Rows inserted into a leaf.
#[derive(Debug, Clone, Default)]
struct GrownLeaf {
    rows: u32,
    split_off: Vec<u32>,
}

/// A tree of rows without contents.
#[derive(Debug, Clone)]
pub struct Tree {
    order: Placement,
    rows: u64,
    rows_per_leaf: u64,
    max_rows_per_leaf: u64,
    fan_out: u64,
    /// Levels of the tree, the leaves first, the root last.
    levels: Vec<Level>,
    /// Leaves with inserted rows, by their number.
    grown_leaves: FxHashMap<u64, GrownLeaf>,
    split_off: u64,
}

impl Tree {
    /// The tree of `rows` initial rows, from `first_page` on.
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
                added: Vec::new(),
            });
            first_page += pages as u32;
            if pages == 1 {
                break;
            }
            pages = pages.div_ceil(fan_out);
        }
        assert!(levels.len() < MAX_LEVELS, "{kind:?} is too high");
        Self {
            order: kind.order,
            rows,
            rows_per_leaf,
            max_rows_per_leaf: fitting(kind.row_bytes, 1.0).max(rows_per_leaf),
            fan_out,
            levels,
            grown_leaves: FxHashMap::default(),
            split_off: 0,
        }
    }

    /// Number of rows, inserted ones included.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Rows per initial leaf.
    #[must_use]
    pub fn rows_per_leaf(&self) -> u64 {
        self.rows_per_leaf
    }

    /// Pages of all levels.
    #[must_use]
    pub fn pages(&self) -> u64 {
        let levels: u64 = self.levels.iter().map(Level::pages).sum();
        levels + self.split_off
    }

    /// Number of levels, from the leaves to the root.
    #[must_use]
    pub fn height(&self) -> usize {
        self.levels.len()
    }

    /// The path to the row of this rank; beyond the last row that to the last one.
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
        let grown_leaves = self
            .grown_leaves
            .get(&leaf)
            .filter(|one| !one.split_off.is_empty());
        path.push(match grown_leaves {
            None => self.levels[0].page(leaf),
            Some(one) => match row as usize % (one.split_off.len() + 1) {
                0 => self.levels[0].page(leaf),
                number => one.split_off[number - 1],
            },
        });
        path
    }

    /// Appends a row; returns its rank and the pages added, `None` when there was no free page.
    pub fn append(&mut self, free: &mut dyn FreePages) -> Option<(u64, Vec<u32>)> {
        debug_assert_eq!(self.order, Placement::Ascending);
        let row = self.rows;
        let mut new = Vec::new();
        if row / self.rows_per_leaf >= self.levels[0].pages() {
            let mut wanted = self.levels[0].pages() + 1;
            for level in &mut self.levels {
                if level.pages() >= wanted {
                    break;
                }
                let page = free.take()?;
                level.added.push(page);
                new.push(page);
                wanted = wanted.div_ceil(self.fan_out);
            }
            let top = self.levels.last().map_or(1, Level::pages);
            if top > 1 && self.levels.len() + 1 < MAX_LEVELS {
                let root = free.take()?;
                new.push(root);
                self.levels.push(Level {
                    first_page: root,
                    built: 1,
                    added: Vec::new(),
                });
            }
        }
        self.rows += 1;
        Some((row, new))
    }

    /// Inserts a row next to the one of this rank; returns the page that its leaf was split into,
    /// if it was. `None` when there was no free page for that.
    pub fn insert(&mut self, row: u64, free: &mut dyn FreePages) -> Option<Option<u32>> {
        let leaf = (row / self.rows_per_leaf).min(self.levels[0].pages() - 1);
        let built = self.built_rows_of(leaf);
        let grown_leaves = self.grown_leaves.entry(leaf).or_default();
        let room = match grown_leaves.split_off.len() {
            0 => self.max_rows_per_leaf as f64,
            more => self.max_rows_per_leaf as f64 * FILL_AFTER_SPLITS * (more + 1) as f64,
        };
        let mut split = None;
        if (built + u64::from(grown_leaves.rows) + 1) as f64 > room.max((built + 1) as f64 * 0.5) {
            let page = free.take()?;
            grown_leaves.split_off.push(page);
            self.split_off += 1;
            split = Some(page);
        }
        grown_leaves.rows += 1;
        self.rows += 1;
        Some(split)
    }

    /// Removes a row. Its leaf stays, as leaves do until the tree is rebuilt.
    pub fn remove(&mut self, row: u64) {
        let leaf = (row / self.rows_per_leaf).min(self.levels[0].pages() - 1);
        let grown_leaves = self.grown_leaves.get_mut(&leaf);
        if let Some(one) = grown_leaves.filter(|one| one.rows > 0) {
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
