//! A workload as the registry of workloads has it.

use workload::Workload;

#[cfg(feature = "host")]
use crate::{Error, RunOptions, audit, storage_run};

/// A workload that can be predicted and, with `host`, runs on real storage.
pub trait RunnableWorkload: Workload {
    /// Checks everything that a run of a profile of this workload needs on real storage. Writes
    /// nothing.
    ///
    /// # Errors
    /// The first thing that is in the way.
    #[cfg(feature = "host")]
    fn prepare_run(
        &self,
        request: &storage_run::RunRequest,
        options: &RunOptions,
        profile: &dyn workload::Profile,
    ) -> Result<Box<dyn storage_run::StorageRun>, Error>;

    /// Recovers the databases of a run and finds out which of its acknowledged transactions survived.
    ///
    /// # Errors
    /// What prevents it; a workload whose runs acknowledge nothing to a witness cannot be audited.
    #[cfg(feature = "host")]
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
