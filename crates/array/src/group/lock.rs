//! Locks on rows of stripes.
//!
//! Parity is kept sector by sector: row r of the parity chunk depends on row r of the data chunks
//! and on nothing else. So two tasks of one stripe are in each other's way only if their ranges of
//! rows overlap. The tasks of a stripe stand in a list in the order they came; a task may go on
//! when no task before it in the list overlaps it.

use rustc_hash::FxHashMap;
use std::collections::hash_map::Entry;

use crate::payload::Payload;
use crate::slab::Slab;

use super::task::{NONE, Task};

#[derive(Debug, Clone, Copy)]
struct Line {
    first: u32,
    last: u32,
}

/// The tasks that hold or wait for rows, by group and stripe.
#[derive(Debug, Default)]
pub(super) struct LockTable {
    lines: FxHashMap<u64, Line>,
}

#[inline]
fn key<P>(task: &Task<P>) -> u64 {
    (u64::from(task.group) << 48) ^ task.stripe
}

#[inline]
fn overlap<P>(a: &Task<P>, b: &Task<P>) -> bool {
    a.from < b.to && b.from < a.to
}

/// Whether no task before `id` in its line overlaps it.
fn is_free<P>(first: u32, id: u32, tasks: &Slab<Task<P>>) -> bool
where
    P: Payload,
{
    let mut other = first;
    while other != id {
        if overlap(&tasks[other], &tasks[id]) {
            return false;
        }
        other = tasks[other].next_in_stripe;
    }
    true
}

impl LockTable {
    /// Puts a task in line for its rows. Returns whether it holds them at once.
    #[inline]
    pub(super) fn acquire<P: Payload>(&mut self, id: u32, tasks: &mut Slab<Task<P>>) -> bool {
        tasks[id].next_in_stripe = NONE;
        let free = match self.lines.entry(key(&tasks[id])) {
            Entry::Vacant(vacant) => {
                vacant.insert(Line {
                    first: id,
                    last: id,
                });
                true
            }
            Entry::Occupied(mut occupied) => {
                let line = occupied.get_mut();
                tasks[line.last].next_in_stripe = id;
                line.last = id;
                is_free(line.first, id, tasks)
            }
        };
        tasks[id].holds_lock = free;
        free
    }

    /// Takes a task out of its line. Tasks that now hold their rows are added to `ready`.
    #[inline]
    pub(super) fn release<P: Payload>(
        &mut self,
        id: u32,
        tasks: &mut Slab<Task<P>>,
        ready: &mut impl Extend<u32>,
    ) {
        let key = key(&tasks[id]);
        let Some(line) = self.lines.get_mut(&key) else {
            unreachable!("a task in flight stands in the line of its stripe");
        };
        if line.first == id && line.last == id {
            self.lines.remove(&key);
            return;
        }
        let next = tasks[id].next_in_stripe;
        if line.first == id {
            line.first = next;
        } else {
            let mut before = line.first;
            while tasks[before].next_in_stripe != id {
                before = tasks[before].next_in_stripe;
            }
            tasks[before].next_in_stripe = next;
            if line.last == id {
                line.last = before;
            }
        }
        let first = line.first;
        let mut other = first;
        while other != NONE {
            if !tasks[other].holds_lock && is_free(first, other, tasks) {
                tasks[other].holds_lock = true;
                ready.extend([other]);
            }
            other = tasks[other].next_in_stripe;
        }
    }

    /// Whether nothing is locked.
    pub(super) fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }
}
