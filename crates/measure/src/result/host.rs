//! The machine that ran the load.

use serde::{Deserialize, Serialize};

use crate::metric::{Metric, Unit};

/// Facts and counters of the host.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HostResult {
    /// Name of the host.
    pub name: String,
    /// Operating system as it names itself, such as `Debian GNU/Linux 12 (bookworm)`.
    pub operating_system: String,
    /// Release of the kernel, as `uname -r` prints it.
    pub kernel: String,
    /// Model name of the CPU.
    pub cpu_model: String,
    /// Number of logical CPUs.
    pub cpus: u64,
    /// Memory of the machine.
    pub memory_bytes: u64,
    /// How requests of our own engine reached the kernel: `io-uring` or `threads`; empty where none did.
    pub io_driver: String,
    /// Why that is `threads`, if they were not asked for.
    pub io_driver_reason: Option<String>,
    /// Host counters over the measured phase.
    pub counters: Vec<CounterSummary>,
    /// The block devices under the targets, then those further below to which the same requests go, as the
    /// kernel saw them over the measured phase.
    pub devices: Vec<DeviceResult>,
    /// Messages of the kernel during the run that name the devices or speak of failed requests; empty
    /// also where they may not be read.
    pub kernel_messages: Vec<KernelMessage>,
    /// Further messages that are not kept.
    pub more_kernel_messages: u64,
    /// What the devices say of their health, before and after the run; empty where it cannot be read.
    pub health: Vec<HealthFigure>,
}

/// A message of the kernel.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct KernelMessage {
    /// When, in seconds since the start of the run.
    pub at_s: f64,
    /// How serious it is, such as `error` or `warning`.
    pub level: String,
    /// Text of the message, as the kernel wrote it.
    pub text: String,
}

/// One figure of the health of a device.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct HealthFigure {
    /// Kernel name of the device.
    pub device: String,
    /// What it is, as the device or the kernel calls it, such as `media and data integrity errors`.
    pub name: String,
    /// Its value before the run; null when it could not be read.
    pub before: Option<f64>,
    /// Its value after the run; null when it could not be read.
    pub after: Option<f64>,
    /// Whether the device counted errors during the run, or reports that it fails.
    pub is_bad: bool,
}

impl HostResult {
    /// The counter of this metric, if the host showed it.
    pub fn counter(&self, metric: Metric) -> Option<&CounterSummary> {
        let id = metric.id();
        self.counters.iter().find(|counter| counter.id == id)
    }
}

/// One host counter over the samples of the measured phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CounterSummary {
    /// Identifier of the metric, such as `cpu_busy_percent` (see [`Metric`]).
    pub id: String,
    /// Unit of the three values.
    pub unit: Unit,
    /// Mean over the samples, a long one counting for more than a short one.
    pub average: f64,
    /// Lowest of the samples.
    pub minimum: f64,
    /// Highest of the samples.
    pub maximum: f64,
}

/// One block device, from `/proc/diskstats` and `/sys/block`, over the measured phase. All
/// traffic of the device is in it, not only that of the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DeviceResult {
    /// Kernel name, such as `nvme0n1` or `sda2`.
    pub name: String,
    /// Model as the device names itself; empty when it does not.
    pub model: String,
    /// Serial number as the device names it; empty when it does not, or when it may not be read.
    pub serial: String,
    /// Revision of its firmware; empty when unknown.
    pub firmware: String,
    /// Size of the device.
    pub size_bytes: u64,
    /// Whether the kernel takes it for a rotating disk; null when it does not say.
    pub rotational: Option<bool>,
    /// The I/O scheduler in force, such as `none` or `mq-deadline`; empty when unknown.
    pub scheduler: String,
    /// Kernel names of the devices that this one lies on, directly or not: the disk of a partition,
    /// the members of an array, the device under the file of a loop device. Its traffic is in theirs.
    pub underlying_devices: Vec<String>,
    /// Kernel names of the loop devices, this one and those below it, that go through the page cache of
    /// their file; left out when there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub buffered_loops: Vec<String>,
    /// The targets of the run whose file system or contents this device holds; empty for a device further
    /// below.
    pub targets: Vec<String>,
    /// Reads that ended, per second.
    pub reads_per_second: f64,
    /// Writes that ended, per second.
    pub writes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub write_bytes_per_second: f64,
    /// Average latency of a read, queueing in the kernel included; null without reads.
    pub average_read_ms: Option<f64>,
    /// Average latency of a write, queueing in the kernel included; null without writes.
    pub average_write_ms: Option<f64>,
    /// Mean number of requests in flight.
    pub average_queue_depth: f64,
    /// Fraction of the time in which at least one request was in flight.
    pub busy_fraction: f64,
}

impl DeviceResult {
    /// Whether it is built on another device, directly or not.
    #[must_use]
    pub fn lies_on(&self, other: &DeviceResult) -> bool {
        self.underlying_devices.contains(&other.name)
    }
}
