//! The lock that a run holds on its database: two at the same time would cancel each other's orders,
//! and find the other's work where they expect their own.

use crate::error::DatabaseError;

/// A lock on a database, held until it is dropped.
pub trait RunLock: Send {
    /// Makes sure that it is still held: a server that was restarted has forgotten it, and it is
    /// taken again.
    ///
    /// # Errors
    /// Another run has taken it meanwhile, or the server does not answer.
    fn keep(&mut self) -> Result<(), LockError>;
}

/// Why a lock was not taken.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LockError {
    /// Somebody else holds it.
    #[error("another run uses this database: {0}")]
    Held(String),
    /// A statement of the lock failed in the database.
    #[error(transparent)]
    Database(#[from] DatabaseError),
}

/// How this process names itself to others: at most 63 bytes, as PostgreSQL keeps.
pub(super) fn own_name() -> String {
    let host = rustix::system::uname();
    let host = host.nodename().to_string_lossy();
    let mut name = format!("proofload, process {} on {host}", std::process::id());
    name.retain(|character| character.is_ascii_graphic() || character == ' ');
    name.truncate(63);
    name
}
