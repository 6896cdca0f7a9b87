//! What is told apart: streams of requests, operations, databases, phases.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A stream of device requests of one database, by direction and cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stream {
    /// Reads of database pages on behalf of the workload.
    DatabaseRead,
    /// Writes of database pages.
    DatabaseWrite,
    /// Writes of the transaction log.
    LogWrite,
    /// Reads of the transaction log: log replication reads, and those of recovery before the load.
    LogRead,
    /// Reads of the background database maintenance.
    MaintenanceRead,
    /// Writes of database headers and checkpoint files.
    HeaderWrite,
    /// Requests that prepare room or order: zero fill of the next log file, growth of a file,
    /// flushes of a volatile cache (which carry no bytes).
    OtherWrite,
}

impl Stream {
    /// Number of streams.
    pub const COUNT: usize = 7;

    /// Every stream, in the order of the enum.
    pub const ALL: [Stream; Stream::COUNT] = [
        Stream::DatabaseRead,
        Stream::DatabaseWrite,
        Stream::LogWrite,
        Stream::LogRead,
        Stream::MaintenanceRead,
        Stream::HeaderWrite,
        Stream::OtherWrite,
    ];

    /// Position in [`Stream::ALL`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Name in tags of `histograms.hlog`.
    pub fn tag(self) -> &'static str {
        match self {
            Stream::DatabaseRead => "database-read",
            Stream::DatabaseWrite => "database-write",
            Stream::LogWrite => "log-write",
            Stream::LogRead => "log-read",
            Stream::MaintenanceRead => "maintenance-read",
            Stream::HeaderWrite => "header-write",
            Stream::OtherWrite => "other-write",
        }
    }

    /// First part of the column names in `samples.csv`.
    pub fn column(self) -> &'static str {
        match self {
            Stream::DatabaseRead => "database_read",
            Stream::DatabaseWrite => "database_write",
            Stream::LogWrite => "log_write",
            Stream::LogRead => "log_read",
            Stream::MaintenanceRead => "maintenance_read",
            Stream::HeaderWrite => "header_write",
            Stream::OtherWrite => "other_write",
        }
    }

    /// Whether the requests count as transactional I/O: database reads and writes, as in a mail
    /// sizing, without log, maintenance and headers.
    pub fn is_transactional(self) -> bool {
        matches!(self, Stream::DatabaseRead | Stream::DatabaseWrite)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}

/// What a run is doing. Only samples of [`Phase::Measured`] enter the result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// Databases are built or opened.
    Build,
    /// The load runs until the caches are warm.
    WarmUp,
    /// The load is adjusted until it fits.
    Tuning,
    /// The load that is judged.
    Measured,
    /// The databases are verified after the load.
    Checksum,
    /// The databases are closed.
    Close,
}

impl Phase {
    /// Name in `samples.csv` and `result.json`.
    pub fn name(self) -> &'static str {
        match self {
            Phase::Build => "build",
            Phase::WarmUp => "warm-up",
            Phase::Tuning => "tuning",
            Phase::Measured => "measured",
            Phase::Checksum => "checksum",
            Phase::Close => "close",
        }
    }

    /// Whether the workload runs, so that figures of its requests say something.
    pub fn is_under_load(self) -> bool {
        matches!(self, Phase::WarmUp | Phase::Tuning | Phase::Measured)
    }
}

impl fmt::Display for Phase {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// A kind of operation of the workload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperationKind {
    /// Name in the result, such as `insert`.
    pub name: String,
    /// Whether it counts when all operations are added up. A commit ends operations that were
    /// counted already, so it does not.
    pub in_total: bool,
}

/// The names behind the indices that a [`super::Recorder`] takes: the same for all shards of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Names of the databases, each once.
    pub databases: Vec<String>,
    /// Kinds of operations, each once.
    pub operations: Vec<OperationKind>,
}

impl Layout {
    /// A layout of these databases and operations. Operations whose name begins with `commit`
    /// are left out of the total (see [`OperationKind::in_total`]).
    pub fn new<D: Into<String>, O: Into<String>>(
        databases: impl IntoIterator<Item = D>,
        operations: impl IntoIterator<Item = O>,
    ) -> Layout {
        Layout {
            databases: databases.into_iter().map(Into::into).collect(),
            operations: operations
                .into_iter()
                .map(Into::into)
                .map(|name: String| OperationKind {
                    in_total: !name.starts_with("commit"),
                    name,
                })
                .collect(),
        }
    }

    /// Index of the operation of this name.
    pub fn operation(&self, name: &str) -> Option<usize> {
        self.operations.iter().position(|o| o.name == name)
    }
}
