//! A connection to the database as the transactions use it.

use crate::error::DatabaseError;
use crate::row::Answers;
use crate::statement::Statement;
use crate::value::Value;
use std::future::Future;
use std::pin::Pin;

/// Isolation levels that transactions ask the server for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // The names are those of the SQL standard.
pub enum Isolation {
    ReadCommitted,
    RepeatableRead,
    Serializable,
}

/// A statement with its parameters.
#[derive(Debug, Clone)]
pub struct Call {
    /// The statement to execute.
    pub statement: &'static Statement,
    /// Values of `$1`, `$2` ...
    pub parameters: Vec<Value>,
}

/// What follows a batch of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AfterBatch {
    /// The transaction stays open.
    Continue,
    /// Commit, in the same round trip if the database can.
    Commit,
}

/// A pending result of a session.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + 'a>>;

/// One connection.
///
/// A transaction is [`begin`](Self::begin), any number of [`run`](Self::run)s, the last of them
/// with [`AfterBatch::Commit`] (an empty batch will do), or [`rollback`](Self::rollback). After an
/// error the transaction is over: the session has rolled it back itself if it still can.
///
/// Waiting for a result blocks the thread, unless [`share_thread`](Self::share_thread) was called.
pub trait Session: Send {
    /// From now on other tasks of the runtime run on this thread while results are pending, if the
    /// session can do that.
    fn share_thread(&mut self) {}

    /// Begins a transaction. It may be sent only with the first batch.
    ///
    /// # Errors
    /// The server is gone, or a transaction is open already.
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError>;

    /// Executes calls in order, in one round trip if the database can, and returns a result set for
    /// each. They are valid until the next batch.
    ///
    /// # Errors
    /// The first call that failed; those after it were not executed.
    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: AfterBatch,
    ) -> Answering<'answering, &'session Answers>;

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// The server is gone.
    fn rollback(&mut self) -> Answering<'_, ()>;

    /// Rolls the open transaction back without waiting for the server's answer. An error is
    /// returned by the next operation.
    fn abandon(&mut self);
}
