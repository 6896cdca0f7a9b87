//! Pages come in: by a read that somebody waits for, or created again.

use super::Inner;
use super::page_ref::PageRef;
use super::pending::Pending;
use super::state::Core;
use super::traits::{CacheError, PageError, PageStore, Payload};
use crate::position::{LogPosition, PageNumber};
use crate::seeded_bugs::{SeededBug, is_seeded};
use runtime::IoCause;
use std::rc::Rc;

/// A frame promised to a read. Given back when dropped, whether or not the page came in: the page
/// itself counts from then on.
pub(super) struct Reservation<P: Payload, S: PageStore<P>> {
    inner: Rc<Inner<P, S>>,
    frames: usize,
}

impl<P: Payload, S: PageStore<P>> Reservation<P, S> {
    /// Must follow a check of the free frames in the same step.
    pub(super) fn new(inner: &Rc<Inner<P, S>>, frames: usize) -> Self {
        inner.core.state.borrow_mut().reserved += frames;
        Self {
            inner: Rc::clone(inner),
            frames,
        }
    }

    /// Gives up one frame, which the page now occupies or does not need.
    pub(super) fn release_one(&mut self) {
        assert!(self.frames > 0, "only a frame that is held is given back");
        self.frames -= 1;
        self.inner.core.state.borrow_mut().reserved -= 1;
    }
}

impl<P: Payload, S: PageStore<P>> Drop for Reservation<P, S> {
    fn drop(&mut self) {
        if self.frames > 0 {
            self.inner.core.state.borrow_mut().reserved -= self.frames;
            self.inner.core.progress.notify_all();
        }
    }
}

/// A read under way as others see it. If the reader gives up, the waiters try for themselves.
pub(super) struct Reading<P: Payload, S: PageStore<P>> {
    inner: Rc<Inner<P, S>>,
    page: PageNumber,
    pending: Rc<Pending>,
    finished: bool,
}

impl<P: Payload, S: PageStore<P>> Reading<P, S> {
    pub(super) fn begin(inner: &Rc<Inner<P, S>>, page: PageNumber) -> Self {
        let pending = Rc::new(Pending::default());
        let old = inner
            .core
            .state
            .borrow_mut()
            .reading
            .insert(page, Rc::clone(&pending));
        assert!(old.is_none(), "page {page} is read once at a time");
        Self {
            inner: Rc::clone(inner),
            page,
            pending,
            finished: false,
        }
    }

    pub(super) fn is_superseded(&self) -> bool {
        self.pending.is_superseded()
    }

    pub(super) fn finish(mut self, result: Result<(), PageError>) {
        self.end(result);
    }

    fn end(&mut self, result: Result<(), PageError>) {
        self.finished = true;
        if !self.pending.is_superseded() {
            let removed = self
                .inner
                .core
                .state
                .borrow_mut()
                .reading
                .remove(&self.page);
            assert!(
                removed.is_some_and(|pending| Rc::ptr_eq(&pending, &self.pending)),
                "the read of page {} is known until it ends",
                self.page
            );
            self.pending.finish(result);
        }
    }
}

impl<P: Payload, S: PageStore<P>> Drop for Reading<P, S> {
    fn drop(&mut self) {
        if !self.finished {
            self.end(Ok(()));
        }
    }
}

/// A fetch that waits for a frame.
struct Stall<'a, P: Payload>(&'a Core<P>);

impl<'a, P: Payload> Stall<'a, P> {
    fn begin(core: &'a Core<P>) -> Self {
        let mut state = core.state.borrow_mut();
        state.counters.page_fault_stalls += 1;
        state.stalled += 1;
        Self(core)
    }
}

impl<P: Payload> Drop for Stall<'_, P> {
    fn drop(&mut self) {
        self.0.state.borrow_mut().stalled -= 1;
    }
}

impl<P: Payload, S: PageStore<P>> Inner<P, S> {
    pub(super) async fn fetch(self: &Rc<Self>, page: PageNumber) -> Result<PageRef<P>, CacheError> {
        let mut missed = false;
        loop {
            self.core.failure()?;
            if let Some(found) = self.core.get(page) {
                return Ok(found);
            }
            if !missed {
                missed = true;
                self.core.state.borrow_mut().counters.misses += 1;
            }
            let pending = self.core.state.borrow().reading.get(&page).cloned();
            if let Some(pending) = pending {
                pending.wait().await?;
                continue;
            }
            let reading = Reading::begin(self, page);
            let mut frame = self.reserve_frame().await?;
            if reading.is_superseded() {
                continue;
            }
            self.core.state.borrow_mut().counters.reads += 1;
            let result = self.store.read_page(page, IoCause::Database).await;
            if reading.is_superseded() {
                continue;
            }
            match result {
                Ok(payload) => {
                    frame.release_one();
                    let frame = self.core.insert(page, payload, false);
                    let found = PageRef::new(frame, Rc::clone(&self.core));
                    reading.finish(Ok(()));
                    return Ok(found);
                }
                Err(error) => {
                    reading.finish(Err(error.clone()));
                    return Err(error.into());
                }
            }
        }
    }

    /// Waits for a frame. A wait is a page-fault stall: the cache could not free memory in time.
    async fn reserve_frame(self: &Rc<Self>) -> Result<Reservation<P, S>, CacheError> {
        let mut stall = None;
        loop {
            self.core.failure()?;
            if self.find_frame() {
                return Ok(Reservation::new(self, 1));
            }
            // Every page is held by somebody who may be waiting for this one: grow, or nobody
            // would ever go on.
            if self.core.pinned_pages.get() >= self.core.state.borrow().pages.len() {
                self.core.state.borrow_mut().counters.overcommits += 1;
                return Ok(Reservation::new(self, 1));
            }
            stall.get_or_insert_with(|| Stall::begin(&self.core));
            let progress = self.core.progress.notified();
            self.core.scavenger.raise();
            progress.await;
        }
    }

    pub(super) fn create(self: &Rc<Self>, page: PageNumber) -> PageRef<P> {
        self.core.state.borrow_mut().counters.created += 1;
        if let Some(found) = self.core.get(page) {
            return self.make_blank(found);
        }
        let pending = self.core.state.borrow_mut().reading.remove(&page);
        if let Some(pending) = pending {
            pending.supersede();
        }
        if !self.find_frame() {
            self.core.state.borrow_mut().counters.overcommits += 1;
            self.core.scavenger.raise();
        }
        let frame = self.core.insert(page, self.store.blank(), false);
        self.page_ref(frame)
    }

    fn make_blank(&self, found: PageRef<P>) -> PageRef<P> {
        found.replace_payload(self.store.blank());
        found
    }

    /// Makes sure that a frame is free, evicting clean pages if the free ones run short.
    pub(super) fn find_frame(self: &Rc<Self>) -> bool {
        let limits = &self.core.limits;
        let mut state = self.core.state.borrow_mut();
        state.adapt(limits);
        let (available, supply) = (state.available(limits), state.supply(limits));
        drop(state);
        if supply > limits.target() && available > 0 {
            return true;
        }
        let mut short = supply <= limits.low() || available == 0;
        if short {
            self.scavenge(limits.low() + 1, 1);
            let state = self.core.state.borrow();
            short = state.supply(limits) <= limits.low() || state.available(limits) == 0;
        }
        // The task that sees to the rest need not be woken if it wakes by itself in a moment.
        if short || !self.core.scavenger_is_due.get() {
            self.core.scavenger.raise();
        }
        self.core.state.borrow().available(limits) > 0
    }

    /// How far the log must be durable before the page in `slot` may be written, unless it is.
    pub(super) fn blocked_by_log(&self, slot: u32) -> Option<LogPosition> {
        let needed = self.core.state.borrow().slot(slot).newest_change;
        let blocked = needed > self.write_ahead.durable();
        (blocked && !is_seeded(SeededBug::PageBeforeLog)).then_some(needed)
    }
}
