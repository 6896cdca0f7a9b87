//! Transactions that are due but not begun.

use std::collections::VecDeque;

/// A bounded queue of due times, with counts of those that were late or dropped.
#[derive(Debug, Default)]
pub struct Backlog {
    waiting: VecDeque<u64>,
    limit: usize,
    at_work: usize,
    shed: u64,
    longest: usize,
}

/// What became of an arrival.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admission {
    /// A session is free: begin now (and call [`Backlog::next_due`] afterwards).
    Begin,
    /// It waits for a session.
    Waits,
    /// The backlog is full; the arrival is counted and dropped.
    Shed,
}

impl Backlog {
    /// An empty backlog that holds up to `limit` arrivals.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            ..Self::default()
        }
    }

    /// An arrival that was due at `due_ns`, while up to `sessions` may be at work.
    pub fn arrive(&mut self, due_ns: u64, sessions: usize) -> Admission {
        if self.at_work < sessions && self.waiting.is_empty() {
            self.at_work += 1;
            return Admission::Begin;
        }
        if self.waiting.len() >= self.limit {
            self.shed += 1;
            return Admission::Shed;
        }
        self.waiting.push_back(due_ns);
        self.longest = self.longest.max(self.waiting.len());
        Admission::Waits
    }

    /// What a session does after its transaction: the due time of the next one, or `None` when
    /// nothing waits and the session becomes free.
    pub fn next_due(&mut self) -> Option<u64> {
        let due_ns = self.waiting.pop_front();
        if due_ns.is_none() {
            self.at_work -= 1;
        }
        due_ns
    }

    /// From now on up to `limit` arrivals may wait.
    pub fn set_limit(&mut self, limit: usize) {
        self.limit = limit;
    }

    /// Drops everything that waits; gives how many there were. They were due and never begun.
    pub fn abandon(&mut self) -> u64 {
        let count = self.waiting.len() as u64;
        self.waiting.clear();
        count
    }

    /// Sessions at work on an arrival.
    #[must_use]
    pub fn at_work(&self) -> usize {
        self.at_work
    }

    /// Arrivals that wait for a session.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Arrivals dropped because the backlog was full, so far.
    #[must_use]
    pub fn shed(&self) -> u64 {
        self.shed
    }

    /// The most that ever waited.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.longest
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_arrival_begins_waits_or_is_shed_in_order() {
        let mut backlog = Backlog::new(2);
        let outcomes: Vec<Admission> = (0..5).map(|due| backlog.arrive(due, 2)).collect();
        use Admission::{Begin, Shed, Waits};
        assert_eq!(outcomes, [Begin, Begin, Waits, Waits, Shed]);
        assert_eq!((backlog.next_due(), backlog.next_due()), (Some(2), Some(3)));
        assert_eq!((backlog.next_due(), backlog.next_due()), (None, None));
        assert_eq!(
            (backlog.at_work(), backlog.shed(), backlog.longest()),
            (0, 1, 2)
        );
    }
}
