//! What a run needs of the place where its databases live.

use crate::mail::population::PopulationState;
use crate::mail::store::{Failure, MailStore};
use runtime::IoObserver;
use std::rc::Rc;

/// Called with the bytes handled so far; says whether to go on. Work that is told not to ends with
/// [`crate::mail::store::FailureKind::Stopped`].
pub type Progress = Rc<dyn Fn(u64) -> bool>;

/// Called with what is being done, in words.
pub type Doing = Rc<dyn Fn(&str)>;

/// A database that is ready for sessions.
pub struct OpenedDatabase<S> {
    /// The engine's side.
    pub store: S,
    /// The rows that exist.
    pub population: PopulationState,
    /// A sentence about what opening it took, such as recovery; empty when there is nothing to say.
    pub note: String,
}

/// A database that is there and complete.
pub struct BuiltDatabase {
    /// Size of its file in bytes.
    pub size_bytes: u64,
    /// A sentence about what an earlier build had left; empty when there is nothing to say.
    pub note: String,
}

/// Builds, opens, closes, verifies and removes databases, by their number in the run. One host
/// serves the databases of one shard, on its thread.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait DatabaseHost: 'static {
    /// The engine's side of a database.
    type Store: MailStore;

    /// Makes sure that the database is there and complete. `progress` hears only of a database that
    /// has to be built.
    async fn build(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        progress: Progress,
    ) -> Result<BuiltDatabase, Failure>;

    /// Opens the database, and recovers it when it was not closed. `doing` is told what takes time.
    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        doing: Doing,
    ) -> Result<OpenedDatabase<Self::Store>, Failure>;

    /// Writes back what is dirty and closes the database; notes its rows for the next run. Without
    /// `population` transactions have ended in the middle, and the next run counts the rows itself.
    async fn close(
        &self,
        database: usize,
        store: Self::Store,
        population: Option<PopulationState>,
    ) -> Result<(), Failure>;

    /// Reads every page of the closed database and verifies its checksum.
    async fn verify(&self, database: usize, progress: Progress) -> Result<(), Failure>;
}
