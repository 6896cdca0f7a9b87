//! Sorts errors of SQLite into conflicts, which are retried, and others.

use rusqlite::ErrorCode;

use crate::error::{DatabaseError, ROWS_OF_OTHERS};
use runtime::file::IoFailure;
use std::path::Path;

/// An error returned while `what` was running.
pub(super) fn failure(error: &rusqlite::Error, what: &str) -> DatabaseError {
    let message = error.to_string();
    match error.sqlite_error_code() {
        Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
            DatabaseError::Conflict(message)
        }
        Some(ErrorCode::DiskFull) => DatabaseError::NoSpace(message),
        Some(ErrorCode::SystemIoFailure | ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            DatabaseError::Damaged(message)
        }
        Some(
            ErrorCode::PermissionDenied
            | ErrorCode::ReadOnly
            | ErrorCode::AuthorizationForStatementDenied,
        ) => DatabaseError::Refused(message),
        Some(ErrorCode::CannotOpen) => DatabaseError::unavailable(message),
        Some(ErrorCode::ConstraintViolation) => DatabaseError::ServerSide {
            cause: ROWS_OF_OTHERS,
            statement: what.to_owned(),
            message,
        },
        _ => DatabaseError::Failed {
            statement: what.to_owned(),
            message,
        },
    }
}

/// The error of a file in whose place is something of others.
pub(super) fn not_own(path: &Path, why: &IoFailure) -> DatabaseError {
    DatabaseError::Unusable(format!("{} cannot be used: {why}", path.display()))
}
