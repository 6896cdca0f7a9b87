//! `[service_levels]`: the limits that decide the verdict.

use config::{TimeSpan, limit_ms, limit_s, settings, within};

use super::{OperationLevels, ServiceLevels};

const THRESHOLDS: &str = "JetstressConfig.xml 2013, Thresholds.";
const YEAR: TimeSpan = TimeSpan::seconds(365 * 86_400);

settings! {
    /// The limits that decide the verdict. Each database is judged by itself; a value at its limit
    /// passes.
    pub struct Levels {
        /// Limit of the average latency of database reads over the run.
        pub average_database_read_ms: f64 = 20.0,
            as limit_ms(), key "average_database_read", source THRESHOLDS;
        /// Limit of the average latency of log writes over the run.
        pub average_log_write_ms: f64 = 10.0,
            as limit_ms(), key "average_log_write", source THRESHOLDS;
        /// Limit of the average database read latency within any one sample.
        pub maximum_database_read_strict_ms: f64 = 100.0,
            as limit_ms(), key "maximum_database_read_strict", source THRESHOLDS;
        /// The same in a run longer than lenient_above.
        pub maximum_database_read_lenient_ms: f64 = 200.0,
            as limit_ms(), key "maximum_database_read_lenient", source THRESHOLDS;
        /// Limit of the average log write latency within any one sample.
        pub maximum_log_write_strict_ms: f64 = 100.0,
            as limit_ms(), key "maximum_log_write_strict", source THRESHOLDS;
        /// The same in a run longer than lenient_above.
        pub maximum_log_write_lenient_ms: f64 = 200.0,
            as limit_ms(), key "maximum_log_write_lenient", source THRESHOLDS;
        /// Limit that 99 of 100 database reads must keep.
        pub p99_database_read_ms: f64 = f64::INFINITY,
            as limit_ms(), key "p99_database_read", source "Jetstress knows no percentiles.";
        /// Limit that 99 of 100 log writes must keep.
        pub p99_log_write_ms: f64 = f64::INFINITY,
            as limit_ms(), key "p99_log_write", source "Jetstress knows no percentiles.";
        /// Runs longer than this are judged by the lenient sample limits.
        pub lenient_above_s: f64 = 6.0 * 3600.0,
            as limit_s(YEAR), key "lenient_above",
            source "Microsoft's Jetstress help: a performance test above 6 h becomes a stress \
                test.";
        /// Samples of each database that may lie above a sample limit.
        pub allowed_maximum_violations: u32 = 0,
            as within(0..=u32::MAX),
            source "JetstressConfig.xml 2013 ships MaximumLatencyErrors 6, yet its authors report \
                that one spike fails a test; the strict reading.";
        /// Limit of the average number of reads per second that had to wait for a free page in the
        /// cache.
        pub page_fault_stalls_per_second: f64 = 1.0,
            as within(0.0..=1e6), source "The failure text of Jetstress 2013: not higher than 1.";
        /// How far below the target rate the achieved one may stay, as a fraction of it: a rate of
        /// I/O, or the rate of transactions that users of a database server hold.
        pub achieved_margin_fraction: f64 = 0.05,
            as within(0.0..=1.0), source "JetstressConfig.xml 2013, MarginIops.";
        /// I/O errors and bad pages that are allowed.
        pub allowed_errors: u64 = 0,
            as within(0..=u64::MAX / 2), source "Jetstress 2013: a single one fails the test.";
        /// A run with fewer samples is inconclusive.
        pub fewest_samples: u32 = 5,
            as within(1..=1_000_000), source "Project default.";
    }
}

impl Levels {
    /// The levels in the form that is judged, with those of single operations.
    #[must_use]
    pub fn with(&self, operations: OperationLevels) -> ServiceLevels {
        ServiceLevels {
            levels: self.clone(),
            operations,
        }
    }
}
