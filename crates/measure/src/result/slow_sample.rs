//! Samples whose average latency was above its limit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Values};

/// A sample whose average latency was above the limit of a [`Check`](super::Check), with what host and
/// devices did meanwhile.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SlowSample {
    /// When it begins, in seconds since the start of the run.
    pub begins_s: f64,
    /// Requests that completed in the sample.
    pub requests: u64,
    /// Their average latency, ms.
    pub average_ms: f64,
    /// Counters of the host in this sample, by the names of the columns of `samples.csv`; those that the
    /// kernel shows.
    pub host: BTreeMap<String, f64>,
    /// The same of each block device, by its name.
    pub devices: BTreeMap<String, BTreeMap<String, f64>>,
}

impl SlowSample {
    /// A counter of the host; `None` when the kernel does not show it.
    #[must_use]
    pub fn host_counter(&self, metric: Metric) -> Option<f64> {
        self.host.get(metric.id().as_ref()).copied()
    }

    /// A figure of a block device; `None` when there was none in this sample.
    #[must_use]
    pub fn device_figure(&self, device: &str, metric: Metric) -> Option<f64> {
        self.devices.get(device)?.get(metric.id().as_ref()).copied()
    }
}

/// Values by the names of their columns.
pub(crate) fn by_column(values: &Values) -> BTreeMap<String, f64> {
    let finite = values.iter().filter(|(_, value)| value.is_finite());
    finite
        .map(|(metric, value)| (metric.id().into_owned(), value))
        .collect()
}
