//! What tasks wait by: for a request, and for something to read.

use super::Reactor;
use super::in_flight::InFlight;
use std::future::Future;
use std::marker::PhantomData;
use std::os::fd::BorrowedFd;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll};

/// Waits for something to read; whatever comes, reading says more. Who gives it up early and closes
/// the file must shut it down first: the kernel may hold it as long as the wait is with it.
pub struct Readable<'a> {
    reactor: Rc<Reactor>,
    slot: Option<u32>,
    file: PhantomData<BorrowedFd<'a>>,
}

impl Readable<'_> {
    pub(super) fn new(reactor: Rc<Reactor>, slot: u32) -> Self {
        Self {
            reactor,
            slot: Some(slot),
            file: PhantomData,
        }
    }
}

impl Future for Readable<'_> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let slot = self.slot.expect("a finished wait is not polled again");
        let poll = self.reactor.poll_readable(slot, context);
        if poll.is_ready() {
            self.slot = None;
        }
        poll
    }
}

impl Drop for Readable<'_> {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.reactor.abandon_readable(slot);
        }
    }
}

/// Waits for a request. Dropping it lets the request finish alone.
pub(crate) struct Request {
    reactor: Rc<Reactor>,
    slot: Option<u32>,
}

impl Request {
    pub(super) fn new(reactor: Rc<Reactor>, slot: u32) -> Self {
        Self {
            reactor,
            slot: Some(slot),
        }
    }
}

impl Future for Request {
    type Output = (InFlight, i32);

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<(InFlight, i32)> {
        let slot = self.slot.expect("a finished request is not polled again");
        let poll = self.reactor.poll_request(slot, context);
        if poll.is_ready() {
            self.slot = None;
        }
        poll
    }
}

impl Drop for Request {
    fn drop(&mut self) {
        if let Some(slot) = self.slot {
            self.reactor.abandon_request(slot);
        }
    }
}
