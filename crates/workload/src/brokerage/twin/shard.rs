//! Takes a twin through the stages of a run, as the conductor orders them.

use super::database::Database;
use super::house::House;
use super::pages::file_bytes;
use super::run::Places;
use crate::brokerage::books::Books;
use crate::controller::RunPlan;
use crate::controller::follower::{Duties, Follower, follow};
use crate::controller::link::{Inbox, News, Orders, Stage};
use crate::controller::observer::{CountingObserver, FirstFailure};
use crate::mail::edb_store::failure_of;
use crate::mail::state_file::io_failure;
use crate::mail::store::Failure;
use measure::sample::{Phase, Recorder};
use runtime::{Directory, Handle, IoObserver};
use std::cell::RefCell;
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
    follower: Follower,
    recorder: Rc<RefCell<Recorder>>,
    house: RefCell<Option<Rc<House<D>>>>,
    failed_request: FirstFailure,
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
        let recorder = Rc::new(RefCell::new(recorder));
        let counts = Rc::clone(&recorder);
        Rc::new(Self {
            follower: Follower::new(FIRST, handle.clone(), orders, inbox, counts, 0),
            handle,
            plan,
            places,
            recorder,
            house: RefCell::default(),
            failed_request: Rc::default(),
        })
    }

    /// Runs until the order to end.
    pub(crate) async fn run(self: Rc<Self>) {
        follow(self).await;
    }

    /// Takes the space of the data files, as one sequential write would.
    async fn lay_out(&self) -> Result<(), Failure> {
        let bytes = self.file_bytes();
        self.follower
            .report(News::ToHandle(bytes * self.places.data.len() as u64));
        for (number, directory) in self.places.data.iter().enumerate() {
            let laid = directory.lay_out(&file_name(number), bytes).await;
            laid.map_err(|error| io_failure(&error, "laying out the database"))?;
            self.follower
                .report(News::Progress(bytes * (number as u64 + 1)));
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
            Arc::clone(self.follower.orders()),
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

    fn look_for_failures(&self) {
        let house = self.house.borrow();
        let of_house = house.as_ref().and_then(|house| house.failure());
        let failure = of_house.or_else(|| self.failed_request.borrow().clone());
        if let Some(failure) = failure {
            self.follower.fail(failure);
        }
    }
}

impl<D: Directory> Duties for Shard<D> {
    fn follower(&self) -> &Follower {
        &self.follower
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
        self.follower.begin_phase(phase);
        match (stage, self.house.borrow().as_ref()) {
            (Stage::WarmUp, Some(house)) if !self.follower.has_failed() => house.start(),
            _ => {}
        }
        if stage == Stage::Close {
            return self.close().await;
        }
        Ok(())
    }

    fn look_after(&self) {
        if let Some(house) = self.house.borrow().as_ref() {
            house.adjust();
        }
        self.look_for_failures();
    }

    fn note_state(&self) {
        if let Some(house) = self.house.borrow().as_ref() {
            let database = &house.database;
            let cache = database.pool.statistics();
            let mut recorder = self.recorder.borrow_mut();
            recorder.page_fault_stalls_so_far(FIRST, cache.page_fault_stalls);
            recorder.database_size(FIRST, database.size_bytes());
            self.follower.report(News::CacheFill(database.cache_fill()));
        }
    }
}

/// Name of a data file, by its number from 0.
fn file_name(number: usize) -> String {
    format!("brokerage-{:02}.data", number + 1)
}
