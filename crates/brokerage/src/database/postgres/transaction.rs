//! Transactions on a connection.
//!
//! A batch of calls is sent in one write, with BEGIN in front and COMMIT at the end, and one
//! `Sync`: the server answers all of it at once, and skips the rest after the first error. A
//! read-committed transaction of one batch needs neither: the server treats everything up to `Sync`
//! as one transaction.
//!
//! After a serialization failure the server has rolled back and released its locks, and only waits
//! for ROLLBACK. That goes out with the next batch: a retried transaction costs no more round trips
//! than another.

use std::collections::hash_map::Entry;

use postgres_protocol::message::backend::Message;
use postgres_protocol::message::frontend;

use super::connection::{Connection, failed};
use super::control::{
    BEGIN_READ_COMMITTED, BEGIN_REPEATABLE_READ, COMMIT, Phase, ROLLBACK, SERIALIZABLE,
};
use super::encode::{self, Columns};
use super::failure::failure;
use crate::database::call;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::session::{AfterBatch, Answering, Call, Isolation, Session};

/// A longer batch is sent in parts, each answered before the next: or the server would wait for us
/// to read while we wait for it to read. The system takes more than this in one write without a
/// reader.
const PART_BYTES: usize = 64 * 1024;

/// First bytes of the messages that answer a statement.
const DATA_ROW: u8 = b'D';
const COMMAND_COMPLETE: u8 = b'C';
const BIND_COMPLETE: u8 = b'2';

impl Connection {
    /// Sends a batch and reads its answers. The caller keeps the transaction's state.
    async fn round_trip(
        &mut self,
        begin: &[&'static str],
        calls: &[Call],
        commit: bool,
    ) -> Result<(), DatabaseError> {
        calls.iter().try_for_each(call::check)?;
        let mut controls = u32::from(self.finish_failed().await?);
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
            if let Entry::Vacant(new) = self.prepared.entry(statement.name) {
                new.insert(Columns::default());
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

    /// Reads the rest of the server's answer to a failed transaction, which has arrived by now.
    /// Returns whether a ROLLBACK must precede what is sent next.
    async fn finish_failed(&mut self) -> Result<bool, DatabaseError> {
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
        let mut columns = Columns::default();
        loop {
            // Most messages are these; they are decoded without a copy.
            let (kind, body) = match self.wire.peek() {
                Ok(Some(message)) => message,
                Ok(None) => {
                    let filled = self.wire.fill().await;
                    filled.map_err(|error| self.mark_lost(error))?;
                    continue;
                }
                Err(error) => return Err(self.mark_lost(error)),
            };
            let body_bytes = body.len();
            match kind {
                DATA_ROW => encode::row(body, statement, &columns, &mut self.answers)?,
                COMMAND_COMPLETE => self.answers.changed(encode::changed_by(body)),
                BIND_COMPLETE => {
                    columns.clone_from(&self.prepared[statement.name]);
                    self.answers.begin(columns.len());
                }
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
                let columns = encode::columns_of(statement, &body)?;
                self.prepared.insert(statement.name, columns);
                self.preparing.pop_front();
            }
            Message::NoData => {
                self.preparing.pop_front();
            }
            Message::ErrorResponse(body) => return Err(failure(&body, statement.name)),
            _ => {}
        }
        Ok(())
    }

    async fn batch(&mut self, calls: &[Call], then: AfterBatch) -> Result<&Answers, DatabaseError> {
        self.not_lost()?;
        let commits = then == AfterBatch::Commit;
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
        let answered = self.round_trip(begin, calls, commit).await;
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
        then: AfterBatch,
    ) -> Answering<'answering, &'session Answers> {
        Box::pin(self.batch(calls, then))
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        Box::pin(self.leave())
    }

    fn abandon(&mut self) {
        let phase = std::mem::replace(&mut self.phase, Phase::Idle);
        // The server processes ROLLBACK before it reads what follows. A lost connection has been
        // marked so.
        if phase == Phase::Open && self.not_lost().is_ok() && self.send_rollback().is_ok() {
            self.has_failed = true;
        }
    }
}
