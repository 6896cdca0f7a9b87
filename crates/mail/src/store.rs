//! What sessions need of a database: the interface between the workload and an engine.

use super::item::Item;
use super::keys::RowAddress;
use workload::controller::host::DatabaseStatistics;
use workload::failure::Failure;

pub use edb::{Commit, LongValues};

/// The number of a row in the table: its key there.
pub type MessageNumber = i64;

/// Why a transaction did not go through.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoreError {
    /// Another transaction has changed the row: roll back and try again.
    Conflict,
    /// Too many old versions are kept for open transactions: roll back and try again.
    VersionsFull,
    /// The storage or the engine failed; some failures end the run ([`Failure::ends_run`]).
    Failed(Failure),
}

impl From<Failure> for StoreError {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}

/// A run of items to read, in the order of the index or, without one, of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ScanRequest {
    /// The row to begin with.
    pub from: RowAddress,
    /// The number of items.
    pub items: u32,
    /// Whether the long columns are fetched.
    pub long: LongValues,
    /// Whether coming pages are read ahead.
    pub read_ahead: bool,
}

/// A database of mail items with transactions. Clones share it.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait MailStore: Clone + 'static {
    /// An open transaction: a snapshot and the changes made on top of it.
    type Transaction: 'static;

    /// Whether items have contents that come back as they were written. Without, sessions neither
    /// make them nor look at them.
    const CARRIES_CONTENTS: bool = true;

    /// Begins a transaction, whose snapshot is of this moment.
    fn begin(&self) -> Self::Transaction;

    /// Finds an item, through the secondary index if there is one.
    async fn find(
        &self,
        transaction: &mut Self::Transaction,
        at: RowAddress,
        long: LongValues,
    ) -> Result<Option<(MessageNumber, Item)>, StoreError>;

    /// Reads an item by its message number.
    async fn get(
        &self,
        transaction: &mut Self::Transaction,
        message: MessageNumber,
        long: LongValues,
    ) -> Result<Option<Item>, StoreError>;

    /// The first messages from a number on, up to `limit`, in the order of their numbers: each with
    /// its row.
    async fn messages(
        &self,
        transaction: &mut Self::Transaction,
        from: MessageNumber,
        limit: u32,
    ) -> Result<Vec<(MessageNumber, u64)>, StoreError>;

    /// Adds an item, and gives it a number.
    async fn insert(
        &self,
        transaction: &mut Self::Transaction,
        item: &Item,
    ) -> Result<MessageNumber, StoreError>;

    /// Replaces an item; without a long column in `item` the old one stays.
    async fn replace(
        &self,
        transaction: &mut Self::Transaction,
        message: MessageNumber,
        item: &Item,
    ) -> Result<(), StoreError>;

    /// Deletes an item with all its columns.
    async fn delete(
        &self,
        transaction: &mut Self::Transaction,
        message: MessageNumber,
    ) -> Result<(), StoreError>;

    /// Reads a run of items; gives how many there were.
    async fn scan(
        &self,
        transaction: &mut Self::Transaction,
        request: &ScanRequest,
    ) -> Result<u32, StoreError>;

    /// Ends a transaction and keeps its changes.
    async fn commit(
        &self,
        transaction: Self::Transaction,
        durability: Commit,
    ) -> Result<(), StoreError>;

    /// Ends a transaction and undoes its changes.
    async fn roll_back(&self, transaction: Self::Transaction) -> Result<(), StoreError>;

    /// How the engine is doing.
    fn statistics(&self) -> DatabaseStatistics;

    /// The damage that the engine has met in the background since the last call, where no request reports
    /// it.
    fn take_damage(&self) -> Vec<Failure>;

    /// The database file, for messages.
    fn name(&self) -> String;
}
