//! Errors of the database.

use measure::result::OutageCause;

/// A statement was cancelled.
pub(crate) const CANCELLED: &str =
    "the server cancelled a statement, by a time limit or for an administrator";
/// A key exists already, or a row that is referred to does not.
pub(crate) const ROWS_OF_OTHERS: &str =
    "a key of this run exists already, or a row is gone: another client writes to this database";
/// Memory, or another limit of the server.
pub(crate) const SERVER_LIMIT: &str = "the server has reached a limit of its own";

/// Something is not supported that was.
pub(crate) const NO_LONGER_SUPPORTED: &str =
    "the server cannot do this, as after it has become a standby";

/// An error of a session, or of the server behind it.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DatabaseError {
    /// Serialization failure, deadlock or busy: the transaction was rolled back and can be retried.
    #[error("serialization failure or deadlock: {0}")]
    Conflict(String),
    /// The server does not answer: it crashed, restarts, refuses connections or was shut down. The
    /// session is lost; the run goes on when the server is back.
    #[error("the database server is not available: {message}")]
    Unavailable {
        /// Why, by the code of the server's error.
        cause: OutageCause,
        /// The message of the server, or what became of the connection.
        message: String,
    },
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
    /// The server ended the statement for a reason that is not the storage's.
    #[error("{cause}: {statement} failed: {message}")]
    ServerSide {
        /// What has happened, in words.
        cause: &'static str,
        /// Name of the statement, or of the step.
        statement: String,
        /// The message of the server.
        message: String,
    },
    /// The statement failed unexpectedly.
    #[error("{statement} failed: {message}")]
    Failed {
        /// Name of the statement, or of the step.
        statement: String,
        /// The message of the server.
        message: String,
    },
}

impl DatabaseError {
    /// Whether a commit that ended with it may have succeeded all the same.
    pub(crate) fn leaves_doubt(&self) -> bool {
        !matches!(self, Self::Conflict(_))
    }

    /// A server that does not answer, and does not say why.
    pub(crate) fn unavailable(message: impl Into<String>) -> Self {
        Self::Unavailable {
            cause: OutageCause::Other,
            message: message.into(),
        }
    }

    /// A statement, or a step, that failed unexpectedly.
    pub(crate) fn failed(statement: impl Into<String>, message: impl Into<String>) -> Self {
        let (statement, message) = (statement.into(), message.into());
        Self::Failed { statement, message }
    }

    /// A statement, or a step, that failed by this `cause` in the server or in other clients, or
    /// unexpectedly.
    pub(crate) fn failed_by(cause: Option<&'static str>, statement: &str, message: String) -> Self {
        let statement = statement.to_owned();
        match cause {
            Some(cause) => Self::ServerSide {
                cause,
                statement,
                message,
            },
            None => Self::Failed { statement, message },
        }
    }
}
