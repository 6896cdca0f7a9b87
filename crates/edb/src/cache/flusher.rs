//! Write-back that keeps the checkpoint within its depth, as smooth as the log grows.

use super::Inner;
use super::limits::CLOSING_URGENCY;
use super::traits::{CacheError, PageStore, Payload};
use super::write::WriteStart;
use crate::position::LogPosition;
use crate::settings::FLUSH_RETRY_MS;
use runtime::time::MILLISECOND_NS;
use std::rc::Rc;

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    /// One pass from the oldest change on. Says whether work remains.
    fn flush_pass(self: &Rc<Self>) -> bool {
        let settings = &self.core.limits.settings;
        let end = self.write_ahead.end();
        let file_bytes = settings.engine.log_file_size.bytes();
        let goal = end
            .0
            .saturating_sub(settings.engine.checkpoint_depth.bytes());
        let preferred = LogPosition(goal - goal % file_bytes);
        let oldest = self.core.state.borrow().oldest.oldest();
        let Some(oldest) = oldest.filter(|&oldest| oldest < preferred) else {
            return false;
        };
        let most_writes = self.core.limits.flusher_writes(end.bytes_since(oldest));
        self.write_older_than(preferred, most_writes);
        true
    }

    /// Starts writes of pages whose oldest change is before `limit`, oldest first.
    fn write_older_than(self: &Rc<Self>, limit: LogPosition, most_writes: u32) {
        let mut needed_log = LogPosition::START;
        let mut cursor = self.core.state.borrow().oldest.first();
        while let Some(slot) = cursor {
            let state = self.core.state.borrow();
            let full = state.writes_outstanding >= most_writes || state.failure.is_some();
            if full || !state.oldest.may_hold_before(slot, limit) {
                break;
            }
            let due = state
                .oldest
                .position(slot)
                .is_some_and(|oldest| oldest < limit);
            let waits = !due || state.slot(slot).writing;
            cursor = state.oldest.next(slot);
            drop(state);
            if waits {
                continue;
            }
            if let WriteStart::BlockedByLog(needed) = self.begin_write(slot) {
                needed_log = needed_log.max(needed);
            }
        }
        if needed_log > LogPosition::START {
            self.write_ahead.request(needed_log);
        }
    }

    pub(super) async fn flush_all(self: &Rc<Self>) -> Result<(), CacheError> {
        let target = self.write_ahead.end();
        self.write_ahead
            .make_durable(target)
            .await
            .map_err(CacheError::Log)?;
        let most_writes = self.core.limits.outstanding_writes(CLOSING_URGENCY);
        loop {
            self.core.failure()?;
            let oldest = self.core.state.borrow().oldest.oldest();
            if oldest.is_none_or(|oldest| oldest >= target) {
                break;
            }
            let progress = self.core.progress.notified();
            self.write_older_than(target, most_writes);
            if self.core.state.borrow().writes_outstanding > 0 {
                progress.await;
            } else {
                // Every page left was changed since: it waits for the log.
                let end = self.write_ahead.end();
                self.write_ahead
                    .make_durable(end)
                    .await
                    .map_err(CacheError::Log)?;
            }
        }
        self.sync().await
    }
}

/// Starts the task. It ends when the cache is gone.
pub(super) fn spawn<P: Payload, S: PageStore<P>>(inner: &Rc<Inner<P, S>>) {
    let handle = inner.core.handle.clone();
    let signal = Rc::clone(&inner.core.flusher);
    let settings = inner.core.limits.settings;
    let weak = Rc::downgrade(inner);
    drop(inner.core.handle.spawn(async move {
        while let Some(inner) = weak.upgrade() {
            let busy = inner.core.failure().is_ok() && inner.flush_pass();
            drop(inner);
            let wait_ns = if busy {
                FLUSH_RETRY_MS * MILLISECOND_NS
            } else {
                settings.internals.flush_idle_ms * MILLISECOND_NS
            };
            signal.wait_until(&handle, handle.now_ns() + wait_ns).await;
        }
    }));
}
