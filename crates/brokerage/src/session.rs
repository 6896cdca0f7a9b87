//! A connection to the database as the transactions see it.

use crate::error::DatabaseError;
use crate::row::Answers;
use crate::statement::Statement;
use crate::value::Value;
use std::future::Future;
use std::pin::Pin;

/// How far a transaction is kept from others.
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
    /// What to do.
    pub statement: &'static Statement,
    /// Values for `$1`, `$2` ...
    pub parameters: Vec<Value>,
}

/// What comes after a batch of calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Then {
    /// The transaction goes on.
    GoOn,
    /// It is committed, with the batch if the database can: one journey to the server for both.
    Commit,
}

/// An answer that is under way.
pub type Answering<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + 'a>>;

/// One connection.
///
/// A transaction is [`begin`](Self::begin), any number of [`run`](Self::run)s, the last of them
/// with [`Then::Commit`] (an empty batch will do), or [`rollback`](Self::rollback). After an error
/// the transaction is over: the session has rolled it back itself if it still can.
///
/// Whoever waits for an answer holds the thread, unless the session was told otherwise by
/// [`share_thread`](Self::share_thread).
pub trait Session: Send {
    /// Lets other tasks of the runtime on this thread work while answers are under way, if the
    /// session can.
    fn share_thread(&mut self) {}

    /// Begins a transaction. It may be sent only with the first batch.
    ///
    /// # Errors
    /// The server is gone, or a transaction is open already.
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError>;

    /// Carries out calls one after the other, in one journey if the database can, and gives an
    /// answer for each. They stand until the next batch.
    ///
    /// # Errors
    /// The first call that failed; those after it were not carried out.
    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: Then,
    ) -> Answering<'answering, &'session Answers>;

    /// Rolls the open transaction back.
    ///
    /// # Errors
    /// The server is gone.
    fn rollback(&mut self) -> Answering<'_, ()>;

    /// Rolls the open transaction back without waiting for an answer. An error shows with what
    /// comes next.
    fn abandon(&mut self);
}
