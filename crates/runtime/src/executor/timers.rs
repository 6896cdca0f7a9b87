//! Waiting for a point in time.

use super::Handle;
use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::task::{Context, Poll, Waker};

/// One pending wait, shared by the sleeper and the queue.
struct Timer {
    fired: Cell<bool>,
    waker: RefCell<Option<Waker>>,
}

struct Entry {
    deadline_ns: u64,
    sequence: u64,
    timer: Rc<Timer>,
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.sequence == other.sequence
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.deadline_ns, self.sequence).cmp(&(other.deadline_ns, other.sequence))
    }
}

/// All pending waits, earliest first; waits for the same instant in the order they were made.
#[derive(Default)]
pub(super) struct Timers {
    heap: RefCell<BinaryHeap<Reverse<Entry>>>,
    next_sequence: Cell<u64>,
    /// Entries in the heap whose sleeper is gone.
    cancelled: Cell<usize>,
}

/// Cancelled waits are swept out once there are this many and they are the majority.
const SWEEP_AT: usize = 64;

impl Timers {
    fn register(&self, deadline_ns: u64, waker: Waker) -> Rc<Timer> {
        let timer = Rc::new(Timer {
            fired: Cell::new(false),
            waker: RefCell::new(Some(waker)),
        });
        let sequence = self.next_sequence.get();
        self.next_sequence.set(sequence + 1);
        let entry = Entry {
            deadline_ns,
            sequence,
            timer: Rc::clone(&timer),
        };
        self.heap.borrow_mut().push(Reverse(entry));
        timer
    }

    /// The next instant somebody still waits for.
    pub(super) fn next_deadline_ns(&self) -> Option<u64> {
        let mut heap = self.heap.borrow_mut();
        while let Some(Reverse(entry)) = heap.peek() {
            // Only the queue holds it: the sleeper is gone.
            if Rc::strong_count(&entry.timer) > 1 {
                return Some(entry.deadline_ns);
            }
            heap.pop();
            self.cancelled.set(self.cancelled.get() - 1);
        }
        None
    }

    /// Takes a wait back that has not fired. Timeouts are mostly cancelled long before they are due,
    /// so their entries must not pile up until then.
    fn cancel(&self, timer: Rc<Timer>) {
        drop(timer);
        self.cancelled.set(self.cancelled.get() + 1);
        let mut heap = self.heap.borrow_mut();
        if self.cancelled.get() >= SWEEP_AT && self.cancelled.get() > heap.len() / 2 {
            heap.retain(|Reverse(entry)| Rc::strong_count(&entry.timer) > 1);
            self.cancelled.set(0);
        }
    }

    /// Wakes everybody whose time has come.
    pub(super) fn fire_until(&self, now_ns: u64) {
        loop {
            let timer = {
                let mut heap = self.heap.borrow_mut();
                match heap.peek() {
                    Some(Reverse(entry)) if entry.deadline_ns <= now_ns => {
                        heap.pop().map(|Reverse(entry)| entry.timer)
                    }
                    _ => None,
                }
            };
            let Some(timer) = timer else { return };
            if Rc::strong_count(&timer) == 1 {
                self.cancelled.set(self.cancelled.get() - 1);
            }
            timer.fired.set(true);
            if let Some(waker) = timer.waker.borrow_mut().take() {
                waker.wake();
            }
        }
    }
}

/// The future behind [`Handle::sleep_until_ns`].
pub struct Sleep {
    handle: Handle,
    deadline_ns: u64,
    timer: Option<Rc<Timer>>,
}

impl Sleep {
    pub(super) fn new(handle: Handle, deadline_ns: u64) -> Self {
        Self {
            handle,
            deadline_ns,
            timer: None,
        }
    }
}

impl Future for Sleep {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        if let Some(timer) = &self.timer {
            if timer.fired.get() {
                return Poll::Ready(());
            }
            *timer.waker.borrow_mut() = Some(context.waker().clone());
            return Poll::Pending;
        }
        if self.handle.now_ns() >= self.deadline_ns {
            return Poll::Ready(());
        }
        let timer = self
            .handle
            .timers()
            .register(self.deadline_ns, context.waker().clone());
        self.timer = Some(timer);
        Poll::Pending
    }
}

impl Drop for Sleep {
    fn drop(&mut self) {
        if let Some(timer) = self.timer.take()
            && !timer.fired.get()
        {
            self.handle.timers().cancel(timer);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Runtime;
    use crate::time::SECOND_NS;

    #[test]
    fn cancelled_waits_do_not_pile_up() {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let mut kept = Box::pin(handle.sleep_ns(10 * SECOND_NS));
            for _ in 0..10_000 {
                let mut timeout = Box::pin(handle.sleep_ns(5 * SECOND_NS));
                std::future::poll_fn(|context| {
                    assert!(timeout.as_mut().poll(context).is_pending());
                    assert!(kept.as_mut().poll(context).is_pending());
                    Poll::Ready(())
                })
                .await;
                handle.sleep_ns(1).await;
                assert!(handle.timers().heap.borrow().len() <= 2 * SWEEP_AT);
            }
            kept.await;
            assert_eq!(handle.now_ns(), 10 * SECOND_NS);
        });
    }
}
