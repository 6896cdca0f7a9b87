//! The queue of writers.
//!
//! SQLite lets one transaction write, and the others retry after growing pauses, which starves
//! those that waited long. A queue in front of it lets them write in order.

use crate::parallel::lock;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The queue of all connections to a file.
#[derive(Default)]
pub(super) struct Queue {
    waiting: Mutex<Waiting>,
    moved: Condvar,
}

#[derive(Default)]
struct Waiting {
    next_number: u64,
    /// Numbers of the writers and those who wait, in order: the first writes.
    numbers: std::collections::VecDeque<u64>,
}

/// The write lock, until it is dropped.
pub(super) struct Turn {
    queue: Arc<Queue>,
    number: u64,
}

impl Queue {
    /// Waits for the write lock, at most this long.
    pub fn wait(self: &Arc<Self>, timeout: Duration) -> Option<Turn> {
        let deadline = Instant::now() + timeout;
        let mut queue = lock(&self.waiting);
        let number = queue.next_number;
        queue.next_number += 1;
        queue.numbers.push_back(number);
        while queue.numbers.front() != Some(&number) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                queue.numbers.retain(|waiting| *waiting != number);
                self.moved.notify_all();
                return None;
            }
            let woken = self.moved.wait_timeout(queue, left);
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(Turn {
            queue: Arc::clone(self),
            number,
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut queue = lock(&self.queue.waiting);
        queue.numbers.retain(|waiting| *waiting != self.number);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_wait_in_order_and_timeouts_are_skipped() {
        let queue = Arc::new(Queue::default());
        let first = queue.wait(Duration::ZERO).unwrap();
        assert!(queue.wait(Duration::from_millis(1)).is_none());
        let order = Mutex::new(Vec::new());
        std::thread::scope(|scope| {
            for number in 0..4 {
                let (queue, order) = (&queue, &order);
                scope.spawn(move || {
                    let turn = queue.wait(Duration::from_secs(60)).unwrap();
                    order.lock().unwrap().push(number);
                    drop(turn);
                });
                while lock(&queue.waiting).numbers.len() < number + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
        assert!(lock(&queue.waiting).numbers.is_empty());
    }
}
