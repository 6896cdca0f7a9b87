//! The metric registry: everything that is measured has an identifier, a unit, a label, a meaning
//! and a rule by which several values become one, each written down once.
//!
//! The identifier is the column of `samples.csv` and the name of the field in `result.json`; reports
//! take label and unit from here. To add a metric, add a line to [`Metric`], give it a value where
//! rows are made (`sample/rows.rs`, `sample/array_rows.rs` or, of the host, `host/monitor.rs`), and
//! describe it in `docs/results.md`, which a test compares with this registry.

mod io;
mod scope;
mod stream;
mod unit;
mod values;

pub use io::IoMetric;
pub use scope::RowScope;
pub use stream::Stream;
pub use unit::Unit;
pub use values::Values;

use std::borrow::Cow;

/// How the values of several samples, or of several parts, become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Merge {
    /// They are added up.
    Sum,
    /// The highest one counts.
    Max,
    /// The last counts: a state, not a flow.
    Last,
    /// Their mean, each weighted with the length of its sample.
    OverTime,
    /// Their mean, each weighted with the number of its requests.
    ByRequests,
    /// By adding up histograms (`histograms.hlog`); it cannot be had from the values.
    Histogram,
    /// By batch means over the samples (see [`crate::confidence`]).
    BatchMeans,
}

/// Declares the metrics that are not about a stream: variant, identifier, unit, merge rule, scopes
/// of the rows that have them, label, meaning.
macro_rules! metrics {
    ($($variant:ident $id:literal $unit:ident $merge:ident [$($scope:ident)*] $label:literal
        $meaning:literal;)*) => {
        /// Something that is measured, and a column of `samples.csv`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Metric {
            /// A figure of a stream of requests.
            Io(Stream, IoMetric),
            $(#[doc = $meaning] $variant,)*
        }

        impl Metric {
            /// Every metric that is not about a stream.
            const SINGLE: &'static [Metric] = &[$(Metric::$variant,)*];

            fn declared(self) -> Declared {
                match self {
                    Metric::Io(_, metric) => Declared {
                        id: metric.id(),
                        unit: metric.unit(),
                        merge: metric.merge(),
                        scopes: &[RowScope::Total, RowScope::Database],
                        label: metric.label(),
                        meaning: metric.meaning(),
                    },
                    $(Metric::$variant => Declared {
                        id: $id,
                        unit: Unit::$unit,
                        merge: Merge::$merge,
                        scopes: &[$(RowScope::$scope),*],
                        label: $label,
                        meaning: $meaning,
                    },)*
                }
            }
        }
    };
}

/// A line of the registry.
struct Declared {
    id: &'static str,
    unit: Unit,
    merge: Merge,
    scopes: &'static [RowScope],
    label: &'static str,
    meaning: &'static str,
}

metrics! {
    Iops "iops" Iops OverTime [Total Database] "transactional I/O"
        "Database reads plus database writes per second, without log, maintenance and headers.";
    PageFaultStalls "page_fault_stalls_per_second" StallsPerSecond OverTime [Total Database]
        "page-fault stalls" "Page faults per second that had to wait for a free page of the cache.";
    Size "size_bytes" Bytes Last [Total Database] "size"
        "Size of the database file, or of all of them, at the end of the sample.";

    OperationRate "operations_per_second" OperationsPerSecond OverTime [Total Database Operation]
        "operations" "Operations per second that ended well; commits count in their own rows only.";
    OperationAverage "operation_average_ms" Milliseconds ByRequests [Total Database Operation]
        "average" "Average service time of operations, from start to finish.";
    OperationP50 "operation_p50_ms" Milliseconds Histogram [Total Database Operation] "p50"
        "Median service time.";
    OperationP99 "operation_p99_ms" Milliseconds Histogram [Total Database Operation] "p99"
        "99th percentile of the service time.";
    OperationMax "operation_max_ms" Milliseconds Max [Total Database Operation] "max"
        "Largest service time.";
    ResponseP99 "operation_response_time_p99_ms" Milliseconds Histogram
        [Total Database Operation] "response time p99"
        "99th percentile of the response time, which includes the wait since the operation was due; only when a rate is held.";
    OperationFailures "operation_failures" Count Sum [Total Database Operation] "failed"
        "Operations that ended with an error or a conflict in this sample (a count).";

    CopyQueue "copy_queue_log_files" LogFiles Last [Total Database] "copy queue"
        "Full log files of the database that were not shipped to its passive copy yet, at the end of the sample.";
    ReplayQueue "replay_queue_log_files" LogFiles Last [Total Database] "replay queue"
        "Log files that were shipped to the passive copy and not replayed there yet, at the end of the sample.";

    CpuBusy "cpu_busy_percent" Percent OverTime [Total] "CPU busy, all cores"
        "Share of the time of all CPUs that was busy.";
    CpuIoWait "cpu_io_wait_percent" Percent OverTime [Total] "CPU iowait"
        "Share of the time of all CPUs that was idle with I/O outstanding.";
    ProcessCpu "process_cpu_percent" PercentOfCore OverTime [Total] "CPU of proofload"
        "CPU time of proofload; 100 is one CPU.";
    ProcessMemory "process_resident_bytes" Bytes OverTime [Total] "memory of proofload (RSS)"
        "Resident memory of proofload.";
    AvailableMemory "available_memory_bytes" Bytes OverTime [Total] "available memory"
        "Memory that new work could have (MemAvailable).";
    IoPressure "io_pressure_percent" Percent OverTime [Total] "I/O pressure (PSI some)"
        "Share of the time in which at least one task waited for I/O.";
    CpuSteal "cpu_steal_percent" Percent OverTime [Total] "CPU steal"
        "Share of the time of all CPUs that a hypervisor gave to other machines.";
    RunQueueDelay "run_queue_delay_percent" PercentOfCore OverTime [Total]
        "run queue delay of proofload"
        "Time that threads of proofload waited for a CPU; 100 is one thread all the time.";
    BusiestThread "busiest_thread_percent" Percent OverTime [Total] "busiest thread of proofload"
        "CPU time of the thread of proofload that used most of it in each sample; 100 is one CPU.";
    CpuPressure "cpu_pressure_percent" Percent OverTime [Total] "CPU pressure (PSI some)"
        "Share of the time in which at least one task waited for a CPU.";
    MemoryPressure "memory_pressure_percent" Percent OverTime [Total]
        "memory pressure (PSI some)"
        "Share of the time in which at least one task waited for memory.";
    Swap "swap_bytes_per_second" BytesPerSecond OverTime [Total] "swap"
        "Bytes swapped in and out per second.";
    LongestPause "longest_pause_ms" Milliseconds Max [Total] "pause of proofload, max"
        "Longest time that a thread of proofload was due to run and did not: the process was paused, the machine was suspended, or no CPU was free.";
    Paused "paused_percent" Percent OverTime [Total] "pauses of proofload"
        "Share of the time in which a thread of proofload was due to run and did not, in pauses of 200 ms or more.";

    DeviceReads "device_reads_per_second" Iops OverTime [Device] "read IOPS" "Reads per second.";
    DeviceWrites "device_writes_per_second" Iops OverTime [Device] "write IOPS"
        "Writes per second.";
    DeviceReadBytes "device_read_bytes_per_second" BytesPerSecond OverTime [Device]
        "read throughput" "Bytes read per second.";
    DeviceWriteBytes "device_write_bytes_per_second" BytesPerSecond OverTime [Device]
        "write throughput" "Bytes written per second.";
    DeviceReadAverage "device_average_read_ms" Milliseconds ByRequests [Device]
        "average read latency" "Average read latency, queueing in the kernel included.";
    DeviceWriteAverage "device_average_write_ms" Milliseconds ByRequests [Device]
        "average write latency" "Average write latency, queueing in the kernel included.";
    DeviceQueueDepth "device_average_queue_depth" Requests OverTime [Device] "queue depth"
        "Mean number of requests outstanding.";
    DeviceBusy "device_busy_fraction" Fraction OverTime [Device] "utilization"
        "Share of the time with at least one request outstanding.";

    ArrayRequests "array_requests_per_second" Iops OverTime [ArrayController] "host IOPS"
        "Host requests per second.";
    ArrayReads "array_reads_per_second" Iops OverTime [ArrayVolume ArrayGroup ArrayDisk]
        "read IOPS" "Reads per second.";
    ArrayWrites "array_writes_per_second" Iops OverTime [ArrayVolume ArrayGroup ArrayDisk]
        "write IOPS" "Writes per second.";
    ArrayReadBytes "array_read_bytes_per_second" BytesPerSecond OverTime
        [ArrayController ArrayVolume ArrayDisk] "read throughput"
        "Bytes read per second (controller: sent to hosts).";
    ArrayWrittenBytes "array_written_bytes_per_second" BytesPerSecond OverTime
        [ArrayController ArrayVolume ArrayDisk] "write throughput"
        "Bytes written per second (controller: received from hosts).";
    ArrayBusy "array_busy_fraction" Fraction OverTime [ArrayController ArrayGroup ArrayDisk]
        "utilization"
        "Share of the time with something to do (controller: its CPU; group: the mean of its disks).";
    ArrayLinkBusy "array_link_busy_fraction" Fraction OverTime [ArrayController]
        "mirror link utilization" "Share of the time the link to the partner was busy.";
    ArrayDriveLatency "array_average_disk_latency_ms" Milliseconds ByRequests
        [ArrayGroup ArrayDisk] "disk latency" "Mean time of a request in the disk.";
    ArrayLatency "array_average_latency_ms" Milliseconds ByRequests [ArrayDisk]
        "latency with controller queue"
        "The same with the wait for the disk in the controller.";
    ArrayQueueDepth "array_average_queue_depth" Requests OverTime
        [ArrayVolume ArrayGroup ArrayDisk] "queue depth"
        "Mean number of requests in the disk (group: the mean of its disks; disk), or inside the array (volume).";
    ArrayReadHits "array_read_hit_fraction" Fraction ByRequests [ArrayVolume ArrayPool]
        "read cache hit ratio"
        "Share of the reads that the data cache served (volume), or the SSD read cache (pool).";
    ArrayReadHitLatency "array_average_read_hit_ms" Milliseconds ByRequests [ArrayVolume]
        "read hit latency" "Average latency of reads that the data cache served.";
    ArrayReadMissLatency "array_average_read_miss_ms" Milliseconds ByRequests [ArrayVolume]
        "read miss latency" "Average latency of the other reads.";
    ArrayWriteLatency "array_average_write_ms" Milliseconds ByRequests [ArrayVolume]
        "write latency" "Average latency of writes.";
    ArrayDirty "array_cache_dirty_fraction" Fraction Last [ArrayController]
        "dirty data in the data cache" "Share of the data cache that is not yet on the disks.";
    ArrayReadCacheUsed "array_read_cache_used_fraction" Fraction Last [ArrayPool]
        "SSD read cache in use" "Share of the SSD read cache that can be read from.";
    ArrayRebuild "array_rebuild_completed_fraction" Fraction Last [ArrayGroup] "rebuild progress"
        "How much of a failed disk has been rebuilt.";
    ArrayPerformancePages "array_performance_pages" Pages Last [ArrayPool] "performance tier"
        "Pages on the performance tier.";
    ArrayStandardPages "array_standard_pages" Pages Last [ArrayPool] "standard tier"
        "Pages on the standard tier.";
    ArrayArchivePages "array_archive_pages" Pages Last [ArrayPool] "archive tier"
        "Pages on the archive tier.";
    ArrayPromoted "array_promoted_bytes_per_second" BytesPerSecond OverTime [ArrayPool]
        "promoted" "Bytes moved to a higher tier per second.";
    ArrayDemoted "array_demoted_bytes_per_second" BytesPerSecond OverTime [ArrayPool]
        "demoted" "Bytes moved to a lower tier per second.";
}

impl Metric {
    /// The counters of the host, in the order in which reports show them.
    pub const HOST: [Metric; 14] = [
        Metric::CpuBusy,
        Metric::CpuIoWait,
        Metric::ProcessCpu,
        Metric::ProcessMemory,
        Metric::AvailableMemory,
        Metric::IoPressure,
        Metric::CpuSteal,
        Metric::RunQueueDelay,
        Metric::BusiestThread,
        Metric::CpuPressure,
        Metric::MemoryPressure,
        Metric::Swap,
        Metric::LongestPause,
        Metric::Paused,
    ];

    /// Every metric, in the order of the columns of `samples.csv`.
    pub fn all() -> Vec<Metric> {
        let (before, after) = Metric::SINGLE.split_at(3);
        let streams = Stream::ALL
            .into_iter()
            .flat_map(|stream| IoMetric::SAMPLED.map(|metric| Metric::Io(stream, metric)));
        let mut all = before.to_vec();
        all.extend(streams);
        all.extend(after);
        all
    }

    /// The metric of this identifier, if there is one.
    pub fn from_id(id: &str) -> Option<Metric> {
        Metric::all().into_iter().find(|metric| metric.id() == id)
    }

    /// Name of the column in `samples.csv`: the last part is the unit.
    pub fn id(self) -> Cow<'static, str> {
        let id = self.declared().id;
        match self {
            Metric::Io(stream, _) => Cow::Owned(format!("{}_{id}", stream.column())),
            _ => Cow::Borrowed(id),
        }
    }

    /// Unit of the value, which the end of [`Self::id`] names.
    pub fn unit(self) -> Unit {
        self.declared().unit
    }

    /// How reports call it.
    pub fn label(self) -> &'static str {
        self.declared().label
    }

    /// What it means, as a sentence.
    pub fn meaning(self) -> &'static str {
        self.declared().meaning
    }

    /// How several values become one.
    pub fn merge(self) -> Merge {
        self.declared().merge
    }

    /// What a row must be about to have it.
    pub fn scopes(self) -> &'static [RowScope] {
        self.declared().scopes
    }

    /// The rate that weights it when it is a mean over requests.
    pub fn weight(self) -> Option<Metric> {
        match self {
            Metric::Io(stream, metric) if metric.merge() == Merge::ByRequests => {
                Some(Metric::Io(stream, IoMetric::Rate))
            }
            Metric::OperationAverage => Some(Metric::OperationRate),
            Metric::DeviceReadAverage => Some(Metric::DeviceReads),
            Metric::DeviceWriteAverage => Some(Metric::DeviceWrites),
            Metric::ArrayReadHits => Some(Metric::ArrayReads),
            Metric::ArrayWriteLatency => Some(Metric::ArrayWrites),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_unique_and_end_in_their_unit() {
        let all = Metric::all();
        for (index, metric) in all.iter().enumerate() {
            let id = metric.id();
            assert_eq!(Metric::from_id(&id), Some(*metric), "{id}");
            assert!(!all[..index].iter().any(|other| other.id() == id), "{id}");
            let end = match metric.unit() {
                Unit::Milliseconds => "_ms",
                Unit::Bytes => "_bytes",
                Unit::BytesPerSecond | Unit::StallsPerSecond | Unit::OperationsPerSecond => {
                    "_per_second"
                }
                Unit::Percent | Unit::PercentOfCore => "_percent",
                Unit::Fraction => "_fraction",
                Unit::Pages => "_pages",
                Unit::LogFiles => "_log_files",
                _ => "",
            };
            assert!(id.ends_with(end), "{id} is in {:?}", metric.unit());
            assert!(
                !metric.label().is_empty() && !metric.scopes().is_empty(),
                "{id}"
            );
        }
    }

    #[test]
    fn each_mean_is_weighted_by_the_rate_of_its_requests() {
        let stream = Stream::LogWrite;
        for (mean, rate) in [
            (
                Metric::Io(stream, IoMetric::Average),
                Some(Metric::Io(stream, IoMetric::Rate)),
            ),
            (Metric::Io(stream, IoMetric::P50), None),
            (Metric::OperationAverage, Some(Metric::OperationRate)),
            (Metric::DeviceReadAverage, Some(Metric::DeviceReads)),
            (Metric::DeviceWriteAverage, Some(Metric::DeviceWrites)),
            (Metric::ArrayReadHits, Some(Metric::ArrayReads)),
            (Metric::ArrayWriteLatency, Some(Metric::ArrayWrites)),
            (Metric::CpuBusy, None),
        ] {
            assert_eq!(mean.weight(), rate, "{mean:?}");
        }
    }

    #[test]
    fn means_over_requests_know_their_requests() {
        let means = Metric::all().into_iter().filter(|metric| {
            let of_device = metric.scopes() == [RowScope::Device];
            metric.merge() == Merge::ByRequests && of_device
        });
        assert!(means.clone().count() == 2 && means.clone().all(|one| one.weight().is_some()));
    }
}
