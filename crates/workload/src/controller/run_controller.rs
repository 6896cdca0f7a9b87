//! The sequence of a run: which stage comes when, what is counted, and when it ends.
//!
//! A state machine without threads or waiting of its own. [`RunController::step`] is called every few
//! milliseconds with the time; it takes in the messages of the shards, gives orders, and notifies the
//! listener. So the same code conducts threads on the wall clock and tasks on the virtual one.

use super::link::{Inbox, Orders, ShardMessage, Stage, WITHOUT_SERVICE};
use super::listener::{InterimResult, RunListener};
use super::load::Loop;
use super::load_control::LoadControl;
use super::outcome::{Account, Span};
use super::phase_notice::PhaseNotice;
use super::plan::RunPlan;
use super::service::Service;
use super::ticks::{Tick, TickJoiner};
use crate::failure::{Failure, FailureKind};
use crate::profile::{TimeSpan, WarmUp};
use crate::progress::{ByteProgress, LiveSample, Outlook, Phase, Remaining, Sessions, StopRequest};
use measure::host::HostMonitor;
use measure::result::RunResult;
use measure::sample::{Collector, Phase as SamplePhase, Sample};
use std::sync::Arc;
use std::time::Duration;

/// The longest tick: the live line changes once a second.
const LONGEST_TICK_NS: u64 = 1_000_000_000;

/// An activity shorter than this is not reported.
const SHORTEST_ACTIVITY_NS: u64 = 1_000_000_000;

/// Leads one run through its stages.
pub struct RunController {
    plan: Arc<RunPlan>,
    orders: Vec<Arc<Orders>>,
    inbox: Inbox,
    stop: StopRequest,
    collector: Collector,
    ticks: TickJoiner,
    load_control: LoadControl,
    account: Account,
    phase_notice: PhaseNotice,
    stage: Stage,
    stage_begun_ns: u64,
    done: usize,
    ended: usize,
    progress: Vec<u64>,
    /// Bytes that each shard has to handle in the present stage.
    totals: Vec<u64>,
    /// Number and begin (in seconds) of the phase that the last sample belongs to.
    sampled_phase: (u32, f64),
    /// What is being done in this stage, since when, and not reported yet.
    doing: Option<(String, u64)>,
    cache_fill: Vec<f64>,
    shed: Vec<u64>,
    service: Service,
    is_tuned: bool,
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
        let interval_s = plan.run.sample_interval.as_seconds();
        Self {
            collector: Collector::new(Arc::clone(&plan.layout), shards, interval_s, monitor),
            ticks: TickJoiner::new(shards, Arc::clone(&plan.layout)),
            load_control: LoadControl::new(&plan),
            account: Account::new(base),
            phase_notice: PhaseNotice::default(),
            stage: Stage::Build,
            stage_begun_ns: 0,
            done: 0,
            ended: 0,
            progress: vec![0; shards],
            totals: vec![0; shards],
            sampled_phase: (u32::MAX, 0.0),
            doing: None,
            cache_fill: vec![0.0; shards],
            shed: vec![0; shards],
            service: Service::default(),
            is_tuned: false,
            plan,
            orders,
            inbox,
            stop,
        }
    }

    /// The tick to begin with.
    #[must_use]
    pub fn tick_ns(plan: &RunPlan) -> u64 {
        plan.run.sample_interval.as_ns().min(LONGEST_TICK_NS)
    }

    /// Begins the run with its first stage, building the databases.
    pub fn begin(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        self.enter(Stage::Build, now_ns, listener);
    }

    /// Takes in what has happened and says what to do next; true when the run is over.
    pub fn step(&mut self, now_ns: u64, listener: &mut dyn RunListener) -> bool {
        for (shard, news) in self.inbox.take() {
            self.take_in(shard, news, now_ns, listener);
        }
        let stop = self.stop.is_stopped();
        if (stop || self.account.has_failed()) && self.may_be_cut_short() {
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
        self.ended == self.orders.len()
    }

    fn take_in(
        &mut self,
        shard: usize,
        news: ShardMessage,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        match news {
            ShardMessage::Counts(counts) => {
                let tick = self.ticks.accept(&counts);
                for sample in self.collector.accept(*counts) {
                    self.report_sample(&sample, listener);
                }
                if let Some(tick) = tick {
                    self.follow(&tick, now_ns, listener);
                }
            }
            ShardMessage::Done(stage) if stage == self.stage => self.done += 1,
            ShardMessage::Done(_) => {}
            ShardMessage::ToHandle(bytes) => {
                let was_idle = self.totals.iter().all(|bytes| *bytes == 0);
                self.totals[shard] = bytes;
                if self.stage == Stage::Build && self.plan.reuse && was_idle {
                    listener.begins(Phase::Building);
                    listener.phase(Phase::Building, None);
                    self.account.begin_span(Span::Build, now_ns);
                }
            }
            ShardMessage::Progress(bytes) => {
                self.progress[shard] = bytes;
                let total_bytes = self.totals.iter().sum();
                if total_bytes > 0 {
                    self.phase_notice.notify(listener);
                    listener.progress(ByteProgress {
                        done_bytes: self.progress.iter().sum::<u64>().min(total_bytes),
                        total_bytes,
                    });
                }
            }
            ShardMessage::Doing(text) => self.doing = Some((text, now_ns)),
            ShardMessage::CacheFill(fill) => self.cache_fill[shard] = fill,
            ShardMessage::Backlog { shed, .. } => self.shed[shard] = shed,
            ShardMessage::Service { out_since_ns } => self.service.note(out_since_ns),
            ShardMessage::Note(text) => {
                listener.note(&text);
                self.account.note(text);
            }
            ShardMessage::Failed(failure) => self.fail(&failure, now_ns, listener),
            ShardMessage::Ended => {
                self.ended += 1;
                for sample in self.collector.shard_ended(shard) {
                    self.report_sample(&sample, listener);
                }
            }
        }
    }

    fn fail(&mut self, failure: &Failure, now_ns: u64, listener: &mut dyn RunListener) {
        match failure.kind {
            // The verdict says it once more; every shard has come to the same instant.
            FailureKind::ZeroDelayLoop if self.account.has_failed() => {}
            FailureKind::ZeroDelayLoop => listener.note(&failure.error),
            _ => listener.note(&format!("error: {failure}")),
        }
        self.account.fail(failure, now_ns);
    }

    fn may_be_cut_short(&self) -> bool {
        matches!(
            self.stage,
            Stage::Build
                | Stage::Open
                | Stage::WarmUp
                | Stage::Tune
                | Stage::Measure
                | Stage::Verify
        )
    }

    fn cut_short(&mut self, stop: bool, now_ns: u64, listener: &mut dyn RunListener) {
        if stop {
            self.account.interrupt();
        }
        if matches!(self.stage, Stage::Build | Stage::Open | Stage::Verify) {
            self.orders.iter().for_each(|orders| orders.abandon());
        }
        let next = if self.stage == Stage::Verify {
            Stage::End
        } else {
            Stage::Close
        };
        self.enter(next, now_ns, listener);
    }

    /// Moves on to the next stage when the present one has come to its end.
    fn go_on(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        let elapsed = TimeSpan(now_ns - self.stage_begun_ns);
        // A shard that ended early will not report that it is done.
        let all_done = self.done + self.ended >= self.orders.len();
        let plan = Arc::clone(&self.plan);
        let run = &plan.run;
        let is_warm = self.stage == Stage::WarmUp && self.is_warm(elapsed, listener);
        let next = match self.stage {
            Stage::Build if all_done && plan.build_only => Stage::End,
            Stage::Build if all_done => Stage::Open,
            Stage::Open if all_done => Stage::WarmUp,
            Stage::WarmUp if is_warm => {
                let tunes = self.plan.fixed_sessions.is_none();
                if tunes { Stage::Tune } else { Stage::Measure }
            }
            Stage::Tune if self.is_tuned => Stage::Measure,
            Stage::Measure if elapsed >= run.duration => Stage::Close,
            Stage::Close if all_done => {
                let verify = run.verify_after_run && !self.account.was_cut_short();
                if verify { Stage::Verify } else { Stage::End }
            }
            Stage::Verify if all_done => Stage::End,
            _ => return,
        };
        self.enter(next, now_ns, listener);
    }

    fn is_warm(&mut self, elapsed: TimeSpan, listener: &mut dyn RunListener) -> bool {
        let warm_up = &self.plan.run.warm_up;
        let fill = self.least_fill();
        if elapsed >= warm_up.minimum && fill >= warm_up.cache_fill_percent / 100.0 {
            return true;
        }
        if elapsed < warm_up.maximum {
            return false;
        }
        let text = format!(
            "The caches were {:.0} % full at the end of the longest warm-up, target {:.0} %. \
             The read rate may fall as they fill.",
            fill * 100.0,
            warm_up.cache_fill_percent
        );
        listener.note(&text);
        self.account.warn(text);
        true
    }

    fn enter(&mut self, stage: Stage, now_ns: u64, listener: &mut dyn RunListener) {
        self.phase_notice.notify(listener);
        self.account.end_span(now_ns);
        let was_load = matches!(self.stage, Stage::WarmUp | Stage::Tune | Stage::Measure);
        self.stage = stage;
        self.stage_begun_ns = now_ns;
        self.done = 0;
        self.progress.fill(0);
        self.totals.fill(0);
        self.doing = None;
        let run = &self.plan.run;
        let tick_ns = match stage {
            Stage::Tune => self.load_control.tuning_interval_ns(),
            _ => Self::tick_ns(&self.plan),
        };
        if matches!(stage, Stage::WarmUp | Stage::Measure) {
            self.load_control.forget_shortfall();
            self.order_load();
        }
        let expected = match stage {
            Stage::Measure => Some(run.duration.duration()),
            _ => None,
        };
        if stage == Stage::Build && self.plan.reuse {
            listener.begins(Phase::Finding);
            listener.phase(Phase::Finding, None);
        } else if let Some((phase, span)) = name_of(stage) {
            listener.begins(phase);
            self.phase_notice
                .begin((phase, expected), was_load, now_ns, listener);
            self.account.begin_span(span, now_ns);
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
            SamplePhase::WarmUp | SamplePhase::Measured => {
                self.load_control.follow(tick);
                self.order_load();
            }
            _ => return,
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
            }
        }
    }

    fn live_sample(&self, tick: &Tick, elapsed: Duration, now_ns: u64) -> LiveSample {
        LiveSample {
            elapsed,
            iops: tick.io.ios as f64 / tick.io.length_s,
            target_iops: self.plan.rate_to_reach(),
            database_read_ms: tick.io.worst_read_ms(),
            log_write_ms: tick.io.worst_log_write_ms(),
            sessions: self.sessions(tick.operations as f64 / tick.io.length_s),
            failing: self.failing(),
            outlook: self.outlook(tick.phase, elapsed),
            without_service: self.service.out_for(now_ns),
        }
    }

    /// The service levels that would fail the run if it ended now.
    fn failing(&self) -> Vec<String> {
        let service = self.service.was_out().then(|| WITHOUT_SERVICE.to_owned());
        service.into_iter().chain(self.account.failing()).collect()
    }

    fn sessions(&self, operations_per_second: f64) -> Sessions {
        Sessions {
            clients: self.plan.clients,
            count: self.load_control.sessions(),
            operations_per_second,
        }
    }

    /// What a phase waits for that has no fixed length.
    fn outlook(&self, phase: SamplePhase, elapsed: Duration) -> Option<Outlook> {
        // The last counts of a phase come when the next stage has begun already.
        match (phase, self.stage) {
            (SamplePhase::WarmUp, Stage::WarmUp) => {
                let warm_up = &self.plan.run.warm_up;
                Some(warm_up_outlook(warm_up, self.least_fill(), elapsed))
            }
            (SamplePhase::Tuning, Stage::Tune) => self.load_control.outlook(elapsed),
            _ => None,
        }
    }

    /// How full the least filled cache is.
    fn least_fill(&self) -> f64 {
        self.cache_fill.iter().copied().fold(1.0, f64::min)
    }

    fn report_sample(&mut self, sample: &Sample, listener: &mut dyn RunListener) {
        self.account.judge(&self.plan, self.collector.totals());
        // The rest of a phase comes when the next stage has begun already.
        if self.sampled_phase.0 != sample.phase_number {
            self.sampled_phase = (sample.phase_number, sample.begins_s);
        }
        let ends_s = sample.begins_s + sample.length_s;
        let elapsed_s = (ends_s - self.sampled_phase.1).max(0.0);
        let latency = |stream| worst_ms(sample, stream);
        let elapsed = Duration::from_secs_f64(elapsed_s);
        let live = LiveSample {
            elapsed,
            iops: sample.iops(),
            target_iops: self.plan.rate_to_reach(),
            database_read_ms: latency(measure::metric::Stream::DatabaseRead),
            log_write_ms: latency(measure::metric::Stream::LogWrite),
            sessions: self.sessions(sample.operations_per_second()),
            failing: self.failing(),
            outlook: self.outlook(sample.phase, elapsed),
            without_service: self.service.out_for((ends_s * 1e9) as u64),
        };
        let interval_s = self.collector.totals().interval_s();
        self.phase_notice.before(sample.phase, listener);
        let work_out = || self.result(false);
        listener.sample(sample, &live, InterimResult::new(interval_s, &work_out));
    }

    /// The result so far, or (`complete`) that of the whole run.
    fn result(&self, complete: bool) -> RunResult {
        let totals = self.collector.totals();
        let shed = self.shed.iter().sum();
        self.account
            .result(&self.plan, totals, &self.load_control, shed, complete)
    }

    /// Ends the run and gives its result; to be called once [`RunController::step`] has said that it is
    /// over.
    #[must_use]
    pub fn finish(mut self, now_ns: u64, listener: &mut dyn RunListener) -> RunResult {
        self.account.end_span(now_ns);
        for sample in self.collector.finish() {
            self.report_sample(&sample, listener);
        }
        self.account.judge(&self.plan, self.collector.totals());
        self.result(true)
    }
}

/// Until when the warm-up goes on: until the caches are full enough, within its bounds.
fn warm_up_outlook(warm_up: &WarmUp, fill: f64, elapsed: Duration) -> Outlook {
    let wanted = warm_up.cache_fill_percent / 100.0;
    let shortest = warm_up.minimum.duration().saturating_sub(elapsed);
    let longest = warm_up.maximum.duration().saturating_sub(elapsed);
    let missing = (wanted - fill).max(0.0);
    let filling = elapsed.as_secs_f64() * missing / fill.max(0.001);
    let filling = Duration::try_from_secs_f64(filling).unwrap_or(longest);
    let text = if fill < wanted {
        let (fill, wanted) = (fill * 100.0, wanted * 100.0);
        format!("caches {fill:.0} % full, target {wanted:.0} %")
    } else if warm_up.minimum > TimeSpan(0) {
        format!("the warm-up takes at least {}", warm_up.minimum)
    } else {
        "caches warm".to_owned()
    };
    Outlook {
        text,
        remaining: Remaining::About(filling.max(shortest).min(longest)),
    }
}

fn worst_ms(sample: &Sample, stream: measure::metric::Stream) -> Option<f64> {
    let averages = sample.databases.iter().filter_map(|database| {
        let meter = database.stream(stream)?;
        meter.latency.average_ms()
    });
    averages.reduce(f64::max)
}

fn name_of(stage: Stage) -> Option<(Phase, Span)> {
    Some(match stage {
        Stage::Build => (Phase::Building, Span::Build),
        Stage::Open => (Phase::Opening, Span::Open),
        Stage::WarmUp => (Phase::WarmingUp, Span::WarmUp),
        Stage::Tune => (Phase::Tuning, Span::Tuning),
        Stage::Measure => (Phase::Measuring, Span::Measured),
        Stage::Close => (Phase::Closing, Span::Close),
        Stage::Verify => (Phase::Verifying, Span::Checksum),
        Stage::End => return None,
    })
}
