//! What open databases acknowledge, for whoever reports it elsewhere.

use edb::Database;
use edb::audit::{AcknowledgedCommit, CommitObserver, Opening};
use runtime::Directory;
use std::rc::Rc;

/// Called with the number of a database and what it acknowledges. Must not block.
pub type OnAcknowledged = Rc<dyn Fn(usize, Acknowledged)>;

/// What a database acknowledges.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acknowledged {
    /// It has been opened; commits follow.
    Opening(Opening),
    /// A transaction is durable.
    Commit(AcknowledgedCommit),
}

/// The commits of one database.
struct CommitsOf {
    database: usize,
    on_acknowledged: OnAcknowledged,
}

impl CommitObserver for CommitsOf {
    fn acknowledged(&self, commit: AcknowledgedCommit) {
        (self.on_acknowledged)(self.database, Acknowledged::Commit(commit));
    }
}

/// Has somebody notified of the opening of a database, and of its commits from now on.
pub(crate) fn observe<D: Directory>(
    database: usize,
    engine: &Database<D>,
    on_acknowledged: &OnAcknowledged,
) {
    let opening = engine.observe_commits(Rc::new(CommitsOf {
        database,
        on_acknowledged: Rc::clone(on_acknowledged),
    }));
    on_acknowledged(database, Acknowledged::Opening(opening));
}
