//! A replayed block trace.

use serde::{Deserialize, Serialize};

/// What was replayed, and how it compares with what was measured.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceResult {
    /// The trace as it was named.
    pub path: String,
    /// Its format: `csv`, `fio-iolog`, `fio-log` or `blkparse`.
    pub format: String,
    /// `open`: requests came when the trace says; `closed`: when others had ended.
    pub mode: String,
    /// Requests that were sent.
    pub requests: u64,
    /// Those of them that failed.
    pub failed_requests: u64,
    /// Requests of a closed loop at once; null when arrival times were kept.
    pub outstanding: Option<u64>,
    /// Mean number of requests that had arrived and not ended.
    pub average_queue_depth: f64,
    /// The largest number of requests inside the array at once.
    pub largest_queue_depth: u64,
    /// Requests that arrived when the array held as many as it was allowed to.
    pub held_back_requests: u64,
    /// Requests beyond their volume that were wrapped to its start.
    pub wrapped_requests: u64,
    /// Requests that were widened to whole sectors.
    pub widened_requests: u64,
    /// Model and measurement: `all`, and `reads` and `writes` where there were both; empty when
    /// the trace carries no response times.
    pub demerits: Vec<DemeritResult>,
}

/// The requests of a trace whose response times are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum MeasuredRequests {
    /// Reads and writes.
    #[default]
    All,
    /// Reads.
    Reads,
    /// Writes.
    Writes,
}

impl MeasuredRequests {
    /// How reports call them.
    pub fn label(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Reads => "reads",
            Self::Writes => "writes",
        }
    }
}

/// How far the distribution of modelled response times lies from that of measured ones.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DemeritResult {
    /// Which requests are compared.
    pub of: MeasuredRequests,
    /// Requests that were measured and did not fail.
    pub requests: u64,
    /// Mean of the measured response times.
    pub measured_average_ms: f64,
    /// Mean of the modelled response times.
    pub model_average_ms: f64,
    /// Root mean square of the horizontal distance between the two cumulative distributions.
    pub demerit_ms: f64,
    /// `demerit_ms` / `measured_average_ms`; null when that is zero.
    pub demerit_fraction: Option<f64>,
    /// Whether it comes from single response times; otherwise from histograms of three digits.
    pub exact: bool,
    /// Both distributions, by ascending percentile.
    pub points: Vec<DemeritPoint>,
}

/// A point of both distributions.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct DemeritPoint {
    /// Share of the requests with at most these latencies, in percent.
    pub percentile: f64,
    /// Measured response time at this percentile.
    pub measured_ms: f64,
    /// Modelled response time at this percentile.
    pub model_ms: f64,
}
