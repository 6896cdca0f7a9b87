//! Computes the points of a sweep, each with a run directory.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use measure::result::RunResult;
use measure::run_directory::load_result;
use workload::progress::{Phase, StopRequest};

use super::point::Point;
use crate::workers::Helpers;
use crate::{predict, workers};
use execution::Error;
use execution::Output;
use execution::clock;
use execution::events::{Event, Observer};
use execution::recorder::Recorder;

/// How far each point has come: the share of its measured phase, as the bits of a number.
pub type Progress = Arc<Vec<AtomicU64>>;

/// What the points have in common.
pub struct Computation<'a> {
    /// How many are computed at once.
    pub jobs: usize,
    /// Other processes that compute points too.
    pub helpers: &'a dyn Helpers,
    /// Where the points have their directories, if anything is written.
    pub directory: Option<PathBuf>,
    /// Asks for an early end.
    pub stop: &'a StopRequest,
}

impl Computation<'_> {
    /// The results of the points, in their order; `None` for those that were not begun because
    /// somebody asked for an early end.
    ///
    /// # Errors
    /// The first error to write results, or a fault of the program.
    pub fn compute(
        &self,
        points: &[&Point],
        observer: &mut dyn Observer,
    ) -> Result<Vec<Option<RunResult>>, Error> {
        let progress: Progress = Arc::new(points.iter().map(|_| AtomicU64::new(0)).collect());
        let work = |thread: usize, number: usize| match thread.checked_sub(self.jobs) {
            Some(slot) => self.elsewhere(slot, points[number], number, &progress),
            None => self.one(points[number], number, &progress),
        };
        let mut has_stopped = false;
        let report = |done: Option<(usize, &RunResult)>| {
            if let Some((number, result)) = done {
                observer.event(Event::PointDone {
                    name: &points[number].name,
                    result,
                    directory: self.directory_of(points[number]).as_deref(),
                });
            }
            if self.stop.is_stopped() && !has_stopped {
                has_stopped = true;
                observer.event(Event::Note(
                    "Stopping; what was computed is kept. Press Ctrl-C again to stop at once.",
                ));
            }
            observer.event(Event::SweepProgress(&shares(&progress)));
        };
        let threads = self.jobs + self.helpers.slots();
        workers::compute(threads, points.len(), self.stop, work, report)
    }

    /// Has a point computed by a helper, or computes it here where that cannot be done.
    fn elsewhere(
        &self,
        slot: usize,
        point: &Point,
        number: usize,
        progress: &Progress,
    ) -> Result<RunResult, Error> {
        let Some(directory) = self.directory_of(point) else {
            return self.one(point, number, progress);
        };
        if !self.helpers.compute(slot, &point.directory(), &directory)? {
            return self.one(point, number, progress);
        }
        progress[number].store(1f64.to_bits(), Ordering::Relaxed);
        let loaded = load_result(&directory);
        loaded.map_err(|error| Error::environment(format!("{error}."), ""))
    }

    /// Computes one point. A panic in it is an error of that point.
    fn one(&self, point: &Point, number: usize, progress: &Progress) -> Result<RunResult, Error> {
        let computed = catch_unwind(AssertUnwindSafe(|| self.record(point, number, progress)));
        computed.unwrap_or_else(|_| {
            Err(Error::integrity(
                format!(
                    "The prediction of {} ended by a fault of the program.",
                    point.name
                ),
                "Predict this point alone to see what happens, and report it.",
            ))
        })
    }

    fn directory_of(&self, point: &Point) -> Option<PathBuf> {
        let parent = self.directory.as_ref()?;
        Some(parent.join(point.directory()))
    }

    fn record(
        &self,
        point: &Point,
        number: usize,
        progress: &Progress,
    ) -> Result<RunResult, Error> {
        let output = match self.directory_of(point) {
            Some(path) => Output::Directory(path),
            None => Output::Memory,
        };
        let share = Share {
            progress: Progress::clone(progress),
            number,
            warm_up: point
                .plan
                .profile
                .warm_up_in_prediction()
                .shortest
                .duration(),
            duration: point.plan.profile.run().duration.duration(),
            phase: Phase::Opening,
        };
        let result = record(point, &output, Box::new(share), self.stop)?;
        progress[number].store(1f64.to_bits(), Ordering::Relaxed);
        Ok(result)
    }
}

/// Predicts a point and writes its run directory, if it has one.
///
/// # Errors
/// When it cannot be written.
pub fn record(
    point: &Point,
    output: &Output,
    observer: Box<dyn Observer>,
    stop: &StopRequest,
) -> Result<RunResult, Error> {
    let started = clock::timestamp();
    let directory = predict::open(&point.plan, output, started)?;
    let recorder = Recorder::new(observer, directory, stop.clone()).sparing();
    let (mut result, recorder) = predict::run(&point.plan, started, stop, recorder, 1)?;
    recorder.finish(&mut result).1.complete()?;
    Ok(result)
}

fn shares(progress: &Progress) -> Vec<f64> {
    let shares = progress.iter().map(|share| share.load(Ordering::Relaxed));
    shares.map(f64::from_bits).collect()
}

/// Notes how far a prediction has come.
struct Share {
    progress: Progress,
    number: usize,
    /// Shortest time to warm up, and the time measured.
    warm_up: Duration,
    duration: Duration,
    phase: Phase,
}

impl Observer for Share {
    fn event(&mut self, event: Event<'_>) {
        let figures = match event {
            Event::PhaseBegan { phase, .. } => {
                self.phase = phase;
                return;
            }
            Event::Live(figures) => figures,
            _ => return,
        };
        let passed = match self.phase {
            Phase::WarmingUp => figures.elapsed.min(self.warm_up),
            Phase::Measuring => self.warm_up + figures.elapsed,
            _ => return,
        };
        let whole = self.warm_up + self.duration;
        let share = passed.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        // The whole is reached when the results are written.
        self.progress[self.number].store(share.min(0.99).to_bits(), Ordering::Relaxed);
    }
}
