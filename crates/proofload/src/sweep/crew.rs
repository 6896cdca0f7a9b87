//! Computes many points at once, on all processors.

use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use measure::result::RunResult;
use measure::run_directory::REPORT_FILE;
use report::Run;
use workload::controller::RunListener;
use workload::progress::{LiveSample, Phase, StopRequest};

use super::point::Point;
use super::view::View;
use crate::failure::Failure;
use crate::predict;
use crate::run::Recorder;

/// How often progress is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// How far each point has come: the share of its measured phase, as the bits of a number.
pub type Board = std::sync::Arc<Vec<AtomicU64>>;

/// What the points have in common.
pub struct Crew<'a> {
    /// How many are computed at once.
    pub jobs: usize,
    /// Where the points have their directories.
    pub directory: &'a Path,
    /// Asks for an early end.
    pub stop: &'a StopRequest,
}

type Ended = Mutex<Option<Result<RunResult, Failure>>>;

impl Crew<'_> {
    /// The results of the points, in their order; `None` for those that were not begun because
    /// somebody asked for an early end.
    ///
    /// # Errors
    /// The first failure to write results, or a fault of the program.
    pub fn compute(
        &self,
        points: &[&Point],
        view: &mut View,
    ) -> Result<Vec<Option<RunResult>>, Failure> {
        let board: Board = std::sync::Arc::new(points.iter().map(|_| AtomicU64::new(0)).collect());
        let next = AtomicUsize::new(0);
        let ended: Vec<Ended> = points.iter().map(|_| Mutex::new(None)).collect();
        let workers = self.jobs.clamp(1, points.len().max(1));
        let left = AtomicUsize::new(workers);
        let (next, ended, left, board) = (&next, &ended, &left, &board);
        std::thread::scope(|scope| {
            for _ in 0..workers {
                scope.spawn(move || {
                    while let Some(number) = self.take(next, points.len()) {
                        let result = self.one(points[number], number, board);
                        *ended[number].lock().unwrap_or_else(PoisonError::into_inner) =
                            Some(result);
                    }
                    left.fetch_sub(1, Ordering::Release);
                });
            }
            let mut told = vec![false; points.len()];
            loop {
                let over = left.load(Ordering::Acquire) == 0;
                tell(points, ended, &mut told, view);
                view.progress(&shares(board), self.stop.is_stopped());
                if over {
                    break;
                }
                std::thread::sleep(LOOK_EVERY);
            }
        });
        let results = ended.iter().map(|slot| {
            let slot = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
            slot.transpose()
        });
        results.collect()
    }

    fn take(&self, next: &AtomicUsize, count: usize) -> Option<usize> {
        if self.stop.is_stopped() {
            return None;
        }
        let number = next.fetch_add(1, Ordering::Relaxed);
        (number < count).then_some(number)
    }

    /// Computes one point. A panic in it is an error of that point, told with its name.
    fn one(&self, point: &Point, number: usize, board: &Board) -> Result<RunResult, Failure> {
        let computed = catch_unwind(AssertUnwindSafe(|| self.record(point, number, board)));
        computed.unwrap_or_else(|_| {
            Err(Failure::integrity(
                format!(
                    "The prediction of {} ended by a fault of the program.",
                    point.name
                ),
                "Predict this point alone to see what happens, and report it.",
            ))
        })
    }

    fn record(&self, point: &Point, number: usize, board: &Board) -> Result<RunResult, Failure> {
        let started = Timestamp::now();
        let path = self.directory.join(point.directory());
        let directory = predict::open(&point.plan, Some(&path), started)?;
        let share = Share {
            board: Board::clone(board),
            number,
            warm_up: point.plan.profile.run.warm_up.minimum.duration(),
            duration: point.plan.profile.run.duration.duration(),
            phase: Phase::Opening,
        };
        let recorder = Recorder::new(Box::new(share), directory, self.stop.clone());
        let recorder = recorder.sparing();
        let (result, recorder) = predict::run(&point.plan, started, self.stop.clone(), recorder)?;
        predict::close(recorder, &result)?;
        write_report(&path)?;
        board[number].store(1f64.to_bits(), Ordering::Relaxed);
        Ok(result)
    }
}

fn write_report(directory: &Path) -> Result<(), Failure> {
    let run = Run::load(directory).map_err(|error| {
        Failure::environment(format!("The results are unreadable: {error}."), "")
    })?;
    let page = directory.join(REPORT_FILE);
    fs::write(&page, report::html(&run)).map_err(|error| {
        Failure::environment(
            format!("{} cannot be written: {error}.", page.display()),
            "",
        )
    })
}

/// Tells of the points that have ended since the last look.
fn tell(points: &[&Point], ended: &[Ended], told: &mut [bool], view: &mut View) {
    for (number, slot) in ended.iter().enumerate() {
        if told[number] {
            continue;
        }
        let slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(Ok(result)) = slot.as_ref() {
            view.point(&points[number].name, result);
        }
        told[number] = slot.is_some();
    }
}

fn shares(board: &Board) -> Vec<f64> {
    let shares = board.iter().map(|share| share.load(Ordering::Relaxed));
    shares.map(f64::from_bits).collect()
}

/// Notes how far a prediction has come.
struct Share {
    board: Board,
    number: usize,
    /// Shortest time to warm up, and the time measured.
    warm_up: Duration,
    duration: Duration,
    phase: Phase,
}

impl RunListener for Share {
    fn phase(&mut self, phase: Phase, _expected: Option<Duration>) {
        self.phase = phase;
    }

    fn live(&mut self, figures: &LiveSample) {
        let passed = match self.phase {
            Phase::WarmingUp => figures.elapsed.min(self.warm_up),
            Phase::Measuring => self.warm_up + figures.elapsed,
            _ => return,
        };
        let whole = self.warm_up + self.duration;
        let share = passed.as_secs_f64() / whole.as_secs_f64().max(1e-9);
        // The whole is reached when the results are written.
        self.board[self.number].store(share.min(0.99).to_bits(), Ordering::Relaxed);
    }
}
