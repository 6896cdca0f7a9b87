//! The run directory: the files that a run leaves behind.
//!
//! | file | what it holds |
//! |---|---|
//! | `result.json` | the result document ([`crate::result`]), replaced at each sample |
//! | `samples.csv` | rows of each sample of every phase ([`crate::sample::SampleRow`]) |
//! | `histograms.hlog` | histograms of each sample of the measured phase |
//! | `samples-2.csv`, `histograms-2.hlog` | the same of the second series, if there is one |
//! | `report.html` | the report (written by another room) |
//! | `log.txt` | what happened, line by line, with the time |
//! | `config.toml` | all settings in force |
//!
//! [`RunDirectory`] writes them, [`load`] reads them, and [`RunDirectory::resume`] goes on with those of a
//! run that was interrupted.

mod error;
mod hashed_file;
mod hashes;
mod open;
mod place;
mod read;
mod relocate;
mod resume;
mod series;
mod write;

pub use error::RunDirectoryError;
pub use hashes::{DocumentHash, document_hash, hash_file};
pub use open::{MOST_BYTES, open_file, read_file};
pub use place::{check_vacant, new_directory};
pub use read::{
    LoadError, is_result_changed, load, load_histograms, load_result, run_directory_of,
};
pub(crate) use read::{load_samples, parse as parse_result, read_result};
pub use resume::whole_samples;
pub use series::{FIRST_SERIES, SECOND_SERIES, SeriesFiles};
pub use write::RunDirectory;

/// Name of the result document.
pub const RESULT_FILE: &str = "result.json";
/// Name of the samples.
pub const SAMPLES_FILE: &str = "samples.csv";
/// Name of the histogram log.
pub const HISTOGRAMS_FILE: &str = "histograms.hlog";
/// Name of the report.
pub const REPORT_FILE: &str = "report.html";
/// Name of the log.
pub const LOG_FILE: &str = "log.txt";
/// Name of the state of a run, which is there while the run lasts.
pub const STATUS_FILE: &str = "status.json";
/// Name of the settings in force.
pub const CONFIG_FILE: &str = "config.toml";
/// Name of the result document until it is complete.
const TEMPORARY_FILE: &str = "result.json.tmp";

/// Directory in which run directories are made when the user names none.
pub const DEFAULT_PARENT: &str = "proofload-runs";
