//! How background tasks sleep: until somebody raises their signal or a point in time comes.

use runtime::Handle;
use std::cell::{Cell, RefCell};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::task::{Poll, Waker};

/// A flag with one waiter. Raising it twice before the waiter looks counts once.
#[derive(Default)]
pub(crate) struct Signal {
    raised: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

impl Signal {
    /// Raises the flag and wakes the waiter.
    pub(crate) fn raise(&self) {
        self.raised.set(true);
        if let Some(waker) = self.waker.borrow_mut().take() {
            waker.wake();
        }
    }

    /// Waits until the flag is raised, and lowers it.
    pub(crate) async fn wait(&self) {
        poll_fn(|context| {
            if self.raised.replace(false) {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }

    /// Waits until the flag is raised or the clock shows `deadline_ns`; lowers the flag.
    pub(crate) async fn wait_until(&self, handle: &Handle, deadline_ns: u64) {
        let mut sleep = pin!(handle.sleep_until_ns(deadline_ns));
        poll_fn(|context| {
            if self.raised.replace(false) {
                return Poll::Ready(());
            }
            *self.waker.borrow_mut() = Some(context.waker().clone());
            sleep.as_mut().poll(context)
        })
        .await;
    }
}
