//! Reading a run of items in the order of the index.

use super::core::Core;
use super::operations::RowPlace;
use super::scattered::{EntryLeaf, Place};
use super::shape::{Node, PageList, Shape};
use crate::keys::{INDEX_KEY_BYTES, RowKeys};
use edb::EngineError;
use edb::position::PageNumber;
use edb::settings::SCAN_PREREAD_PAGES;
use runtime::Directory;

/// Index entries whose rows are read ahead together.
const BATCH: usize = 64;

/// How a run is read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Run {
    pub(crate) from: Place,
    pub(crate) items: u32,
    pub(crate) with_long: bool,
    pub(crate) read_ahead: bool,
}

/// The rows of a database in the order of their keys.
#[derive(Debug, Clone)]
pub(crate) struct KeyOrder {
    keys: RowKeys,
    /// The key of row 0, for the bytes that all keys share.
    pattern: [u8; INDEX_KEY_BYTES],
    /// From one place to the next.
    apart: u64,
}

impl KeyOrder {
    /// The order of a database that was built with so many rows.
    pub(crate) fn new(keys: RowKeys, built_rows: u64) -> Self {
        let bits = (2 * built_rows.max(8)).next_power_of_two().trailing_zeros();
        Self {
            pattern: keys.key(0),
            keys,
            apart: 1 << (64 - bits),
        }
    }

    /// The row at a place, if one can be there.
    fn row(&self, place: Place) -> Option<u64> {
        let mut key = self.pattern;
        key[..8].copy_from_slice(&place.to_be_bytes());
        key[8..12].fill(0);
        self.keys.row(&key)
    }
}

impl<D: Directory> Core<D> {
    /// Reads a run; gives how many items there were. `rows` is the number of rows ever inserted.
    pub(crate) async fn scan(
        &self,
        order: &KeyOrder,
        rows: u64,
        run: Run,
    ) -> Result<u32, EngineError> {
        let mut found = Vec::with_capacity(run.items as usize);
        let (mut place, mut last_page, mut ahead) = (run.from, 0, 0);
        while found.len() < run.items as usize {
            let leaf = self.shape.borrow().entries.find(place);
            if leaf.page != last_page {
                last_page = leaf.page;
                if run.read_ahead {
                    self.read_ahead(leaf, &mut ahead);
                }
                self.read(|shape, pages| shape.path(Node::Entry(place), pages))
                    .await?;
            }
            if let Some(row) = order.row(place).filter(|&row| row < rows)
                && !self.is_deleted(row)
            {
                found.push(RowPlace { row, place });
            }
            match place.checked_add(order.apart) {
                Some(next) => place = next,
                None => break,
            }
        }
        for batch in found.chunks(BATCH) {
            if run.read_ahead {
                self.preread_rows(batch);
            }
            for at in batch {
                self.read_row(at.row).await?;
                if run.with_long {
                    self.read_long_value(at.row).await?;
                }
            }
        }
        Ok(found.len() as u32)
    }

    /// Reads coming leaves of the index ahead, when three quarters of the last ones are behind.
    fn read_ahead(&self, leaf: EntryLeaf, ahead: &mut usize) {
        let most = SCAN_PREREAD_PAGES as usize;
        let most = most.min(self.settings.engine.cache_pages() / 4);
        *ahead = ahead.saturating_sub(1);
        if *ahead > most / 4 {
            return;
        }
        let shape = self.shape.borrow();
        let after = shape
            .entries
            .levels()
            .siblings_after(leaf.built, most as u32);
        let pages: Vec<_> = after
            .map(|built| PageNumber(shape.entries.first_page(built)))
            .collect();
        drop(shape);
        *ahead = pages.len();
        self.pool.preread(pages);
    }

    /// Reads the leaves of these rows ahead.
    fn preread_rows(&self, batch: &[RowPlace]) {
        let leaf_page = |at: &RowPlace| {
            let mut pages = PageList::new();
            let shape: &Shape = &self.shape.borrow();
            shape.path(Node::Row(at.row), &mut pages);
            pages.as_slice().last().copied()
        };
        let missing = batch.iter().filter_map(leaf_page).map(PageNumber);
        let missing: Vec<_> = missing.filter(|&page| !self.pool.touch(page)).collect();
        if !missing.is_empty() {
            self.pool.preread(missing);
        }
    }
}
