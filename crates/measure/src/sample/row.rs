//! Rows of numbers about a sample.

use super::Phase;
use crate::metric::{IoMetric, Metric};
use crate::metric::{RowScope, Stream};

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

/// Values of metrics; what was not measured is not there.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Values(Vec<(Metric, f64)>);

impl Values {
    /// The value of a metric; `None` when it was not measured.
    pub fn get(&self, metric: Metric) -> Option<f64> {
        let mut found = self.0.iter().filter(|(known, _)| *known == metric);
        found.next().map(|(_, value)| *value)
    }

    /// The metrics with their values.
    pub fn iter(&self) -> impl Iterator<Item = (Metric, f64)> + '_ {
        self.0.iter().copied()
    }
}

impl Extend<(Metric, Option<f64>)> for Values {
    fn extend<I: IntoIterator<Item = (Metric, Option<f64>)>>(&mut self, values: I) {
        let measured = values.into_iter();
        self.0
            .extend(measured.filter_map(|(metric, value)| Some((metric, value?))));
    }
}

impl FromIterator<(Metric, Option<f64>)> for Values {
    fn from_iter<I: IntoIterator<Item = (Metric, Option<f64>)>>(values: I) -> Values {
        let mut all = Values::default();
        all.extend(values);
        all
    }
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
