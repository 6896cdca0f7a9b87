//! Why the ledger could not be compared with the database.

use crate::error::DatabaseError;
use std::io;

/// Why a comparison was not made.
#[derive(Debug, thiserror::Error)]
pub enum CompareError {
    /// The rows could not be read from the database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The file of the ledger failed.
    #[error("the ledger could not be read: {0}")]
    File(#[from] io::Error),
}
