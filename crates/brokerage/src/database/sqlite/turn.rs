//! Who writes next.
//!
//! SQLite lets one transaction write, and others try again after pauses that grow: who waited long
//! may go on waiting. A queue in front of it lets them write in the order in which they came.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// The queue of all connections to a file.
#[derive(Default)]
pub(super) struct Queue {
    line: Mutex<Line>,
    moved: Condvar,
}

#[derive(Default)]
struct Line {
    next_number: u64,
    /// Numbers of those who wait or write, in order: the first writes.
    waiting: std::collections::VecDeque<u64>,
}

/// The right to write, until it is dropped.
pub(super) struct Turn {
    queue: Arc<Queue>,
    number: u64,
}

impl Queue {
    /// Waits for our turn, at most so long.
    pub fn wait(self: &Arc<Self>, patience: Duration) -> Option<Turn> {
        let deadline = Instant::now() + patience;
        let mut line = self.line();
        let number = line.next_number;
        line.next_number += 1;
        line.waiting.push_back(number);
        while line.waiting.front() != Some(&number) {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                line.waiting.retain(|waiting| *waiting != number);
                self.moved.notify_all();
                return None;
            }
            let woken = self.moved.wait_timeout(line, left);
            line = woken.unwrap_or_else(PoisonError::into_inner).0;
        }
        Some(Turn {
            queue: Arc::clone(self),
            number,
        })
    }

    fn line(&self) -> MutexGuard<'_, Line> {
        self.line.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let mut line = self.queue.line();
        line.waiting.retain(|waiting| *waiting != self.number);
        self.queue.moved.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn turns_come_in_order_and_who_gives_up_is_passed_over() {
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
                while queue.line().waiting.len() < number + 2 {
                    std::thread::yield_now();
                }
            }
            drop(first);
        });
        assert_eq!(order.into_inner().unwrap(), [0, 1, 2, 3]);
        assert!(queue.line().waiting.is_empty());
    }
}
