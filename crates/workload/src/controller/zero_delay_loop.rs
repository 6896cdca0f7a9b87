//! The zero-delay loop: a prediction whose simulated time does not advance, because no session ever
//! waits for anything.
//!
//! On the virtual clock a transaction that finds every page in the database cache takes no time. Where
//! all of them do and none rests, each session begins the next one at the same instant, and that
//! instant never ends.

use crate::failure::{Failure, FailureKind};
use runtime::Handle;
use std::cell::Cell;

/// Transactions of each session that are allowed at one instant beside those of the limit: all
/// sessions begin at the same instant, and each goes on until it meets a page that is not cached.
const PER_SESSION: u64 = 100;

/// Finds a zero-delay loop: counts the transactions of one load that end at the same instant of
/// simulated time. Counted and not timed, so that the same prediction always ends in the same place.
#[derive(Debug)]
pub struct ZeroDelayLoopDetector {
    limit: u64,
    remedy: &'static str,
    at_ns: Cell<u64>,
    transactions: Cell<u64>,
}

impl ZeroDelayLoopDetector {
    /// Nothing counted yet. More transactions than `limit` at one instant, and some for each session,
    /// are a loop. The limit shall be so high that sessions that meet a page outside of the cache now
    /// and then never come to it, and so low that it is soon computed. `remedy` is a sentence that
    /// says what the user can do.
    #[must_use]
    pub fn new(limit: u64, remedy: &'static str) -> Self {
        Self {
            limit,
            remedy,
            at_ns: Cell::new(0),
            transactions: Cell::new(0),
        }
    }

    /// Counts a transaction that has ended just now; so many `sessions` are at it.
    ///
    /// # Errors
    /// [`FailureKind::ZeroDelayLoop`] when simulated time has not advanced over very many of them.
    pub fn count(&self, handle: &Handle, sessions: u32) -> Result<(), Failure> {
        if !handle.is_virtual() {
            return Ok(());
        }
        let now_ns = handle.now_ns();
        if self.at_ns.replace(now_ns) != now_ns {
            self.transactions.set(0);
        }
        self.transactions.set(self.transactions.get() + 1);
        let limit = self.limit + PER_SESSION * u64::from(sessions);
        match self.transactions.get() > limit {
            true => Err(self.failure(now_ns)),
            false => Ok(()),
        }
    }

    fn failure(&self, now_ns: u64) -> Failure {
        Failure::new(
            FailureKind::ZeroDelayLoop,
            "",
            "running transactions",
            format!(
                "Simulated time stopped advancing at {:.3} s (a zero-delay loop): {} transactions in a \
                 row found every page in the database cache, so nothing more reached the array. {}",
                now_ns as f64 / 1e9,
                self.transactions.get(),
                self.remedy
            ),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::Runtime;

    #[test]
    fn transactions_at_one_instant_are_a_loop_and_over_some_time_are_not() {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let ended = runtime.block_on(async move {
            let detector = ZeroDelayLoopDetector::new(50, "Do something.");
            for _ in 0..3 {
                for _ in 0..250 {
                    detector.count(&handle, 2)?;
                }
                handle.sleep_ns(1).await;
            }
            for _ in 0..250 {
                detector.count(&handle, 2)?;
            }
            assert_eq!(handle.now_ns(), 3, "no failure until here");
            detector.count(&handle, 2)
        });
        let failure = ended.expect_err("one too many");
        assert_eq!(failure.kind, FailureKind::ZeroDelayLoop);
        assert!(failure.error.ends_with("Do something."), "{failure}");
    }
}
