//! Counts of failed attempts.

use crate::operation::Operation;
use crate::parallel::lock;
use measure::result::TransactionCounts;
use std::collections::BTreeMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

/// Failed attempts since the process began.
#[derive(Debug, Default)]
pub struct ErrorCounts {
    conflicts: [AtomicU64; Operation::ALL.len()],
    given_up: AtomicU64,
    lost: AtomicU64,
    without_space: AtomicU64,
    /// The counts at the start of the measurement.
    started: Mutex<TransactionCounts>,
}

impl ErrorCounts {
    /// A serialization failure of a transaction of this kind.
    pub fn conflict(&self, operation: Operation) {
        self.conflicts[operation as usize].fetch_add(1, Ordering::Relaxed);
    }

    /// A transaction was cancelled after too many serialization failures.
    pub fn cancel(&self) {
        self.given_up.fetch_add(1, Ordering::Relaxed);
    }

    /// A connection was lost.
    pub fn connection_lost(&self) {
        self.lost.fetch_add(1, Ordering::Relaxed);
    }

    /// The volume was full.
    pub fn no_space(&self) {
        self.without_space.fetch_add(1, Ordering::Relaxed);
    }

    /// Starts the measurement: earlier errors do not count.
    pub fn begin(&self) {
        let now = self.all();
        *lock(&self.started) = now;
    }

    /// Counts since [`Self::begin`]. Committed transactions are counted elsewhere.
    #[must_use]
    pub fn counts(&self) -> TransactionCounts {
        let (all, started) = (self.all(), lock(&self.started).clone());
        let before = |name: &String| {
            started
                .serialization_failures_by_operation
                .get(name)
                .copied()
                .unwrap_or(0)
        };
        let conflicts: BTreeMap<String, u64> = all
            .serialization_failures_by_operation
            .iter()
            .map(|(name, count)| (name.clone(), count - before(name)))
            .filter(|(_, count)| *count > 0)
            .collect();
        TransactionCounts {
            serialization_failures: all.serialization_failures - started.serialization_failures,
            retries_exhausted: all.retries_exhausted - started.retries_exhausted,
            connection_failures: all.connection_failures - started.connection_failures,
            out_of_space: all.out_of_space - started.out_of_space,
            serialization_failures_by_operation: conflicts,
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
            serialization_failures: conflicts.values().sum(),
            retries_exhausted: count(&self.given_up),
            connection_failures: count(&self.lost),
            out_of_space: count(&self.without_space),
            serialization_failures_by_operation: conflicts,
            ..TransactionCounts::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_came_before_the_measurement_is_left_out() {
        let error_counts = ErrorCounts::default();
        error_counts.conflict(Operation::TradeResult);
        error_counts.connection_lost();
        error_counts.begin();
        error_counts.conflict(Operation::TradeResult);
        error_counts.conflict(Operation::TradeOrder);
        error_counts.cancel();
        let counts = error_counts.counts();
        let failed = (counts.serialization_failures, counts.retries_exhausted);
        assert_eq!((failed, counts.connection_failures), ((2, 1), 0));
        assert_eq!(
            counts.serialization_failures_by_operation["trade-result"],
            1
        );
        assert_eq!(counts.serialization_failures_by_operation.len(), 2);
    }
}
