//! A workload as the registry of workloads has it.

use workload::Workload;

#[cfg(feature = "host")]
use crate::{Error, RunOptions, storage_run};

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
}
