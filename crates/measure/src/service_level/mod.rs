//! Service levels: the limits, the rules that judge them, and the verdict.
//!
//! How the figures are read (each check prints its rule in these words):
//!
//! - An **average** is the sum of all latencies of the measured phase over their number, not the
//!   mean of the sample averages: a busy sample weighs more than an idle one.
//! - A **maximum** is about sample averages, as in Jetstress, not about single requests. With
//!   `allowed_maximum_violations = 0` no sample may exceed the limit; with N, up to N samples of
//!   each database may. Percentiles and the longest single request stand beside it in the result.
//! - Each database is judged on its own; one that fails makes the run fail.
//! - A value exactly at its limit passes.
//! - A limit of `inf` is not judged.

mod judge;
mod operations;
mod rules;

pub use judge::{Judgement, add_checks, judge, verdict_so_far};
pub use operations::{OperationLevels, PercentileLevel, ShareLevel};
pub use rules::{Measured, evaluate};

use serde::{Deserialize, Serialize};

/// The limits. The defaults are those of Jetstress 2013; sources are named in the letters of its
/// shipped configuration (`JetstressConfig.xml`, 15.0.995) and documentation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ServiceLevels {
    /// Average database read latency of each database. All versions of Jetstress: 20 ms.
    pub average_database_read_ms: f64,
    /// Average log write latency of each database. All versions of Jetstress: 10 ms.
    pub average_log_write_ms: f64,
    /// Highest sample average of database reads in a test of normal length. Jetstress 2010 and
    /// 2013, `Strict` thresholds: 100 ms; 2007: 50 ms.
    pub maximum_database_read_strict_ms: f64,
    /// The same in a long test. Jetstress 2010 and 2013, `Lenient` thresholds: 200 ms; 2007:
    /// 100 ms (unconfirmed).
    pub maximum_database_read_lenient_ms: f64,
    /// Highest sample average of log writes in a test of normal length; values as for reads.
    pub maximum_log_write_strict_ms: f64,
    /// The same in a long test; values as for reads.
    pub maximum_log_write_lenient_ms: f64,
    /// A test longer than this is judged by the lenient limits. Jetstress: a performance test of
    /// more than 6 hours becomes a stress test.
    pub lenient_above_s: f64,
    /// How many samples of a database may exceed a maximum. Jetstress 2013 ships
    /// `MaximumLatencyErrors` = 6; how it is applied is unconfirmed, and people who know it report
    /// that a single very high spike failed a test. 0 is that strict reading.
    pub allowed_maximum_violations: u32,
    /// Average page-fault stalls per second of each database. Jetstress 2013: at most 1.
    pub page_fault_stalls_per_second: f64,
    /// How far the achieved transactional I/O may stay below the target. Jetstress `MarginIops`:
    /// 0.05. Jetstress itself leaves this comparison to the reader.
    pub achieved_margin_fraction: f64,
    /// I/O errors and bad pages allowed. Jetstress 2013: a single one fails the test.
    pub allowed_errors: u64,
    /// 99th percentile of database reads of each database. Not judged unless set.
    pub p99_database_read_ms: f64,
    /// 99th percentile of log writes of each database. Not judged unless set.
    pub p99_log_write_ms: f64,
    /// Fewer full samples than this make a run inconclusive.
    pub fewest_samples: usize,
    /// Levels of single kinds of operations. None unless set.
    pub operations: OperationLevels,
}

impl Default for ServiceLevels {
    fn default() -> Self {
        ServiceLevels {
            average_database_read_ms: 20.0,
            average_log_write_ms: 10.0,
            maximum_database_read_strict_ms: 100.0,
            maximum_database_read_lenient_ms: 200.0,
            maximum_log_write_strict_ms: 100.0,
            maximum_log_write_lenient_ms: 200.0,
            lenient_above_s: 6.0 * 3600.0,
            allowed_maximum_violations: 0,
            page_fault_stalls_per_second: 1.0,
            achieved_margin_fraction: 0.05,
            allowed_errors: 0,
            p99_database_read_ms: f64::INFINITY,
            p99_log_write_ms: f64::INFINITY,
            fewest_samples: 5,
            operations: OperationLevels::default(),
        }
    }
}
