//! What can go wrong.

use crate::cache::{CacheError, PageError};
use crate::format::catalog::CatalogError;
use crate::format::record::RecordError;
use crate::integrity::PageFinding;
use crate::log::LogError;
use runtime::{IoError, IoFailure};
use thiserror::Error;

/// Why the engine refused or failed.
#[derive(Debug, Clone, PartialEq, Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Another transaction changed the record after this one began, or is changing it.
    #[error("Another transaction has changed the record. Roll back and try again.")]
    WriteConflict,
    /// A unique index holds the key already.
    #[error("Index {index} holds this key already. Keys of this index are unique.")]
    KeyDuplicate {
        /// Name of the index.
        index: String,
    },
    /// A page could not be read or is damaged. The transaction can be rolled back and other pages
    /// stay readable.
    #[error(transparent)]
    Page(PageError),
    /// The file could not grow.
    #[error("No space is left for the database to grow ({0}). Free some space and try again.")]
    OutOfSpace(IoError),
    /// A request to the database file failed.
    #[error(transparent)]
    Io(IoError),
    /// The log could not be written or read.
    #[error(transparent)]
    Log(LogError),
    /// Too many versions are kept for open transactions.
    #[error(
        "The version store is full ({limit_bytes} bytes, {own_bytes} of them of this transaction). Commit \
         or roll back long transactions, or set engine.version_store higher."
    )]
    VersionStoreFull {
        /// The setting `engine.version_store`, in bytes.
        limit_bytes: u64,
        /// What the transaction itself holds of it.
        own_bytes: u64,
    },
    /// A write failed before, so what the disk holds is not known any more.
    #[error(
        "The database takes no more work because an earlier write failed. {cause} Close the \
         database and open it again."
    )]
    Poisoned {
        /// The error of the write that failed first, as a sentence.
        cause: String,
        /// Why the request failed, if one did.
        failure: Option<IoFailure>,
    },
    /// The database is closed or being closed.
    #[error("The database has been closed.")]
    Closed,
    /// The database cannot be closed while transactions are open.
    #[error("{open} transactions are open. Commit them or roll them back before closing.")]
    TransactionsOpen {
        /// Number of open transactions, at least 1.
        open: usize,
    },
    /// The transaction has ended.
    #[error("The transaction has ended. Begin another one.")]
    TransactionEnded,
    /// There is no such table.
    #[error("There is no table {0} in this database.")]
    NoSuchTable(String),
    /// There is no such index.
    #[error("Table {table} has no index {index}.")]
    NoSuchIndex {
        /// Name of the table.
        table: String,
        /// The index name that was asked for.
        index: String,
    },
    /// A table of this name exists.
    #[error("There is a table {0} in this database already.")]
    TableExists(String),
    /// The definition of a table asks for something this engine does not do.
    #[error("Table {table} cannot be created: {reason}.")]
    Definition {
        /// Name of the table to be created.
        table: String,
        /// Which part of the definition is not supported, without a full stop.
        reason: String,
    },
    /// The values do not make a row of the table.
    #[error("The row does not fit table {table}: {reason}.")]
    Row {
        /// Name of the table.
        table: String,
        /// Which value is wrong, without a full stop.
        reason: String,
    },
    /// A record or the catalog is damaged although the page checksums are right.
    #[error("Table {table} is damaged: {reason}. Restore the database from a backup.")]
    Damaged {
        /// Name of the table.
        table: String,
        /// What is damaged, without a full stop.
        reason: String,
    },
    /// The settings cannot work.
    #[error("{0}")]
    Settings(String),
    /// The file is no database, or none that can be used.
    #[error("{file} cannot be opened: {reason}.")]
    NotADatabase {
        /// Name of the database file.
        file: String,
        /// What is wrong, and the remedy.
        reason: String,
    },
    /// The log ends before changes that the files show to have been logged.
    #[error(
        "{file} cannot be recovered: the storage lost the end of the log ({evidence}); restore the \
         database from a backup."
    )]
    LogEndLost {
        /// Name of the database file.
        file: String,
        /// What shows that there was more log, without a full stop.
        evidence: String,
    },
    /// A page was being written when there was no space left, and a part of it was written.
    #[error(
        "{file} cannot be recovered: page {page} was being written when no space was left, and only a \
         part of it was written; build the database again, or restore it from a backup."
    )]
    HalfWritten {
        /// Name of the database file.
        file: String,
        /// Number of the page in the file.
        page: u32,
    },
    /// Recovery has found a page that lacks a write which the log says it has.
    #[error(
        "{file} cannot be recovered: page {page} is of database time {found} where the log expects \
         {expected}: the storage lost a write; restore the database from a backup."
    )]
    LostWrite {
        /// Name of the database file.
        file: String,
        /// Number of the page in the file.
        page: u32,
        /// The database time of the page.
        found: u64,
        /// The database time that it had when the log was written.
        expected: u64,
    },
    /// Recovery cannot go on.
    #[error("{file} cannot be recovered: {reason}.")]
    Recovery {
        /// Name of the database file.
        file: String,
        /// What is wrong, and the remedy.
        reason: String,
    },
}

impl From<IoError> for EngineError {
    fn from(error: IoError) -> Self {
        match error.failure {
            IoFailure::OutOfSpace => Self::OutOfSpace(error),
            _ => Self::Io(error),
        }
    }
}

impl From<LogError> for EngineError {
    fn from(error: LogError) -> Self {
        Self::Log(error)
    }
}

impl From<CacheError> for EngineError {
    fn from(error: CacheError) -> Self {
        match error {
            CacheError::Page(error) => Self::Page(error),
            CacheError::Log(error) => Self::Log(error),
            CacheError::Poisoned(_) | CacheError::LogFailed(_) => Self::Poisoned {
                failure: error.io_failure().cloned(),
                cause: error.to_string(),
            },
        }
    }
}

impl EngineError {
    /// Why a request failed, if one did.
    #[must_use]
    pub fn io_failure(&self) -> Option<&IoFailure> {
        match self {
            Self::OutOfSpace(error) | Self::Io(error) => Some(&error.failure),
            Self::Poisoned { failure, .. } => failure.as_ref(),
            Self::Log(error) => error.io_failure(),
            Self::Page(error) => error.io_failure(),
            _ => None,
        }
    }

    /// What is wrong with a page, if that is the error.
    pub(crate) fn finding(&self) -> Option<&PageFinding> {
        match self {
            Self::Page(error) => error.finding(),
            _ => None,
        }
    }

    pub(crate) fn of_record(table: &str, error: &RecordError) -> Self {
        Self::Row {
            table: table.to_owned(),
            reason: error.to_string(),
        }
    }

    pub(crate) fn damaged(table: &str, reason: &(impl ToString + ?Sized)) -> Self {
        Self::Damaged {
            table: table.to_owned(),
            reason: reason.to_string(),
        }
    }
}

impl From<CatalogError> for EngineError {
    fn from(error: CatalogError) -> Self {
        Self::damaged("MSysObjects", &error)
    }
}
