//! Putting copies in the places of databases.

use super::{DatabaseDirectories, EdbHost, file_name};
use crate::profile::MailProfile;
use crate::state_file::{Condition, DatabaseState};
use edb::database::{ClosedCopy, RestoreError};
use runtime::{Directory, Handle};
use workload::controller::host::{Progress, RestoreReport};
use workload::failure::{Failure, FailureKind};

/// What is being done, for messages.
const RESTORING: &str = "restoring the database from its copy";

/// Opens the copy of a database, and verifies what can be verified without reading all of it.
///
/// # Errors
/// Why it cannot be restored.
pub async fn open_copy<D: Directory>(
    handle: &Handle,
    database: usize,
    places: &DatabaseDirectories<D>,
    profile: &MailProfile,
) -> Result<(ClosedCopy<D>, DatabaseState), Failure> {
    let name = file_name(database);
    let incomplete = |error: &str| {
        let file = format!("{}/{name}", places.data.describe());
        Err(Failure::new(FailureKind::Internal, file, RESTORING, error))
    };
    let Some(state) = DatabaseState::read(&places.data).await? else {
        return incomplete("the copy is incomplete: nothing says what it is of");
    };
    if matches!(state.condition, Condition::Copying | Condition::Building) {
        return incomplete("the copy is incomplete, or its check has found something wrong");
    }
    let engine = &profile.engine;
    let copy = ClosedCopy::open(
        handle,
        (&places.data, &places.log),
        &name,
        engine.page_size.bytes() as usize,
        engine.log_file_size.bytes(),
    );
    Ok((copy.await.map_err(failure_of)?, state))
}

fn failure_of(error: RestoreError) -> Failure {
    match error {
        RestoreError::Io(error) => Failure::of_io(&error, RESTORING),
        RestoreError::Unusable { file, reason } => {
            let error = format!("the copy cannot be used: {reason}");
            Failure::new(FailureKind::Integrity, file, RESTORING, error)
        }
    }
}

impl<D: Directory> EdbHost<D> {
    /// As [`workload::controller::host::DatabaseHost::restore`]. The copy is opened before the database is
    /// removed, and the database is marked before.
    pub(super) async fn restore_from_copy(
        &self,
        database: usize,
        progress: Progress,
    ) -> Result<RestoreReport, Failure> {
        let Some(source) = self.sources.get(&database) else {
            return Err(Failure::unsupported(RESTORING));
        };
        let place = self.place(database);
        let (copy, state) = open_copy(&self.handle, database, source, &self.plan.profile).await?;
        let marked = DatabaseState {
            condition: Condition::Copying,
            ..state.clone()
        };
        self.write_state(database, marked).await?;
        self.clear(database, false).await?;
        let restored = copy.restore_to(&self.handle, (&place.data, &place.log), |bytes| {
            progress(bytes)
        });
        let restored = restored.await.map_err(failure_of)?;
        if restored.stopped {
            let file = format!("{}/{}", place.data.describe(), file_name(database));
            let error = "the restore was stopped before its end";
            return Err(Failure::new(FailureKind::Stopped, file, RESTORING, error));
        }
        // Of the log, what the copy needs was restored.
        let restored_state = DatabaseState {
            log_files: None,
            ..state
        };
        self.write_state(database, restored_state).await?;
        Ok(RestoreReport {
            pages: restored.pages,
            bytes: restored.bytes,
            log_files: restored.log_files,
            seconds: restored.seconds,
        })
    }
}
