//! How attempts ended that did not end well.

use super::line::lock;
use measure::result::TransactionCounts;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use workload::brokerage::kinds::Operation;

/// Counts of one phase.
#[derive(Debug, Default)]
pub struct Tally {
    conflicts: [AtomicU64; Operation::ALL.len()],
    given_up: AtomicU64,
    lost: AtomicU64,
    without_space: AtomicU64,
    /// The counts at the beginning of what is measured.
    begun: Mutex<TransactionCounts>,
}

impl Tally {
    /// Another transaction was in the way of one of this kind.
    pub fn conflict(&self, operation: Operation) {
        self.conflicts[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// A transaction was given up.
    pub fn give_up(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// The server was gone.
    pub fn lose(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// The server had no room.
    pub fn lack_space(&self) {
        self.without_space.fetch_add(1, Ordering::Relaxed);
    }

    /// What is counted from now on is what [`Self::counts`] gives.
    pub fn begin(&self) {
        let now = self.all();
        *lock(&self.begun) = now;
    }

    /// What was counted since [`Self::begin`]. How many were committed, others count.
    #[must_use]
    pub fn counts(&self) -> TransactionCounts {
        let (all, begun) = (self.all(), lock(&self.begun).clone());
        let before = |name: &String| begun.conflicts_by_operation.get(name).copied().unwrap_or(0);
        let conflicts: BTreeMap<String, u64> = all
            .conflicts_by_operation
            .iter()
            .map(|(name, count)| (name.clone(), count - before(name)))
            .filter(|(_, count)| *count > 0)
            .collect();
        TransactionCounts {
            conflicts: all.conflicts - begun.conflicts,
            given_up: all.given_up - begun.given_up,
            lost: all.lost - begun.lost,
            without_space: all.without_space - begun.without_space,
            conflicts_by_operation: conflicts,
            ..TransactionCounts::default()
        }
    }

    fn all(&self) -> TransactionCounts {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let conflicts: BTreeMap<String, u64> = Operation::ALL
            .iter()
            .zip(&self.conflicts)
            .map(|(operation, counter)| (operation.name().to_owned(), count(counter)))
            .collect();
        TransactionCounts {
            conflicts: conflicts.values().sum(),
            given_up: count(&self.given_up),
            lost: count(&self.lost),
            without_space: count(&self.without_space),
            conflicts_by_operation: conflicts,
            ..TransactionCounts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_measurement_is_left_out() {
        let tally = Tally::default();
        tally.conflict(Operation::TradeResult);
        tally.lose();
        tally.begin();
        tally.conflict(Operation::TradeResult);
        tally.conflict(Operation::TradeOrder);
        tally.give_up();
        let counts = tally.counts();
        assert_eq!((counts.conflicts, counts.given_up, counts.lost), (2, 1, 0));
        assert_eq!(counts.conflicts_by_operation["trade-result"], 1);
        assert_eq!(counts.conflicts_by_operation.len(), 2);
    }
}
