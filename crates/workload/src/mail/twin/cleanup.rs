//! Removing deleted nodes that nobody can see any more, one logged step each.

use super::core::Core;
use super::shape::Change;
use super::transactions::Cleanup;
use edb::EngineError;
use edb::transaction::CLEANUPS_AT_ONCE;
use runtime::Directory;
use std::rc::Rc;

impl<D: Directory> Core<D> {
    /// Starts the task.
    pub(crate) fn spawn_cleanup(self: &Rc<Self>) {
        let core = Rc::downgrade(self);
        drop(self.handle.spawn(async move {
            loop {
                let Some(core) = core.upgrade() else {
                    return;
                };
                let wanted = core.cleanup_wanted.notified();
                // A failure stops the database or is met again by whoever uses the page.
                let _ = core.clean_up().await;
                if core.closing.get() || core.pool.check().is_err() {
                    return;
                }
                wanted.await;
            }
        }));
    }

    /// Removes all nodes whose time has come.
    pub(crate) async fn clean_up(self: &Rc<Self>) -> Result<(), EngineError> {
        let _turn = self.cleanup_turn.acquire().await;
        loop {
            let some = self
                .transactions
                .borrow_mut()
                .pop_cleanups(CLEANUPS_AT_ONCE);
            if some.is_empty() {
                return Ok(());
            }
            let tasks = some.into_iter().map(|cleanup| {
                let core = Rc::clone(self);
                let remove = async move { core.remove_deleted(cleanup).await };
                self.handle.spawn(remove)
            });
            let tasks: Vec<_> = tasks.collect();
            let mut result = Ok(());
            for task in tasks {
                result = result.and(task.await);
            }
            result?;
        }
    }

    async fn remove_deleted(&self, cleanup: Cleanup) -> Result<(), EngineError> {
        let result = self.change(cleanup.node, Change::Remove).await;
        let tip = self.log.tip();
        let mut transactions = self.transactions.borrow_mut();
        transactions.release_after(cleanup.begin, tip);
        result
    }
}
