//! Activation of a copy whose database is gone.

use crate::database::LOG_PREFIX;
use crate::error::EngineError;
use crate::format::database_header::DatabaseState;
use crate::log::{LogError, LogFileFacts, end_with_last_full, is_shipped};
use crate::reading::header_of;
use runtime::{Directory, File, IoError};

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

/// Whether a database is a passive copy, by its files alone: its header is that of an open database, and its log
/// was shipped. False of a database that was opened since, and where the header cannot be read.
///
/// # Errors
/// If the directory of the log cannot be read.
pub async fn is_passive_copy<F: File, D: Directory>(
    file: &F,
    log_directory: &D,
) -> Result<bool, IoError> {
    let header = header_of(file).await;
    let is_open = header.is_ok_and(|header| header.state == DatabaseState::Dirty);
    Ok(is_open && is_shipped(log_directory, LOG_PREFIX).await?)
}
