//! What operations on rows ask of the trees, node by node in the engine's order.

use super::core::Core;
use super::record;
use super::scattered::Place;
use super::shape::{Change, Node, PageList, Shape};
use super::transactions::SimulatedTransaction;
use crate::store::Commit;
use edb::EngineError;
use edb::position::{LogPosition, PageNumber};
use edb::settings::LONG_VALUE_PREREAD_PAGES;
use runtime::Directory;
use std::rc::Rc;

/// A row as operations know it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RowPlace {
    /// Number of the row.
    pub(crate) row: u64,
    /// Where its key lies in the index.
    pub(crate) place: Place,
}

impl<D: Directory> Core<D> {
    /// Finds a row, through the index if there is one.
    pub(crate) async fn find(&self, at: RowPlace) -> Result<bool, EngineError> {
        let deleted = self.is_deleted(at.row);
        let is_indexed = self.is_indexed();
        let want = |shape: &Shape, pages: &mut PageList| {
            if is_indexed {
                shape.path(Node::Entry(at.place), pages);
            }
            if !deleted || !is_indexed {
                shape.path(Node::Row(at.row), pages);
            }
        };
        self.read(want).await?;
        Ok(!deleted)
    }

    /// Reads a row by its number.
    pub(crate) async fn read_row(&self, row: u64) -> Result<bool, EngineError> {
        self.read(|shape, pages| shape.path(Node::Row(row), pages))
            .await?;
        Ok(!self.is_deleted(row))
    }

    /// Reads the long value of a row.
    pub(crate) async fn read_long_value(&self, row: u64) -> Result<(), EngineError> {
        let Some(long) = self.shape.borrow().geometry.long else {
            return Ok(());
        };
        let id = self.long_values.borrow().of(row);
        for part in 0..long.nodes {
            if part == 1 && long.nodes > 2 {
                self.preread_long_value(id);
            }
            self.read(|shape, pages| shape.path(Node::Long { id, part }, pages))
                .await?;
        }
        Ok(())
    }

    /// Reads the leaves of a long value's chunks ahead.
    fn preread_long_value(&self, id: u32) {
        let limit = LONG_VALUE_PREREAD_PAGES;
        let pages = self.shape.borrow().long_value_leaves(id, limit);
        self.cache
            .preread(pages.into_iter().map(PageNumber).collect());
    }

    /// Adds a row with its long value and its index entry.
    pub(crate) async fn insert(
        &self,
        transaction: &mut SimulatedTransaction,
        at: RowPlace,
    ) -> Result<(), EngineError> {
        let id = self.take_long_value();
        self.update(transaction, Node::Row(at.row), Change::Insert)
            .await?;
        if let Some(id) = id {
            self.long_values.borrow_mut().set(at.row, id);
            self.update_long(transaction, id, Change::Insert).await?;
        }
        if !self.is_indexed() {
            return Ok(());
        }
        self.update(transaction, Node::Entry(at.place), Change::Insert)
            .await
    }

    fn is_indexed(&self) -> bool {
        self.shape.borrow().geometry.entries.is_some()
    }

    /// Replaces a row; `false` if another transaction has changed it.
    pub(crate) async fn replace(
        &self,
        transaction: &mut SimulatedTransaction,
        row: u64,
        with_long: bool,
    ) -> Result<bool, EngineError> {
        self.read_row(row).await?;
        let id = if with_long {
            self.take_long_value()
        } else {
            None
        };
        if !self.transactions.borrow_mut().write(transaction, row) {
            return Ok(false);
        }
        self.update(transaction, Node::Row(row), Change::Replace)
            .await?;
        if let Some(id) = id {
            let former = self.long_values.borrow().of(row);
            self.update_long(transaction, id, Change::Insert).await?;
            self.release_long_value(transaction, former).await?;
            self.long_values.borrow_mut().set(row, id);
            transaction.former_values.push((row, former));
        }
        Ok(true)
    }

    /// Deletes a row; `false` if another transaction has changed it.
    pub(crate) async fn delete(
        &self,
        transaction: &mut SimulatedTransaction,
        at: RowPlace,
    ) -> Result<bool, EngineError> {
        self.read_row(at.row).await?;
        if !self.transactions.borrow_mut().write(transaction, at.row) {
            return Ok(false);
        }
        self.update(transaction, Node::Row(at.row), Change::Flag)
            .await?;
        if self.is_indexed() {
            self.update(transaction, Node::Entry(at.place), Change::Flag)
                .await?;
        }
        let former = self.long_values.borrow().of(at.row);
        self.release_long_value(transaction, former).await?;
        Ok(true)
    }

    fn take_long_value(&self) -> Option<u32> {
        let is_apart = self.shape.borrow().geometry.long.is_some();
        is_apart.then(|| self.long_values.borrow_mut().take())
    }

    async fn update_long(
        &self,
        transaction: &mut SimulatedTransaction,
        id: u32,
        change: Change,
    ) -> Result<(), EngineError> {
        let nodes = self
            .shape
            .borrow()
            .geometry
            .long
            .map_or(0, |long| long.nodes);
        for part in 0..nodes {
            self.update(transaction, Node::Long { id, part }, change)
                .await?;
        }
        Ok(())
    }

    /// Gives up a long value, having looked at its root.
    async fn release_long_value(
        &self,
        transaction: &mut SimulatedTransaction,
        id: u32,
    ) -> Result<(), EngineError> {
        if self.shape.borrow().geometry.long.is_none() {
            return Ok(());
        }
        self.read(|shape, pages| shape.path(Node::Long { id, part: 0 }, pages))
            .await?;
        self.update_long(transaction, id, Change::Flag).await
    }

    /// Makes the changes of a transaction permanent.
    pub(crate) async fn commit(
        self: &Rc<Self>,
        transaction: SimulatedTransaction,
        durability: Commit,
    ) -> Result<(), EngineError> {
        if transaction.begin.is_none() {
            let mut transactions = self.transactions.borrow_mut();
            transactions.commit(transaction, LogPosition::START);
            drop(transactions);
            self.cleanup_wanted.notify_all();
            return Ok(());
        }
        self.cache.check()?;
        let end = self.append(record::MARK).end;
        self.note_deleted_rows(&transaction);
        self.transactions.borrow_mut().commit(transaction, end);
        self.cleanup_wanted.notify_all();
        self.prepare_next_extension();
        match durability {
            Commit::Durable => self.log.make_durable(end).await?,
            Commit::Lazy { within_ms } => {
                self.log.request(end, within_ms.saturating_mul(1_000_000));
            }
        }
        Ok(())
    }

    fn note_deleted_rows(&self, transaction: &SimulatedTransaction) {
        for update in &transaction.updates {
            if let (Node::Row(row), Change::Flag) = (update.node, update.change) {
                self.note_deleted(row);
                self.long_values.borrow_mut().forget(row);
            }
        }
    }

    /// Takes back everything a transaction did, newest change first.
    pub(crate) async fn roll_back(
        &self,
        mut transaction: SimulatedTransaction,
    ) -> Result<(), EngineError> {
        for &update in transaction.updates.iter().rev() {
            self.take_back(update).await?;
        }
        for (row, id) in transaction.former_values.drain(..).rev() {
            self.long_values.borrow_mut().set(row, id);
        }
        let mut end = LogPosition::START;
        if transaction.begin.is_some() {
            end = self.append(record::MARK).end;
        }
        let mut transactions = self.transactions.borrow_mut();
        transactions.end_rolled_back(&transaction, end);
        drop(transactions);
        self.cleanup_wanted.notify_all();
        Ok(())
    }
}

impl Shape {
    /// The leaf of a long value's first chunk and those after it under the same page.
    fn long_value_leaves(&self, id: u32, limit: u32) -> Vec<u32> {
        let (Some(long), Some(tree)) = (self.geometry.long, &self.long) else {
            return Vec::new();
        };
        let leaf = tree.leaf(u64::from(id - 1) * u64::from(long.nodes) + 1);
        let after = tree.levels().siblings_after(leaf, limit);
        std::iter::once(leaf)
            .chain(after)
            .map(|leaf| tree.page(leaf))
            .collect()
    }
}
