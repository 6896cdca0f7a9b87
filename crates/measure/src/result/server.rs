//! The database server of a run on a real database: what it was, its wait events, downtime and
//! consistency checks.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A real database under a load of transactions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerResult {
    /// Its name, such as `PostgreSQL`.
    pub name: String,
    /// Its version, as it reports it.
    pub version: String,
    /// Where it came from, as a sentence: a cluster made for the run, or an existing server.
    pub origin: String,
    /// How sessions are connected to it, and whether that is encrypted, such as `Unix socket`; empty
    /// for a file.
    pub connection: String,
    /// The settings of the server that matter for its storage, as it reports them.
    pub settings: BTreeMap<String, String>,
    /// Settings under which a crash may lose committed work, when the run began or at some moment of the load, and
    /// tables that were altered so, each with what may be lost.
    pub not_guaranteed: Vec<String>,
    /// Files of the server that lie on another storage than the one that was measured.
    pub files_elsewhere: Vec<FilesElsewhere>,
    /// How large the data of the workload are before the run, in names of its own.
    #[serde(flatten)]
    pub scale: BTreeMap<String, serde_json::Value>,
    /// Bytes of the database before the run.
    pub size_begin_bytes: u64,
    /// Bytes of the database after the run; null when the server did not say.
    pub size_end_bytes: Option<u64>,
    /// How the measured transactions ended.
    pub transactions: TransactionCounts,
    /// Wait events of busy sessions during the measured phase, the most frequent first.
    pub waits: Vec<WaitShare>,
    /// What the server counted of its own I/O during the measured phase; null when it does not.
    pub io: Option<ServerIo>,
    /// I/O by the server's own timing during the measured phase; empty when it times none.
    pub file_io: Vec<ServerFileIo>,
    /// What the server counted of its log; null when it does not.
    pub log: Option<ServerLog>,
    /// Checkpoints during the measured phase; null when the server does not count them.
    pub checkpoints: Option<ServerCheckpoints>,
    /// How the requests of the volume were measured: `every request` or `averages`; empty when its
    /// device is not known.
    pub volume_measured_by: String,
    /// I/O of other processes on the volume during the measured phase; null when it is not known.
    pub other_io: Option<OtherIo>,
    /// CPU time of the server during the measured phase in percent of one core; null when it runs
    /// elsewhere, within proofload, or was restarted.
    pub cpu_percent: Option<f64>,
    /// Times in which the server was down, in any phase.
    pub outages: Vec<OutageResult>,
    /// Downtime in all, in any phase.
    pub downtime_s: f64,
    /// What limited the load.
    pub bottleneck: Bottleneck,
    /// The same in sentences, with the figures that say so.
    pub explanation: String,
    /// The consistency checks after the run; empty when they were not made.
    pub consistency_checks: Vec<ConsistencyCheck>,
    /// Which rows the checks before and after the load examined, in sentences.
    pub checked_rows: Vec<String>,
    /// Acknowledged transactions, compared with the database after the run; null when none were
    /// recorded.
    pub acknowledged: Option<AcknowledgedWork>,
}

/// Files of a database server that lie on another storage than the one that was measured.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FilesElsewhere {
    /// What they are, such as `the WAL`.
    pub what: String,
    /// Their directory or file, without symbolic links.
    pub path: String,
    /// The file system that they are on: its type, what is mounted, and where.
    pub file_system: String,
    /// The directory on the storage that was measured in their place.
    pub measured: String,
}

/// The ledger of acknowledged transactions, compared with the database after the load.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AcknowledgedWork {
    /// Orders whose commit was acknowledged.
    pub orders: u64,
    /// Pending orders whose submission to the market was acknowledged.
    pub submissions: u64,
    /// Trade results whose commit was acknowledged.
    pub results: u64,
    /// Shares traded by market feeds whose commit was acknowledged.
    pub feed_shares: u64,
    /// Orders and results whose commit was not answered: they may or may not be there.
    pub unknown_outcomes: u64,
    /// Acknowledged orders that the database does not have.
    pub lost_orders: u64,
    /// Acknowledged submissions that the database does not have.
    pub lost_submissions: u64,
    /// Acknowledged results that the database does not have.
    pub lost_results: u64,
    /// Acknowledged results that the database has with another price.
    pub changed_results: u64,
    /// Rows that acknowledged trade updates have changed.
    pub updated_rows: u64,
    /// Of these, the ones that do not hold what the last acknowledged update wrote.
    pub lost_updates: u64,
    /// Places in the data that acknowledged rounds of data maintenance have changed.
    pub maintained: u64,
    /// Of these, the ones that do not hold what the last acknowledged round wrote.
    pub lost_maintenance: u64,
    /// Trades with the same work acknowledged twice, so that it was lost in between.
    pub acknowledged_twice: u64,
    /// Orders that the database has and the run has not entered.
    pub unexpected_orders: u64,
    /// Results that the database has and the run has not booked.
    pub unexpected_results: u64,
    /// Securities whose shares traded are not those of the acknowledged market feeds.
    pub securities_differing: u64,
    /// The first differences, in words.
    pub first: Vec<String>,
    /// Why the comparison was not made; null when it was.
    pub not_compared: Option<String>,
}

/// I/O of processes that are not the database server's, on its volume.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OtherIo {
    /// Reads and writes; null where the kernel's trace cannot be read.
    pub requests: Option<u64>,
    /// Bytes of reads and writes together.
    pub bytes: u64,
    /// Their share in all reads and writes of the volume, or in its bytes without the trace.
    pub share_percent: f64,
    /// Names of the processes with most of them.
    pub processes: Vec<String>,
}

/// How transactions ended, measured phase only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionCounts {
    /// Transactions that ended with a commit.
    pub committed: u64,
    /// Transactions that the workload rolls back intentionally.
    pub intentional_rollbacks: u64,
    /// Attempts that ended with a serialization failure or a deadlock; each was retried.
    pub serialization_failures: u64,
    /// Transactions that failed after all retries.
    pub retries_exhausted: u64,
    /// Attempts that failed because the server was down.
    pub connection_failures: u64,
    /// Attempts that failed because the server had no space left.
    pub out_of_space: u64,
    /// Serialization failures by kind of transaction.
    pub serialization_failures_by_operation: BTreeMap<String, u64>,
}

/// What limited the load of a database server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Bottleneck {
    /// Sessions waited mostly for reads and writes of data or log.
    Storage,
    /// Sessions waited mostly for each other.
    Locks,
    /// Sessions mostly computed, or no CPU was free.
    Cpu,
    /// The server was down too long.
    Outage,
    /// The users themselves, or the rate that was asked for.
    Nothing,
    /// The server reports no wait events, or nothing was measured.
    #[default]
    #[serde(other)]
    Unknown,
}

/// What a wait event belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitClass {
    /// Reads and writes of data or log.
    Storage,
    /// Locks of other transactions, and latches.
    Locks,
    /// No wait: the session runs, or is runnable.
    Cpu,
    /// Waiting for the client program.
    Client,
    /// Any other wait event.
    #[default]
    #[serde(other)]
    Other,
}

impl WaitClass {
    /// How reports call it.
    pub fn label(self) -> &'static str {
        match self {
            Self::Storage => "storage",
            Self::Locks => "locks",
            Self::Cpu => "CPU",
            Self::Client => "client",
            Self::Other => "other",
        }
    }
}

/// A wait event of busy sessions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitShare {
    /// The server's own name for it, such as `IO: DataFileRead`; `running` for none.
    pub name: String,
    /// What it belongs to.
    pub class: WaitClass,
    /// Share of the samples of busy sessions with this event, in percent.
    pub share_percent: f64,
    /// Sessions with this event, on average.
    pub average_sessions: f64,
}

/// The server's own count of its I/O.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerIo {
    /// Pages read from the operating system, which may have had them in its memory.
    pub buffer_misses: u64,
    /// Pages found in the cache of the server.
    pub buffer_hits: u64,
    /// Average time of a page read; null when the server does not time it.
    pub average_read_ms: Option<f64>,
    /// Pages written by backends (sessions) themselves; null when the server does not count them.
    pub backend_writes: Option<u64>,
    /// Bytes of temporary files; null when the server does not count them.
    pub temporary_bytes: Option<u64>,
}

/// I/O as the server times it, in one kind of files or by one kind of its processes. A page that the
/// operating system has in its memory counts as read, too.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerFileIo {
    /// As the server names it: process and object, or kind of files.
    pub name: String,
    /// Read requests that the server made.
    pub reads: u64,
    /// Average time of a read; null when the server does not time it.
    pub average_read_ms: Option<f64>,
    /// Writes, and extensions of files.
    pub writes: u64,
    /// Average time of a write; null when the server does not time it.
    pub average_write_ms: Option<f64>,
    /// Syncs (fsync); null when the server does not count them by themselves.
    pub syncs: Option<u64>,
    /// Average time of a sync; null when the server does not time it.
    pub average_sync_ms: Option<f64>,
}

/// What the server wrote to its transaction log (WAL).
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerLog {
    /// Bytes written to the log.
    pub bytes: u64,
    /// Whole pages among them, written at the first change after a checkpoint; null when the server
    /// writes none.
    pub full_page_images: Option<u64>,
    /// Writes of the log.
    pub writes: u64,
    /// Times that the log was made durable; null when the server does not count them.
    pub syncs: Option<u64>,
    /// Average time of a write; null when the server does not time it.
    pub average_write_ms: Option<f64>,
    /// Average time of making the log durable; null when the server does not time it.
    pub average_sync_ms: Option<f64>,
}

/// Checkpoints of the server, by what began them.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerCheckpoints {
    /// Begun because it was time.
    pub timed: u64,
    /// Begun because the log had grown, or somebody asked.
    pub requested: u64,
    /// Time spent writing pages.
    pub write_s: f64,
    /// Time spent making files durable.
    pub sync_s: f64,
    /// Pages written by checkpoints.
    pub pages: u64,
    /// Pages written by the background writer.
    pub pages_by_background_writer: u64,
}

/// A time in which the server was down.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OutageResult {
    /// When it began, in seconds since the start of the run.
    pub begins_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// How much of it lies in the measured phase.
    pub measured_s: f64,
    /// Why, by the codes of the server's errors or, with MariaDB, because its process was still running.
    pub cause: OutageCause,
    /// The error of the first session, or that of a session within a second that says more of the cause.
    pub reason: String,
}

/// Why a server did not serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OutageCause {
    /// It was shut down, or its sessions were ended, by a command.
    Command,
    /// All connections that it allows were in use.
    ConnectionLimit,
    /// Another cause, or none that is known: a crash, an error, no answer.
    #[default]
    #[serde(other)]
    Other,
}

/// A condition that the data must meet whatever transactions were run.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsistencyCheck {
    /// The check as a sentence.
    pub rule: String,
    /// Whether no violation was found.
    pub passed: bool,
    /// `ok`, or the violation that was found.
    pub found: String,
}
