//! The streams of requests that are distinguished.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Declares the streams: tag in `histograms.hlog`, first part of the columns in `samples.csv`, label.
macro_rules! streams {
    ($($(#[$about:meta])* $name:ident $tag:literal $column:literal $label:literal;)*) => {
        /// A stream of device requests of one database, by direction and cause.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(rename_all = "kebab-case")]
        pub enum Stream {
            $($(#[$about])* $name,)*
        }

        impl Stream {
            /// Number of streams, for arrays with an entry for each.
            pub const COUNT: usize = [$($tag),*].len();

            /// Every stream, in the order of the enum.
            pub const ALL: [Stream; Stream::COUNT] = [$(Stream::$name),*];

            /// Name in tags of `histograms.hlog`.
            pub fn tag(self) -> &'static str {
                match self { $(Stream::$name => $tag,)* }
            }

            /// First part of the column names in `samples.csv`.
            pub fn column(self) -> &'static str {
                match self { $(Stream::$name => $column,)* }
            }

            /// How reports call its requests.
            pub fn label(self) -> &'static str {
                match self { $(Stream::$name => $label,)* }
            }
        }
    };
}

streams! {
    /// Reads of database pages on behalf of the workload.
    DatabaseRead "database-read" "database_read" "database reads";
    /// Writes of database pages.
    DatabaseWrite "database-write" "database_write" "database writes";
    /// Writes of the transaction log.
    LogWrite "log-write" "log_write" "log writes";
    /// Reads of the transaction log: log replication reads, and those of recovery before the load.
    LogRead "log-read" "log_read" "log replication reads";
    /// Reads of the background database maintenance, and those of a backup in its phase.
    MaintenanceRead "maintenance-read" "maintenance_read" "maintenance reads";
    /// Writes of database headers and checkpoint files.
    HeaderWrite "header-write" "header_write" "header writes";
    /// Requests that prepare room or order: zero fill of the next log file, growth of a file,
    /// flushes of a volatile cache (which carry no bytes).
    OtherWrite "other-write" "other_write" "other writes";
    /// Writes of shipped log files at the passive copies.
    CopyLogWrite "copy-log-write" "copy_log_write" "log writes of copies";
    /// Reads of shipped log files by the replay of the passive copies.
    CopyLogRead "copy-log-read" "copy_log_read" "log reads of copies";
    /// Reads of database pages by the replay of the passive copies.
    CopyRead "copy-read" "copy_read" "database reads of copies";
    /// Writes of database pages, headers and checkpoint files of the passive copies.
    CopyWrite "copy-write" "copy_write" "database writes of copies";
}

impl Stream {
    /// Position in [`Stream::ALL`], below [`Stream::COUNT`].
    pub fn index(self) -> usize {
        self as usize
    }

    /// Whether its requests are reads.
    pub fn is_read(self) -> bool {
        matches!(
            self,
            Stream::DatabaseRead
                | Stream::LogRead
                | Stream::MaintenanceRead
                | Stream::CopyLogRead
                | Stream::CopyRead
        )
    }

    /// Whether the requests count as transactional I/O: database reads and writes, without
    /// log, maintenance and headers, as in Jetstress.
    pub fn is_transactional(self) -> bool {
        matches!(self, Stream::DatabaseRead | Stream::DatabaseWrite)
    }
}

impl fmt::Display for Stream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.tag())
    }
}
