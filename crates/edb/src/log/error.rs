//! What can go wrong with the log.

use crate::integrity::EseError;
use runtime::{IoError, IoFailure};
use thiserror::Error;

/// Why the log could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum LogError {
    /// A request to a log file or to the directory of the log failed.
    #[error("The log failed: {0}.")]
    Io(#[from] IoError),
    /// No space is left for the next log file. What is under way is finished in the reserve files; new
    /// work is refused.
    #[error("No space is left for the next log file ({0}). Free some space and restart.")]
    OutOfSpace(IoError),
    /// The log was closed.
    #[error("The log has been closed.")]
    Closed,
    /// A record cannot be written because it does not fit into one log file.
    #[error(
        "A log record of {record_bytes} bytes does not fit into a log file ({most_bytes} at most)."
    )]
    RecordTooLarge {
        /// Bytes of the record.
        record_bytes: usize,
        /// Bytes of the largest record.
        most_bytes: usize,
    },
    /// A log file that must be there is missing.
    #[error(
        "The log file of generation {generation} is missing in {directory}. Restore it from a backup."
    )]
    MissingGeneration {
        /// Number of the missing file; the first file of a log is 1.
        generation: u32,
        /// Where it was looked for.
        directory: String,
    },
    /// A log file is not what was written.
    #[error("Log file {file} is damaged: {problem}.")]
    Damaged {
        /// Name of the file within the directory of the log.
        file: String,
        /// What is wrong, and where.
        problem: String,
    },
    /// A log file belongs to another stream of log files.
    #[error(
        "Log file {file} belongs to another set of log files. Remove it or restore the right one."
    )]
    Foreign {
        /// Name of the file within the directory of the log.
        file: String,
    },
    /// The log of a database that was closed properly cannot be read.
    #[error(
        "{error} The database was closed properly, and everything that was committed is in its own file: to go on \
         without this log, move all of its files (those whose names begin with {prefix}) away from {directory}."
    )]
    OfClosed {
        /// What is wrong with it.
        error: Box<LogError>,
        /// What the names of its files begin with.
        prefix: String,
        /// Path of the directory of the log.
        directory: String,
    },
    /// There is a log where a new one was to be made.
    #[error("There is a log in {directory} already ({file}). Choose an empty directory.")]
    Exists {
        /// Path of the directory of the log.
        directory: String,
        /// One of its files.
        file: String,
    },
}

impl LogError {
    /// The error that ESE gives for a log that is not what was written.
    #[must_use]
    pub fn ese_error(&self) -> EseError {
        match self {
            Self::MissingGeneration { .. } => EseError::MISSING_LOG_FILE,
            Self::Foreign { .. } => EseError::BAD_LOG_SIGNATURE,
            Self::OfClosed { error, .. } => error.ese_error(),
            _ => EseError::LOG_FILE_CORRUPT,
        }
    }

    /// A file that is whole and has the name of another one of the same log.
    pub(super) fn wrong_generation(file: String, found: u32, expected: u32) -> Self {
        let problem = format!(
            "it is the file of generation {found}, where that of generation {expected} was written"
        );
        Self::Damaged { file, problem }
    }

    /// Why a request failed, if one did.
    #[must_use]
    pub fn io_failure(&self) -> Option<&IoFailure> {
        match self {
            Self::OutOfSpace(error) | Self::Io(error) => Some(&error.failure),
            _ => None,
        }
    }
}
