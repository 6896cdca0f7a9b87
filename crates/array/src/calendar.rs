//! What is to happen, by time.
//!
//! Most things are put in shortly before the last of those that are known already: stations serve
//! in turn, so what comes later ends later. They stand in a sorted row that is entered from its
//! end. What would have to pass many others on its way waits in a heap beside the row.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

/// Times with things to do, taken out in order; equal times in the order they were put in.
#[derive(Debug, Clone)]
pub(crate) struct Calendar<E> {
    row: VecDeque<Entry<E>>,
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
            row: VecDeque::new(),
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
        // It is the youngest, so it comes after all others of its time.
        let mut place = self.row.len();
        let least = place.saturating_sub(PASSED_MAX + 1);
        while place > least && self.row[place - 1].at_ns > at_ns {
            place -= 1;
        }
        if self.row.len() - place > PASSED_MAX {
            self.heap.push(Reverse(entry));
            return;
        }
        self.row.push_back(entry);
        for later in (place + 1..self.row.len()).rev() {
            self.row.swap(later, later - 1);
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
            front.is_none_or(|front| entry < front)
        });
        let next = if from_heap {
            self.heap.pop().map(|Reverse(entry)| entry)
        } else {
            self.row.pop_front()
        };
        next.map(|entry| (entry.at_ns, entry.event))
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
