//! Three queues, first in, first out: S3-FIFO.
//!
//! Source: Yang, Zhang, Qiu, Yue, Vinayak, "FIFO queues are all you need for cache eviction",
//! SOSP 2023: a small queue of a tenth of the cache that new lines pass through, a main queue, and
//! a ghost queue of as many line numbers as the main queue holds lines. Uses are counted up to 3.
//! A line that leaves the small queue goes on to the main queue if it was used more than once
//! there, else out and into the ghost queue; one that leaves the main queue goes round again while
//! it was used, at the price of one count. A line found in the ghost queue starts in the main one.
//!
//! 18 bytes per line and 8 to 12 per ghost.

use super::index::LineIndex;
use super::lists::{Links, List};
use super::{Inserted, NONE, Replacement};

/// Uses that are counted at most.
const USES_MAX: u8 = 3;
/// The bit beside the uses that says that a line is in the main queue.
const IN_MAIN: u8 = 0x80;

/// The three queues. A line's node is its slot.
#[derive(Debug, Default)]
pub(crate) struct S3Fifo {
    capacity: u32,
    small_target: u32,
    index: LineIndex,
    lines: Vec<u32>,
    /// By slot: how often the line was used since it came, and the bit `IN_MAIN`.
    marks: Vec<u8>,
    links: Links,
    small: List,
    main: List,
    free: Vec<u32>,
    ghosts: Ghosts,
}

impl S3Fifo {
    pub(crate) fn new(capacity: u32) -> Self {
        let small_target = (capacity / 10).max(1);
        Self {
            capacity,
            small_target,
            ghosts: Ghosts::new(capacity - small_target),
            ..Self::default()
        }
    }

    /// Makes one slot free; says whose it was.
    fn evict(&mut self) -> (u32, u32) {
        loop {
            let from_small = self.small.length >= self.small_target || self.main.length == 0;
            let evicted = if from_small {
                self.evict_from_small()
            } else {
                Some(self.evict_from_main())
            };
            if let Some(evicted) = evicted {
                return evicted;
            }
        }
    }

    /// Sends the oldest line of the small queue on or out.
    fn evict_from_small(&mut self) -> Option<(u32, u32)> {
        let slot = self.links.pop_back(&mut self.small)?;
        if self.marks[slot as usize] > 1 {
            self.marks[slot as usize] = IN_MAIN;
            self.links.push_front(&mut self.main, slot);
            return None;
        }
        let line = self.lines[slot as usize];
        self.ghosts.push(line);
        Some(self.drop_line(slot))
    }

    fn evict_from_main(&mut self) -> (u32, u32) {
        loop {
            let Some(slot) = self.links.pop_back(&mut self.main) else {
                panic!("the main queue is not empty when it is evicted from");
            };
            let mark = &mut self.marks[slot as usize];
            if *mark == IN_MAIN {
                return self.drop_line(slot);
            }
            *mark -= 1;
            self.links.push_front(&mut self.main, slot);
        }
    }

    fn drop_line(&mut self, slot: u32) -> (u32, u32) {
        let line = self.lines[slot as usize];
        self.index.remove(line, &self.lines);
        (slot, line)
    }
}

impl Replacement for S3Fifo {
    #[inline]
    fn find(&self, line: u32) -> Option<u32> {
        self.index.find(line, &self.lines)
    }

    #[inline]
    fn hit(&mut self, line: u32) {
        if let Some(slot) = self.find(line) {
            let mark = &mut self.marks[slot as usize];
            if *mark & !IN_MAIN < USES_MAX {
                *mark += 1;
            }
        }
    }

    fn insert(&mut self, line: u32) -> Inserted {
        let to_main = self.ghosts.remove(line);
        let mut evicted = None;
        let slot = if let Some(slot) = self.free.pop() {
            slot
        } else if self.len() < self.capacity {
            self.lines.push(NONE);
            self.marks.push(0);
            self.links.add()
        } else {
            let (slot, old) = self.evict();
            evicted = Some(old);
            slot
        };
        self.lines[slot as usize] = line;
        self.index.insert(slot, &self.lines);
        if to_main {
            self.marks[slot as usize] = IN_MAIN;
            self.links.push_front(&mut self.main, slot);
        } else {
            self.marks[slot as usize] = 0;
            self.links.push_front(&mut self.small, slot);
        }
        Inserted { slot, evicted }
    }

    fn remove(&mut self, line: u32) -> Option<u32> {
        let slot = self.find(line)?;
        self.index.remove(line, &self.lines);
        let in_main = self.marks[slot as usize] & IN_MAIN != 0;
        let queue = if in_main {
            &mut self.main
        } else {
            &mut self.small
        };
        self.links.remove(queue, slot);
        self.free.push(slot);
        Some(slot)
    }

    fn clear(&mut self) {
        *self = Self::new(self.capacity);
    }

    fn len(&self) -> u32 {
        self.small.length + self.main.length
    }
}

/// Numbers of lines that left lately, oldest out first, in a ring.
#[derive(Debug, Default)]
struct Ghosts {
    capacity: u32,
    ring: Vec<u32>,
    index: LineIndex,
    next: u32,
}

impl Ghosts {
    fn new(capacity: u32) -> Self {
        Self {
            capacity,
            ..Self::default()
        }
    }

    fn push(&mut self, line: u32) {
        if self.capacity == 0 {
            return;
        }
        let at = self.next;
        if at as usize == self.ring.len() {
            self.ring.push(line);
        } else {
            let old = self.ring[at as usize];
            if old != NONE {
                self.index.remove(old, &self.ring);
            }
            self.ring[at as usize] = line;
        }
        self.index.insert(at, &self.ring);
        self.next = (at + 1) % self.capacity;
    }

    /// Forgets `line`; says whether it was there. Its place in the ring stays empty until its
    /// turn comes.
    fn remove(&mut self, line: u32) -> bool {
        let Some(at) = self.index.find(line, &self.ring) else {
            return false;
        };
        self.index.remove(line, &self.ring);
        self.ring[at as usize] = NONE;
        true
    }
}
