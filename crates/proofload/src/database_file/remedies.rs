//! What to do about a database file that cannot be examined or recovered.

use edb::EngineError;
use edb::check::CheckError;
use edb::dump::ReadError;
use edb::format::database_header::Writer;
use edb::log::LogError;
use execution::Error;
use runtime::{IoError, IoFailure};

use super::DatabaseFileError;

const KERNEL_LOG: &str = "See whether the storage is well ('dmesg' shows I/O errors).";

impl From<DatabaseFileError> for Error {
    fn from(error: DatabaseFileError) -> Self {
        let message = error.to_string();
        with_remedy(message, error)
    }
}

fn with_remedy(message: String, error: DatabaseFileError) -> Error {
    use DatabaseFileError as Failed;

    match error {
        Failed::InUse(refusal) => refusal.into(),
        Failed::Output(_) => Error::environment(message, "Check where standard output goes to."),
        Failed::Requests(_) | Failed::Directory { .. } => Error::environment(message, ""),
        Failed::Missing(_) => Error::usage(message, "Correct the path."),
        Failed::NotAFile(_) => Error::usage(
            message,
            "Name database files, such as mail-001/mail-001.edb. A run with --reuse recovers databases on \
             block devices.",
        ),
        Failed::Device(_) => Error::environment(
            message,
            "Run as a user who may, such as root, and while nothing else uses the device.",
        ),
        Failed::NoDatabaseOnDevice(_) => Error::usage(
            message,
            "Name a block device that a run kept a database on, or a database file.",
        ),
        Failed::Busy { .. } => Error::environment(
            message,
            "Its pages change while it is in use. Wait until that process has ended.",
        ),
        Failed::Forbidden(_) => Error::environment(message, "Run as a user who may, such as root."),
        // What is there instead, and what to do, is in the message.
        Failed::Storage(error) if is_not_own(&error) => Error::environment(message, ""),
        Failed::Storage(_) => Error::integrity(message, KERNEL_LOG),
        Failed::File(error) => unusable(message, &error),
        Failed::Rows(ReadError::Value { .. }) => {
            Error::environment(message, "The rows before it have been printed.")
        }
        Failed::OnlyInLog(_) => Error::environment(
            message,
            "The rows before it have been printed. The file was not closed properly, and this page may be in its \
             log alone: 'proofload edb recover' applies the log.",
        ),
        Failed::Rows(_) => Error::integrity(
            message,
            "The rows before it have been printed. 'proofload edb check' lists all damage.",
        ),
        Failed::NoTables(_) => Error::usage(
            message,
            "Those of the system can be named, such as MSysObjects.",
        ),
        Failed::SeveralTables { tables, .. } => {
            Error::usage(message, format!("Name one of them: {}.", tables.join(", ")))
        }
        Failed::NoSuchTable { tables, .. } => Error::usage(
            message,
            format!("Name one of these: {}.", tables.join(", ")),
        ),
        Failed::OtherWriter(_) => Error::usage(message, "On Windows, 'esentutl /r' recovers it."),
        Failed::Unfinished(_) => Error::environment(
            message,
            "No log can complete it; remove it and build it again.",
        ),
        Failed::NoLog(_) | Failed::LogDirectory { .. } => {
            Error::environment(message, "Name the directory of its log files with --log.")
        }
        Failed::Recovery(error) => not_recovered(message, &error),
        Failed::PassiveCopy(_) => Error::environment(
            message,
            "Its log may end with the last file that was shipped: 'proofload run WORKLOAD --reuse --on \
             DIRECTORY' activates it.",
        ),
    }
}

/// A file that cannot be examined at all.
fn unusable(message: String, error: &CheckError) -> Error {
    match error {
        CheckError::Io(_) => Error::integrity(message, KERNEL_LOG),
        CheckError::Header { .. } => Error::integrity(
            message,
            "Is it a database file at all? If it was one, it is damaged beyond use.",
        ),
        CheckError::NotClean {
            writer: Writer::Other,
            ..
        } => Error::environment(
            message,
            "The program that wrote it recovers it, such as 'esentutl /r' on Windows.",
        ),
        CheckError::NotClean { .. } => Error::environment(
            message,
            "'proofload edb recover FILE' applies its log; so does a run with --reuse.",
        ),
        CheckError::Unfinished { .. } => Error::environment(message, ""),
    }
}

fn not_recovered(message: String, error: &EngineError) -> Error {
    match error {
        EngineError::Recovery { .. } | EngineError::NotADatabase { .. } => {
            Error::environment(message, "Nothing was lost: the log is as it was.")
        }
        EngineError::HalfWritten { .. } => Error::environment(
            message,
            "With engine.torn_pages = \"log-images\" such pages are restored from the log.",
        ),
        EngineError::OutOfSpace(_) => Error::environment(message, "Then start the recovery again."),
        EngineError::Io(error) | EngineError::Log(LogError::Io(error)) if is_not_own(error) => {
            Error::environment(message, "Then start the recovery again.")
        }
        _ => Error::integrity(message, KERNEL_LOG),
    }
}

/// Whether something else than a file of a database has its name.
fn is_not_own(error: &IoError) -> bool {
    matches!(error.failure, IoFailure::NotOwn(_))
}
