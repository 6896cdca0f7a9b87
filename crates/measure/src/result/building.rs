//! Databases that a run did not build anew.

use serde::{Deserialize, Serialize};

/// The build of the databases, which an earlier run had begun and this one brought to its end.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ResumedBuild {
    /// Databases of the run.
    pub databases: u64,
    /// Of those, the ones that were complete when it began and were not built again.
    pub complete_databases: u64,
    /// One entry for each database whose build had been interrupted in the middle.
    pub gone_on: Vec<GoneOnDatabase>,
}

/// A database whose build went on.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct GoneOnDatabase {
    /// Name of the database.
    pub name: String,
    /// Bytes from the beginning of its file that were read, found as they must be, and not written again.
    pub found_bytes: u64,
}
