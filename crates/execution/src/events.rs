//! What happens while a scenario runs, as a stream of typed events.

use std::path::Path;
use std::time::Duration;

use measure::result::RunResult;
use measure::sample::Sample;
use workload::progress::{ByteProgress, LiveSample, Phase};

/// Something that happened while a scenario ran.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// The results go into this directory; comes again when they go on in another one.
    Directory(&'a Path),
    /// A phase began. `expected` is its length when that is known beforehand.
    PhaseBegan {
        /// The phase that begins.
        phase: Phase,
        /// Its length, in simulated time where time is simulated.
        expected: Option<Duration>,
    },
    /// How far the present phase is, when it handles a known number of bytes.
    Progress(ByteProgress),
    /// What the present phase has been busy with for a while, such as recovery.
    Activity(&'a str),
    /// The figures of about the last second.
    Live(&'a LiveSample),
    /// A sample is complete.
    Sample {
        /// Counts of all rows of the sample.
        sample: &'a Sample,
        /// Its figures in short.
        figures: &'a LiveSample,
        /// The length of a sample as it was configured, seconds. The last one of a phase is shorter.
        interval_s: f64,
    },
    /// How far a replay is.
    Replayed {
        /// Requests that were completed.
        requests: u64,
        /// Requests of the trace.
        of: u64,
        /// Simulated time that has passed.
        elapsed: Duration,
        /// Simulated time that the whole takes, when the trace has arrival times.
        span: Option<Duration>,
    },
    /// A remark that is kept in the log of the run directory, too.
    Note(&'a str),
    /// Something that needs attention, such as files that were left behind.
    Warning(&'a str),
    /// Some points of a sweep, or of a search in it, are about to be computed; so many are done.
    RoundBegan {
        /// Points that earlier rounds computed.
        done: usize,
    },
    /// A point of a sweep was computed.
    PointDone {
        /// Name of the point, such as `ssd_count=1, threads=8`.
        name: &'a str,
        /// Its result, with the verdict.
        result: &'a RunResult,
        /// Its run directory, if there is one.
        directory: Option<&'a Path>,
    },
    /// A case of a study was predicted.
    CaseDone {
        /// Name of the study and of the case.
        title: &'a str,
        /// Run directory of the case.
        directory: &'a Path,
    },
    /// So many seeds of a crash test were simulated.
    SeedsProgress {
        /// Seeds that are done.
        done: u64,
        /// Number of seeds to be simulated.
        of: u64,
    },
    /// How far the points of a round are, each a fraction from 0 to 1.
    SweepProgress(&'a [f64]),
    /// How far the cases of studies are.
    StudyProgress(&'a [CaseProgress]),
}

/// How far a case of a study is.
#[derive(Clone, Debug, Default)]
pub struct CaseProgress {
    /// Name of the study and of the case.
    pub title: String,
    /// The phase it is in; `None` before it begins, and when its result was there already.
    pub phase: Option<Phase>,
    /// Simulated seconds it takes, at least.
    pub simulated_s: f64,
    /// The part of them that has passed, from 0 to 1.
    pub completed_fraction: f64,
    /// Database reads and writes per second of simulated time.
    pub iops: f64,
    /// How long it has been computed, or took.
    pub spent: Option<Duration>,
    /// Whether it is done.
    pub is_done: bool,
}

/// Receives events, in their order, on the thread that runs the scenario.
pub trait Observer {
    /// Takes in one event; the scenario goes on when it returns.
    fn event(&mut self, event: Event<'_>);
}

impl<F: FnMut(Event<'_>)> Observer for F {
    fn event(&mut self, event: Event<'_>) {
        self(event);
    }
}

/// An observer that ignores every event.
#[must_use]
pub fn ignore() -> Box<dyn Observer> {
    Box::new(|_: Event<'_>| {})
}
