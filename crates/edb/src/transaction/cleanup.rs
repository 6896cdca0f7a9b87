//! Removing deleted nodes that nobody can see any more.
//!
//! A task of each database takes them off its queue, one logged step each, and joins or frees pages
//! that became sparse or empty. Until a node is gone, the checkpoint does not pass the beginning of
//! the transaction that deleted it, so a restart finds out about it from the log.

use crate::engine::{Admission, Core};
use crate::error::EngineError;
use crate::format::page::{NodeFlags, PageView};
use crate::log_record::encode_system;
use crate::tree::{self, Found, Need, Step};
use crate::versions::Cleanup;
use runtime::Directory;
use runtime::time::MILLISECOND_NS;
use std::rc::Rc;

/// Waits before a page whose read failed is read again, in milliseconds. A page that is damaged has
/// been read again by the store already.
const READ_AGAIN_AFTER_MS: [u64; 3] = [1, 100, 800];

impl<D: Directory> Core<D> {
    /// Starts the task that removes deleted nodes. It ends when the database closes or takes no
    /// more work.
    pub(crate) fn spawn_cleanup(self: &Rc<Self>) {
        let core = Rc::downgrade(self);
        self.handle.spawn(async move {
            loop {
                let Some(core) = core.upgrade() else {
                    return;
                };
                let wanted = core.cleanup_wanted.notified();
                // A failed write stops the database, and damaged pages have been noted.
                let _ = core.clean_up().await;
                if core.closing.get() || core.check().is_err() {
                    return;
                }
                wanted.await;
            }
        });
    }

    /// Wakes the task if there is something for it to do.
    pub(crate) fn wake_cleanup(&self) {
        if self.transactions.borrow().has_cleanups() {
            self.cleanup_wanted.notify_all();
        }
    }

    /// Removes all nodes whose time has come. One that stands on a page that cannot be read is set
    /// aside: it stays where it is, with its deleted flag, which readers see, until
    /// [`Core::clean_up_again`]. Waiting for the page would hold back the checkpoint, and the log would
    /// grow until no space is left.
    ///
    /// # Errors
    /// The first page that could not be read, when all others are done; at once what stops the
    /// database.
    pub(crate) async fn clean_up(&self) -> Result<(), EngineError> {
        let _turn = self.cleanup_turn.acquire().await;
        let mut outcome = Ok(());
        loop {
            let next = self.transactions.borrow_mut().pop_cleanup();
            let Some(cleanup) = next else {
                return outcome;
            };
            let result = self.remove_deleted(&cleanup).await;
            match self.end_cleanup(cleanup, result) {
                Err(error @ EngineError::Page(_)) => outcome = outcome.and(Err(error)),
                ended => ended?,
            }
            self.handle.yield_now().await;
        }
    }

    /// As [`Core::clean_up`], with the nodes that were set aside: their pages may be readable now.
    pub(crate) async fn clean_up_again(&self) -> Result<(), EngineError> {
        {
            let mut transactions = self.transactions.borrow_mut();
            transactions.purge();
            transactions.take_up_again(self.log.end());
        }
        self.clean_up().await
    }

    /// Removes one node. A request that failed is made again, unless the page is known to be
    /// unreadable.
    async fn remove_deleted(&self, cleanup: &Cleanup) -> Result<(), EngineError> {
        let mut waits_ms = READ_AGAIN_AFTER_MS.into_iter();
        loop {
            let work = |step: Step<'_>| self.cleanup_step(step, cleanup);
            let result = self.write_as(Admission::Finishing, work).await;
            let Err(EngineError::Page(error)) = &result else {
                return result;
            };
            let is_hopeless = error.finding().is_some() || self.is_noted_as_damaged(error);
            let Some(wait_ms) = waits_ms.next().filter(|_| !is_hopeless) else {
                return result;
            };
            self.handle.sleep_ns(wait_ms * MILLISECOND_NS).await;
        }
    }

    fn end_cleanup(
        &self,
        cleanup: Cleanup,
        result: Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut transactions = self.transactions.borrow_mut();
        transactions.release_after(cleanup.begin, self.log.end());
        match &result {
            Ok(()) => {}
            Err(EngineError::Page(error)) => {
                self.note_damage(error);
                transactions.set_aside(cleanup);
            }
            Err(_) => transactions.push_cleanup(cleanup.tree, cleanup.key, cleanup.begin),
        }
        result
    }

    fn cleanup_step(&self, mut step: Step<'_>, cleanup: &Cleanup) -> Result<(), Need> {
        step.may_use_reserve = true;
        let Cleanup { tree, key, .. } = cleanup;
        let Some(Found { leaf, index }) = tree::find(&step, *tree, key)? else {
            return Ok(());
        };
        let deleted = PageView::new(&leaf.page)
            .node(index)
            .flags
            .contains(NodeFlags::DELETED);
        drop(leaf);
        // Somebody else's versions: whoever made them cleans up after themselves.
        let has_versions = self.transactions.borrow().versions.has_versions(*tree, key);
        if !deleted || has_versions {
            return Ok(());
        }
        crate::nodes::remove_node(&mut step, *tree, key)?;
        self.commit_step(step, encode_system);
        Ok(())
    }
}
