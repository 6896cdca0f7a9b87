//! A connection as the transactions see it.
//!
//! A batch of calls goes out in one write, with what begins the transaction in front and what
//! commits it behind, and one `Sync` at the end: the server answers all of it in one go, and skips
//! the rest after the first error. A transaction that is read committed and consists of one batch
//! needs neither: the server treats everything up to `Sync` as one transaction.

use std::time::Duration;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;
use rustc_hash::FxHashSet;

use super::encode;
use super::failure::failure;
use super::startup;
use super::wire::Wire;
use crate::database::call;
use crate::database::target::Address;
use crate::error::DatabaseError;
use crate::row::Rows;
use crate::session::{Call, Isolation, Session, Then};

/// A batch longer than this goes out in parts, each answered before the next: a server that waits
/// for us to read while we wait for it to read would wait for ever. What the system takes in one
/// write without a reader is more than that.
const PART_BYTES: usize = 64 * 1024;

/// The oldest major version that is tested.
const OLDEST: u32 = 13;

const BEGIN_READ_COMMITTED: &str = "proofload begin read committed";
const BEGIN_REPEATABLE_READ: &str = "proofload begin repeatable read";
const BEGIN_SERIALIZABLE: &str = "proofload begin serializable";
const COMMIT: &str = "proofload commit";

/// What every session prepares when it connects.
const CONTROLS: [(&str, &str); 5] = [
    ("", "SET default_transaction_isolation TO 'read committed'"),
    (BEGIN_READ_COMMITTED, "BEGIN ISOLATION LEVEL READ COMMITTED"),
    (
        BEGIN_REPEATABLE_READ,
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
    ),
    (BEGIN_SERIALIZABLE, "BEGIN ISOLATION LEVEL SERIALIZABLE"),
    (COMMIT, "COMMIT"),
];

/// Where a transaction is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// None is open.
    Idle,
    /// One was begun, and the server does not know yet.
    Begun(Isolation),
    /// The server has one open.
    Open,
}

/// A connection to a PostgreSQL server.
pub struct Connection {
    wire: Wire,
    version: String,
    prepared: FxHashSet<&'static str>,
    /// Statements whose preparation was asked for and not yet confirmed, in order.
    preparing: std::collections::VecDeque<&'static str>,
    phase: Phase,
    /// Whether a `Sync` is under way whose answer has not come.
    is_synced: bool,
    is_lost: bool,
}

impl Connection {
    /// Connects to a database of a server, for work around the transactions. `patience` is how long
    /// each step of connecting may take, and each answer until
    /// [`set_patience`](Self::set_patience).
    ///
    /// # Errors
    /// The server is not there, does not let us in, or is older than we know.
    pub fn open(
        address: &Address,
        database: &str,
        patience: Duration,
    ) -> Result<Self, DatabaseError> {
        let mut wire = Wire::connect(&address.endpoint, patience)?;
        let version = startup::start(&mut wire, address, database)?;
        let digits: String = version.chars().take_while(char::is_ascii_digit).collect();
        if digits.parse::<u32>().unwrap_or(0) < OLDEST {
            return Err(DatabaseError::Refused(format!(
                "PostgreSQL {version} is too old: use version {OLDEST} or newer"
            )));
        }
        Ok(Self {
            wire,
            version,
            prepared: FxHashSet::default(),
            preparing: std::collections::VecDeque::new(),
            phase: Phase::Idle,
            is_synced: false,
            is_lost: false,
        })
    }

    /// Connects as a user of the house: transactions can be run then.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    pub fn session(
        address: &Address,
        database: &str,
        patience: Duration,
    ) -> Result<Self, DatabaseError> {
        let mut connection = Self::open(address, database, patience)?;
        connection.prepare_controls()?;
        Ok(connection)
    }

    /// The version that the server says it has, such as "15.18 (Debian 15.18-0+deb12u1)".
    #[must_use]
    pub fn version(&self) -> &str {
        &self.version
    }

    /// How long an answer may take before the server counts as gone; for ever with `None`, as a
    /// long piece of work wants it.
    ///
    /// # Errors
    /// The system did not take it.
    pub fn set_patience(&mut self, patience: Option<Duration>) -> Result<(), DatabaseError> {
        self.wire.set_patience(patience)
    }

    /// Carries out statements outside of a transaction of the house, and gives the rows of all of
    /// them as the server writes them.
    ///
    /// # Errors
    /// The first that failed.
    pub fn ask(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DatabaseError> {
        self.not_lost()?;
        frontend::query(sql, &mut self.wire.outgoing)
            .map_err(|error| failed(sql, &error.to_string()))?;
        self.send()?;
        self.is_synced = true;
        let rows = self.simple_rows(sql);
        self.finish(rows)
    }

    fn simple_rows(&mut self, sql: &str) -> Result<Vec<Vec<Option<String>>>, DatabaseError> {
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
        let ready = self.receive_ready("the start of a session");
        self.finish(ready.map(|_| ()))
    }

    /// The journey of a batch. The transaction's phase is the caller's matter.
    fn journey(
        &mut self,
        begin: Option<&'static str>,
        calls: &[Call],
        commit: bool,
    ) -> Result<Vec<Rows>, DatabaseError> {
        calls.iter().try_for_each(call::check)?;
        if let Some(begin) = begin {
            encode::control(begin, &mut self.wire.outgoing)?;
        }
        let mut answers = Vec::with_capacity(calls.len());
        let mut begin_awaited = begin.is_some();
        for (number, call) in calls.iter().enumerate() {
            if self.wire.outgoing.len() > PART_BYTES {
                frontend::flush(&mut self.wire.outgoing);
                self.send()?;
                let asked = &calls[answers.len()..number];
                self.take_answers(std::mem::take(&mut begin_awaited), asked, &mut answers)?;
            }
            let statement = call.statement;
            if self.prepared.insert(statement.name) {
                self.preparing.push_back(statement.name);
                encode::prepare(statement, &mut self.wire.outgoing)?;
            }
            encode::call(call, &mut self.wire.outgoing)?;
        }
        if commit {
            encode::control(COMMIT, &mut self.wire.outgoing)?;
        }
        self.send_sync()?;
        let rest = &calls[answers.len()..];
        self.take_answers(begin_awaited, rest, &mut answers)?;
        self.receive_ready("a commit")?;
        Ok(answers)
    }

    fn take_answers(
        &mut self,
        begin: bool,
        calls: &[Call],
        answers: &mut Vec<Rows>,
    ) -> Result<(), DatabaseError> {
        if begin {
            self.control_answer()?;
        }
        for call in calls {
            answers.push(self.answer(call)?);
        }
        Ok(())
    }

    fn control_answer(&mut self) -> Result<(), DatabaseError> {
        loop {
            match self.receive()? {
                Message::CommandComplete(_) => return Ok(()),
                Message::ErrorResponse(body) => return Err(failure(&body, "a begin")),
                _ => {}
            }
        }
    }

    fn answer(&mut self, call: &Call) -> Result<Rows, DatabaseError> {
        let statement = call.statement;
        let mut rows = Rows::default();
        loop {
            match self.receive()? {
                Message::DataRow(body) => rows.rows.push(encode::row(&body, statement)?),
                Message::CommandComplete(body) => {
                    rows.changed = body.tag().map_or(0, encode::changed);
                    return Ok(rows);
                }
                Message::RowDescription(body) => {
                    encode::check_columns(statement, Some(&body))?;
                    self.preparing.pop_front();
                }
                Message::NoData => {
                    encode::check_columns(statement, None)?;
                    self.preparing.pop_front();
                }
                Message::ErrorResponse(body) => return Err(failure(&body, statement.name)),
                _ => {}
            }
        }
    }

    /// Waits for the end of the answers, and gives the server's letter for its transaction.
    fn receive_ready(&mut self, what: &str) -> Result<u8, DatabaseError> {
        loop {
            match self.receive()? {
                Message::ReadyForQuery(body) => {
                    self.is_synced = false;
                    return Ok(body.status());
                }
                Message::ErrorResponse(body) => return Err(failure(&body, what)),
                _ => {}
            }
        }
    }

    /// After an error: brings the connection to where no transaction is open, if it still lives.
    pub(super) fn finish<T>(
        &mut self,
        outcome: Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        if outcome.is_err() && !self.is_lost {
            // What failed here too has marked the connection as lost, which the next call tells.
            let _ = self.recover();
        }
        for name in self.preparing.drain(..) {
            self.prepared.remove(name);
        }
        outcome
    }

    fn recover(&mut self) -> Result<(), DatabaseError> {
        self.phase = Phase::Idle;
        if !self.is_synced {
            self.wire.outgoing.clear();
            self.send_sync()?;
        }
        let status = self.drain()?;
        if status != b'I' {
            self.roll_back()?;
        }
        Ok(())
    }

    fn drain(&mut self) -> Result<u8, DatabaseError> {
        loop {
            if let Message::ReadyForQuery(body) = self.receive()? {
                self.is_synced = false;
                return Ok(body.status());
            }
        }
    }

    fn roll_back(&mut self) -> Result<(), DatabaseError> {
        frontend::query("ROLLBACK", &mut self.wire.outgoing)
            .map_err(|error| failed("a rollback", &error.to_string()))?;
        self.send()?;
        self.is_synced = true;
        self.drain().map(|_| ())
    }

    fn not_lost(&self) -> Result<(), DatabaseError> {
        if self.is_lost {
            return Err(DatabaseError::Unavailable(
                "the connection was lost before".to_owned(),
            ));
        }
        Ok(())
    }

    fn send_sync(&mut self) -> Result<(), DatabaseError> {
        frontend::sync(&mut self.wire.outgoing);
        self.send()?;
        self.is_synced = true;
        Ok(())
    }

    fn send(&mut self) -> Result<(), DatabaseError> {
        let sent = self.wire.send();
        sent.map_err(|error| self.last_words(error))
    }

    /// What the server said before it closed the connection that we could not write to.
    fn last_words(&mut self, error: DatabaseError) -> DatabaseError {
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
        sent.map_err(|error| self.last_words(error))
    }

    pub(super) fn has_message(&self) -> bool {
        self.wire.has_message()
    }

    /// Sends a statement that rows will follow by COPY.
    pub(super) fn begin_copy(&mut self, sql: &str) -> Result<(), DatabaseError> {
        self.not_lost()?;
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
        self.finish(ready)
    }

    /// Ends the rows of a COPY, and gives how many the server took.
    pub(super) fn end_copy(&mut self, what: &str) -> Result<u64, DatabaseError> {
        frontend::copy_done(&mut self.wire.outgoing);
        let taken = self.send().and_then(|()| self.copy_answer(what));
        self.finish(taken)
    }

    /// The server's answer to a COPY: it comes before the end only where something went wrong.
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

    fn receive(&mut self) -> Result<Message, DatabaseError> {
        let message = self.wire.receive();
        self.is_lost |= message.is_err();
        message
    }
}

/// Enough of a statement to know it by.
fn first_words(sql: &str) -> &str {
    let end = sql.char_indices().nth(60).map_or(sql.len(), |(end, _)| end);
    &sql[..end]
}

fn failed(what: &str, message: &str) -> DatabaseError {
    DatabaseError::Failed {
        statement: first_words(what).to_owned(),
        message: message.to_owned(),
    }
}

impl Session for Connection {
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        self.not_lost()?;
        if self.phase != Phase::Idle {
            return Err(failed("a begin", "a transaction is open already"));
        }
        self.phase = Phase::Begun(isolation);
        Ok(())
    }

    fn run(&mut self, calls: &[Call], then: Then) -> Result<Vec<Rows>, DatabaseError> {
        self.not_lost()?;
        let commits = then == Then::Commit;
        let (begin, commit) = match self.phase {
            Phase::Idle => return Err(failed("a batch", "no transaction is open")),
            Phase::Begun(_) if commits && calls.is_empty() => {
                self.phase = Phase::Idle;
                return Ok(Vec::new());
            }
            Phase::Begun(Isolation::ReadCommitted) if commits => (None, false),
            Phase::Begun(Isolation::ReadCommitted) => (Some(BEGIN_READ_COMMITTED), commits),
            Phase::Begun(Isolation::RepeatableRead) => (Some(BEGIN_REPEATABLE_READ), commits),
            Phase::Begun(Isolation::Serializable) => (Some(BEGIN_SERIALIZABLE), commits),
            Phase::Open => (None, commits),
        };
        if calls.is_empty() && !commits {
            return Ok(Vec::new());
        }
        self.phase = Phase::Open;
        let answers = self.journey(begin, calls, commit);
        let answers = self.finish(answers)?;
        if commits {
            self.phase = Phase::Idle;
        }
        Ok(answers)
    }

    fn rollback(&mut self) -> Result<(), DatabaseError> {
        self.not_lost()?;
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        if phase == Phase::Open {
            self.roll_back()?;
        }
        Ok(())
    }
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
