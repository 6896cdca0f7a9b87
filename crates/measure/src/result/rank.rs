//! One process of a run on several hosts.

use serde::{Deserialize, Serialize};

use super::{Cause, Verdict};

/// One process (rank) of a run on several hosts: what it is, and what came out on it. Everything else of
/// it stands in its own run directory.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RankResult {
    /// Its number, from 0.
    pub rank: u64,
    /// Name of the host it ran on.
    pub host: String,
    /// Its run directory, below that of the whole run; empty when nothing has arrived from it.
    pub directory: String,
    /// Why nothing more was heard of it, as a sentence; empty when it was there to the end.
    pub lost: String,
    /// Whether its run has come to its end.
    pub complete: bool,
    /// The verdict of this rank alone.
    pub verdict: Verdict,
    /// Why that is its verdict.
    pub verdict_reason: String,
    /// What may have decided its run besides the storage.
    pub causes: Vec<Cause>,
    /// Its time of day minus that of rank 0 before the load; null when it was not measured.
    pub clock_offset_ms: Option<f64>,
    /// The same after the load.
    pub clock_offset_end_ms: Option<f64>,
    /// How far the clock offsets may be wrong: half of the fastest round trip to rank 0.
    pub clock_uncertainty_ms: Option<f64>,
    /// Begin of its measured phase after that of rank 0, with the same uncertainty; null when there was none.
    pub start_skew_ms: Option<f64>,
    /// Logical CPUs of its host.
    pub cpus: u64,
    /// Memory of its host.
    pub memory_bytes: u64,
    /// Number of databases of this rank.
    pub databases: u64,
    /// Length of its measured phase.
    pub duration_s: f64,
    /// Database reads plus writes per second.
    pub achieved_iops: f64,
    /// What its workload asks for; null without a target.
    pub target_iops: Option<f64>,
    /// Highest average database read latency of its databases; null without reads.
    pub worst_average_database_read_ms: Option<f64>,
    /// Highest average log write latency of its databases; null without log writes.
    pub worst_average_log_write_ms: Option<f64>,
    /// SHA-256 of its result document.
    pub document_sha256: String,
}

impl RankResult {
    /// The rank with its host, such as `rank 2 on db4`.
    #[must_use]
    pub fn name(&self) -> String {
        match self.host.as_str() {
            "" => format!("rank {}", self.rank),
            host => format!("rank {} on {host}", self.rank),
        }
    }
}
