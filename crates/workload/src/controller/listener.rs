//! The listener of a run in progress.

use crate::progress::{ByteProgress, LiveSample, Phase};
use measure::result::RunResult;
use measure::sample::Sample;
use std::cell::RefCell;
use std::rc::Rc;
use std::time::Duration;

/// The result of a run so far. It is worked out when somebody asks for it: over a long run it takes
/// longer than the samples it is reported with.
#[derive(Clone, Copy)]
pub struct InterimResult<'a> {
    interval_s: f64,
    work_out: &'a dyn Fn() -> RunResult,
}

impl<'a> InterimResult<'a> {
    /// What `work_out` works out, of a run with samples of so many seconds.
    #[must_use]
    pub fn new(interval_s: f64, work_out: &'a dyn Fn() -> RunResult) -> Self {
        Self {
            interval_s,
            work_out,
        }
    }

    /// Length of a sample as it was asked for, in seconds.
    #[must_use]
    pub fn interval_s(&self) -> f64 {
        self.interval_s
    }

    /// The result document, worked out from what was counted so far.
    #[must_use]
    pub fn result(&self) -> RunResult {
        (self.work_out)()
    }
}

/// Listens to a run, on the thread that conducts it. Every method does nothing unless it is
/// written.
pub trait RunListener {
    /// A phase begins at this very moment; for those who count by phases. It is reported a little later,
    /// by [`phase`](Self::phase).
    fn begins(&mut self, _phase: Phase) {}
    /// A phase has begun, and the last figures of the one before have been reported. `expected` is its
    /// length when that is known beforehand.
    fn phase(&mut self, _phase: Phase, _expected: Option<Duration>) {}
    /// The present phase has come so far through its bytes.
    fn progress(&mut self, _progress: ByteProgress) {}
    /// What the present phase has been busy with for a while, such as recovery.
    fn doing(&mut self, _text: &str) {}
    /// The figures of the last second or so, for a live line.
    fn live(&mut self, _figures: &LiveSample) {}
    /// A sample of any phase is complete: its counts, its figures in short, and the result of the
    /// run so far.
    fn sample(&mut self, _sample: &Sample, _figures: &LiveSample, _so_far: InterimResult<'_>) {}
    /// A sample of the second series is complete, of any phase.
    fn second_sample(&mut self, _sample: &Sample) {}
    /// Something worth a line of its own.
    fn note(&mut self, _text: &str) {}
}

/// A listener of a run on a virtual clock, which its owner looks at afterwards.
pub type SharedListener = Rc<RefCell<dyn RunListener>>;

/// The listener for a run on a virtual clock.
pub fn shared(listener: impl RunListener + 'static) -> SharedListener {
    Rc::new(RefCell::new(listener))
}

/// A listener that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoListener;

impl RunListener for NoListener {}
