//! How a task hands its result to whoever awaits it.

use std::cell::RefCell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

struct Outcome<T> {
    result: RefCell<Option<T>>,
    waiter: RefCell<Option<Waker>>,
}

/// The two ends of a task's result.
pub(super) fn pair<T>() -> (JoinHandle<T>, Finish<T>) {
    let outcome = Rc::new(Outcome {
        result: RefCell::new(None),
        waiter: RefCell::new(None),
    });
    let join = JoinHandle {
        outcome: Rc::clone(&outcome),
    };
    (join, Finish { outcome })
}

/// The side of the task: where it leaves its result.
pub(super) struct Finish<T> {
    outcome: Rc<Outcome<T>>,
}

impl<T> Finish<T> {
    /// Leaves the result, and wakes whoever waits for it.
    pub(super) fn with(self, result: T) {
        *self.outcome.result.borrow_mut() = Some(result);
        let waiter = self.outcome.waiter.borrow_mut().take();
        if let Some(waiter) = waiter {
            waiter.wake();
        }
    }
}

/// Awaits a task's result. Dropping it lets the task run on alone.
pub struct JoinHandle<T> {
    outcome: Rc<Outcome<T>>,
}

impl<T> JoinHandle<T> {
    /// Whether the task is done and its result waits to be taken.
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.outcome.result.borrow().is_some()
    }

    pub(super) fn take_result(&mut self) -> Option<T> {
        // Most often there is none yet, and to take none would still move as many bytes as a
        // result has.
        if self.is_finished() {
            self.outcome.result.borrow_mut().take()
        } else {
            None
        }
    }
}

impl<T> Future for JoinHandle<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        if let Some(result) = self.take_result() {
            return Poll::Ready(result);
        }
        *self.outcome.waiter.borrow_mut() = Some(context.waker().clone());
        Poll::Pending
    }
}
