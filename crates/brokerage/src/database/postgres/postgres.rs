//! A PostgreSQL server as a [`Database`].

use std::path::PathBuf;

use postgres_protocol::escape::{escape_identifier, escape_literal};

use super::backend;
use super::connection::Connection;
use super::files;
use super::index_entries;
use super::loader::PostgresLoader;
use super::run_lock::PostgresLock;
use crate::database::ddl;
use crate::database::digest::{self, TableDigests, TablePart};
use crate::database::interface::{
    ANSWER_TIMEOUT, CONNECT_TIMEOUT, Database, Loader, Server, Step, holds_data_set,
    holds_something_else, open_at_once, size_of, step_failure,
};
use crate::database::marker::{Build, DATABASE, MARKER, State};
use crate::database::owners::ServerProcess;
use crate::database::run_lock::{LockError, RunLock};
use crate::database::seal::{self, STATE_TABLE};
use crate::database::server_files::ServerFiles;
use crate::database::target::{Address, ENTRY_DATABASE};
use crate::database::text_rows::{TextRows, first_text};
use crate::error::DatabaseError;
use crate::schema::{TABLES, Table};
use crate::session::Session;
use crate::statement::Dialect;

/// Databases of every server, which are never used.
const SYSTEM_DATABASES: [&str; 3] = ["postgres", "template0", "template1"];

/// Settings that affect I/O.
const SETTINGS: [&str; 19] = [
    "autovacuum",
    "checkpoint_completion_target",
    "checkpoint_timeout",
    "commit_delay",
    "data_checksums",
    "effective_io_concurrency",
    "fsync",
    "full_page_writes",
    "huge_pages",
    "io_method",
    "max_connections",
    "max_wal_size",
    "shared_buffers",
    "synchronous_commit",
    "track_io_timing",
    "wal_buffers",
    "wal_compression",
    "wal_level",
    "wal_sync_method",
];

/// A server, and the database on it that is ours or will be.
#[derive(Debug, Clone)]
pub struct Postgres {
    address: Address,
    /// The database we connect to before our own exists.
    entry_database: String,
    /// The database that holds the data set.
    database_name: String,
}

impl Postgres {
    /// Connects to a server, and decides which database holds the data set: the named one if it is
    /// empty or ours, otherwise one of our own.
    ///
    /// # Errors
    /// The server is not reachable, refuses us, or is too old.
    pub fn open(address: &Address) -> Result<Self, DatabaseError> {
        let entry_database = address.database.clone();
        let entry_database = entry_database.unwrap_or_else(|| ENTRY_DATABASE.to_owned());
        let mut connection = Connection::open(address, &entry_database, CONNECT_TIMEOUT)?;
        let is_common = SYSTEM_DATABASES.contains(&entry_database.as_str());
        let is_usable = !is_common && (has_marker(&mut connection)? || is_empty(&mut connection)?);
        Ok(Self {
            address: address.clone(),
            database_name: if is_usable {
                entry_database.clone()
            } else {
                DATABASE.to_owned()
            },
            entry_database,
        })
    }

    /// The name of the database that holds the data set, or will.
    #[must_use]
    pub fn database_name(&self) -> &str {
        &self.database_name
    }

    /// A connection for any SQL, such as the server's own statistics.
    ///
    /// # Errors
    /// The server is not reachable, or refuses us.
    pub fn connect_for_sql(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, &self.database_name, CONNECT_TIMEOUT)?;
        connection.set_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(connection)
    }

    /// A connection to the database of the data set, or to another one as long as that does not exist.
    fn connect_if_there(&self) -> Result<Connection, DatabaseError> {
        match self.connect_for_sql() {
            Err(DatabaseError::Unusable(_)) => self.connect_to_entry(),
            connected => connected,
        }
    }

    /// A connection for work that may take hours.
    fn worker(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, &self.database_name, CONNECT_TIMEOUT)?;
        connection.set_timeout(None)?;
        // If we end before the statement does, the server cancels it (from version 14 on, on
        // Linux).
        connection.ask(
            "SELECT set_config('client_connection_check_interval', '5000', false) \
             WHERE current_setting('client_connection_check_interval', true) IS NOT NULL",
        )?;
        Ok(connection)
    }

    fn connect_to_entry(&self) -> Result<Connection, DatabaseError> {
        let mut connection =
            Connection::open(&self.address, &self.entry_database, CONNECT_TIMEOUT)?;
        connection.set_timeout(None)?;
        Ok(connection)
    }

    fn exists(&self, connection: &mut Connection) -> Result<bool, DatabaseError> {
        let name = escape_literal(&self.database_name);
        let rows = connection.ask(&format!("SELECT 1 FROM pg_database WHERE datname = {name}"))?;
        Ok(!rows.is_empty())
    }

    /// The state of the build, and whether we created the database.
    fn marker(&self) -> Result<(State, bool), DatabaseError> {
        if self.database_name != self.entry_database
            && !self.exists(&mut self.connect_to_entry()?)?
        {
            return Ok((State::Absent, true));
        }
        let mut connection = self.connect_for_sql()?;
        if has_marker(&mut connection)? {
            return Build::read_answer(connection.ask(&Build::query()));
        }
        if is_empty(&mut connection)? {
            return Ok((State::Absent, false));
        }
        Err(holds_something_else(&self.database_name))
    }

    fn create_database(&self) -> Result<bool, DatabaseError> {
        let mut connection = self.connect_to_entry()?;
        if self.exists(&mut connection)? {
            return Ok(false);
        }
        let name = escape_identifier(&self.database_name);
        let made = connection.ask(&format!(
            "CREATE DATABASE {name} TEMPLATE template0 ENCODING 'UTF8' \
             LC_COLLATE 'C' LC_CTYPE 'C'"
        ));
        match made {
            Ok(_) => Ok(true),
            Err(DatabaseError::Refused(_)) => Err(self.no_right()),
            Err(other) => Err(other),
        }
    }

    fn no_right(&self) -> DatabaseError {
        DatabaseError::Unusable(format!(
            "user {} may not create a database: let an administrator run \
             CREATE DATABASE {} OWNER {}, or name an empty database of this user's",
            self.address.user,
            escape_identifier(&self.database_name),
            escape_identifier(&self.address.user)
        ))
    }
}

/// Whether our marker table exists.
fn has_marker(connection: &mut Connection) -> Result<bool, DatabaseError> {
    let rows = connection.ask(&format!(
        "SELECT 1 FROM pg_class WHERE relname = '{MARKER}' AND relkind = 'r' \
         AND pg_table_is_visible(oid)"
    ))?;
    Ok(!rows.is_empty())
}

/// Whether nothing was created in the database, other than by an extension.
fn is_empty(connection: &mut Connection) -> Result<bool, DatabaseError> {
    let rows = connection.ask(
        "SELECT 1 FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace \
         WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') \
         AND n.nspname NOT LIKE 'pg\\_toast%' AND n.nspname NOT LIKE 'pg\\_temp%' \
         AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = c.oid \
         AND d.classid = 'pg_class'::regclass AND d.deptype = 'e') LIMIT 1",
    )?;
    Ok(rows.is_empty())
}

impl Database for Postgres {
    fn dialect(&self) -> Dialect {
        Dialect::PostgreSql
    }

    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let mut session = Connection::session(&self.address, &self.database_name, CONNECT_TIMEOUT)?;
        session.set_timeout(Some(ANSWER_TIMEOUT))?;
        Ok(Box::new(session))
    }

    fn connect_to_check(&self) -> Result<Box<dyn Session>, DatabaseError> {
        let mut session = Connection::session(&self.address, &self.database_name, CONNECT_TIMEOUT)?;
        session.set_timeout(None)?;
        // Sorts of whole tables; the load has not begun, or has ended.
        session.ask("SET work_mem TO '128MB'")?;
        Ok(Box::new(session))
    }

    fn shares_threads(&self) -> bool {
        true
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        // A role and a database may have settings of their own.
        let mut connection = self.connect_if_there()?;
        let names: Vec<_> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
        let rows = connection.ask(&format!(
            "SELECT name, current_setting(name) FROM pg_settings \
             WHERE name IN ({}) ORDER BY name",
            names.join(", ")
        ))?;
        let settings = rows
            .into_iter()
            .filter_map(|row| {
                let mut columns = row.into_iter();
                Some((columns.next()??, columns.next()??))
            })
            .collect();
        let directory = data_directory(&mut connection);
        let number = connection.version().split(' ').next().unwrap_or_default();
        Ok(Server {
            name: format!("PostgreSQL {number}"),
            connection: connection.describe(),
            settings,
            process: directory
                .as_ref()
                .map_or(ServerProcess::Unknown, |directory| {
                    ServerProcess::InFile(directory.join("postmaster.pid"))
                }),
            data_directory: directory,
        })
    }

    fn state(&self) -> Result<State, DatabaseError> {
        Ok(self.marker()?.0)
    }

    fn check_permission(&self) -> Result<(), DatabaseError> {
        let mut connection = self.connect_to_entry()?;
        let yes = |rows: TextRows| first_text(&rows) == Some("t");
        if !self.exists(&mut connection)? {
            let rights = connection
                .ask("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")?;
            return yes(rights).then_some(()).ok_or_else(|| self.no_right());
        }
        let rights = self
            .connect_for_sql()?
            .ask("SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)")?;
        yes(rights).then_some(()).ok_or_else(|| {
            DatabaseError::Unusable(format!(
                "user {user} may not create tables in database {database_name}: let an \
                 administrator run ALTER DATABASE {database_name} OWNER TO {user}, or name another",
                user = escape_identifier(&self.address.user),
                database_name = escape_identifier(&self.database_name)
            ))
        })
    }

    fn check_admission(&self, sessions: u32) -> Result<(), DatabaseError> {
        open_at_once(sessions, || self.connect_to_entry())
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        let owned = self.database_name != self.entry_database && self.create_database()?;
        if self.marker()?.0 != State::Absent {
            return Err(holds_data_set(&format!("database {}", self.database_name)));
        }
        let mut sql = vec![
            "BEGIN".to_owned(),
            Build::marker_table("text"),
            build.marker_row(owned),
        ];
        let tables = TABLES.iter();
        sql.extend(tables.map(|table| ddl::create_table(table, Dialect::PostgreSql)));
        sql.push("COMMIT".to_owned());
        self.worker()?.ask(&sql.join(";\n"))?;
        Ok(())
    }

    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError> {
        let mut connection = self.worker()?;
        // The rows are needed only when the build is marked ready, and that commit is synchronous.
        connection.ask("SET synchronous_commit TO off")?;
        Ok(Box::new(PostgresLoader::new(connection)))
    }

    fn post_load_steps(&self) -> Vec<Vec<Step>> {
        ddl::finish_postgres()
    }

    fn run_step(&self, step: &Step) -> Result<(), DatabaseError> {
        match self.worker()?.ask(&step.sql) {
            Err(DatabaseError::Refused(_)) if step.is_optional => Ok(()),
            done => done.map(drop).map_err(|error| step_failure(step, error)),
        }
    }

    fn cancel_steps(&self) -> Result<(), DatabaseError> {
        // Nobody else uses a database that is being built.
        let ended = self.connect_for_sql()?.ask(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' \
             AND datname = current_database() AND usename = current_user \
             AND pid <> pg_backend_pid()",
        );
        ended.map(drop)
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.worker()?.ask(&Build::mark_ready()).map(|_| ())
    }

    fn tables_and_indexes(&self) -> Result<Vec<String>, DatabaseError> {
        let names = self.connect_for_sql()?.ask(
            "SELECT tablename FROM pg_tables WHERE schemaname = current_schema() \
             UNION ALL SELECT indexname FROM pg_indexes WHERE schemaname = current_schema()",
        )?;
        Ok(names.into_iter().flatten().flatten().collect())
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        let rows = self
            .connect_for_sql()?
            .ask("SELECT pg_database_size(current_database())")?;
        size_of(&rows)
    }

    fn files(&self) -> Result<ServerFiles, DatabaseError> {
        let mut connection = self.connect_if_there()?;
        match data_directory(&mut connection) {
            Some(directory) => files::files(&mut connection, &directory),
            None => Ok(ServerFiles {
                unknown: vec![format!(
                    "Where the server has its files is not known: it does not show its data directory to user {} \
                     (GRANT pg_read_all_settings).",
                    self.address.user
                )],
                ..ServerFiles::default()
            }),
        }
    }

    fn lock(&self) -> Result<Box<dyn RunLock>, LockError> {
        let postgres = self.clone();
        let connect = Box::new(move || postgres.connect_for_sql());
        Ok(Box::new(PostgresLock::take(connect)?))
    }

    fn digests(
        &self,
        table: &Table,
        part: Option<&TablePart>,
    ) -> Result<TableDigests, DatabaseError> {
        let sql = digest::query(table, part, "text", |columns| {
            let row = columns.map_or_else(
                || "t".to_owned(),
                |columns| format!("ROW({})", digest::names(columns.iter().copied())),
            );
            format!("hashtextextended({row}::text, 0)::numeric")
        });
        digest::digests_of(table, self.worker()?.ask(&sql)?)
    }

    fn check_indexes(&self, table: &Table, rows: u64) -> Result<Vec<String>, DatabaseError> {
        index_entries::check(&mut self.worker()?, table, rows)
    }

    fn state_values(&self) -> Result<Vec<(String, String)>, DatabaseError> {
        let mut connection = self.connect_for_sql()?;
        let there = connection.ask(&format!(
            "SELECT 1 FROM pg_class WHERE relname = '{STATE_TABLE}' AND relkind = 'r' \
             AND pg_table_is_visible(oid)"
        ))?;
        match there.is_empty() {
            true => Ok(Vec::new()),
            false => Ok(seal::values_of(connection.ask(&seal::values_query())?)),
        }
    }

    fn set_state_values(&self, values: &[(String, String)]) -> Result<(), DatabaseError> {
        let mut sql = vec!["BEGIN".to_owned(), seal::create_state_table("text")];
        sql.extend(seal::replace_values(values));
        sql.push("COMMIT".to_owned());
        self.worker()?.ask(&sql.join("; ")).map(drop)
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        let (state, owned) = self.marker()?;
        if state == State::Absent {
            return Ok(());
        }
        if owned && self.database_name != self.entry_database {
            let name = escape_identifier(&self.database_name);
            let mut connection = self.connect_to_entry()?;
            let forced = connection.ask(&format!("DROP DATABASE {name} WITH (FORCE)"));
            if !matches!(forced, Err(DatabaseError::Refused(_))) {
                return forced.map(drop);
            }
            // Without superuser rights only own sessions may be terminated, and FORCE would
            // terminate a vacuum, too. A plain DROP asks a vacuum to give way.
            connection.ask(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = {} AND usename = current_user",
                escape_literal(&self.database_name)
            ))?;
            return connection.ask(&format!("DROP DATABASE {name}")).map(drop);
        }
        let mut sql = vec!["BEGIN".to_owned()];
        sql.extend(ddl::drop_tables());
        sql.push(format!("DROP TABLE IF EXISTS {STATE_TABLE}"));
        sql.push(format!("DROP TABLE {MARKER}"));
        sql.push("COMMIT".to_owned());
        self.worker()?.ask(&sql.join("; ")).map(|_| ())
    }
}

/// The data directory of the server: as it says to a superuser, or else as the process of the session shows.
fn data_directory(connection: &mut Connection) -> Option<PathBuf> {
    let mut one = |sql: &str| {
        let mut row = connection.ask(sql).ok()?.into_iter().next()?.into_iter();
        Some((row.next()??, row.next().flatten(), row.next().flatten()))
    };
    if let Some((directory, ..)) = one("SHOW data_directory") {
        return Some(PathBuf::from(directory));
    }
    let (backend, user, database) =
        one("SELECT pg_backend_pid()::text, session_user::text, current_database()::text")?;
    backend::data_directory(backend.parse().ok()?, &user?, &database?)
}
