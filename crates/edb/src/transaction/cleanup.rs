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
use std::rc::Rc;

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

    /// Removes all nodes whose time has come. One that stands on a page that cannot be read stays where
    /// it is, with its deleted flag, which readers see: kept for a later try it would hold back the
    /// checkpoint, and the log would grow until no space is left.
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
            let work = |step: Step<'_>| self.cleanup_step(step, &cleanup);
            let result = self.write_as(Admission::Finishing, work).await;
            match self.end_cleanup(cleanup, result) {
                Err(error @ EngineError::Page(_)) => outcome = outcome.and(Err(error)),
                ended => ended?,
            }
            self.handle.yield_now().await;
        }
    }

    fn end_cleanup(
        &self,
        cleanup: Cleanup,
        result: Result<(), EngineError>,
    ) -> Result<(), EngineError> {
        let mut transactions = self.transactions.borrow_mut();
        transactions.release_after(cleanup.begin, self.log.tip());
        match &result {
            Ok(()) => {}
            Err(EngineError::Page(error)) => self.note_damage(error),
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
