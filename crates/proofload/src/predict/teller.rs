//! Records a prediction, and says how fast simulated time passes.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use measure::sample::Sample;
use workload::controller::{RunListener, SoFar};
use workload::progress::{ByteProgress, LiveSample, Phase};

use crate::live::Pace;
use crate::run::Recorder;

/// Shortest time between two lines that say how the computing goes.
const TOLD_EVERY: Duration = Duration::from_secs(5);

/// The recorder of a run, beside a clock that compares simulated with real time.
pub struct Teller {
    recorder: Recorder,
    /// Length of the measured phase while it lasts.
    measured: Option<Duration>,
    measuring_since: Instant,
    pace: Pace,
    told: Instant,
}

impl Teller {
    pub fn new(recorder: Recorder) -> Self {
        let now = Instant::now();
        Self {
            recorder,
            measured: None,
            measuring_since: now,
            pace: Pace::new(),
            told: now,
        }
    }

    /// The recorder, when everything has been told.
    pub fn into_recorder(self) -> Recorder {
        self.recorder
    }

    /// Says now and then how fast simulated time passes, and when it will be over. The live line of
    /// a terminal says so all the time.
    fn tell_speed(&mut self, sample: &LiveSample) {
        let Some(measured) = self.measured.filter(|_| !std::io::stderr().is_terminal()) else {
            return;
        };
        let share = sample.elapsed.as_secs_f64() / measured.as_secs_f64().max(1e-9);
        let left = self.pace.left(Instant::now(), share);
        if self.told.elapsed() < TOLD_EVERY || sample.elapsed.is_zero() {
            return;
        }
        self.told = Instant::now();
        let speed = sample.elapsed.as_secs_f64() / self.measuring_since.elapsed().as_secs_f64();
        let left = left.map_or(String::new(), |left| {
            format!(", about {} s left", left.as_secs())
        });
        let text = format!(
            "simulated {:.0} of {:.0} s at {speed:.0} times real speed, {:.0} IOPS{left}",
            sample.elapsed.as_secs_f64(),
            measured.as_secs_f64(),
            sample.iops,
        );
        self.recorder.show(&text);
    }
}

impl RunListener for Teller {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.measured = expected.filter(|_| phase == Phase::Measuring);
        self.measuring_since = Instant::now();
        self.pace = Pace::new();
        self.recorder.phase(phase, expected);
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.recorder.progress(progress);
    }

    fn doing(&mut self, text: &str) {
        self.recorder.doing(text);
    }

    fn live(&mut self, figures: &LiveSample) {
        self.recorder.live(figures);
        self.tell_speed(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: SoFar<'_>) {
        self.recorder.sample(sample, figures, so_far);
    }

    fn note(&mut self, text: &str) {
        self.recorder.note(text);
    }
}
