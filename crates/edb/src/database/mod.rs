//! One database: its file, its log, its tables.
//!
//! - [`Database`] creates, opens and closes; [`Database::begin`] starts transactions.
//! - [`create`] makes a new file, [`open`] brings an existing one back, with recovery if need be.
//! - [`backup`] reads all of an open database, [`copy`] keeps what was read, [`restore`] puts it back.
//! - [`growth`] makes the file larger. [`images`] logs pages before they are overwritten.
//! - [`read_back`] compares the headers and the checkpoint with what was written.
//! - [`versions`] reads every page to know its version; [`scan`] verifies them in the background.

mod backup;
mod copy;
mod create;
mod growth;
mod header;
mod images;
mod open;
mod parts;
mod read_back;
mod restore;
mod scan;
mod statistics;
mod versions;

pub use backup::{BackupPass, BackupReads};
pub use copy::{CopyCheck, DatabaseCopy};
pub use restore::{ClosedCopy, RestoreError, Restored};
pub use statistics::EngineStatistics;
pub use versions::Rebuilt;

use crate::acknowledged::{CommitObserver, Opening};
use crate::cache::SpareMemory;
use crate::catalog::Table;
use crate::engine::Core;
use crate::error::EngineError;
use crate::format::database_header::{
    DatabaseHeader, DatabaseState, HeaderLogPosition, TimeAndPosition,
};
use crate::format::schema::TableDefinition;
use crate::integrity::{FileClass, FilePart};
use crate::maintenance::MaintenanceScan;
use crate::transaction::Transaction;
use crate::verification::StoredVersions;
use parts::{CheckpointParts, Place};
pub(crate) use parts::{LateLog, Parts};
use runtime::{Directory, IoFailure};
use std::cell::RefCell;
use std::rc::Rc;

pub use crate::log::LOG_PREFIX;

/// An open database. Clones share it. If the last one is dropped without [`Database::close`], the
/// file is as after a power cut: the next [`Database::open`] recovers it.
pub struct Database<D: Directory> {
    pub(crate) inner: Rc<Inner<D>>,
}

impl<D: Directory> Clone for Database<D> {
    fn clone(&self) -> Self {
        Self {
            inner: Rc::clone(&self.inner),
        }
    }
}

pub(crate) struct Inner<D: Directory> {
    pub(crate) core: Rc<Core<D>>,
    pub(crate) checkpoint_parts: CheckpointParts<D>,
    pub(crate) place: Place<D>,
    /// Until the database is closed.
    scan: RefCell<Option<MaintenanceScan>>,
    /// What has been reported of the copies of header and checkpoint.
    reported_copies: RefCell<Vec<(FilePart, FileClass)>>,
}

impl<D: Directory> Database<D> {
    fn start(core: Rc<Core<D>>, checkpoint_parts: CheckpointParts<D>, place: Place<D>) -> Self {
        core.spawn_cleanup();
        core.prepare_next_extension();
        let scan = RefCell::new(scan::start(&core));
        let inner = Rc::new(Inner {
            core,
            checkpoint_parts,
            place,
            scan,
            reported_copies: RefCell::default(),
        });
        read_back::start(&inner);
        Self { inner }
    }

    /// From now on the size of the cache follows the memory of the host, if it has a smallest size.
    pub fn follow_memory(&self, spare: SpareMemory) {
        self.inner.core.cache.follow_memory(spare);
    }

    /// Creates a table. It is permanent when this returns.
    ///
    /// # Errors
    /// If there is a table of that name, the definition asks for what this engine does not do, or
    /// the storage fails.
    pub async fn create_table(&self, definition: &TableDefinition) -> Result<Table, EngineError> {
        let core = &self.inner.core;
        let table = core.create_table(definition).await?;
        let durable = core.log.make_durable(core.log.end()).await;
        durable.inspect_err(|error| core.poison(error.clone()))?;
        Ok(table)
    }

    /// The table of that name.
    ///
    /// # Errors
    /// If there is none.
    pub fn table(&self, name: &str) -> Result<Table, EngineError> {
        let catalog = self.inner.core.catalog.borrow();
        let table = catalog.tables.get(name).cloned();
        table.ok_or_else(|| EngineError::NoSuchTable(name.to_owned()))
    }

    /// Begins a transaction. It sees everything committed so far.
    #[must_use]
    pub fn begin(&self) -> Transaction<D> {
        Transaction::new(&self.inner.core)
    }

    /// Has `observer` notified of every commit that is durable from now on. Returns what the opened
    /// database is known again by, for [`crate::audit`].
    pub fn observe_commits(&self, observer: Rc<dyn CommitObserver>) -> Opening {
        let core = &self.inner.core;
        *core.commit_observer.borrow_mut() = Some(observer);
        let from = core.log.start_chain();
        Opening::of(&self.inner.checkpoint_parts.headers.header(), from)
    }

    /// Waits until nothing is left to clean up but what open transactions still see, and deleted
    /// records on pages that cannot be read.
    ///
    /// # Errors
    /// If a page is damaged or a write fails.
    pub async fn clean_up(&self) -> Result<(), EngineError> {
        self.inner.core.clean_up_again().await
    }

    /// What the engine holds and has done.
    #[must_use]
    pub fn statistics(&self) -> EngineStatistics {
        let scan = self.inner.scan.borrow();
        let scan = scan.as_ref().map(MaintenanceScan::statistics);
        EngineStatistics::of(
            &self.inner.core,
            &self.inner.checkpoint_parts,
            scan.unwrap_or_default(),
        )
    }

    /// Why the database takes no more work, if so.
    ///
    /// # Errors
    /// The reason.
    pub fn check(&self) -> Result<(), EngineError> {
        self.inner.core.check()
    }

    /// Has the checkpoint stay where it is, so that recovery begins there and every log file from there
    /// on is kept, or lets it go on. A database that is closed lets it go.
    pub fn hold_checkpoint(&self, held: bool) {
        self.inner.checkpoint_parts.checkpointer.hold(held);
    }

    /// Writes everything and marks the file as properly closed. Transactions must have ended; those
    /// that were dropped are rolled back first.
    ///
    /// # Errors
    /// If transactions are open, or the storage fails or has failed: the file is then not marked,
    /// and the next [`Database::open`] recovers it.
    pub async fn close(&self) -> Result<(), EngineError> {
        let core = &self.inner.core;
        while core.rollbacks.get() > 0 {
            core.rollback_ended.notified().await;
        }
        let open = core.transactions.borrow().open_count();
        if open == 0 || core.check().is_err() {
            drop(self.inner.scan.borrow_mut().take());
        }
        let outcome = match core.check() {
            Ok(()) if open > 0 => return Err(EngineError::TransactionsOpen { open }),
            Ok(()) => self.close_cleanly().await,
            Err(EngineError::Closed) => return Ok(()),
            Err(error) => Err(error),
        };
        core.closing.set(true);
        core.cleanup_wanted.notify_all();
        if outcome.is_err() {
            // What is in memory must not reach the disk any more; ending the log ends its tasks.
            let _ = core.log.close().await;
        }
        self.inner.report_overwritten_copies();
        outcome
    }

    async fn close_cleanly(&self) -> Result<(), EngineError> {
        let Inner {
            core,
            checkpoint_parts,
            place,
            ..
        } = &*self.inner;
        match self.clean_up().await {
            // The damaged page has been noted; everything else can be closed.
            Ok(()) | Err(EngineError::Page(_)) => {}
            Err(error) => return Err(error),
        }
        let left = core.transactions.borrow().waiting_cleanups();
        assert_eq!(left, 0, "without transactions everything can be cleaned up");
        core.closing.set(true);
        core.log.make_durable(core.log.end()).await?;
        core.cache.flush_all().await?;
        core.cache.sync().await?;
        checkpoint_parts.checkpointer.hold(false);
        checkpoint_parts.checkpointer.advance().await?;
        let detach = TimeAndPosition {
            time: core.log.time(),
            position: HeaderLogPosition::from_stream(core.log.end().0, core.log.file_size_bytes()),
        };
        core.log.close().await?;
        let mark_clean = |header: &mut DatabaseHeader| {
            header.state = DatabaseState::Clean;
            header.dbtime = core.dbtime.get();
            header.last_object_id = core.last_object_id.get();
            header.detach = detach;
            header.lowest_log_needed = 0;
            header.highest_log_needed = 0;
            header.highest_log_committed = 0;
        };
        let mut header = checkpoint_parts.headers.header();
        mark_clean(&mut header);
        let versions = core.cache.store().versions().versions();
        let stored = StoredVersions::write(&place.directory, &place.name, &header, &versions);
        match stored.await {
            // Without them the next opening reads every page; the database itself is closed well.
            Err(error) if error.failure == IoFailure::OutOfSpace => {}
            stored => stored?,
        }
        checkpoint_parts.headers.update(mark_clean).await?;
        Ok(())
    }
}
