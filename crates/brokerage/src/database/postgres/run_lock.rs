//! The lock of a run: an advisory lock of a session of its own.

use super::connection::Connection;
use crate::database::run_lock::{LockError, RunLock, own_name};
use crate::database::text_rows::first_text;
use crate::error::DatabaseError;
use postgres_protocol::escape::escape_literal;
use std::time::Duration;

/// The two numbers of the advisory lock: "PROF", and the only lock of this program.
const CLASS: i32 = 0x5052_4f46;
const OBJECT: i32 = 1;
/// A server that does not answer by then counts as gone.
const TIMEOUT: Duration = Duration::from_secs(10);

/// Opens a new session on the same database.
pub(super) type Connect = Box<dyn Fn() -> Result<Connection, DatabaseError> + Send>;

pub(super) struct PostgresLock {
    connect: Connect,
    connection: Option<Connection>,
}

impl PostgresLock {
    pub fn take(connect: Connect) -> Result<Self, LockError> {
        Ok(Self {
            connection: Some(locked(&connect)?),
            connect,
        })
    }
}

impl RunLock for PostgresLock {
    fn keep(&mut self) -> Result<(), LockError> {
        let answered = self.connection.as_mut().map(|held| held.ask("SELECT 1"));
        if matches!(answered, Some(Ok(_))) {
            return Ok(());
        }
        self.connection = None;
        self.connection = Some(locked(&self.connect)?);
        Ok(())
    }
}

/// A session that holds the lock.
fn locked(connect: &Connect) -> Result<Connection, LockError> {
    let mut connection = connect()?;
    connection.set_timeout(Some(TIMEOUT))?;
    let name = escape_literal(&own_name());
    connection.ask(&format!("SET application_name TO {name}"))?;
    let taken = connection.ask(&format!("SELECT pg_try_advisory_lock({CLASS}, {OBJECT})"))?;
    let is_taken = first_text(&taken) == Some("t");
    match is_taken {
        true => Ok(connection),
        false => Err(LockError::Held(holder(&mut connection)?)),
    }
}

fn holder(connection: &mut Connection) -> Result<String, DatabaseError> {
    let rows = connection.ask(&format!(
        "SELECT l.pid, coalesce(a.application_name, ''), coalesce(a.usename::text, ''), \
         coalesce(to_char(a.backend_start AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS'), '') \
         FROM pg_locks l LEFT JOIN pg_stat_activity a ON a.pid = l.pid \
         WHERE l.locktype = 'advisory' AND l.classid = {CLASS} AND l.objid = {OBJECT} \
         AND l.objsubid = 2 AND l.granted \
         AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())"
    ))?;
    let row: Vec<String> = rows
        .into_iter()
        .next()
        .unwrap_or_default()
        .into_iter()
        .map(Option::unwrap_or_default)
        .collect();
    Ok(match row.as_slice() {
        [pid, name, user, since] => {
            let name = if name.is_empty() { "a session" } else { name };
            let user = if user.is_empty() {
                "another user"
            } else {
                user
            };
            let since = match since.as_str() {
                "" => String::new(),
                since => format!(", since {since} UTC"),
            };
            format!("{name} (server process {pid}, {user}{since})")
        }
        // It has ended since.
        _ => "it has just ended".to_owned(),
    })
}
