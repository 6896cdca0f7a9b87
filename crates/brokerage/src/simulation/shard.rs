//! Runs the stages of a simulated run, as the run coordinator orders them.

use super::clients::{Clients, NAME};
use super::database::Database;
use super::pages::file_bytes;
use crate::profile::BrokerageProfile;
use crate::simulation::trees::Trees;
use measure::sample::{Phase, Recorder};
use runtime::{Directory, Handle, IoObserver};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::RunPlan;
use workload::controller::follower::{Follower, ShardTasks, follow};
use workload::controller::link::{CacheState, Inbox, Orders, ShardMessage, Stage};
use workload::controller::observer::CountingObserver;
use workload::controller::pending_errors::PendingErrors;
use workload::failure::Failure;

/// The directories of a database's files.
#[derive(Clone)]
pub struct Places<D> {
    /// The directory of each data file.
    pub data: Vec<D>,
    /// The directory of the log.
    pub log: D,
}

/// Number of the only shard, and of the only database.
const ONLY_SHARD: usize = 0;

/// The only shard of a simulated run.
pub(crate) struct Shard<D: Directory> {
    handle: Handle,
    profile: BrokerageProfile,
    plan: Arc<RunPlan>,
    places: Places<D>,
    follower: Follower,
    recorder: Rc<RefCell<Recorder>>,
    clients: RefCell<Option<Rc<Clients<D>>>>,
    /// Failed requests that were not reported to the controller yet.
    errors: PendingErrors,
}

impl<D: Directory> Shard<D> {
    pub(crate) fn new(
        handle: Handle,
        profile: BrokerageProfile,
        plan: Arc<RunPlan>,
        places: Places<D>,
        orders: Arc<Orders>,
        inbox: Inbox,
    ) -> Rc<Self> {
        let layout = Arc::clone(&plan.layout);
        let recorder = Recorder::new(layout, ONLY_SHARD, Phase::Build, handle.now_ns());
        let recorder = Rc::new(RefCell::new(recorder));
        let counts = Rc::clone(&recorder);
        Rc::new(Self {
            follower: Follower::new(ONLY_SHARD, handle.clone(), orders, inbox, counts, 0),
            handle,
            profile,
            plan,
            places,
            recorder,
            clients: RefCell::default(),
            errors: PendingErrors::default(),
        })
    }

    /// Runs until the last stage.
    pub(crate) async fn run(self: Rc<Self>) {
        follow(self).await;
    }

    /// Allocates the data files, as one sequential write would.
    async fn lay_out(&self) -> Result<(), Failure> {
        let bytes = self.file_bytes();
        self.follower.report(ShardMessage::ToHandle(
            bytes * self.places.data.len() as u64,
        ));
        for (number, directory) in self.places.data.iter().enumerate() {
            let laid = directory.lay_out(&file_name(number), bytes).await;
            laid.map_err(|error| Failure::of_io(&error, "laying out the database"))?;
            self.follower
                .report(ShardMessage::Progress(bytes * (number as u64 + 1)));
        }
        let mut recorder = self.recorder.borrow_mut();
        recorder.database_size(ONLY_SHARD, self.plan.database_bytes);
        Ok(())
    }

    fn file_bytes(&self) -> u64 {
        let brokerage = &self.profile.brokerage;
        let pages = Trees::build(brokerage).all_pages();
        let page_bytes = brokerage.database.page_size.bytes();
        file_bytes(pages, self.places.data.len() as u64, page_bytes)
    }

    async fn open(&self) -> Result<(), Failure> {
        let profile = &self.profile;
        let mut files = Vec::new();
        for (number, directory) in self.places.data.iter().enumerate() {
            let file = directory.open(&file_name(number)).await;
            files.push(file.map_err(|error| Failure::of_io(&error, "opening the database"))?);
        }
        let observer: Rc<dyn IoObserver> = Rc::new(CountingObserver::new(
            Rc::clone(&self.recorder),
            ONLY_SHARD,
            profile.brokerage.database.page_size.bytes(),
            self.errors.clone(),
        ));
        let opened = Database::open(&self.handle, profile, files, &self.places.log, observer);
        let opened = opened.await;
        let database = opened.map_err(|error| Failure::of_engine(&error, NAME, "opening"))?;
        *self.clients.borrow_mut() = Some(Clients::new(
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
        let Some(clients) = self.clients.borrow_mut().take() else {
            return Ok(());
        };
        clients.stop().await;
        let closed = clients.database.close().await;
        let closed = closed.map_err(|error| Failure::of_engine(&error, NAME, "closing"));
        clients.failure().map_or(Ok(()), Err).and(closed)
    }

    fn report_failures(&self) {
        let clients = self.clients.borrow();
        let of_clients = clients.as_ref().and_then(|clients| clients.failure());
        let failure = of_clients.or_else(|| self.errors.take_first());
        if let Some(failure) = failure {
            self.follower.fail(failure);
        }
    }
}

impl<D: Directory> ShardTasks for Shard<D> {
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
            Stage::Restore
            | Stage::Backup
            | Stage::CheckCopies
            | Stage::WriteLog
            | Stage::Leave
            | Stage::Replay
            | Stage::Seed
            | Stage::CompareCopies => {
                return Err(Failure::unsupported("testing backup or recovery"));
            }
            Stage::End => return Ok(()),
        };
        self.note_state();
        self.follower.begin_phase(phase);
        match (stage, self.clients.borrow().as_ref()) {
            (Stage::WarmUp, Some(clients)) if !self.follower.has_failed() => clients.start(),
            _ => {}
        }
        if stage == Stage::Close {
            return self.close().await;
        }
        Ok(())
    }

    fn look_after(&self) {
        if let Some(clients) = self.clients.borrow().as_ref() {
            clients.adjust();
        }
        self.report_failures();
    }

    fn note_state(&self) {
        if let Some(clients) = self.clients.borrow().as_ref() {
            let database = &clients.database;
            let cache = database.cache.statistics();
            let mut recorder = self.recorder.borrow_mut();
            recorder.page_fault_stalls_so_far(ONLY_SHARD, cache.page_fault_stalls);
            recorder.database_size(ONLY_SHARD, database.size_bytes());
            self.follower
                .report(ShardMessage::Caches(CacheState::of_fill(
                    database.cache_fill(),
                )));
        }
    }
}

/// Name of a data file, by its number from 0.
fn file_name(number: usize) -> String {
    format!("brokerage-{:02}.data", number + 1)
}
