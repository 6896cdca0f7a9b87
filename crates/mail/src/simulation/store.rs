//! The simulation as a store of mail items.

use super::open::OpenSimulation;
use super::operations::RowPlace;
use super::scan::{KeyOrder, Run};
use super::transactions::SimulatedTransaction;
use crate::item::Item;
use crate::keys::{IndexKey, RowAddress, RowKeys};
use crate::session::message_of_row;
use crate::store::{Commit, LongValues, MailStore, MessageNumber, ScanRequest, StoreError};
use edb::EngineError;
use runtime::{Directory, File};
use std::cell::Cell;
use std::rc::Rc;
use workload::controller::host::DatabaseStatistics;
use workload::failure::Failure;

/// An open database of mail items without contents. Clones share it.
///
/// Messages are numbered by their rows, from 1.
pub struct SimulatedStore<D: Directory> {
    inner: Rc<Inner<D>>,
}

struct Inner<D: Directory> {
    open: OpenSimulation<D>,
    keys: RowKeys,
    order: KeyOrder,
    /// Rows inserted so far, deleted ones included.
    rows: Cell<u64>,
}

impl<D: Directory> Clone for SimulatedStore<D> {
    fn clone(&self) -> Self {
        Self {
            inner: Rc::clone(&self.inner),
        }
    }
}

impl<D: Directory> SimulatedStore<D> {
    pub(crate) fn new(open: OpenSimulation<D>, keys: RowKeys, built_rows: u64) -> Self {
        let order = KeyOrder::new(keys.clone(), built_rows);
        let rows = Cell::new(built_rows);
        Self {
            inner: Rc::new(Inner {
                open,
                keys,
                order,
                rows,
            }),
        }
    }

    pub(crate) async fn close(&self) -> Result<(), Failure> {
        let closed = self.inner.open.close().await;
        closed.map_err(|error| Failure::of_engine(&error, &self.name(), "closing the database"))
    }

    fn error(&self, error: &EngineError, operation: &str) -> StoreError {
        StoreError::Failed(Failure::of_engine(error, &self.name(), operation))
    }

    async fn long_value(&self, row: u64, long: LongValues) -> Result<(), StoreError> {
        if long == LongValues::Leave {
            return Ok(());
        }
        let read = self.inner.open.core.read_long_value(row).await;
        read.map_err(|error| self.error(&error, "reading a mail item"))
    }

    fn item(&self, row: u64, key: IndexKey) -> Item {
        Item {
            key,
            row,
            ..Item::default()
        }
    }
}

/// The first bytes of a key as a number.
fn place_of(key: &IndexKey) -> u64 {
    u64::from_be_bytes([
        key[0], key[1], key[2], key[3], key[4], key[5], key[6], key[7],
    ])
}

/// The row of a message.
fn row_of_message(message: MessageNumber) -> u64 {
    (message - message_of_row(0)) as u64
}

impl<D: Directory> MailStore for SimulatedStore<D> {
    type Transaction = SimulatedTransaction;

    const CARRIES_CONTENTS: bool = false;

    fn begin(&self) -> SimulatedTransaction {
        self.inner.open.core.transactions.borrow_mut().begin()
    }

    async fn find(
        &self,
        _transaction: &mut SimulatedTransaction,
        address: RowAddress,
        long: LongValues,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError> {
        let (row, place) = (address.row, place_of(&address.key));
        let at = RowPlace { row, place };
        let found = self.inner.open.core.find(at).await;
        if !found.map_err(|error| self.error(&error, "finding a mail item"))? {
            return Ok(None);
        }
        self.long_value(at.row, long).await?;
        let message = message_of_row(at.row);
        Ok(Some((message, self.item(at.row, address.key))))
    }

    async fn get(
        &self,
        _transaction: &mut SimulatedTransaction,
        message: MessageNumber,
        long: LongValues,
    ) -> Result<Option<Item>, StoreError> {
        let row = row_of_message(message);
        let found = self.inner.open.core.read_row(row).await;
        if !found.map_err(|error| self.error(&error, "reading a mail item"))? {
            return Ok(None);
        }
        self.long_value(row, long).await?;
        Ok(Some(self.item(row, self.inner.keys.key(row))))
    }

    async fn messages(
        &self,
        _transaction: &mut SimulatedTransaction,
        from: MessageNumber,
        limit: u32,
    ) -> Result<Vec<(MessageNumber, u64)>, StoreError> {
        // A simulation never loses power, so nobody has to count its rows again: those in memory do.
        let rows = row_of_message(from.max(1))..self.inner.rows.get();
        let core = &self.inner.open.core;
        let rows = rows.filter(|&row| !core.is_deleted(row));
        Ok(rows
            .take(limit as usize)
            .map(|row| (message_of_row(row), row))
            .collect())
    }

    async fn insert(
        &self,
        transaction: &mut SimulatedTransaction,
        item: &Item,
    ) -> Result<MessageNumber, StoreError> {
        let row = item.row;
        self.inner.rows.set(self.inner.rows.get().max(row + 1));
        let place = place_of(&item.key);
        let at = RowPlace { row, place };
        let inserted = self.inner.open.core.insert(transaction, at).await;
        inserted.map_err(|error| self.error(&error, "inserting a mail item"))?;
        Ok(message_of_row(row))
    }

    async fn replace(
        &self,
        transaction: &mut SimulatedTransaction,
        message: MessageNumber,
        item: &Item,
    ) -> Result<(), StoreError> {
        let row = row_of_message(message);
        let with_long = item.long.is_some();
        let replaced = self
            .inner
            .open
            .core
            .replace(transaction, row, with_long)
            .await;
        match replaced {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Conflict),
            Err(error) => Err(self.error(&error, "replacing a mail item")),
        }
    }

    async fn delete(
        &self,
        transaction: &mut SimulatedTransaction,
        message: MessageNumber,
    ) -> Result<(), StoreError> {
        let row = row_of_message(message);
        let place = place_of(&self.inner.keys.key(row));
        let at = RowPlace { row, place };
        match self.inner.open.core.delete(transaction, at).await {
            Ok(true) => Ok(()),
            Ok(false) => Err(StoreError::Conflict),
            Err(error) => Err(self.error(&error, "deleting a mail item")),
        }
    }

    async fn scan(
        &self,
        _transaction: &mut SimulatedTransaction,
        request: &ScanRequest,
    ) -> Result<u32, StoreError> {
        let run = Run {
            from: RowPlace {
                row: request.from.row,
                place: place_of(&request.from.key),
            },
            items: request.items,
            with_long: request.long == LongValues::Fetch,
            read_ahead: request.read_ahead,
        };
        let (order, rows) = (&self.inner.order, self.inner.rows.get());
        let scanned = self.inner.open.core.scan(order, rows, run).await;
        scanned.map_err(|error| self.error(&error, "scanning mail items"))
    }

    async fn commit(
        &self,
        transaction: SimulatedTransaction,
        durability: Commit,
    ) -> Result<(), StoreError> {
        let committed = self.inner.open.core.commit(transaction, durability).await;
        committed.map_err(|error| self.error(&error, "committing a transaction"))
    }

    async fn roll_back(&self, transaction: SimulatedTransaction) -> Result<(), StoreError> {
        let undone = self.inner.open.core.roll_back(transaction).await;
        undone.map_err(|error| self.error(&error, "rolling a transaction back"))
    }

    fn statistics(&self) -> DatabaseStatistics {
        let core = &self.inner.open.core;
        let cache = core.cache.statistics();
        let page_bytes = core.settings.engine.page_bytes() as u64;
        DatabaseStatistics {
            cached_pages: cache.resident_pages,
            cache_capacity_pages: cache.capacity_pages,
            cache_largest_pages: cache.largest_pages,
            page_fault_stalls: cache.page_fault_stalls,
            size_bytes: (u64::from(core.file_pages.get()) + 2) * page_bytes,
            database_pages: u64::from(core.owned_pages.get()),
            closing_bytes: cache.dirty_pages * page_bytes,
            ..DatabaseStatistics::default()
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        Vec::new() // Pages without contents are not damaged.
    }

    fn name(&self) -> String {
        self.inner.open.core.file.file().name()
    }
}
