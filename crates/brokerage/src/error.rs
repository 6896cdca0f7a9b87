//! Errors of the database.

/// An error of a session, or of the server behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// Serialization failure, deadlock or busy: the transaction was rolled back and can be retried.
    #[error("serialization failure or deadlock: {0}")]
    Conflict(String),
    /// The server does not answer: it crashed, restarts, refuses connections or was shut down. The
    /// session is lost; the run goes on when the server is back.
    #[error("the database server is not available: {0}")]
    Unavailable(String),
    /// The database's volume is full.
    #[error("the database's volume is full: {0}")]
    NoSpace(String),
    /// The server reports corruption or an I/O error.
    #[error("the database reports corruption or an I/O error: {0}")]
    Damaged(String),
    /// Missing permission, or an unknown user.
    #[error("the database server refuses: {0}")]
    Refused(String),
    /// The server or the database cannot be used as it is; the text names the remedy.
    #[error("{0}")]
    Unusable(String),
    /// The statement failed unexpectedly.
    #[error("{statement} failed: {message}")]
    Failed {
        /// Name of the statement, or of the step.
        statement: String,
        /// The message of the server.
        message: String,
    },
}
