//! Locks on rows of stripes.
//!
//! Parity is kept sector by sector: row r of the parity chunk depends on row r of the data chunks
//! and on nothing else. So two tasks of one stripe are in each other's way only if their ranges of
//! rows overlap. The tasks of a stripe are queued in the order they came; a task holds its rows
//! when no task before it in the queue overlaps it.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

/// No task, no request.
pub(super) const NONE: u32 = u32::MAX;

/// A range of rows of one stripe of a group.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct StripeRows {
    pub(super) group: u16,
    pub(super) stripe: u64,
    /// The first row: the sector within the chunk.
    pub(super) from: u32,
    /// The row after the last.
    pub(super) to: u32,
}

impl StripeRows {
    #[inline]
    pub(super) fn count(self) -> u32 {
        self.to - self.from
    }

    /// Whether rows of the same stripe have any in common.
    #[inline]
    pub(super) fn overlaps(self, other: Self) -> bool {
        self.from < other.to && other.from < self.to
    }
}

/// The queue of one stripe: its first and last task.
#[derive(Debug, Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
}

/// What is known of a task that holds or waits for rows.
#[derive(Debug, Clone, Copy)]
struct Waiter {
    rows: StripeRows,
    next: u32,
    holds: bool,
}

/// The tasks that hold or wait for rows, by group and stripe. Tasks are known by small numbers.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    queues: FxHashMap<u64, Queue>,
    /// By task; entries of tasks that are not queued have no meaning.
    waiters: Vec<Waiter>,
}

#[inline]
fn key(rows: StripeRows) -> u64 {
    (u64::from(rows.group) << 48) ^ rows.stripe
}

impl LockTable {
    /// Queues a task for its rows. Returns whether it holds them at once.
    #[inline]
    pub(super) fn acquire(&mut self, id: u32, rows: StripeRows) -> bool {
        let waiter = Waiter {
            rows,
            next: NONE,
            holds: true,
        };
        if self.waiters.len() <= id as usize {
            self.waiters.resize(id as usize + 1, waiter);
        }
        self.waiters[id as usize] = waiter;
        match self.queues.entry(key(rows)) {
            Entry::Vacant(vacant) => {
                vacant.insert(Queue {
                    first: id,
                    last: id,
                });
                true
            }
            Entry::Occupied(mut occupied) => {
                let queue = occupied.get_mut();
                let last = std::mem::replace(&mut queue.last, id);
                let first = queue.first;
                self.waiters[last as usize].next = id;
                let holds = self.is_free(first, id);
                self.waiters[id as usize].holds = holds;
                holds
            }
        }
    }

    /// Whether no task before `id` in its queue overlaps it.
    fn is_free(&self, first: u32, id: u32) -> bool {
        let rows = self.waiters[id as usize].rows;
        let mut other = first;
        while other != id {
            let waiter = &self.waiters[other as usize];
            if waiter.rows.overlaps(rows) {
                return false;
            }
            other = waiter.next;
        }
        true
    }

    /// Takes a task out of its queue. Tasks that now hold their rows are added to `ready`.
    #[inline]
    pub(super) fn release(&mut self, id: u32, ready: &mut impl Extend<u32>) {
        let Waiter { rows, next, .. } = self.waiters[id as usize];
        let Some(queue) = self.queues.get_mut(&key(rows)) else {
            unreachable!("a task in flight is in the queue of its stripe");
        };
        if queue.first == id && queue.last == id {
            self.queues.remove(&key(rows));
            return;
        }
        if queue.first == id {
            queue.first = next;
        } else {
            let mut before = queue.first;
            while self.waiters[before as usize].next != id {
                before = self.waiters[before as usize].next;
            }
            self.waiters[before as usize].next = next;
            if queue.last == id {
                queue.last = before;
            }
        }
        let first = queue.first;
        let mut other = first;
        while other != NONE {
            if !self.waiters[other as usize].holds && self.is_free(first, other) {
                self.waiters[other as usize].holds = true;
                ready.extend([other]);
            }
            other = self.waiters[other as usize].next;
        }
    }

    /// Whether nothing is locked.
    pub(super) fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// A task holds its rows exactly when none that came before it and is still there overlaps.
    #[test]
    fn rows_are_held_in_the_order_they_were_asked_for() {
        for seed in 0..100 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut locks = LockTable::default();
            let mut queued: Vec<(u32, StripeRows, bool)> = Vec::new();
            let mut free: Vec<u32> = (0..12).rev().collect();
            for _ in 0..400 {
                let takes = random.random_bool(0.5) && !free.is_empty();
                if takes && let Some(id) = free.pop() {
                    let from = random.random_range(0..8);
                    let rows = StripeRows {
                        group: random.random_range(0..2),
                        stripe: random.random_range(0..2),
                        from,
                        to: random.random_range(from + 1..=8),
                    };
                    let holds = locks.acquire(id, rows);
                    let blocked = queued.iter().any(|(_, other, _)| {
                        (other.group, other.stripe) == (rows.group, rows.stripe)
                            && other.overlaps(rows)
                    });
                    assert_eq!(holds, !blocked, "seed {seed}");
                    queued.push((id, rows, holds));
                } else if let Some(position) = queued.iter().position(|&(_, _, holds)| holds) {
                    let (id, ..) = queued.remove(position);
                    let mut ready = Vec::new();
                    locks.release(id, &mut ready);
                    free.push(id);
                    for index in 0..queued.len() {
                        let (id, rows, held) = queued[index];
                        let blocked = queued[..index].iter().any(|(_, other, _)| {
                            (other.group, other.stripe) == (rows.group, rows.stripe)
                                && other.overlaps(rows)
                        });
                        assert_eq!(ready.contains(&id), !held && !blocked, "seed {seed}");
                        queued[index].2 = !blocked;
                    }
                }
                assert_eq!(locks.is_empty(), queued.is_empty());
            }
        }
    }
}
