//! The clocks of ranks, and how far they are from that of rank 0.
//!
//! A rank asks rank 0 for its clock and assumes that the question took as long as the answer. How far that
//! may be wrong is half of the time that both took, so of several questions the fastest one counts.

use std::time::{Instant, SystemTime, UNIX_EPOCH};

/// The clock of this process: runs evenly, from its start.
#[derive(Debug, Clone, Copy)]
pub struct Clock(Instant);

impl Clock {
    /// A clock that begins now.
    pub fn start() -> Self {
        Self(Instant::now())
    }

    /// Nanoseconds since its begin.
    pub fn now_ns(self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

/// The time of day in ns since 1970.
pub fn unix_ns() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_nanos()).unwrap_or(u64::MAX)
    })
}

/// How far the clocks of a rank are from those of rank 0, as one question showed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ClockOffset {
    /// To be added to the even clock of this rank to get that of rank 0, in ns.
    pub even_ns: i64,
    /// The time of day of this rank minus that of rank 0, in ns.
    pub time_of_day_ns: i64,
    /// How far both may be wrong, in ns.
    pub uncertainty_ns: u64,
}

impl ClockOffset {
    /// The offset that an answer shows. It was asked for at `sent_ns` and arrived at `arrived_ns`, when the
    /// time of day was `unix_ns`; rank 0 answered at `answered_ns` and `answered_unix_ns` of its clocks.
    pub fn of(
        (sent_ns, arrived_ns, unix_ns): (u64, u64, u64),
        (answered_ns, answered_unix_ns): (u64, u64),
    ) -> Self {
        let both_ns = arrived_ns.saturating_sub(sent_ns);
        let middle_ns = sent_ns + both_ns / 2;
        let unix_ns = unix_ns.saturating_sub(both_ns / 2);
        Self {
            even_ns: difference(answered_ns, middle_ns),
            time_of_day_ns: difference(unix_ns, answered_unix_ns),
            uncertainty_ns: both_ns.div_ceil(2),
        }
    }

    /// The more certain of two.
    pub fn better(self, other: Option<Self>) -> Self {
        match other {
            Some(other) if other.uncertainty_ns <= self.uncertainty_ns => other,
            _ => self,
        }
    }

    /// A time of rank 0 by the clock of this rank.
    pub fn to_own_ns(self, of_first_ns: u64) -> u64 {
        of_first_ns.saturating_add_signed(self.even_ns.saturating_neg())
    }

    /// A time of this rank by the clock of rank 0.
    pub fn to_first_ns(self, own_ns: u64) -> u64 {
        own_ns.saturating_add_signed(self.even_ns)
    }
}

fn difference(a: u64, b: u64) -> i64 {
    let difference = i128::from(a) - i128::from(b);
    i64::try_from(difference).unwrap_or(if a > b { i64::MAX } else { i64::MIN })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_offset_lies_within_its_uncertainty() {
        // Rank 0 is 5,000 ns ahead; the question takes 100 ns and the answer 300 ns.
        let offset = ClockOffset::of((1_000, 1_400, 50_400), (6_100, 55_100));
        assert_eq!(offset.uncertainty_ns, 200);
        assert!((offset.even_ns - 5_000).abs() <= 200);
        assert!((offset.time_of_day_ns + 5_000).abs() <= 200);
        assert_eq!(offset.to_own_ns(offset.to_first_ns(777)), 777);
        let faster = ClockOffset {
            uncertainty_ns: 20,
            ..offset
        };
        assert_eq!(offset.better(Some(faster)), faster);
        assert_eq!(faster.better(Some(offset)), faster);
    }
}
