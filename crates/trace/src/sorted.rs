//! Puts requests in the order of their arrivals that stand a little out of it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::line::Placed;

/// Holds a few requests back and hands them on by time; those of one time in the order of the file.
#[derive(Debug)]
pub(super) struct Sorter {
    window: usize,
    taken: u64,
    held: BinaryHeap<Reverse<Held>>,
}

#[derive(Debug)]
struct Held {
    key: (i64, u64),
    request: Placed,
}

impl PartialEq for Held {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Held {}

impl PartialOrd for Held {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Held {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

impl Sorter {
    /// Puts requests right that are at most `window` others away from their place.
    pub fn new(window: usize) -> Self {
        Self {
            window,
            taken: 0,
            held: BinaryHeap::new(),
        }
    }

    /// Takes a request; gives the earliest once enough are held.
    pub fn push(&mut self, request: Placed) -> Option<Placed> {
        let Some(arrival_ns) = request.raw.arrival_ns.filter(|_| self.window > 0) else {
            return Some(request);
        };
        self.taken += 1;
        let key = (arrival_ns, self.taken);
        self.held.push(Reverse(Held { key, request }));
        if self.held.len() <= self.window {
            return None;
        }
        self.pop()
    }

    /// The earliest that is held.
    pub fn pop(&mut self) -> Option<Placed> {
        self.held.pop().map(|held| held.0.request)
    }
}
