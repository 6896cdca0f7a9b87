//! What every shard has in common: it follows the orders, counts every tick, and reports.

use super::link::{Inbox, LOOK_NS, News, Orders, Stage};
use crate::mail::store::{Failure, FailureKind};
use measure::sample::{Phase, Recorder};
use runtime::Handle;
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// What a shard does at every stage and between ticks, whatever its load.
pub(crate) trait Duties: 'static {
    /// The shard's line to the conductor.
    fn follower(&self) -> &Follower;

    /// Goes through a stage.
    ///
    /// # Errors
    /// What ends the run.
    async fn carry_out(&self, stage: Stage) -> Result<(), Failure>;

    /// Looks after the load, [`LOOK_NS`] after the last look, and reports what has failed.
    fn look_after(&self);

    /// Takes over what the load and its storage count themselves.
    fn note_state(&self);
}

/// The line of one shard to the conductor, and its counts.
pub(crate) struct Follower {
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
    pub(crate) fn new(
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
    pub(crate) fn orders(&self) -> &Arc<Orders> {
        &self.orders
    }

    /// Where the shard reports to.
    pub(crate) fn inbox(&self) -> &Inbox {
        &self.inbox
    }

    /// Whether the run has failed in this shard.
    pub(crate) fn has_failed(&self) -> bool {
        self.failed.get()
    }

    /// Tells the conductor.
    pub(crate) fn report(&self, news: News) {
        self.inbox.report(self.number, news);
    }

    /// Reports the first failure; those that follow it are its consequences.
    pub(crate) fn fail(&self, failure: Failure) {
        if !self.failed.replace(true) && failure.kind != FailureKind::Stopped {
            self.report(News::Failed(failure));
        }
    }

    /// Counts a new phase from now on, and from now on in whole ticks.
    pub(crate) fn begin_phase(&self, phase: Phase) {
        self.next_tick_ns
            .set(self.handle.now_ns() + self.orders.tick_ns());
        let counts = self.recorder.borrow_mut().begin_phase(phase, self.now_ns());
        self.report(News::Counts(Box::new(counts)));
    }

    fn take_counts(&self) {
        let counts = self.recorder.borrow_mut().take(self.now_ns());
        self.report(News::Counts(Box::new(counts)));
    }

    fn now_ns(&self) -> u64 {
        self.handle.now_ns() + self.offset_ns
    }

    async fn next_stage(&self, number: usize) -> Stage {
        loop {
            if let Some(stage) = self.orders.stage(number) {
                return stage;
            }
            self.handle.sleep_ns(LOOK_NS).await;
        }
    }
}

/// Follows the orders of a shard until the last.
pub(crate) async fn follow<D: Duties>(shard: Rc<D>) {
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
            Stage::Build | Stage::Open | Stage::Close | Stage::Verify
        ) {
            follower.report(News::Done(stage));
        }
        if stage == Stage::End {
            break;
        }
    }
    follower.ended.set(true);
    ticker.await;
    follower.report(News::Ended);
}

/// Counts every tick, and looks after the load between ticks.
async fn tick<D: Duties>(shard: &D) {
    let follower = shard.follower();
    let (handle, orders) = (&follower.handle, &follower.orders);
    follower
        .next_tick_ns
        .set(handle.now_ns() + orders.tick_ns());
    while !follower.ended.get() {
        handle.sleep_ns(LOOK_NS).await;
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
