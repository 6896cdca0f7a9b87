//! What was run, on what, and how it went: workload, target, phases, errors.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::IntegrityClass;

/// The workload that was run: its profile and all of its settings.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WorkloadResult {
    /// Name of the profile.
    pub name: String,
    /// One sentence about it, from the profile.
    pub description: String,
    /// Data and load in short, such as `4,000 mailboxes of 2 GiB at 0.12 IOPS each`.
    pub question: String,
    /// All settings in force, by dotted path (`engine.page_size_bytes`). The same as `config.toml`
    /// in the run directory.
    pub settings: BTreeMap<String, serde_json::Value>,
}

/// The storage under test.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetResult {
    /// Where the databases lie, in the order given by the user.
    pub databases: Vec<TargetPath>,
    /// Where the logs lie; the same places as the databases when none was given.
    pub logs: Vec<TargetPath>,
    /// The cache of the storage engine, of all databases together; null where it is not ours.
    pub engine_cache_bytes: Option<u64>,
    /// The same at its smallest, where caches can shrink; null where they have one size.
    pub engine_cache_least_bytes: Option<u64>,
    /// The cache of the array (--array-cache); null when it was not given.
    pub array_cache_bytes: Option<u64>,
    /// Whether a run on data that fits a cache may pass (--allow-cached).
    pub allow_cached: bool,
    /// Where the copies of a backup go (--backup-to); left out when there are none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub backup_to: String,
}

/// What a place given by the user is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TargetKind {
    /// A block device.
    BlockDevice,
    /// A modelled array.
    ModelledArray,
    /// A directory.
    #[default]
    #[serde(other)]
    Directory,
}

impl TargetKind {
    /// How reports call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::BlockDevice => "block device",
            Self::ModelledArray => "modelled array",
            Self::Directory => "directory",
        }
    }
}

impl TargetPath {
    /// The type of the file system, or what else the path is.
    pub fn described(&self) -> &str {
        match self.file_system.as_str() {
            "" => self.kind.label(),
            file_system => file_system,
        }
    }
}

/// One place given by the user.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TargetPath {
    /// Path as the user gave it.
    pub path: String,
    /// What the path is.
    pub kind: TargetKind,
    /// Type of the file system, such as `ext4`; empty for a block device.
    pub file_system: String,
    /// Kernel name of the block device underneath (see `host.devices`); null when there is none,
    /// as for a network or overlay file system.
    pub device: Option<String>,
    /// Capacity of the file system or device.
    pub capacity_bytes: u64,
    /// Free space before the run began.
    pub free_bytes: u64,
    /// Option of the mount by which the file system sends no flushes to a device with a volatile write cache, such
    /// as `nobarrier`; null when it sends them, or needs none.
    pub unflushed_by: Option<String>,
}

/// The name of the phase that the verdict rests on, as `sample::Phase` has it.
const MEASURED: &str = "measured";
/// The names of phases that a run may have had whose databases are not built yet: in which they are restored, built
/// and opened, and closed, which ends an interrupted build, too.
const BEFORE_LOAD: [&str; 4] = ["restore", "build", "open", "close"];

/// One phase of the run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct PhaseResult {
    /// `build`, `warm-up`, `tuning`, `measured`, `checksum`, `recovery`, `close`.
    pub name: String,
    /// When it began, RFC 3339 in UTC.
    pub started: String,
    /// How long it took; the phases of the load are as long as their samples.
    pub duration_s: f64,
}

impl PhaseResult {
    /// Whether it needs databases that are built.
    #[must_use]
    pub fn needs_built_databases(&self) -> bool {
        !BEFORE_LOAD.contains(&self.name.as_str())
    }

    /// Whether the verdict rests on the samples of this phase.
    pub fn is_measured(&self) -> bool {
        self.name == MEASURED
    }
}

/// The samples of the measured phase.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct SamplesSummary {
    /// Samples in the measured phase that lasted for half of the interval or longer. What is left of the phase, if
    /// anything, is one more sample in the files and enters all totals, but is not judged by itself.
    pub count: u64,
    /// The length of a sample as it was asked for.
    pub interval_s: f64,
    /// The length of a sample of the second series, as it was asked for; `None` without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_interval_s: Option<f64>,
    /// How far the files of the samples had been written when this document was, in a run that has not
    /// ended: a run that is killed may have written more of them. `None` in a complete document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub files_reach: Option<WholeBytes>,
    /// The same of the second series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub second_files_reach: Option<WholeBytes>,
}

/// How far the files of a series of samples hold whole ones, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct WholeBytes {
    /// Of `samples.csv` or `samples-2.csv`.
    pub samples: u64,
    /// Of `histograms.hlog` or `histograms-2.hlog`.
    pub histograms: u64,
}

/// What kind of error it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorKind {
    /// The storage did not carry out a request.
    Io,
    /// Data came back other than it was written, or a file is not what it should be.
    Integrity,
    /// The consistency checks of a database failed after the run.
    Inconsistent,
    /// There was no space left.
    OutOfSpace,
    /// Space had run out in an earlier run while data was being written, and it was written in part.
    HalfWritten,
    /// The database server was gone and did not come back.
    Unavailable,
    /// The database server ended the work for a reason that is not the storage's: a time limit, an
    /// administrator, another client. The run is inconclusive.
    ServerSide,
    /// The settings do not let the workload do its work. The run is inconclusive.
    Settings,
    /// Another program removed the directory of the files. The run is inconclusive.
    Removed,
    /// The process, or the machine, may have no more of something, such as open files. The run is inconclusive.
    ProcessLimit,
    /// The program itself did not do what it should.
    Internal,
    /// Unknown, or a kind that this version does not know.
    #[default]
    #[serde(other)]
    Unknown,
}

impl ErrorKind {
    /// Whether it counts among I/O errors and bad pages. What a database server does by itself, that it is
    /// gone, or what a full volume has left says nothing of what the storage does with data.
    #[must_use]
    pub fn is_of_data(self) -> bool {
        !matches!(
            self,
            Self::Unavailable
                | Self::ServerSide
                | Self::HalfWritten
                | Self::Settings
                | Self::Removed
                | Self::ProcessLimit
        )
    }
}

/// One error of the storage or the engine, however often it was met.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ErrorRecord {
    /// When it was met first, in seconds since the start of the run.
    pub at_s: f64,
    /// When it was met last.
    pub last_at_s: f64,
    /// How often it was met; 0 in documents of versions that did not count.
    pub times: u64,
    /// What kind it is.
    pub kind: ErrorKind,
    /// What is wrong; null when it is no class of damage, such as a full disk.
    pub class: Option<IntegrityClass>,
    /// The number of the error in ESE; null when it has none.
    pub ese_error: Option<i32>,
    /// Name of the database; empty when it belongs to none.
    pub database: String,
    /// The file in which it happened.
    pub file: String,
    /// The page of the database; null when the error is not about a page.
    pub page: Option<u64>,
    /// Where in the file it is; null when that is not known.
    pub offset_bytes: Option<u64>,
    /// The version (dbtime) of the page that was written last; null when it is not known.
    pub expected_version: Option<u64>,
    /// When that write completed, in milliseconds since 1970; null when it is not known.
    pub last_write_unix_ms: Option<u64>,
    /// The version that was found; null when there is none.
    pub found_version: Option<u64>,
    /// Whether reading again gave the same (true: wrong on the medium; false: wrong once); null when
    /// it was not read again.
    pub on_medium: Option<bool>,
    /// Whether the page was rebuilt from the log in place, so that the run could go on with it.
    pub is_patched: bool,
    /// The page whose contents were found, or that has the contents missed here; null when there is
    /// none.
    pub partner_page: Option<u64>,
    /// A hung request: how long it was outstanding until it was answered, or until the run ended.
    pub outstanding_s: Option<f64>,
    /// A hung request: whether it was answered in the end.
    pub answered: Option<bool>,
    /// Whether the run could not go on after it. Versions that did not write this ended at every error.
    #[serde(default = "every_error_ended_a_run")]
    pub ended_run: bool,
    /// What was being done, such as `database read`.
    pub operation: String,
    /// What went wrong, as a sentence.
    pub error: String,
}

fn every_error_ended_a_run() -> bool {
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Versions before recorded an error only where it had ended the run.
    #[test]
    fn an_error_of_a_document_without_the_field_has_ended_its_run() {
        let read = |text: &str| serde_json::from_str::<ErrorRecord>(text).unwrap();
        assert!(read(r#"{"file": "/mnt/a/db1.edb"}"#).ended_run);
        assert!(!read(r#"{"file": "/mnt/a/db1.edb", "ended_run": false}"#).ended_run);
    }
}
