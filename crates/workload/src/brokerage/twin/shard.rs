//! Takes a twin through the stages of a run, as the conductor orders them.

use super::database::Database;
use super::house::House;
use super::pages::file_bytes;
use super::run::Places;
use crate::brokerage::books::Books;
use crate::controller::RunPlan;
use crate::controller::link::{Inbox, LOOK_NS, News, Orders, Stage};
use crate::controller::observer::{CountingObserver, FirstFailure};
use crate::mail::edb_store::failure_of;
use crate::mail::state_file::io_failure;
use crate::mail::store::{Failure, FailureKind};
use measure::sample::{Phase, Recorder};
use runtime::{Directory, Handle, IoObserver};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

/// What the database is called in messages.
pub(crate) const NAME: &str = "brokerage database";

/// Number of the one shard, and of the one database.
const FIRST: usize = 0;

/// The one shard of a twin.
pub(crate) struct Shard<D: Directory> {
    handle: Handle,
    plan: Arc<RunPlan>,
    places: Places<D>,
    orders: Arc<Orders>,
    inbox: Inbox,
    recorder: Rc<RefCell<Recorder>>,
    house: RefCell<Option<Rc<House<D>>>>,
    failed_request: FirstFailure,
    next_tick_ns: Cell<u64>,
    ended: Cell<bool>,
    failed: Cell<bool>,
}

impl<D: Directory> Shard<D> {
    pub(crate) fn new(
        handle: Handle,
        plan: Arc<RunPlan>,
        places: Places<D>,
        orders: Arc<Orders>,
        inbox: Inbox,
    ) -> Rc<Self> {
        let layout = Arc::clone(&plan.layout);
        let recorder = Recorder::new(layout, FIRST, Phase::Build, handle.now_ns());
        Rc::new(Self {
            handle,
            plan,
            places,
            orders,
            inbox,
            recorder: Rc::new(RefCell::new(recorder)),
            house: RefCell::default(),
            failed_request: Rc::default(),
            next_tick_ns: Cell::new(0),
            ended: Cell::new(false),
            failed: Cell::new(false),
        })
    }

    /// Runs until the order to end.
    pub(crate) async fn run(self: Rc<Self>) {
        let ticker = Rc::clone(&self);
        let ticker = self.handle.spawn(async move { ticker.tick().await });
        for number in 0.. {
            let stage = self.next_stage(number).await;
            if let Err(failure) = self.carry_out(stage).await {
                self.fail(failure);
            }
            if matches!(
                stage,
                Stage::Build | Stage::Open | Stage::Close | Stage::Verify
            ) {
                self.report(News::Done(stage));
            }
            if stage == Stage::End {
                break;
            }
        }
        self.ended.set(true);
        ticker.await;
        self.report(News::Ended);
    }

    async fn next_stage(&self, number: usize) -> Stage {
        loop {
            if let Some(stage) = self.orders.stage(number) {
                return stage;
            }
            self.handle.sleep_ns(LOOK_NS).await;
        }
    }

    async fn carry_out(&self, stage: Stage) -> Result<(), Failure> {
        let phase = match stage {
            Stage::Build => return self.lay_out().await,
            Stage::Open => return self.open().await,
            Stage::WarmUp => Phase::WarmUp,
            Stage::Tune => Phase::Tuning,
            Stage::Measure => Phase::Measured,
            Stage::Close => Phase::Close,
            Stage::Verify => Phase::Checksum,
            Stage::End => return Ok(()),
        };
        self.note_state();
        self.next_tick_ns
            .set(self.handle.now_ns() + self.orders.tick_ns());
        let now_ns = self.handle.now_ns();
        let counts = self.recorder.borrow_mut().begin_phase(phase, now_ns);
        self.report(News::Counts(Box::new(counts)));
        match (stage, self.house.borrow().as_ref()) {
            (Stage::WarmUp, Some(house)) if !self.failed.get() => house.start(),
            _ => {}
        }
        if stage == Stage::Close {
            return self.close().await;
        }
        Ok(())
    }

    /// Takes the space of the data files, as one sequential write would.
    async fn lay_out(&self) -> Result<(), Failure> {
        let bytes = self.file_bytes();
        self.report(News::ToHandle(bytes * self.places.data.len() as u64));
        for (number, directory) in self.places.data.iter().enumerate() {
            let laid = directory.lay_out(&file_name(number), bytes).await;
            laid.map_err(|error| io_failure(&error, "laying out the database"))?;
            self.report(News::Progress(bytes * (number as u64 + 1)));
        }
        let mut recorder = self.recorder.borrow_mut();
        recorder.database_size(FIRST, self.plan.database_bytes);
        Ok(())
    }

    fn file_bytes(&self) -> u64 {
        let brokerage = &self.plan.profile.brokerage;
        let pages = Books::build(brokerage).all_pages();
        let page_bytes = brokerage.database.page_size.bytes();
        file_bytes(pages, self.places.data.len() as u64, page_bytes)
    }

    async fn open(&self) -> Result<(), Failure> {
        let profile = &self.plan.profile;
        let mut files = Vec::new();
        for (number, directory) in self.places.data.iter().enumerate() {
            let file = directory.open(&file_name(number)).await;
            files.push(file.map_err(|error| io_failure(&error, "opening the database"))?);
        }
        let observer: Rc<dyn IoObserver> = Rc::new(CountingObserver::new(
            Rc::clone(&self.recorder),
            FIRST,
            profile.brokerage.database.page_size.bytes(),
            Rc::clone(&self.failed_request),
        ));
        let opened = Database::open(&self.handle, profile, files, &self.places.log, observer);
        let opened = opened.await;
        let database = opened.map_err(|error| failure_of(&error, NAME, "opening"))?;
        *self.house.borrow_mut() = Some(House::new(
            Rc::new(database),
            &profile.brokerage,
            profile.run.seed,
            Arc::clone(&self.orders),
            Rc::clone(&self.recorder),
        ));
        self.note_state();
        Ok(())
    }

    async fn close(&self) -> Result<(), Failure> {
        let Some(house) = self.house.borrow_mut().take() else {
            return Ok(());
        };
        house.stop().await;
        let closed = house.database.close().await;
        let closed = closed.map_err(|error| failure_of(&error, NAME, "closing"));
        house.failure().map_or(Ok(()), Err).and(closed)
    }

    /// Counts every tick, and looks after the house between ticks.
    async fn tick(&self) {
        self.next_tick_ns
            .set(self.handle.now_ns() + self.orders.tick_ns());
        while !self.ended.get() {
            self.handle.sleep_ns(LOOK_NS).await;
            if let Some(house) = self.house.borrow().as_ref() {
                house.adjust();
            }
            self.look_for_failures();
            let now_ns = self.handle.now_ns();
            if now_ns >= self.next_tick_ns.get() {
                let tick_ns = self.orders.tick_ns();
                let next_ns = self.next_tick_ns.get() + tick_ns;
                self.next_tick_ns.set(next_ns.max(now_ns + tick_ns / 2));
                self.note_state();
                self.take_counts();
            }
        }
        self.take_counts();
    }

    fn take_counts(&self) {
        let counts = self.recorder.borrow_mut().take(self.handle.now_ns());
        self.report(News::Counts(Box::new(counts)));
    }

    fn look_for_failures(&self) {
        let house = self.house.borrow();
        let of_house = house.as_ref().and_then(|house| house.failure());
        let failure = of_house.or_else(|| self.failed_request.borrow().clone());
        if let Some(failure) = failure {
            self.fail(failure);
        }
    }

    fn note_state(&self) {
        if let Some(house) = self.house.borrow().as_ref() {
            let database = &house.database;
            let cache = database.pool.statistics();
            let mut recorder = self.recorder.borrow_mut();
            recorder.page_fault_stalls_so_far(FIRST, cache.page_fault_stalls);
            recorder.database_size(FIRST, database.size_bytes());
            self.report(News::CacheFill(database.cache_fill()));
        }
    }

    fn fail(&self, failure: Failure) {
        if !self.failed.replace(true) && failure.kind != FailureKind::Stopped {
            self.report(News::Failed(failure));
        }
    }

    fn report(&self, news: News) {
        self.inbox.report(FIRST, news);
    }
}

/// Name of a data file, by its number from 0.
fn file_name(number: usize) -> String {
    format!("brokerage-{:02}.data", number + 1)
}
