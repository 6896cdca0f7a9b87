//! How a scenario is run on real storage, and which studies are repeated.

use std::path::PathBuf;

use crate::setting::{Setting, Value};

/// The storage under test, and what becomes of the databases on it.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Directories or block devices for the databases, distributed in turn.
    pub on: Vec<PathBuf>,
    /// Directories or block devices for the logs; beside the databases when empty.
    pub log_on: Vec<PathBuf>,
    /// The database of a brokerage: `sqlite`, or the address of a server; when absent, a PostgreSQL
    /// server is started.
    pub database: Option<String>,
    /// Overwrite block devices that hold data.
    pub erase_device: bool,
    /// Keep the databases after the run.
    pub keep: bool,
    /// Run on the databases that an earlier run kept.
    pub reuse: bool,
    /// Build the databases and keep them, without a run.
    pub build_only: bool,
}

/// Which studies to repeat, and how.
#[derive(Clone, Debug, Default)]
pub struct StudyOptions {
    /// Bundled studies, or paths of TOML files; all bundled ones when empty.
    pub names: Vec<String>,
    /// Length of the measured phase of every case instead of its own.
    pub duration: Option<Value>,
    /// Start of every random choice instead of each case's own.
    pub seed: Option<Value>,
    /// Settings to change in all cases.
    pub settings: Vec<Setting>,
    /// Leave out the blind predictions.
    pub no_blind: bool,
    /// Cases predicted at once; as many as there are processors when absent.
    pub jobs: Option<usize>,
    /// Directory for the results; one with a new name below `proofload-runs` when absent.
    pub out: Option<PathBuf>,
}
