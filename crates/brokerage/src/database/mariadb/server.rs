//! A MariaDB or MySQL server as the house's database.

use std::path::PathBuf;
use std::time::Duration;

use super::connection::Connection;
use super::loader::MariaDbLoader;
use crate::database::build::{Build, DATABASE, MARKER, State};
use crate::database::ddl;
use crate::database::finishing::Step;
use crate::database::house::{Database, Loader, Server, open_together};
use crate::database::target::Address;
use crate::error::DatabaseError;
use crate::schema::TABLES;
use crate::session::Session;
use crate::statement::Dialect;

/// How long connecting may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// How long a user waits for an answer before the server counts as gone.
const ANSWER_PATIENCE: Duration = Duration::from_secs(120);

/// Databases that every server has, and that are no place for a house.
const COMMON: [&str; 4] = ["mysql", "information_schema", "performance_schema", "sys"];

/// Settings that decide what the storage sees.
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

/// A server, and the database of it that is ours or will be.
#[derive(Debug, Clone)]
pub struct MariaDb {
    address: Address,
    /// The database of the house.
    house: String,
    answer_patience: Duration,
}

impl MariaDb {
    /// Looks at a server, and decides where the house is to be: in the database that was named if
    /// it is empty or ours, otherwise in one of our own beside it.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    pub fn open(address: &Address) -> Result<Self, DatabaseError> {
        let named = address.database.as_deref();
        let mut connection = Connection::open(address, named, CONNECT_PATIENCE)?;
        let named = named.filter(|named| !COMMON.contains(named));
        let house = match named {
            Some(named) if has_marker(&mut connection, named)? => named,
            Some(named) if is_empty(&mut connection, named)? => named,
            _ => DATABASE,
        };
        Ok(Self {
            address: address.clone(),
            house: house.to_owned(),
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

    fn at_the_door(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, None, CONNECT_PATIENCE)?;
        connection.set_patience(None)?;
        Ok(connection)
    }

    /// A connection to the house for questions of any kind, such as the server's own statistics.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    pub fn inquirer(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, Some(&self.house), CONNECT_PATIENCE)?;
        connection.set_patience(Some(self.answer_patience))?;
        Ok(connection)
    }

    /// A connection for work that may take hours.
    fn worker(&self) -> Result<Connection, DatabaseError> {
        let mut connection = Connection::open(&self.address, Some(&self.house), CONNECT_PATIENCE)?;
        connection.set_patience(None)?;
        // The rows are proved afterwards, all at once.
        connection.ask("SET foreign_key_checks = 0; SET unique_checks = 0")?;
        Ok(connection)
    }

    /// State of the house, and whether the database around it was made by us.
    fn marker(&self) -> Result<(State, bool), DatabaseError> {
        let mut door = self.at_the_door()?;
        if !exists(&mut door, &self.house)? {
            return Ok((State::Absent, true));
        }
        if has_marker(&mut door, &self.house)? {
            return Build::read_answer(self.inquirer()?.ask(&Build::question()));
        }
        if is_empty(&mut door, &self.house)? {
            return Ok((State::Absent, false));
        }
        Err(DatabaseError::InTheWay(format!(
            "database {} exists and holds what is not ours: rename it or name an empty database",
            self.house
        )))
    }

    fn create_database(&self) -> Result<bool, DatabaseError> {
        let mut door = self.at_the_door()?;
        if exists(&mut door, &self.house)? {
            return Ok(false);
        }
        let collation = door.collation();
        let name = quoted(&self.house);
        let made = door.ask(&format!(
            "CREATE DATABASE {name} CHARACTER SET utf8mb4 COLLATE {collation}"
        ));
        match made {
            Ok(_) => Ok(true),
            Err(DatabaseError::Refused(_)) => Err(DatabaseError::InTheWay(format!(
                "user {} may not create a database: let an administrator run \
                 CREATE DATABASE {} and GRANT ALL ON {}.* to it, or name an empty database",
                self.address.user, self.house, self.house
            ))),
            Err(other) => Err(other),
        }
    }
}

/// A name in double quotes, which the session takes as such.
fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// A text in single quotes.
fn literal(text: &str) -> String {
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
        Ok(Box::new(self.inquirer()?))
    }

    fn shares_threads(&self) -> bool {
        true
    }

    fn server(&self) -> Result<Server, DatabaseError> {
        let mut door = self.at_the_door()?;
        let names: Vec<_> = SETTINGS.iter().map(|name| literal(name)).collect();
        let rows = door.ask(&format!(
            "SHOW GLOBAL VARIABLES WHERE Variable_name IN ({}, 'datadir')",
            names.join(", ")
        ))?;
        let pairs = rows.into_iter().filter_map(|row| {
            let mut columns = row.into_iter();
            Some((columns.next()??.to_lowercase(), columns.next()??))
        });
        let (directory, mut settings): (Vec<_>, Vec<_>) =
            pairs.partition(|(name, _)| name == "datadir");
        settings.sort();
        let product = if door.is_mariadb() {
            "MariaDB"
        } else {
            "MySQL"
        };
        let number = door.version().split('-').next().unwrap_or_default();
        Ok(Server {
            name: format!("{product} {number}"),
            settings,
            data_directory: directory
                .into_iter()
                .next()
                .map(|(_, path)| PathBuf::from(path)),
        })
    }

    fn state(&self) -> Result<State, DatabaseError> {
        Ok(self.marker()?.0)
    }

    fn may_create(&self) -> Result<(), DatabaseError> {
        // Rights come in so many forms here that trying is the only way to know.
        if self.create_database()? {
            let name = quoted(&self.house);
            self.at_the_door()?.ask(&format!("DROP DATABASE {name}"))?;
            return Ok(());
        }
        let mut inquirer = self.inquirer()?;
        let made = inquirer.ask(&Build::marker_table("VARCHAR(100)"));
        match made.and_then(|_| inquirer.ask(&format!("DROP TABLE {MARKER}"))) {
            Ok(_) => Ok(()),
            Err(DatabaseError::Refused(_)) => Err(DatabaseError::InTheWay(format!(
                "user {} may not make tables in database {house}: let an administrator run \
                 GRANT ALL ON {house}.* to it, or name another",
                self.address.user,
                house = self.house
            ))),
            Err(other) => Err(other),
        }
    }

    fn admits(&self, sessions: u32) -> Result<(), DatabaseError> {
        open_together(sessions, || self.at_the_door())
    }

    fn create(&self, build: &Build) -> Result<(), DatabaseError> {
        let owned = self.create_database()?;
        if self.marker()?.0 != State::Absent {
            return Err(DatabaseError::Refused(format!(
                "database {} holds a house already",
                self.house
            )));
        }
        let mut worker = self.worker()?;
        let text = format!("CHARACTER SET utf8mb4 COLLATE {}", worker.collation());
        // Tables come about one by one here: the marker, with its row, is the first of them.
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
        let largest = rows
            .first()
            .and_then(|row| row.first()?.as_deref()?.parse().ok());
        Ok(Box::new(MariaDbLoader::new(
            worker,
            largest.unwrap_or(1 << 20),
        )))
    }

    fn finishing(&self) -> Vec<Vec<Step>> {
        ddl::finish_mariadb()
    }

    fn carry_out(&self, step: &Step) -> Result<(), DatabaseError> {
        let failed = |message: String| DatabaseError::Failed {
            statement: step.what.clone(),
            message,
        };
        match self.worker()?.ask(&step.sql) {
            // A question here is for rows that should not be.
            Ok(rows) if step.sql.starts_with("SELECT") && !rows.is_empty() => {
                Err(failed("a row refers to one that is not there".to_owned()))
            }
            Err(DatabaseError::Failed { message, .. }) => Err(failed(message)),
            other => other.map(|_| ()),
        }
    }

    fn end_steps(&self) -> Result<(), DatabaseError> {
        // Nobody but us works in a house that is being built.
        let mut inquirer = self.inquirer()?;
        let working = inquirer.ask(
            "SELECT id FROM information_schema.processlist WHERE command = 'Query' \
             AND db = DATABASE() AND user = SUBSTRING_INDEX(USER(), '@', 1) \
             AND id <> CONNECTION_ID()",
        )?;
        for session in working.into_iter().flatten().flatten() {
            // It may have come to its end meanwhile.
            let _ = inquirer.ask(&format!("KILL QUERY {session}"));
        }
        Ok(())
    }

    fn mark_ready(&self) -> Result<(), DatabaseError> {
        self.worker()?.ask(&Build::mark_ready()).map(|_| ())
    }

    fn tables(&self) -> Result<Vec<String>, DatabaseError> {
        let names = self.inquirer()?.ask("SHOW TABLES")?;
        Ok(names.into_iter().flatten().flatten().collect())
    }

    fn size_bytes(&self) -> Result<u64, DatabaseError> {
        let mut inquirer = self.inquirer()?;
        let name = literal(&self.house);
        let files = literal(&format!("{}/", self.house));
        // The sizes of the files are told to those who may see processes, and only there does the
        // name of this table not differ between versions; the statistics know it roughly.
        let exact = inquirer.ask(&format!(
            "SELECT SUM(file_size) FROM information_schema.innodb_sys_tablespaces \
             WHERE LEFT(name, CHAR_LENGTH({files})) = {files}"
        ));
        let number = |rows: Vec<Vec<Option<String>>>| -> Option<u64> {
            rows.first()?.first()?.as_deref()?.parse().ok()
        };
        if let Some(bytes) = exact.ok().and_then(number) {
            return Ok(bytes);
        }
        let rough = inquirer.ask(&format!(
            "SELECT CAST(SUM(data_length + index_length) AS UNSIGNED) \
             FROM information_schema.tables WHERE table_schema = {name}"
        ))?;
        number(rough).ok_or_else(|| DatabaseError::Failed {
            statement: "the size of the database".to_owned(),
            message: "the server gave no number".to_owned(),
        })
    }

    fn remove(&self) -> Result<(), DatabaseError> {
        let (state, owned) = self.marker()?;
        if state == State::Absent {
            return Ok(());
        }
        if owned {
            let name = quoted(&self.house);
            return self
                .at_the_door()?
                .ask(&format!("DROP DATABASE {name}"))
                .map(|_| ());
        }
        let mut worker = self.worker()?;
        for sql in ddl::drop_tables() {
            worker.ask(&sql)?;
        }
        worker.ask(&format!("DROP TABLE {MARKER}")).map(|_| ())
    }
}
