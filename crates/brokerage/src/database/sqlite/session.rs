//! A connection to a file.

use std::sync::Arc;
use std::time::Duration;

use rusqlite::types::{ToSqlOutput, ValueRef};
use rusqlite::{Connection, ToSql};
use rustc_hash::FxHashMap;

use super::failure::failure;
use super::timed_vfs::TimedConnection;
use super::turn::{Queue, Turn};
use crate::database::call::{self, invalid_call};
use crate::database::render::render;
use crate::error::DatabaseError;
use crate::row::Answers;
use crate::session::{AfterBatch, Answering, Call, Isolation, Session};
use crate::statement::{Dialect, Statement};
use crate::value::Value;

/// How long a transaction waits for the write lock before it counts as a conflict.
pub(super) const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// Prepared statements per connection: more than there are.
const PREPARED: usize = 512;

/// A connection. Read-committed transactions may write too, but only if nobody else has written
/// since they began; all others wait for the write lock when they begin.
pub struct SqliteSession {
    connection: TimedConnection,
    queue: Arc<Queue>,
    turn: Option<Turn>,
    is_open: bool,
    rendered: FxHashMap<&'static str, String>,
    answers: Answers,
}

impl SqliteSession {
    pub(super) fn new(connection: TimedConnection, queue: Arc<Queue>) -> Self {
        connection.set_prepared_statement_cache_capacity(PREPARED);
        Self {
            connection,
            queue,
            turn: None,
            is_open: false,
            rendered: FxHashMap::default(),
            answers: Answers::default(),
        }
    }

    fn batch(&mut self, calls: &[Call]) -> Result<(), DatabaseError> {
        calls.iter().try_for_each(call::check)?;
        self.answers.clear();
        for call in calls {
            let sql = self
                .rendered
                .entry(call.statement.name)
                .or_insert_with(|| render(call.statement, Dialect::Sqlite).sql);
            run_step(&self.connection, sql, call, &mut self.answers)?;
        }
        Ok(())
    }

    fn end(&mut self, sql: &'static str) -> Result<(), DatabaseError> {
        let ended = self.connection.execute_batch(sql);
        if ended.is_ok() {
            self.is_open = false;
            self.turn = None;
        }
        ended.map_err(|error| failure(&error, sql))
    }

    /// Rolls back what is open and ignores the outcome: some errors have done so already.
    fn roll_back_quietly(&mut self) {
        if !self.connection.is_autocommit() {
            let _ = self.connection.execute_batch("ROLLBACK");
        }
        self.is_open = false;
        self.turn = None;
    }

    fn run_now(&mut self, calls: &[Call], then: AfterBatch) -> Result<&Answers, DatabaseError> {
        if !self.is_open {
            return Err(DatabaseError::failed("a batch", "no transaction is open"));
        }
        let mut ended = self.batch(calls);
        if ended.is_ok() && then == AfterBatch::Commit {
            ended = self.end("COMMIT");
        }
        if let Err(error) = ended {
            self.roll_back_quietly();
            return Err(error);
        }
        Ok(&self.answers)
    }
}

impl Session for SqliteSession {
    fn begin(&mut self, isolation: Isolation) -> Result<(), DatabaseError> {
        if self.is_open {
            return Err(DatabaseError::failed(
                "a begin",
                "a transaction is open already",
            ));
        }
        let sql = if isolation == Isolation::ReadCommitted {
            "BEGIN DEFERRED"
        } else {
            let turn = self.queue.wait(WRITE_TIMEOUT);
            let late = || DatabaseError::Conflict("the write lock was not free in time".to_owned());
            self.turn = Some(turn.ok_or_else(late)?);
            "BEGIN IMMEDIATE"
        };
        let started = self.connection.execute_batch(sql);
        self.is_open = started.is_ok();
        started.map_err(|error| {
            self.turn = None;
            failure(&error, "a begin")
        })
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        then: AfterBatch,
    ) -> Answering<'answering, &'session Answers> {
        Box::pin(async move { self.run_now(calls, then) })
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        self.roll_back_quietly();
        Box::pin(async { Ok(()) })
    }

    fn abandon(&mut self) {
        self.roll_back_quietly();
    }
}

fn run_step(
    connection: &Connection,
    sql: &str,
    call: &Call,
    answers: &mut Answers,
) -> Result<(), DatabaseError> {
    let statement = call.statement;
    let failed = |error: rusqlite::Error| failure(&error, statement.name);
    let mut prepared = connection.prepare_cached(sql).map_err(failed)?;
    for number in 0..prepared.parameter_count() {
        prepared
            .raw_bind_parameter(number + 1, &call.parameters[number])
            .map_err(failed)?;
    }
    let columns = prepared.column_count();
    answers.begin(columns);
    if columns == 0 {
        let changed = prepared.raw_execute().map_err(failed)?;
        answers.changed(changed as u64);
        return Ok(());
    }
    let mut rows = prepared.raw_query();
    while let Some(row) = rows.next().map_err(failed)? {
        for number in 0..columns {
            let found = row.get_ref(number).map_err(failed)?;
            put(statement, found, answers)?;
        }
    }
    Ok(())
}

fn put(
    statement: &Statement,
    found: ValueRef<'_>,
    answers: &mut Answers,
) -> Result<(), DatabaseError> {
    match found {
        ValueRef::Null => answers.null(),
        ValueRef::Integer(number) => answers.integer(number),
        ValueRef::Text(text) if let Ok(text) = str::from_utf8(text) => answers.text(text),
        ValueRef::Text(_) | ValueRef::Real(_) | ValueRef::Blob(_) => {
            return Err(invalid_call(
                statement,
                "a column is neither an integer nor a text; CAST it".to_owned(),
            ));
        }
    }
    Ok(())
}

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Integer(number) => ValueRef::Integer(*number),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}
