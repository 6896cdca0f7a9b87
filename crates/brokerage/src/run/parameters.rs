//! What a run is given besides its plan, and what it finds out besides the counts.

use super::full_volume::Volumes;
use super::monitor::other_databases::OtherDatabases;
use super::monitor::statistics::CounterDeltas;
use super::monitor::waits::Waits;
use super::placement::{PlacedFiles, Placement};
use crate::database::owners::ServerProcess;
use crate::guarantees::AlteredTable;
use crate::profile::Brokerage;
use measure::result::{
    AcknowledgedWork, ConsistencyCheck, OtherIo, OutageResult, TransactionCounts,
};
use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

/// Parameters of a run, in addition to the plan.
#[derive(Clone)]
pub struct RunParameters {
    /// The settings of users, market and database.
    pub brokerage: Brokerage,
    /// Called when the database is built, before the load begins.
    pub is_built: Arc<dyn Fn() + Send + Sync>,
    /// Called again and again while the server is down: restarts it if it is our own.
    pub revive: Arc<dyn Fn() + Send + Sync>,
    /// The process whose threads are the sessions; unknown where each session is a process.
    pub sessions_process: ServerProcess,
    /// The volumes of the database.
    pub volumes: Volumes,
    /// Where the files of the server belong; `None` without a server, or where no storage is measured.
    pub placement: Option<Placement>,
    /// Target rate of users' transactions; without one each user begins the next when the last is
    /// done.
    pub transactions_per_second: Option<f64>,
    /// Whether the database is kept after the run.
    pub keeps: bool,
    /// Threads that load rows and create indexes.
    pub loading_threads: usize,
}

/// Results of a run, in addition to the counts.
#[derive(Debug, Default)]
pub struct Findings {
    /// Bytes of the database before the run.
    pub built_bytes: u64,
    /// Bytes of the database at the end.
    pub ended_bytes: Option<u64>,
    /// Wait events sampled during the measurement.
    pub waits: Waits,
    /// Differences of the server's counters.
    pub counted: CounterDeltas,
    /// What the server did not guarantee at some moment of the load.
    pub not_guaranteed: BTreeSet<String>,
    /// Tables whose rows would not have survived a crash at some moment of the load.
    pub altered_tables: BTreeSet<AlteredTable>,
    /// What other databases of the server did during the measurement.
    pub other_databases: Option<OtherDatabases>,
    /// Failed attempts during the measurement, by cause.
    pub transactions: TransactionCounts,
    /// Outages of the server.
    pub outages: Vec<OutageResult>,
    /// Acknowledged transactions, compared with the database.
    pub acknowledged: Option<AcknowledgedWork>,
    /// Results of the consistency checks.
    pub consistency_checks: Vec<ConsistencyCheck>,
    /// Which rows the checks have covered, in sentences.
    pub coverage: Vec<String>,
    /// Where the files of the server were, before the load and after it.
    pub files: PlacedFiles,
    /// A directory of the log whose storage has no block device, so that its writes are in no figure.
    pub unmeasured_log: Option<PathBuf>,
    /// How the volume's requests were measured.
    pub volume_measured_by: String,
    /// I/O of other processes on the volume.
    pub other_io: Option<OtherIo>,
    /// CPU time of the server, in percent of one core.
    pub cpu_percent: Option<f64>,
    /// Log writes that were traced, and those that were never flushed from a volatile cache.
    pub log_writes: (u64, u64),
    /// What limits the validity of the figures.
    pub warnings: Vec<String>,
}
