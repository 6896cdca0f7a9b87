//! Databases that a run did not build anew.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::units;

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
    /// Bytes from the beginning of its file that were read, found identical to what the build writes, and not
    /// written again.
    pub found_bytes: u64,
}

/// Copies that were put in the places of the databases before the run; all at the same time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoreResult {
    /// Where the copies lie (--restore).
    pub from: String,
    /// From the start of the first database to the end of the last one.
    pub duration_s: f64,
    /// One entry for each database that was restored.
    pub databases: Vec<RestoredDatabase>,
}

/// A database in whose place its copy was put.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RestoredDatabase {
    /// Name of the database.
    pub name: String,
    /// Pages that were read, verified and written.
    pub pages: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Log files that were copied with it.
    pub log_files: u64,
    /// How long it took.
    pub duration_s: f64,
}

impl RestoreResult {
    /// Bytes of all databases per second, from the first begin to the last end; `None` when it took no
    /// time.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.databases.iter().map(|one| one.bytes).sum();
        (self.duration_s > 0.0).then(|| bytes as f64 / self.duration_s)
    }
}

impl fmt::Display for RestoreResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bytes = self.databases.iter().map(|one| one.bytes).sum();
        let count = units::count(self.databases.len() as u64, "database");
        let (size, seconds) = (units::size(bytes), self.duration_s);
        write!(
            f,
            "{count} restored from {}: {size} in {seconds:.1} s",
            self.from
        )?;
        match self.bytes_per_second() {
            Some(rate) => write!(f, ", {}/s", units::size(rate as u64)),
            None => Ok(()),
        }
    }
}
