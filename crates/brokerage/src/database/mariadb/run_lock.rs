//! The lock of a run: a user-level lock (`GET_LOCK`) of a session of its own.

use super::connection::Connection;
use super::server::{MariaDb, literal};
use crate::database::run_lock::{LockError, RunLock};
use crate::error::DatabaseError;
use std::time::Duration;

/// A server that does not answer by then counts as gone.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Names of locks may have 64 characters.
const NAME_LENGTH: usize = 64;

pub(super) struct MariaDbLock {
    server: MariaDb,
    /// The session that holds the lock, and its number. It says nothing more, so that its idle time
    /// is the time since the lock was taken.
    held: Option<(Connection, String)>,
}

impl MariaDbLock {
    pub fn take(server: &MariaDb) -> Result<Self, LockError> {
        Ok(Self {
            held: Some(locked(server)?),
            server: server.clone(),
        })
    }
}

impl RunLock for MariaDbLock {
    fn keep(&mut self) -> Result<(), LockError> {
        let mut connection = self.server.connect_for_sql()?;
        let user = user_of_lock(&mut connection, &self.server)?;
        match &self.held {
            Some((_, session)) if user.as_ref() == Some(session) => Ok(()),
            _ => {
                self.held = None;
                self.held = Some(locked(&self.server)?);
                Ok(())
            }
        }
    }
}

/// A session that holds the lock, and its number.
fn locked(server: &MariaDb) -> Result<(Connection, String), LockError> {
    let mut connection = server.connect_for_sql()?;
    connection.set_timeout(Some(TIMEOUT))?;
    // The longest that every version allows on every system.
    connection.ask("SET SESSION wait_timeout = 31536000")?;
    let name = lock_name(server);
    let taken = connection.ask(&format!("SELECT GET_LOCK({name}, 0), CONNECTION_ID()"))?;
    let mut row = taken.into_iter().next().unwrap_or_default().into_iter();
    let (is_taken, session) = (row.next().flatten(), row.next().flatten());
    match (is_taken.as_deref(), session) {
        (Some("1"), Some(session)) => Ok((connection, session)),
        _ => Err(LockError::Held(holder(&mut connection, server)?)),
    }
}

/// The name as a literal. Locks belong to the server, so it contains the name of the database.
fn lock_name(server: &MariaDb) -> String {
    let mut name = format!("proofload {}", server.database_name());
    if name.chars().count() > NAME_LENGTH {
        let sum = crc32fast::hash(name.as_bytes());
        name = name.chars().take(NAME_LENGTH - 9).collect();
        name = format!("{name} {sum:08x}");
    }
    literal(&name)
}

fn user_of_lock(
    connection: &mut Connection,
    server: &MariaDb,
) -> Result<Option<String>, DatabaseError> {
    let name = lock_name(server);
    let rows = connection.ask(&format!("SELECT IS_USED_LOCK({name})"))?;
    Ok(rows.into_iter().flatten().flatten().next())
}

fn holder(connection: &mut Connection, server: &MariaDb) -> Result<String, DatabaseError> {
    let Some(session) = user_of_lock(connection, server)? else {
        return Ok("it has just ended".to_owned());
    };
    // Sessions of others are visible only with the privilege PROCESS.
    let rows = connection.ask(&format!(
        "SELECT user, host, CAST(NOW() - INTERVAL time SECOND AS CHAR) \
         FROM information_schema.processlist WHERE id = {session}"
    ))?;
    let row: Vec<String> = rows.into_iter().flatten().flatten().collect();
    Ok(match row.as_slice() {
        [user, host, since] => format!(
            "proofload (connection {session} of the server, {user} from {host}, since {since})"
        ),
        _ => format!("proofload (connection {session} of the server)"),
    })
}
