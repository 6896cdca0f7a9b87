//! Adaptive between recency and frequency: ARC.
//!
//! Source: Megiddo and Modha, "ARC: A Self-Tuning, Low Overhead Replacement Cache", FAST 2003,
//! figure 4. Lists T1 (used once lately) and T2 (used at least twice) hold the cache, B1 and B2
//! the numbers of as many lines again that left them. A line found in B1 makes the target for T1
//! longer, one found in B2 shorter.
//!
//! Two nodes of 17 bytes per line of the cache, and 5 to 10 bytes of index for each.

use super::index::LineIndex;
use super::lists::{Links, List};
use super::{Inserted, NONE, Replacement};

const T1: usize = 0;
const T2: usize = 1;
const B1: usize = 2;
const B2: usize = 3;

/// The four lists. Nodes are not slots: those on B1 and B2 have none.
#[derive(Debug, Default)]
pub(crate) struct Arc {
    capacity: u32,
    /// What T1 should hold.
    target: u32,
    index: LineIndex,
    lines: Vec<u32>,
    slots: Vec<u32>,
    /// The list each node is on.
    places: Vec<u8>,
    links: Links,
    lists: [List; 4],
    free_nodes: Vec<u32>,
    free_slots: Vec<u32>,
    slots_used: u32,
}

impl Arc {
    pub(crate) fn new(capacity: u32) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    fn length(&self, list: usize) -> u32 {
        self.lists[list].length
    }

    fn move_to_front(&mut self, node: u32, list: usize) {
        let from = usize::from(self.places[node as usize]);
        self.links.remove(&mut self.lists[from], node);
        self.links.push_front(&mut self.lists[list], node);
        self.places[node as usize] = list as u8;
    }

    /// Forgets the oldest node of a list.
    fn forget_last(&mut self, list: usize) -> Option<(u32, u32)> {
        let node = self.links.pop_back(&mut self.lists[list])?;
        let line = self.lines[node as usize];
        self.index.remove(line, &self.lines);
        self.free_nodes.push(node);
        Some((self.slots[node as usize], line))
    }

    /// REPLACE of the paper: the oldest line of T1 or T2 leaves and becomes a ghost.
    fn replace(&mut self, found_in_b2: bool) -> Option<(u32, u32)> {
        let t1 = self.length(T1);
        let from_t1 = t1 > 0 && (t1 > self.target || (found_in_b2 && t1 == self.target));
        let (from, to) = if from_t1 || self.length(T2) == 0 {
            (T1, B1)
        } else {
            (T2, B2)
        };
        let node = self.lists[from].last()?;
        self.move_to_front(node, to);
        let slot = std::mem::replace(&mut self.slots[node as usize], NONE);
        Some((slot, self.lines[node as usize]))
    }

    /// A slot for a new line, and the line it is taken from if the cache is full.
    fn slot(&mut self, taken: Option<(u32, u32)>) -> Inserted {
        if let Some((slot, line)) = taken {
            return Inserted {
                slot,
                evicted: Some(line),
            };
        }
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.slots_used += 1;
            self.slots_used - 1
        });
        assert!(slot < self.capacity, "more lines than the cache holds");
        Inserted {
            slot,
            evicted: None,
        }
    }

    /// Cases II and III of the paper: the line left lately.
    fn insert_ghost(&mut self, node: u32) -> Inserted {
        let (b1, b2) = (self.length(B1), self.length(B2));
        let in_b2 = usize::from(self.places[node as usize]) == B2;
        self.target = if in_b2 {
            self.target.saturating_sub((b1 / b2).max(1))
        } else {
            (self.target + (b2 / b1).max(1)).min(self.capacity)
        };
        let full = self.len() == self.capacity;
        let taken = if full { self.replace(in_b2) } else { None };
        let inserted = self.slot(taken);
        self.move_to_front(node, T2);
        self.slots[node as usize] = inserted.slot;
        inserted
    }

    /// Case IV of the paper: the line is unknown.
    fn insert_new(&mut self, line: u32) -> Inserted {
        let recent = self.length(T1) + self.length(B1);
        let all = recent + self.length(T2) + self.length(B2);
        let full = self.len() == self.capacity;
        let mut taken = None;
        if recent == self.capacity {
            if self.length(T1) < self.capacity {
                self.forget_last(B1);
                if full {
                    taken = self.replace(false);
                }
            } else {
                taken = self.forget_last(T1);
            }
        } else {
            if all == 2 * self.capacity {
                self.forget_last(B2);
            }
            if full {
                taken = self.replace(false);
            }
        }
        let inserted = self.slot(taken);
        let node = self.free_nodes.pop().unwrap_or_else(|| {
            self.lines.push(NONE);
            self.slots.push(NONE);
            self.places.push(0);
            self.links.add()
        });
        self.lines[node as usize] = line;
        self.slots[node as usize] = inserted.slot;
        self.places[node as usize] = T1 as u8;
        self.links.push_front(&mut self.lists[T1], node);
        self.index.insert(node, &self.lines);
        inserted
    }
}

impl Replacement for Arc {
    #[inline]
    fn find(&self, line: u32) -> Option<u32> {
        let node = self.index.find(line, &self.lines)?;
        Some(self.slots[node as usize]).filter(|&slot| slot != NONE)
    }

    fn hit(&mut self, line: u32) {
        if let Some(node) = self.index.find(line, &self.lines)
            && self.slots[node as usize] != NONE
        {
            self.move_to_front(node, T2);
        }
    }

    fn insert(&mut self, line: u32) -> Inserted {
        match self.index.find(line, &self.lines) {
            Some(node) => self.insert_ghost(node),
            None => self.insert_new(line),
        }
    }

    fn remove(&mut self, line: u32) -> Option<u32> {
        let node = self.index.find(line, &self.lines)?;
        let slot = std::mem::replace(&mut self.slots[node as usize], NONE);
        if slot == NONE {
            return None;
        }
        self.index.remove(line, &self.lines);
        let list = usize::from(self.places[node as usize]);
        self.links.remove(&mut self.lists[list], node);
        self.free_nodes.push(node);
        self.free_slots.push(slot);
        Some(slot)
    }

    fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn len(&self) -> u32 {
        self.length(T1) + self.length(T2)
    }
}
