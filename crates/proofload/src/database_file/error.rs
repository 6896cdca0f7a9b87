//! Why a database file cannot be examined, printed or recovered.

use std::io;
use std::path::PathBuf;

use edb::EngineError;
use edb::check::CheckError;
use edb::dump::ReadError;
use measure::units::sentence;
use runtime::host::OpenError;
use runtime::{IoError, IoFailure, WallClockError};
use workload::Refusal;

/// Why a database file cannot be examined, printed or recovered. Its text is a whole sentence; the remedy
/// is up to the caller.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseFileError {
    /// The kernel refuses requests.
    #[error("Files cannot be read: {0}.")]
    Requests(#[from] WallClockError),
    /// A run uses it, or requests of one that was killed are still under way.
    #[error(transparent)]
    InUse(Refusal),
    /// There is no such file.
    #[error("{} does not exist.", .0.display())]
    Missing(PathBuf),
    /// What is there is no file.
    #[error("{} is not a file.", .0.display())]
    NotAFile(PathBuf),
    /// The directory of the file cannot be used.
    #[error("{} cannot be opened: {error}.", path.display())]
    Directory {
        /// Path of the database file.
        path: PathBuf,
        /// What is wrong with its directory.
        error: OpenError,
    },
    /// The directory of the log cannot be used.
    #[error("{} cannot be opened: {error}.", path.display())]
    LogDirectory {
        /// Path of the directory.
        path: PathBuf,
        /// What is wrong with it.
        error: OpenError,
    },
    /// The block device cannot be opened.
    #[error("{0}.")]
    Device(OpenError),
    /// The block device holds none of our databases.
    #[error("{} holds no database of Proofload.", .0.display())]
    NoDatabaseOnDevice(PathBuf),
    /// Another process has the file open.
    #[error("{} cannot be examined: {holder}.", path.display())]
    Busy {
        /// Path of the database file.
        path: PathBuf,
        /// The process that has the file open.
        holder: IoFailure,
    },
    /// The file may not be opened.
    #[error("You may not open {}.", .0.display())]
    Forbidden(PathBuf),
    /// A request to the storage failed.
    #[error("{0}.")]
    Storage(IoError),
    /// The file cannot be examined.
    #[error("{0}.")]
    File(CheckError),
    /// Not all rows of the table can be read.
    #[error("{}.", sentence(.0))]
    Rows(ReadError),
    /// Rows of a file that was not closed properly lie on pages that are not in it yet.
    #[error("{}.", sentence(.0))]
    OnlyInLog(ReadError),
    /// The rows cannot be written.
    #[error("The rows could not be written: {0}.")]
    Output(io::Error),
    /// There are no tables but those of the system.
    #[error("{} has no tables.", .0.display())]
    NoTables(PathBuf),
    /// No table was named, and there are several.
    #[error("{} has several tables.", path.display())]
    SeveralTables {
        /// Path of the database file.
        path: PathBuf,
        /// Names of the tables that there are.
        tables: Vec<String>,
    },
    /// There is no table of this name.
    #[error("There is no table {name}.")]
    NoSuchTable {
        /// The name that was given.
        name: String,
        /// The names that there are.
        tables: Vec<String>,
    },
    /// The log is that of another program.
    #[error("{} was written by another program, whose log cannot be read here.", .0.display())]
    OtherWriter(PathBuf),
    /// The build of the database was interrupted.
    #[error("{} was never finished: its build was interrupted.", .0.display())]
    Unfinished(PathBuf),
    /// There is no log where a run keeps it.
    #[error("There is no log beside {}.", .0.display())]
    NoLog(PathBuf),
    /// The log could not be applied.
    #[error("{}", sentence(.0))]
    Recovery(EngineError),
    /// It is a passive copy, whose log may end with the last file that was shipped.
    #[error("{} was not closed, and is a passive copy.", .0.display())]
    PassiveCopy(PathBuf),
}

impl From<CheckError> for DatabaseFileError {
    fn from(error: CheckError) -> Self {
        Self::File(error)
    }
}

impl From<ReadError> for DatabaseFileError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::File(error) => Self::File(error),
            ReadError::Output(error) => Self::Output(error),
            error => Self::Rows(error),
        }
    }
}
