//! Reading a run of items in the order of the index or, without one, of their numbers.

use super::core::Core;
use super::operations::RowPlace;
use super::scattered::Place;
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
    pub(crate) from: RowPlace,
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
        if self.shape.borrow().entries.is_none() {
            return self.scan_by_number(rows, run).await;
        }
        let mut found = Vec::with_capacity(run.items as usize);
        let (mut place, mut last_page, mut ahead) = (run.from.place, 0, 0);
        while found.len() < run.items as usize {
            let leaf = self.shape.borrow().index().find(place);
            if leaf.page != last_page {
                last_page = leaf.page;
                if run.read_ahead {
                    self.read_ahead(&mut ahead, |shape, most| {
                        let index = shape.index();
                        let after = index.levels().siblings_after(leaf.built, most);
                        let page = |built| PageNumber(index.first_page(built));
                        after.map(page).collect()
                    });
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

    /// Reads a run of rows as they lie in the table.
    async fn scan_by_number(&self, rows: u64, run: Run) -> Result<u32, EngineError> {
        let (mut found, mut last_leaf, mut ahead) = (0, None, 0);
        for row in run.from.row..rows {
            let leaf = self.shape.borrow().rows.leaf(row);
            if last_leaf.replace(leaf) != Some(leaf) {
                if run.read_ahead {
                    self.read_ahead(&mut ahead, |shape, most| {
                        let after = shape.rows.levels().siblings_after(leaf, most);
                        after
                            .map(|leaf| PageNumber(shape.rows.page(leaf)))
                            .collect()
                    });
                }
                self.read(|shape, pages| shape.path(Node::Row(row), pages))
                    .await?;
            }
            if self.is_deleted(row) {
                continue;
            }
            if run.with_long {
                self.read_long_value(row).await?;
            }
            found += 1;
            if found == run.items {
                break;
            }
        }
        Ok(found)
    }

    /// Reads coming leaves ahead, when three quarters of the last ones are behind. `after` gives them,
    /// up to so many.
    fn read_ahead(&self, ahead: &mut usize, after: impl FnOnce(&Shape, u32) -> Vec<PageNumber>) {
        let most = SCAN_PREREAD_PAGES as usize;
        let most = most.min(self.settings.engine.cache_pages() / 4);
        *ahead = ahead.saturating_sub(1);
        if *ahead > most / 4 {
            return;
        }
        let pages = after(&self.shape.borrow(), most as u32);
        *ahead = pages.len();
        self.cache.preread(pages);
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
        let missing: Vec<_> = missing.filter(|&page| !self.cache.touch(page)).collect();
        if !missing.is_empty() {
            self.cache.preread(missing);
        }
    }
}
