//! The instants at which transactions are due.

use crate::random::SeededRng;
use config::choice;

choice! {
    /// How arrivals are spread over time.
    pub enum Spacing default Even {
        /// At equal distances in time.
        Even = "even",
        /// At random and independently of each other (a Poisson process), as many users cause them.
        Poisson = "poisson",
    }
}

/// A stream of due times at a rate that may change while it runs.
#[derive(Debug, Clone)]
pub struct Arrivals {
    spacing: Spacing,
    rng: SeededRng,
    /// What is left until the next arrival, in units of the mean distance.
    remaining: f64,
    /// Up to when `remaining` has been counted down.
    counted_ns: f64,
}

impl Arrivals {
    /// A stream that begins at `now_ns`.
    #[must_use]
    pub fn new(spacing: Spacing, mut rng: SeededRng, now_ns: u64) -> Self {
        // The first of even arrivals comes at a random part of the distance, so that the streams
        // of several shards do not march in step.
        let remaining = match spacing {
            Spacing::Even => rng.unit(),
            Spacing::Poisson => rng.exponential(),
        };
        Self {
            spacing,
            rng,
            remaining,
            counted_ns: now_ns as f64,
        }
    }

    /// The next due time not after `until_ns`, at `per_second` arrivals per second since the last
    /// call; `None` when nothing is due until then.
    pub fn next_until(&mut self, until_ns: u64, per_second: f64) -> Option<u64> {
        let per_ns = per_second.max(0.0) / 1e9;
        let due_ns = self.counted_ns + self.remaining / per_ns;
        if per_ns == 0.0 || due_ns > until_ns as f64 {
            let passed_ns = (until_ns as f64 - self.counted_ns).max(0.0);
            self.remaining -= passed_ns * per_ns;
            self.counted_ns += passed_ns;
            return None;
        }
        self.counted_ns = due_ns;
        self.remaining = match self.spacing {
            Spacing::Even => 1.0,
            Spacing::Poisson => self.rng.exponential(),
        };
        Some(due_ns as u64)
    }

    /// When the next arrival is due if the rate stays at `per_second`.
    #[must_use]
    pub fn expected_ns(&self, per_second: f64) -> u64 {
        if per_second <= 0.0 {
            return u64::MAX;
        }
        // A float conversion saturates.
        (self.counted_ns + self.remaining / per_second * 1e9) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut arrivals: Arrivals, rates: &[f64]) -> Vec<u64> {
        let mut due = Vec::new();
        for (second, &rate) in rates.iter().enumerate() {
            for tick in 1..=10 {
                let until_ns = second as u64 * 1_000_000_000 + tick * 100_000_000;
                while let Some(at_ns) = arrivals.next_until(until_ns, rate) {
                    due.push(at_ns);
                }
            }
        }
        due
    }

    #[test]
    fn even_arrivals_keep_their_distance_over_ticks() {
        let due = all(
            Arrivals::new(Spacing::Even, SeededRng::new(1, 1), 0),
            &[7.0; 10],
        );
        assert_eq!(due.len(), 70);
        for pair in due.windows(2) {
            assert!((pair[1] - pair[0]).abs_diff(142_857_142) <= 2, "{pair:?}");
        }
    }

    #[test]
    fn random_arrivals_have_the_rate_and_the_spread_of_a_poisson_process() {
        let due = all(
            Arrivals::new(Spacing::Poisson, SeededRng::new(2, 1), 0),
            &[1000.0; 100],
        );
        // 100,000 expected, standard deviation 316.
        assert!((98_400..101_600).contains(&due.len()), "{}", due.len());
        let gaps: Vec<f64> = due
            .windows(2)
            .map(|pair| (pair[1] - pair[0]) as f64 / 1e6)
            .collect();
        let mean = gaps.iter().sum::<f64>() / gaps.len() as f64;
        let variance = gaps.iter().map(|gap| (gap - mean).powi(2)).sum::<f64>() / gaps.len() as f64;
        let spread = variance.sqrt() / mean;
        assert!((0.97..1.03).contains(&spread), "{spread}");
    }

    #[test]
    fn the_rate_may_change_and_stop_at_any_time() {
        let arrivals = Arrivals::new(Spacing::Even, SeededRng::new(3, 1), 0);
        let due = all(arrivals, &[10.0, 0.0, 0.0, 100.0]);
        let late = due.iter().filter(|&&at| at > 3_000_000_000).count();
        let early = due.iter().filter(|&&at| at <= 1_000_000_000).count();
        assert!((9..=10).contains(&early) && early + late == due.len());
        assert!((99..=101).contains(&late), "{late}");
    }
}
