//! Keeps a few frames free: clean pages leave, dirty ones are written and leave then.

use super::Inner;
use super::traits::{PageStore, Payload};
use super::write::WriteStart;
use crate::position::LogPosition;
use crate::settings::SCAVENGE_DELAY_MS;
use runtime::time::MILLISECOND_NS;
use std::rc::Rc;

/// Pages examined in one step, so that a step stays short.
const PAGES_EXAMINED_MAX: usize = 4096;

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    /// Evicts in the order of replacement until `wanted` frames are free or on their way to being
    /// free, starting writes of dirty pages on the way as far as the shortage allows. Then it goes
    /// on with clean pages alone until `at_once` frames are free now.
    ///
    /// The frames on their way count, or every step would start as many writes again as are under
    /// way already, and the disk would see bursts instead of a stream.
    pub(super) fn scavenge(self: &Rc<Self>, wanted: usize, at_once: usize) {
        let limits = &self.core.limits;
        let supply = self.core.state.borrow().supply(limits);
        let mut most_writes = None;
        let mut needed_log = LogPosition::START;
        let mut pages_left = self.core.state.borrow().pages.len().min(PAGES_EXAMINED_MAX);
        // Pages that cannot leave now stay out of the order until the step is over: put back at
        // once, they would be the coldest again, and the step would see nothing else.
        let mut aside = Vec::new();
        let now_ns = self.core.handle.turn_ns();
        let mut is_first = true;
        while pages_left > 0 {
            pages_left -= 1;
            let mut state = self.core.state.borrow_mut();
            let supplied = state.supply(limits) >= wanted;
            if supplied && state.available(limits) >= at_once {
                break;
            }
            let Some(slot) = state.replacement.coldest(now_ns) else {
                break;
            };
            if state.is_evictable(slot) {
                if std::mem::take(&mut is_first) {
                    state.replacement.note_frontier(slot, now_ns);
                }
                state.evict(slot);
                continue;
            }
            // Once enough is on its way, only too late, a clean page further on has to leave.
            let waits = supplied || !state.is_dirty(slot) || state.slot(slot).writing;
            if !waits {
                let most_writes =
                    *most_writes.get_or_insert_with(|| limits.scavenger_writes(supply));
                if state.writes_outstanding >= most_writes || state.failure.is_some() {
                    break;
                }
            }
            state.replacement.set_aside(slot);
            aside.push(slot);
            if waits {
                continue;
            }
            drop(state);
            match self.begin_write(slot) {
                WriteStart::Pages(_) => {
                    let mut state = self.core.state.borrow_mut();
                    state.set_leaving(slot, true);
                    state.counters.scavenge_writes += 1;
                }
                WriteStart::BlockedByLog(needed) => needed_log = needed_log.max(needed),
            }
        }
        for slot in aside {
            self.core
                .state
                .borrow_mut()
                .replacement
                .put_back(slot, now_ns);
        }
        if needed_log > LogPosition::START {
            self.write_ahead.request(needed_log);
        }
    }
}

/// Starts the task. It ends when the cache is gone.
pub(super) fn spawn<P: Payload, S: PageStore<P>>(inner: &Rc<Inner<P, S>>) {
    let handle = inner.core.handle.clone();
    let signal = Rc::clone(&inner.core.scavenger);
    let delay_ns = SCAVENGE_DELAY_MS * MILLISECOND_NS;
    let weak = Rc::downgrade(inner);
    drop(inner.core.handle.spawn(async move {
        let mut due_ns = None;
        loop {
            match due_ns {
                Some(due_ns) => signal.wait_until(&handle, due_ns).await,
                None => signal.wait().await,
            }
            let Some(inner) = weak.upgrade() else { return };
            due_ns = inner.tend_frames(due_ns, handle.now_ns(), delay_ns);
            inner.core.scavenger_is_due.set(due_ns.is_some());
        }
    }));
}

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    /// What the task does when it wakes. Returns when to wake again.
    fn tend_frames(
        self: &Rc<Self>,
        due_ns: Option<u64>,
        now_ns: u64,
        delay_ns: u64,
    ) -> Option<u64> {
        if self.core.limits.is_resizing() {
            self.resize();
        }
        let wake_ns = self.free_frames(due_ns, now_ns, delay_ns);
        match self.core.limits.is_resizing() {
            true => Some(now_ns + delay_ns),
            false => wake_ns,
        }
    }

    /// Comes nearer to the size that the cache shall have.
    fn resize(&self) {
        let limits = &self.core.limits;
        let available = self.core.state.borrow().available(limits);
        if limits.resize(available) {
            self.store.keep_memory(limits.capacity());
            self.core.progress.notify_all();
        }
    }

    /// Nothing while enough frames are free; at once when they run short; else when the delay after the request
    /// has passed. Returns when to wake again.
    fn free_frames(
        self: &Rc<Self>,
        due_ns: Option<u64>,
        now_ns: u64,
        delay_ns: u64,
    ) -> Option<u64> {
        let limits = &self.core.limits;
        let state = self.core.state.borrow();
        let supply = state.supply(limits);
        let stalled = state.stalled > 0;
        if state.failure.is_some() || (supply >= limits.target() && !stalled) {
            return None;
        }
        drop(state);
        let due = due_ns.is_some_and(|due_ns| due_ns <= now_ns);
        if supply > limits.low() && !due && !stalled {
            return Some(due_ns.unwrap_or(now_ns + delay_ns));
        }
        self.scavenge(limits.high(), 1);
        let state = self.core.state.borrow();
        let (available, supply) = (state.available(limits), state.supply(limits));
        drop(state);
        if stalled && available > 0 {
            self.core.progress.notify_all();
        }
        (supply < limits.high()).then_some(now_ns + delay_ns)
    }
}
