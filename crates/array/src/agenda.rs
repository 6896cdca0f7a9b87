//! What happens next: which of a fixed number of stations completes first, and timers.
//!
//! The stations stand in a tournament: a complete binary tree whose leaves are the stations' next
//! completions and whose inner nodes hold the earlier of their two children. A changed time is
//! played up to the root. Timers stand in a heap. Ties are settled the same way in every run: by
//! station number, stations before timers, timers in the order they were set.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A time that never comes: the station has nothing to do.
const NEVER: u64 = u64::MAX;

/// What is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due<T> {
    /// The station of that number completes something.
    Station(usize),
    /// A timer fires.
    Timer(T),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Timer<T> {
    at_ns: u64,
    sequence: u64,
    what: T,
}

/// The next completion among stations, and timers that say what they are for by a `T`.
#[derive(Debug, Clone)]
pub struct Agenda<T> {
    /// Node 1 is the root; the leaves start at `leaves`. A node holds a time and a station.
    nodes: Vec<(u64, u32)>,
    leaves: usize,
    timers: BinaryHeap<Reverse<Timer<T>>>,
    sequence: u64,
}

impl<T: Copy + Ord> Agenda<T> {
    /// An agenda of that many stations, none of which has anything to do.
    pub fn new(stations: usize) -> Self {
        let leaves = stations.max(1).next_power_of_two();
        let mut nodes = vec![(NEVER, 0); 2 * leaves];
        for (station, leaf) in nodes[leaves..].iter_mut().enumerate() {
            leaf.1 = station as u32;
        }
        Self {
            nodes,
            leaves,
            timers: BinaryHeap::new(),
            sequence: 0,
        }
    }

    /// Says when a station completes next.
    #[inline]
    pub fn set_station(&mut self, station: usize, next_completion_ns: Option<u64>) {
        let mut node = self.leaves + station;
        let entry = (next_completion_ns.unwrap_or(NEVER), station as u32);
        if self.nodes[node] == entry {
            return;
        }
        self.nodes[node] = entry;
        while node > 1 {
            let earlier = self.nodes[node].min(self.nodes[node ^ 1]);
            node /= 2;
            if self.nodes[node] == earlier {
                return;
            }
            self.nodes[node] = earlier;
        }
    }

    /// Sets a timer.
    pub fn set_timer(&mut self, at_ns: u64, what: T) {
        self.sequence += 1;
        self.timers.push(Reverse(Timer {
            at_ns,
            sequence: self.sequence,
            what,
        }));
    }

    /// When something happens next.
    #[inline]
    pub fn next_ns(&self) -> Option<u64> {
        let station_ns = self.nodes[1].0;
        let timer_ns = match self.timers.peek() {
            Some(timer) => timer.0.at_ns,
            None => NEVER,
        };
        let next_ns = station_ns.min(timer_ns);
        (next_ns != NEVER).then_some(next_ns)
    }

    /// Takes out what happens next. A station stays due until its time is set anew.
    #[inline]
    pub fn take_next(&mut self) -> Option<Due<T>> {
        let (station_ns, station) = self.nodes[1];
        match self.timers.peek() {
            Some(timer) if timer.0.at_ns < station_ns => {
                self.timers.pop().map(|timer| Due::Timer(timer.0.what))
            }
            _ if station_ns != NEVER => Some(Due::Station(station as usize)),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn the_earliest_is_next_and_ties_go_by_number() {
        for seed in 0..200 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let stations = random.random_range(1..40usize);
            let mut agenda = Agenda::<u32>::new(stations);
            let mut times = vec![None; stations];
            let mut timers: Vec<(u64, u32)> = Vec::new();
            for step in 0..300 {
                if random.random_bool(0.2) {
                    let at_ns = random.random_range(0..30);
                    timers.push((at_ns, step));
                    agenda.set_timer(at_ns, step);
                } else {
                    let station = random.random_range(0..stations);
                    times[station] = random.random_bool(0.7).then(|| random.random_range(0..30));
                    agenda.set_station(station, times[station]);
                }
                let station = (0..stations)
                    .filter(|&station| times[station].is_some())
                    .min_by_key(|&station| (times[station], station));
                let station_ns = station.and_then(|station| times[station]);
                let timer = timers.iter().copied().min();
                let timer_ns = timer.map(|timer| timer.0);
                let next_ns = station_ns.into_iter().chain(timer_ns).min();
                assert_eq!(agenda.next_ns(), next_ns, "seed {seed}");
                let timer_first = timer_ns.is_some_and(|timer_ns| {
                    station_ns.is_none_or(|station_ns| timer_ns < station_ns)
                });
                let expected = if timer_first {
                    timer.map(|timer| Due::Timer(timer.1))
                } else {
                    station.map(Due::Station)
                };
                assert_eq!(agenda.take_next(), expected, "seed {seed}");
                if timer_first {
                    timers.retain(|&other| Some(other) != timer);
                }
            }
        }
    }
}
