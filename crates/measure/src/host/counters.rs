//! The host's counters over one sample.

use crate::metric::Values;

/// Host counters over one interval.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostSample {
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// The metrics of [`HOST`](crate::metric::Metric::HOST) that the kernel shows.
    pub values: Values,
    /// The watched block devices, in the order given.
    pub devices: Vec<DeviceSample>,
}

/// One block device over one interval: all its traffic, not only that of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceSample {
    /// Name in the kernel, such as `sda` or `nvme0n1p1`.
    pub name: String,
    /// The metrics of devices; average latencies only of what there was.
    pub values: Values,
}
