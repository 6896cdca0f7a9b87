//! Looks into the array while a prediction runs, and tells its listener what is there.

use std::cell::RefCell;
use std::rc::Rc;
use std::time::{Duration, Instant};

use array::bridge::ArrayHost;
use array::{Array, ArrayCounters};
use measure::result::RunResult;
use measure::sample::Sample;
use workload::controller::{RunListener, SoFar};
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::growth::Growth;
use super::inside::Inside;
use super::watch::Watch;

/// Passes everything on to a listener, with the inside of the array in what it passes.
pub struct Inspector<L> {
    listener: L,
    scene: Scene,
    /// Counters at the end of the last sample.
    sampled: ArrayCounters,
}

/// What there is to look at.
struct Scene {
    host: ArrayHost<(), Array<()>>,
    inside: Inside,
    watch: Watch,
    growth: Growth,
    began: Instant,
    /// Counters when the measured phase began, and when it ended.
    from: Option<ArrayCounters>,
    until: Option<ArrayCounters>,
}

impl<L: RunListener> Inspector<L> {
    pub fn new(
        listener: L,
        host: ArrayHost<(), Array<()>>,
        inside: Inside,
        watch: Watch,
        growth: Growth,
    ) -> Self {
        Self {
            listener,
            scene: Scene {
                host,
                inside,
                watch,
                growth,
                began: Instant::now(),
                from: None,
                until: None,
            },
            sampled: ArrayCounters::default(),
        }
    }

    /// The listener, when everything has been told.
    pub fn into_listener(self) -> L {
        self.listener
    }

    /// Adds what only a prediction has.
    pub fn complete(&mut self, result: &mut RunResult) {
        self.look();
        self.scene.complete(result);
        let now_s = self.scene.host.handle().now_ns() as f64 / 1e9;
        self.scene.growth.conclude(result, now_s);
    }

    /// Tells what has broken and been repaired since the last look.
    fn look(&mut self) {
        let Scene { host, watch, .. } = &mut self.scene;
        let told = host.with(|array| watch.look(array));
        told.iter().for_each(|text| self.listener.note(text));
    }
}

impl Scene {
    /// Adds what only a prediction has and was seen at the last look.
    fn complete(&self, result: &mut RunResult) {
        result.simulated_seconds = Some(self.host.handle().now_ns() as f64 / 1e9);
        result.wall_seconds = Some(self.began.elapsed().as_secs_f64());
        result.host_requests = Some(self.host.requests());
        let now = self.counters();
        let until = self.until.as_ref().unwrap_or(&now);
        let none = ArrayCounters::default();
        let from = self.from.as_ref().unwrap_or(&none);
        result.array = Some(self.inside.between(from, until));
        self.watch.complete(result);
    }

    fn counters(&self) -> ArrayCounters {
        self.host.with(|array| array.counters())
    }
}

impl<L: RunListener> RunListener for Inspector<L> {
    fn begins(&mut self, phase: Phase) {
        let scene = &mut self.scene;
        match phase {
            Phase::Measuring => {
                scene.from = Some(scene.counters());
                let now_ns = scene.host.handle().now_ns();
                scene.growth.begin(now_ns as f64 / 1e9);
                scene.host.with(|array| scene.watch.begin(array, now_ns));
            }
            _ if scene.from.is_some() && scene.until.is_none() => {
                scene.until = Some(scene.counters());
            }
            _ => {}
        }
        self.listener.begins(phase);
    }

    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.listener.phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.listener.progress(progress);
    }

    fn doing(&mut self, text: &str) {
        self.listener.doing(text);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.look();
        self.listener.live(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: SoFar<'_>) {
        self.look();
        if let Some(text) = self.scene.growth.look(sample) {
            self.listener.note(&text);
        }
        let scene = &self.scene;
        let now = scene.counters();
        let mut sample = sample.clone();
        let mut inside = scene.inside.between(&self.sampled, &now);
        scene.watch.enter(&mut inside);
        sample.array = Some(inside);
        self.sampled = now;
        let work_out = || {
            let mut result = so_far.result();
            scene.complete(&mut result);
            result
        };
        let so_far = SoFar::new(so_far.interval_s(), &work_out);
        self.listener.sample(&sample, figures, so_far);
    }

    fn note(&mut self, text: &str) {
        self.listener.note(text);
    }
}

/// A listener that can be looked at afterwards.
pub struct Shared<L>(pub Rc<RefCell<L>>);

impl<L: RunListener> RunListener for Shared<L> {
    fn begins(&mut self, phase: Phase) {
        self.0.borrow_mut().begins(phase);
    }

    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.0.borrow_mut().phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.0.borrow_mut().progress(progress);
    }

    fn doing(&mut self, text: &str) {
        self.0.borrow_mut().doing(text);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.0.borrow_mut().live(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: SoFar<'_>) {
        self.0.borrow_mut().sample(sample, figures, so_far);
    }

    fn note(&mut self, text: &str) {
        self.0.borrow_mut().note(text);
    }
}
