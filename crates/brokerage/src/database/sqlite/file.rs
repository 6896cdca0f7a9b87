//! An SQLite file as a [`Database`].

use std::fs::{self, File};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rusqlite::types::ValueRef;
use rusqlite::{Connection, InterruptHandle, OpenFlags};

use super::failure::failure;
use super::files::{APPLICATION, DatabaseFiles};
use super::hash;
use super::loader::SqliteLoader;
use super::run_lock::SqliteLock;
use super::session::SqliteSession;
use super::timed_vfs::{TimedConnection, TimedVfs};
use super::turn::Queue;
use crate::database::ddl;
use crate::database::digest::{self, TableDigests, TablePart};
use crate::database::interface::{
    Database, FOREIGN_KEY, FileCounters, Loader, Server, Step, holds_data_set,
};
use crate::database::marker::{Build, State};
use crate::database::owners::ServerProcess;
use crate::database::run_lock::{LockError, RunLock};
use crate::database::seal::{self, STATE_TABLE};
use crate::error::DatabaseError;
use crate::parallel::lock;
use crate::schema::{TABLES, Table};
use crate::session::Session;
use crate::statement::Dialect;

/// Findings of SQLite's check that are described, of each table.
const MOST_FINDINGS: usize = 3;

/// Same page size as PostgreSQL.
const PAGE_BYTES: u64 = 8 * 1024;

/// Page cache while loading and while checking all rows.
const LOAD_MEMORY_BYTES: u64 = 256 * 1024 * 1024;

/// How long a connection waits for a lock that another holds.
const BUSY_TIMEOUT: Duration = Duration::from_secs(5);

/// A file in a directory, with all connections to it in this process.
pub struct Sqlite {
    files: DatabaseFiles,
    memory_per_session_bytes: u64,
    /// Or why it could not be registered.
    vfs: rusqlite::Result<Arc<TimedVfs>>,
    queue: Arc<Queue>,
    loading: Mutex<Option<Arc<Mutex<TimedConnection>>>>,
    /// Interrupts the step that is running.
    end_of_step: Mutex<Option<InterruptHandle>>,
}

impl Sqlite {
    /// The file in a directory. `memory_bytes` is the page cache of all sessions together.
    #[must_use]
    pub fn new(directory: &Path, memory_bytes: u64, sessions: u32) -> Self {
        Self {
            files: DatabaseFiles::below(directory),
            memory_per_session_bytes: memory_bytes / u64::from(sessions.max(1)),
            vfs: TimedVfs::register(),
            queue: Arc::default(),
            loading: Mutex::new(None),
            end_of_step: Mutex::new(None),
        }
    }

    /// Path of the file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.files.path()
    }

    fn open(&self, flags: OpenFlags) -> Result<TimedConnection, DatabaseError> {
        self.files.require_own()?;
        let flags = flags
            | OpenFlags::SQLITE_OPEN_READ_WRITE
            | OpenFlags::SQLITE_OPEN_NO_MUTEX
            | OpenFlags::SQLITE_OPEN_NOFOLLOW;
        let failed = |error: &rusqlite::Error| failure(error, "opening the file");
        let vfs = self.vfs.as_ref().map_err(failed)?;
        let opened = vfs
            .open(&self.files.resolved_path()?, flags)
            .and_then(|connection| {
                connection.busy_timeout(BUSY_TIMEOUT)?;
                Ok(connection)
            });
        opened.map_err(|error| failed(&error))
    }

    /// A connection that loads rows or creates indexes, without durability: after a crash the build
    /// starts again.
    fn worker(&self) -> Result<TimedConnection, DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        let pages = LOAD_MEMORY_BYTES / PAGE_BYTES;
        let settings = format!(
            "PRAGMA synchronous = OFF; PRAGMA journal_mode = OFF; PRAGMA foreign_keys = OFF; \
             PRAGMA threads = 2; PRAGMA cache_size = {pages}"
        );
        batch(&connection, &settings)?;
        Ok(connection)
    }

    /// A connection for transactions, durable ones.
    fn for_transactions(&self) -> Result<TimedConnection, DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        let kib = (self.memory_per_session_bytes / 1024).max(64);
        let settings = format!(
            "PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON; PRAGMA cache_size = -{kib}; \
             PRAGMA temp_store = MEMORY"
        );
        batch(&connection, &settings)?;
        Ok(connection)
    }

    /// The journal mode and the number of `synchronous` that sessions have.
    fn durability(&self) -> Result<[String; 2], DatabaseError> {
        self.files.require_own()?;
        if self.files.application()? != Some(APPLICATION) {
            return Ok(["wal".to_owned(), "2".to_owned()]);
        }
        let connection = self.for_transactions()?;
        Ok([
            one(&connection, "PRAGMA journal_mode")?,
            one(&connection, "PRAGMA synchronous")?,
        ])
    }
}

fn batch(connection: &Connection, sql: &str) -> Result<(), DatabaseError> {
    connection
        .execute_batch(sql)
        .map_err(|error| failure(&error, sql.lines().next().unwrap_or_default()))
}

/// The first column of the first row.
fn one(connection: &Connection, sql: &str) -> Result<String, DatabaseError> {
    let row = connection.query_row(sql, [], |row| row.get::<_, rusqlite::types::Value>(0));
    match row.map_err(|error| failure(&error, sql))? {
        rusqlite::types::Value::Integer(number) => Ok(number.to_string()),
        rusqlite::types::Value::Text(text) => Ok(text),
        other => Ok(format!("{other:?}")),
    }
}

impl Database for Sqlite {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let connection = self.for_transactions()?;
        Ok(Box::new(SqliteSession::new(
            connection,
            Arc::clone(&self.queue),
        )))
    }

    fn connect_to_check(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let connection = self.for_transactions()?;
        // Whole tables are joined; the load has not begun, or has ended.
        let kib = LOAD_MEMORY_BYTES / 1024;
        batch(&connection, &format!("PRAGMA cache_size = -{kib}"))?;
        Ok(Box::new(SqliteSession::new(
            connection,
            Arc::clone(&self.queue),
        )))
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        let kib = self.memory_per_session_bytes / 1024;
        let [journal_mode, synchronous] = self.durability()?;
        let synchronous = match synchronous.as_str() {
            "0" => "off",
            "1" => "normal",
            "2" => "full",
            "3" => "extra",
            other => other,
        };
        let setting = |name: &str, value: String| (name.to_owned(), value);
        Ok(Server {
            name: format!("SQLite {}", rusqlite::version()),
            connection: String::new(),
            settings: vec![
                setting("cache_size", format!("{kib} KiB per session")),
                setting("foreign_keys", "on".to_owned()),
                setting("journal_mode", journal_mode),
                setting("page_size", PAGE_BYTES.to_string()),
                setting("synchronous", synchronous.to_owned()),
            ],
            data_directory: self.path().parent().map(Path::to_owned),
            process: ServerProcess::Own,
        })
    }

    fn state(&self) -> Result<State, DatabaseError> {
        self.files.require_own()?;
        match self.files.application()? {
            None => return Ok(State::Absent),
            Some(APPLICATION) => {}
            Some(_) => {
                return Err(DatabaseError::Refused(format!(
                    "{} exists and was not created by Proofload: move it away",
                    self.path().display()
                )));
            }
        }
        let connection = self.open(OpenFlags::empty())?;
        let row = connection.query_row(&Build::query(), [], |row| {
            (0..7)
                .map(|column| {
                    Ok(match row.get::<_, rusqlite::types::Value>(column)? {
                        rusqlite::types::Value::Integer(number) => Some(number.to_string()),
                        rusqlite::types::Value::Text(text) => Some(text),
                        _ => None,
                    })
                })
                .collect::<rusqlite::Result<Vec<_>>>()
        });
        let row = row.map_err(|error| failure(&error, "the marker"))?;
        Ok(Build::read(&row)?.0)
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        if self.state()? != State::Absent {
            return Err(holds_data_set(&self.path().display().to_string()));
        }
        let connection = self.open(OpenFlags::SQLITE_OPEN_CREATE)?;
        batch(&connection, &format!("PRAGMA page_size = {PAGE_BYTES}"))?;
        let mut sql = vec![
            "BEGIN EXCLUSIVE".to_owned(),
            format!("PRAGMA application_id = {APPLICATION}"),
            Build::marker_table("TEXT"),
            build.marker_row(true),
        ];
        let tables = TABLES.iter();
        sql.extend(tables.map(|table| ddl::create_table(table, Dialect::Sqlite)));
        sql.push("COMMIT".to_owned());
        batch(&connection, &sql.join(";\n"))
    }

    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError> {
        let mut loading = lock(&self.loading);
        let shared = match &*loading {
            Some(shared) => Arc::clone(shared),
            None => {
                let connection = self.worker()?;
                connection.set_prepared_statement_cache_capacity(TABLES.len());
                Arc::new(Mutex::new(connection))
            }
        };
        *loading = Some(Arc::clone(&shared));
        Ok(Box::new(SqliteLoader::new(shared)))
    }

    fn post_load_steps(&self) -> Vec<Vec<Step>> {
        ddl::finish_sqlite()
    }

    fn max_parallel_steps(&self) -> usize {
        1
    }

    fn run_step(&self, step: &Step) -> Result<(), DatabaseError> {
        *lock(&self.loading) = None;
        let connection = self.worker()?;
        *lock(&self.end_of_step) = Some(connection.get_interrupt_handle());
        let failed = |error: rusqlite::Error| failure(&error, &step.what);
        let mut prepared = connection.prepare(&step.sql).map_err(failed)?;
        let mut rows = prepared.raw_query();
        // Only the foreign key check returns rows, one for each violation.
        if rows.next().map_err(failed)?.is_some() {
            return Err(DatabaseError::failed(step.what.clone(), FOREIGN_KEY));
        }
        Ok(())
    }

    fn cancel_steps(&self) -> Result<(), DatabaseError> {
        let end = lock(&self.end_of_step);
        // An interrupt of a closed connection does nothing.
        end.iter().for_each(InterruptHandle::interrupt);
        Ok(())
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        *lock(&self.loading) = None;
        // Everything written without durability must be on the volume before the marker says so.
        let file = File::open(self.path()).and_then(|file| file.sync_all());
        file.map_err(|error| DatabaseError::Damaged(error.to_string()))?;
        let connection = self.open(OpenFlags::empty())?;
        one(&connection, "PRAGMA journal_mode = WAL")?;
        batch(&connection, "PRAGMA synchronous = FULL")?;
        batch(&connection, &Build::mark_ready())
    }

    fn tables_and_indexes(&self) -> Result<Vec<String>, DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        let names = || -> rusqlite::Result<Vec<String>> {
            let sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'index')";
            let mut found = connection.prepare(sql)?;
            found.query_map([], |row| row.get(0))?.collect()
        };
        names().map_err(|error| failure(&error, "the names of tables and indexes"))
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        let about = fs::metadata(self.path());
        let about = about.map_err(|error| self.files.unreadable(&error))?;
        Ok(about.len())
    }

    fn file_counters(&self) -> FileCounters {
        self.vfs
            .as_ref()
            .map(|vfs| vfs.counters())
            .unwrap_or_default()
    }

    fn lock(&self) -> Result<Box<dyn RunLock>, LockError> {
        self.files.require_own()?;
        Ok(Box::new(SqliteLock::take(&self.files.lock_path())?))
    }

    fn digests(
        &self,
        table: &Table,
        part: Option<&TablePart>,
    ) -> Result<TableDigests, DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        hash::add_to(&connection).map_err(|error| failure(&error, "adding a function"))?;
        let sql = digest::query(table, part, "TEXT", |columns| {
            let columns = columns.map_or_else(
                || digest::names(table.columns),
                |columns| digest::names(columns.iter().copied()),
            );
            format!("proofload_hash({columns})")
        });
        let texts = |row: &rusqlite::Row<'_>| {
            let count = row.as_ref().column_count();
            (0..count)
                .map(|column| match row.get_ref(column)? {
                    ValueRef::Integer(number) => Ok(Some(number.to_string())),
                    value => Ok(value.as_str().ok().map(str::to_owned)),
                })
                .collect()
        };
        let row = connection.query_row(&sql, [], texts);
        let row = row.map_err(|error| failure(&error, table.name.name()))?;
        digest::digests_of(table, vec![row])
    }

    /// SQLite's own check, which also walks the trees of the table and its indexes.
    fn check_indexes(&self, table: &Table, _rows: u64) -> Result<Vec<String>, DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        let kib = LOAD_MEMORY_BYTES / 1024;
        batch(&connection, &format!("PRAGMA cache_size = -{kib}"))?;
        let name = table.name.name();
        let check = || -> rusqlite::Result<Vec<String>> {
            let mut check = connection.prepare(&format!("PRAGMA integrity_check({name})"))?;
            check.query_map([], |row| row.get(0))?.collect()
        };
        let mut found = check().map_err(|error| failure(&error, name))?;
        found.retain(|line| line != "ok");
        found.truncate(MOST_FINDINGS);
        Ok(found)
    }

    fn state_values(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        if !self
            .tables_and_indexes()?
            .iter()
            .any(|name| name == STATE_TABLE)
        {
            return Ok(Vec::new());
        }
        let connection = self.open(OpenFlags::empty())?;
        let pairs = || -> rusqlite::Result<Vec<(String, String)>> {
            let mut found = connection.prepare(&seal::values_query())?;
            found
                .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
                .collect()
        };
        pairs().map_err(|error| failure(&error, "the values kept in the database"))
    }

    fn set_state_values(&self, values: &[(String, String)]) -> Result<(), DatabaseError> {
        let connection = self.open(OpenFlags::empty())?;
        let mut sql = vec![
            "BEGIN IMMEDIATE".to_owned(),
            seal::create_state_table("TEXT"),
        ];
        sql.extend(seal::replace_values(values));
        sql.push("COMMIT".to_owned());
        batch(&connection, "PRAGMA synchronous = FULL")?;
        batch(&connection, &sql.join(";\n"))
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        *lock(&self.loading) = None;
        match self.files.application()? {
            None | Some(APPLICATION) => {}
            // The error of `state` has the reason.
            Some(_) => return self.state().map(|_| ()),
        }
        let removed = self.files.remove();
        removed.map_err(|(file, error)| {
            DatabaseError::Refused(format!("{} cannot be removed: {error}", file.display()))
        })?;
        Ok(())
    }
}
