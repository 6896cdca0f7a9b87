//! The copy used longest ago leaves: LRU.
//!
//! Source: the textbook rule; a stack algorithm in Mattson, Gecsei, Slutz, Traiger, "Evaluation
//! techniques for storage hierarchies", IBM Systems Journal 9(2), 1970. 17 to 21 bytes per line.

use super::index::LineIndex;
use super::lists::{Links, List};
use super::{Inserted, Replacement};

/// Lines in the order of their last use. A line's node is its slot.
#[derive(Debug, Default)]
pub(crate) struct Lru {
    capacity: u32,
    index: LineIndex,
    lines: Vec<u32>,
    links: Links,
    order: List,
    free: Vec<u32>,
}

impl Lru {
    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }
}

impl Replacement for Lru {
    #[inline]
    fn find(&self, line: u32) -> Option<u32> {
        self.index.find(line, &self.lines)
    }

    #[inline]
    fn hit(&mut self, line: u32) {
        if let Some(slot) = self.find(line) {
            self.links.remove(&mut self.order, slot);
            self.links.push_front(&mut self.order, slot);
        }
    }

    fn insert(&mut self, line: u32) -> Inserted {
        let mut evicted = None;
        let slot = if let Some(slot) = self.free.pop() {
            self.lines[slot as usize] = line;
            slot
        } else if self.order.length < self.capacity {
            self.lines.push(line);
            self.links.add()
        } else if let Some(slot) = self.links.pop_back(&mut self.order) {
            let old = self.lines[slot as usize];
            self.index.remove(old, &self.lines);
            self.lines[slot as usize] = line;
            evicted = Some(old);
            slot
        } else {
            panic!("a cache holds at least one line");
        };
        self.index.insert(slot, &self.lines);
        self.links.push_front(&mut self.order, slot);
        Inserted { slot, evicted }
    }

    fn remove(&mut self, line: u32) -> Option<u32> {
        let slot = self.find(line)?;
        self.index.remove(line, &self.lines);
        self.links.remove(&mut self.order, slot);
        self.free.push(slot);
        Some(slot)
    }

    fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn len(&self) -> u32 {
        self.order.length
    }
}
