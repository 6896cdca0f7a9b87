//! Response times of a job on real storage, whose number nobody knows before.

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::figures::Figures;
use crate::requests::counted_from_ns;

/// Response times that are kept at most, for the quantiles: 32 MB.
const MOST_KEPT: usize = 4_000_000;

/// The requests of a job that ended between the settling at the beginning and the end of its probe.
///
/// Rate and mean are those of all requests. The quantiles are those of a sample of them where there are more
/// than can be kept.
#[derive(Debug, Clone)]
pub struct Responses {
    begin_ns: u64,
    end_ns: u64,
    kept_us: Vec<f64>,
    most_kept: usize,
    requests: u64,
    bytes: u64,
    sum_us: f64,
    random: Xoshiro256PlusPlus,
}

impl Responses {
    /// None so far, of a probe that lasts so long.
    #[must_use]
    pub fn new(duration_ns: u64, seed: u64) -> Self {
        Self {
            begin_ns: counted_from_ns(duration_ns),
            end_ns: duration_ns,
            kept_us: Vec::new(),
            most_kept: MOST_KEPT,
            requests: 0,
            bytes: 0,
            sum_us: 0.0,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
        }
    }

    /// A request was asked for and has ended at these times since the probe began.
    pub fn add(&mut self, asked_ns: u64, ended_ns: u64, bytes: u64) {
        assert!(
            asked_ns <= ended_ns,
            "a request ends after it was asked for"
        );
        if ended_ns <= self.begin_ns || ended_ns > self.end_ns {
            return;
        }
        let time_us = (ended_ns - asked_ns) as f64 / 1e3;
        self.requests += 1;
        self.bytes += bytes;
        self.sum_us += time_us;
        if self.kept_us.len() < self.most_kept {
            self.kept_us.push(time_us);
            return;
        }
        // Each of all requests so far stays with the same probability (Vitter 1985, algorithm R).
        let place = self.random.random_range(0..self.requests);
        if let Some(kept_us) = self.kept_us.get_mut(place as usize) {
            *kept_us = time_us;
        }
    }

    /// What they amount to; `None` when there was none.
    #[must_use]
    pub fn figures(mut self) -> Option<Figures> {
        let seconds = (self.end_ns - self.begin_ns) as f64 / 1e9;
        let sample = Figures::of_responses(&mut self.kept_us, self.bytes, seconds)?;
        Some(Figures {
            iops: self.requests as f64 / seconds,
            requests: self.requests,
            mean_us: self.sum_us / self.requests as f64,
            ..sample
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_ends_between_settling_and_end_counts() {
        let mut responses = Responses::new(1_000_000_000, 1);
        responses.add(0, 50_000_000, 4_096);
        responses.add(40_000_000, 60_000_000, 4_096);
        responses.add(980_000_000, 1_000_000_000, 8_192);
        responses.add(990_000_000, 1_000_000_001, 4_096);
        let figures = responses.figures().expect("figures");
        assert_eq!(figures.requests, 2);
        assert!((figures.iops - 2.0 / 0.95).abs() < 1e-9);
        assert!((figures.bytes_per_s - 12_288.0 / 0.95).abs() < 1e-6);
        assert!((figures.mean_us - 20_000.0).abs() < 1e-9);
        assert!(Responses::new(1, 1).figures().is_none());
    }

    #[test]
    fn a_sample_has_the_quantiles_of_all() {
        let mut responses = Responses {
            most_kept: 2_000,
            ..Responses::new(1_000_000_000, 7)
        };
        for number in 0..100_000_u64 {
            let time_ns = 1_000 * (number * 7_919 % 100_000);
            responses.add(500_000_000 - time_ns, 500_000_000, 512);
        }
        let figures = responses.figures().expect("figures");
        assert_eq!(figures.requests, 100_000);
        assert!((figures.mean_us - 49_999.5).abs() < 1e-6, "{figures:?}");
        let median_us = figures.quantiles_us[0].expect("a median");
        assert!((median_us - 50_000.0).abs() < 4_000.0, "{figures:?}");
    }
}
