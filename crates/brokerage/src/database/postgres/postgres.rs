//! A PostgreSQL server as the house's database.

use std::path::PathBuf;
use std::time::Duration;

use postgres_protocol::escape::{escape_identifier, escape_literal};

use super::connection::Connection;
use super::loader::PostgresLoader;
use crate::database::build::{Build, DATABASE, MARKER, State};
use crate::database::ddl;
use crate::database::finishing::Step;
use crate::database::house::{Database, Loader, Server, open_together};
use crate::database::target::{Address, DOOR};
use crate::error::DatabaseError;
use crate::schema::TABLES;
use crate::session::Session;
use crate::statement::Dialect;

/// How long connecting may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// How long a user waits for an answer before the server counts as gone.
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);

/// Databases that every server has, and that are no place for a house.
const COMMON: [&str; 3] = ["postgres", "template0", "template1"];

/// Settings that decide what the storage sees.
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

/// A server, and the database of it that is ours or will be.
#[derive(Debug, Clone)]
pub struct Postgres {
    address: Address,
    /// Where we connect before our own database is there.
    door: String,
    /// The database of the house.
    house: String,
    answer_patience: Duration,
}

impl Postgres {
    /// Looks at a server, and decides where the house is to be: in the database that was named if
    /// it is empty or ours, otherwise in one of our own beside it.
    ///
    /// # Errors
    /// The server is not there, does not let us in, or is too old.
    pub fn open(address: &Address) -> Result<Self, DatabaseError> {
        let door = address.database.clone();
        let door = door.unwrap_or_else(|| DOOR.to_owned());
        let mut connection = Connection::open(address, &door, CONNECT_PATIENCE)?;
        let is_common = COMMON.contains(&door.as_str());
        let is_usable = !is_common && (has_marker(&mut connection)? || is_empty(&mut connection)?);
        Ok(Self {
            address: address.clone(),
            house: if is_usable {
                door.clone()
            } else {
                DATABASE.to_owned()
            },
            door,
            answer_patience: ANSWER_PATIENCE,
        })
    }

    /// The same, with another limit for how long a user waits for an answer.
    #[must_use]
    pub fn with_answer_patience(mut self, patience: Duration) -> Self {
        self.answer_patience = patience;
        self
    }

    /// The name of the database that holds the house, or will.
    #[must_use]
    pub fn database_name(&self) -> &str {
        &self.house
    }

    /// A connection to the house for questions of any kind, such as the server's own statistics.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    pub fn inquirer(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, &self.house, CONNECT_PATIENCE)?;
        connection.set_patience(Some(self.answer_patience))?;
        Ok(connection)
    }

    /// A connection for work that may take hours.
    fn worker(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, &self.house, CONNECT_PATIENCE)?;
        connection.set_patience(None)?;
        // Should we end before the work does, the server gives it up, where it knows how to (from
        // version 14 on, on Linux).
        connection.ask(
            "SELECT set_config(name, '5000', false) FROM pg_settings \
             WHERE name = 'client_connection_check_interval'",
        )?;
        Ok(connection)
    }

    fn at_the_door(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, &self.door, CONNECT_PATIENCE)?;
        connection.set_patience(None)?;
        Ok(connection)
    }

    fn exists(&self, door: &mut Connection) -> Result<bool, DatabaseError> {
        let name = escape_literal(&self.house);
        let rows = door.ask(&format!("SELECT 1 FROM pg_database WHERE datname = {name}"))?;
        Ok(!rows.is_empty())
    }

    /// State of the house, and whether the database around it was made by us.
    fn marker(&self) -> Result<(State, bool), DatabaseError> {
        if self.house != self.door && !self.exists(&mut self.at_the_door()?)? {
            return Ok((State::Absent, true));
        }
        let mut connection = self.inquirer()?;
        if has_marker(&mut connection)? {
            return Build::read_answer(connection.ask(&Build::question()));
        }
        if is_empty(&mut connection)? {
            return Ok((State::Absent, false));
        }
        Err(DatabaseError::InTheWay(format!(
            "database {} exists and holds what is not ours: rename it or name an empty database",
            self.house
        )))
    }

    fn create_database(&self) -> Result<bool, DatabaseError> {
        let mut door = self.at_the_door()?;
        if self.exists(&mut door)? {
            return Ok(false);
        }
        let name = escape_identifier(&self.house);
        let made = door.ask(&format!(
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
        DatabaseError::InTheWay(format!(
            "user {} may not create a database: let an administrator run \
             CREATE DATABASE {} OWNER {}, or name an empty database of this user's",
            self.address.user,
            escape_identifier(&self.house),
            escape_identifier(&self.address.user)
        ))
    }
}

/// Whether our marker is in the database.
fn has_marker(connection: &mut Connection) -> Result<bool, DatabaseError> {
    let rows = connection.ask(&format!(
        "SELECT 1 FROM pg_class WHERE relname = '{MARKER}' AND relkind = 'r' \
         AND pg_table_is_visible(oid)"
    ))?;
    Ok(!rows.is_empty())
}

/// Whether nobody has made anything in the database, other than by an extension.
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
        let mut session = Connection::session(&self.address, &self.house, CONNECT_PATIENCE)?;
        session.set_patience(Some(self.answer_patience))?;
        Ok(Box::new(session))
    }

    fn shares_threads(&self) -> bool {
        true
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        let mut door = self.at_the_door()?;
        let names: Vec<_> = SETTINGS.iter().map(|name| format!("'{name}'")).collect();
        let rows = door.ask(&format!(
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
        // Only a superuser is told where the data is.
        let directory = door.ask("SHOW data_directory").ok();
        let directory = directory.and_then(|rows| rows.into_iter().next()?.into_iter().next()?);
        let number = door.version().split(' ').next().unwrap_or_default();
        Ok(Server {
            name: format!("PostgreSQL {number}"),
            settings,
            data_directory: directory.map(PathBuf::from),
        })
    }

    fn state(&self) -> Result<State, DatabaseError> {
        Ok(self.marker()?.0)
    }

    fn may_create(&self) -> Result<(), DatabaseError> {
        let mut door = self.at_the_door()?;
        let yes = |rows: Vec<Vec<Option<String>>>| {
            rows.first().and_then(|row| row.first()?.as_deref()) == Some("t")
        };
        if !self.exists(&mut door)? {
            let rights = door
                .ask("SELECT rolcreatedb OR rolsuper FROM pg_roles WHERE rolname = current_user")?;
            return yes(rights).then_some(()).ok_or_else(|| self.no_right());
        }
        let rights = self
            .inquirer()?
            .ask("SELECT coalesce(has_schema_privilege(current_schema(), 'CREATE'), false)")?;
        yes(rights).then_some(()).ok_or_else(|| {
            DatabaseError::InTheWay(format!(
                "user {user} may not make tables in database {house}: let an administrator run \
                 ALTER DATABASE {house} OWNER TO {user}, or name another",
                user = escape_identifier(&self.address.user),
                house = escape_identifier(&self.house)
            ))
        })
    }

    fn admits(&self, sessions: u32) -> Result<(), DatabaseError> {
        open_together(sessions, || self.at_the_door())
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        let owned = self.house != self.door && self.create_database()?;
        if self.marker()?.0 != State::Absent {
            return Err(DatabaseError::Refused(format!(
                "database {} holds a house already",
                self.house
            )));
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
        // The rows count only when the build is called ready, and that waits for the volume.
        connection.ask("SET synchronous_commit TO off")?;
        Ok(Box::new(PostgresLoader::new(connection)))
    }

    fn finishing(&self) -> Vec<Vec<Step>> {
        ddl::finish_postgres()
    }

    fn carry_out(&self, step: &Step) -> Result<(), DatabaseError> {
        match self.worker()?.ask(&step.sql) {
            Err(DatabaseError::Refused(_)) if step.is_optional => Ok(()),
            Err(DatabaseError::Failed { message, .. }) => Err(DatabaseError::Failed {
                statement: step.what.clone(),
                message,
            }),
            other => other.map(|_| ()),
        }
    }

    fn end_steps(&self) -> Result<(), DatabaseError> {
        // Nobody but us works in a house that is being built.
        let ended = self.inquirer()?.ask(
            "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE state = 'active' \
             AND datname = current_database() AND usename = current_user \
             AND pid <> pg_backend_pid()",
        );
        ended.map(drop)
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.worker()?.ask(&Build::mark_ready()).map(|_| ())
    }

    fn tables(&self) -> Result<Vec<String>, DatabaseError> {
        let names = self
            .inquirer()?
            .ask("SELECT tablename FROM pg_tables WHERE schemaname = current_schema()")?;
        Ok(names.into_iter().flatten().flatten().collect())
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        let rows = self
            .inquirer()?
            .ask("SELECT pg_database_size(current_database())")?;
        let bytes = rows
            .first()
            .and_then(|row| row.first()?.as_deref()?.parse().ok());
        bytes.ok_or_else(|| DatabaseError::Failed {
            statement: "the size of the database".to_owned(),
            message: "the server gave no number".to_owned(),
        })
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        let (state, owned) = self.marker()?;
        if state == State::Absent {
            return Ok(());
        }
        if owned && self.house != self.door {
            let name = escape_identifier(&self.house);
            let mut door = self.at_the_door()?;
            let forced = door.ask(&format!("DROP DATABASE {name} WITH (FORCE)"));
            if !matches!(forced, Err(DatabaseError::Refused(_))) {
                return forced.map(drop);
            }
            // Who is no superuser may end sessions of its own only, and FORCE wants to end a vacuum,
            // too. A plain DROP asks a vacuum to give way.
            door.ask(&format!(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity \
                 WHERE datname = {} AND usename = current_user",
                escape_literal(&self.house)
            ))?;
            return door.ask(&format!("DROP DATABASE {name}")).map(drop);
        }
        let mut sql = vec!["BEGIN".to_owned()];
        sql.extend(ddl::drop_tables());
        sql.push(format!("DROP TABLE {MARKER}"));
        sql.push("COMMIT".to_owned());
        self.worker()?.ask(&sql.join("; ")).map(|_| ())
    }
}
