//! Removing deleted nodes that nobody can see any more, one logged step each.

use super::core::Core;
use super::shape::Change;
use edb::EngineError;
use runtime::Directory;
use std::rc::Rc;

impl<D: Directory> Core<D> {
    /// Starts the task that removes deleted nodes.
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
                if core.closing.get() || core.cache.check().is_err() {
                    return;
                }
                wanted.await;
            }
        }));
    }

    /// Removes all nodes whose time has come.
    pub(crate) async fn clean_up(&self) -> Result<(), EngineError> {
        let _turn = self.cleanup_turn.acquire().await;
        loop {
            let next = self.transactions.borrow_mut().pop_cleanup();
            let Some(cleanup) = next else {
                return Ok(());
            };
            let result = self.change(cleanup.node, Change::Remove).await;
            let end = self.log.end();
            self.transactions
                .borrow_mut()
                .release_after(cleanup.begin, end);
            result?;
            self.handle.yield_now().await;
        }
    }
}
