//! Writes what happens in a run into the run directory, and passes it on as events.

use std::path::PathBuf;
use std::time::Duration;

use measure::result::RunResult;
use measure::run_directory::{RunDirectory, RunDirectoryError};
use measure::sample::Sample;
use workload::controller::{InterimResult, RunListener};
use workload::progress::{ByteProgress, LiveSample, Phase, StopRequest};

use crate::clock::Stopwatch;
use crate::error::Error;
use crate::events::{Event, Observer};
use crate::results;

/// Listens to a run for its observer and for the run directory.
pub struct Recorder {
    observer: Box<dyn Observer>,
    directory: Option<RunDirectory>,
    stop: StopRequest,
    /// Whether the wish to stop has been answered.
    answered: bool,
    /// Shortest real time between two results, and when the last one was written.
    pause: Duration,
    written: Option<Stopwatch>,
    /// Where the record goes on when its directory has no room any more.
    fallbacks: Vec<PathBuf>,
    /// The first error to write the record. Samples are lost from then on, the run is not.
    first_error: Option<RunDirectoryError>,
}

/// What has become of the record of a run.
#[derive(Debug)]
pub struct Recorded {
    /// The run directory, when there is one.
    pub directory: Option<PathBuf>,
    /// The first failure to write anything of the run, when it was not made good elsewhere.
    pub first_error: Option<Error>,
}

impl Recorded {
    /// The run directory of a record that must be complete.
    ///
    /// # Errors
    /// What could not be written.
    pub fn complete(self) -> Result<Option<PathBuf>, Error> {
        self.first_error.map_or(Ok(self.directory), Err)
    }
}

impl Recorder {
    /// Records a run in `directory`, if there is one, and notifies `observer`.
    pub fn new(
        mut observer: Box<dyn Observer>,
        directory: Option<RunDirectory>,
        stop: StopRequest,
    ) -> Self {
        if let Some(directory) = &directory {
            observer.event(Event::Directory(directory.path()));
        }
        Self {
            observer,
            directory,
            stop,
            answered: false,
            pause: Duration::ZERO,
            written: None,
            fallbacks: Vec::new(),
            first_error: None,
        }
    }

    /// The same, which writes the result so far once a second at most: samples of simulated time
    /// follow each other faster than anybody could want them.
    pub fn sparing(self) -> Self {
        let pause = Duration::from_secs(1);
        Self { pause, ..self }
    }

    /// The same, which goes on in a new directory in the first of these places that has room when
    /// the run directory has none any more.
    #[cfg(feature = "host")]
    pub fn with_fallbacks(self, fallbacks: Vec<PathBuf>) -> Self {
        Self { fallbacks, ..self }
    }

    /// Writes the end into the log, then the final result, and sets the hashes of what was written in it. Gives
    /// the observer back.
    pub fn finish(mut self, result: &mut RunResult) -> (Box<dyn Observer>, Recorded) {
        self.record(|directory| directory.log(&results::end_line(result)));
        self.record(|directory| directory.write_final_result(result));
        if self.first_error.is_some()
            && let Some(directory) = &self.directory
        {
            // Where samples are missing the result can still be there, with the verdict that is printed.
            let _ = directory.write_final_result(result);
        }
        // Nobody writes a report by a path that leads elsewhere.
        let directory = self.directory.as_ref();
        let directory = directory.and_then(|directory| match directory.refuse_replaced() {
            Ok(()) => Some(directory.path().to_owned()),
            Err(error) => {
                self.first_error.get_or_insert(error);
                None
            }
        });
        let recorded = Recorded {
            directory,
            first_error: self.first_error.as_ref().map(results::unwritable),
        };
        (self.observer, recorded)
    }

    fn record(
        &mut self,
        mut write: impl FnMut(&mut RunDirectory) -> Result<(), RunDirectoryError>,
    ) {
        if self.first_error.is_some() {
            return;
        }
        let Some(directory) = &mut self.directory else {
            return;
        };
        let Err(error) = write(directory) else {
            return;
        };
        let fallbacks = self.fallbacks.iter();
        let mut fallbacks = fallbacks.filter(|_| !error.has_lost_samples());
        let moved = fallbacks.find_map(|place| {
            let mut moved = directory.continue_in(place).ok()?;
            write(&mut moved).ok().map(|()| moved)
        });
        match moved {
            Some(moved) => {
                let to = moved.path().display();
                let text = format!("{} A copy goes on in {to}.", results::unwritable(&error));
                self.observer.event(Event::Note(&text));
                self.observer.event(Event::Directory(moved.path()));
                self.directory = Some(moved);
            }
            None => {
                let text = format!("The results can no longer be written: {error}");
                self.observer.event(Event::Note(&text));
                self.first_error = Some(error);
            }
        }
    }

    /// Passes on an event of which the run directory keeps nothing.
    pub fn pass_on(&mut self, event: Event<'_>) {
        self.observer.event(event);
    }

    /// Whether the result so far is to be written with the next sample.
    pub fn wants_result(&self) -> bool {
        self.directory.is_some() && self.written.is_none_or(|at| at.elapsed() >= self.pause)
    }

    /// Keeps a sample without showing it, and the result so far, if it is given.
    pub fn keep(&mut self, sample: &Sample, so_far: Option<&RunResult>) {
        self.record(|directory| directory.append(sample));
        if let Some(result) = so_far {
            self.record(|directory| directory.write_result(result));
            self.written = Some(Stopwatch::start());
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
        self.observer.event(Event::PhaseBegan { phase, expected });
        self.record(|directory| directory.log(phase.title()));
    }

    fn progress(&mut self, progress: ByteProgress) {
        self.answer_stop();
        self.observer.event(Event::Progress(progress));
    }

    fn doing(&mut self, text: &str) {
        self.answer_stop();
        self.observer.event(Event::Activity(text));
        self.record(|directory| directory.log(text));
    }

    fn live(&mut self, figures: &LiveSample) {
        self.answer_stop();
        self.observer.event(Event::Live(figures));
    }

    fn sample(&mut self, sample: &Sample, figures: &LiveSample, so_far: InterimResult<'_>) {
        self.observer.event(Event::Sample {
            sample,
            figures,
            interval_s: so_far.interval_s(),
        });
        let result = self.wants_result().then(|| so_far.result());
        self.keep(sample, result.as_ref());
    }

    fn second_sample(&mut self, sample: &Sample) {
        self.record(|directory| directory.append_second(sample));
    }

    fn note(&mut self, text: &str) {
        self.observer.event(Event::Note(text));
        self.record(|directory| directory.log(text));
    }
}
