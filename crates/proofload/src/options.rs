//! Which studies are repeated, and how.

use std::path::PathBuf;

use crate::setting::{Setting, Value};

/// Which studies to repeat, and how.
#[derive(Clone, Debug, Default)]
pub struct StudyOptions {
    /// Bundled studies, or paths of TOML files; all bundled ones when empty.
    pub names: Vec<String>,
    /// Length of the measured phase of every case instead of its own.
    pub duration: Option<Value>,
    /// Seed of the random number generator, instead of each case's own.
    pub seed: Option<Value>,
    /// Settings to change in all cases.
    pub settings: Vec<Setting>,
    /// Leave out the blind predictions.
    pub no_blind: bool,
    /// Cases predicted at once; as many as there are CPUs when absent.
    pub jobs: Option<usize>,
    /// Directory for the results; one with a new name below `proofload-runs` when absent.
    pub out: Option<PathBuf>,
}
