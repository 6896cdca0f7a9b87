//! Reading a run directory.

use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

use super::open::{MOST_BYTES, open_file, read_file};
use super::{HISTOGRAMS_FILE, RESULT_FILE, SAMPLES_FILE, document_hash};
use crate::grid::GRID_FILE;
use crate::histogram::{IntervalLogError, LoggedInterval, merge_interval_log};
use crate::result::{RunResult, SCHEMA};
use crate::sample::{RowError, SampleReader, SampleRow};

/// A failure to read a run directory.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    /// There is no result.
    #[error("{path} is not a run directory: it holds no result.json")]
    NoResult {
        /// The path that was given.
        path: PathBuf,
    },
    /// The directory is that of a sweep or a search.
    #[error("{path} is the directory of a sweep or a search, not of a run")]
    Sweep {
        /// The path that was given.
        path: PathBuf,
    },
    /// A file could not be read.
    #[error("{path} cannot be read: {error}")]
    Read {
        /// Path of the file.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The result is not a result document.
    #[error(
        "{path} is not a result document: {error}; restore the file, or run the workload again"
    )]
    Malformed {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong, with line and column.
        error: serde_json::Error,
    },
    /// The result ends before its document does.
    #[error(
        "{path} is cut off: it ends after {bytes} bytes, in the middle of the result; restore the file"
    )]
    CutOff {
        /// Path of the file.
        path: PathBuf,
        /// Its length.
        bytes: usize,
    },
    /// The result has another schema.
    #[error(
        "{path} has the schema `{found}`, and this version reads `{SCHEMA}`; run the workload again, \
         or use the version that wrote it"
    )]
    Schema {
        /// Path of the file.
        path: PathBuf,
        /// What the document says.
        found: String,
    },
    /// The samples are damaged.
    #[error("{path} is damaged: {error}; remove the file to read the result without its samples")]
    Samples {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong, and in which row.
        error: RowError,
    },
    /// The histograms are damaged.
    #[error("{path} is damaged: {error}; remove the file to read the result without it")]
    Histograms {
        /// Path of the file.
        path: PathBuf,
        /// What is wrong with the interval log.
        error: IntervalLogError,
    },
}

/// Reads the result and the samples of a run. `directory` may also be the path of its
/// `result.json`. Without a `samples.csv` the samples are empty.
///
/// # Errors
/// When there is no result, or a file is damaged or of another version.
pub fn load(directory: &Path) -> Result<(RunResult, Vec<SampleRow>), LoadError> {
    let result = load_result(directory)?;
    let directory = run_directory_of(directory);
    Ok((
        result,
        load_samples(&directory.join(SAMPLES_FILE), u64::MAX)?,
    ))
}

/// Reads the result of a run, without its samples, of which a power cut may have left a part.
///
/// # Errors
/// When there is no result, or it is damaged or of another version.
pub fn load_result(directory: &Path) -> Result<RunResult, LoadError> {
    let directory = run_directory_of(directory);
    parse(&directory.join(RESULT_FILE), &read_result(directory)?)
}

/// Whether the result document of a run is not what the run wrote, by the hash that stands in it. One without a
/// hash, as that of a run that did not end, is not compared.
///
/// # Errors
/// When there is no result, or it cannot be read.
pub fn is_result_changed(directory: &Path) -> Result<bool, LoadError> {
    let hash = document_hash(&read_result(run_directory_of(directory))?);
    Ok(hash.is_some_and(|hash| hash.recorded != hash.recomputed))
}

/// The text of the result document.
///
/// # Errors
/// When there is none, or it cannot be read.
pub(crate) fn read_result(directory: &Path) -> Result<Vec<u8>, LoadError> {
    let path = directory.join(RESULT_FILE);
    read_file(&path).map_err(|error| match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
            let path = directory.to_owned();
            match directory.join(GRID_FILE).exists() {
                true => LoadError::Sweep { path },
                false => LoadError::NoResult { path },
            }
        }
        _ => LoadError::Read { path, error },
    })
}

/// Reads the histograms of the measured phase, added up: one entry for each tag; empty when there
/// are none. Windows of time are read with [`crate::histogram::IntervalLogReader`].
///
/// # Errors
/// When the file cannot be read or is damaged.
pub fn load_histograms(directory: &Path) -> Result<Vec<LoggedInterval>, LoadError> {
    let path = run_directory_of(directory).join(HISTOGRAMS_FILE);
    match read_file(&path) {
        Ok(text) => merge_interval_log(&text, |_| true)
            .map_err(|error| LoadError::Histograms { path, error }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(LoadError::Read { path, error }),
    }
}

/// The run directory that a path names: itself, or the one that its `result.json` is in.
#[must_use]
pub fn run_directory_of(path: &Path) -> &Path {
    if path.file_name().is_some_and(|name| name == RESULT_FILE) && path.is_file() {
        return path.parent().unwrap_or(path);
    }
    path
}

/// The result in the text of a document. The schema is looked at first, so that a document of another
/// version gets the right diagnostic.
///
/// # Errors
/// When it is none.
pub(crate) fn parse(path: &Path, text: &[u8]) -> Result<RunResult, LoadError> {
    let malformed = |error: serde_json::Error| match error.is_eof() {
        true => LoadError::CutOff {
            path: path.to_owned(),
            bytes: text.len(),
        },
        false => LoadError::Malformed {
            path: path.to_owned(),
            error,
        },
    };
    let value: serde_json::Value = serde_json::from_slice(text).map_err(malformed)?;
    let schema = value
        .get("schema")
        .and_then(|s| s.as_str())
        .unwrap_or_default();
    if schema != SCHEMA {
        return Err(LoadError::Schema {
            path: path.to_owned(),
            found: schema.to_owned(),
        });
    }
    serde_json::from_slice(text).map_err(malformed)
}

/// The rows of the samples in the first `most_bytes` of their file; none without a file.
///
/// # Errors
/// When the file is damaged.
pub(crate) fn load_samples(path: &Path, most_bytes: u64) -> Result<Vec<SampleRow>, LoadError> {
    match open_file(path, MOST_BYTES) {
        Ok(file) => {
            SampleReader::read_all(BufReader::new(file.take(most_bytes))).map_err(|error| {
                LoadError::Samples {
                    path: path.to_owned(),
                    error,
                }
            })
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
        Err(error) => Err(LoadError::Read {
            path: path.to_owned(),
            error,
        }),
    }
}
