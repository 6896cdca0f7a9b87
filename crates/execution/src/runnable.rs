//! A workload that runs on real storage.

use crate::{Error, RunOptions, audit, storage_run};
use std::path::PathBuf;
use workload::Workload;

/// A workload that can be predicted and runs on real storage.
pub trait RunnableWorkload: Workload {
    /// Checks everything that a run of a profile of this workload needs on real storage. Writes
    /// nothing.
    ///
    /// # Errors
    /// The first thing that is in the way.
    fn prepare_run(
        &self,
        request: &storage_run::RunRequest,
        options: &RunOptions,
        profile: &dyn workload::Profile,
    ) -> Result<Box<dyn storage_run::StorageRun>, Error>;

    /// Whether an earlier run has begun to build databases for the workload of this name on these
    /// directories and was interrupted, so that this one can go on with it.
    fn has_interrupted_build(&self, on: &[PathBuf], workload: &str) -> bool {
        let _ = (on, workload);
        false
    }

    /// Whether a run of this workload that was interrupted can go on.
    fn can_resume(&self) -> bool {
        false
    }

    /// Recovers the databases of a run and finds out which of its acknowledged transactions survived.
    ///
    /// # Errors
    /// What prevents it; a workload whose runs acknowledge nothing to a witness cannot be audited.
    fn audit(
        &self,
        run: &audit::AuditedRun,
        profile: &dyn workload::Profile,
        doing: &mut dyn FnMut(&str),
    ) -> Result<audit::AuditReport, Error> {
        let _ = (run, profile, doing);
        Err(Error::usage(
            format!("Runs of {} cannot be audited.", self.kind()),
            "",
        ))
    }
}
