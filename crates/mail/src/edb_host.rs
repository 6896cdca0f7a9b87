//! Databases of the engine in directories, real or simulated.

mod building;
mod opening;
mod replication;
pub(crate) mod restoring;
mod state;
mod storage_tests;

use super::acknowledged::{self, OnAcknowledged};
use super::edb_store::EdbStore;
use super::population::PopulationState;
use super::recount::Recount;
use super::state_file::{Condition, DatabaseState, Found, LogFiles};
use super::store::MailStore;
use crate::plan::{MailPlan, database_name};
use crate::profile::MailProfile;
use crate::session::MailDatabase;
use edb::cache::SpareMemory;
use edb::database::DatabaseCopy;
use edb::verification::{ClosedState, HALF_WRITTEN_ENDING, VERSIONS_ENDING};
use edb::{Damage, Database, EngineSettings, RecoveryReport};
use measure::sample::{CopyQueues, Recorder};
use measure::units;
use opening::{activate, damage_since_close, join_sentences, recovered};
use replication::Passive;
use runtime::{Directory, File, Handle, IoObserver};
use state::StateCheck;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::host::{
    BackupReport, BuiltDatabase, ComparisonReport, CopyObservers, CopyReport, DatabaseHost,
    OnFound, OnStep, OpenedDatabase, Progress, ReopenedTo, ReplayReport, RestoreReport, SeedReport,
    VerifyReport,
};
use workload::failure::{Failure, FailureKind};

/// Where a database and its log lie. Each has a directory of its own.
pub struct DatabaseDirectories<D> {
    /// The directory of the database file.
    pub data: D,
    /// The directory of the log; may be the same.
    pub log: D,
}

/// Builds and opens the databases of one shard.
pub struct EdbHost<D: Directory> {
    handle: Handle,
    plan: Arc<MailPlan>,
    places: BTreeMap<usize, DatabaseDirectories<D>>,
    /// The state that was written last of each database.
    written: RefCell<BTreeMap<usize, DatabaseState>>,
    /// What is known of databases that were open, for their verification.
    closed: RefCell<BTreeMap<usize, ClosedState>>,
    /// Where copies go, and those that were made.
    copies: BTreeMap<usize, DatabaseDirectories<D>>,
    copied: RefCell<BTreeMap<usize, DatabaseCopy<D>>>,
    /// The copies that are to be restored.
    sources: BTreeMap<usize, DatabaseDirectories<D>>,
    /// Where passive copies go, and those that follow their database.
    passive_places: BTreeMap<usize, DatabaseDirectories<D>>,
    passive: RefCell<BTreeMap<usize, Passive<D>>>,
    /// Is notified of what the databases acknowledge.
    on_acknowledged: Option<OnAcknowledged>,
    /// The memory that caches follow which can shrink.
    spare_memory: Option<SpareMemory>,
}

impl<D: Directory> EdbHost<D> {
    /// A host for the databases in these places, by their numbers in the run.
    #[must_use]
    pub fn new(
        handle: Handle,
        plan: Arc<MailPlan>,
        places: BTreeMap<usize, DatabaseDirectories<D>>,
    ) -> Self {
        Self {
            handle,
            plan,
            places,
            written: RefCell::default(),
            closed: RefCell::default(),
            copies: BTreeMap::new(),
            copied: RefCell::default(),
            sources: BTreeMap::new(),
            passive_places: BTreeMap::new(),
            passive: RefCell::default(),
            on_acknowledged: None,
            spare_memory: None,
        }
    }

    /// The same, which notifies somebody of what its databases acknowledge.
    #[must_use]
    pub fn notifying(self, on_acknowledged: Option<OnAcknowledged>) -> Self {
        Self {
            on_acknowledged,
            ..self
        }
    }

    /// The same, whose caches follow this memory if they have a smallest size.
    #[must_use]
    pub fn following_memory(self, spare_memory: SpareMemory) -> Self {
        Self {
            spare_memory: Some(spare_memory),
            ..self
        }
    }

    /// The same, which copies the databases to these places when they are backed up.
    #[must_use]
    pub fn copying_to(self, copies: BTreeMap<usize, DatabaseDirectories<D>>) -> Self {
        Self { copies, ..self }
    }

    /// The same, which puts these copies in the places of the databases when they are restored.
    #[must_use]
    pub fn restoring_from(self, sources: BTreeMap<usize, DatabaseDirectories<D>>) -> Self {
        Self { sources, ..self }
    }

    /// The same, which keeps passive copies of the databases in these places.
    #[must_use]
    pub fn replicating_to(self, passive_places: BTreeMap<usize, DatabaseDirectories<D>>) -> Self {
        Self {
            passive_places,
            ..self
        }
    }

    fn place(&self, database: usize) -> &DatabaseDirectories<D> {
        &self.places[&database]
    }

    fn new_state(&self, condition: Condition) -> DatabaseState {
        DatabaseState {
            condition,
            seed: self.plan.data_seed,
            population: PopulationState {
                built_rows: self.plan.built_rows,
                next_row: self.plan.built_rows,
                deletes: 0,
            },
            in_flight: Some(self.plan.most_in_flight()),
            last_run: self.plan.last_run.clone(),
            is_passive_copy: false,
            log_files: None,
            build_began_unix_ms: 0,
        }
    }

    /// Whether a whole database is there already. `None`: a build was interrupted, or none has begun.
    async fn is_built(&self, database: usize) -> Result<Option<bool>, Failure> {
        let place = self.place(database);
        let name = file_name(database);
        let refuse = |error: &str| {
            Err(Failure::new(
                FailureKind::Internal,
                format!("{}/{name}", place.data.describe()),
                LOOKING,
                error,
            ))
        };
        let state = match DatabaseState::find(&place.data).await? {
            Found::State(state) => state,
            Found::Missing | Found::Damaged => {
                let names = place.data.list().await;
                let names = names.map_err(|error| Failure::of_io(&error, LOOKING))?;
                // What the state said is found out when it is opened.
                return Ok(names.contains(&name).then_some(true));
            }
            Found::Other(what) => return Err(self.other_state(database, &what, LOOKING)),
        };
        let asked_for = (self.plan.data_seed, self.plan.built_rows);
        match state.condition {
            Condition::Building => Ok(Some(false)),
            Condition::Copying => refuse("it was not completely copied; restore it with --restore"),
            _ if (state.seed, state.population.built_rows) == asked_for => Ok(Some(true)),
            _ => refuse("it was built with another seed or of another size than asked for now"),
        }
    }

    /// The rows of a database that has just been opened, and a sentence if a run on it was interrupted.
    async fn rows_of(
        &self,
        database: usize,
        store: &EdbStore<D>,
        state: &DatabaseState,
        recovery: &RecoveryReport,
    ) -> Result<(PopulationState, String), Failure> {
        if state.condition != Condition::InUse {
            return Ok((state.population, String::new()));
        }
        let in_flight = state.in_flight.ok_or_else(|| {
            Failure::new(
                FailureKind::Internal,
                store.name(),
                "counting the rows again",
                "a run of an older version was interrupted, which did not note how many rows were \
                    under way; rebuild the databases",
            )
        })?;
        let recount = Recount {
            store,
            handle: &self.handle,
            maker: &self.plan.item_maker(database, state.population.built_rows),
            seed: self.plan.database_seed(database),
            in_flight,
        };
        let counted = recount.count(state.population).await?;
        Ok((counted, recovered(&store.name(), recovery)))
    }

    /// Reads every page of the database if the versions of its pages are not known; a sentence about
    /// that.
    async fn know_versions(
        &self,
        store: &EdbStore<D>,
        recovery: &RecoveryReport,
        doing: &OnStep,
    ) -> Result<String, Failure> {
        let Some(reason) = &recovery.missing_versions else {
            return Ok(String::new());
        };
        let file = store.name();
        doing(&format!("reading every page of {file} to know its version"));
        let rebuilt = store.database().rebuild_versions(|_| true).await;
        let rebuilt = rebuilt
            .map_err(|error| Failure::of_engine(&error, &file, "reading the page versions"))?;
        Ok(format!(
            "The page versions of {file} were not stored ({reason}); all {} pages were read in {:.1} \
             s to know them. A write lost before that cannot be seen",
            units::count_of(rebuilt.pages),
            rebuilt.seconds
        ))
    }

    /// Opens a database with these settings of its engine; gives also what recovery has done.
    async fn open_with(
        &self,
        database: usize,
        settings: EngineSettings,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<(OpenedDatabase<MailDatabase<EdbStore<D>>>, RecoveryReport), Failure> {
        let place = self.place(database);
        let name = file_name(database);
        let opened = self.opened_state(database, OPENING).await?;
        let state = &opened.state;
        let missing_log = match (&state.log_files, state.condition) {
            (Some(files), Condition::Ready) => files.missing(&place.log).await?,
            _ => None,
        };
        if state.condition != Condition::InUse {
            self.in_use(database, state.population).await?;
        }
        if state.condition == Condition::InUse {
            doing(&format!("recovering {name} from its log"));
        } else {
            doing(&format!("opening {name} and preparing its log"));
        }
        let file = format!("{}/{name}", place.data.describe());
        let activated = match state.is_passive_copy {
            true => activate(&file, &place.log).await?,
            false => String::new(),
        };
        let (handle, data, log) = (&self.handle, &place.data, &place.log);
        let recovered = match state.is_passive_copy {
            true => Database::open_passive_copy(handle, data, &name, log, settings, observer).await,
            false => Database::open(handle, data, &name, log, settings, observer).await,
        };
        let (engine, report) =
            recovered.map_err(|error| Failure::of_engine(&error, &file, OPENING))?;
        if let Some(on_acknowledged) = &self.on_acknowledged {
            acknowledged::observe(database, &engine, on_acknowledged);
        }
        if settings.engine.cache_minimum_per_database.is_some()
            && let Some(spare) = &self.spare_memory
        {
            engine.follow_memory(Rc::clone(spare));
        }
        let maker = self.plan.item_maker(database, state.population.built_rows);
        let store = EdbStore::new(engine, &file, &maker)?;
        if state.condition == Condition::InUse {
            doing(&format!("counting the messages in {name} again"));
        }
        let rebuilt = self.know_versions(&store, &report, &doing).await?;
        let (population, note) = self.rows_of(database, &store, state, &report).await?;
        let counted = opened.counted(&file, population);
        let note = join_sentences([activated, note, counted, rebuilt]);
        let missing_log = missing_log.map(Damage::File);
        for damage in damage_since_close(&file, state, &report)
            .into_iter()
            .chain(missing_log)
        {
            store.database().add_damage(damage);
        }
        store.note(opened.damage.clone());
        if state.condition == Condition::InUse {
            self.in_use(database, population).await?;
        }
        let (plan, handle) = (&self.plan, &self.handle);
        let database = plan.loaded(database, handle, store, population, recorder);
        Ok((OpenedDatabase { database, note }, report))
    }

    /// Size of the file of a database that is there already.
    async fn size_bytes(&self, database: usize) -> Result<u64, Failure> {
        let failure = |error| Failure::of_io(&error, "looking at a built database");
        let file = self.place(database).data.open(&file_name(database)).await;
        file.map_err(failure)?.size_bytes().await.map_err(failure)
    }
}

impl<D: Directory> DatabaseHost for EdbHost<D> {
    type Database = MailDatabase<EdbStore<D>>;

    async fn build(
        &self,
        database: usize,
        _: Rc<dyn IoObserver>,
        progress: Progress,
        found: OnFound,
    ) -> Result<BuiltDatabase, Failure> {
        let size_bytes = match self.is_built(database).await? {
            Some(true) => self.size_bytes(database).await?,
            Some(false) => self.go_on_building(database, progress, found).await?,
            None => self.build_new(database, progress).await?,
        };
        Ok(BuiltDatabase { size_bytes })
    }

    async fn restore(&self, database: usize, progress: Progress) -> Result<RestoreReport, Failure> {
        self.restore_from_copy(database, progress).await
    }

    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure> {
        let settings = engine_settings(&self.plan.profile);
        let opened = self.open_with(database, settings, observer, recorder, doing);
        Ok(opened.await?.0)
    }

    async fn close(
        &self,
        database: usize,
        open: Self::Database,
        whole: bool,
    ) -> Result<(), Failure> {
        self.note_end_of_load(database);
        let store = open.store();
        let closed = store.database().close().await;
        let known = store.database().closed_state();
        self.closed.borrow_mut().insert(database, known);
        closed.map_err(|error| Failure::of_engine(&error, &store.name(), CLOSING))?;
        let state = self.check_state(database, CLOSING).await?;
        let is_left = matches!(state, StateCheck::Left(_));
        store.note(state.failure());
        let Some(population) = open.settled_rows().filter(|_| whole && !is_left) else {
            // It stays in use, so that whoever opens it next counts its rows.
            return Ok(());
        };
        let state = DatabaseState {
            population,
            log_files: Some(LogFiles::of_closed(&self.place(database).log).await?),
            ..self.new_state(Condition::Ready)
        };
        self.write_state(database, state).await
    }

    async fn verify(&self, database: usize, progress: Progress) -> Result<VerifyReport, Failure> {
        let (place, name) = (self.place(database), file_name(database));
        let file = format!("{}/{name}", place.data.describe());
        let known = self.closed.borrow_mut().remove(&database);
        let known = known.ok_or_else(|| {
            Failure::new(
                FailureKind::Internal,
                file.clone(),
                "verification after the run",
                "it was not open in this run, so nothing is known of its pages",
            )
        })?;
        // Every page is read twice: in a pass over the file, and when the trees are walked.
        let halved = Rc::new(move |bytes: u64| progress(bytes / 2));
        let found = known.verify(&self.handle, (&place.data, &name), &place.log, halved);
        let found = found
            .await
            .map_err(|error| Failure::of_io(&error, "verification after the run"))?;
        let mut report = super::verify::report_of(found, &file);
        let state = self.check_state(database, super::verify::DOING).await?;
        report.findings.extend(state.failure());
        Ok(report)
    }

    async fn back_up(
        &self,
        database: usize,
        open: &Self::Database,
        progress: Progress,
    ) -> Result<BackupReport, Failure> {
        self.read_all(database, open, progress).await
    }

    async fn complete_copy(&self, database: usize, open: &Self::Database) -> Result<(), Failure> {
        self.complete(database, open).await
    }

    async fn seed(
        &self,
        database: usize,
        open: &Self::Database,
        observers: CopyObservers,
        progress: Progress,
    ) -> Result<SeedReport, Failure> {
        self.seed_copy(database, open, observers, progress).await
    }

    fn take_suspension(&self, database: usize) -> Option<String> {
        self.suspension(database)
    }

    fn copy_queues(&self, database: usize) -> Option<CopyQueues> {
        self.queues_of_copy(database)
    }

    async fn compare_copy(&self, database: usize, progress: Progress) -> Option<ComparisonReport> {
        self.compare_with_copy(database, progress).await
    }

    async fn check_copy(&self, database: usize, progress: Progress) -> Option<CopyReport> {
        self.check_one_copy(database, progress).await
    }

    async fn reopen(
        &self,
        database: usize,
        to: ReopenedTo,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<(OpenedDatabase<Self::Database>, ReplayReport), Failure> {
        self.reopen_to(database, to, observer, recorder, doing)
            .await
    }
}

/// Name of the file of a database, by its number from 0.
#[must_use]
pub fn file_name(database: usize) -> String {
    database_file(&database_name(database + 1))
}

/// Name of the file of the database called `name`.
pub(crate) fn database_file(name: &str) -> String {
    format!("{name}{ENDING}")
}

/// Whether a file is one of a database, by its name or path.
pub(crate) fn is_database_file(path: &str) -> bool {
    path.ends_with(ENDING)
}

/// Whether a file is one that the engine keeps beside a database file, by its name.
pub(crate) fn is_beside_database(name: &str) -> bool {
    let name = name.strip_suffix(".new").unwrap_or(name);
    let mut endings = [VERSIONS_ENDING, HALF_WRITTEN_ENDING].into_iter();
    endings.any(|ending| name.strip_suffix(ending).is_some_and(is_database_file))
}

/// What is being done, for messages.
const LOOKING: &str = "looking for the database";
const OPENING: &str = "opening the database";
const CLOSING: &str = "closing the database";

/// How the names of database files end.
const ENDING: &str = ".edb";

/// The settings of the engine as the profile has them; what it does not name keeps its default.
#[must_use]
pub fn engine_settings(profile: &MailProfile) -> EngineSettings {
    EngineSettings {
        engine: profile.engine,
        maintenance: profile.maintenance,
        log_replication_readers: profile.mail.copies_per_database.saturating_sub(1),
        ..EngineSettings::default()
    }
}
