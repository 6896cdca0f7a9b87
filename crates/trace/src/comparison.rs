//! Measured against modelled response times.
//!
//! The demerit figure of a disk model is the root mean square of the horizontal distance between
//! two cumulative distributions of response times: how far, on average over all percentiles, the
//! curve of the model lies from that of the disk (Ruemmler and Wilkes, "An introduction to disk
//! drive modeling", IEEE Computer, March 1994). With equally many values on both sides that is the
//! root of the mean squared difference of the values of equal rank.

use array::HostOperation;
use measure::histogram::LatencyHistogram;
use measure::result::{DemeritPoint, DemeritResult, MeasuredRequests};

/// Response times of so many requests are kept one by one (32 MiB); more go into histograms.
const KEPT_MAX: usize = 1 << 21;

/// Percentiles at which histograms are held against each other.
const QUANTILES: u32 = 10_000;

const NS_PER_MS: f64 = 1e6;

/// Measured and modelled response times of the same requests.
#[derive(Debug, Default)]
pub struct Comparison {
    kept_max: Option<usize>,
    reads: ResponseTimes,
    writes: ResponseTimes,
}

/// Response times of one kind of request.
#[derive(Debug, Clone, Default)]
struct ResponseTimes {
    measured: Times,
    model: Times,
}

/// Response times in nanoseconds: all of them, or a histogram when there are many.
#[derive(Debug, Clone)]
enum Times {
    Kept(Vec<u64>),
    Counted(Box<LatencyHistogram>),
}

impl Default for Times {
    fn default() -> Self {
        Self::Kept(Vec::new())
    }
}

impl Times {
    fn add(&mut self, ns: u64) {
        match self {
            Self::Kept(values) => values.push(ns),
            Self::Counted(histogram) => histogram.record(ns),
        }
    }

    fn kept(&self) -> usize {
        match self {
            Self::Kept(values) => values.len(),
            Self::Counted(_) => 0,
        }
    }

    fn count(&mut self) {
        if let Self::Kept(values) = self {
            let mut histogram = LatencyHistogram::new();
            values.iter().for_each(|&ns| histogram.record(ns));
            *self = Self::Counted(Box::new(histogram));
        }
    }

    fn joined(&self, other: &Self) -> Self {
        let mut all = self.clone();
        match (&mut all, other) {
            (Self::Kept(mine), Self::Kept(theirs)) => mine.extend_from_slice(theirs),
            (Self::Counted(mine), Self::Counted(theirs)) => mine.merge(theirs),
            _ => unreachable!("all are kept or all are counted"),
        }
        all
    }

    fn sort(&mut self) {
        if let Self::Kept(values) = self {
            values.sort_unstable();
        }
    }

    fn requests(&self) -> u64 {
        match self {
            Self::Kept(values) => values.len() as u64,
            Self::Counted(histogram) => histogram.count(),
        }
    }

    fn average_ms(&self) -> f64 {
        match self {
            Self::Kept(values) => {
                let sum: u128 = values.iter().map(|&ns| u128::from(ns)).sum();
                sum as f64 / values.len().max(1) as f64 / NS_PER_MS
            }
            Self::Counted(histogram) => histogram.average_ms().unwrap_or(0.0),
        }
    }

    /// The response time that `fraction` of all do not exceed. Kept values must be sorted.
    fn quantile_ms(&self, fraction: f64) -> f64 {
        match self {
            Self::Kept(values) => {
                let rank = (fraction * values.len() as f64).ceil() as usize;
                let rank = rank.clamp(1, values.len().max(1));
                values
                    .get(rank - 1)
                    .map_or(0.0, |&ns| ns as f64 / NS_PER_MS)
            }
            Self::Counted(histogram) => histogram.quantile_ms(fraction),
        }
    }
}

impl Comparison {
    /// Keeps response times one by one up to so many requests.
    #[must_use]
    pub fn keeping(kept_max: usize) -> Self {
        Self {
            kept_max: Some(kept_max),
            ..Self::default()
        }
    }

    /// Adds a request that was measured and modelled. Flushes and trims do not count.
    pub fn add(&mut self, operation: HostOperation, measured_ns: u64, model_ns: u64) {
        let kept = self.reads.measured.kept() + self.writes.measured.kept();
        if kept >= self.kept_max.unwrap_or(KEPT_MAX) {
            for side in [&mut self.reads, &mut self.writes] {
                side.measured.count();
                side.model.count();
            }
        }
        let side = match operation {
            HostOperation::Read => &mut self.reads,
            HostOperation::Write => &mut self.writes,
            HostOperation::Flush | HostOperation::Trim => return,
        };
        side.measured.add(measured_ns);
        side.model.add(model_ns);
    }

    /// The figures of all requests, and of reads and writes where there were both.
    #[must_use]
    pub fn demerits(&self) -> Vec<DemeritResult> {
        let (reads, writes) = (&self.reads, &self.writes);
        let all = ResponseTimes {
            measured: reads.measured.joined(&writes.measured),
            model: reads.model.joined(&writes.model),
        };
        let both = reads.measured.requests() > 0 && writes.measured.requests() > 0;
        let parts = [
            (MeasuredRequests::Reads, reads),
            (MeasuredRequests::Writes, writes),
        ];
        let parts = parts.into_iter().filter(|_| both);
        let named = std::iter::once((MeasuredRequests::All, &all)).chain(parts);
        named
            .filter_map(|(of, side)| side.clone().demerit(of))
            .collect()
    }
}

impl ResponseTimes {
    fn demerit(mut self, of: MeasuredRequests) -> Option<DemeritResult> {
        self.measured.sort();
        self.model.sort();
        let requests = self.measured.requests();
        if requests == 0 {
            return None;
        }
        let demerit_ms = self.distance_ms();
        let measured_average_ms = self.measured.average_ms();
        Some(DemeritResult {
            of,
            requests,
            measured_average_ms,
            model_average_ms: self.model.average_ms(),
            demerit_ms,
            demerit_fraction: (measured_average_ms > 0.0).then(|| demerit_ms / measured_average_ms),
            exact: matches!(self.measured, Times::Kept(_)),
            points: self.points(requests),
        })
    }

    fn distance_ms(&self) -> f64 {
        if let (Times::Kept(measured), Times::Kept(model)) = (&self.measured, &self.model) {
            let pairs = measured.iter().zip(model);
            let squares = pairs.map(|(&one, &other)| {
                let apart = one.abs_diff(other) as f64;
                apart * apart
            });
            let mean = squares.sum::<f64>() / measured.len().max(1) as f64;
            return mean.sqrt() / NS_PER_MS;
        }
        let squares = (0..QUANTILES).map(|step| {
            let fraction = (f64::from(step) + 0.5) / f64::from(QUANTILES);
            let apart = self.measured.quantile_ms(fraction) - self.model.quantile_ms(fraction);
            apart * apart
        });
        (squares.sum::<f64>() / f64::from(QUANTILES)).sqrt()
    }

    /// Both curves at percentiles that are closer together towards the end, as far as the count allows.
    fn points(&self, requests: u64) -> Vec<DemeritPoint> {
        const STEPS_PER_NINE: u32 = 20;
        let nines = (requests as f64).log10().max(1.0);
        let steps = (nines * f64::from(STEPS_PER_NINE)).ceil() as u32;
        let points = (0..=steps).map(|step| {
            let nines = (f64::from(step) / f64::from(STEPS_PER_NINE)).min(nines);
            let fraction = 1.0 - 10_f64.powf(-nines);
            DemeritPoint {
                percentile: fraction * 100.0,
                measured_ms: self.measured.quantile_ms(fraction),
                model_ms: self.model.quantile_ms(fraction),
            }
        });
        points.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shifted(requests: u64, shift_ns: u64, comparison: &mut Comparison) {
        for number in 0..requests {
            // Any order: distributions have none.
            let ns = 1_000_000 + (number * 7_919) % requests * 10_000;
            let operation = match number % 3 {
                0 => HostOperation::Write,
                _ => HostOperation::Read,
            };
            comparison.add(operation, ns, ns + shift_ns);
        }
    }

    #[test]
    fn a_shift_is_its_own_demerit() {
        for shift_ns in [0, 1, 2_500_000] {
            let mut comparison = Comparison::default();
            shifted(1_000, shift_ns, &mut comparison);
            let demerits = comparison.demerits();
            assert_eq!(demerits.len(), 3);
            for demerit in demerits {
                let shift_ms = shift_ns as f64 / NS_PER_MS;
                assert!((demerit.demerit_ms - shift_ms).abs() < 1e-12, "{demerit:?}");
                assert!(demerit.exact);
                let mean = demerit.model_average_ms - demerit.measured_average_ms;
                assert!((mean - shift_ms).abs() < 1e-9);
                let share = demerit.demerit_fraction.unwrap();
                assert!((share - shift_ms / demerit.measured_average_ms).abs() < 1e-12);
            }
        }
    }

    #[test]
    fn the_distance_is_between_distributions_and_not_between_requests() {
        let mut comparison = Comparison::default();
        comparison.add(HostOperation::Read, 1_000_000, 5_000_000);
        comparison.add(HostOperation::Read, 5_000_000, 1_000_000);
        assert_eq!(comparison.demerits()[0].demerit_ms, 0.0);
        // 1, 5 against 2, 9: the root of (1 + 16) / 2.
        let mut comparison = Comparison::default();
        comparison.add(HostOperation::Read, 1_000_000, 9_000_000);
        comparison.add(HostOperation::Read, 5_000_000, 2_000_000);
        let found = comparison.demerits()[0].demerit_ms;
        assert!((found - 8.5_f64.sqrt()).abs() < 1e-12, "{found}");
    }

    #[test]
    fn histograms_give_nearly_the_same() {
        let (mut kept, mut counted) = (Comparison::default(), Comparison::keeping(100));
        for comparison in [&mut kept, &mut counted] {
            shifted(20_000, 3_000_000, comparison);
        }
        for (kept, counted) in kept.demerits().iter().zip(counted.demerits()) {
            assert!(!counted.exact);
            assert_eq!(kept.requests, counted.requests);
            let apart = (kept.demerit_ms - counted.demerit_ms).abs();
            assert!(apart < 0.01 * kept.demerit_ms, "{kept:?} {counted:?}");
        }
    }

    #[test]
    fn nothing_measured_gives_no_figure() {
        let mut comparison = Comparison::default();
        assert!(comparison.demerits().is_empty());
        comparison.add(HostOperation::Flush, 1, 2);
        assert!(comparison.demerits().is_empty());
        comparison.add(HostOperation::Write, 4, 4);
        let of: Vec<MeasuredRequests> = comparison.demerits().iter().map(|one| one.of).collect();
        assert_eq!(of, [MeasuredRequests::All]);
    }
}
