//! The lock of a run: a user-level lock (`GET_LOCK`) of a session of its own.

use super::connection::Connection;
use crate::database::run_lock::{LockError, RunLock};
use crate::error::DatabaseError;
use std::time::Duration;

/// A server that does not answer by then counts as gone.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Names of locks may have 64 characters.
const NAME_LENGTH: usize = 64;

/// Opens a new session on the same database.
pub(super) type Connect = Box<dyn Fn() -> Result<Connection, DatabaseError> + Send>;

pub(super) struct MariaDbLock {
    connect: Connect,
    /// The name of the lock, as a literal.
    name: String,
    /// The session that holds the lock, and its number. It says nothing more, so that its idle time
    /// is the time since the lock was taken.
    held: Option<(Connection, String)>,
}

impl MariaDbLock {
    pub fn take(connect: Connect, name: String) -> Result<Self, LockError> {
        Ok(Self {
            held: Some(locked(&connect, &name)?),
            connect,
            name,
        })
    }
}

impl RunLock for MariaDbLock {
    fn keep(&mut self) -> Result<(), LockError> {
        let mut connection = (self.connect)()?;
        let user = user_of_lock(&mut connection, &self.name)?;
        match &self.held {
            Some((_, session)) if user.as_ref() == Some(session) => Ok(()),
            _ => {
                self.held = None;
                self.held = Some(locked(&self.connect, &self.name)?);
                Ok(())
            }
        }
    }
}

/// A session that holds the lock, and its number.
fn locked(connect: &Connect, name: &str) -> Result<(Connection, String), LockError> {
    let mut connection = connect()?;
    connection.set_timeout(Some(TIMEOUT))?;
    // The longest that every version allows on every system.
    connection.ask("SET SESSION wait_timeout = 31536000")?;
    let taken = connection.ask(&format!("SELECT GET_LOCK({name}, 0), CONNECTION_ID()"))?;
    let mut row = taken.into_iter().next().unwrap_or_default().into_iter();
    let (is_taken, session) = (row.next().flatten(), row.next().flatten());
    match (is_taken.as_deref(), session) {
        (Some("1"), Some(session)) => Ok((connection, session)),
        _ => Err(LockError::Held(holder(&mut connection, name)?)),
    }
}

/// The name of the lock. Locks belong to the server, so it contains the name of the database.
pub(super) fn lock_name(database: &str) -> String {
    let mut name = format!("proofload {database}");
    if name.chars().count() > NAME_LENGTH {
        let sum = crc32fast::hash(name.as_bytes());
        name = name.chars().take(NAME_LENGTH - 9).collect();
        name = format!("{name} {sum:08x}");
    }
    name
}

fn user_of_lock(connection: &mut Connection, name: &str) -> Result<Option<String>, DatabaseError> {
    let rows = connection.ask(&format!("SELECT IS_USED_LOCK({name})"))?;
    Ok(rows.into_iter().flatten().flatten().next())
}

fn holder(connection: &mut Connection, name: &str) -> Result<String, DatabaseError> {
    let Some(session) = user_of_lock(connection, name)? else {
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
