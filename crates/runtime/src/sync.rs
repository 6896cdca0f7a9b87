//! Ways for the tasks of one thread to wait for each other. All are fair: first come, first served.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// Wakes everybody who waits; a wait begun later waits for the next call.
#[derive(Default)]
pub struct Notify {
    epoch: Cell<u64>,
    waiters: RefCell<Vec<Waker>>,
}

impl Notify {
    /// Wakes all present waiters.
    pub fn notify_all(&self) {
        self.epoch.set(self.epoch.get() + 1);
        for waker in std::mem::take(&mut *self.waiters.borrow_mut()) {
            waker.wake();
        }
    }

    /// Waits for the next [`Notify::notify_all`] after this call (not after the first poll).
    pub fn notified(&self) -> impl Future<Output = ()> + '_ {
        let epoch = self.epoch.get();
        poll_fn(move |context| {
            if self.epoch.get() != epoch {
                return Poll::Ready(());
            }
            let mut waiters = self.waiters.borrow_mut();
            if !waiters.iter().any(|waker| waker.will_wake(context.waker())) {
                waiters.push(context.waker().clone());
            }
            Poll::Pending
        })
    }
}

struct Waiter {
    granted: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

/// A counted set of permits.
pub struct Semaphore {
    permits: Cell<usize>,
    queue: RefCell<VecDeque<Rc<Waiter>>>,
}

impl Semaphore {
    /// A semaphore with `permits` free.
    #[must_use]
    pub fn new(permits: usize) -> Rc<Self> {
        Rc::new(Self {
            permits: Cell::new(permits),
            queue: RefCell::default(),
        })
    }

    /// Permits that nobody holds now.
    #[must_use]
    pub fn available(&self) -> usize {
        self.permits.get()
    }

    /// Waits for a permit; it is given back when the returned guard is dropped.
    pub fn acquire(self: &Rc<Self>) -> Acquire {
        Acquire {
            semaphore: Rc::clone(self),
            waiter: None,
        }
    }

    /// Takes a permit if one is free and nobody waits before us.
    #[must_use]
    pub fn try_acquire(self: &Rc<Self>) -> Option<Permit> {
        if self.permits.get() == 0 || !self.queue.borrow().is_empty() {
            return None;
        }
        self.permits.set(self.permits.get() - 1);
        Some(Permit {
            semaphore: Rc::clone(self),
        })
    }

    fn release(&self) {
        let next = self.queue.borrow_mut().pop_front();
        match next {
            Some(waiter) => {
                waiter.granted.set(true);
                if let Some(waker) = waiter.waker.borrow_mut().take() {
                    waker.wake();
                }
            }
            None => self.permits.set(self.permits.get() + 1),
        }
    }
}

/// The future behind [`Semaphore::acquire`].
pub struct Acquire {
    semaphore: Rc<Semaphore>,
    waiter: Option<Rc<Waiter>>,
}

impl Future for Acquire {
    type Output = Permit;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Permit> {
        if let Some(waiter) = &self.waiter {
            if waiter.granted.get() {
                self.waiter = None; // The permit now belongs to the guard.
                return Poll::Ready(Permit {
                    semaphore: Rc::clone(&self.semaphore),
                });
            }
            *waiter.waker.borrow_mut() = Some(context.waker().clone());
            return Poll::Pending;
        }
        if let Some(permit) = self.semaphore.try_acquire() {
            return Poll::Ready(permit);
        }
        let waiter = Rc::new(Waiter {
            granted: Cell::new(false),
            waker: RefCell::new(Some(context.waker().clone())),
        });
        self.semaphore
            .queue
            .borrow_mut()
            .push_back(Rc::clone(&waiter));
        self.waiter = Some(waiter);
        Poll::Pending
    }
}

impl Drop for Acquire {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take() else {
            return;
        };
        if waiter.granted.get() {
            self.semaphore.release(); // Granted but never seen: hand it on.
        } else {
            self.semaphore
                .queue
                .borrow_mut()
                .retain(|other| !Rc::ptr_eq(other, &waiter));
        }
    }
}

/// A held permit, given back when it is dropped.
pub struct Permit {
    semaphore: Rc<Semaphore>,
}

impl Drop for Permit {
    fn drop(&mut self) {
        self.semaphore.release();
    }
}

/// An unbounded queue between tasks of one thread.
pub struct Channel<T> {
    items: RefCell<VecDeque<T>>,
    closed: Cell<bool>,
    arrival: Notify,
}

impl<T> Default for Channel<T> {
    fn default() -> Self {
        Self {
            items: RefCell::new(VecDeque::new()),
            closed: Cell::new(false),
            arrival: Notify::default(),
        }
    }
}

impl<T> Channel<T> {
    /// Adds an item at the end.
    pub fn send(&self, item: T) {
        assert!(!self.closed.get(), "nothing is sent into a closed channel");
        self.items.borrow_mut().push_back(item);
        self.arrival.notify_all();
    }

    /// Says that nothing more will come.
    pub fn close(&self) {
        self.closed.set(true);
        self.arrival.notify_all();
    }

    /// Items sent and not yet received.
    #[must_use]
    pub fn len(&self) -> usize {
        self.items.borrow().len()
    }

    /// Whether there is no item to receive now.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.items.borrow().is_empty()
    }

    /// The next item, or `None` once the channel is closed and drained.
    pub async fn receive(&self) -> Option<T> {
        loop {
            let arrival = self.arrival.notified();
            if let Some(item) = self.items.borrow_mut().pop_front() {
                return Some(item);
            }
            if self.closed.get() {
                return None;
            }
            arrival.await;
        }
    }
}
