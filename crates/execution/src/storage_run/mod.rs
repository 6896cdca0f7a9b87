//! How a workload runs on real storage: the interface that it implements, and what all of them do
//! alike.
//!
//! - [`base`] is what is known of a run before it begins.
//! - [`TargetRun`] is a run of databases of our own on directories or block devices: it takes them, has
//!   the workload run on their [`Places`], and gives them back. A database server brings its own.
//! - [`schedule`] says how long its phases take, before it begins.
//! - [`Witnessed`] is the connection of a run to its witness.
//! - [`DeviceWatch`] follows what the kernel and the devices report meanwhile.

pub mod base;
mod device_watch;
mod places;
mod same_storage;
pub mod schedule;
mod target_run;
mod witnessed;

pub use device_watch::DeviceWatch;
pub use places::{OpenedPlace, Places, io_driver, wall_clock};
pub use schedule::{PlannedSearch, PlannedTests, PlannedWork};
pub use target_run::{Afterwards, Begun, TargetRun, Unfinished};
pub use witnessed::{Witnessed, refusal as witness_refusal};

use std::path::PathBuf;

use measure::result::RunResult;
use workload::Profile;
use workload::progress::StopRequest;

use crate::error::Error;
use crate::events::{Event, Observer};
use crate::outcome::Outcome;
use crate::output::Output;
use crate::recorder::Recorded;

/// What a run is asked for besides its profile and its storage.
#[derive(Clone, Debug)]
pub struct RunRequest {
    /// The workload as it was named: a bundled profile, or the path of a file.
    pub workload: String,
    /// The short name of the workload, for results and their directory.
    pub name: String,
    /// Whether a size of the databases was asked for, which kept ones must then have.
    pub is_sized: bool,
    /// Where the results go.
    pub output: Output,
}

/// A run of a certain workload on real storage that can begin.
pub trait StorageRun {
    /// What would be built and where, as text.
    ///
    /// # Errors
    /// When a file system does not say how much room it has.
    fn describe(&self) -> Result<String, Error>;

    /// What takes time besides warm-up and measured phase.
    ///
    /// # Errors
    /// When kept databases cannot be read.
    fn work(&self) -> Result<PlannedWork, Error>;

    /// Runs the workload to its end, or until somebody asks it to `stop`.
    ///
    /// # Errors
    /// When the storage cannot be prepared or the results cannot be written.
    fn run(
        self: Box<Self>,
        observer: Box<dyn Observer>,
        stop: StopRequest,
    ) -> Result<Outcome, Error>;
}

/// The profile as one of the workload that it is registered for.
///
/// # Errors
/// When it is of another one.
pub fn own<'a, T: 'static>(profile: &'a (dyn Profile + 'a)) -> Result<&'a T, Error> {
    profile.downcast().ok_or_else(foreign)
}

/// The error about a profile of a workload that is not registered.
#[must_use]
pub fn foreign() -> Error {
    Error::usage("The profile is of a workload that is not registered.", "")
}

/// What a run gives once its storage was given back. That this failed does not hide what came out.
#[must_use]
pub fn outcome(result: RunResult, recorded: Recorded, storage: Result<String, Error>) -> Outcome {
    let storage = storage.unwrap_or_else(|error| format!("The storage was not cleared: {error}"));
    Outcome {
        result,
        directory: recorded.directory,
        unwritten: recorded.first_error.map(|error| error.to_string()),
        storage: Some(storage),
    }
}

/// Files and directories of others that were not removed.
pub fn warn_of_left_files(left: &[PathBuf], observer: &mut dyn Observer) {
    for path in left {
        let text = format!(
            "Left in place, because it was not made by Proofload: {}",
            path.display()
        );
        observer.event(Event::Warning(&text));
    }
}
