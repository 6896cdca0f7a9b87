//! Latency histograms, and the log of histograms that lets any window be rebuilt later.
//!
//! A [`LatencyHistogram`] wraps an HDR histogram of nanoseconds with three significant digits and
//! adds what the HDR structure does not keep exactly: the sum (for a true average), the longest
//! value, and how many values were above the range.
//!
//! The HDR structure takes 16 KiB and more, most of which no CPU cache holds. Latencies are
//! therefore noted in a row first and entered a few hundred at a time: what is counted for a second
//! and then merged elsewhere never needs the structure at all.

mod interval_log;

pub(crate) use interval_log::clean_tag;
pub use interval_log::{
    IntervalLog, IntervalLogError, IntervalLogReader, LoggedInterval, merge_interval_log,
};

use std::borrow::Cow;

use hdrhistogram::Histogram;

use crate::metric::IoMetric;
use crate::result::LatencyFigures;

/// Values above this many nanoseconds (1 h) are counted as this value, and as saturated.
pub const LONGEST_NS: u64 = 3_600_000_000_000;

/// Values below this many nanoseconds (1 us) are not distinguished.
pub const SHORTEST_NS: u64 = 1_000;

/// Significant decimal digits of every recorded value.
const SIGNIFICANT_DIGITS: u8 = 3;

/// Nanoseconds in a millisecond.
const NS_PER_MS: f64 = 1e6;

/// Latencies noted before they are entered into the HDR structure.
const NOTED_MOST: usize = 512;

/// A distribution of latencies in nanoseconds.
#[derive(Debug, Clone, Default)]
pub struct LatencyHistogram {
    /// What has been entered; there is none before.
    entered: Option<Box<Histogram<u64>>>,
    /// What is still to be entered.
    noted: Vec<u64>,
    total_ns: u64,
    longest_ns: u64,
    saturated: u64,
}

impl LatencyHistogram {
    /// A histogram without latencies.
    pub fn new() -> LatencyHistogram {
        Self::default()
    }

    /// Counts one latency of so many nanoseconds.
    #[inline]
    pub fn record(&mut self, latency_ns: u64) {
        if self.noted.len() == NOTED_MOST {
            self.settle();
        }
        if latency_ns > LONGEST_NS {
            self.saturated += 1;
        }
        self.noted.push(latency_ns.min(LONGEST_NS));
        self.total_ns = self.total_ns.saturating_add(latency_ns);
        self.longest_ns = self.longest_ns.max(latency_ns);
    }

    /// Enters what is still to be entered, so that the figures cost less the next times.
    pub fn settle(&mut self) {
        if !self.noted.is_empty() {
            let entered = self.entered.get_or_insert_with(|| Box::new(empty()));
            enter(entered, &self.noted);
            self.noted.clear();
        }
    }

    /// Adds everything that `other` has counted.
    pub fn merge(&mut self, other: &LatencyHistogram) {
        if let Some(values) = &other.entered {
            self.add(values);
        }
        if self.noted.len() + other.noted.len() > NOTED_MOST {
            self.settle();
        }
        self.noted.extend_from_slice(&other.noted);
        self.total_ns = self.total_ns.saturating_add(other.total_ns);
        self.longest_ns = self.longest_ns.max(other.longest_ns);
        self.saturated += other.saturated;
    }

    fn add(&mut self, values: &Histogram<u64>) {
        let entered = self.entered.get_or_insert_with(|| Box::new(empty()));
        let added = entered.add(values);
        assert!(
            added.is_ok(),
            "a histogram that may grow refused another one"
        );
    }

    /// Number of latencies counted.
    pub fn count(&self) -> u64 {
        let entered = self.entered.as_ref().map_or(0, |values| values.len());
        entered + self.noted.len() as u64
    }

    /// Whether nothing was counted.
    pub fn is_empty(&self) -> bool {
        self.count() == 0
    }

    /// Exact sum of all latencies in nanoseconds.
    pub fn total_ns(&self) -> u64 {
        self.total_ns
    }

    /// The largest latency in nanoseconds, exact; 0 when empty.
    pub fn longest_ns(&self) -> u64 {
        self.longest_ns
    }

    /// How many latencies were above [`LONGEST_NS`].
    pub fn saturated(&self) -> u64 {
        self.saturated
    }

    /// Sum / count in milliseconds; `None` when empty.
    pub fn average_ms(&self) -> Option<f64> {
        let count = self.count();
        (count > 0).then(|| self.total_ns as f64 / count as f64 / NS_PER_MS)
    }

    /// The latency in nanoseconds that `fraction` (0 to 1) of all latencies do not exceed, true
    /// to three digits; 0 when empty.
    pub fn quantile_ns(&self, fraction: f64) -> u64 {
        assert!(
            (0.0..=1.0).contains(&fraction),
            "{fraction} is not a fraction"
        );
        self.quantile_of(&self.values(), fraction)
    }

    fn quantile_of(&self, values: &Histogram<u64>, fraction: f64) -> u64 {
        if values.is_empty() {
            return 0;
        }
        // The HDR structure answers with the upper end of a bucket, which may lie above the
        // longest value that was really seen.
        values.value_at_quantile(fraction).min(self.longest_ns)
    }

    /// How many latencies are longer than this, true to three digits.
    pub fn count_above(&self, latency_ns: u64) -> u64 {
        let values = self.values();
        values.len() - values.count_between(0, latency_ns.min(LONGEST_NS))
    }

    /// [`Self::quantile_ns`] in milliseconds; 0 when empty.
    pub fn quantile_ms(&self, fraction: f64) -> f64 {
        self.quantile_ns(fraction) as f64 / NS_PER_MS
    }

    /// A figure of the latency in milliseconds; `None` when empty, or when it cannot be had from a
    /// histogram.
    pub fn figure(&self, metric: IoMetric) -> Option<f64> {
        let fraction = match metric {
            IoMetric::Average => return self.average_ms(),
            IoMetric::Max => return (!self.is_empty()).then(|| self.longest_ns as f64 / NS_PER_MS),
            IoMetric::P50 => 0.5,
            IoMetric::P90 => 0.9,
            IoMetric::P95 => 0.95,
            IoMetric::P99 => 0.99,
            IoMetric::P99_9 => 0.999,
            _ => return None,
        };
        (!self.is_empty()).then(|| self.quantile_ms(fraction))
    }

    /// The figures of the result document; `None` when empty. The caller adds what the histogram
    /// cannot know: the confidence interval and the highest sample.
    pub fn figures(&self) -> Option<LatencyFigures> {
        let average_ms = self.average_ms()?;
        let values = self.values();
        let quantile_ms = |fraction| self.quantile_of(&values, fraction) as f64 / NS_PER_MS;
        Some(LatencyFigures {
            average_ms,
            average_half_width_ms: None,
            p50_ms: quantile_ms(0.5),
            p90_ms: quantile_ms(0.9),
            p95_ms: quantile_ms(0.95),
            p99_ms: quantile_ms(0.99),
            p99_9_ms: quantile_ms(0.999),
            max_ms: self.longest_ns as f64 / NS_PER_MS,
            max_sample_average_ms: 0.0,
            saturated: self.saturated,
        })
    }

    /// The counted values as (highest nanoseconds of the bucket, count), rising, empty buckets
    /// left out: what a chart of the distribution draws.
    pub fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let values = self.values();
        let recorded = values.iter_recorded();
        let buckets: Vec<(u64, u64)> = recorded
            .map(|v| (v.value_iterated_to(), v.count_at_value()))
            .collect();
        buckets.into_iter()
    }

    /// The HDR histogram of everything counted.
    pub(crate) fn values(&self) -> Cow<'_, Histogram<u64>> {
        match &self.entered {
            Some(entered) if self.noted.is_empty() => Cow::Borrowed(&**entered),
            entered => {
                let mut values = entered.as_deref().cloned().unwrap_or_else(empty);
                enter(&mut values, &self.noted);
                Cow::Owned(values)
            }
        }
    }

    /// A histogram of values read back from a log.
    pub(crate) fn from_values(values: &Histogram<u64>) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        histogram.add_values(values);
        histogram
    }

    /// Adds values read back from a log. Sum and longest value are then as exact as the buckets,
    /// and what was saturated is not known any more.
    pub(crate) fn add_values(&mut self, values: &Histogram<u64>) {
        self.add(values);
        for bucket in values.iter_recorded() {
            let value = values.median_equivalent(bucket.value_iterated_to());
            let total_ns = value.saturating_mul(bucket.count_at_value());
            self.total_ns = self.total_ns.saturating_add(total_ns);
        }
        self.longest_ns = self.longest_ns.max(values.max());
    }

    /// Sets average and maximum of values read back from a log, where they are known more exactly.
    pub(crate) fn set_exact(&mut self, average_ms: f64, max_ms: f64) {
        self.total_ns = (average_ms * NS_PER_MS * self.count() as f64).round() as u64;
        self.longest_ns = (max_ms * NS_PER_MS).round() as u64;
    }
}

impl PartialEq for LatencyHistogram {
    fn eq(&self, other: &Self) -> bool {
        let sums = |one: &Self| (one.count(), one.total_ns, one.longest_ns, one.saturated);
        sums(self) == sums(other) && self.values() == other.values()
    }
}

/// Enters latencies into an HDR histogram that grows by itself.
fn enter(values: &mut Histogram<u64>, latencies_ns: &[u64]) {
    for &latency_ns in latencies_ns {
        // Recording fails only when the histogram may not grow; this one may.
        let recorded = values.record(latency_ns);
        assert!(
            recorded.is_ok(),
            "a histogram that may grow refused {latency_ns} ns"
        );
    }
}

/// An empty HDR histogram of the smallest size that grows by itself.
fn empty() -> Histogram<u64> {
    match Histogram::new_with_bounds(SHORTEST_NS, 2 * SHORTEST_NS, SIGNIFICANT_DIGITS) {
        Ok(mut values) => {
            values.auto(true);
            values
        }
        Err(error) => unreachable!("constant bounds are valid: {error}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn of(values: &[u64]) -> LatencyHistogram {
        let mut histogram = LatencyHistogram::new();
        values.iter().for_each(|&v| histogram.record(v));
        histogram
    }

    /// The exact quantile by the definition: the smallest value that covers the fraction.
    fn exact_quantile(sorted: &[u64], fraction: f64) -> u64 {
        let rank = (fraction * sorted.len() as f64).ceil().max(1.0) as usize;
        sorted[rank - 1]
    }

    proptest! {
        #[test]
        fn merged_histograms_equal_the_histogram_of_the_union(
            a in prop::collection::vec(0u64..LONGEST_NS * 2, 0..200),
            b in prop::collection::vec(0u64..50_000_000, 0..200),
        ) {
            let mut merged = of(&a);
            merged.merge(&of(&b));
            let union = of(&[a, b].concat());
            prop_assert_eq!(merged.total_ns(), union.total_ns());
            prop_assert_eq!(merged.longest_ns(), union.longest_ns());
            prop_assert_eq!(merged.saturated(), union.saturated());
            let (m, u): (Vec<_>, Vec<_>) = (merged.buckets().collect(), union.buckets().collect());
            prop_assert_eq!(m, u);
        }

        #[test]
        fn quantiles_are_true_to_three_digits(
            mut values in prop::collection::vec(1_000_000u64..LONGEST_NS, 1..300),
            fraction in 0.0f64..=1.0,
        ) {
            let histogram = of(&values);
            values.sort_unstable();
            let exact = exact_quantile(&values, fraction);
            let got = histogram.quantile_ns(fraction);
            // One more rank of freedom: the HDR library rounds the rank with a tolerance of
            // one unit in the last place.
            let next = exact_quantile(&values, (fraction + 1e-12).min(1.0));
            let low = exact as f64 * 0.999;
            let high = next as f64 * 1.001;
            prop_assert!((low..=high).contains(&(got as f64)), "{got} not in {low}..{high}");
        }
    }

    #[test]
    fn what_is_noted_and_what_is_entered_are_one_distribution() {
        let value = |number: u64| number * number % 90_001 * 1_000 + 2_000_000;
        let mut growing = LatencyHistogram::new();
        let mut settled = LatencyHistogram::new();
        let mut in_parts = LatencyHistogram::new();
        let mut part = LatencyHistogram::new();
        for number in 0..3 * NOTED_MOST as u64 + 17 {
            growing.record(value(number));
            settled.record(value(number));
            settled.settle();
            part.record(value(number));
            if number % 130 == 0 {
                in_parts.merge(&std::mem::take(&mut part));
            }
            let [growing_noted, settled_noted] = [&growing, &settled].map(|one| one.noted.len());
            assert!(growing_noted <= NOTED_MOST, "{growing_noted} are noted");
            assert_eq!(settled_noted, 0);
            if number % 97 == 0 {
                assert_eq!(growing, settled);
                assert_eq!(growing.figures(), settled.figures());
            }
        }
        in_parts.merge(&part);
        assert_eq!(growing, in_parts);
        settled.record(1);
        assert_ne!(growing, settled);
    }

    #[test]
    fn buckets_hold_each_latency_at_its_place() {
        let latencies_ns = [2_000_000, 5_000_000, 5_000_000, 90_000_000];
        for is_settled in [false, true] {
            let mut histogram = of(&latencies_ns);
            if is_settled {
                histogram.settle();
            }
            let buckets: Vec<(u64, u64)> = histogram.buckets().collect();
            let counts: Vec<u64> = buckets.iter().map(|(_, count)| *count).collect();
            assert_eq!(counts, [1, 2, 1]);
            for ((end_ns, _), latency_ns) in buckets.iter().zip([2e6, 5e6, 9e7]) {
                let end_ns = *end_ns as f64;
                assert!(
                    (latency_ns..latency_ns * 1.001).contains(&end_ns),
                    "{end_ns}"
                );
            }
        }
        assert_eq!(LatencyHistogram::new().buckets().count(), 0);
    }

    #[test]
    fn an_empty_histogram_has_no_figures() {
        let histogram = LatencyHistogram::new();
        assert_eq!(histogram.figures(), None);
        assert_eq!(histogram.average_ms(), None);
        assert_eq!(histogram.quantile_ns(0.5), 0);
        assert_eq!((histogram.count(), histogram.saturated()), (0, 0));
    }

    #[test]
    fn each_figure_is_its_own_percentile() {
        let histogram = of(&(1..=1_000).map(|ms| ms * 1_000_000).collect::<Vec<_>>());
        for (metric, ms) in [
            (IoMetric::Average, 500.5),
            (IoMetric::P50, 500.0),
            (IoMetric::P90, 900.0),
            (IoMetric::P95, 950.0),
            (IoMetric::P99, 990.0),
            (IoMetric::P99_9, 999.0),
            (IoMetric::Max, 1_000.0),
        ] {
            let found = histogram.figure(metric).unwrap();
            assert!((found - ms).abs() < 1.0, "{metric:?}: {found}");
            let figures = histogram.figures().unwrap();
            assert_eq!(figures.get(metric), Some(found), "{metric:?}");
            assert_eq!(LatencyHistogram::new().figure(metric), None);
        }
        assert_eq!(histogram.figure(IoMetric::Rate), None);
    }

    #[test]
    fn a_latency_above_the_range_is_counted_as_saturated_and_keeps_its_true_maximum() {
        let histogram = of(&[5_000_000, LONGEST_NS + 1, LONGEST_NS]);
        assert_eq!(histogram.saturated(), 1);
        assert_eq!(histogram.count(), 3);
        assert_eq!(histogram.longest_ns(), LONGEST_NS + 1);
        let figures = histogram.figures().unwrap();
        assert_eq!(figures.saturated, 1);
        assert!((figures.p50_ms - 3.6e6).abs() < 3.6e3, "{}", figures.p50_ms);
    }

    #[test]
    fn the_average_is_exact_even_between_buckets() {
        let histogram = of(&[10_000_001, 10_000_002, 10_000_006]);
        let average_ms = histogram.average_ms().unwrap();
        assert!((average_ms - 10.000_003).abs() < 1e-9, "{average_ms}");
    }

    #[test]
    fn no_percentile_is_above_the_largest_latency() {
        // The bucket of this latency reaches above it.
        let histogram = of(&[10_000_001]);
        for fraction in [0.5, 0.99, 1.0] {
            assert_eq!(histogram.quantile_ns(fraction), 10_000_001);
        }
        let figures = histogram.figures().unwrap();
        assert!(figures.p99_ms <= figures.max_ms, "{figures:?}");
    }
}
