//! How many sessions run and at what rate: fixed, held, or tuned.

use super::load::Loop;
use super::plan::RunPlan;
use super::ticks::Tick;
use crate::pacing::rate::{Counted, RateController};
use crate::profile::{Run, Tuning};
use crate::progress::{PhaseEstimate, Remaining};
use crate::tuning::{Cycle, CycleSettings, Goal, Search, SearchSettings, Step};
use measure::result::TuningResult;
use std::time::Duration;

/// I/Os per operation to begin with; the measured number takes over within seconds.
const FIRST_GUESS: f64 = 1.5;
/// Shortest tuning sample of a run that is too short for the ones of the profile, in seconds.
const SHORTEST_TUNING_SAMPLE_S: f64 = 0.1;
/// Cycles that a tuning should find time for.
const CYCLES: f64 = 8.0;

/// Decides the strength of the load.
pub struct LoadControl {
    sessions: u32,
    operations_per_transaction: f64,
    rate: Option<RateController>,
    tuner: Option<Tuner>,
}

struct Tuner {
    search: Search,
    settings: CycleSettings,
    cycle: Cycle,
    interval_ns: u64,
    total_limit_s: f64,
    /// Samples to let pass after the last change, once the search is over.
    settling: usize,
}

impl LoadControl {
    /// The load_control of a run.
    #[must_use]
    pub fn new(plan: &RunPlan) -> Self {
        let operations = f64::from(plan.operations_per_transaction);
        let rate = match plan.how {
            Loop::Open { .. } => plan.run.held_rate,
            Loop::Closed(_) => None,
        };
        let fixed = plan.fixed_sessions;
        let tuner = fixed.is_none().then(|| Tuner::new(plan));
        let first = tuner.as_ref().map(|tuner| match tuner.search.step() {
            Step::Try(sessions) | Step::Done(sessions) => sessions,
        });
        Self {
            sessions: fixed.or(first).unwrap_or(1),
            operations_per_transaction: operations,
            rate: rate.map(|iops| RateController::new(iops, FIRST_GUESS)),
            tuner,
        }
    }

    /// Sessions over all shards.
    #[must_use]
    pub fn sessions(&self) -> u32 {
        self.sessions
    }

    /// Arrivals of an open loop over all shards.
    #[must_use]
    pub fn transactions_per_second(&self) -> f64 {
        let operations = self
            .rate
            .as_ref()
            .map_or(0.0, RateController::operations_per_second);
        operations / self.operations_per_transaction
    }

    /// Counts what the held rate falls short by anew.
    pub fn forget_shortfall(&mut self) {
        if let Some(rate) = &mut self.rate {
            rate.forget_shortfall();
        }
    }

    /// Takes a tick of the warm-up or the measured phase into account.
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
            .map_or(1_000_000_000, |tuner| tuner.interval_ns)
    }

    /// Takes a tick of the tuning into account; a sentence when a number has been judged.
    pub fn tune(&mut self, tick: &Tick) -> Option<String> {
        let tuner = self.tuner.as_mut()?;
        if let Step::Done(_) = tuner.search.step() {
            tuner.settling = tuner.settling.saturating_sub(1);
            return None;
        }
        let judged = tuner.cycle.take(&tick.io)?;
        let tried = self.sessions;
        tuner.search.judged(&judged);
        let (sessions, what_next) = match tuner.search.step() {
            Step::Try(sessions) => (sessions, "next"),
            Step::Done(sessions) => (sessions, "chosen"),
        };
        tuner.cycle = Cycle::new(tuner.settings.clone());
        if sessions == tried {
            tuner.settling = 0;
        }
        self.sessions = sessions;
        Some(format!(
            "tuning: {} {} {:.0} IOPS: {}; {what_next}: {}",
            threads(tried),
            if tried == 1 { "gives" } else { "give" },
            judged.achieved_iops,
            judged.finding,
            threads(sessions)
        ))
    }

    /// What the tuning is at, and when it ends at the latest.
    #[must_use]
    pub fn estimate(&self, elapsed: Duration) -> Option<PhaseEstimate> {
        let tuner = self.tuner.as_ref()?;
        let text = match tuner.search.step() {
            Step::Try(_) => format!("trial {}", tuner.search.result().steps.len() + 1),
            Step::Done(sessions) => format!("settling at {}", threads(sessions)),
        };
        let limit = Duration::from_secs_f64(tuner.total_limit_s);
        Some(PhaseEstimate {
            text,
            remaining: Remaining::AtMost(limit.saturating_sub(elapsed)),
        })
    }

    /// Whether the tuning has found its number and the load has settled at it.
    #[must_use]
    pub fn is_tuned(&self) -> bool {
        self.tuner
            .as_ref()
            .is_none_or(|tuner| matches!(tuner.search.step(), Step::Done(_)) && tuner.settling == 0)
    }

    /// What the tuning tried and found; `None` when nothing was tuned.
    #[must_use]
    pub fn tuning_result(&self) -> Option<TuningResult> {
        self.tuner.as_ref().map(|tuner| tuner.search.result())
    }
}

/// `1 thread`, `2 threads`.
fn threads(count: u32) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{count} thread{ending}")
}

impl Tuner {
    fn new(plan: &RunPlan) -> Self {
        let (tuning, interval_s) = scaled(&plan.tuning, &plan.run);
        let levels = &plan.service_levels;
        // Found with a margin, a number does not fail by chance in the measured phase.
        let margin = 1.0 - tuning.rate_margin_percent / 100.0;
        let settings = CycleSettings {
            transient_samples: tuning.transient_samples as usize,
            stable_samples: tuning.stable_samples as usize,
            settled_slope_ms: tuning.settled_slope_ms,
            settle_limit_s: tuning.settle_limit.as_seconds(),
            database_read_limit_ms: levels.average_database_read_ms * margin,
            log_write_limit_ms: levels.average_log_write_ms * margin,
            stalls_per_second_limit: levels.page_fault_stalls_per_second * plan.databases() as f64,
        };
        let target = plan.target_iops;
        let search = Search::new(SearchSettings {
            goal: if target > 0.0 {
                Goal::Rate(target)
            } else {
                Goal::Maximum
            },
            // Half of what the verdict allows, so that the measured phase has the other half.
            rate_margin: (tuning.rate_margin_percent / 200.0).min(1.0),
            start: tuning.start_threads,
            minimum: (plan.shards.len() as u32).min(tuning.maximum_threads),
            maximum: tuning.maximum_threads,
            total_limit_s: tuning.total_limit.as_seconds(),
        });
        Self {
            search,
            cycle: Cycle::new(settings.clone()),
            settling: settings.transient_samples,
            settings,
            interval_ns: (interval_s * 1e9) as u64,
            total_limit_s: tuning.total_limit.as_seconds(),
        }
    }
}

/// The tuning of the profile, with its times cut down for a run that is shorter than they are.
fn scaled(tuning: &Tuning, run: &Run) -> (Tuning, f64) {
    let mut tuning = tuning.clone();
    tuning.total_limit = tuning.longest(run);
    let total_s = tuning.total_limit.as_seconds();
    let samples = f64::from(tuning.transient_samples + tuning.stable_samples);
    let wanted_s = tuning.sample_interval.as_seconds();
    let fitting_s = (total_s / CYCLES / samples).max(SHORTEST_TUNING_SAMPLE_S);
    let interval_s = wanted_s.min(fitting_s);
    let scale = interval_s / wanted_s;
    let limit_s = tuning.settle_limit.as_seconds() * scale;
    tuning.settle_limit.0 = (limit_s * 1e9) as u64;
    (tuning, interval_s)
}
