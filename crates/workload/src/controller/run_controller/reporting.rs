//! What the run controller reports while the run goes on: live figures, samples, the result so far.

use super::RunController;
use crate::controller::link::{CacheState, Stage, WITHOUT_SERVICE};
use crate::controller::listener::{InterimResult, RunListener};
use crate::controller::plan::RunPlan;
use crate::controller::ticks::Tick;
use crate::progress::{LiveSample, PhaseEstimate, Remaining, Sessions};
use measure::display::number;
use measure::result::RunResult;
use measure::sample::{Phase as SamplePhase, Sample};
use std::time::Duration;

impl RunController {
    pub(super) fn live_sample(&self, tick: &Tick, elapsed: Duration, now_ns: u64) -> LiveSample {
        LiveSample {
            elapsed,
            iops: tick.io.ios as f64 / tick.io.length_s,
            target_iops: self.target_now(),
            database_read_ms: tick.io.worst_read_ms(),
            log_write_ms: tick.io.worst_log_write_ms(),
            sessions: self.sessions(tick.operations as f64 / tick.io.length_s),
            failing: self.failing(),
            estimate: self.estimate(tick.phase, elapsed),
            without_service: self.service.out_for(now_ns),
            hung: self.hung.now(),
        }
    }

    /// The rate that the load is to reach at present.
    fn target_now(&self) -> Option<f64> {
        match self.stage {
            Stage::Tune => self.load_control.held_iops().or(self.plan.rate_to_reach()),
            _ => self.load_control.rate_to_reach(&self.plan),
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
    fn estimate(&self, phase: SamplePhase, elapsed: Duration) -> Option<PhaseEstimate> {
        // The last counts of a phase come when the next stage has begun already.
        match (phase, self.stage) {
            (SamplePhase::WarmUp, Stage::WarmUp) => {
                let filled = self
                    .filled_ns
                    .map(|at_ns| at_ns.saturating_sub(self.stage_begun_ns));
                let filled = filled.map(Duration::from_nanos);
                Some(warm_up_estimate(
                    &self.plan,
                    self.least_fill(),
                    filled,
                    elapsed,
                ))
            }
            (SamplePhase::Tuning, Stage::Tune) => self.load_control.estimate(elapsed),
            _ => None,
        }
    }

    /// Notes how full and how large the caches of a shard are. Each says so first of all when measuring begins: what
    /// was known until then may be as old as a tick.
    pub(super) fn enter_caches(&mut self, shard: usize, state: CacheState) {
        self.caches[shard] = state;
        if self.stage != Stage::Measure {
            return;
        }
        if self.fills_to_note > 0 {
            self.fills_to_note -= 1;
            self.account.note_cache_fill(self.least_fill());
        }
        if let Some(fraction) = state.size_fraction {
            self.account.note_cache_size(fraction);
        }
    }

    /// How full the least filled cache is.
    pub(super) fn least_fill(&self) -> f64 {
        let fills = self.caches.iter().map(|state| state.fill_fraction);
        fills.fold(1.0, f64::min)
    }

    pub(super) fn report_sample(&mut self, sample: &Sample, listener: &mut dyn RunListener) {
        self.account.note_sample(sample);
        self.count_known(sample);
        let target = self.load_control.rate_to_reach(&self.plan);
        self.account
            .judge(&self.plan, self.collector.totals(), target);
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
            target_iops: self.target_now(),
            database_read_ms: latency(measure::metric::Stream::DatabaseRead),
            log_write_ms: latency(measure::metric::Stream::LogWrite),
            sessions: self.sessions(sample.operations_per_second()),
            failing: self.failing(),
            estimate: self.estimate(sample.phase, elapsed),
            without_service: self.service.out_for((ends_s * 1e9) as u64),
            hung: self.hung.now(),
        };
        let interval_s = self.collector.totals().interval_s();
        self.phase_notice.before(sample.phase, listener);
        let work_out = || self.result(false);
        listener.sample(sample, &live, InterimResult::new(interval_s, &work_out));
    }

    /// The result so far, or (`complete`) that of the whole run.
    pub(super) fn result(&self, complete: bool) -> RunResult {
        let totals = self.collector.totals();
        let shed = self.shed.iter().sum();
        self.account
            .result(&self.plan, totals, &self.load_control, shed, complete)
    }
}

/// Until when the warm-up goes on: until the caches are full enough and, if it waits for that, the load
/// is steady, within its bounds. `filled` is how long the caches took to fill, if they are full.
fn warm_up_estimate(
    plan: &RunPlan,
    fill: f64,
    filled: Option<Duration>,
    elapsed: Duration,
) -> PhaseEstimate {
    let wanted = plan.run.warm_up.cache_fill_percent / 100.0;
    let shortest = plan.warm_up.shortest.duration().saturating_sub(elapsed);
    let longest = plan.warm_up.longest.duration().saturating_sub(elapsed);
    let missing = (wanted - fill).max(0.0);
    let filling = elapsed.as_secs_f64() * missing / fill.max(0.001);
    let filling = Duration::try_from_secs_f64(filling).unwrap_or(longest);
    let text = if fill < wanted {
        let (fill, wanted) = (fill * 100.0, wanted * 100.0);
        format!("caches {fill:.0} % full, target {wanted:.0} %")
    } else if !shortest.is_zero() {
        let least = number::duration(plan.warm_up.shortest.as_seconds());
        format!("the warm-up takes at least {least}")
    } else if plan.warm_up.until_steady {
        let waited = elapsed.saturating_sub(filled.unwrap_or_default());
        let steady = plan.run.duration.duration().saturating_sub(waited);
        return PhaseEstimate {
            text: "load not steady yet".to_owned(),
            remaining: Remaining::AtMost(steady.min(longest)),
        };
    } else {
        "caches full".to_owned()
    };
    PhaseEstimate {
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
