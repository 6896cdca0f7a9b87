//! What to do about a database file that cannot be examined or recovered, and the exit status.

use edb::EngineError;
use edb::check::CheckError;
use edb::dump::ReadError;
use edb::format::database_header::Writer;
use proofload::database_file::DatabaseFileError;

use crate::error::CommandError;

const KERNEL_LOG: &str = "See whether the storage is well ('dmesg' shows I/O errors).";

/// Ends a command that could not read a database file.
pub(super) fn refusal(error: DatabaseFileError) -> CommandError {
    use DatabaseFileError as Failed;

    let message = error.to_string();
    match error {
        Failed::Output(error) => CommandError::output(&error),
        Failed::InUse(refusal) => CommandError::Refused(refusal.into()),
        Failed::Requests(_) | Failed::Directory { .. } => CommandError::environment(message, ""),
        Failed::Missing(_) => CommandError::usage(message, "Correct the path."),
        Failed::NotAFile(_) => CommandError::usage(
            message,
            "Name database files, such as mail-001/mail-001.edb.",
        ),
        Failed::Device(_) => CommandError::environment(
            message,
            "Run as a user who may, such as root, and while nothing else uses the device.",
        ),
        Failed::NoDatabaseOnDevice(_) => CommandError::usage(
            message,
            "Name a block device that a run kept a database on, or a database file.",
        ),
        Failed::Busy { .. } => CommandError::environment(
            message,
            "Its pages change while it is in use. Wait until that process has ended.",
        ),
        Failed::Forbidden(_) => {
            CommandError::environment(message, "Run as a user who may, such as root.")
        }
        Failed::Storage(_) => CommandError::integrity(message, KERNEL_LOG),
        Failed::File(error) => unusable(message, &error),
        Failed::Rows(ReadError::Value { .. }) => {
            CommandError::environment(message, "The rows before it have been printed.")
        }
        Failed::Rows(_) => CommandError::integrity(
            message,
            "The rows before it have been printed. 'proofload edb check' lists all damage.",
        ),
        Failed::NoTables(_) => CommandError::usage(
            message,
            "Those of the system can be named, such as MSysObjects.",
        ),
        Failed::SeveralTables { tables, .. } => {
            CommandError::usage(message, format!("Name one of them: {}.", tables.join(", ")))
        }
        Failed::NoSuchTable { tables, .. } => CommandError::usage(
            message,
            format!("Name one of these: {}.", tables.join(", ")),
        ),
        Failed::OtherWriter(_) => {
            CommandError::usage(message, "On Windows, 'esentutl /r' recovers it.")
        }
        Failed::Unfinished(_) => CommandError::environment(
            message,
            "No log can complete it; remove it and build it again.",
        ),
        Failed::NoLog(_) | Failed::LogDirectory { .. } => {
            CommandError::environment(message, "Name the directory of its log files with --log.")
        }
        Failed::Recovery(error) => not_recovered(message, &error),
        Failed::PassiveCopy(_) => CommandError::environment(
            message,
            "It is a passive copy, whose log may end with the last file that was shipped: \
             'proofload run WORKLOAD --reuse --on DIRECTORY' activates it.",
        ),
    }
}

/// Ends a recovery.
pub(super) fn refusal_of_recovery(error: DatabaseFileError) -> CommandError {
    match error {
        DatabaseFileError::NotAFile(_) => CommandError::usage(
            error.to_string(),
            "Name a database file. A run with --reuse recovers databases on block devices.",
        ),
        error => refusal(error),
    }
}

/// A file that cannot be examined at all.
fn unusable(message: String, error: &CheckError) -> CommandError {
    match error {
        CheckError::Io(_) => CommandError::integrity(message, KERNEL_LOG),
        CheckError::Header { .. } => CommandError::integrity(
            message,
            "Is it a database file at all? If it was one, it is damaged beyond use.",
        ),
        CheckError::NotClean {
            writer: Writer::Other,
            ..
        } => CommandError::environment(
            message,
            "The program that wrote it recovers it, such as 'esentutl /r' on Windows.",
        ),
        CheckError::NotClean { .. } => CommandError::environment(
            message,
            "'proofload edb recover FILE' applies its log; so does a run with --reuse.",
        ),
        CheckError::Unfinished { .. } => CommandError::environment(message, ""),
    }
}

fn not_recovered(message: String, error: &EngineError) -> CommandError {
    match error {
        EngineError::Recovery { .. } | EngineError::NotADatabase { .. } => {
            CommandError::environment(message, "Nothing was lost: the log is as it was.")
        }
        EngineError::HalfWritten { .. } => CommandError::environment(
            message,
            "With engine.torn_pages = \"log-images\" such pages are restored from the log.",
        ),
        EngineError::OutOfSpace(_) => {
            CommandError::environment(message, "Then start the recovery again.")
        }
        _ => CommandError::integrity(message, KERNEL_LOG),
    }
}
