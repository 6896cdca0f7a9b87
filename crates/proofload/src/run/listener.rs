//! Hands what happens in a run to the view and to the run directory.

use std::time::{Duration, Instant};

use measure::result::RunResult;
use measure::run_directory::{RunDirectory, RunDirectoryError};
use measure::sample::Sample;
use workload::controller::{RunListener, SoFar};
use workload::progress::{ByteProgress, LiveSample, Phase, StopRequest};

/// Listens to a run for the user and for the record.
pub struct Recorder {
    view: Box<dyn RunListener>,
    directory: RunDirectory,
    stop: StopRequest,
    /// Whether the wish to stop has been answered.
    answered: bool,
    /// Shortest real time between two results, and when the last one was written.
    pause: Duration,
    written: Option<Instant>,
    /// The first failure to write the record. Samples are lost from then on, the run is not.
    trouble: Option<RunDirectoryError>,
}

impl Recorder {
    /// Shows a run in `view` and records it in `directory`.
    pub fn new(view: Box<dyn RunListener>, directory: RunDirectory, stop: StopRequest) -> Self {
        Self {
            view,
            directory,
            stop,
            answered: false,
            pause: Duration::ZERO,
            written: None,
            trouble: None,
        }
    }

    /// The same, which writes the result so far once a second at most: samples of simulated time
    /// follow each other faster than anybody could want them.
    pub fn sparing(self) -> Self {
        let pause = Duration::from_secs(1);
        Self { pause, ..self }
    }

    /// The run directory, and the failure to write it if there was one.
    pub fn finish(self) -> (RunDirectory, Option<RunDirectoryError>) {
        (self.directory, self.trouble)
    }

    fn record(&mut self, write: impl FnOnce(&mut RunDirectory) -> Result<(), RunDirectoryError>) {
        if self.trouble.is_some() {
            return;
        }
        if let Err(error) = write(&mut self.directory) {
            self.view
                .note(&format!("The results can no longer be written: {error}"));
            self.trouble = Some(error);
        }
    }

    /// Shows a line without keeping it.
    pub fn show(&mut self, text: &str) {
        self.view.note(text);
    }

    /// Whether the result so far is to be written with the next sample.
    pub fn wants_result(&self) -> bool {
        self.written.is_none_or(|at| at.elapsed() >= self.pause)
    }

    /// Keeps a sample without showing it, and the result so far, if it is given.
    pub fn keep(&mut self, sample: &Sample, so_far: Option<&RunResult>) {
        self.record(|directory| {
            directory.append(sample)?;
            so_far.map_or(Ok(()), |result| directory.write_result(result))
        });
        if so_far.is_some() {
            self.written = Some(Instant::now());
        }
    }

    fn answer_stop(&mut self) {
        if !self.answered && self.stop.is_stopped() {
            self.answered = true;
            self.note("Stopping; what was measured is kept. Press Ctrl-C again to stop at once.");
        }
    }
}

impl RunListener for Recorder {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.answer_stop();
        self.view.phase(phase, expected);
        self.record(|directory| directory.log(phase.title()));
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.answer_stop();
        self.view.progress(progress);
    }

    fn doing(&mut self, text: &str) {
        self.answer_stop();
        self.view.doing(text);
        self.record(|directory| directory.log(text));
    }

    fn live(&mut self, figures: &LiveSample) {
        self.answer_stop();
        self.view.live(figures);
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: SoFar<'_>) {
        self.view.sample(sample, figures, so_far);
        let result = self.wants_result().then(|| so_far.result());
        self.keep(sample, result.as_ref());
    }

    fn note(&mut self, text: &str) {
        self.view.note(text);
        self.record(|directory| directory.log(text));
    }
}
