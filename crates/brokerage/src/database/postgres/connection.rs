//! A connection to a server: connecting, single statements, COPY, and error recovery. Transactions
//! are in `transaction`.

use std::collections::VecDeque;
use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use runtime::thread::complete;
use rustc_hash::FxHashMap;

use super::control::{CONTROLS, Phase};
use super::encode;
use super::failure::failure;
use super::startup;
use super::wire::Wire;
use crate::database::target::Address;
use crate::database::text_rows::TextRows;
use crate::error::DatabaseError;
use crate::row::Answers;

/// The oldest major version that is tested.
pub(super) const OLDEST: u32 = 13;

/// What a server, a database or a role may have set otherwise, and this program must not depend on:
/// time limits, whether transactions may write, and where tables are found. Settings differ between versions; those that a server
/// does not have are left out.
const OWN_SETTINGS: &str = "SELECT set_config(name, '0', false) FROM pg_settings WHERE name IN \
     ('lock_timeout', 'idle_in_transaction_session_timeout', \
      'idle_session_timeout', 'transaction_timeout', 'default_transaction_read_only'); \
     SET search_path TO \"$user\", public";

/// A connection to a PostgreSQL server.
pub struct Connection {
    pub(super) wire: Wire,
    version: String,
    /// What was prepared, with the columns of its results as soon as they are known.
    pub(super) prepared: FxHashMap<&'static str, encode::Columns>,
    /// Statements whose Parse was sent and is not yet confirmed, in order.
    pub(super) preparing: VecDeque<&'static str>,
    pub(super) phase: Phase,
    /// The result sets of the last batch.
    pub(super) answers: Answers,
    /// Whether a `Sync` was sent whose ReadyForQuery has not come.
    pub(super) is_synced: bool,
    /// Whether the last transaction has failed and the rest of the server's answer is still unread.
    pub(super) has_failed: bool,
    is_lost: bool,
}

impl Connection {
    /// Connects to a database of a server, for work outside of transactions. `timeout` limits each
    /// step of connecting, and each answer until [`set_timeout`](Self::set_timeout).
    ///
    /// # Errors
    /// The server is not reachable, refuses us, or is too old.
    pub fn open(
        address: &Address,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, DatabaseError> {
        let (wire, version) = startup::connect(address, database, timeout)?;
        let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
        if digits.parse::<u32>().unwrap_or(0) < OLDEST {
            return Err(DatabaseError::Unusable(format!(
                "the server's PostgreSQL {version} is too old: use version {OLDEST} or newer"
            )));
        }
        let mut connection = Self {
            wire,
            version,
            prepared: FxHashMap::default(),
            preparing: VecDeque::new(),
            phase: Phase::Idle,
            answers: Answers::default(),
            is_synced: false,
            has_failed: false,
            is_lost: false,
        };
        connection.end_statement_timeout()?;
        connection.ask(OWN_SETTINGS)?;
        Ok(connection)
    }

    /// Alone and first, as a short limit would cancel a longer statement before it has ended. On a busy
    /// machine even this one may take longer than a limit of a millisecond, and is repeated.
    fn end_statement_timeout(&mut self) -> Result<(), DatabaseError> {
        const ATTEMPTS: u32 = 50;
        for _ in 1..ATTEMPTS {
            match self.ask("SET statement_timeout TO 0") {
                Err(DatabaseError::ServerSide { .. }) => {}
                set => return set.map(drop),
            }
        }
        self.ask("SET statement_timeout TO 0").map(drop)
    }

    /// Connects for transactions: their control statements are prepared.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn session(
        address: &Address,
        database: &str,
        timeout: Duration,
    ) -> Result<Self, DatabaseError> {
        let mut connection = Self::open(address, database, timeout)?;
        connection.prepare_controls()?;
        Ok(connection)
    }

    /// The server's version string, such as "15.18 (Debian 15.18-0+deb12u1)".
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// What the connection is, and how it is encrypted.
    #[must_use]
    pub fn describe(&self) -> String {
        self.wire.describe()
    }

    /// Timeout for an answer, after which the server counts as gone; none with `None`, for work
    /// that takes long.
    ///
    /// # Errors
    /// The system refused it.
    pub fn set_timeout(&mut self, timeout: Option<Duration>) -> Result<(), DatabaseError> {
        self.wire.set_timeout(timeout)
    }

    /// Executes statements outside of a transaction, and returns the rows of all of them as text.
    ///
    /// # Errors
    /// The first that failed.
    pub fn ask(&mut self, sql: &str) -> Result<TextRows, DatabaseError> {
        self.check_idle()?;
        frontend::query(sql, &mut self.wire.outgoing)
            .map_err(|error| failed(sql, &error.to_string()))?;
        self.send()?;
        self.is_synced = true;
        let rows = self.simple_rows(sql);
        complete(self.finish(rows))
    }

    fn simple_rows(&mut self, sql: &str) -> Result<TextRows, DatabaseError> {
        use fallible_iterator::FallibleIterator;
        let mut rows = Vec::new();
        loop {
            match self.receive()? {
                Message::DataRow(body) => {
                    let text = |range: Option<std::ops::Range<usize>>| {
                        range.map(|range| {
                            String::from_utf8_lossy(&body.buffer()[range]).into_owned()
                        })
                    };
                    let row = body.ranges().map(|range| Ok(text(range))).collect();
                    rows.push(row.map_err(|error| failed(sql, &error.to_string()))?);
                }
                Message::ErrorResponse(body) => return Err(failure(&body, first_words(sql))),
                Message::ReadyForQuery(_) => {
                    self.is_synced = false;
                    return Ok(rows);
                }
                _ => {}
            }
        }
    }

    fn prepare_controls(&mut self) -> Result<(), DatabaseError> {
        for (name, sql) in CONTROLS {
            frontend::parse(name, sql, [], &mut self.wire.outgoing)
                .map_err(|error| failed(sql, &error.to_string()))?;
        }
        encode::control("", &mut self.wire.outgoing)?;
        self.send_sync()?;
        complete(async {
            let ready = self.receive_ready("the start of a session").await;
            self.finish(ready.map(|_| ())).await
        })
    }

    /// Waits for ReadyForQuery, and returns its transaction status.
    pub(super) async fn receive_ready(&mut self, what: &str) -> Result<u8, DatabaseError> {
        loop {
            match self.message().await? {
                Message::ReadyForQuery(body) => {
                    self.is_synced = false;
                    return Ok(body.status());
                }
                Message::ErrorResponse(body) => return Err(failure(&body, what)),
                _ => {}
            }
        }
    }

    /// After an error: ends the open transaction, if the connection still lives.
    pub(super) async fn finish<T>(
        &mut self,
        outcome: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if outcome.is_err() && !self.is_lost {
            // A failure here has marked the connection as lost, which the next call reports.
            let _ = self.recover().await;
        }
        self.discard_unprepared();
        outcome
    }

    /// After an error of a transaction: the same, but after a serialization failure nobody waits
    /// for the rest of the server's answer. It had rolled back, and released all locks, when it
    /// sent the error.
    pub(super) async fn finish_later<T>(
        &mut self,
        outcome: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let is_conflict = matches!(outcome, Err(DatabaseError::Conflict(_)));
        if !is_conflict || self.is_lost || !self.is_synced {
            return self.finish(outcome).await;
        }
        self.phase = Phase::Idle;
        self.has_failed = true;
        self.discard_unprepared();
        outcome
    }

    /// What was not confirmed is prepared again when it is needed.
    fn discard_unprepared(&mut self) {
        for name in self.preparing.drain(..) {
            self.prepared.remove(name);
        }
    }

    async fn recover(&mut self) -> Result<(), DatabaseError> {
        self.phase = Phase::Idle;
        self.has_failed = false;
        if !self.is_synced {
            self.wire.outgoing.clear();
            self.send_sync()?;
        }
        let status = self.drain().await?;
        if status != b'I' {
            self.roll_back().await?;
        }
        Ok(())
    }

    pub(super) async fn drain(&mut self) -> Result<u8, DatabaseError> {
        loop {
            if let Message::ReadyForQuery(body) = self.message().await? {
                self.is_synced = false;
                return Ok(body.status());
            }
        }
    }

    pub(super) async fn roll_back(&mut self) -> Result<(), DatabaseError> {
        self.send_rollback()?;
        self.drain().await.map(drop)
    }

    pub(super) fn send_rollback(&mut self) -> Result<(), DatabaseError> {
        frontend::query("ROLLBACK", &mut self.wire.outgoing)
            .map_err(|error| failed("a rollback", &error.to_string()))?;
        self.send()?;
        self.is_synced = true;
        Ok(())
    }

    pub(super) fn not_lost(&self) -> Result<(), DatabaseError> {
        if self.is_lost {
            return Err(DatabaseError::unavailable("the connection was lost before"));
        }
        Ok(())
    }

    /// For work outside of transactions: checks that the connection is open and idle.
    fn check_idle(&mut self) -> Result<(), DatabaseError> {
        self.not_lost()?;
        if self.has_failed {
            complete(self.recover())?;
        }
        Ok(())
    }

    pub(super) fn send_sync(&mut self) -> Result<(), DatabaseError> {
        frontend::sync(&mut self.wire.outgoing);
        self.send()?;
        self.is_synced = true;
        Ok(())
    }

    pub(super) fn send(&mut self) -> Result<(), DatabaseError> {
        let sent = self.wire.send();
        sent.map_err(|error| self.closing_error(error))
    }

    /// The server's reason for closing a connection that we could not write to.
    fn closing_error(&mut self, error: DatabaseError) -> DatabaseError {
        self.is_lost = true;
        while let Ok(message) = self.wire.receive() {
            if let Message::ErrorResponse(body) = message {
                return failure(&body, "a session");
            }
        }
        error
    }

    pub(super) fn send_bytes(&mut self, bytes: &[u8]) -> Result<(), DatabaseError> {
        let sent = self.wire.send_bytes(bytes);
        sent.map_err(|error| self.closing_error(error))
    }

    pub(super) fn has_message(&mut self) -> bool {
        self.wire.has_message()
    }

    /// Sends a COPY statement; rows follow.
    pub(super) fn begin_copy(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.check_idle()?;
        frontend::query(sql, &mut self.wire.outgoing)
            .map_err(|error| failed(sql, &error.to_string()))?;
        self.send()?;
        self.is_synced = true;
        let ready = loop {
            match self.receive() {
                Ok(Message::CopyInResponse(_)) => break Ok(()),
                Ok(Message::ErrorResponse(body)) => break Err(failure(&body, first_words(sql))),
                Ok(_) => {}
                Err(error) => break Err(error),
            }
        };
        complete(self.finish(ready))
    }

    /// Ends the rows of a COPY, and returns how many the server took.
    pub(super) fn end_copy(&mut self, what: &str) -> Result<u64, DatabaseError> {
        frontend::copy_done(&mut self.wire.outgoing);
        let taken = self.send().and_then(|()| self.copy_answer(what));
        complete(self.finish(taken))
    }

    /// The server's answer to a COPY: it comes before the end only if something went wrong.
    pub(super) fn copy_answer(&mut self, what: &str) -> Result<u64, DatabaseError> {
        let mut rows = 0;
        loop {
            match self.receive()? {
                Message::CommandComplete(body) => rows = body.tag().map_or(0, encode::changed),
                Message::ErrorResponse(body) => return Err(failure(&body, what)),
                Message::ReadyForQuery(_) => {
                    self.is_synced = false;
                    return Ok(rows);
                }
                _ => {}
            }
        }
    }

    /// Marks the connection as lost.
    pub(super) fn mark_lost(&mut self, error: DatabaseError) -> DatabaseError {
        self.is_lost = true;
        error
    }

    /// The next message; blocks the thread.
    pub(super) fn receive(&mut self) -> Result<Message, DatabaseError> {
        let message = self.wire.receive();
        self.is_lost |= message.is_err();
        message
    }

    /// The next message. Other tasks may run until it comes.
    pub(super) async fn message(&mut self) -> Result<Message, DatabaseError> {
        let message = self.wire.message().await;
        self.is_lost |= message.is_err();
        message
    }
}

/// Enough of a statement to recognize it by.
fn first_words(sql: &str) -> &str {
    let end = sql.char_indices().nth(60).map_or(sql.len(), |(end, _)| end);
    &sql[..end]
}

pub(super) fn failed(what: &str, message: &str) -> DatabaseError {
    DatabaseError::failed(first_words(what).to_owned(), message)
}

impl Drop for Connection {
    fn drop(&mut self) {
        if !self.is_lost {
            self.wire.outgoing.clear();
            frontend::terminate(&mut self.wire.outgoing);
            // The server notices a closed socket too; this is only the polite way.
            let _ = self.wire.send();
        }
    }
}
