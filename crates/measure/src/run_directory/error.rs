//! Why a run directory cannot be made or filled.

use std::io;
use std::path::PathBuf;

use crate::histogram::IntervalLogError;
use crate::sample::RowError;

/// A failure to make or fill a run directory.
#[derive(Debug, thiserror::Error)]
pub enum RunDirectoryError {
    /// The directory holds something already.
    #[error(
        "{path} already holds files, and results are never overwritten; name a new or empty \
         directory with --out"
    )]
    NotEmpty {
        /// The directory that was asked for.
        path: PathBuf,
    },
    /// The name belongs to something that is not a directory.
    #[error("{path} is not a directory; name a new or empty directory with --out")]
    NotADirectory {
        /// The path that was asked for.
        path: PathBuf,
    },
    /// The directory could not be made.
    #[error("the run directory {path} cannot be made: {error}; name another one with --out")]
    Create {
        /// The directory that was asked for.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// A file could not be written.
    #[error("{path} cannot be written: {error}")]
    Write {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The samples could not be written.
    #[error("{path} cannot be written: {error}")]
    Samples {
        /// Path of the file.
        path: PathBuf,
        /// What the system or the CSV writer reported.
        error: RowError,
    },
    /// The histograms could not be written.
    #[error("{path} cannot be written: {error}")]
    Histograms {
        /// Path of the file.
        path: PathBuf,
        /// What the system or the encoder reported.
        error: IntervalLogError,
    },
    /// A file is not there any more.
    #[error("{path} was removed while the run lasted")]
    Removed {
        /// Path of the file.
        path: PathBuf,
    },
    /// A file is not what was written to it.
    #[error("{path} was cut short or changed while the run lasted")]
    Changed {
        /// Path of the file.
        path: PathBuf,
    },
    /// Its path leads elsewhere by now.
    #[error("{path} was moved or replaced while the run lasted")]
    Replaced {
        /// Path of the directory.
        path: PathBuf,
    },
    /// The files that were written cannot be read back.
    #[error("the files in {path} cannot be read back for their hashes: {error}")]
    Hash {
        /// Path of the directory.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The result holds a value that JSON cannot express.
    #[error("the result cannot be written as JSON: {0}")]
    Encode(#[from] serde_json::Error),
}

impl RunDirectoryError {
    /// Whether what was written is not there any more: it would be missing in a copy, too.
    pub fn has_lost_samples(&self) -> bool {
        matches!(
            self,
            Self::Removed { .. } | Self::Changed { .. } | Self::Replaced { .. }
        )
    }
}
