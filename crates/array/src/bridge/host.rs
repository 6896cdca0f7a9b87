//! The host of an array: submits requests and wakes those who wait for them.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

use runtime::{EventSource, Handle};

use super::model::VolumeModel;
use super::slots::{Outcome, Slots};
use crate::payload::Payload;
use crate::{Array, HostCompletion, HostOperation, HostRequest, VolumeId};

/// An array that takes part in the time of a runtime. Clones share it.
pub struct ArrayHost<P: Payload, M: VolumeModel<P> = Array<P>> {
    shared: Rc<Shared<P, M>>,
}

impl<P: Payload, M: VolumeModel<P>> Clone for ArrayHost<P, M> {
    fn clone(&self) -> Self {
        Self {
            shared: Rc::clone(&self.shared),
        }
    }
}

struct Shared<P: Payload, M: VolumeModel<P>> {
    handle: Handle,
    model: RefCell<M>,
    slots: RefCell<Slots<P>>,
    /// What ended in the present turn; kept for its memory.
    completed: RefCell<Vec<HostCompletion<P>>>,
    requests: Cell<u64>,
}

impl<P: Payload, M: VolumeModel<P>> ArrayHost<P, M> {
    /// Registers `model` with the runtime of `handle`, as long as that lives.
    #[must_use]
    pub fn new(handle: &Handle, model: M) -> Self {
        let shared = Rc::new(Shared {
            handle: handle.clone(),
            model: RefCell::new(model),
            slots: RefCell::new(Slots::new()),
            completed: RefCell::new(Vec::new()),
            requests: Cell::new(0),
        });
        let source: Rc<dyn EventSource> = shared.clone();
        handle.drive(source);
        Self { shared }
    }

    /// Shows the model, to read counters or to inject faults. No request may be made meanwhile.
    pub fn with<T>(&self, inspect: impl FnOnce(&mut M) -> T) -> T {
        inspect(&mut self.shared.model.borrow_mut())
    }

    /// The clock that the model follows.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.shared.handle
    }

    /// Requests submitted so far.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.shared.requests.get()
    }

    /// Requests that have not ended, or whose end nobody has looked at.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.shared.slots.borrow().in_use()
    }

    /// Submits a request now; the future gives its end. Dropped early, it goes on unheard.
    pub(super) fn request(
        &self,
        volume: VolumeId,
        operation: HostOperation,
        first_sector: u64,
        sectors: u32,
        payload: P,
    ) -> Request<P, M> {
        let shared = &self.shared;
        let now_ns = shared.handle.now_ns();
        shared.catch_up(now_ns);
        let slot = shared.slots.borrow_mut().open();
        shared.requests.set(shared.requests.get() + 1);
        let request = HostRequest {
            tag: u64::from(slot),
            volume,
            operation,
            first_sector,
            sectors,
            payload,
        };
        shared.model.borrow_mut().submit(now_ns, request);
        Request {
            shared: Rc::clone(shared),
            slot: Some(slot),
        }
    }
}

impl<P: Payload, M: VolumeModel<P>> Shared<P, M> {
    /// On the wall clock time passes by itself: events before `now_ns` come before a new request.
    fn catch_up(&self, now_ns: u64) {
        let next_ns = self.model.borrow().next_event_ns();
        if next_ns.is_some_and(|next_ns| next_ns < now_ns) {
            self.advance_to(now_ns);
        }
    }

    /// Wakes those who wait for the requests that have ended.
    fn notify(&self, mut completed: Vec<HostCompletion<P>>) {
        for end in completed.drain(..) {
            let outcome = end.result.map(|()| end.payload);
            let waker = self.slots.borrow_mut().complete(end.tag as u32, outcome);
            if let Some(waker) = waker {
                waker.wake();
            }
        }
        *self.completed.borrow_mut() = completed;
    }
}

impl<P: Payload, M: VolumeModel<P>> EventSource for Shared<P, M> {
    fn next_event_ns(&self) -> Option<u64> {
        self.model.borrow().next_event_ns()
    }

    fn advance_to(&self, now_ns: u64) {
        let mut completed = std::mem::take(&mut *self.completed.borrow_mut());
        self.model.borrow_mut().advance_to(now_ns, &mut completed);
        self.notify(completed);
    }

    fn advance_until_awaited(&self, limit_ns: u64) -> Option<u64> {
        let mut completed = std::mem::take(&mut *self.completed.borrow_mut());
        let mut model = self.model.borrow_mut();
        let ended_ns = model.advance_to_completion(limit_ns, &mut completed);
        drop(model);
        self.notify(completed);
        ended_ns
    }
}

/// A request under way.
pub(super) struct Request<P: Payload, M: VolumeModel<P>> {
    shared: Rc<Shared<P, M>>,
    /// `None` once the end has been handed over.
    slot: Option<u32>,
}

impl<P: Payload, M: VolumeModel<P>> Future for Request<P, M> {
    type Output = Outcome<P>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Outcome<P>> {
        let slot = self.slot.unwrap_or_else(|| panic!("a request ends once"));
        let outcome = self.shared.slots.borrow_mut().poll(slot, context.waker());
        match outcome {
            Some(outcome) => {
                self.slot = None;
                Poll::Ready(outcome)
            }
            None => Poll::Pending,
        }
    }
}

impl<P: Payload, M: VolumeModel<P>> Drop for Request<P, M> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.shared.slots.borrow_mut().abandon(slot);
        }
    }
}
