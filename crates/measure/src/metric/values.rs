//! Values of several metrics.

use super::Metric;

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
