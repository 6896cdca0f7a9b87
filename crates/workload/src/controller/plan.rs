//! What a run does, whatever its workload.

use super::coordination::Together;
use super::load::Loop;
use crate::profile::{Run, Tuning, WarmUpLength};
use crate::progress::Clients;
use measure::sample::Layout;
use measure::service_level::ServiceLevels;
use std::sync::Arc;

/// Seconds of arrivals that may wait for a session before arrivals are dropped.
pub const BACKLOG_S: f64 = 10.0;

/// What must be steady.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SteadyBy {
    /// The rate of database reads and writes.
    Rate,
    /// The average latency of database reads, for where the rate is held: it is then steady
    /// whatever the storage does.
    ReadLatency,
}

/// Everything that the sequence of a run depends on. The same for all of its threads.
#[derive(Debug, Clone)]
pub struct RunPlan {
    /// How long the run lasts and what it samples.
    pub run: Run,
    /// How the number of sessions is found.
    pub tuning: Tuning,
    /// The limits that decide the verdict.
    pub service_levels: ServiceLevels,
    /// Names of the databases and of the operations.
    pub layout: Arc<Layout>,
    /// The databases of each shard.
    pub shards: Vec<Vec<usize>>,
    /// What the sessions are called.
    pub clients: Clients,
    /// When transactions begin: after the last one, or at a held rate.
    pub how: Loop,
    /// Operations in one transaction.
    pub operations_per_transaction: u32,
    /// Sessions to run; `None`: their number is tuned.
    pub fixed_sessions: Option<u32>,
    /// Database reads and writes per second that the workload is to reach, unless a rate is held;
    /// 0: it has no such target.
    pub target_iops: f64,
    /// Size of each database when it has been built.
    pub database_bytes: u64,
    /// Size of a database page.
    pub page_bytes: u64,
    /// Whether the databases of an earlier run are expected to be there.
    pub reuse: bool,
    /// Whether the run ends when the databases have been built.
    pub build_only: bool,
    /// How long the warm-up lasts.
    pub warm_up: WarmUpLength,
    /// What is looked at to say whether the run was steady.
    pub steady_by: SteadyBy,
    /// What the run does besides a load that is measured, or in place of it.
    pub tests: Tests,
    /// The other processes that run the same load, if there are any.
    pub together: Together,
}

/// The tests of a run, in their order.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Tests {
    /// Whether there is no load that is measured.
    pub without_measured_phase: bool,
    /// The backup, if there is one.
    pub backup: Option<BackupPlan>,
    /// The soft recovery, if there is one.
    pub recovery: Option<RecoveryPlan>,
}

/// How databases are backed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupPlan {
    /// Whether the sessions run meanwhile.
    pub under_load: bool,
    /// Where the copies go; empty when the databases are only read.
    pub copied_to: String,
}

/// How databases are recovered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveryPlan {
    /// Log files that each database has to replay.
    pub log_files: u32,
    /// Bytes of a log file.
    pub log_file_bytes: u64,
}

impl RunPlan {
    /// The databases of all shards.
    #[must_use]
    pub fn databases(&self) -> usize {
        self.shards.iter().map(Vec::len).sum()
    }

    /// The rate that the run shall reach: the held one, else that of the workload; `None` when none
    /// is asked for.
    #[must_use]
    pub fn rate_to_reach(&self) -> Option<f64> {
        let rate = self.run.held_rate.unwrap_or(self.target_iops);
        Some(rate).filter(|&rate| rate > 0.0)
    }

    /// Deals `sessions` over the shards by their numbers of databases, every shard at least one.
    #[must_use]
    pub fn deal_sessions(&self, sessions: u32) -> Vec<u32> {
        let databases = self.databases();
        let mut dealt = vec![0; self.shards.len()];
        // Session by session to the database that is next, as the databases were dealt themselves.
        for session in 0..sessions as usize {
            dealt[session % databases % self.shards.len()] += 1;
        }
        dealt
            .iter()
            .map(|&sessions| u32::max(sessions, 1))
            .collect()
    }

    /// The share of the whole load that a shard carries.
    #[must_use]
    pub fn share_of(&self, shard: usize) -> f64 {
        self.shards[shard].len() as f64 / self.databases() as f64
    }
}
