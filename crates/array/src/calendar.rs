//! What is to happen, by time.
//!
//! Most things are put in shortly before the last of those that are known already: stations serve
//! in turn, so what comes later ends later. They stand in a sorted row that is entered from its
//! end. What would have to pass many others on its way waits in a heap beside the row.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Times with things to do, taken out in order; equal times in the order they were put in.
#[derive(Debug, Clone)]
pub(crate) struct Calendar<E> {
    row: Row<E>,
    heap: BinaryHeap<Reverse<Entry<E>>>,
    put_in: u64,
}

#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    at_ns: u64,
    turn: u64,
    event: E,
}

/// Entries of the row that a new one may pass.
const PASSED_MAX: usize = 24;

impl<E: Copy> Calendar<E> {
    pub fn new() -> Self {
        Self {
            row: Row::default(),
            heap: BinaryHeap::new(),
            put_in: 0,
        }
    }

    /// Notes that `event` is to happen at `at_ns`.
    #[inline]
    pub fn put(&mut self, at_ns: u64, event: E) {
        self.put_in += 1;
        let entry = Entry {
            at_ns,
            turn: self.put_in,
            event,
        };
        if self.row.passes_too_many(at_ns) {
            self.heap.push(Reverse(entry));
        } else {
            self.row.enter(entry);
        }
    }

    /// When the next thing happens.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let in_row = self.row.front().map(|entry| entry.at_ns);
        match self.heap.peek() {
            None => in_row,
            Some(entry) => in_row.into_iter().chain([entry.0.at_ns]).min(),
        }
    }

    /// Takes the next thing out.
    #[inline]
    pub fn take(&mut self) -> Option<(u64, E)> {
        let from_heap = self.heap.peek().is_some_and(|Reverse(entry)| {
            let front = self.row.front();
            front.is_none_or(|front| entry < &front)
        });
        let next = if from_heap {
            self.heap.pop().map(|Reverse(entry)| entry)
        } else {
            self.row.take_front()
        };
        next.map(|entry| (entry.at_ns, entry.event))
    }
}

/// A sorted row in a ring, entered from its end and taken from its front.
#[derive(Debug, Clone)]
struct Row<E> {
    /// A power of two long, or empty before the first entry; what lies outside of the row is of no
    /// meaning.
    ring: Vec<Entry<E>>,
    /// Entries taken out so far, so where the row begins, before it is brought into the ring.
    front: usize,
    len: usize,
}

/// Entries of the first ring.
const FIRST_RING: usize = 64;

impl<E> Default for Row<E> {
    fn default() -> Self {
        Self {
            ring: Vec::new(),
            front: 0,
            len: 0,
        }
    }
}

impl<E: Copy> Row<E> {
    #[inline]
    fn front(&self) -> Option<Entry<E>> {
        let at = self.front & self.ring.len().wrapping_sub(1);
        (self.len > 0).then(|| self.ring[at])
    }

    #[inline]
    fn take_front(&mut self) -> Option<Entry<E>> {
        let front = self.front()?;
        self.front = self.front.wrapping_add(1);
        self.len -= 1;
        Some(front)
    }

    /// Whether an entry would have to pass more than [`PASSED_MAX`] others on its way from the end.
    #[inline]
    fn passes_too_many(&self, at_ns: u64) -> bool {
        if self.len <= PASSED_MAX {
            return false;
        }
        let at = self.front.wrapping_add(self.len - 1 - PASSED_MAX) & (self.ring.len() - 1);
        self.ring[at].at_ns > at_ns
    }

    /// Brings an entry to its place from the end. It is the youngest, so it comes after all others
    /// of its time.
    #[inline]
    fn enter(&mut self, entry: Entry<E>) {
        if self.len == self.ring.len() {
            self.grow(entry);
        }
        let ring = &mut self.ring[..];
        let mask = ring.len() - 1;
        let mut place = self.front.wrapping_add(self.len);
        for _ in 0..self.len {
            let before = ring[place.wrapping_sub(1) & mask];
            if before.at_ns <= entry.at_ns {
                break;
            }
            ring[place & mask] = before;
            place = place.wrapping_sub(1);
        }
        ring[place & mask] = entry;
        self.len += 1;
    }

    /// Makes the ring twice as long; `filler` stands where no entry does.
    #[cold]
    fn grow(&mut self, filler: Entry<E>) {
        let length = (self.ring.len() * 2).max(FIRST_RING);
        let mut ring = Vec::with_capacity(length);
        let mask = self.ring.len().wrapping_sub(1);
        ring.extend((0..self.len).map(|number| self.ring[self.front.wrapping_add(number) & mask]));
        ring.resize(length, filler);
        (self.ring, self.front) = (ring, 0);
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::Calendar;

    #[test]
    fn things_come_by_time_and_by_turn() {
        for seed in 0..60_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Few different times make many equal ones, many make long ways through the row.
            let times = [5, 200, 1 << 40][(seed % 3) as usize];
            let mut calendar = Calendar::new();
            let mut model = BTreeMap::new();
            for turn in 0..2_000_u64 {
                if random.random_bool(0.52) {
                    let at_ns = random.random_range(0..times);
                    calendar.put(at_ns, turn);
                    model.insert((at_ns, turn), ());
                } else {
                    let expected = model.pop_first().map(|(key, ())| key);
                    assert_eq!(calendar.take(), expected, "seed {seed}");
                }
                let next_ns = model.keys().next().map(|key| key.0);
                assert_eq!(calendar.next_ns(), next_ns, "seed {seed}");
            }
        }
    }
}
