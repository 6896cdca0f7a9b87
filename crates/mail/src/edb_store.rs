//! Mail items in a database of the engine.

use super::item::Item;
use super::keys::IndexKey;
use super::schema::{self, INDEX, TABLE};
use super::store::{MailStore, MessageNumber, ScanRequest, StoreError};
use edb::Damage;
use edb::{Commit, Database, EngineError, LongValues, Row, ScanOptions, Table, Transaction, Value};
use measure::result::IntegrityClass;
use runtime::Directory;
use workload::controller::host::DatabaseStatistics;
use workload::failure::Failure;

/// An open database of mail items. Clones share it.
pub struct EdbStore<D: Directory> {
    database: Database<D>,
    table: Table,
    file: String,
    long_position: usize,
}

impl<D: Directory> Clone for EdbStore<D> {
    fn clone(&self) -> Self {
        Self {
            database: self.database.clone(),
            table: self.table.clone(),
            file: self.file.clone(),
            long_position: self.long_position,
        }
    }
}

impl<D: Directory> EdbStore<D> {
    /// The items in an open database. `file` is its file as people know it.
    ///
    /// # Errors
    /// If it has no messages table.
    pub fn new(database: Database<D>, file: &str, short_bytes: usize) -> Result<Self, Failure> {
        let table = database.table(TABLE);
        Ok(Self {
            table: table.map_err(|error| Failure::of_engine(&error, file, "opening the table"))?,
            database,
            file: file.to_owned(),
            long_position: schema::body_position(short_bytes),
        })
    }

    /// The engine's database, for statistics and checks.
    #[must_use]
    pub fn database(&self) -> &Database<D> {
        &self.database
    }

    fn error(&self, error: &EngineError, operation: &str) -> StoreError {
        match error {
            EngineError::WriteConflict => StoreError::Conflict,
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
        key: &IndexKey,
        long: LongValues,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError> {
        let found = transaction.seek_index(&self.table, INDEX, key, long).await;
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
        let inserted = transaction.insert(&self.table, &values).await;
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
        let rows = transaction
            .scan_index(&self.table, INDEX, &request.from, options)
            .await;
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
            page_fault_stalls: now.cache.page_fault_stalls,
            size_bytes: now.file_size_bytes,
            database_pages: now.owned_pages,
            dirty_bytes: now.dirty_bytes,
        }
    }

    fn take_damage(&self) -> Vec<Failure> {
        let damage = self.database.take_damage().into_iter();
        damage
            .map(|damage| failure_of(damage, "background work"))
            .collect()
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
