//! Runs of each workload on real storage, once the profile is known.

mod base;
mod brokerage;
mod describe;
mod device_watch;
mod drive;
mod kept;
mod mail;
mod storage_under_test;

pub(crate) use brokerage::prepare_brokerage;
pub(crate) use mail::prepare_mail;

use std::path::PathBuf;

use measure::result::RunResult;
use storage::StorageError;
use workload::Profile;
use workload::progress::StopRequest;

use crate::error::Error;
use crate::events::{Event, Observer};
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::output::Output;
use crate::recorder::Recorded;

/// Checks everything that a run of a profile needs on real storage. Writes nothing.
pub type Prepare = fn(&RunRequest, &RunOptions, &dyn Profile) -> Result<Box<dyn StorageRun>, Error>;

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
pub(crate) fn own<'a, T: 'static>(profile: &'a (dyn Profile + 'a)) -> Result<&'a T, Error> {
    profile.downcast().ok_or_else(foreign)
}

pub(crate) fn foreign() -> Error {
    Error::usage("The profile is of a workload that is not registered.", "")
}

/// What a run gives once its storage was given back. That this failed does not hide what came out.
fn outcome(
    result: RunResult,
    recorded: Recorded,
    storage: Result<String, Error>,
) -> Result<Outcome, Error> {
    let storage = storage.unwrap_or_else(|error| format!("The storage was not cleared: {error}"));
    Ok(Outcome {
        result,
        directory: recorded.directory,
        unwritten: recorded.trouble.map(|error| error.to_string()),
        storage: Some(storage),
    })
}

/// Files and directories of others that were not removed.
fn warn_of_left_files(left: &[PathBuf], observer: &mut dyn Observer) {
    for path in left {
        let text = format!(
            "Left in place, because it was not made by Proofload: {}",
            path.display()
        );
        observer.event(Event::Warning(&text));
    }
}

impl From<StorageError> for Error {
    fn from(error: StorageError) -> Self {
        match error {
            StorageError::Usage { message, help } => Self::Usage { message, help },
            StorageError::Environment { message, help } => Self::Environment { message, help },
            StorageError::Integrity { message, help } => Self::Integrity { message, help },
        }
    }
}
