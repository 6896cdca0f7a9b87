//! Transactions on a connection.
//!
//! A batch of calls goes out in one write, with what begins the transaction in front and what
//! commits it behind, and one `Sync` at the end: the server answers all of it in one go, and skips
//! the rest after the first error. A transaction that is read committed and consists of one batch
//! needs neither: the server treats everything up to `Sync` as one transaction.
//!
//! After a conflict the server has given up the transaction and its locks, and only wants to be told
//! that we know. It is told with the next batch: a transaction that is tried again costs no journey
//! more than one that is not.

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::connection::{Connection, failed};
use super::encode;
use super::failure::failure;
use crate::database::call;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::session::{Answering, Call, Isolation, Session, Then};

/// A batch longer than this goes out in parts, each answered before the next: a server that waits
/// for us to read while we wait for it to read would wait for ever. What the system takes in one
/// write without a reader is more than that.
const PART_BYTES: usize = 64 * 1024;

/// Kinds of messages.
const DATA_ROW: u8 = b'D';
const COMMAND_COMPLETE: u8 = b'C';
const BIND_COMPLETE: u8 = b'2';

const BEGIN_READ_COMMITTED: &str = "proofload begin read committed";
const BEGIN_REPEATABLE_READ: &str = "proofload begin repeatable read";
const BEGIN_SERIALIZABLE: &str = "proofload begin serializable";
const READ_BY_INDEX: &str = "proofload read by index";
const COMMIT: &str = "proofload commit";
const ROLLBACK: &str = "proofload rollback";

/// How a serializable transaction begins. In one that reads a table from end to end, however small
/// it is, everything that anybody writes there is a conflict: so rows are looked up by their index,
/// where the planner would rather read the one page of a table of ten brokers.
const SERIALIZABLE: [&str; 2] = [BEGIN_SERIALIZABLE, READ_BY_INDEX];

/// What every session prepares when it connects.
pub(super) const CONTROLS: [(&str, &str); 7] = [
    ("", "SET default_transaction_isolation TO 'read committed'"),
    (BEGIN_READ_COMMITTED, "BEGIN ISOLATION LEVEL READ COMMITTED"),
    (
        BEGIN_REPEATABLE_READ,
        "BEGIN ISOLATION LEVEL REPEATABLE READ",
    ),
    (BEGIN_SERIALIZABLE, "BEGIN ISOLATION LEVEL SERIALIZABLE"),
    (READ_BY_INDEX, "SET LOCAL enable_seqscan TO off"),
    (COMMIT, "COMMIT"),
    (ROLLBACK, "ROLLBACK"),
];

/// Where a transaction is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Phase {
    /// None is open.
    Idle,
    /// One was begun, and the server does not know yet.
    Begun(Isolation),
    /// The server has one open.
    Open,
}

impl Connection {
    /// The journey of a batch. The transaction's phase is the caller's matter.
    async fn journey(
        &mut self,
        begin: &[&'static str],
        calls: &[Call],
        commit: bool,
    ) -> Result<(), DatabaseError> {
        calls.iter().try_for_each(call::check)?;
        let mut controls = u32::from(self.leave_failed().await?);
        for control in begin {
            encode::control(control, &mut self.wire.outgoing)?;
            controls += 1;
        }
        self.answers.clear();
        for (number, call) in calls.iter().enumerate() {
            if self.wire.outgoing.len() > PART_BYTES {
                frontend::flush(&mut self.wire.outgoing);
                self.send()?;
                let asked = &calls[self.answers.count()..number];
                self.take_answers(std::mem::take(&mut controls), asked)
                    .await?;
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
        let rest = &calls[self.answers.count()..];
        self.take_answers(controls, rest).await?;
        self.receive_ready("a commit").await.map(drop)
    }

    /// Reads the end of what the server said to a transaction that failed, which is there by now.
    /// If it still has one open that can only be rolled back, that goes out in front of what comes
    /// next; gives whether it does.
    async fn leave_failed(&mut self) -> Result<bool, DatabaseError> {
        if !self.has_failed {
            return Ok(false);
        }
        let status = self.drain().await?;
        self.has_failed = false;
        if status != b'I' {
            encode::control(ROLLBACK, &mut self.wire.outgoing)?;
        }
        Ok(status != b'I')
    }

    async fn take_answers(&mut self, controls: u32, calls: &[Call]) -> Result<(), DatabaseError> {
        for _ in 0..controls {
            self.control_answer().await?;
        }
        for call in calls {
            self.answer(call).await?;
        }
        Ok(())
    }

    async fn control_answer(&mut self) -> Result<(), DatabaseError> {
        loop {
            match self.message().await? {
                Message::CommandComplete(_) => return Ok(()),
                Message::ErrorResponse(body) => return Err(failure(&body, "a begin")),
                _ => {}
            }
        }
    }

    async fn answer(&mut self, call: &Call) -> Result<(), DatabaseError> {
        let statement = call.statement;
        self.answers.begin(statement.columns.len());
        loop {
            // Most messages are these; they need no memory of their own.
            let (kind, body) = match self.wire.peek() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    let filled = self.wire.fill().await;
                    filled.map_err(|error| self.lose(error))?;
                    continue;
                }
                Err(error) => return Err(self.lose(error)),
            };
            let body_bytes = body.len();
            match kind {
                DATA_ROW => encode::row(body, statement, &mut self.answers)?,
                COMMAND_COMPLETE => self.answers.changed(encode::changed_by(body)),
                BIND_COMPLETE => {}
                _ => {
                    self.rare_answer(call).await?;
                    continue;
                }
            }
            self.wire.pass(body_bytes);
            if kind == COMMAND_COMPLETE {
                return Ok(());
            }
        }
    }

    async fn rare_answer(&mut self, call: &Call) -> Result<(), DatabaseError> {
        let statement = call.statement;
        match self.message().await? {
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
        Ok(())
    }

    async fn batch(&mut self, calls: &[Call], then: Then) -> Result<&Answers, DatabaseError> {
        self.not_lost()?;
        let commits = then == Then::Commit;
        let (begin, commit) = match self.phase {
            Phase::Idle => return Err(failed("a batch", "no transaction is open")),
            Phase::Begun(_) if commits && calls.is_empty() => {
                self.phase = Phase::Idle;
                self.answers.clear();
                return Ok(&self.answers);
            }
            Phase::Begun(Isolation::ReadCommitted) if commits => (&[][..], false),
            Phase::Begun(Isolation::ReadCommitted) => (&[BEGIN_READ_COMMITTED][..], commits),
            Phase::Begun(Isolation::RepeatableRead) => (&[BEGIN_REPEATABLE_READ][..], commits),
            Phase::Begun(Isolation::Serializable) => (&SERIALIZABLE[..], commits),
            Phase::Open => (&[][..], commits),
        };
        if calls.is_empty() && !commits {
            self.answers.clear();
            return Ok(&self.answers);
        }
        self.phase = Phase::Open;
        let answered = self.journey(begin, calls, commit).await;
        self.finish_later(answered).await?;
        if commits {
            self.phase = Phase::Idle;
        }
        Ok(&self.answers)
    }

    async fn leave(&mut self) -> Result<(), DatabaseError> {
        self.not_lost()?;
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        if phase == Phase::Open {
            self.roll_back().await?;
        }
        Ok(())
    }
}

impl Session for Connection {
    fn share_thread(&mut self) {
        self.wire.share_thread();
    }

    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        self.not_lost()?;
        if self.phase != Phase::Idle {
            return Err(failed("a begin", "a transaction is open already"));
        }
        self.phase = Phase::Begun(isolation);
        Ok(())
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: Then,
    ) -> Answering<'answering, &'session Answers> {
        Box::pin(self.batch(calls, then))
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        Box::pin(self.leave())
    }

    fn abandon(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        // The server does as it is told before it reads what comes next. A connection that is lost
        // has been marked so.
        if phase == Phase::Open && self.not_lost().is_ok() && self.send_rollback().is_ok() {
            self.has_failed = true;
        }
    }
}
