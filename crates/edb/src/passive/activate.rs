//! Activation of a copy whose database is gone.

use crate::database::LOG_PREFIX;
use crate::error::EngineError;
use crate::log::{LogError, LogFileFacts, end_with_last_full};
use runtime::Directory;

/// Prepares a copy whose replication was interrupted, as in a run that was killed or lost its databases:
/// what was shipped of the log becomes all of it. [`Database::open`](crate::Database::open) then recovers the copy
/// up to there. Returns the last log file; `None` if the copy has its log to the end, and nothing was changed.
///
/// # Errors
/// If no log file was shipped, or the storage fails.
pub async fn activate<D: Directory>(
    file: &str,
    log_directory: &D,
) -> Result<Option<LogFileFacts>, EngineError> {
    match end_with_last_full(log_directory, LOG_PREFIX).await {
        Err(LogError::MissingGeneration { .. }) => Err(EngineError::Recovery {
            file: file.to_owned(),
            reason:
                "it is a passive copy to which no log file was shipped before its replication was \
                     interrupted; seed it again"
                    .to_owned(),
        }),
        ended => Ok(ended?),
    }
}
