//! The sequence of a run: which stage comes when, what is counted, and when it ends.
//!
//! A state machine without threads or waiting of its own. [`RunController::step`] is called every few
//! milliseconds with the time; it takes in the messages of the shards, gives orders, and notifies the
//! listener. So the same code conducts threads on the wall clock and tasks on the virtual one.

mod ends;
mod errors;
mod hung;
#[cfg(test)]
mod measuring_tests;
mod progress;
mod reporting;
mod tests_reports;

use super::link::{CacheState, Inbox, Orders, POLL_NS, ShardMessage, Stage};
use super::listener::RunListener;
use super::load::Loop;
use super::load_control::LoadControl;
use super::outcome::Account;
use super::phase_notice::PhaseNotice;
use super::plan::RunPlan;
use super::second_samples::SecondSamples;
use super::sequence::{stages, stages_after_cut};
use super::service::Service;
use super::steady_load::SteadyLoad;
use super::ticks::{Tick, TickJoiner};
use crate::profile::TimeSpan;
use crate::progress::{Phase, StopRequest};
use ends::Known;
use errors::ErrorNotes;
use hung::Hung;
use measure::host::HostMonitor;
use measure::result::RunResult;
use measure::sample::{Collector, Phase as SamplePhase};
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// The longest tick: the live line changes once a second.
const LONGEST_TICK: TimeSpan = TimeSpan::seconds(1);

/// How long it takes at most, as a rule, until a shard follows an order: its next poll, and some time to spare.
const ORDER_TAKES_NS: u64 = 2 * POLL_NS;

/// An activity shorter than this is not reported.
const SHORTEST_ACTIVITY_NS: u64 = 1_000_000_000;

/// Leads one run through its stages.
pub struct RunController {
    plan: Arc<RunPlan>,
    orders: Vec<Arc<Orders>>,
    inbox: Inbox,
    stop: StopRequest,
    collector: Collector,
    second: SecondSamples,
    ticks: TickJoiner,
    load_control: LoadControl,
    account: Account,
    phase_notice: PhaseNotice,
    stage: Stage,
    /// The stages that follow.
    next_stages: VecDeque<Stage>,
    stage_begun_ns: u64,
    /// How much later than usual the last shard has ended the phase before the measured one, which ends so
    /// much later.
    measuring_late_ns: u64,
    done: usize,
    has_ended: Vec<bool>,
    progress: Vec<u64>,
    /// Bytes that each shard has to handle in the present stage.
    totals: Vec<u64>,
    /// Number and begin (in seconds) of the phase that the last sample belongs to.
    sampled_phase: (u32, f64),
    /// What is being done in this stage, since when, and not reported yet.
    doing: Option<(String, u64)>,
    caches: Vec<CacheState>,
    /// Shards that have not said yet how full theirs were when measuring began.
    fills_to_note: usize,
    steady_load: SteadyLoad,
    /// What is known of the latencies, where the measured phase ends when that is enough.
    known: Option<Known>,
    /// When the caches were as full as the warm-up wants them.
    filled_ns: Option<u64>,
    shed: Vec<u64>,
    service: Service,
    /// Whether the warm-up has done its part.
    is_warm: bool,
    is_tuned: bool,
    /// Whether something happened after which the present stage ends early.
    is_failing: bool,
    error_notes: ErrorNotes,
    hung: Hung,
}

impl RunController {
    /// A run controller for the shards behind these orders. `base` holds what the caller knows already:
    /// workload, target, host, seed, time of start.
    #[must_use]
    pub fn new(
        plan: Arc<RunPlan>,
        orders: Vec<Arc<Orders>>,
        inbox: Inbox,
        monitor: Option<HostMonitor>,
        base: RunResult,
        stop: StopRequest,
    ) -> Self {
        let shards = plan.shards.len();
        assert_eq!(orders.len(), shards);
        let interval_s = plan.run.sample_interval().as_seconds();
        let second = SecondSamples::new(&plan, monitor.as_ref());
        let collector = Collector::new(Arc::clone(&plan.layout), shards, interval_s, monitor);
        let mut account = Account::new(base, Arc::clone(&plan.layout));
        let collector = match &plan.interrupted {
            Some(run) => {
                account.go_on(run, &plan.run.steady_state.rule());
                collector.resuming(run.totals.clone(), run.samples)
            }
            None => collector,
        };
        Self {
            collector,
            second,
            ticks: TickJoiner::new(shards, Arc::clone(&plan.layout)),
            load_control: LoadControl::new(&plan),
            account,
            phase_notice: PhaseNotice::default(),
            stage: Stage::Build,
            next_stages: stages(&plan),
            stage_begun_ns: 0,
            measuring_late_ns: 0,
            done: 0,
            has_ended: vec![false; shards],
            progress: vec![0; shards],
            totals: vec![0; shards],
            sampled_phase: (u32::MAX, 0.0),
            doing: None,
            caches: vec![CacheState::of_fill(0.0); shards],
            fills_to_note: 0,
            steady_load: SteadyLoad::new(&plan.run),
            known: plan.run.until_percent.map(Known::new),
            filled_ns: None,
            shed: vec![0; shards],
            service: Service::default(),
            is_warm: false,
            is_tuned: false,
            is_failing: false,
            error_notes: ErrorNotes::default(),
            hung: Hung::new(shards, plan.run.hung_request_after.as_ns()),
            plan,
            orders,
            inbox,
            stop,
        }
    }

    /// The tick to begin with.
    #[must_use]
    pub fn tick_ns(plan: &RunPlan) -> u64 {
        plan.run.tick(LONGEST_TICK).as_ns()
    }

    /// Begins the run with its first stage.
    pub fn begin(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        let first = self.next_stages.pop_front().unwrap_or(Stage::Build);
        self.enter(first, now_ns, listener);
    }

    /// Takes in what has happened and says what to do next; true when the run is over.
    pub fn step(&mut self, now_ns: u64, listener: &mut dyn RunListener) -> bool {
        for (shard, news) in self.inbox.take() {
            self.take_in(shard, news, now_ns, listener);
        }
        let stop = self.stop.is_stopped();
        self.apply_error_limit(listener);
        self.report_hung(now_ns, listener);
        if self.gave_up() {
            if !matches!(self.stage, Stage::Close | Stage::Verify | Stage::End) {
                self.plan.together.ends_early();
            }
            return true;
        }
        if (stop || self.is_failing) && self.may_be_cut_short() {
            self.cut_short(stop, now_ns, listener);
        } else {
            self.go_on(now_ns, listener);
        }
        self.phase_notice.notify_when_due(now_ns, listener);
        if let Some((text, _)) = self
            .doing
            .take_if(|doing| doing.1 + SHORTEST_ACTIVITY_NS <= now_ns)
        {
            listener.doing(&text);
        }
        self.ended() == self.orders.len()
    }

    /// Shards that have ended.
    fn ended(&self) -> usize {
        self.has_ended.iter().filter(|ended| **ended).count()
    }

    fn take_in(
        &mut self,
        shard: usize,
        news: ShardMessage,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        self.hung.note_message(shard, now_ns);
        match news {
            // It was given up, and everybody has gone on without it.
            _ if self.has_ended[shard] => {}
            ShardMessage::Counts(counts) => {
                self.hung.count(&counts, now_ns);
                if self.stage == Stage::Measure && counts.phase != SamplePhase::Measured {
                    let usual_ns = self.stage_begun_ns + ORDER_TAKES_NS;
                    let late_ns = counts.ends_ns.saturating_sub(usual_ns);
                    self.measuring_late_ns = self.measuring_late_ns.max(late_ns);
                }
                let tick = self.ticks.accept(&counts);
                // Before the first series, with which the result is written that says how far both reach.
                self.second.accept(&counts, listener);
                for sample in self.collector.accept(*counts) {
                    self.report_sample(&sample, listener);
                }
                if let Some(tick) = tick {
                    self.follow(&tick, now_ns, listener);
                }
            }
            ShardMessage::Done(stage) if stage == self.stage => self.done += 1,
            ShardMessage::Done(_) => {}
            ShardMessage::ToHandle(bytes) => self.enter_total(shard, bytes, now_ns, listener),
            ShardMessage::Progress(bytes) => self.enter_progress(shard, bytes, listener),
            ShardMessage::OnStep(text) => self.doing = Some((text, now_ns)),
            ShardMessage::Caches(state) => self.enter_caches(shard, state),
            ShardMessage::Backlog { shed, .. } => self.shed[shard] = shed,
            ShardMessage::Service { out_since_ns } => self.service.note(out_since_ns),
            ShardMessage::Note(text) => {
                listener.note(&text);
                self.account.note(text);
            }
            ShardMessage::Hung(report) => self.enter_hung(shard, report, now_ns, listener),
            ShardMessage::Met(errors) => self.enter_errors(errors, now_ns, listener),
            ShardMessage::NotVerified { database } => self.enter_not_verified(database),
            ShardMessage::Verified { database, report } => {
                self.enter_verified(database, &report, now_ns, listener);
            }
            ShardMessage::BuildGoesOn {
                database,
                found_bytes,
            } => self.enter_build(database, found_bytes, listener),
            ShardMessage::Restored { database, report } => {
                self.enter_restore(database, &report, listener);
            }
            ShardMessage::BackedUp { database, report } => self.enter_backup(database, &report),
            ShardMessage::CopyChecked { database, report } => self.enter_copy(database, report),
            ShardMessage::Seeded { database, report } => self.enter_seeded(database, report),
            ShardMessage::Compared { database, report } => self.enter_compared(database, report),
            ShardMessage::Replayed { database, report } => self.enter_replay(database, &report),
            ShardMessage::Failed(failure) => self.fail(&failure, now_ns, listener),
            ShardMessage::Ended => {
                self.end_shard(shard, listener);
            }
        }
    }

    fn end_shard(&mut self, shard: usize, listener: &mut dyn RunListener) {
        self.has_ended[shard] = true;
        self.second.shard_ended(shard, listener);
        for sample in self.collector.shard_ended(shard) {
            self.report_sample(&sample, listener);
        }
    }

    fn may_be_cut_short(&self) -> bool {
        matches!(
            self.stage,
            Stage::Restore
                | Stage::Build
                | Stage::Open
                | Stage::Seed
                | Stage::WarmUp
                | Stage::Tune
                | Stage::Measure
                | Stage::Backup
                | Stage::WriteLog
                | Stage::Leave
                | Stage::Replay
                | Stage::Verify
                | Stage::CheckCopies
                | Stage::CompareCopies
        )
    }

    fn cut_short(&mut self, stop: bool, now_ns: u64, listener: &mut dyn RunListener) {
        if stop {
            self.account.interrupt();
        }
        if self.stage != Stage::Verify {
            self.plan.together.ends_early();
        }
        if self.stage == Stage::Verify {
            self.account
                .not_verified("The verification was stopped before its end.");
        }
        let is_abandoned = match self.stage {
            Stage::Restore | Stage::Build | Stage::Open | Stage::Seed | Stage::Verify => true,
            // After an error the databases are verified, which must not be abandoned.
            Stage::Backup | Stage::Replay | Stage::CheckCopies | Stage::CompareCopies => stop,
            _ => false,
        };
        if is_abandoned {
            self.orders.iter().for_each(|orders| orders.abandon());
        }
        self.next_stages = stages_after_cut(self.stage);
        self.enter_next(now_ns, listener);
    }

    /// Moves on to the next stage when the present one has come to its end.
    fn go_on(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        let elapsed = TimeSpan(now_ns - self.stage_begun_ns);
        // A shard that ended early will not report that it is done.
        let all_done = self.done + self.ended() >= self.orders.len();
        let plan = Arc::clone(&self.plan);
        if self.stage == Stage::WarmUp && !self.is_warm {
            self.is_warm = self.is_warm(now_ns, listener);
        }
        let is_over = match self.stage {
            Stage::WarmUp => self.is_warm,
            Stage::Tune => self.is_tuned,
            Stage::Measure => {
                elapsed.0 >= plan.measured_length().0 + self.measuring_late_ns
                    || self.knows_enough(elapsed, listener)
            }
            Stage::End => false,
            Stage::Restore
            | Stage::Build
            | Stage::Open
            | Stage::Backup
            | Stage::WriteLog
            | Stage::Leave
            | Stage::Replay
            | Stage::Close
            | Stage::Verify
            | Stage::CheckCopies
            | Stage::Seed
            | Stage::CompareCopies => all_done,
        };
        let begins_with_others = match self.next_stages.front() {
            Some(Stage::WarmUp) => Some(Phase::WarmingUp),
            Some(Stage::Measure) => Some(Phase::Measuring),
            _ => None,
        };
        if is_over && begins_with_others.is_none_or(|phase| plan.together.may_begin(phase)) {
            self.enter_next(now_ns, listener);
        }
    }

    fn enter_next(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        let stop = self.stop.is_stopped();
        if (stop || self.is_failing) && self.next_stages.contains(&Stage::WriteLog) {
            // Nothing new begins any more.
            if stop {
                self.account.interrupt();
            }
            self.next_stages = match self.stage {
                Stage::Close => stages_after_cut(self.stage).into_iter().skip(1).collect(),
                stage => stages_after_cut(stage),
            };
        }
        let mut next = self.next_stages.pop_front();
        if next == Some(Stage::Verify) && !self.verifies() {
            next = self.next_stages.pop_front();
        }
        self.enter(next.unwrap_or(Stage::End), now_ns, listener);
    }

    fn enter(&mut self, stage: Stage, now_ns: u64, listener: &mut dyn RunListener) {
        self.phase_notice.notify(listener);
        self.account.end_span(now_ns);
        let was_load = self.stage.is_load();
        if self.stage == Stage::WriteLog {
            self.account.note_log_written(now_ns - self.stage_begun_ns);
        }
        self.stage = stage;
        self.stage_begun_ns = now_ns;
        self.done = 0;
        self.progress.fill(0);
        self.totals.fill(0);
        self.doing = None;
        if matches!(stage, Stage::Verify | Stage::End) {
            // What had failed has had its consequences.
            self.is_failing = false;
        }
        let tick_ns = match stage {
            Stage::Tune => self.load_control.tuning_interval_ns(),
            _ => Self::tick_ns(&self.plan),
        };
        if stage.is_load() && stage != Stage::Tune {
            self.load_control.forget_shortfall();
            self.order_load();
        }
        if stage == Stage::Measure {
            self.fills_to_note = self.caches.len();
            self.account.note_cache_fill(self.least_fill());
        }
        let expected = match stage {
            Stage::Measure => Some(self.plan.measured_length().duration()),
            _ => None,
        };
        if stage == Stage::Build && self.plan.reuse {
            listener.begins(Phase::Finding);
            listener.phase(Phase::Finding, None);
        } else if let Some(phase) = stage.phase() {
            self.plan.together.begun(phase);
            listener.begins(phase);
            self.phase_notice
                .begin((phase, expected), was_load, now_ns, listener);
            self.account.begin_span(phase, now_ns);
        }
        for orders in &self.orders {
            orders.set_tick_ns(tick_ns);
            orders.begin(stage);
        }
    }

    /// Steers by the counts of a tick.
    fn follow(&mut self, tick: &Tick, now_ns: u64, listener: &mut dyn RunListener) {
        match tick.phase {
            SamplePhase::Tuning => {
                if let Some(text) = self.load_control.tune(tick) {
                    listener.note(&text);
                }
                self.is_tuned = self.load_control.is_tuned();
                self.order_load();
            }
            SamplePhase::WarmUp
            | SamplePhase::Measured
            | SamplePhase::Backup
            | SamplePhase::LogWriting => {
                if tick.phase == SamplePhase::WarmUp {
                    self.steady_load.add(tick);
                }
                self.load_control.follow(tick);
                self.order_load();
            }
            _ => return,
        }
        if matches!(tick.phase, SamplePhase::Backup | SamplePhase::LogWriting) {
            return; // Their progress is one of bytes.
        }
        let elapsed = Duration::from_nanos(now_ns - self.stage_begun_ns);
        self.phase_notice.before(tick.phase, listener);
        listener.live(&self.live_sample(tick, elapsed, now_ns));
    }

    /// Passes the wanted number of sessions and the rate on to the shards.
    fn order_load(&self) {
        let sessions = self.plan.deal_sessions(self.load_control.sessions());
        for (shard, (orders, sessions)) in self.orders.iter().zip(sessions).enumerate() {
            orders.set_sessions(sessions);
            if let Loop::Open { .. } = self.plan.how {
                let rate = self.load_control.transactions_per_second() * self.plan.share_of(shard);
                orders.set_transactions_per_second(rate);
                let (limit, changes) = (
                    self.load_control.backlog_limit(),
                    self.load_control.changes(),
                );
                orders.set_backlog(limit, changes);
            }
        }
    }

    /// Ends the run and gives its result; to be called once [`RunController::step`] has said that it is
    /// over.
    #[must_use]
    pub fn finish(mut self, now_ns: u64, listener: &mut dyn RunListener) -> RunResult {
        self.account.end_span(now_ns);
        self.second.finish(listener);
        for sample in self.collector.finish() {
            self.report_sample(&sample, listener);
        }
        let target = self.load_control.rate_to_reach(&self.plan);
        self.account
            .judge(&self.plan, self.collector.totals(), target);
        self.result(true)
    }
}
