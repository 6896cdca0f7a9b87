//! Who is told what happens while a run goes on.

use crate::progress::{ByteProgress, LiveSample, Phase};
use measure::result::RunResult;
use measure::sample::Sample;
use std::time::Duration;

/// Listens to a run, on the thread that conducts it. Every method does nothing unless it is
/// written.
pub trait RunListener {
    /// A phase begins. `expected` is its length when that is known beforehand.
    fn phase(&mut self, _phase: Phase, _expected: Option<Duration>) {}
    /// The present phase has come so far through its bytes.
    fn progress(&mut self, _progress: ByteProgress) {}
    /// What the present phase has been busy with for a while, such as recovery.
    fn doing(&mut self, _text: &str) {}
    /// The figures of the last second or so, for a live line.
    fn live(&mut self, _figures: &LiveSample) {}
    /// A sample of any phase is complete: its counts, its figures in short, and the result of the
    /// run so far.
    fn sample(&mut self, _sample: &Sample, _figures: &LiveSample, _so_far: &RunResult) {}
    /// Something worth a line of its own.
    fn note(&mut self, _text: &str) {}
}

/// Listens to nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unheard;

impl RunListener for Unheard {}
