//! The steps before the measured phase: a search for the load, a curve over parts of it, or both.

use std::sync::Arc;
use std::time::Duration;

use measure::display::number::{figure, limit};
use measure::result::{SearchEnd, TuningResult};

use super::plan::{LoadSearch, RunPlan};
use super::ticks::Tick;
use crate::profile::{FindLoad, SearchTimes};
use crate::progress::{PhaseEstimate, Remaining};
use crate::tuning::{Axis, Curve, Cycle, CycleSettings, Goal, Search, SearchSettings, Step};

/// A search for the highest rate begins with this one where none is asked for, I/Os per second.
const FIRST_RATE: f64 = 100.0;

/// The highest rate that a search begins with.
const MOST_FIRST: f64 = 2_000.0;

/// Part of a rate that is asked for that is tried first.
const FIRST_OF_ASKED: f64 = 0.25;

/// The lowest and the highest rate that are tried, I/Os per second.
const LEAST_RATE: u32 = 10;
const MOST_RATE: u32 = 100_000_000;

/// Parts of a window whose averages are judged as samples, at least.
const FEWEST_JUDGED: f64 = 8.0;

/// The load that shall run now.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TunedLoad {
    /// So many sessions.
    Sessions(u32),
    /// This rate of database reads and writes per second.
    Rate(f64),
}

/// Steps under way.
pub struct Tuner {
    search: Option<Search>,
    curve: Curve,
    /// The held rate, if the steps are parts of it.
    asked_iops: Option<f64>,
    held_fraction: f64,
    /// Sessions that carry out a held rate.
    sessions: u32,
    settings: CycleSettings,
    cycle: Cycle,
    times: SearchTimes,
    /// Samples to let pass after the last change, once the steps are over.
    settling: usize,
}

impl Tuner {
    /// The tuner of a run; `None` when its load is given.
    pub fn new(plan: &RunPlan) -> Option<Self> {
        let search = plan.search();
        let axis = match (search, plan.fixed_sessions) {
            (LoadSearch::None, _) => return None,
            (LoadSearch::Threads, _) => Axis::Threads,
            (_, sessions) => Axis::Rate {
                sessions: sessions.unwrap_or(plan.tuning.maximum_threads),
            },
        };
        let times = plan.tuning.times(&plan.run);
        let settings = cycle_settings(plan, times);
        let searches = search != LoadSearch::CurveOnly;
        let parts_percent = match axis {
            Axis::Threads => &[],
            Axis::Rate { .. } => plan.tuning.curve_percent.as_slice(),
        };
        let mut tuner = Self {
            search: searches.then(|| Search::new(search_settings(plan, axis, times))),
            curve: Curve::new(parts_percent),
            asked_iops: plan.run.held_rate,
            held_fraction: match plan.tuning.find {
                FindLoad::MaxIops => plan.tuning.held_percent / 100.0,
                FindLoad::None => 1.0,
            },
            sessions: match axis {
                Axis::Rate { sessions } => sessions,
                Axis::Threads => 0,
            },
            settling: settings.transient_samples,
            cycle: Cycle::new(settings.clone(), None),
            settings,
            times,
        };
        tuner.begin_step();
        Some(tuner)
    }

    /// Length of a tick.
    pub fn interval_ns(&self) -> u64 {
        (self.times.sample_s * 1e9) as u64
    }

    /// The load that shall run now.
    pub fn load(&self) -> TunedLoad {
        let found = match self.search.as_ref().map(Search::step) {
            Some(Step::Try(load)) => return self.load_of(load),
            Some(Step::Done(load)) => self.load_of(load),
            None => TunedLoad::Rate(self.asked_iops.unwrap_or(FIRST_RATE)),
        };
        let TunedLoad::Rate(base_iops) = found else {
            return found;
        };
        match self.curve.next_percent() {
            Some(percent) => TunedLoad::Rate(base_iops * percent / 100.0),
            None if self.search.is_some() => TunedLoad::Rate(base_iops * self.held_fraction),
            None => TunedLoad::Rate(self.highest_of_curve().unwrap_or(base_iops)),
        }
    }

    fn load_of(&self, load: u32) -> TunedLoad {
        match self.search.as_ref().map(Search::axis) {
            Some(Axis::Threads) => TunedLoad::Sessions(load),
            _ => TunedLoad::Rate(f64::from(load)),
        }
    }

    /// Of a held rate that was not carried, or not with every level met: the highest part of it that was, else
    /// the lowest that was tried.
    fn highest_of_curve(&self) -> Option<f64> {
        let (missed, _) = self.curve.first_missed()?;
        if missed.percent > Some(100.0) {
            return None;
        }
        let highest = self.curve.highest_kept().or(self.curve.steps().first())?;
        highest.rate_iops
    }

    /// Whether a load is being tried.
    fn is_trying(&self) -> bool {
        let searching = self.search.as_ref().map(Search::step);
        matches!(searching, Some(Step::Try(_))) || self.curve.next_percent().is_some()
    }

    /// Whether the steps are over and the load that they have led to has settled.
    pub fn is_done(&self) -> bool {
        !self.is_trying() && self.settling == 0
    }

    fn begin_step(&mut self) {
        let asked = match self.load() {
            TunedLoad::Rate(iops) => Some(iops),
            TunedLoad::Sessions(_) => None,
        };
        self.cycle = Cycle::new(self.settings.clone(), asked);
    }

    /// Takes a tick into account; a sentence when a load has been judged.
    pub fn take(&mut self, tick: &Tick) -> Option<String> {
        if !self.is_trying() {
            self.settling = self.settling.saturating_sub(1);
            return None;
        }
        let judged = self.cycle.take(&tick.io)?;
        let tried = self.load();
        let what = match (&mut self.search, tried) {
            (Some(search), _) if matches!(search.step(), Step::Try(_)) => {
                search.judged(&judged);
                "tuning"
            }
            (_, TunedLoad::Rate(iops)) => {
                self.curve.judged(&judged, self.sessions, iops);
                "curve"
            }
            (_, TunedLoad::Sessions(_)) => return None,
        };
        let next = self.load();
        if next == tried {
            self.settling = 0;
        }
        self.begin_step();
        let what_next = if self.is_trying() { "next" } else { "chosen" };
        let gives = match tried {
            TunedLoad::Sessions(1) => "gives",
            TunedLoad::Sessions(_) => "give",
            TunedLoad::Rate(_) => "asked,",
        };
        Some(format!(
            "{what}: {} {gives} {} IOPS: {}; {what_next}: {}",
            tried.in_words(),
            figure(judged.achieved_iops),
            judged.finding,
            next.in_words()
        ))
    }

    /// What is done now, and how long it takes.
    pub fn estimate(&self, elapsed: Duration) -> PhaseEstimate {
        let load = self.load().in_words();
        let (parts, judged) = self.curve.counts();
        let step_s = self.times.shortest_step_s;
        let curve_s = (parts - judged) as f64 * step_s;
        let search = self
            .search
            .as_ref()
            .filter(|one| matches!(one.step(), Step::Try(_)));
        let Some(search) = search else {
            let text = match self.is_trying() {
                true => format!("step {} of {parts} of the curve, {load}", judged + 1),
                false => format!("settling at {load}"),
            };
            return PhaseEstimate {
                text,
                remaining: Remaining::About(Duration::from_secs_f64(curve_s)),
            };
        };
        let left = Duration::from_secs_f64(self.times.search_s).saturating_sub(elapsed);
        let left_s = left.as_secs_f64() + curve_s;
        let text = format!("step {} of the search, {load}", search.tried() + 1);
        let remaining = match search.steps_left() {
            Some(steps) => {
                let about_s = (f64::from(steps) * step_s + curve_s).min(left_s);
                Remaining::About(Duration::from_secs_f64(about_s))
            }
            None => Remaining::AtMost(Duration::from_secs_f64(left_s)),
        };
        PhaseEstimate { text, remaining }
    }

    /// What was tried and found so far.
    pub fn result(&self) -> TuningResult {
        let mut result = match &self.search {
            Some(search) => search.result(),
            None => self.result_of_curve(),
        };
        result.curve = self.curve.steps().to_vec();
        result.knee_iops = self.curve.knee_iops();
        if !self.is_trying()
            && let TunedLoad::Rate(iops) = self.load()
        {
            result.chosen = format!("{} IOPS", limit(iops.round()));
            result.held_percent = self.search.is_some().then_some(100.0 * self.held_fraction);
        }
        result
    }

    fn result_of_curve(&self) -> TuningResult {
        let asked = self.asked_iops.unwrap_or_default();
        let goal = format!("Response times at parts of {} IOPS.", limit(asked));
        let highest = self.curve.highest_kept();
        let missed = self.curve.first_missed();
        let missed = missed.filter(|(step, _)| step.percent <= Some(100.0));
        TuningResult {
            goal,
            reached: !self.is_trying() && missed.is_none(),
            target_iops: Some(asked),
            maximum_iops: highest.map(|step| step.achieved_iops),
            ended: match missed {
                _ if self.is_trying() => SearchEnd::Unknown,
                Some(_) => SearchEnd::ServiceLevel,
                None => SearchEnd::RateReached,
            },
            stopped_by: missed.and_then(|(_, id)| id),
            ..TuningResult::default()
        }
    }
}

impl TunedLoad {
    /// `1 thread`, `2 threads`, `1,200 IOPS`.
    fn in_words(self) -> String {
        match self {
            Self::Sessions(1) => "1 thread".to_owned(),
            Self::Sessions(count) => format!("{count} threads"),
            Self::Rate(iops) => format!("{} IOPS", limit(iops.round())),
        }
    }
}

fn cycle_settings(plan: &RunPlan, times: SearchTimes) -> CycleSettings {
    let tuning = &plan.tuning;
    // Found with a margin, a load does not fail by chance in the measured phase.
    let margin = 1.0 - tuning.rate_margin_percent / 100.0;
    let mut levels = plan.service_levels.clone();
    levels.average_database_read_ms *= margin;
    levels.average_log_write_ms *= margin;
    levels.achieved_margin_fraction = search_margin(plan);
    CycleSettings {
        transient_samples: tuning.transient_samples as usize,
        stable_samples: tuning.stable_samples as usize,
        settled_slope_ms: tuning.settled_slope_ms,
        settle_limit_s: times.settle_s,
        levels,
        planned_s: plan.run.duration.as_seconds(),
        judged_sample_s: (times.window_s / FEWEST_JUDGED)
            .min(plan.run.sample_interval().as_seconds())
            .max(times.sample_s),
        steady: plan.run.steady_state.rule(),
        layout: Arc::clone(&plan.layout),
    }
}

/// Half of what the verdict allows, so that the measured phase has the other half.
fn search_margin(plan: &RunPlan) -> f64 {
    (plan.tuning.rate_margin_percent / 200.0).min(1.0)
}

fn search_settings(plan: &RunPlan, axis: Axis, times: SearchTimes) -> SearchSettings {
    let (tuning, target) = (&plan.tuning, plan.target_iops);
    let rate_margin = search_margin(plan);
    let shared = SearchSettings {
        goal: Goal::Rate(target),
        axis,
        asked_iops: None,
        rate_margin,
        start: tuning.start_threads,
        minimum: (plan.shards.len() as u32).min(tuning.maximum_threads),
        maximum: tuning.maximum_threads,
        total_limit_s: times.search_s,
        step_s: times.shortest_step_s,
    };
    if axis == Axis::Threads {
        return shared;
    }
    let asked = plan.run.held_rate;
    // A rate that is asked for may be far beyond what is carried: the search comes from below.
    let first = asked.map(|asked| (asked * FIRST_OF_ASKED).max(FIRST_RATE));
    let first = first.or(Some(target).filter(|target| *target > 0.0));
    SearchSettings {
        goal: Goal::Maximum,
        asked_iops: asked,
        start: Some(first.unwrap_or(FIRST_RATE).min(MOST_FIRST).ceil() as u32),
        minimum: LEAST_RATE,
        maximum: MOST_RATE,
        ..shared
    }
}
