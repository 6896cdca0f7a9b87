//! Mail items in a database of the engine.

use super::item::{Item, ItemMaker};
use super::keys::RowAddress;
use super::schema::{self, INDEX, TABLE};
use super::session::message_of_row;
use super::store::{MailStore, MessageNumber, ScanRequest, StoreError};
use edb::Damage;
use edb::{Commit, Database, EngineError, LongValues, Row, ScanOptions, Table, Transaction, Value};
use measure::result::IntegrityClass;
use runtime::Directory;
use std::cell::RefCell;
use std::rc::Rc;
use workload::controller::host::DatabaseStatistics;
use workload::failure::{Failure, FailureKind};

/// An open database of mail items. Clones share it.
pub struct EdbStore<D: Directory> {
    database: Database<D>,
    table: Table,
    file: String,
    long_position: usize,
    is_indexed: bool,
    /// What is wrong with files beside it, and was not taken yet.
    noted: Rc<RefCell<Vec<Failure>>>,
}

impl<D: Directory> Clone for EdbStore<D> {
    fn clone(&self) -> Self {
        Self {
            database: self.database.clone(),
            table: self.table.clone(),
            file: self.file.clone(),
            long_position: self.long_position,
            is_indexed: self.is_indexed,
            noted: Rc::clone(&self.noted),
        }
    }
}

impl<D: Directory> EdbStore<D> {
    /// The items in an open database, as `maker` makes them. `file` is its file as people know it.
    ///
    /// # Errors
    /// If it has no messages table, or one with other columns or indexes.
    pub fn new(database: Database<D>, file: &str, maker: &ItemMaker) -> Result<Self, Failure> {
        let opening = "opening the table";
        let table = database.table(TABLE);
        let table = table.map_err(|error| Failure::of_engine(&error, file, opening))?;
        if !schema::is_like(table.definition(), maker.short_bytes, maker.is_indexed) {
            let error = "it has other columns or indexes than the profile asks for; give the same \
                         settings of mail.item as when it was built";
            return Err(Failure::new(FailureKind::Internal, file, opening, error));
        }
        Ok(Self {
            table,
            database,
            file: file.to_owned(),
            long_position: schema::body_position(maker.short_bytes),
            is_indexed: maker.is_indexed,
            noted: Rc::default(),
        })
    }

    /// The engine's database, for statistics and checks.
    #[must_use]
    pub fn database(&self) -> &Database<D> {
        &self.database
    }

    /// Adds to what is given as damage: what is wrong with a file of the workload beside the database.
    pub(crate) fn note(&self, failures: impl IntoIterator<Item = Failure>) {
        self.noted.borrow_mut().extend(failures);
    }

    fn error(&self, error: &EngineError, operation: &str) -> StoreError {
        match error {
            EngineError::WriteConflict => StoreError::Conflict,
            // One that fills half of it meets another like it, again and again.
            EngineError::VersionStoreFull {
                limit_bytes,
                own_bytes,
            } if own_bytes * 2 >= *limit_bytes => StoreError::Failed(Failure::new(
                FailureKind::Settings,
                &self.file,
                operation,
                format!(
                    "A transaction needs more versions of rows than fit beside those of others. {error} Or set \
                     mail.mix.operations_per_transaction lower."
                ),
            )),
            EngineError::VersionStoreFull { .. } => StoreError::VersionsFull,
            _ => StoreError::Failed(Failure::of_engine(error, &self.file, operation)),
        }
    }

    fn item_of(&self, row: Row) -> Result<Item, StoreError> {
        schema::item(row.values).ok_or_else(|| {
            let error = format!("message {} is not a row of the messages table", row.key);
            let class = IntegrityClass::Contents;
            StoreError::Failed(Failure::of_data(
                class,
                &self.file,
                "reading a mail item",
                &error,
            ))
        })
    }
}

impl<D: Directory> MailStore for EdbStore<D> {
    type Transaction = Transaction<D>;

    fn begin(&self) -> Transaction<D> {
        self.database.begin()
    }

    async fn find(
        &self,
        transaction: &mut Transaction<D>,
        at: RowAddress,
        long: LongValues,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError> {
        let table = &self.table;
        let found = if self.is_indexed {
            transaction.seek_index(table, INDEX, &at.key, long).await
        } else {
            transaction.get(table, message_of_row(at.row), long).await
        };
        let found = found.map_err(|error| self.error(&error, "finding a mail item"))?;
        found
            .map(|row| Ok((row.key, self.item_of(row)?)))
            .transpose()
    }

    async fn get(
        &self,
        transaction: &mut Transaction<D>,
        message: MessageNumber,
        long: LongValues,
    ) -> Result<Option<Item>, StoreError> {
        let found = transaction.get(&self.table, message, long).await;
        let found = found.map_err(|error| self.error(&error, "reading a mail item"))?;
        found.map(|row| self.item_of(row)).transpose()
    }

    async fn messages(
        &self,
        transaction: &mut Transaction<D>,
        from: MessageNumber,
        limit: u32,
    ) -> Result<Vec<(MessageNumber, u64)>, StoreError> {
        let options = ScanOptions {
            limit: limit as usize,
            ..ScanOptions::default()
        };
        let rows = transaction.scan(&self.table, from.., options).await;
        let rows = rows.map_err(|error| self.error(&error, "reading the newest mail items"))?;
        let rows = rows.into_iter();
        let numbers = rows.map(|row| Ok((row.key, self.item_of(row)?.row)));
        numbers.collect()
    }

    async fn insert(
        &self,
        transaction: &mut Transaction<D>,
        item: &Item,
    ) -> Result<MessageNumber, StoreError> {
        let values = schema::values(item, Value::Null);
        let inserted = if self.is_indexed {
            transaction.insert(&self.table, &values).await
        } else {
            let message = message_of_row(item.row);
            let inserted = transaction.insert_numbered(&self.table, message, &values);
            inserted.await.map(|()| message)
        };
        inserted.map_err(|error| self.error(&error, "inserting a mail item"))
    }

    async fn replace(
        &self,
        transaction: &mut Transaction<D>,
        message: MessageNumber,
        item: &Item,
    ) -> Result<(), StoreError> {
        let values = schema::values(item, Value::Null).into_iter().enumerate();
        // The number of the message stays, and the long column unless there is a new one.
        let keeps_long = item.long.is_none();
        let changes = values
            .skip(1)
            .filter(|&(position, _)| !(keeps_long && position == self.long_position))
            .collect();
        let replaced = transaction.update(&self.table, message, changes).await;
        replaced
            .map(|_| ())
            .map_err(|error| self.error(&error, "replacing a mail item"))
    }

    async fn delete(
        &self,
        transaction: &mut Transaction<D>,
        message: MessageNumber,
    ) -> Result<(), StoreError> {
        let deleted = transaction.delete(&self.table, message).await;
        deleted
            .map(|_| ())
            .map_err(|error| self.error(&error, "deleting a mail item"))
    }

    async fn scan(
        &self,
        transaction: &mut Transaction<D>,
        request: &ScanRequest,
    ) -> Result<u32, StoreError> {
        let options = ScanOptions {
            limit: request.items as usize,
            read_ahead: request.read_ahead,
            long_values: request.long,
            ..ScanOptions::default()
        };
        let (table, from) = (&self.table, request.from);
        let rows = if self.is_indexed {
            let scanned = transaction.scan_index(table, INDEX, &from.key, options);
            scanned.await
        } else {
            let from = message_of_row(from.row);
            transaction.scan(table, from.., options).await
        };
        let rows = rows.map_err(|error| self.error(&error, "scanning mail items"))?;
        Ok(rows.len() as u32)
    }

    async fn commit(
        &self,
        transaction: Transaction<D>,
        durability: Commit,
    ) -> Result<(), StoreError> {
        let committed = transaction.commit(durability).await;
        committed.map_err(|error| self.error(&error, "committing a transaction"))
    }

    async fn roll_back(&self, transaction: Transaction<D>) -> Result<(), StoreError> {
        let undone = transaction.rollback().await;
        undone.map_err(|error| self.error(&error, "rolling a transaction back"))
    }

    fn statistics(&self) -> DatabaseStatistics {
        let now = self.database.statistics();
        DatabaseStatistics {
            cached_pages: now.cache.resident_pages,
            cache_capacity_pages: now.cache.capacity_pages,
            cache_largest_pages: now.cache.largest_pages,
            page_fault_stalls: now.cache.page_fault_stalls,
            size_bytes: now.file_size_bytes,
            database_pages: now.owned_pages,
            closing_bytes: now.closing_bytes,
            log_generation: now.log_generation,
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        let damage = self.database.take_damage().into_iter();
        let damage = damage.map(|damage| failure_of(damage, "background work"));
        damage.chain(self.noted.take()).collect()
    }

    fn name(&self) -> String {
        self.file.clone()
    }
}

/// The failure that damage to the files is; `operation` is what was being done.
pub(crate) fn failure_of(damage: Damage, operation: &str) -> Failure {
    match damage {
        Damage::Page(error) => Failure::of_engine(&EngineError::Page(error), "", operation),
        Damage::File(finding) => Failure::of_file(&finding, operation),
    }
}
