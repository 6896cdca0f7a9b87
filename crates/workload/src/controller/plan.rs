//! What a run does, whatever its workload.

use super::coordination::Together;
use super::load::Loop;
use crate::pacing::turns::Division;
use crate::profile::{FindLoad, Run, TimeSpan, Tuning, WarmUpLength};
use crate::progress::Clients;
use measure::recompute::InterruptedRun;
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

/// What happens between warm-up and measured phase.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadSearch {
    /// Nothing: the load is given.
    None,
    /// The number of sessions is found.
    Threads,
    /// The highest rate is found, and response times at parts of it if they are asked for.
    Maximum,
    /// Response times are measured at parts of the held rate.
    CurveOnly,
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
    /// How the load is divided over the databases.
    pub division: Division,
    /// Transactions per second over all databases that an open loop holds instead of a rate of I/O.
    pub held_transactions_per_second: Option<f64>,
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
    /// Where the copies lie that are put in the places of the databases first, if that is to be done.
    pub restored_from: Option<String>,
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
    /// The run that this one goes on with, if it does; on the same databases and kinds of operations.
    pub interrupted: Option<Arc<InterruptedRun>>,
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
    /// The passive copies that follow a load, if there are any.
    pub replication: Option<ReplicationPlan>,
}

/// How databases are backed up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BackupPlan {
    /// Whether the sessions run meanwhile.
    pub under_load: bool,
    /// Where the copies go; empty when the databases are only read.
    pub copied_to: String,
}

/// Passive copies of the databases.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReplicationPlan {
    /// The directory that holds them.
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

    /// How long the load is still to be measured: all of the measured phase, or what an interruption has
    /// left of it.
    #[must_use]
    pub fn measured_length(&self) -> TimeSpan {
        let measured_s = self
            .interrupted
            .as_ref()
            .map_or(0.0, |run| run.totals.measured_s());
        let left_s = self.run.duration.as_seconds() - measured_s;
        // A sample may end a little early.
        match left_s < self.run.sample_interval().as_seconds() / 2.0 && measured_s > 0.0 {
            true => TimeSpan(0),
            false => TimeSpan((left_s * 1e9) as u64),
        }
    }

    /// What is looked for, or tried, before the measured phase. A run that goes on has found its load.
    #[must_use]
    pub fn search(&self) -> LoadSearch {
        if self.interrupted.is_some() {
            return LoadSearch::None;
        }
        let is_open = matches!(self.how, Loop::Open { .. });
        match (self.tuning.find, self.fixed_sessions) {
            (FindLoad::MaxIops, _) if is_open => LoadSearch::Maximum,
            (_, None) => LoadSearch::Threads,
            _ if is_open && !self.tuning.curve_percent.is_empty() => LoadSearch::CurveOnly,
            _ => LoadSearch::None,
        }
    }

    /// Deals `sessions` over the shards by their numbers of databases, every shard at least one.
    #[must_use]
    pub fn deal_sessions(&self, sessions: u32) -> Vec<u32> {
        if !self.division.weights.is_empty() {
            return self.deal_by_weight(sessions);
        }
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

    /// Deals sessions by the shares of the shards, with the rest to those that are left most short.
    fn deal_by_weight(&self, sessions: u32) -> Vec<u32> {
        let wanted = (0..self.shards.len()).map(|shard| self.share_of(shard) * f64::from(sessions));
        let wanted: Vec<f64> = wanted.collect();
        let mut dealt: Vec<u32> = wanted
            .iter()
            .map(|wanted| (*wanted as u32).max(1))
            .collect();
        while dealt.iter().sum::<u32>() < sessions {
            let short = |shard: &usize| wanted[*shard] - f64::from(dealt[*shard]);
            let shards = 0..self.shards.len();
            let next = shards.max_by(|a, b| short(a).total_cmp(&short(b)));
            dealt[next.unwrap_or(0)] += 1;
        }
        dealt
    }

    /// The share of the whole load that a shard carries.
    #[must_use]
    pub fn share_of(&self, shard: usize) -> f64 {
        self.division
            .share_of(&self.shards[shard], self.databases())
    }
}
