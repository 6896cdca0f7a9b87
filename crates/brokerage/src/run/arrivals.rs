//! Open-loop arrivals: transactions are due at a target rate, whether a user is free or not.

use crate::parallel::lock;
use runtime::thread::pause;
use std::sync::Mutex;
use std::time::Duration;
use workload::pacing::arrivals::{Arrivals, Spacing};
use workload::random::SeededRng;

/// Seconds of arrivals that may wait; later ones are counted and dropped.
pub const BACKLOG_S: f64 = workload::controller::plan::BACKLOG_S;

/// Due times that wait for a user.
#[derive(Debug)]
pub struct Due {
    waiting: Mutex<Waiting>,
    per_second: f64,
    limit: usize,
}

impl Waiting {
    /// Adds everything that is due.
    fn arrive(&mut self, now_ns: u64, per_second: f64, limit: usize) {
        while let Some(due_ns) = self.arrivals.next_until(now_ns, per_second) {
            if self.due_ns.len() < limit {
                self.due_ns.push_back(due_ns);
            } else {
                self.shed += 1;
            }
        }
    }
}

#[derive(Debug)]
struct Waiting {
    arrivals: Arrivals,
    due_ns: std::collections::VecDeque<u64>,
    shed: u64,
}

impl Due {
    /// Arrivals at this rate, from `now_ns` on.
    #[must_use]
    pub fn new(per_second: f64, spacing: Spacing, rng: SeededRng, now_ns: u64) -> Self {
        let waiting = Waiting {
            arrivals: Arrivals::new(spacing, rng, now_ns),
            due_ns: std::collections::VecDeque::new(),
            shed: 0,
        };
        Self {
            waiting: Mutex::new(waiting),
            per_second,
            limit: (per_second * BACKLOG_S).ceil() as usize,
        }
    }

    /// The due time of the next transaction; `None` if none is due before the timeout. `now_ns` is
    /// the clock of the run.
    pub async fn wait(&self, now_ns: impl Fn() -> u64, timeout: Duration) -> Option<u64> {
        let rest = match self.take(now_ns()) {
            Ok(due_ns) => return Some(due_ns),
            Err(rest) => rest,
        };
        // No wake-ups: users poll.
        pause(rest.min(timeout)).await;
        self.take(now_ns()).ok()
    }

    /// The first due time that nobody has taken, or how long until one is expected.
    fn take(&self, now_ns: u64) -> Result<u64, Duration> {
        let mut waiting = lock(&self.waiting);
        waiting.arrive(now_ns, self.per_second, self.limit);
        waiting.due_ns.pop_front().ok_or_else(|| {
            let next_ns = waiting.arrivals.expected_ns(self.per_second);
            Duration::from_nanos(next_ns.saturating_sub(now_ns) + 1)
        })
    }

    /// Transactions dropped so far, and waiting now.
    #[must_use]
    pub fn backlog(&self) -> (u64, u64) {
        let waiting = lock(&self.waiting);
        (waiting.shed, waiting.due_ns.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use runtime::thread::complete;

    #[test]
    fn spacing_decides_when_transactions_are_due() {
        let due_ns = |spacing| {
            let due = Due::new(10.0, spacing, SeededRng::new(1, 1), 0);
            let times = (0..5).map(|_| due.take(2_000_000_000).unwrap());
            times.collect::<Vec<u64>>()
        };
        let (even, poisson) = (due_ns(Spacing::Even), due_ns(Spacing::Poisson));
        let gaps = |times: &[u64]| {
            times
                .windows(2)
                .map(|two| two[1] - two[0])
                .collect::<Vec<_>>()
        };
        assert!(gaps(&even).iter().all(|gap| gap.abs_diff(100_000_000) <= 1));
        assert!(
            gaps(&poisson)
                .iter()
                .any(|gap| gap.abs_diff(100_000_000) > 1_000_000)
        );
    }

    #[test]
    fn what_nobody_takes_is_dropped_beyond_the_backlog() {
        let due = Due::new(10.0, Spacing::Even, SeededRng::new(1, 1), 0);
        let at_12_s = || 12_000_000_000;
        let first = complete(due.wait(at_12_s, Duration::ZERO)).unwrap();
        assert!(first <= 200_000_000);
        let (shed, waiting) = due.backlog();
        assert_eq!(waiting, 99);
        assert!((19..=21).contains(&shed), "{shed}");
        (0..99).for_each(|_| assert!(complete(due.wait(at_12_s, Duration::ZERO)).is_some()));
        assert_eq!(complete(due.wait(at_12_s, Duration::from_millis(1))), None);
    }
}
