//! The streams of requests that are distinguished.

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

    /// How reports call its requests.
    pub fn label(self) -> &'static str {
        match self {
            Stream::DatabaseRead => "database reads",
            Stream::DatabaseWrite => "database writes",
            Stream::LogWrite => "log writes",
            Stream::LogRead => "log replication reads",
            Stream::MaintenanceRead => "maintenance reads",
            Stream::HeaderWrite => "header writes",
            Stream::OtherWrite => "other writes",
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
