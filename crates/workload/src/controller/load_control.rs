//! How many sessions run and at what rate: fixed, held, or tuned.

use super::load::Loop;
use super::plan::{BACKLOG_S, RunPlan};
use super::ticks::Tick;
use super::tuner::{TunedLoad, Tuner};
use crate::pacing::rate::{Counted, RateController};
use crate::progress::PhaseEstimate;
use measure::metric::IoMetric;
use measure::result::{RunResult, TuningResult};
use std::time::Duration;

/// I/Os per operation to begin with; the measured number takes over within seconds.
const FIRST_GUESS: f64 = 1.5;

/// A controller that begins with a guess, or with what was measured before an interruption.
fn rate_controller(plan: &RunPlan, iops: f64) -> RateController {
    let before = plan.interrupted.as_ref().map(|run| &run.result);
    let per_operation = |result: &RunResult, rate: Option<f64>| {
        let rate = rate? / result.throughput.operations_per_second;
        Some(rate).filter(|rate| rate.is_finite() && *rate >= 0.0)
    };
    let known = before.and_then(|result| {
        let reads = per_operation(result, result.totals.reads.get(IoMetric::Rate))?;
        let writes = per_operation(result, result.totals.writes.get(IoMetric::Rate))?;
        (reads + writes > 0.0).then_some((reads, writes))
    });
    match known {
        Some((reads, writes)) => RateController::knowing(iops, reads, writes),
        None => RateController::new(iops, FIRST_GUESS),
    }
}

/// Decides the strength of the load.
pub struct LoadControl {
    sessions: u32,
    operations_per_transaction: f64,
    held_transactions_per_second: Option<f64>,
    rate: Option<RateController>,
    tuner: Option<Tuner>,
    /// What was found before the run was interrupted, if it was and something was.
    found: Option<TuningResult>,
    /// How often the load has been changed.
    changes: u32,
}

impl LoadControl {
    /// The load control of a run.
    #[must_use]
    pub fn new(plan: &RunPlan) -> Self {
        let operations = f64::from(plan.operations_per_transaction);
        let held = match plan.how {
            Loop::Open { .. } => plan.run.held_rate,
            Loop::Closed(_) => None,
        };
        let tuner = Tuner::new(plan);
        let first = tuner.as_ref().map(Tuner::load);
        let (tuned_sessions, tuned_rate) = match first {
            Some(TunedLoad::Sessions(sessions)) => (Some(sessions), None),
            Some(TunedLoad::Rate(iops)) => (None, Some(iops)),
            None => (None, None),
        };
        let earlier = plan.interrupted.as_ref().map(|run| &run.result);
        let found = earlier.and_then(|result| result.tuning.clone());
        let earlier = earlier.filter(|_| found.is_some());
        let earlier = earlier.map(|result| &result.throughput);
        let earlier_sessions = earlier.and_then(|load| u32::try_from(load.threads?).ok());
        let earlier_rate = earlier.and_then(|load| load.rate_iops);
        let rate = earlier_rate.or(tuned_rate).or(held);
        let sessions = earlier_sessions.or(plan.fixed_sessions).or(tuned_sessions);
        Self {
            sessions: sessions.unwrap_or(1),
            operations_per_transaction: operations,
            held_transactions_per_second: plan.held_transactions_per_second,
            rate: rate.map(|iops| rate_controller(plan, iops)),
            tuner,
            found,
            changes: 0,
        }
    }

    /// Sessions over all shards.
    #[must_use]
    pub fn sessions(&self) -> u32 {
        self.sessions
    }

    /// How often the load has been changed: what waits since before a change is not part of it.
    #[must_use]
    pub fn changes(&self) -> u32 {
        self.changes
    }

    /// The held rate of database reads and writes per second; `None` in a closed loop.
    #[must_use]
    pub fn held_iops(&self) -> Option<f64> {
        self.rate.as_ref().map(RateController::target_iops)
    }

    /// The rate that the run is to reach: what was asked for, else what a search has led to.
    #[must_use]
    pub fn rate_to_reach(&self, plan: &RunPlan) -> Option<f64> {
        let is_found = self.tuner.is_some() || self.found.is_some();
        let found = self.held_iops().filter(|_| is_found);
        plan.run.held_rate.or(found).or(plan.rate_to_reach())
    }

    /// Arrivals of an open loop over all shards.
    #[must_use]
    pub fn transactions_per_second(&self) -> f64 {
        if let Some(held) = self.held_transactions_per_second {
            return held;
        }
        let operations = self
            .rate
            .as_ref()
            .map_or(0.0, RateController::operations_per_second);
        operations / self.operations_per_transaction
    }

    /// Arrivals that may wait at the held rate.
    #[must_use]
    pub fn backlog_limit(&self) -> usize {
        // An operation causes about one I/O or more.
        let of_iops = self.held_iops().unwrap_or(0.0) / self.operations_per_transaction;
        let per_second = self.held_transactions_per_second.unwrap_or(of_iops);
        (per_second * BACKLOG_S).ceil() as usize
    }

    /// Counts what the held rate falls short by anew.
    pub fn forget_shortfall(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.forget_shortfall();
        }
    }

    /// Takes a tick of the load into account.
    pub fn follow(&mut self, tick: &Tick) {
        if let Some(rate) = &mut self.rate {
            let reads = tick.io.databases.iter().map(|one| one.reads).sum();
            rate.update(Counted {
                length_s: tick.io.length_s,
                reads,
                writes: tick.io.ios.saturating_sub(reads),
                operations: tick.operations,
            });
        }
    }

    /// Length of a tick while tuning.
    #[must_use]
    pub fn tuning_interval_ns(&self) -> u64 {
        self.tuner
            .as_ref()
            .map_or(1_000_000_000, Tuner::interval_ns)
    }

    /// Takes a tick of the tuning into account; a sentence when a load has been judged.
    pub fn tune(&mut self, tick: &Tick) -> Option<String> {
        self.follow(tick);
        let tuner = self.tuner.as_mut()?;
        let before = tuner.load();
        let text = tuner.take(tick)?;
        let now = tuner.load();
        if now != before {
            self.changes += 1;
        }
        match (now, &mut self.rate) {
            (TunedLoad::Sessions(sessions), _) => self.sessions = sessions,
            (TunedLoad::Rate(iops), Some(rate)) => rate.set_target(iops),
            (TunedLoad::Rate(_), None) => {}
        }
        Some(text)
    }

    /// What the tuning is at, and when it ends.
    #[must_use]
    pub fn estimate(&self, elapsed: Duration) -> Option<PhaseEstimate> {
        Some(self.tuner.as_ref()?.estimate(elapsed))
    }

    /// Whether the tuning has found its load and the load has settled at it.
    #[must_use]
    pub fn is_tuned(&self) -> bool {
        self.tuner.as_ref().is_none_or(Tuner::is_done)
    }

    /// What the tuning tried and found; `None` when nothing was tuned.
    #[must_use]
    pub fn tuning_result(&self) -> Option<TuningResult> {
        let found = self.tuner.as_ref().map(Tuner::result);
        found.or_else(|| self.found.clone())
    }
}
