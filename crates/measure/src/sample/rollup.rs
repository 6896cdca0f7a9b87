//! Many samples as one figure, by the merge rules of the metrics.

use std::collections::BTreeMap;

use crate::metric::{Merge, Metric, Values};

/// Running sums over the samples of one thing, so that a day of samples takes no more memory than an
/// hour. Metrics that are merged as histograms are left out.
#[derive(Debug, Clone, Default)]
pub(super) struct Rollup(BTreeMap<Metric, Spread>);

/// A metric over the samples that had it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Spread {
    weights: f64,
    sum: f64,
    last: f64,
    pub(super) minimum: f64,
    pub(super) maximum: f64,
}

impl Rollup {
    /// Adds a sample of `length_s` seconds.
    pub(super) fn add(&mut self, values: &Values, length_s: f64) {
        for (metric, value) in values.iter() {
            let weight = match metric.merge() {
                Merge::ByRequests => {
                    let rate = metric.weight().and_then(|rate| values.get(rate));
                    length_s * rate.unwrap_or(0.0)
                }
                _ => length_s,
            };
            let spread = self.0.entry(metric).or_insert(Spread {
                minimum: f64::INFINITY,
                maximum: f64::NEG_INFINITY,
                ..Spread::default()
            });
            spread.weights += weight;
            spread.sum += match metric.merge() {
                Merge::Sum => value,
                _ => value * weight,
            };
            spread.last = value;
            spread.minimum = spread.minimum.min(value);
            spread.maximum = spread.maximum.max(value);
        }
    }

    /// Lowest and highest sample of a metric; `None` when no sample had it.
    pub(super) fn spread(&self, metric: Metric) -> Option<Spread> {
        self.0.get(&metric).copied()
    }

    /// The metric over all samples, by its merge rule; `None` when no sample had it.
    pub(super) fn get(&self, metric: Metric) -> Option<f64> {
        let spread = self.spread(metric)?;
        match metric.merge() {
            Merge::Sum => Some(spread.sum),
            Merge::Max => Some(spread.maximum),
            Merge::Last => Some(spread.last),
            Merge::OverTime | Merge::ByRequests => {
                (spread.weights > 0.0).then(|| spread.sum / spread.weights)
            }
            Merge::Histogram | Merge::BatchMeans => None,
        }
    }
}
