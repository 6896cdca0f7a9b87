//! Hears of a prediction: adds the inside of the array to what the recorder writes.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use array::bridge::ArrayHost;
use array::{Array, ArrayCounters};
use measure::result::RunResult;
use measure::run_directory::{RunDirectory, RunDirectoryError};
use measure::sample::Sample;
use workload::controller::RunListener;
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::inside::Inside;
use crate::run::Recorder;

/// Shortest time between two lines that say how the computing goes.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// A recorder that looks into the array.
pub struct Listener {
    recorder: Recorder,
    host: ArrayHost<(), Array<()>>,
    inside: Inside,
    began: Instant,
    /// Counters when the measured phase began, and when it ended.
    from: Option<ArrayCounters>,
    until: Option<ArrayCounters>,
    /// Length of the measured phase.
    measured: Option<Duration>,
    measuring_since: Instant,
    told: Instant,
}

impl Listener {
    pub fn new(recorder: Recorder, host: ArrayHost<(), Array<()>>, inside: Inside) -> Self {
        let now = Instant::now();
        Self {
            recorder,
            host,
            inside,
            began: now,
            from: None,
            until: None,
            measured: None,
            measuring_since: now,
            told: now,
        }
    }

    /// The run directory, and the failure to write it if there was one.
    pub fn finish(self) -> (RunDirectory, Option<RunDirectoryError>) {
        self.recorder.finish()
    }

    /// Adds what only a prediction has.
    pub fn complete(&self, result: &mut RunResult) {
        result.simulated_seconds = Some(self.host.handle().now_ns() as f64 / 1e9);
        result.wall_seconds = Some(self.began.elapsed().as_secs_f64());
        result.host_requests = Some(self.host.requests());
        let now = self.counters();
        let until = self.until.as_ref().unwrap_or(&now);
        let none = ArrayCounters::default();
        let from = self.from.as_ref().unwrap_or(&none);
        result.array = Some(self.inside.between(from, until));
    }

    fn counters(&self) -> ArrayCounters {
        self.host.with(|array| array.counters())
    }

    /// Says now and then how fast simulated time passes, and when it will be over.
    fn tell_speed(&mut self, sample: &LiveSample) {
        let Some(measured) = self.measured else {
            return;
        };
        if self.told.elapsed() < TOLD_EVERY || sample.elapsed.is_zero() {
            return;
        }
        self.told = Instant::now();
        let speed = sample.elapsed.as_secs_f64() / self.measuring_since.elapsed().as_secs_f64();
        let left = measured.saturating_sub(sample.elapsed).as_secs_f64() / speed.max(1e-6);
        let text = format!(
            "simulated {:.0} of {:.0} s at {speed:.0} times real speed, {:.0} IOPS, about {left:.0} s left",
            sample.elapsed.as_secs_f64(),
            measured.as_secs_f64(),
            sample.iops,
        );
        self.recorder.show(&text);
    }
}

impl RunListener for Listener {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        match phase {
            Phase::Measuring => {
                self.from = Some(self.counters());
                (self.measured, self.measuring_since) = (expected, Instant::now());
            }
            _ if self.from.is_some() && self.until.is_none() => {
                self.until = Some(self.counters());
                self.measured = None;
            }
            _ => {}
        }
        self.recorder.phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.recorder.progress(progress);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.recorder.live(figures);
        self.tell_speed(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: &RunResult) {
        let mut so_far = so_far.clone();
        self.complete(&mut so_far);
        self.recorder.sample(sample, figures, &so_far);
    }

    fn note(&mut self, text: &str) {
        self.recorder.note(text);
    }
}

/// A listener that can be looked at afterwards.
pub struct Shared(pub Rc<RefCell<Listener>>);

impl RunListener for Shared {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.0.borrow_mut().phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.0.borrow_mut().progress(progress);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.0.borrow_mut().live(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: &RunResult) {
        self.0.borrow_mut().sample(sample, figures, so_far);
    }

    fn note(&mut self, text: &str) {
        self.0.borrow_mut().note(text);
    }
}
