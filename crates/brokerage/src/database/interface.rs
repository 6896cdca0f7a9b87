//! The interface to a database outside of transactions: creating, loading, indexing, removal.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use super::digest::{TableDigests, TablePart};
use super::marker::{Build, State};
use super::run_lock::{LockError, RunLock};
use super::server_files::ServerFiles;
use super::text_rows::first_text;
use crate::database::owners::ServerProcess;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::{TABLES, Table, TableName};
use crate::session::Session;
use crate::statement::Dialect;

/// How long connecting to a server may take.
pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

/// Timeout for an answer, after which the server counts as gone.
pub(super) const ANSWER_TIMEOUT: Duration = Duration::from_secs(120);

/// What is wrong when the check of the foreign keys returns rows.
pub(super) const FOREIGN_KEY: &str = "a foreign key is violated";

/// The server's description in the report.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name and version, such as "PostgreSQL 15.18".
    pub name: String,
    /// How it is connected to, and whether that is encrypted; empty if it is a file.
    pub connection: String,
    /// Settings that affect its I/O, with their values as the server prints them.
    pub settings: Vec<(String, String)>,
    /// Its data directory, if it is known.
    pub data_directory: Option<PathBuf>,
    /// How its processes are known, if it runs on this machine.
    pub process: ServerProcess,
}

/// Counters of files by kind, as a server names it: reads, writes and perhaps syncs, each with microseconds.
pub type FileCounters = BTreeMap<String, Vec<i64>>;

/// One step after loading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What it is, for progress and errors, such as "the primary key of trade".
    pub what: String,
    /// The statement that does it.
    pub sql: String,
    /// Whether the database is correct without it, so that missing permission is no error.
    pub is_optional: bool,
}

impl Step {
    pub(super) fn new(what: String, sql: String) -> Self {
        Self {
            what,
            sql,
            is_optional: false,
        }
    }
}

/// A database that can hold the data set. All methods may be called from several threads.
///
/// It is built by [`create`](Self::create), any number of [`loader`](Self::loader)s,
/// [`finish`](super::finish) and [`mark_ready`](Self::mark_ready).
pub trait Database: Send + Sync {
    /// The SQL dialect of its statements.
    fn dialect(&self) -> Dialect;

    /// Opens a session for one client.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError>;

    /// Opens a session for queries that read the whole database and take long.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    fn connect_to_check(&self) -> Result<Box<dyn Session>, DatabaseError> {
        self.connect()
    }

    /// Whether its sessions can [share a thread](Session::share_thread). Those of others block the
    /// thread that uses them.
    fn shares_threads(&self) -> bool {
        false
    }

    /// Name, version and settings.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    fn server(&self) -> Result<Server, DatabaseError>;

    /// How far the database is built.
    ///
    /// # Errors
    /// The server is not reachable, or the database holds something else.
    fn state(&self) -> Result<State, DatabaseError>;

    /// Checks that we may create what is absent, without creating it.
    ///
    /// # Errors
    /// We may not, with the remedy.
    fn check_permission(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Checks that the server admits this many sessions at once, by opening them.
    ///
    /// # Errors
    /// It does not, with the remedy.
    fn check_admission(&self, sessions: u32) -> Result<(), DatabaseError> {
        let _ = sessions;
        Ok(())
    }

    /// Creates the database, the marker and the empty tables.
    ///
    /// # Errors
    /// Something exists already, or permission is missing.
    fn create(&self, build: &Build) -> Result<(), DatabaseError>;

    /// A bulk loader, for one thread.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError>;

    /// The steps after loading, in phases: the steps of one phase may run in parallel, up to
    /// [`max_parallel_steps`](Self::max_parallel_steps), and must all end before the next phase.
    fn post_load_steps(&self) -> Vec<Vec<Step>>;

    /// How many steps of a phase may run in parallel; `usize::MAX` for any number.
    fn max_parallel_steps(&self) -> usize {
        usize::MAX
    }

    /// Runs one step.
    ///
    /// # Errors
    /// The server is gone or full, or the rows violate a key.
    fn run_step(&self, step: &Step) -> Result<(), DatabaseError>;

    /// Cancels the steps that are running, which then fail. Indexes of a large database take
    /// minutes each.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    fn cancel_steps(&self) -> Result<(), DatabaseError>;

    /// Marks the build as complete.
    ///
    /// # Errors
    /// The server is gone.
    fn mark_ready(&self) -> Result<(), DatabaseError>;

    /// The names of the existing tables and indexes.
    ///
    /// # Errors
    /// The server is gone.
    fn tables_and_indexes(&self) -> Result<Vec<String>, DatabaseError>;

    /// Bytes of all tables and indexes, without the log.
    ///
    /// # Errors
    /// The server is gone.
    fn size_bytes(&self) -> Result<u64, DatabaseError>;

    /// Where the files are that take part in a run, by what the server says; none of a database that has no server.
    ///
    /// # Errors
    /// The server is gone.
    fn files(&self) -> Result<ServerFiles, DatabaseError> {
        Ok(ServerFiles::default())
    }

    /// I/O of the files of a database that this process itself reads and writes, since it began to use them;
    /// empty for others. A server counts by itself, and is asked over a session.
    fn file_counters(&self) -> FileCounters {
        FileCounters::new()
    }

    /// Locks the database for a run.
    ///
    /// # Errors
    /// Another run holds the lock, or the server is not reachable.
    fn lock(&self) -> Result<Box<dyn RunLock>, LockError>;

    /// Reads all rows of a table for its digest, and for that of a part of it.
    ///
    /// # Errors
    /// The server is gone.
    fn digests(
        &self,
        table: &Table,
        part: Option<&TablePart>,
    ) -> Result<TableDigests, DatabaseError>;

    /// Whether the indexes of a table, which has so many rows, have an entry for each of them: what is wrong,
    /// in parts of a sentence.
    ///
    /// # Errors
    /// The server is gone.
    fn check_indexes(&self, table: &Table, rows: u64) -> Result<Vec<String>, DatabaseError>;

    /// The names and values kept in the database; none if there never were any.
    ///
    /// # Errors
    /// The server is gone.
    fn state_values(&self) -> Result<Vec<(String, String)>, DatabaseError>;

    /// Replaces all names and values kept in the database.
    ///
    /// # Errors
    /// The server is gone, or permission to create their table is missing.
    fn set_state_values(&self, values: &[(String, String)]) -> Result<(), DatabaseError>;

    /// Drops everything that we created, and nothing else. Sessions still open on it are
    /// terminated.
    ///
    /// # Errors
    /// The server is gone, or the database is not ours.
    fn remove(&self) -> Result<(), DatabaseError>;
}

/// The tables that are missing, and of those that are there the indexes beside the primary key. A complete build
/// has all of them, unless someone dropped some since.
///
/// # Errors
/// The server is gone.
pub fn missing_tables_and_indexes(database: &dyn Database) -> Result<Vec<String>, DatabaseError> {
    let there = database.tables_and_indexes()?;
    let is_there = |name: &str| there.iter().any(|one| one.eq_ignore_ascii_case(name));
    let missing = TABLES.iter().flat_map(|table| {
        let name = table.name.name();
        let mut names = vec![name.to_owned()];
        if is_there(name) {
            let indexes = table.indexes.iter();
            names.extend(indexes.map(|index| table.index_name(index.columns)));
        }
        names
    });
    Ok(missing.filter(|name| !is_there(name)).collect())
}

/// What is wrong with an index that has so many entries for so many rows.
pub(super) fn index_finding(index: &str, entries: u64, rows: u64) -> Option<String> {
    (entries != rows).then(|| format!("{index} has {entries} entries for {rows} rows"))
}

/// The error of a step that the server refused to do or could not.
pub(super) fn step_failure(step: &Step, error: DatabaseError) -> DatabaseError {
    match error {
        DatabaseError::Failed { message, .. } | DatabaseError::ServerSide { message, .. } => {
            DatabaseError::failed(&step.what, message)
        }
        other => other,
    }
}

/// The size of a database, from the number that the server says.
pub(super) fn size_of(rows: &[Vec<Option<String>>]) -> Result<u64, DatabaseError> {
    let bytes = first_text(rows).and_then(|text| text.parse().ok());
    bytes.ok_or_else(|| {
        DatabaseError::failed("the size of the database", "the server gave no number")
    })
}

/// The error of a database with tables that are not ours.
pub(super) fn holds_something_else(database: &str) -> DatabaseError {
    DatabaseError::Unusable(format!(
        "database {database} exists and holds something else: rename it or name an empty database"
    ))
}

/// The error of a database or file that is to be created and is there.
pub(super) fn holds_data_set(what: &str) -> DatabaseError {
    DatabaseError::Refused(format!("{what} holds a brokerage data set already"))
}

/// Opens this many sessions, holds them all at once, and closes them.
///
/// # Errors
/// The server admits only some of them, with the remedy.
pub(super) fn open_at_once<S>(
    needed: u32,
    open_one: impl Fn() -> Result<S, DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut open = Vec::new();
    for number in 0..needed {
        open.push(open_one().map_err(|why| {
            DatabaseError::Unusable(format!(
                "the database server admits {number} more sessions, and {needed} are needed for \
                 the users, the market workers and the sampler ({why}): raise its max_connections \
                 or the limits of the user, or reduce --users"
            ))
        })?);
    }
    Ok(())
}

/// Takes rows in bulk, one table after the other. Rows of a table are durable only after
/// [`end`](Self::end); a loader dropped before leaves none of them, or some of them in a build that
/// is not ready.
pub trait Loader: RowSink + Send {
    /// Begins the rows of a table.
    ///
    /// # Errors
    /// The server is gone or full, or the last table was not ended.
    fn begin(&mut self, table: TableName) -> Result<(), DatabaseError>;

    /// Ends the rows of a part, and returns their number.
    ///
    /// # Errors
    /// The server did not take all of them.
    fn end(&mut self) -> Result<u64, DatabaseError>;
}
