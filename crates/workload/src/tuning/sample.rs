//! What one sample of a load that is looked for has.

use measure::sample::DatabaseMeters;

/// What was counted over one tuning sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TuningSample {
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// Database reads plus writes.
    pub ios: u64,
    /// One entry for each database.
    pub databases: Vec<DatabaseLatency>,
    /// Everything that was counted, one entry for each database; empty where nothing is tuned.
    pub meters: Vec<DatabaseMeters>,
}

/// Latencies of one database over one sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DatabaseLatency {
    /// Number of database reads.
    pub reads: u64,
    /// Sum of their latencies in ms.
    pub read_total_ms: f64,
    /// Number of log writes.
    pub log_writes: u64,
    /// Sum of their latencies in ms.
    pub log_write_total_ms: f64,
}

impl TuningSample {
    /// Average database read latency of the worst database; `None` without reads.
    #[must_use]
    pub fn worst_read_ms(&self) -> Option<f64> {
        self.worst(DatabaseLatency::read_ms)
    }

    /// Average log write latency of the worst database; `None` without log writes.
    #[must_use]
    pub fn worst_log_write_ms(&self) -> Option<f64> {
        self.worst(DatabaseLatency::log_write_ms)
    }

    fn worst(&self, latency: fn(&DatabaseLatency) -> Option<f64>) -> Option<f64> {
        self.databases.iter().filter_map(latency).reduce(f64::max)
    }
}

impl DatabaseLatency {
    /// Average read latency; `None` without reads.
    pub(super) fn read_ms(&self) -> Option<f64> {
        (self.reads > 0).then(|| self.read_total_ms / self.reads as f64)
    }

    /// Average log write latency; `None` without log writes.
    pub(super) fn log_write_ms(&self) -> Option<f64> {
        (self.log_writes > 0).then(|| self.log_write_total_ms / self.log_writes as f64)
    }
}
