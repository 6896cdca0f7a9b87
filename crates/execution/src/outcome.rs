//! What a run, a prediction or a replay gives.

use std::path::PathBuf;

use measure::result::RunResult;

/// The result of a scenario, and where it was written.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// The result document, with the verdict.
    pub result: RunResult,
    /// The run directory, when one was written.
    pub directory: Option<PathBuf>,
    /// What kept the results of a run on real storage from being written, in a sentence. They are
    /// then in this outcome only, or in part.
    pub unwritten: Option<String>,
    /// Whether the databases on real storage were kept or removed, in a sentence.
    pub storage: Option<String>,
}
