//! Sessions that wait for the log to become durable, in the order of their positions.

use super::error::LogError;
use crate::position::LogPosition;
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

#[derive(Default)]
struct Waiter {
    outcome: RefCell<Option<Result<(), LogError>>>,
    waker: RefCell<Option<Waker>>,
}

impl Waiter {
    fn settle(&self, outcome: Result<(), LogError>) {
        *self.outcome.borrow_mut() = Some(outcome);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }
}

/// The queue. A waiter that gave up stays in it until its position is reached, which is harmless.
#[derive(Default)]
pub(super) struct Waiters {
    queue: RefCell<BTreeMap<(LogPosition, u64), Rc<Waiter>>>,
    next: Cell<u64>,
}

impl Waiters {
    /// Waits until [`Waiters::wake`] has been called with `position`, or [`Waiters::fail`] was called.
    pub(super) async fn wait(&self, position: LogPosition) -> Result<(), LogError> {
        let waiter = Rc::new(Waiter::default());
        let number = self.next.get();
        self.next.set(number + 1);
        let key = (position, number);
        self.queue.borrow_mut().insert(key, Rc::clone(&waiter));
        poll_fn(|context| match waiter.outcome.borrow_mut().take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                *waiter.waker.borrow_mut() = Some(context.waker().clone());
                Poll::Pending
            }
        })
        .await
    }

    /// The log is durable up to `position`.
    pub(super) fn wake(&self, position: LogPosition) {
        loop {
            let reached = {
                let mut queue = self.queue.borrow_mut();
                match queue.first_entry() {
                    Some(first) if first.key().0 <= position => first.remove(),
                    _ => return,
                }
            };
            reached.settle(Ok(()));
        }
    }

    /// The log will never be durable any further.
    pub(super) fn fail(&self, error: &LogError) {
        let all = std::mem::take(&mut *self.queue.borrow_mut());
        for waiter in all.into_values() {
            waiter.settle(Err(error.clone()));
        }
    }
}
