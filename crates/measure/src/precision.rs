//! How precisely latencies are known while they are still being measured.
//!
//! The mean is known as well as its confidence interval by batch means is narrow ([`half_width_95`]). For
//! the 99th percentile the same is asked of the share of latencies that are longer than it: the share is a
//! mean, and the interval between the quantiles at its ends is that of the percentile (indirect
//! estimation; A. M. Law, Simulation Modeling and Analysis, chapter 9, on quantiles).

use crate::confidence::{MOST_BATCHES, Part, half_width_95};
use crate::histogram::LatencyHistogram;
use crate::metric::Stream;
use crate::sample::Sample;

/// The quantile that is looked at beside the mean.
const QUANTILE: f64 = 0.99;

/// Streams whose latencies are to be known.
const STREAMS: [Stream; 2] = [Stream::DatabaseRead, Stream::LogWrite];

/// Latencies of the measured phase, all databases together, in batches of equal length.
#[derive(Debug, Clone, Default)]
pub struct Precision {
    streams: [Batches; STREAMS.len()],
}

impl Precision {
    /// Counts a full sample.
    pub fn add(&mut self, sample: &Sample) {
        for (stream, batches) in STREAMS.into_iter().zip(&mut self.streams) {
            let databases = sample.databases.iter();
            let meters = databases.filter_map(|database| database.stream(stream));
            batches.add(meters.map(|meter| &meter.latency));
        }
    }

    /// The half-width of the widest of the 95 % confidence intervals of means and 99th percentiles, as a share
    /// of the figure; `None` until there are [`MOST_BATCHES`] samples and requests enough. A stream without
    /// requests does not count.
    #[must_use]
    pub fn half_width_fraction(&self) -> Option<f64> {
        let mut widest = None;
        for batches in self.streams.iter().filter(|batches| !batches.is_empty()) {
            let own = batches.half_width_fraction()?;
            widest = Some(own.max(widest.unwrap_or(0.0)));
        }
        widest
    }
}

/// Latencies of one stream in batches; when there are twice as many as an interval needs, neighbours are
/// joined.
#[derive(Debug, Clone, Default)]
struct Batches {
    batches: Vec<LatencyHistogram>,
    /// Samples of a batch, less 1.
    further_samples: usize,
    /// Samples of the last batch that are still to come.
    missing: usize,
}

impl Batches {
    fn add<'a>(&mut self, latencies: impl Iterator<Item = &'a LatencyHistogram>) {
        if self.missing > 0 {
            self.missing -= 1;
        } else {
            if self.batches.len() == 2 * MOST_BATCHES {
                self.join_neighbours();
            }
            self.batches.push(LatencyHistogram::new());
            self.missing = self.further_samples;
        }
        if let Some(last) = self.batches.last_mut() {
            latencies.for_each(|one| last.merge(one));
            last.settle();
        }
    }

    fn join_neighbours(&mut self) {
        let pairs = self.batches.chunks(2);
        self.batches = pairs
            .map(|pair| {
                let mut joined = LatencyHistogram::new();
                pair.iter().for_each(|one| joined.merge(one));
                joined.settle();
                joined
            })
            .collect();
        self.further_samples = 2 * self.further_samples + 1;
    }

    fn is_empty(&self) -> bool {
        self.batches.iter().all(LatencyHistogram::is_empty)
    }

    fn half_width_fraction(&self) -> Option<f64> {
        let complete = self.batches.len() - usize::from(self.missing > 0);
        let batches = &self.batches[..complete];
        if complete < MOST_BATCHES {
            return None;
        }
        let mut whole = LatencyHistogram::new();
        batches.iter().for_each(|one| whole.merge(one));
        whole.settle();
        let mean_ms = whole.average_ms()?;
        let of_mean = half_width_95(&parts(batches, |one| one.total_ns() as f64 / 1e6))?;
        let quantile_ns = whole.quantile_ns(QUANTILE);
        let of_share = half_width_95(&parts(batches, |one| one.count_above(quantile_ns) as f64))?;
        // Too few are longer to say where the end of the interval lies.
        if QUANTILE + of_share >= 1.0 {
            return None;
        }
        let ends = [QUANTILE - of_share, QUANTILE + of_share].map(|end| whole.quantile_ns(end));
        let of_quantile = (ends[1] - ends[0]) as f64 / 2.0;
        Some((of_mean / mean_ms).max(of_quantile / quantile_ns.max(1) as f64))
    }
}

fn parts(batches: &[LatencyHistogram], total: impl Fn(&LatencyHistogram) -> f64) -> Vec<Part> {
    let part = |one: &LatencyHistogram| Part {
        count: one.count() as f64,
        total: total(one),
    };
    batches.iter().map(part).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    /// Batches of samples with exponential latencies of 1 ms on average.
    fn exponential(random: &mut Xoshiro256PlusPlus, samples: usize, of_each: usize) -> Batches {
        let mut batches = Batches::default();
        for _ in 0..samples {
            let mut sample = LatencyHistogram::new();
            for _ in 0..of_each {
                let place: f64 = random.random();
                sample.record((-place.max(1e-12).ln() * 1e6) as u64);
            }
            batches.add([&sample].into_iter());
        }
        batches
    }

    #[test]
    fn intervals_hold_the_true_values() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(4);
        let (tries, mut held) = (200, 0);
        for _ in 0..tries {
            let batches = exponential(&mut random, 30, 500);
            let width = batches.half_width_fraction().unwrap();
            let mut whole = LatencyHistogram::new();
            batches.batches.iter().for_each(|one| whole.merge(one));
            let p99 = whole.quantile_ms(0.99);
            let error = (p99 / 100.0_f64.ln() - 1.0).abs();
            // The percentile of so few is the worse known of the two.
            held += usize::from(error <= width);
        }
        // 95 % of 200 are 190; five standard deviations are 15.
        assert!((175..=200).contains(&held), "{held}");
    }

    #[test]
    fn four_times_as_many_are_known_twice_as_well() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(5);
        let mut mean_width = |samples| {
            let widths = (0..20).map(|_| {
                exponential(&mut random, samples, 500)
                    .half_width_fraction()
                    .unwrap()
            });
            widths.sum::<f64>() / 20.0
        };
        let ratio = mean_width(40) / mean_width(160);
        assert!((1.7..2.3).contains(&ratio), "{ratio}");
    }

    #[test]
    fn batches_are_joined_and_nothing_is_lost() {
        let mut batches = Batches::default();
        for sample in 1..=1_000_u64 {
            let mut one = LatencyHistogram::new();
            one.record(1_000_000);
            batches.add([&one].into_iter());
            let counted: u64 = batches.batches.iter().map(LatencyHistogram::count).sum();
            assert_eq!(counted, sample);
            assert!(batches.batches.len() <= 2 * MOST_BATCHES);
            let width = batches.half_width_fraction();
            assert_eq!(width.is_some(), sample >= MOST_BATCHES as u64, "{sample}");
        }
    }

    #[test]
    fn few_requests_say_nothing_of_a_percentile() {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(6);
        let batches = exponential(&mut random, 20, 5);
        assert_eq!(batches.half_width_fraction(), None);
    }
}
