//! What can go wrong between the house and its database.

/// An error of a session, or of the server behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// Another transaction was in the way (serialization failure, deadlock, busy): the transaction
    /// was rolled back and can be tried again.
    #[error("another transaction was in the way: {0}")]
    Conflict(String),
    /// The server does not answer: it died, restarts, refuses connections or was shut down. The
    /// session is lost; the run goes on when the server returns.
    #[error("the database server does not serve: {0}")]
    Unavailable(String),
    /// The server has no room left.
    #[error("the database has no room left on its volume: {0}")]
    NoSpace(String),
    /// The server says that its data is damaged, or that its storage failed.
    #[error("the database reports damage or failing storage: {0}")]
    Damaged(String),
    /// Who asks may not, or is not known.
    #[error("the database server refuses: {0}")]
    Refused(String),
    /// Something stands in the way of the house that it must not touch, with the remedy.
    #[error("{0}")]
    InTheWay(String),
    /// The statement failed in a way that should not happen.
    #[error("the database could not carry out {statement}: {message}")]
    Failed {
        /// Name of the statement, or what was being done.
        statement: String,
        /// What the server said.
        message: String,
    },
}
