//! One shard: the databases of one thread, taken through the stages of a run.

mod replication;
mod storage_tests;

use super::follower::{Follower, ShardTasks, follow};
use super::host::{DatabaseHost, LoadedDatabase, OnFound, OnStep, Progress};
use super::hung::HungWatch;
use super::link::{CacheState, Inbox, Orders, ShardMessage, Stage};
use super::load::{Load, OnError};
use super::observer::CountingObserver;
use super::pending_errors::{PendingError, PendingErrors};
use super::plan::RunPlan;
use super::shard_progress::Parts;
use crate::failure::Failure;
use crate::random::SeededRng;
use futures_util::future::join_all;
use measure::sample::{Phase, Recorder};
use runtime::{Handle, IoObserver};
use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;
use storage_tests::LogTarget;

/// Takes one shard through a run, from the order to build to the order to end.
pub struct Shard<H: DatabaseHost> {
    number: usize,
    handle: Handle,
    host: H,
    plan: Arc<RunPlan>,
    follower: Follower,
    recorder: Rc<RefCell<Recorder>>,
    load: RefCell<Option<Rc<Load<H::Database>>>>,
    /// Sizes of the databases as last seen open, in the order of [`Self::databases`].
    sizes_bytes: RefCell<Vec<u64>>,
    /// What has gone wrong and was not reported yet; whoever made a request that failed may have kept
    /// that to itself.
    errors: PendingErrors,
    hung: HungWatch,
    closing: RefCell<Closing<H::Database>>,
    log_target: RefCell<Option<LogTarget>>,
}

/// Progress is reported every few megabytes.
const REPORTED_BYTES: u64 = 4 << 20;

/// The databases that are being closed.
struct Closing<D> {
    databases: Vec<D>,
    /// What there was to do.
    total_bytes: u64,
    /// What was reported of it.
    reported_bytes: u64,
}

fn closing_bytes<D: LoadedDatabase>(database: &D) -> u64 {
    database.statistics().closing_bytes
}

impl<H: DatabaseHost> Shard<H> {
    /// Shard `number` of the plan.
    pub fn new(
        number: usize,
        handle: Handle,
        host: H,
        plan: Arc<RunPlan>,
        orders: Arc<Orders>,
        inbox: Inbox,
        offset_ns: u64,
    ) -> Rc<Self> {
        let now_ns = handle.now_ns() + offset_ns;
        let hung_after_ns = plan.run.hung_request_after.as_ns();
        let recorder = Recorder::new(Arc::clone(&plan.layout), number, Phase::Build, now_ns);
        let recorder = Rc::new(RefCell::new(recorder));
        let counts = Rc::clone(&recorder);
        Rc::new(Self {
            number,
            follower: Follower::new(number, handle.clone(), orders, inbox, counts, offset_ns),
            handle,
            host,
            plan,
            recorder,
            load: RefCell::new(None),
            sizes_bytes: RefCell::default(),
            errors: PendingErrors::default(),
            hung: HungWatch::new(hung_after_ns),
            closing: RefCell::new(Closing {
                databases: Vec::new(),
                total_bytes: 0,
                reported_bytes: 0,
            }),
            log_target: RefCell::default(),
        })
    }

    /// Runs until the order to end.
    pub async fn run(self: Rc<Self>) {
        follow(self).await;
    }

    fn databases(&self) -> &[usize] {
        &self.plan.shards[self.number]
    }

    async fn build(&self) -> Result<(), Failure> {
        let mut before = 0;
        let count = self.databases().len() as u64;
        if !self.plan.reuse {
            self.follower
                .report(ShardMessage::ToHandle(self.plan.database_bytes * count));
        }
        for &database in self.databases() {
            let begun = Rc::new(Cell::new(!self.plan.reuse));
            let progress = self.build_progress(before, Rc::clone(&begun));
            let (observer, found) = (self.observer(database), self.found(database));
            let build = self.host.build(database, observer, progress, found);
            let built = build
                .await
                .map_err(|failure| failure.of_database(database))?;
            self.recorder
                .borrow_mut()
                .database_size(database, built.size_bytes);
            if begun.get() {
                before += self.plan.database_bytes;
                self.follower.report(ShardMessage::Progress(before));
            }
        }
        Ok(())
    }

    /// The progress of one build. What there is to build among kept databases shows only as builds
    /// begin.
    fn build_progress(&self, before: u64, begun: Rc<Cell<bool>>) -> Progress {
        let (inbox, number) = (self.follower.inbox().clone(), self.number);
        let to_handle = before + self.plan.database_bytes;
        let progress = self.progress(before);
        Rc::new(move |bytes| {
            if !begun.replace(true) {
                inbox.report(number, ShardMessage::ToHandle(to_handle));
            }
            progress(bytes)
        })
    }

    /// Reports that an interrupted build of a database goes on.
    fn found(&self, database: usize) -> OnFound {
        let (inbox, number) = (self.follower.inbox().clone(), self.number);
        Rc::new(move |found_bytes| {
            let goes_on = ShardMessage::BuildGoesOn {
                database,
                found_bytes,
            };
            inbox.report(number, goes_on);
        })
    }

    async fn open(&self) -> Result<(), Failure> {
        let mut opened = Vec::new();
        for &database in self.databases() {
            let observer = self.observer(database);
            let recorder = Rc::clone(&self.recorder);
            let open = self.host.open(database, observer, recorder, self.doing());
            let open = open
                .await
                .map_err(|failure| failure.of_database(database))?;
            self.note(open.note);
            opened.push(open.database);
        }
        self.load(opened);
        Ok(())
    }

    /// Makes a load over open databases, which has not begun.
    fn load(&self, opened: Vec<H::Database>) {
        let load = Load::new(
            self.handle.clone(),
            Arc::clone(self.follower.orders()),
            opened,
            (self.plan.how, self.plan.division.of(self.databases())),
            self.on_error(),
        );
        *self.load.borrow_mut() = Some(load);
        self.note_state();
    }

    /// An error of one database changes nothing for the others, unless it ends the run.
    fn note_or_fail(&self, database: usize, failure: Failure) -> Result<(), Failure> {
        if failure.ends_run() {
            return Err(failure.of_database(database));
        }
        self.errors.note_in_transaction(Some(database), failure);
        Ok(())
    }

    /// The same of what was found in copies. One may end the run: the other copies have been looked at by then.
    fn note_or_fail_all(&self, failures: Vec<(usize, Failure)>) -> Result<(), Failure> {
        failures
            .into_iter()
            .try_for_each(|(database, failure)| self.note_or_fail(database, failure))
    }

    /// The progress of work on all databases at the same time, with these bytes each.
    fn parts(&self, sizes_bytes: Vec<u64>) -> Rc<Parts> {
        let (inbox, number) = (self.follower.inbox().clone(), self.number);
        let orders = Arc::clone(self.follower.orders());
        inbox.report(number, ShardMessage::ToHandle(sizes_bytes.iter().sum()));
        let report = move |bytes| {
            inbox.report(number, ShardMessage::Progress(bytes));
        };
        Parts::new(sizes_bytes, report, move || !orders.is_abandoned())
    }

    fn start(&self) {
        if let (Some(load), false) = (self.load.borrow().as_ref(), self.follower.has_failed()) {
            let stream = 0x7061_6365 + self.number as u64;
            load.start(SeededRng::new(self.plan.run.seed, stream));
        }
    }

    async fn close(&self) -> Result<(), Failure> {
        let Some(load) = self.load.borrow_mut().take() else {
            return Ok(());
        };
        load.stop().await;
        self.follower.report(ShardMessage::ToHandle(
            self.begin_closing(load.databases().to_vec()),
        ));
        let mut result = load.failure().map_or(Ok(()), Err);
        for (&number, database) in self.databases().iter().zip(load.databases()) {
            let whole = load.failure().is_none();
            // Every database is closed, whatever became of the others.
            let closed = self.host.close(number, database.clone(), whole).await;
            self.note_damage(number, database);
            match closed {
                // The load has ended: an error of one database changes nothing for the others.
                Err(failure) if !failure.ends_run() => {
                    self.errors.note_in_transaction(Some(number), failure);
                }
                closed => {
                    result = result.and(closed.map_err(|failure| failure.of_database(number)));
                }
            }
        }
        self.closing.borrow_mut().databases.clear();
        result
    }

    /// Notes the databases that are about to be closed; gives the bytes of pages to remove rows
    /// from and to write before they are.
    fn begin_closing(&self, databases: Vec<H::Database>) -> u64 {
        let closing = Closing {
            total_bytes: databases.iter().map(closing_bytes).sum(),
            reported_bytes: 0,
            databases,
        };
        let total_bytes = closing.total_bytes;
        *self.closing.borrow_mut() = closing;
        total_bytes
    }

    /// Reports how much has been done on the way to closed databases.
    fn follow_closing(&self) {
        let mut closing = self.closing.borrow_mut();
        let left_bytes = closing.databases.iter().map(closing_bytes).sum();
        let done_bytes = closing.total_bytes.saturating_sub(left_bytes);
        if !closing.databases.is_empty() && done_bytes >= closing.reported_bytes + REPORTED_BYTES {
            closing.reported_bytes = done_bytes;
            self.follower.report(ShardMessage::Progress(done_bytes));
        }
    }

    /// Verifies all databases at the same time.
    async fn verify(&self) -> Result<(), Failure> {
        let mut result = Ok(());
        let mut sizes_bytes = self.sizes_bytes.take();
        sizes_bytes.resize(self.databases().len(), self.plan.database_bytes);
        let parts = self.parts(sizes_bytes);
        let verified = self
            .databases()
            .iter()
            .enumerate()
            .map(|(part, &database)| {
                let verified = self.host.verify(database, parts.progress(part));
                async move { (part, database, verified.await) }
            });
        for (part, database, verified) in join_all(verified).await {
            match verified {
                Ok(report) => self
                    .follower
                    .report(ShardMessage::Verified { database, report }),
                // What cannot be read at all is one error more, and the others are read.
                Err(failure) if !failure.ends_run() => {
                    self.errors.note_in_transaction(Some(database), failure);
                    self.follower.report(ShardMessage::NotVerified { database });
                }
                Err(failure) => result = result.and(Err(failure.of_database(database))),
            }
            parts.finish(part);
        }
        result
    }

    /// Reports what has gone wrong since the last time, also what no session has met.
    fn report_errors(&self) {
        if let Some(load) = self.load.borrow().as_ref() {
            for (&number, database) in self.databases().iter().zip(load.databases()) {
                self.note_damage(number, database);
            }
            if let Some(failure) = load.failure() {
                self.report_met();
                self.follower.fail(failure);
            }
        }
        self.report_met();
    }

    fn report_met(&self) {
        let ending = self.errors.take_ending();
        let met = self.errors.take();
        if !met.is_empty() {
            self.follower.report(ShardMessage::Met(met));
        }
        if let Some(PendingError {
            database, failure, ..
        }) = ending
        {
            self.follower.fail(Failure {
                database: database.or(failure.database),
                ..failure
            });
        }
    }

    fn note_damage(&self, number: usize, database: &H::Database) {
        for failure in database.take_damage() {
            self.errors.note_in_transaction(Some(number), failure);
        }
    }

    fn on_error(&self) -> OnError {
        let (errors, numbers) = (self.errors.clone(), self.databases().to_vec());
        Box::new(move |number, failure| {
            errors.note_in_transaction(numbers.get(number).copied(), failure);
        })
    }

    fn observer(&self, database: usize) -> Rc<dyn IoObserver> {
        Rc::new(CountingObserver::new(
            Rc::clone(&self.recorder),
            database,
            self.plan.page_bytes,
            self.errors.clone(),
        ))
    }

    fn doing(&self) -> OnStep {
        let (inbox, number) = (self.follower.inbox().clone(), self.number);
        Rc::new(move |text| inbox.report(number, ShardMessage::OnStep(text.to_owned())))
    }

    fn progress(&self, before: u64) -> Progress {
        let (inbox, number) = (self.follower.inbox().clone(), self.number);
        let orders = Arc::clone(self.follower.orders());
        let last = Cell::new(0);
        Rc::new(move |bytes| {
            if bytes >= last.get() + REPORTED_BYTES || bytes < last.get() {
                last.set(bytes);
                inbox.report(number, ShardMessage::Progress(before + bytes));
            }
            !orders.is_abandoned()
        })
    }

    fn note(&self, text: String) {
        if !text.is_empty() {
            self.follower.report(ShardMessage::Note(text));
        }
    }
}

impl<H: DatabaseHost> ShardTasks for Shard<H> {
    fn follower(&self) -> &Follower {
        &self.follower
    }

    async fn carry_out(&self, stage: Stage) -> Result<(), Failure> {
        match stage {
            Stage::Restore => self.restore().await,
            Stage::Build => self.build().await,
            Stage::Open => self.open().await,
            Stage::WarmUp => {
                self.follower.begin_phase(Phase::WarmUp);
                self.start();
                Ok(())
            }
            Stage::Tune => {
                self.follower.begin_phase(Phase::Tuning);
                Ok(())
            }
            Stage::Measure => {
                self.note_state();
                self.follower.begin_phase(Phase::Measured);
                Ok(())
            }
            Stage::Close => {
                self.note_state();
                self.follower.begin_phase(Phase::Close);
                self.close().await
            }
            Stage::Verify => {
                self.follower.begin_phase(Phase::Checksum);
                self.verify().await
            }
            Stage::Backup => {
                self.note_state();
                self.follower.begin_phase(Phase::Backup);
                self.back_up().await
            }
            Stage::Seed => {
                self.note_state();
                self.follower.begin_phase(Phase::Seeding);
                self.seed().await
            }
            Stage::CompareCopies => {
                self.follower.begin_phase(Phase::Checksum);
                self.compare_copies().await
            }
            Stage::CheckCopies => {
                self.follower.begin_phase(Phase::Checksum);
                self.check_copies().await
            }
            Stage::WriteLog => {
                self.follower.begin_phase(Phase::LogWriting);
                self.write_log().await
            }
            Stage::Leave => {
                self.note_state();
                self.leave().await
            }
            Stage::Replay => {
                self.follower.begin_phase(Phase::Recovery);
                self.replay().await
            }
            Stage::End => Ok(()),
        }
    }

    fn look_after(&self) {
        if let Some(load) = self.load.borrow().as_ref() {
            load.adjust();
        }
        self.follow_closing();
        self.follow_log();
        self.note_suspensions();
        self.report_errors();
        let database = match self.databases() {
            &[only] => Some(only),
            _ => None,
        };
        if let Some(report) = self.hung.check(&self.handle, database) {
            self.follower.report(ShardMessage::Hung(report));
        }
    }

    fn note_state(&self) {
        let load = self.load.borrow();
        let Some(load) = load.as_ref() else {
            return;
        };
        let mut caches = CacheState::of_fill(1.0);
        let mut sizes_bytes = self.sizes_bytes.borrow_mut();
        sizes_bytes.clear();
        for (&number, database) in self.databases().iter().zip(load.databases()) {
            let now = database.statistics();
            let mut recorder = self.recorder.borrow_mut();
            recorder.page_fault_stalls_so_far(number, now.page_fault_stalls);
            recorder.database_size(number, now.size_bytes);
            if let Some(queues) = self.host.copy_queues(number) {
                recorder.copy_queues(number, queues);
            }
            sizes_bytes.push(now.size_bytes);
            let could_hold = now.cache_capacity_pages.min(now.database_pages).max(1);
            let fill = now.cached_pages as f64 / could_hold as f64;
            caches.fill_fraction = caches.fill_fraction.min(fill);
            if let Some(largest) = now.cache_largest_pages {
                let size = now.cache_capacity_pages as f64 / largest as f64;
                caches.size_fraction = Some(caches.size_fraction.unwrap_or(1.0).min(size));
            }
        }
        self.follower.report(ShardMessage::Caches(caches));
        let (shed, waiting) = load.backlog();
        self.follower
            .report(ShardMessage::Backlog { shed, waiting });
    }
}
