//! What the front of the array has to do, and when.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times with things to do, taken out in order; equal times in the order they were put in.
#[derive(Debug)]
pub(crate) struct Calendar<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    put_in: u64,
}

#[derive(Debug)]
struct Entry<E> {
    at_ns: u64,
    turn: u64,
    event: E,
}

impl<E> Calendar<E> {
    pub fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            put_in: 0,
        }
    }

    /// Notes that `event` is to happen at `at_ns`.
    #[inline]
    pub fn put(&mut self, at_ns: u64, event: E) {
        self.put_in += 1;
        self.heap.push(Reverse(Entry {
            at_ns,
            turn: self.put_in,
            event,
        }));
    }

    /// When the next thing happens.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        self.heap.peek().map(|entry| entry.0.at_ns)
    }

    /// Takes the next thing out.
    #[inline]
    pub fn take(&mut self) -> Option<(u64, E)> {
        self.heap
            .pop()
            .map(|Reverse(entry)| (entry.at_ns, entry.event))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ns, self.turn) == (other.at_ns, other.turn)
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.at_ns, self.turn).cmp(&(other.at_ns, other.turn))
    }
}
