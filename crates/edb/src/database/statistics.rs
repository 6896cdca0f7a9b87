//! Numbers about a running database.

use super::parts::CheckpointParts;
use crate::cache::CacheStatistics;
use crate::engine::Core;
use crate::log::LogStatistics;
use crate::maintenance::MaintenanceStatistics;
use runtime::Directory;

/// What the engine holds and has done since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EngineStatistics {
    /// The database cache: pages, faults, stalls, writes.
    pub cache: CacheStatistics,
    /// What closing the database has to do: bytes of changed pages that are not written yet, and of a page for
    /// each deleted node that waits to be removed.
    pub closing_bytes: u64,
    /// The log: records, bytes, writes.
    pub log: LogStatistics,
    /// The background scan of page checksums: passes, batches, pages.
    pub maintenance: MaintenanceStatistics,
    /// The log file being written.
    pub log_generation: u32,
    /// How far the checkpoint lags behind the end of the log, in bytes.
    pub checkpoint_lag_bytes: u64,
    /// Before-images and undo information in memory, in bytes.
    pub version_store_bytes: u64,
    /// Transactions that have begun and not ended.
    pub open_transactions: u64,
    /// Deleted nodes that wait to be removed.
    pub waiting_cleanups: u64,
    /// Size of the database file, in bytes.
    pub file_size_bytes: u64,
    /// Pages that belong to the database; the file is mostly one extension longer.
    pub owned_pages: u64,
    /// The database time: page changes since the database was created.
    pub dbtime: u64,
}

impl EngineStatistics {
    pub(super) fn of<D: Directory>(
        core: &Core<D>,
        checkpoint_parts: &CheckpointParts<D>,
        maintenance: MaintenanceStatistics,
    ) -> Self {
        let transactions = core.transactions.borrow();
        let page_bytes = core.settings.engine.page_bytes() as u64;
        let cache = core.cache.statistics();
        let waiting_cleanups = transactions.waiting_cleanups() as u64;
        Self {
            cache,
            closing_bytes: (cache.dirty_pages + waiting_cleanups) * page_bytes,
            log: core.log.statistics(),
            maintenance,
            log_generation: core.log.generation(),
            checkpoint_lag_bytes: checkpoint_parts.checkpointer.lag_bytes(),
            version_store_bytes: transactions.bytes(),
            open_transactions: transactions.open_count() as u64,
            waiting_cleanups,
            file_size_bytes: (u64::from(core.growth.file_pages.get()) + 2) * page_bytes,
            owned_pages: u64::from(core.growth.owned_pages.get()),
            dbtime: core.dbtime.get(),
        }
    }
}
