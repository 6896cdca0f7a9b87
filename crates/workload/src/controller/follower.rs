//! What every shard has in common: it follows the orders, counts every tick, and reports.

use super::link::{Inbox, Orders, POLL_NS, ShardMessage, Stage};
use crate::failure::{Failure, FailureKind};
use measure::sample::{Phase, Recorder};
use runtime::Handle;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// What a shard does at every stage and between ticks, whatever its load.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait ShardTasks: 'static {
    /// The shard's line to the run controller.
    fn follower(&self) -> &Follower;

    /// Goes through a stage.
    ///
    /// # Errors
    /// What ends the run.
    async fn carry_out(&self, stage: Stage) -> Result<(), Failure>;

    /// Looks after the load, [`POLL_NS`] after the last poll, and reports what has failed.
    fn look_after(&self);

    /// Takes over what the load and its storage count themselves.
    fn note_state(&self);
}

/// The line of one shard to the run controller, and its counts.
pub struct Follower {
    number: usize,
    handle: Handle,
    orders: Arc<Orders>,
    inbox: Inbox,
    recorder: Rc<RefCell<Recorder>>,
    /// What to add to the runtime's clock to get the clock of the run.
    offset_ns: u64,
    next_tick_ns: Cell<u64>,
    ended: Cell<bool>,
    failed: Cell<bool>,
}

impl Follower {
    /// The line of shard `number`, which counts into `recorder` by the clock of the run.
    pub fn new(
        number: usize,
        handle: Handle,
        orders: Arc<Orders>,
        inbox: Inbox,
        recorder: Rc<RefCell<Recorder>>,
        offset_ns: u64,
    ) -> Self {
        Self {
            number,
            handle,
            orders,
            inbox,
            recorder,
            offset_ns,
            next_tick_ns: Cell::new(0),
            ended: Cell::new(false),
            failed: Cell::new(false),
        }
    }

    /// The orders of the shard.
    pub fn orders(&self) -> &Arc<Orders> {
        &self.orders
    }

    /// Where the shard reports to.
    pub fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Whether the run has failed in this shard.
    pub fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// Sends a message to the run controller.
    pub fn report(&self, news: ShardMessage) {
        self.inbox.report(self.number, news);
    }

    /// Reports the first failure; those that follow it are its consequences.
    pub fn fail(&self, failure: Failure) {
        if !self.failed.replace(true) && failure.kind != FailureKind::Stopped {
            self.report(ShardMessage::Failed(failure));
        }
    }

    /// Counts a new phase from now on, and from now on in whole ticks.
    pub fn begin_phase(&self, phase: Phase) {
        self.next_tick_ns
            .set(self.handle.now_ns() + self.orders.tick_ns());
        let counts = self.recorder.borrow_mut().begin_phase(phase, self.now_ns());
        self.report(ShardMessage::Counts(Box::new(counts)));
    }

    fn take_counts(&self) {
        let counts = self.recorder.borrow_mut().take(self.now_ns());
        self.report(ShardMessage::Counts(Box::new(counts)));
    }

    fn now_ns(&self) -> u64 {
        self.handle.now_ns() + self.offset_ns
    }

    async fn next_stage(&self, number: usize) -> Stage {
        loop {
            if let Some(stage) = self.orders.stage(number) {
                return stage;
            }
            self.handle.sleep_ns(POLL_NS).await;
        }
    }
}

/// Follows the orders of a shard until the last.
pub async fn follow<D: ShardTasks>(shard: Rc<D>) {
    let follower = shard.follower();
    let ticker = Rc::clone(&shard);
    let ticker = follower.handle.spawn(async move { tick(&*ticker).await });
    for number in 0.. {
        let stage = follower.next_stage(number).await;
        if let Err(failure) = shard.carry_out(stage).await {
            follower.fail(failure);
        }
        shard.look_after();
        if matches!(
            stage,
            Stage::Restore
                | Stage::Build
                | Stage::Open
                | Stage::Close
                | Stage::Verify
                | Stage::Backup
                | Stage::CheckCopies
                | Stage::Seed
                | Stage::CompareCopies
                | Stage::Leave
                | Stage::Replay
        ) {
            follower.report(ShardMessage::Done(stage));
        }
        if stage == Stage::End {
            break;
        }
    }
    follower.ended.set(true);
    ticker.await;
    follower.report(ShardMessage::Ended);
}

/// Counts every tick, and looks after the load between ticks.
async fn tick<D: ShardTasks>(shard: &D) {
    let follower = shard.follower();
    let (handle, orders) = (&follower.handle, &follower.orders);
    follower
        .next_tick_ns
        .set(handle.now_ns() + orders.tick_ns());
    while !follower.ended.get() {
        handle.sleep_ns(POLL_NS).await;
        shard.look_after();
        let now_ns = handle.now_ns();
        if now_ns >= follower.next_tick_ns.get() {
            let tick_ns = orders.tick_ns();
            let next_ns = follower.next_tick_ns.get() + tick_ns;
            follower.next_tick_ns.set(next_ns.max(now_ns + tick_ns / 2));
            shard.note_state();
            follower.take_counts();
        }
    }
    follower.take_counts();
}
