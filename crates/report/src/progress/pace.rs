//! How long computing takes yet, by how fast it went of late.
//!
//! Simulated time does not pass evenly: while caches and tiers fill, or pages take their places all
//! at once, a second costs many times as much as one later on. What the beginning cost therefore
//! says nothing of the rest.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Only so much of the time before counts.
const OF_LATE: Duration = Duration::from_secs(30);

/// Less than this is no pace yet.
const LEAST: Duration = Duration::from_secs(3);

/// Progress over the last while, and the time left by it.
#[derive(Default)]
pub struct Pace {
    readings: VecDeque<(Instant, f64)>,
}

impl Pace {
    /// Nothing has been seen yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes in that this share is done at `now`; says how long the rest takes if it goes on as of
    /// late. `None` while nobody can know.
    pub fn left(&mut self, now: Instant, share: f64) -> Option<Duration> {
        self.readings.push_back((now, share));
        let is_old = |reading: Option<&(Instant, f64)>| {
            reading.is_some_and(|(at, _)| now.duration_since(*at) >= OF_LATE)
        };
        while is_old(self.readings.get(1)) {
            self.readings.pop_front();
        }
        let (from, before) = *self.readings.front()?;
        let passed = now.duration_since(from);
        let done = share - before;
        if passed < LEAST || done <= 0.0 {
            return None;
        }
        let left_s = passed.as_secs_f64() * (1.0 - share).max(0.0) / done;
        Duration::try_from_secs_f64(left_s).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slow_beginning_is_forgotten() {
        let mut pace = Pace::new();
        let begin = Instant::now();
        let at = |second: u64| begin + Duration::from_secs(second);
        assert_eq!(pace.left(at(0), 0.0), None);
        assert_eq!(pace.left(at(1), 0.001), None);
        // A hundredth in ten seconds, for a minute and a half.
        for second in 2..=90 {
            pace.left(at(second), second as f64 * 0.001);
        }
        let slow = pace.left(at(91), 0.091).expect("a time");
        assert!((900..920).contains(&slow.as_secs()), "{slow:?}");
        // Then a hundredth in each second.
        for second in 1..=40 {
            pace.left(at(91 + second), 0.091 + second as f64 * 0.01);
        }
        let fast = pace.left(at(132), 0.501).expect("a time");
        assert!((49..52).contains(&fast.as_secs()), "{fast:?}");
    }

    #[test]
    fn nothing_is_said_while_nothing_moves() {
        let mut pace = Pace::new();
        let begin = Instant::now();
        for second in 0..60 {
            assert_eq!(pace.left(begin + Duration::from_secs(second), 0.25), None);
        }
    }
}
