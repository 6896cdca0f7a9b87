//! A workload on real storage.
//!
//! [`Prepared::new`] refuses everything that can be refused before anything is written: the
//! profile, the targets, the kernel, the directory of the results. [`Prepared::run`] claims the
//! targets, runs the workload and gives the targets back.

mod base;
mod brokerage;
mod describe;
mod drive;
mod kept;
mod mail;
mod storage_under_test;

pub(crate) use brokerage::prepare_brokerage;
pub(crate) use mail::prepare_mail;

use std::path::PathBuf;

use config::Source;
use storage::StorageError;
use workload::Profile;
use workload::progress::StopRequest;

use crate::error::Error;
use crate::events::{Event, Observer, ignore};
use crate::options::RunOptions;
use crate::outcome::Outcome;
use crate::registry::Registered;
use crate::results;
use crate::scenario::Scenario;
use crate::workloads::{self, Purpose};

/// Checks everything that a run of a profile needs on real storage. Writes nothing.
pub type Prepare = fn(&Scenario, &RunOptions, &dyn Profile) -> Result<Box<dyn StorageRun>, Error>;

/// A run that can begin.
pub struct Prepared {
    profile: Box<dyn Profile>,
    build_only: bool,
    run: Box<dyn StorageRun>,
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

impl Prepared {
    /// Checks everything. Writes nothing.
    ///
    /// # Errors
    /// The first thing that is in the way.
    pub fn new(scenario: &Scenario, options: &RunOptions) -> Result<Self, Error> {
        let purpose = Purpose::Run {
            kept: kept_settings(scenario, options)?,
            has_server: options.database.is_some(),
        };
        let profile = workloads::resolve(scenario, purpose)?;
        refuse_events(scenario)?;
        let prepare = prepare_of(scenario.registry.workloads, &*profile)?;
        Ok(Self {
            run: prepare(scenario, options, &*profile)?,
            build_only: options.build_only,
            profile,
        })
    }

    /// What would be built and where, as text.
    ///
    /// # Errors
    /// When a file system does not say how much room it has.
    pub fn describe(&self) -> Result<String, Error> {
        self.run.describe()
    }

    /// What this run cannot give, known before hours are spent on it.
    #[must_use]
    pub fn sample_warning(&self) -> Option<String> {
        let is_measured = !self.build_only;
        is_measured
            .then(|| results::sample_warning(&*self.profile))
            .flatten()
    }

    /// Runs the workload to its end, or until somebody asks it to `stop`.
    ///
    /// # Errors
    /// When the storage cannot be prepared or the results cannot be written.
    pub fn run(self, observer: Box<dyn Observer>, stop: &StopRequest) -> Result<Outcome, Error> {
        self.run.run(observer, stop.clone())
    }
}

/// The settings that kept databases were built with, which hold where the scenario says nothing.
fn kept_settings(scenario: &Scenario, options: &RunOptions) -> Result<Vec<Source>, Error> {
    if !options.reuse {
        return Ok(Vec::new());
    }
    let workload = workloads::workload_of(scenario)?;
    let name = workloads::short_name(scenario.registry, &scenario.workload);
    let built_with = workload.built_with();
    Ok(storage::kept_settings(&options.on, &name, built_with))
}

/// How a run of this profile begins.
fn prepare_of(workloads: &[Registered], profile: &dyn Profile) -> Result<Prepare, Error> {
    let kind = profile.workload().kind();
    let mut workloads = workloads.iter();
    let found = workloads.find(|one| one.workload.kind() == kind);
    Ok(found.ok_or_else(foreign)?.prepare)
}

/// The profile as one of the workload that it is registered for.
///
/// # Errors
/// When it is of another one.
pub(crate) fn own<'a, T: 'static>(profile: &'a (dyn Profile + 'a)) -> Result<&'a T, Error> {
    profile.downcast().ok_or_else(foreign)
}

fn foreign() -> Error {
    Error::usage("The profile is of a workload that is not registered.", "")
}

impl Scenario {
    /// Runs the workload on real storage, without an observer.
    ///
    /// # Errors
    /// The first thing that is in the way.
    pub fn run(&self, options: &RunOptions) -> Result<Outcome, Error> {
        Prepared::new(self, options)?.run(ignore(), &StopRequest::new())
    }
}

fn refuse_events(scenario: &Scenario) -> Result<(), Error> {
    if workloads::events(scenario).is_none() {
        return Ok(());
    }
    Err(Error::usage(
        format!(
            "{} has [[event]] tables, and real storage does not break on command.",
            scenario.workload
        ),
        "Take them out, or predict the workload on a modelled array.",
    ))
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
