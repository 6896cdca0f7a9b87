//! The host's counters over one sample.

/// Host counters over one interval. What the kernel does not show is `None`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HostSample {
    /// Length of the interval in seconds.
    pub length_s: f64,
    /// Share of all processors that was busy, 0 to 100.
    pub cpu_busy_percent: Option<f64>,
    /// Share of all processors that was idle with I/O outstanding, 0 to 100.
    pub cpu_io_wait_percent: Option<f64>,
    /// CPU time of this process; 100 is one processor.
    pub process_cpu_percent: Option<f64>,
    /// Memory of this process at the end of the interval.
    pub process_resident_bytes: Option<f64>,
    /// Memory that new work could have, at the end of the interval.
    pub available_memory_bytes: Option<f64>,
    /// Share of the time in which some task waited for I/O, 0 to 100.
    pub io_pressure_percent: Option<f64>,
    /// Share of the time of all processors that a hypervisor gave to other machines, 0 to 100.
    pub cpu_steal_percent: Option<f64>,
    /// Time that threads of this process waited for a processor; 100 is one thread all the time.
    pub run_queue_delay_percent: Option<f64>,
    /// Share of the time in which some task waited for a processor, 0 to 100.
    pub cpu_pressure_percent: Option<f64>,
    /// Share of the time in which some task waited for memory, 0 to 100.
    pub memory_pressure_percent: Option<f64>,
    /// Bytes swapped in and out, per second.
    pub swap_bytes_per_second: Option<f64>,
    /// Longest time that a thread of this process, due to run, did not: it was paused, the machine was
    /// suspended, or no processor was free.
    pub longest_pause_ms: Option<f64>,
    /// The watched block devices, in the order given.
    pub devices: Vec<DeviceSample>,
}

/// One block device over one interval: all its traffic, not only that of the run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DeviceSample {
    /// Name in the kernel, such as `sda` or `nvme0n1p1`.
    pub name: String,
    /// Reads that ended, per second.
    pub reads_per_second: f64,
    /// Writes that ended, per second.
    pub writes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub write_bytes_per_second: f64,
    /// Average latency of the reads; `None` without reads.
    pub average_read_ms: Option<f64>,
    /// Average latency of the writes; `None` without writes.
    pub average_write_ms: Option<f64>,
    /// Mean number of requests in flight.
    pub average_queue_depth: f64,
    /// Fraction of the time with a request in flight.
    pub busy_fraction: f64,
}
