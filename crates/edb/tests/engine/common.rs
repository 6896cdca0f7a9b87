//! The database that the tests of the engine share.

pub use crashtest::table::{Db, messages, row, small_settings, with_images};
use edb::{EngineError, EngineSettings, RecoveryReport};
use runtime::Handle;
use runtime::simulated::SimulatedDisk;
use runtime::trace::NoObserver;
use std::rc::Rc;

pub async fn create(handle: &Handle, disk: &SimulatedDisk, settings: &EngineSettings) -> Db {
    let observer = Rc::new(NoObserver);
    crashtest::table::create(handle, disk, settings, observer)
        .await
        .expect("a new database")
}

pub async fn open(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
) -> Result<(Db, RecoveryReport), EngineError> {
    let observer = Rc::new(NoObserver);
    crashtest::table::open(handle, disk, settings, observer).await
}
