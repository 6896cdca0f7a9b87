//! The line between a house and the conductor of its run: orders in, counts and news out.
//!
//! The conductor is the one that mail runs have. Its orders are followed on one thread, which may
//! be busy for hours (loading), while a second one counts every tick.

use measure::sample::{Phase, Recorder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::link::{Inbox, LOOK_NS, News, Orders, Stage};
use workload::mail::store::{Failure, FailureKind};

/// Number of the one shard, and of the one database.
pub const FIRST: usize = 0;

/// What a house does at every stage of a run.
pub trait Duties: Sync {
    /// The house's line to the conductor.
    fn line(&self) -> &Line;

    /// Goes through a stage.
    ///
    /// # Errors
    /// What ends the run.
    fn carry_out(&self, stage: Stage) -> Result<(), Failure>;

    /// Looks after what goes on in the background, every hundredth of a second.
    fn look_after(&self);

    /// Takes over what others count, before each tick.
    fn note_state(&self);
}

/// The line to the conductor, and the counts.
#[derive(Debug)]
pub struct Line {
    orders: Arc<Orders>,
    inbox: Inbox,
    recorder: Mutex<Recorder>,
    begun: Instant,
    next_tick_ns: AtomicU64,
    has_ended: AtomicBool,
    has_failed: AtomicBool,
}

impl Line {
    /// A line over which a recorder's counts are told, by the clock that began at `begun`.
    #[must_use]
    pub fn new(orders: Arc<Orders>, inbox: Inbox, recorder: Recorder, begun: Instant) -> Self {
        Self {
            orders,
            inbox,
            recorder: Mutex::new(recorder),
            begun,
            next_tick_ns: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// The conductor's orders.
    #[must_use]
    pub fn orders(&self) -> &Arc<Orders> {
        &self.orders
    }

    /// What is counted into.
    pub fn counts(&self) -> MutexGuard<'_, Recorder> {
        lock(&self.recorder)
    }

    /// Nanoseconds since the run began.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        // Five centuries fit.
        self.begun.elapsed().as_nanos() as u64
    }

    /// When the run began, on the clock of this process.
    #[must_use]
    pub fn begun(&self) -> Instant {
        self.begun
    }

    /// Tells the conductor.
    pub fn report(&self, news: News) {
        self.inbox.report(FIRST, news);
    }

    /// Tells what is worth a line of its own.
    pub fn note(&self, text: impl Into<String>) {
        self.report(News::Note(text.into()));
    }

    /// Whether the run has failed.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.has_failed.load(Ordering::Relaxed)
    }

    /// Reports the first failure; those that follow are its consequences.
    pub fn fail(&self, failure: Failure) {
        let first = !self.has_failed.swap(true, Ordering::Relaxed);
        if first && failure.kind != FailureKind::Stopped {
            self.report(News::Failed(failure));
        }
    }

    /// Counts a new phase from now on, in whole ticks.
    pub fn begin_phase(&self, phase: Phase) {
        let mut recorder = self.counts();
        let now_ns = self.now_ns();
        let counts = recorder.begin_phase(phase, now_ns);
        self.next_tick_ns
            .store(now_ns + self.orders.tick_ns(), Ordering::Relaxed);
        self.report(News::Counts(Box::new(counts)));
    }

    fn take_counts(&self) {
        let mut recorder = self.counts();
        let counts = recorder.take(self.now_ns());
        self.report(News::Counts(Box::new(counts)));
    }

    fn next_stage(&self, number: usize) -> Stage {
        loop {
            if let Some(stage) = self.orders.stage(number) {
                return stage;
            }
            look_away();
        }
    }
}

/// Follows the orders to the last, while a second thread counts.
pub fn follow(house: &dyn Duties) {
    let line = house.line();
    let first_tick_ns = line.now_ns() + line.orders.tick_ns();
    line.next_tick_ns.store(first_tick_ns, Ordering::Relaxed);
    thread::scope(|scope| {
        let ends = EndsInAnyCase(line);
        scope.spawn(|| tick(house));
        for number in 0.. {
            let stage = line.next_stage(number);
            if let Err(failure) = house.carry_out(stage) {
                line.fail(failure);
            }
            if matches!(
                stage,
                Stage::Build | Stage::Open | Stage::Close | Stage::Verify
            ) {
                line.report(News::Done(stage));
            }
            if stage == Stage::End {
                break;
            }
        }
        drop(ends);
    });
    line.take_counts();
    line.report(News::Ended);
}

fn tick(house: &dyn Duties) {
    let line = house.line();
    while !line.has_ended.load(Ordering::Relaxed) {
        look_away();
        house.look_after();
        let next_ns = line.next_tick_ns.load(Ordering::Relaxed);
        let now_ns = line.now_ns();
        if now_ns >= next_ns {
            let tick_ns = line.orders.tick_ns();
            let following_ns = (next_ns + tick_ns).max(now_ns + tick_ns / 2);
            house.note_state();
            line.take_counts();
            // A phase that began meanwhile has set its own.
            let _ = line.next_tick_ns.compare_exchange(
                next_ns,
                following_ns,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}

fn look_away() {
    thread::sleep(Duration::from_nanos(LOOK_NS));
}

/// Lets the counting thread end, also when a stage panics: nobody may wait for it for ever.
struct EndsInAnyCase<'a>(&'a Line);

impl Drop for EndsInAnyCase<'_> {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
        if thread::panicking() {
            self.0.fail(Failure {
                kind: FailureKind::Internal,
                file: String::new(),
                page: None,
                operation: "running the house".to_owned(),
                error: "a thread of the run ended by a panic; this is a bug of the program".into(),
            });
            self.0.report(News::Ended);
        }
    }
}

/// A panic elsewhere ends the run by itself; counts are whole at any time.
pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
