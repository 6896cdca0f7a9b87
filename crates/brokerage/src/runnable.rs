//! The brokerage workload as one that runs on real storage.

use crate::{BrokerageWorkload, storage_run};
use execution::audit::{AuditReport, AuditedRun};
use execution::storage_run::{RunRequest, StorageRun};
use execution::{Error, RunOptions, RunnableWorkload};
use workload::Profile;

impl RunnableWorkload for BrokerageWorkload {
    fn prepare_run(
        &self,
        request: &RunRequest,
        options: &RunOptions,
        profile: &dyn Profile,
    ) -> Result<Box<dyn StorageRun>, Error> {
        storage_run::prepare_run(request, options, profile)
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
