//! Rows of numbers about a sample.

use super::Phase;
use crate::metric::{IoMetric, Metric, RowScope, Stream, Values};

/// One row of `samples.csv`.
#[derive(Debug, Clone, PartialEq)]
pub struct SampleRow {
    /// Number of the sample in the run, from 0.
    pub sample: u64,
    /// What the run was doing.
    pub phase: Phase,
    /// Begin of the sample in seconds since the start of the run.
    pub begins_s: f64,
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// What the row is about.
    pub scope: RowScope,
    /// Name of the database, operation, device or part of the array; `all` in a row of scope
    /// `total`.
    pub name: String,
    /// Values of the metrics that rows of this scope have.
    pub values: Values,
}

/// Columns that every row fills; one column for each metric follows.
pub(super) const FIXED_COLUMNS: [&str; 6] =
    ["sample", "phase", "begins_s", "length_s", "scope", "name"];

impl SampleRow {
    /// Names of all columns, in their order.
    pub fn columns() -> Vec<String> {
        let fixed = FIXED_COLUMNS.map(str::to_owned);
        let metrics = Metric::all().into_iter().map(|metric| metric.id().into());
        fixed.into_iter().chain(metrics).collect()
    }

    /// The value of a metric; `None` when it was not measured or is not about such rows.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        self.values.get(metric)
    }

    /// The value of a metric of a stream.
    pub fn io(&self, stream: Stream, metric: IoMetric) -> Option<f64> {
        if metric == IoMetric::Throughput {
            let rate = self.io(stream, IoMetric::Rate)?;
            return Some(rate * self.io(stream, IoMetric::AverageBytes).unwrap_or(0.0));
        }
        self.get(Metric::Io(stream, metric))
    }
}
