//! All work around the transactions.

use std::path::PathBuf;

use super::build::{Build, State};
use super::finishing::Step;
use crate::error::DatabaseError;
use crate::row::RowSink;
use crate::schema::{TABLES, TableName};
use crate::session::Session;
use crate::statement::Dialect;

/// What the report says of a server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Server {
    /// Its name and version, such as "PostgreSQL 15.18".
    pub name: String,
    /// Settings that decide what the storage sees, with their values as the server writes them.
    pub settings: Vec<(String, String)>,
    /// Where it keeps its data, if it tells.
    pub data_directory: Option<PathBuf>,
}

/// A database that can hold the house. All of it may be called from several threads.
///
/// A house comes about by [`create`](Self::create), rows through any number of
/// [`loader`](Self::loader)s, [`finish`](super::finish), [`mark_ready`](Self::mark_ready).
pub trait Database: Send + Sync {
    /// Which SQL it speaks.
    fn dialect(&self) -> Dialect;

    /// A session for one user.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    fn connect(&self) -> Result<Box<dyn Session>, DatabaseError>;

    /// Whether its sessions can [share a thread](Session::share_thread). Those of others hold the
    /// thread that works with them.
    fn shares_threads(&self) -> bool {
        false
    }

    /// Name, version and settings.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    fn server(&self) -> Result<Server, DatabaseError>;

    /// What of ours is there.
    ///
    /// # Errors
    /// The server is not there, or something that is not ours is in the way.
    fn state(&self) -> Result<State, DatabaseError>;

    /// Looks whether we may make what is absent, without making it.
    ///
    /// # Errors
    /// We may not, with the remedy.
    fn may_create(&self) -> Result<(), DatabaseError> {
        Ok(())
    }

    /// Looks whether the server lets so many sessions in at once, by opening them.
    ///
    /// # Errors
    /// It does not, with the remedy.
    fn admits(&self, sessions: u32) -> Result<(), DatabaseError> {
        let _ = sessions;
        Ok(())
    }

    /// Makes the database, the marker and the empty tables.
    ///
    /// # Errors
    /// Something is there already, or we may not.
    fn create(&self, build: &Build) -> Result<(), DatabaseError>;

    /// A way in for rows, for one thread.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    fn loader(&self) -> Result<Box<dyn Loader>, DatabaseError>;

    /// What is to be done after the rows, in phases: the steps of one may go side by side, if
    /// [`hands`](Self::hands) allows, and must all end before the next.
    fn finishing(&self) -> Vec<Vec<Step>>;

    /// How many steps of a phase the server can work at side by side; `usize::MAX` where it does
    /// not matter to it.
    fn hands(&self) -> usize {
        usize::MAX
    }

    /// Carries out one step.
    ///
    /// # Errors
    /// The server is gone or full, or the rows break a key or a reference.
    fn carry_out(&self, step: &Step) -> Result<(), DatabaseError>;

    /// Ends the steps that are being carried out, which then fail. Indexes of a large house take
    /// minutes each, and who stops a build does not want to wait for them.
    ///
    /// # Errors
    /// The server is not there, or does not let us in.
    fn end_steps(&self) -> Result<(), DatabaseError>;

    /// Calls the build whole.
    ///
    /// # Errors
    /// The server is gone.
    fn mark_ready(&self) -> Result<(), DatabaseError>;

    /// The names of the tables that are there.
    ///
    /// # Errors
    /// The server is gone.
    fn tables(&self) -> Result<Vec<String>, DatabaseError>;

    /// What the house takes on the volume: tables and indexes, without the log.
    ///
    /// # Errors
    /// The server is gone.
    fn size_bytes(&self) -> Result<u64, DatabaseError>;

    /// Removes everything that we made, and nothing else. Sessions still open on it are lost.
    ///
    /// # Errors
    /// The server is gone, or what is there is not ours.
    fn remove(&self) -> Result<(), DatabaseError>;
}

/// The tables of the house that are not there. A build that is called whole has them all, unless
/// somebody has removed some since.
///
/// # Errors
/// The server is gone.
pub fn missing_tables(database: &dyn Database) -> Result<Vec<&'static str>, DatabaseError> {
    let there = database.tables()?;
    let names = TABLES.iter().map(|table| table.name.name());
    let is_missing = |name: &&str| !there.iter().any(|one| one.eq_ignore_ascii_case(name));
    Ok(names.filter(is_missing).collect())
}

/// Opens so many sessions, holds them all at once, and lets them go.
///
/// # Errors
/// The server lets only some of them in, with the remedy.
pub(super) fn open_together<S>(
    needed: u32,
    open_one: impl Fn() -> Result<S, DatabaseError>,
) -> Result<(), DatabaseError> {
    let mut open = Vec::new();
    for number in 0..needed {
        open.push(open_one().map_err(|why| {
            DatabaseError::InTheWay(format!(
                "the database server lets {number} sessions in beside those it has, and {needed} \
                 are needed for the users, the market and whoever watches ({why}): raise its \
                 max_connections or the limits of the user, or give fewer --users"
            ))
        })?);
    }
    Ok(())
}

/// Takes rows in bulk, one table after the other. Rows of a table count only after
/// [`end`](Self::end); a loader dropped before leaves none of them, or some of them in a build that
/// is not ready.
pub trait Loader: RowSink + Send {
    /// Rows of this table follow.
    ///
    /// # Errors
    /// The server is gone or full, or the last table was not ended.
    fn begin(&mut self, table: TableName) -> Result<(), DatabaseError>;

    /// All rows of this part have come; gives their number.
    ///
    /// # Errors
    /// The server did not take all of them.
    fn end(&mut self) -> Result<u64, DatabaseError>;
}
