//! What a run needs of the place where its mailbox databases live.

use crate::plan::MailPlan;
use crate::population::{Population, PopulationState};
use crate::session::{MailDatabase, MailDatabaseParts};
use crate::store::MailStore;
use measure::sample::Recorder;
use runtime::{Handle, IoObserver};
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::host::{
    BuiltDatabase, DatabaseHost, DatabaseStatistics, LoadedDatabase, OnStep, OpenedDatabase,
    Progress, VerifyReport,
};
use workload::failure::Failure;

/// A mailbox database that has been opened.
pub struct OpenedStore<S> {
    /// The database, as sessions use it.
    pub store: S,
    /// The rows that exist.
    pub population: PopulationState,
    /// A sentence about what opening it took, such as recovery; empty when there is nothing to say.
    pub note: String,
}

/// Builds, opens, closes and verifies the stores of one shard, on its thread: of the engine, of its
/// simulation, or in memory.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait StoreHost: 'static {
    /// The engine's side of a database.
    type Store: MailStore;

    /// As [`DatabaseHost::build`].
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn build(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        progress: Progress,
    ) -> Result<BuiltDatabase, Failure>;

    /// Opens the database, and recovers it when it was not closed. `doing` hears of what takes time.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        doing: OnStep,
    ) -> Result<OpenedStore<Self::Store>, Failure>;

    /// Writes back what is dirty and closes the database; notes its rows for the next run. Without
    /// `population` transactions have ended in the middle, and the next run counts the rows itself.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn close(
        &self,
        database: usize,
        store: Self::Store,
        population: Option<PopulationState>,
    ) -> Result<(), Failure>;

    /// As [`DatabaseHost::verify`].
    ///
    /// # Errors
    /// The failure that kept it from being verified.
    async fn verify(&self, database: usize, progress: Progress) -> Result<VerifyReport, Failure>;
}

/// The mailbox databases of one shard, with what sessions do to them.
pub struct MailHost<H> {
    handle: Handle,
    plan: Arc<MailPlan>,
    stores: H,
}

impl<H: StoreHost> MailHost<H> {
    /// The databases whose stores a host has.
    #[must_use]
    pub fn new(handle: Handle, plan: Arc<MailPlan>, stores: H) -> Self {
        Self {
            handle,
            plan,
            stores,
        }
    }
}

impl<H: StoreHost> DatabaseHost for MailHost<H> {
    type Database = MailDatabase<H::Store>;

    async fn build(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        progress: Progress,
    ) -> Result<BuiltDatabase, Failure> {
        self.stores.build(database, observer, progress).await
    }

    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure> {
        let plan = &self.plan;
        let open = self.stores.open(database, observer, doing).await?;
        let seed = plan.database_seed(database);
        let opened = MailDatabase::new(MailDatabaseParts {
            store: open.store,
            handle: self.handle.clone(),
            settings: plan.session.clone(),
            maker: plan.item_maker(database, open.population.built_rows),
            population: Population::new(open.population, seed, plan.hot_set),
            recorder,
            index: database,
            seed: plan.run.run.seed,
        });
        Ok(OpenedDatabase {
            database: opened,
            note: open.note,
        })
    }

    async fn close(
        &self,
        database: usize,
        open: Self::Database,
        whole: bool,
    ) -> Result<(), Failure> {
        let rows = (whole && open.is_settled()).then(|| open.population_state());
        self.stores
            .close(database, open.store().clone(), rows)
            .await
    }

    async fn verify(&self, database: usize, progress: Progress) -> Result<VerifyReport, Failure> {
        self.stores.verify(database, progress).await
    }
}

impl<S: MailStore> LoadedDatabase for MailDatabase<S> {
    async fn transact(&self, due_ns: Option<u64>) -> Result<u32, Failure> {
        MailDatabase::transact(self, due_ns).await
    }

    fn statistics(&self) -> DatabaseStatistics {
        self.store().statistics()
    }

    fn take_damage(&self) -> Vec<Failure> {
        self.store().take_damage()
    }
}
