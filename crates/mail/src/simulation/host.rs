//! Simulations of the databases of one shard.

use super::geometry::Geometry;
use super::open::Opening;
use super::shape::Shape;
use super::store::SimulatedStore;
use crate::edb_host::{DatabaseDirectories, engine_settings, file_name};
use crate::plan::MailPlan;
use crate::population::PopulationState;
use crate::profile::MailProfile;
use crate::session::MailDatabase;
use edb::EngineSettings;
use edb::format::layout::HEADER_PAGES;
use measure::sample::Recorder;
use runtime::{Directory, Handle, IoObserver};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;
use std::sync::Arc;
use workload::controller::host::{
    BuiltDatabase, DatabaseHost, OnFound, OnStep, OpenedDatabase, Progress, VerifyReport,
};
use workload::failure::Failure;

/// Lays out and opens simulations, by their numbers in the run. Nothing is built: a simulation starts in the
/// state in which the engine's bulk builder would leave the database, and no time passes for it.
pub struct SimulatedHost<D: Directory> {
    handle: Handle,
    plan: Arc<MailPlan>,
    places: BTreeMap<usize, DatabaseDirectories<D>>,
    geometry: Geometry,
}

impl<D: Directory> SimulatedHost<D> {
    /// A host for the databases in these places.
    #[must_use]
    pub fn new(
        handle: Handle,
        plan: Arc<MailPlan>,
        places: BTreeMap<usize, DatabaseDirectories<D>>,
    ) -> Self {
        let maker = plan.item_maker(0, plan.built_rows);
        let fill = plan.profile.mail.item.page_fill_percent.round() as u32;
        let page_bytes = plan.profile.engine.page_size.bytes() as usize;
        let geometry = Geometry::measure(&maker, plan.built_rows, page_bytes, fill.clamp(20, 100));
        Self {
            handle,
            plan,
            places,
            geometry,
        }
    }
}

impl<D: Directory> DatabaseHost for SimulatedHost<D> {
    type Database = MailDatabase<SimulatedStore<D>>;

    async fn build(
        &self,
        database: usize,
        _: Rc<dyn IoObserver>,
        progress: Progress,
        _: OnFound,
    ) -> Result<BuiltDatabase, Failure> {
        let extension = self.plan.profile.engine.extension_pages;
        let (_, last_page) = Shape::built(self.geometry, self.plan.built_rows, extension);
        let pages = u64::from(last_page + HEADER_PAGES);
        let bytes = pages * self.geometry.page_bytes as u64;
        let directory = &self.places[&database].data;
        let laid = directory.lay_out(&file_name(database), bytes).await;
        laid.map_err(|error| Failure::of_io(&error, "laying out a database"))?;
        progress(bytes);
        Ok(BuiltDatabase { size_bytes: bytes })
    }

    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        _: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure> {
        let place = &self.places[&database];
        let name = file_name(database);
        let file = place.data.open(&name).await;
        let file = file.map_err(|error| Failure::of_io(&error, "opening the database"))?;
        let rows = self.plan.built_rows;
        let seed = self.plan.database_seed(database);
        let opening = Opening {
            handle: &self.handle,
            file,
            log_directory: &place.log,
            settings: settings_of_simulation(&self.plan.profile),
            observer,
            geometry: self.geometry,
            built_rows: rows,
            seed,
        };
        let open = opening.open().await;
        let path = format!("{}/{name}", place.data.describe());
        let open =
            open.map_err(|error| Failure::of_engine(&error, &path, "opening the database"))?;
        let keys = self.plan.item_maker(database, rows).keys;
        let store = SimulatedStore::new(open, keys, rows);
        let population = PopulationState {
            built_rows: rows,
            next_row: rows,
            deletes: 0,
        };
        let (plan, handle) = (&self.plan, &self.handle);
        Ok(OpenedDatabase {
            database: plan.loaded(database, handle, store, population, recorder),
            note: String::new(),
        })
    }

    async fn close(&self, _: usize, open: Self::Database, _: bool) -> Result<(), Failure> {
        open.store().close().await
    }

    async fn verify(&self, _: usize, progress: Progress) -> Result<VerifyReport, Failure> {
        // Nothing was stored, so there is nothing to verify.
        progress(self.plan.run.database_bytes);
        Ok(VerifyReport::default())
    }
}

/// The settings of the engine where memory is never short.
fn settings_of_simulation(profile: &MailProfile) -> EngineSettings {
    let mut settings = engine_settings(profile);
    settings.engine.cache_minimum_per_database = None;
    settings
}
