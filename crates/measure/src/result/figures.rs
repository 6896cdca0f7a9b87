//! The measured figures of databases, operations and the run.

use serde::{Deserialize, Serialize};

use crate::metric::IoMetric;
use crate::metric::Stream;

/// Requests of one kind (say, reads of one database) over the measured phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct IoFigures {
    /// Requests that ended well.
    pub count: u64,
    /// `count` / length of the measured phase.
    pub per_second: f64,
    /// Bytes moved by them.
    pub bytes: u64,
    /// Mean size of a request in bytes; 0 when there was none.
    pub average_bytes: f64,
    /// Requests that ended with an error.
    pub errors: u64,
    /// Latency from issue to completion; null when there was no request.
    pub latency: Option<LatencyFigures>,
}

impl IoFigures {
    /// Mean throughput in bytes per second.
    pub fn bytes_per_second(&self) -> f64 {
        self.per_second * self.average_bytes
    }

    /// Mean number of these requests that were outstanding at a time, by Little's law: their rate times
    /// their average latency; `None` without requests.
    pub fn average_queue_depth(&self) -> Option<f64> {
        let latency = self.latency?;
        Some(self.per_second * latency.average_ms / 1e3)
    }

    /// A figure by its metric; `None` when it was not measured.
    pub fn get(&self, metric: IoMetric) -> Option<f64> {
        match metric {
            IoMetric::Count => Some(self.count as f64),
            IoMetric::Rate => Some(self.per_second),
            IoMetric::AverageBytes => (self.count > 0).then_some(self.average_bytes),
            IoMetric::Throughput => Some(self.bytes_per_second()),
            IoMetric::Errors => Some(self.errors as f64),
            of_latency => self.latency.and_then(|latency| latency.get(of_latency)),
        }
    }
}

/// A latency distribution in milliseconds.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LatencyFigures {
    /// Sum of all latencies / their number (exact, not from the histogram).
    pub average_ms: f64,
    /// Half-width of the 95 % confidence interval of `average_ms` by batch means; null when there
    /// were too few samples.
    pub average_half_width_ms: Option<f64>,
    /// Median, from the histogram.
    pub p50_ms: f64,
    /// 90th percentile, from the histogram.
    pub p90_ms: f64,
    /// 95th percentile, from the histogram.
    pub p95_ms: f64,
    /// 99th percentile, from the histogram.
    pub p99_ms: f64,
    /// 99.9th percentile, from the histogram.
    pub p99_9_ms: f64,
    /// The largest latency of a request.
    pub max_ms: f64,
    /// The highest average of one sample: what the spike rule looks at.
    pub max_sample_average_ms: f64,
    /// Latencies above the range of the histogram (1 h), which count as 1 h in the percentiles.
    pub saturated: u64,
}

impl LatencyFigures {
    /// A figure by its metric; `None` when it is not one of a latency, or is not known.
    pub fn get(&self, metric: IoMetric) -> Option<f64> {
        match metric {
            IoMetric::Average => Some(self.average_ms),
            IoMetric::HalfWidth => self.average_half_width_ms,
            IoMetric::P50 => Some(self.p50_ms),
            IoMetric::P90 => Some(self.p90_ms),
            IoMetric::P95 => Some(self.p95_ms),
            IoMetric::P99 => Some(self.p99_ms),
            IoMetric::P99_9 => Some(self.p99_9_ms),
            IoMetric::Max => Some(self.max_ms),
            IoMetric::MaxSample => Some(self.max_sample_average_ms),
            _ => None,
        }
    }
}

/// One database with its log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseResult {
    /// Name of the database in this run.
    pub name: String,
    /// Path of the database file.
    pub path: String,
    /// Directory of its log.
    pub log_path: String,
    /// The figures, which in `result.json` stand beside the name.
    #[serde(flatten)]
    pub figures: DatabaseFigures,
}

/// The figures of a database, or of all databases together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DatabaseFigures {
    /// Size of the database files when the measured phase began.
    pub size_begin_bytes: u64,
    /// Size of the database files when the measured phase ended.
    pub size_end_bytes: u64,
    /// Database reads on behalf of the workload.
    pub reads: IoFigures,
    /// Database writes, log and headers not included.
    pub writes: IoFigures,
    /// Log writes, one per request to the log stream.
    pub log_writes: IoFigures,
    /// Log replication reads: full log files, read once for each further copy of the database.
    pub log_reads: IoFigures,
    /// Reads of the background database maintenance.
    pub maintenance_reads: IoFigures,
    /// Writes of database headers and checkpoint files.
    pub header_writes: IoFigures,
    /// Zero fill of log files, growth of files, flushes of a volatile cache.
    pub other_writes: IoFigures,
    /// Writes of shipped log files at the passive copy.
    pub copy_log_writes: IoFigures,
    /// Reads of shipped log files by the replay of the passive copy.
    pub copy_log_reads: IoFigures,
    /// Reads of database pages by the replay of the passive copy.
    pub copy_reads: IoFigures,
    /// Writes of database pages, headers and checkpoint files of the passive copy.
    pub copy_writes: IoFigures,
    /// Page faults per second that had to wait for a free frame of the cache.
    pub page_fault_stalls_per_second: f64,
}

impl DatabaseFigures {
    /// The figures of a stream.
    pub fn stream(&self, stream: Stream) -> &IoFigures {
        match stream {
            Stream::DatabaseRead => &self.reads,
            Stream::DatabaseWrite => &self.writes,
            Stream::LogWrite => &self.log_writes,
            Stream::LogRead => &self.log_reads,
            Stream::MaintenanceRead => &self.maintenance_reads,
            Stream::HeaderWrite => &self.header_writes,
            Stream::OtherWrite => &self.other_writes,
            Stream::CopyLogWrite => &self.copy_log_writes,
            Stream::CopyLogRead => &self.copy_log_reads,
            Stream::CopyRead => &self.copy_reads,
            Stream::CopyWrite => &self.copy_writes,
        }
    }

    /// The share of the database reads in database reads and writes; `None` without either.
    pub fn read_fraction(&self) -> Option<f64> {
        let (reads, writes) = (self.reads.per_second, self.writes.per_second);
        (reads + writes > 0.0).then(|| reads / (reads + writes))
    }

    /// All requests per second, of every stream.
    pub fn all_per_second(&self) -> f64 {
        let rates = Stream::ALL.map(|stream| self.stream(stream).per_second);
        rates.iter().sum()
    }

    /// All bytes moved per second, of every stream.
    pub fn all_bytes_per_second(&self) -> f64 {
        let rates = Stream::ALL.map(|stream| self.stream(stream).bytes_per_second());
        rates.iter().sum()
    }

    /// The figures of a stream, to be changed.
    pub(crate) fn stream_mut(&mut self, stream: Stream) -> &mut IoFigures {
        match stream {
            Stream::DatabaseRead => &mut self.reads,
            Stream::DatabaseWrite => &mut self.writes,
            Stream::LogWrite => &mut self.log_writes,
            Stream::LogRead => &mut self.log_reads,
            Stream::MaintenanceRead => &mut self.maintenance_reads,
            Stream::HeaderWrite => &mut self.header_writes,
            Stream::OtherWrite => &mut self.other_writes,
            Stream::CopyLogWrite => &mut self.copy_log_writes,
            Stream::CopyLogRead => &mut self.copy_log_reads,
            Stream::CopyRead => &mut self.copy_reads,
            Stream::CopyWrite => &mut self.copy_writes,
        }
    }
}

/// One kind of operation of the workload.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OperationResult {
    /// What its workload calls it, such as `insert`.
    pub name: String,
    /// Operations that ended well in the measured phase.
    pub count: u64,
    /// `count` / length of the measured phase.
    pub per_second: f64,
    /// Operations that ended with an error or a conflict.
    pub failures: u64,
    /// From the moment a session began the operation to its end; null when there was none.
    pub service_time: Option<LatencyFigures>,
    /// From the moment the operation was due at the held rate to its end, waiting included; null
    /// when no rate was held.
    pub response_time: Option<LatencyFigures>,
}

/// The achieved rate and the rate that the workload asks for.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Throughput {
    /// Database reads plus database writes per second, all databases, without log, maintenance
    /// and header traffic: what Jetstress calls transactional I/O per second.
    pub achieved_iops: f64,
    /// Half-width of the 95 % confidence interval of `achieved_iops` by batch means; null when there
    /// were too few samples.
    pub achieved_half_width_iops: Option<f64>,
    /// What the workload asks for; null when no rate is asked for.
    pub target_iops: Option<f64>,
    /// `achieved_iops` / `target_iops`; null when there is no target.
    pub achieved_fraction: Option<f64>,
    /// Operations of the workload per second (commits not counted).
    pub operations_per_second: f64,
    /// Sessions that drove the load.
    pub threads: Option<u64>,
    /// The held rate in I/O per second; null in a closed loop.
    pub rate_iops: Option<f64>,
    /// How full the least full cache of the engine was when the measured phase began; null where there
    /// is none of ours.
    pub cache_fill_fraction: Option<f64>,
    /// The smallest size that a cache of the engine had in the measured phase, of the largest it may have; null where
    /// caches have one size.
    pub cache_size_fraction: Option<f64>,
}

/// Whether the measured phase was steady.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SteadyState {
    /// The rule as a sentence.
    pub rule: String,
    /// The tracked variable, in words with its unit.
    pub variable: String,
    /// True or false; null when there were too few samples to say.
    pub steady: Option<bool>,
    /// Mean of the tracked variable in each round of the judged window.
    pub rounds: Vec<f64>,
    /// Mean of `rounds`, in the unit of the tracked variable.
    pub mean: f64,
    /// (highest - lowest round) / mean.
    pub range_fraction: f64,
    /// |rise of the best straight line across the window| / mean.
    pub slope_fraction: f64,
    /// Seconds into the measured phase at which steadiness was first reached.
    pub reached_at_s: Option<f64>,
    /// Seconds into the measured phase at which it was lost after having been reached.
    pub left_at_s: Option<f64>,
}
