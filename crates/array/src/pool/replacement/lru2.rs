//! The copy whose last use but one is longest ago leaves: LRU-2.
//!
//! Source: O'Neil, O'Neil, Weikum, "The LRU-K page replacement algorithm for database disk
//! buffering", SIGMOD 1993, with K = 2, no correlated reference period, and the time of the last
//! use of as many lines as the cache holds remembered after they left. Lines used once leave
//! before all others, the one used longest ago first.
//!
//! 25 to 30 bytes per line and 13 to 20 per line remembered.

use super::index::LineIndex;
use super::lists::{Links, List};
use super::{Inserted, NONE, Replacement};

/// Uses in the order they came. Zero: never.
type Clock = u32;

/// Lines in a heap by their last use but one. A line's node is its slot.
#[derive(Debug, Default)]
pub(crate) struct Lru2 {
    capacity: u32,
    now: Clock,
    index: LineIndex,
    lines: Vec<u32>,
    /// Last use and last use but one of each slot.
    uses: Vec<(Clock, Clock)>,
    /// Slots, the one to leave first on top.
    heap: Vec<u32>,
    /// The position of each slot in the heap.
    positions: Vec<u32>,
    free: Vec<u32>,
    history: History,
}

impl Lru2 {
    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            history: History::new(capacity),
            ..Self::default()
        }
    }

    /// The time of a use. When the clock runs out all times are halved: the order stays, apart
    /// from neighbours that become equal.
    fn tick(&mut self) -> Clock {
        if self.now == Clock::MAX {
            self.now /= 2;
            for (last, before) in &mut self.uses {
                *last /= 2;
                *before /= 2;
            }
            self.history
                .last_uses
                .iter_mut()
                .for_each(|use_| *use_ /= 2);
        }
        self.now += 1;
        self.now
    }

    /// What decides which of two slots leaves first.
    fn key(&self, slot: u32) -> (Clock, Clock) {
        let (last, before) = self.uses[slot as usize];
        (before, last)
    }

    fn put(&mut self, position: usize, slot: u32) {
        self.heap[position] = slot;
        self.positions[slot as usize] = position as u32;
    }

    /// Moves the slot at `position` towards the top as far as it belongs there.
    fn sift_up(&mut self, mut position: usize) {
        let slot = self.heap[position];
        while position > 0 {
            let parent = (position - 1) / 2;
            if self.key(self.heap[parent]) <= self.key(slot) {
                break;
            }
            self.put(position, self.heap[parent]);
            position = parent;
        }
        self.put(position, slot);
    }

    /// Moves the slot at `position` away from the top as far as it belongs there.
    fn sift_down(&mut self, mut position: usize) {
        let slot = self.heap[position];
        loop {
            let mut child = 2 * position + 1;
            if child >= self.heap.len() {
                break;
            }
            let right = child + 1;
            if right < self.heap.len() && self.key(self.heap[right]) < self.key(self.heap[child]) {
                child = right;
            }
            if self.key(slot) <= self.key(self.heap[child]) {
                break;
            }
            self.put(position, self.heap[child]);
            position = child;
        }
        self.put(position, slot);
    }

    /// Takes a slot out of the heap and its line out of the index; remembers its last use.
    fn take_out(&mut self, slot: u32) -> u32 {
        let position = self.positions[slot as usize] as usize;
        self.heap.swap_remove(position);
        if position < self.heap.len() {
            let moved = self.heap[position];
            self.put(position, moved);
            self.sift_up(position);
            self.sift_down(self.positions[moved as usize] as usize);
        }
        let line = self.lines[slot as usize];
        self.index.remove(line, &self.lines);
        line
    }
}

impl Replacement for Lru2 {
    #[inline]
    fn find(&self, line: u32) -> Option<u32> {
        self.index.find(line, &self.lines)
    }

    fn hit(&mut self, line: u32) {
        if let Some(slot) = self.find(line) {
            let now = self.tick();
            let (last, _) = self.uses[slot as usize];
            self.uses[slot as usize] = (now, last);
            self.sift_down(self.positions[slot as usize] as usize);
        }
    }

    fn insert(&mut self, line: u32) -> Inserted {
        let now = self.tick();
        let before = self.history.take(line).unwrap_or(0);
        let mut evicted = None;
        let slot = if let Some(slot) = self.free.pop() {
            slot
        } else if self.len() < self.capacity {
            self.lines.push(NONE);
            self.uses.push((0, 0));
            self.positions.push(NONE);
            (self.lines.len() - 1) as u32
        } else {
            let slot = self.heap[0];
            let (last, _) = self.uses[slot as usize];
            let old = self.take_out(slot);
            self.history.remember(old, last);
            evicted = Some(old);
            slot
        };
        self.lines[slot as usize] = line;
        self.uses[slot as usize] = (now, before);
        self.index.insert(slot, &self.lines);
        self.heap.push(slot);
        self.sift_up(self.heap.len() - 1);
        Inserted { slot, evicted }
    }

    fn remove(&mut self, line: u32) -> Option<u32> {
        let slot = self.find(line)?;
        self.take_out(slot);
        self.free.push(slot);
        Some(slot)
    }

    fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn len(&self) -> u32 {
        self.heap.len() as u32
    }
}

/// The last use of lines that left, the one that left longest ago forgotten first.
#[derive(Debug, Default)]
struct History {
    capacity: u32,
    index: LineIndex,
    lines: Vec<u32>,
    last_uses: Vec<Clock>,
    links: Links,
    order: List,
    free: Vec<u32>,
}

impl History {
    fn new(capacity: u32) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    fn remember(&mut self, line: u32, last_use: Clock) {
        let node = if self.order.length == self.capacity {
            let oldest = self.links.pop_back(&mut self.order).unwrap_or(NONE);
            let forgotten = self.lines[oldest as usize];
            self.index.remove(forgotten, &self.lines);
            oldest
        } else if let Some(node) = self.free.pop() {
            node
        } else {
            self.lines.push(NONE);
            self.last_uses.push(0);
            self.links.add()
        };
        self.lines[node as usize] = line;
        self.last_uses[node as usize] = last_use;
        self.index.insert(node, &self.lines);
        self.links.push_front(&mut self.order, node);
    }

    fn take(&mut self, line: u32) -> Option<Clock> {
        let node = self.index.find(line, &self.lines)?;
        self.index.remove(line, &self.lines);
        self.links.remove(&mut self.order, node);
        self.free.push(node);
        Some(self.last_uses[node as usize])
    }
}
