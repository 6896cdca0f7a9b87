//! Sorts errors of SQLite into conflicts, which are retried, and others.

use rusqlite::ErrorCode;

use crate::error::{DatabaseError, ROWS_OF_OTHERS};

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
