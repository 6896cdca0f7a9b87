//! The event queue: what happens next, of events at known times and of sources that say when they
//! are due.
//!
//! An event is scheduled once and comes out at its time. A source, such as a disk, has one next
//! time, which changes with everything that happens to it. Events with equal times come in the
//! order they were scheduled in; sources come before events, and among sources the one with the
//! lower number, so every run goes the same way.
//!
//! - [`ring`]: most events are scheduled shortly before the last of those that are known already,
//!   because servers with a queue serve in turn. They are kept in a sorted ring buffer, filled from
//!   its end. An event that would have to pass many others goes into a binary heap instead.
//! - [`tournament`]: the earliest of the sources.

mod ring;
mod tournament;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use ring::SortedRing;
use tournament::Tournament;

/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// What the queue returns as next: a source or a scheduled event.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due<E> {
    /// The source of that number. It stays due until its time is set again.
    Source(usize),
    /// A scheduled event, which is out of the queue now.
    Event(E),
}

/// Events and sources in the order of their times.
#[derive(Debug, Clone)]
pub(crate) struct EventQueue<E> {
    sources: Tournament,
    ring: SortedRing<E>,
    heap: BinaryHeap<Reverse<Entry<E>>>,
    scheduled: u64,
}

/// A scheduled event with its time.
#[derive(Debug, Clone, Copy)]
struct Entry<E> {
    at_ns: u64,
    /// Counts what was scheduled: earlier entries of the same time have a lower one.
    sequence: u64,
    event: E,
}

impl<E: Copy> EventQueue<E> {
    /// A queue without events, and with `sources` sources that are not due.
    pub(crate) fn new(sources: usize) -> Self {
        Self {
            sources: Tournament::new(sources),
            ring: SortedRing::default(),
            heap: BinaryHeap::new(),
            scheduled: 0,
        }
    }

    /// Sets when a source is due next; `None` if nothing is to come of it.
    #[inline]
    pub(crate) fn set_source(&mut self, source: usize, due_ns: Option<u64>) {
        self.sources.set(source, due_ns.unwrap_or(NEVER));
    }

    /// Schedules `event` for `at_ns`.
    #[inline]
    pub(crate) fn schedule(&mut self, at_ns: u64, event: E) {
        self.scheduled += 1;
        let entry = Entry {
            at_ns,
            sequence: self.scheduled,
            event,
        };
        if self.ring.is_far_from_end(at_ns) {
            self.heap.push(Reverse(entry));
        } else {
            self.ring.insert(entry);
        }
    }

    /// When the next event or source is due; `None` if there is none.
    #[inline]
    pub(crate) fn next_ns(&self) -> Option<u64> {
        let next_ns = self.sources.earliest().0.min(self.next_event_ns());
        (next_ns != NEVER).then_some(next_ns)
    }

    #[inline]
    fn next_event_ns(&self) -> u64 {
        let in_ring_ns = self.ring.front().map_or(NEVER, |entry| entry.at_ns);
        match self.heap.peek() {
            None => in_ring_ns,
            Some(entry) => in_ring_ns.min(entry.0.at_ns),
        }
    }

    /// Takes out what is due next, with its time.
    #[inline]
    pub(crate) fn pop(&mut self) -> Option<(u64, Due<E>)> {
        let (source_ns, source) = self.sources.earliest();
        if source_ns != NEVER && source_ns <= self.next_event_ns() {
            return Some((source_ns, Due::Source(source)));
        }
        let (at_ns, event) = self.pop_event()?;
        Some((at_ns, Due::Event(event)))
    }

    /// Takes out the next scheduled event, with its time, whatever the sources say.
    #[inline]
    pub(crate) fn pop_event(&mut self) -> Option<(u64, E)> {
        let from_heap = self.heap.peek().is_some_and(|Reverse(entry)| {
            let front = self.ring.front();
            front.is_none_or(|front| entry < &front)
        });
        let next = if from_heap {
            self.heap.pop().map(|Reverse(entry)| entry)
        } else {
            self.ring.pop_front()
        };
        next.map(|entry| (entry.at_ns, entry.event))
    }
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        (self.at_ns, self.sequence) == (other.at_ns, other.sequence)
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
        (self.at_ns, self.sequence).cmp(&(other.at_ns, other.sequence))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::{Due, EventQueue};

    #[test]
    fn events_come_by_time_and_then_in_the_order_they_were_scheduled() {
        for seed in 0..60_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            // Few different times make many equal ones, many make long ways through the ring.
            let times = [5, 200, 1 << 40][(seed % 3) as usize];
            let mut queue = EventQueue::new(0);
            let mut model = BTreeMap::new();
            for turn in 0..2_000_u64 {
                if random.random_bool(0.52) {
                    let at_ns = random.random_range(0..times);
                    queue.schedule(at_ns, turn);
                    model.insert((at_ns, turn), ());
                } else {
                    let expected = model.pop_first().map(|(key, ())| key);
                    assert_eq!(queue.pop_event(), expected, "seed {seed}");
                }
                let next_ns = model.keys().next().map(|key| key.0);
                assert_eq!(queue.next_ns(), next_ns, "seed {seed}");
            }
        }
    }

    #[test]
    fn sources_come_before_events_and_by_number() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let sources = random.random_range(1..40usize);
            let mut queue = EventQueue::<u32>::new(sources);
            let mut times = vec![None; sources];
            let mut events: Vec<(u64, u32)> = Vec::new();
            for step in 0..300 {
                if random.random_bool(0.2) {
                    let at_ns = random.random_range(0..30);
                    events.push((at_ns, step));
                    queue.schedule(at_ns, step);
                } else {
                    let source = random.random_range(0..sources);
                    times[source] = random.random_bool(0.7).then(|| random.random_range(0..30));
                    queue.set_source(source, times[source]);
                }
                let source = (0..sources)
                    .filter(|&source| times[source].is_some())
                    .min_by_key(|&source| (times[source], source));
                let source_ns = source.and_then(|source| times[source]);
                let event = events.iter().copied().min();
                let event_ns = event.map(|event| event.0);
                let next_ns = source_ns.into_iter().chain(event_ns).min();
                assert_eq!(queue.next_ns(), next_ns, "seed {seed}");
                let event_first = event_ns
                    .is_some_and(|event_ns| source_ns.is_none_or(|source_ns| event_ns < source_ns));
                let expected = if event_first {
                    event.map(|event| Due::Event(event.1))
                } else {
                    source.map(Due::Source)
                };
                let expected = next_ns.zip(expected);
                assert_eq!(queue.pop(), expected, "seed {seed}");
                if event_first {
                    events.retain(|&other| Some(other) != event);
                }
            }
        }
    }
}
