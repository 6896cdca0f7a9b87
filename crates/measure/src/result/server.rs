//! The database server of a run on a real database: what it was, what it waited for, whether it
//! served all the time, and whether its books balance.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// A real database under a load of transactions.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerResult {
    /// Its name, such as `PostgreSQL`.
    pub name: String,
    /// Its version, as it tells it.
    pub version: String,
    /// Where it came from, as a sentence: a cluster of our own, or a server that was there.
    pub origin: String,
    /// The settings of the server that matter for its storage, as it tells them.
    pub settings: BTreeMap<String, String>,
    /// Customers in the books.
    pub customers: u64,
    /// Trading days in the books before the run.
    pub trade_days: u64,
    /// Bytes of the database before the run.
    pub built_bytes: u64,
    /// Bytes of the database after the run; null when the server did not say.
    pub ended_bytes: Option<u64>,
    /// How the measured transactions ended.
    pub transactions: TransactionCounts,
    /// What the sessions were found doing during the measured phase, the most frequent first.
    pub waits: Vec<WaitShare>,
    /// What the server counted of its own I/O during the measured phase; null when it does not.
    pub io: Option<ServerIo>,
    /// What the server counted of its log; null when it does not.
    pub log: Option<ServerLog>,
    /// Checkpoints during the measured phase; null when the server does not count them.
    pub checkpoints: Option<ServerCheckpoints>,
    /// How the requests of the volume were seen: `every request` or `averages`; empty when its
    /// device is not known.
    pub volume_seen_by: String,
    /// Times in which the server did not serve, in any phase.
    pub outages: Vec<OutageResult>,
    /// Seconds without service in all, in any phase.
    pub seconds_without_service: f64,
    /// What held the load back: `storage`, `locks`, `processor`, `nothing` (the users themselves,
    /// or the rate that was asked for), or `unknown`.
    pub held_back_by: String,
    /// The same in sentences, with the figures that say so.
    pub explanation: String,
    /// The checks of the books after the run; empty when they were not checked.
    pub books: Vec<BookCheck>,
}

/// How transactions ended, measured phase only.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TransactionCounts {
    /// Transactions committed.
    pub committed: u64,
    /// Orders rolled back on purpose.
    pub rolled_back_on_purpose: u64,
    /// Attempts that another transaction was in the way of (serialization failures, deadlocks);
    /// each was tried again.
    pub conflicts: u64,
    /// Transactions given up after too many conflicts.
    pub given_up: u64,
    /// Attempts that failed because the server was gone.
    pub lost: u64,
    /// Attempts that failed because the server had no room left.
    pub without_space: u64,
    /// Conflicts by kind of transaction.
    pub conflicts_by_operation: BTreeMap<String, u64>,
}

/// What sessions were found doing.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct WaitShare {
    /// The server's own name for it, such as `IO: DataFileRead`; `running` for none.
    pub name: String,
    /// What it belongs to: `storage`, `locks`, `processor`, `client` or `other`.
    pub class: String,
    /// Share of the looks at busy sessions in which it was found, in percent.
    pub share_percent: f64,
    /// Sessions found doing it, on average.
    pub average_sessions: f64,
}

/// The server's own count of its I/O.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerIo {
    /// Pages read from the operating system, which may have had them in its memory.
    pub pages_read: u64,
    /// Pages found in the server's own memory.
    pub pages_found: u64,
    /// Average time of a page read; null when the server does not time it.
    pub average_read_ms: Option<f64>,
    /// Pages that sessions had to write themselves; null when the server does not count them.
    pub pages_written_by_sessions: Option<u64>,
    /// Bytes of temporary files; null when the server does not count them.
    pub temporary_bytes: Option<u64>,
}

/// The server's log.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ServerLog {
    /// Bytes of log.
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

/// Checkpoints.
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

/// A time in which the server did not serve.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct OutageResult {
    /// When it began, in seconds since the start of the run.
    pub begins_s: f64,
    /// How long it lasted.
    pub length_s: f64,
    /// What the first session was told.
    pub reason: String,
}

/// A law that the books must obey.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BookCheck {
    /// The law as a sentence.
    pub rule: String,
    /// Whether it holds.
    pub holds: bool,
    /// What was found.
    pub found: String,
}
