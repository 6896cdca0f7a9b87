//! A MariaDB or MySQL server as a [`Database`].

use std::path::PathBuf;

use super::connection::Connection;
use super::files;
use super::loader::MariaDbLoader;
use super::run_lock::{MariaDbLock, lock_name};
use crate::database::ddl;
use crate::database::digest::{self, TableDigests, TablePart};
use crate::database::interface::index_finding;
use crate::database::interface::{
    ANSWER_TIMEOUT, CONNECT_TIMEOUT, Database, FOREIGN_KEY, Loader, Server, Step, holds_data_set,
    holds_something_else, open_at_once, size_of, step_failure,
};
use crate::database::marker::{Build, DATABASE, MARKER, State};
use crate::database::owners::ServerProcess;
use crate::database::run_lock::{LockError, RunLock};
use crate::database::seal::{self, STATE_TABLE};
use crate::database::server_files::ServerFiles;
use crate::database::target::Address;
use crate::database::text_rows::first_text;
use crate::error::DatabaseError;
use crate::schema::{TABLES, Table};
use crate::session::Session;
use crate::statement::Dialect;

/// System databases, which are never used.
const SYSTEM_DATABASES: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];

/// Settings that affect I/O.
const SETTINGS: [&str; 14] = [
    "binlog_format",
    "innodb_buffer_pool_size",
    "innodb_checksum_algorithm",
    "innodb_doublewrite",
    "innodb_flush_log_at_trx_commit",
    "innodb_flush_method",
    "innodb_io_capacity",
    "innodb_log_file_size",
    "innodb_page_size",
    "innodb_redo_log_capacity",
    "log_bin",
    "max_connections",
    "sync_binlog",
    "transaction_isolation",
];

/// A server, and the database on it that is ours or will be.
#[derive(Debug, Clone)]
pub struct MariaDb {
    address: Address,
    /// The database that holds the data set.
    database_name: String,
}

impl MariaDb {
    /// Connects to a server, and decides which database holds the data set: the named one if it is
    /// empty or ours, otherwise one of our own.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    pub fn open(address: &Address) -> Result<Self, DatabaseError> {
        let named = address.database.as_deref();
        let mut connection = Connection::open(address, named, CONNECT_TIMEOUT)?;
        let named = named.filter(|named| !SYSTEM_DATABASES.contains(named));
        let database_name = match named {
            Some(named) if has_marker(&mut connection, named)? => named,
            Some(named) if is_empty(&mut connection, named)? => named,
            _ => DATABASE,
        };
        Ok(Self {
            address: address.clone(),
            database_name: database_name.to_owned(),
        })
    }

    /// The name of the database that holds the data set, or will.
    #[must_use]
    pub fn database_name(&self) -> &str {
        &self.database_name
    }

    fn connect_to_entry(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, None, CONNECT_TIMEOUT)?;
        connection.set_timeout(None)?;
        Ok(connection)
    }

    /// A connection for any SQL, such as the server's own statistics.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    pub fn connect_for_sql(&self) -> Result<Connection, DatabaseError> {
        let mut connection =
            Connection::open(&self.address, Some(&self.database_name), CONNECT_TIMEOUT)?;
        connection.set_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(connection)
    }

    /// A connection for work that may take hours.
    fn worker(&self) -> Result<Connection, DatabaseError> {
        let mut connection =
            Connection::open(&self.address, Some(&self.database_name), CONNECT_TIMEOUT)?;
        connection.set_timeout(None)?;
        // Foreign keys are checked after loading, all at once.
        connection.ask("SET foreign_key_checks = 0; SET unique_checks = 0")?;
        Ok(connection)
    }

    /// The state of the build, and whether we created the database.
    fn marker(&self) -> Result<(State, bool), DatabaseError> {
        let mut connection = self.connect_to_entry()?;
        if !exists(&mut connection, &self.database_name)? {
            return Ok((State::Absent, true));
        }
        if has_marker(&mut connection, &self.database_name)? {
            return Build::read_answer(self.connect_for_sql()?.ask(&Build::query()));
        }
        if is_empty(&mut connection, &self.database_name)? {
            return Ok((State::Absent, false));
        }
        Err(holds_something_else(&self.database_name))
    }

    fn create_database(&self) -> Result<bool, DatabaseError> {
        let mut connection = self.connect_to_entry()?;
        if exists(&mut connection, &self.database_name)? {
            return Ok(false);
        }
        let collation = connection.collation();
        let name = quoted(&self.database_name);
        let made = connection.ask(&format!(
            "CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE {collation}"
        ));
        match made {
            Ok(_) => Ok(true),
            Err(DatabaseError::Refused(_)) => Err(DatabaseError::Unusable(format!(
                "user {} may not create a database: let an administrator run \
                 CREATE DATABASE {} and GRANT ALL ON {}.* to it, or name an empty database",
                self.address.user, self.database_name, self.database_name
            ))),
            Err(other) => Err(other),
        }
    }
}

/// A name in double quotes, which the session accepts as identifiers.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes.
pub(super) fn literal(text: &str) -> String {
    format!("'{}'", text.replace('\'', "''"))
}

fn exists(connection: &mut Connection, database: &str) -> Result<bool, DatabaseError> {
    let name = literal(database);
    let rows = connection.ask(&format!(
        "SELECT 1 FROM information_schema.schemata WHERE schema_name = {name}"
    ))?;
    Ok(!rows.is_empty())
}

fn has_marker(connection: &mut Connection, database: &str) -> Result<bool, DatabaseError> {
    let name = literal(database);
    let rows = connection.ask(&format!(
        "SELECT 1 FROM information_schema.tables \
         WHERE table_schema = {name} AND table_name = '{MARKER}'"
    ))?;
    Ok(!rows.is_empty())
}

fn is_empty(connection: &mut Connection, database: &str) -> Result<bool, DatabaseError> {
    let name = literal(database);
    let rows = connection.ask(&format!(
        "SELECT 1 FROM information_schema.tables WHERE table_schema = {name} LIMIT 1"
    ))?;
    Ok(rows.is_empty())
}

impl Database for MariaDb {
    fn dialect(&self) -> Dialect {
        Dialect::MariaDb
    }

    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        Ok(Box::new(self.connect_for_sql()?))
    }

    fn connect_to_check(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let mut session = self.connect_for_sql()?;
        session.set_timeout(None)?;
        Ok(Box::new(session))
    }

    fn shares_threads(&self) -> bool {
        true
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        let mut connection = self.connect_to_entry()?;
        let names: Vec<_> = SETTINGS.iter().map(|name| literal(name)).collect();
        let rows = connection.ask(&format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({}, 'datadir', 'pid_file')",
            names.join(", ")
        ))?;
        let pairs = rows.into_iter().filter_map(|row| {
            let mut columns = row.into_iter();
            Some((columns.next()??.to_lowercase(), columns.next()??))
        });
        let (mut places, mut settings): (Vec<_>, Vec<_>) =
            pairs.partition(|(name, _)| ["datadir", "pid_file"].contains(&name.as_str()));
        let mut place = |name: &str| {
            let found = places.iter().position(|(one, _)| one == name)?;
            Some(PathBuf::from(places.swap_remove(found).1))
        };
        let (directory, process) = (place("datadir"), place("pid_file"));
        settings.sort();
        let product = if connection.is_mariadb() {
            "MariaDB"
        } else {
            "MySQL"
        };
        let number = connection.version().split('-').next().unwrap_or_default();
        Ok(Server {
            name: format!("{product} {number}"),
            connection: connection.describe(),
            settings,
            // A relative path begins at the data directory.
            process: directory
                .clone()
                .zip(process)
                .map_or(ServerProcess::Unknown, |(directory, file)| {
                    ServerProcess::InFile(directory.join(file))
                }),
            data_directory: directory,
        })
    }

    fn state(&self) -> Result<State, DatabaseError> {
        Ok(self.marker()?.0)
    }

    fn check_permission(&self) -> Result<(), DatabaseError> {
        // Privileges come in so many forms that trying is the only way to know.
        if self.create_database()? {
            let name = quoted(&self.database_name);
            self.connect_to_entry()?
                .ask(&format!("DROP DATABASE {name}"))?;
            return Ok(());
        }
        let mut connection = self.connect_for_sql()?;
        let made = connection.ask(&Build::marker_table("VARCHAR(100)"));
        match made.and_then(|_| connection.ask(&format!("DROP TABLE {MARKER}"))) {
            Ok(_) => Ok(()),
            Err(DatabaseError::Refused(_)) => Err(DatabaseError::Unusable(format!(
                "user {} may not create tables in database {database_name}: let an administrator \
                 run GRANT ALL ON {database_name}.* to it, or name another",
                self.address.user,
                database_name = self.database_name
            ))),
            Err(other) => Err(other),
        }
    }

    fn check_admission(&self, sessions: u32) -> Result<(), DatabaseError> {
        open_at_once(sessions, || self.connect_to_entry())
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        let owned = self.create_database()?;
        if self.marker()?.0 != State::Absent {
            return Err(holds_data_set(&format!("database {}", self.database_name)));
        }
        let mut worker = self.worker()?;
        let text = format!("CHARACTER SET utf8mb4 COLLATE {}", worker.collation());
        // Tables are created one by one here, the marker with its row first.
        worker.ask(&Build::marker_table("VARCHAR(100)"))?;
        worker.ask(&build.marker_row(owned))?;
        for table in &TABLES {
            let sql = ddl::create_table(table, Dialect::MariaDb);
            worker.ask(&format!("{sql} {text}"))?;
        }
        Ok(())
    }

    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError> {
        let mut worker = self.worker()?;
        let rows = worker.ask("SELECT @@max_allowed_packet")?;
        let largest = first_text(&rows).and_then(|text| text.parse().ok());
        Ok(Box::new(MariaDbLoader::new(
            worker,
            largest.unwrap_or(1 << 20),
        )))
    }

    fn post_load_steps(&self) -> Vec<Vec<Step>> {
        ddl::finish_mariadb()
    }

    fn run_step(&self, step: &Step) -> Result<(), DatabaseError> {
        match self.worker()?.ask(&step.sql) {
            // A query in a step returns rows only if a foreign key is violated.
            Ok(rows) if step.sql.starts_with("SELECT") && !rows.is_empty() => {
                Err(DatabaseError::failed(&step.what, FOREIGN_KEY))
            }
            done => done.map(drop).map_err(|error| step_failure(step, error)),
        }
    }

    fn cancel_steps(&self) -> Result<(), DatabaseError> {
        // Nobody else uses a database that is being built.
        let mut connection = self.connect_for_sql()?;
        let working = connection.ask(
            "SELECT id FROM information_schema.processlist WHERE command = 'Query' \
             AND db = DATABASE() AND user = SUBSTRING_INDEX(USER(), '@', 1) \
             AND id <> CONNECTION_ID()",
        )?;
        for session in working.into_iter().flatten().flatten() {
            // It may have ended meanwhile.
            let _ = connection.ask(&format!("KILL QUERY {session}"));
        }
        Ok(())
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.worker()?.ask(&Build::mark_ready()).map(|_| ())
    }

    fn tables_and_indexes(&self) -> Result<Vec<String>, DatabaseError> {
        let names = self.connect_for_sql()?.ask(
            "SELECT table_name FROM information_schema.tables WHERE table_schema = DATABASE() \
             UNION ALL \
             SELECT index_name FROM information_schema.statistics WHERE table_schema = DATABASE()",
        )?;
        Ok(names.into_iter().flatten().flatten().collect())
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        let mut connection = self.connect_for_sql()?;
        let name = literal(&self.database_name);
        let files = literal(&format!("{}/", self.database_name));
        // File sizes are visible only with the PROCESS privilege, and only there does the name of
        // this table not differ between versions; the statistics are approximate.
        let exact = connection.ask(&format!(
            "SELECT SUM(file_size) FROM information_schema.innodb_sys_tablespaces \
             WHERE LEFT(name, CHAR_LENGTH({files})) = {files}"
        ));
        if let Some(bytes) = exact.ok().and_then(|rows| size_of(&rows).ok()) {
            return Ok(bytes);
        }
        let rough = connection.ask(&format!(
            "SELECT CAST(SUM(data_length + index_length) AS UNSIGNED) \
             FROM information_schema.tables WHERE table_schema = {name}"
        ))?;
        size_of(&rough)
    }

    fn files(&self) -> Result<ServerFiles, DatabaseError> {
        files::files(&mut self.connect_to_entry()?, &self.database_name)
    }

    fn lock(&self) -> Result<Box<dyn RunLock>, LockError> {
        let server = self.clone();
        let connect = Box::new(move || server.connect_for_sql());
        let name = literal(&lock_name(self.database_name()));
        Ok(Box::new(MariaDbLock::take(connect, name)?))
    }

    fn digests(
        &self,
        table: &Table,
        part: Option<&TablePart>,
    ) -> Result<TableDigests, DatabaseError> {
        let sql = digest::query(table, part, "CHAR", |columns| {
            let columns = columns.map_or_else(
                || digest::as_texts(table.columns, "'~NULL~'"),
                |columns| digest::as_texts(columns.iter().copied(), "'~NULL~'"),
            );
            format!("CRC32(CONCAT_WS('~|~', {columns}))")
        });
        digest::digests_of(table, self.worker()?.ask(&sql)?)
    }

    /// The rows of a table lie in its primary index.
    fn check_indexes(&self, table: &Table, rows: u64) -> Result<Vec<String>, DatabaseError> {
        let mut worker = self.worker()?;
        let mut found = Vec::new();
        for index in table.indexes {
            let index = table.index_name(index.columns);
            let counted = worker.ask(&format!(
                "SELECT COUNT(*) FROM {} FORCE INDEX ({index})",
                table.name.name()
            ))?;
            let entries = first_text(&counted).and_then(|text| text.parse().ok());
            found.extend(entries.and_then(|entries| index_finding(&index, entries, rows)));
        }
        Ok(found)
    }

    fn state_values(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        let there = self.tables_and_indexes()?;
        match there.iter().any(|name| name == STATE_TABLE) {
            false => Ok(Vec::new()),
            true => Ok(seal::values_of(
                self.connect_for_sql()?.ask(&seal::values_query())?,
            )),
        }
    }

    fn set_state_values(&self, values: &[(String, String)]) -> Result<(), DatabaseError> {
        let mut worker = self.worker()?;
        worker.ask(&seal::create_state_table("VARCHAR(200)"))?;
        let sql = seal::replace_values(values).join("; ");
        worker
            .ask(&format!("START TRANSACTION; {sql}; COMMIT"))
            .map(drop)
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        let (state, owned) = self.marker()?;
        if state == State::Absent {
            return Ok(());
        }
        if owned {
            let name = quoted(&self.database_name);
            return self
                .connect_to_entry()?
                .ask(&format!("DROP DATABASE {name}"))
                .map(|_| ());
        }
        let mut worker = self.worker()?;
        for sql in ddl::drop_tables() {
            worker.ask(&sql)?;
        }
        worker.ask(&format!("DROP TABLE IF EXISTS {STATE_TABLE}"))?;
        worker.ask(&format!("DROP TABLE {MARKER}")).map(|_| ())
    }
}
