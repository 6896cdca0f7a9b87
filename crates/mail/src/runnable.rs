//! The mail workload as one that runs on real storage.

use crate::{MailWorkload, storage_run};
use execution::audit::{AuditReport, AuditedRun};
use execution::storage_run::{RunRequest, StorageRun};
use execution::{Error, RunOptions, RunnableWorkload};
use std::path::PathBuf;
use workload::Profile;

impl RunnableWorkload for MailWorkload {
    fn prepare_run(
        &self,
        request: &RunRequest,
        options: &RunOptions,
        profile: &dyn Profile,
    ) -> Result<Box<dyn StorageRun>, Error> {
        storage_run::prepare(request, options, profile)
    }

    fn has_interrupted_build(&self, on: &[PathBuf], workload: &str) -> bool {
        storage_run::is_left_on(on, workload)
    }

    fn can_resume(&self) -> bool {
        true
    }

    fn audit(
        &self,
        run: &AuditedRun,
        profile: &dyn Profile,
        doing: &mut dyn FnMut(&str),
    ) -> Result<AuditReport, Error> {
        storage_run::audit(run, profile, doing)
    }
}
