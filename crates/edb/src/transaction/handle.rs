//! The transaction that callers hold.

use super::nodes::ReadView;
use crate::acknowledged::AcknowledgedCommit;
use crate::engine::Core;
use crate::error::EngineError;
use crate::log_record::encode_commit;
use crate::position::LogPosition;
use crate::seeded_bugs::{SeededBug, is_seeded};
use crate::versions::OpenTransaction;
use runtime::{Directory, JoinHandle};
use std::rc::Rc;

/// When a commit returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Commit {
    /// When the log is on stable storage up to the commit.
    Durable,
    /// At once. The log follows within so many milliseconds; a crash before that loses the
    /// transaction, together with all that were committed after it.
    Lazy {
        /// Milliseconds until the commit is durable at the latest.
        within_ms: u64,
    },
}

/// A transaction: a snapshot of the database and the changes made on top of it.
///
/// Nothing is logged before the first change. A transaction that is dropped is rolled back in the
/// background. After an operation has failed, the transaction is as it was before that operation.
pub struct Transaction<D: Directory> {
    pub(crate) core: Rc<Core<D>>,
    open: Option<OpenTransaction>,
}

impl<D: Directory> Transaction<D> {
    pub(crate) fn new(core: &Rc<Core<D>>) -> Self {
        let open = core.transactions.borrow_mut().begin();
        Self {
            core: Rc::clone(core),
            open: Some(open),
        }
    }

    pub(crate) fn open(&mut self) -> Result<&mut OpenTransaction, EngineError> {
        self.open.as_mut().ok_or(EngineError::TransactionEnded)
    }

    pub(crate) fn read_view(&self) -> Result<ReadView, EngineError> {
        self.open
            .as_ref()
            .map(OpenTransaction::read_view)
            .ok_or(EngineError::TransactionEnded)
    }

    /// Whether nothing was changed so far.
    #[must_use]
    pub fn is_read_only(&self) -> bool {
        self.open.as_ref().is_none_or(|open| open.begin.is_none())
    }

    /// Makes the changes visible to transactions that begin from now on, and permanent.
    ///
    /// # Errors
    /// If the log fails: whether the transaction is permanent is then known only after the database
    /// was opened again.
    pub async fn commit(mut self, commit: Commit) -> Result<(), EngineError> {
        let mut open = self.open.take().ok_or(EngineError::TransactionEnded)?;
        if open.begin.is_none() {
            self.core
                .transactions
                .borrow_mut()
                .commit(&mut open, LogPosition::START);
            self.core.wake_cleanup();
            return Ok(());
        }
        if let Err(error) = self.core.check() {
            self.open = Some(open);
            return Err(error);
        }
        let record = encode_commit(open.writer.id);
        let span = self.core.log.append(&record);
        let (begin, end) = (span.begin, span.end);
        let hash = self.core.log.hash_of_last(begin, &record);
        self.core.transactions.borrow_mut().commit(&mut open, end);
        self.core.wake_cleanup();
        self.core.prepare_next_extension();
        match commit {
            Commit::Durable if is_seeded(SeededBug::CommitBeforeFlush) => {
                self.core.log.request(end, 0);
            }
            Commit::Durable => {
                let result = self.core.log.make_durable(end).await;
                result.inspect_err(|error| self.core.poison(error.clone()))?;
                let position = begin;
                self.core.acknowledge(AcknowledgedCommit { position, hash });
            }
            Commit::Lazy { within_ms } => {
                self.core
                    .log
                    .request(end, within_ms.saturating_mul(1_000_000));
            }
        }
        Ok(())
    }

    /// Takes all changes back.
    ///
    /// # Errors
    /// If a page is damaged or a write fails; the changes are then taken back when the database is
    /// opened again.
    pub async fn rollback(mut self) -> Result<(), EngineError> {
        let open = self.open.take().ok_or(EngineError::TransactionEnded)?;
        // In a task of its own: a caller that stops waiting must not leave it half done.
        spawn_rollback(&self.core, open).await
    }
}

impl<D: Directory> Drop for Transaction<D> {
    fn drop(&mut self) {
        let Some(open) = self.open.take() else {
            return;
        };
        if open.begin.is_none() {
            self.core
                .transactions
                .borrow_mut()
                .end_rolled_back(&open, LogPosition::START);
            self.core.wake_cleanup();
        } else if self.core.check().is_ok() {
            // A failure has stopped the database; the restart undoes the rest.
            drop(spawn_rollback(&self.core, open));
        }
    }
}

/// Starts to take back everything a transaction did.
fn spawn_rollback<D: Directory>(
    core: &Rc<Core<D>>,
    open: OpenTransaction,
) -> JoinHandle<Result<(), EngineError>> {
    core.rollbacks.set(core.rollbacks.get() + 1);
    let task = Rc::clone(core);
    core.handle.spawn(async move {
        let result = task.roll_back(open).await;
        task.rollbacks.set(task.rollbacks.get() - 1);
        task.rollback_ended.notify_all();
        result
    })
}
