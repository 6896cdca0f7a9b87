//! The link between a run and the run coordinator: commands in, counts and events out.
//!
//! The coordinator is that of mail runs. One thread runs its stages and may be busy for hours
//! (loading), while a second one reports counts every tick.

use crate::parallel::lock;
use measure::sample::{Phase, Recorder};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::thread;
use std::time::{Duration, Instant};
use workload::controller::link::{Inbox, Orders, POLL_NS, ShardMessage, Stage};
use workload::failure::{Failure, FailureKind};

/// Number of the only shard, and of the only database.
pub const ONLY_SHARD: usize = 0;

/// Runs the stages of a run, on behalf of the coordinator.
pub trait StageHandler: Sync {
    /// The link to the coordinator.
    fn link(&self) -> &ShardLink;

    /// Runs a stage to its end.
    ///
    /// # Errors
    /// What ends the run.
    fn run_stage(&self, stage: Stage) -> Result<(), Failure>;

    /// Is called every hundredth of a second.
    fn poll(&self);

    /// Is called before each report of counts.
    fn sample_state(&self);
}

/// The link to the coordinator, and the counts.
#[derive(Debug)]
pub struct ShardLink {
    orders: Arc<Orders>,
    inbox: Inbox,
    recorder: Mutex<Recorder>,
    started: Instant,
    next_tick_ns: AtomicU64,
    has_ended: AtomicBool,
    has_failed: AtomicBool,
}

impl ShardLink {
    /// A link that reports a recorder's counts, on the clock that started at `started`.
    #[must_use]
    pub fn new(orders: Arc<Orders>, inbox: Inbox, recorder: Recorder, started: Instant) -> Self {
        Self {
            orders,
            inbox,
            recorder: Mutex::new(recorder),
            started,
            next_tick_ns: AtomicU64::new(0),
            has_ended: AtomicBool::new(false),
            has_failed: AtomicBool::new(false),
        }
    }

    /// The commands of the run coordinator.
    #[must_use]
    pub fn orders(&self) -> &Arc<Orders> {
        &self.orders
    }

    /// The recorder of all counts.
    pub fn counts(&self) -> MutexGuard<'_, Recorder> {
        lock(&self.recorder)
    }

    /// Nanoseconds since the run began.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        // Five centuries fit.
        self.started.elapsed().as_nanos() as u64
    }

    /// When the run began.
    #[must_use]
    pub fn started(&self) -> Instant {
        self.started
    }

    /// Sends an event to the coordinator.
    pub fn report(&self, news: ShardMessage) {
        self.inbox.report(ONLY_SHARD, news);
    }

    /// Sends a message for the log.
    pub fn note(&self, text: impl Into<String>) {
        self.report(ShardMessage::Note(text.into()));
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
            self.report(ShardMessage::Failed(failure));
        }
    }

    /// Begins a phase; ticks count from now.
    pub fn begin_phase(&self, phase: Phase) {
        let mut recorder = self.counts();
        let now_ns = self.now_ns();
        let counts = recorder.begin_phase(phase, now_ns);
        self.next_tick_ns
            .store(now_ns + self.orders.tick_ns(), Ordering::Relaxed);
        self.report(ShardMessage::Counts(Box::new(counts)));
    }

    fn take_counts(&self) {
        let mut recorder = self.counts();
        let counts = recorder.take(self.now_ns());
        self.report(ShardMessage::Counts(Box::new(counts)));
    }

    fn next_stage(&self, number: usize) -> Stage {
        loop {
            if let Some(stage) = self.orders.stage(number) {
                return stage;
            }
            sleep_one_poll();
        }
    }
}

/// Runs all stages, while a second thread reports counts.
pub fn run_stages(handler: &dyn StageHandler) {
    let link = handler.link();
    let first_tick_ns = link.now_ns() + link.orders.tick_ns();
    link.next_tick_ns.store(first_tick_ns, Ordering::Relaxed);
    thread::scope(|scope| {
        let ends = EndOnDrop(link);
        scope.spawn(|| tick(handler));
        for number in 0.. {
            let stage = link.next_stage(number);
            if let Err(failure) = handler.run_stage(stage) {
                link.fail(failure);
            }
            if matches!(
                stage,
                Stage::Build | Stage::Open | Stage::Close | Stage::Verify
            ) {
                link.report(ShardMessage::Done(stage));
            }
            if stage == Stage::End {
                break;
            }
        }
        drop(ends);
    });
    link.take_counts();
    link.report(ShardMessage::Ended);
}

fn tick(handler: &dyn StageHandler) {
    let link = handler.link();
    while !link.has_ended.load(Ordering::Relaxed) {
        sleep_one_poll();
        handler.poll();
        let next_ns = link.next_tick_ns.load(Ordering::Relaxed);
        let now_ns = link.now_ns();
        if now_ns >= next_ns {
            let tick_ns = link.orders.tick_ns();
            let following_ns = (next_ns + tick_ns).max(now_ns + tick_ns / 2);
            handler.sample_state();
            link.take_counts();
            // A phase that began meanwhile has set its own.
            let _ = link.next_tick_ns.compare_exchange(
                next_ns,
                following_ns,
                Ordering::Relaxed,
                Ordering::Relaxed,
            );
        }
    }
}

fn sleep_one_poll() {
    thread::sleep(Duration::from_nanos(POLL_NS));
}

/// Ends the reporting thread, also when a stage panics: nobody may wait for it forever.
struct EndOnDrop<'a>(&'a ShardLink);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.has_ended.store(true, Ordering::Relaxed);
        if thread::panicking() {
            self.0.fail(Failure::of_panic("running the clients"));
            self.0.report(ShardMessage::Ended);
        }
    }
}
