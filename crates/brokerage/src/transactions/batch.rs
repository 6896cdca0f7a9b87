//! An open transaction: batches of calls, and their result sets.

use crate::error::DatabaseError;
use crate::row::{self, Rows};
use crate::session::{AfterBatch, Call, Isolation, Session};
use crate::statement::Statement;
use crate::value::Value;

/// An open transaction. Dropping it rolls it back.
pub(crate) struct Transaction<'a> {
    session: &'a mut dyn Session,
    is_open: bool,
}

impl<'a> Transaction<'a> {
    pub(crate) fn begin(
        session: &'a mut dyn Session,
        isolation: Isolation,
    ) -> Result<Self, DatabaseError> {
        session.begin(isolation)?;
        Ok(Self {
            session,
            is_open: true,
        })
    }

    /// Executes a batch; the transaction stays open.
    pub(crate) async fn run(&mut self, batch: Batch) -> Result<Answers<'_>, DatabaseError> {
        self.run_step(batch, AfterBatch::Continue).await
    }

    /// Executes the last batch and commits.
    pub(crate) async fn commit(&mut self, batch: Batch) -> Result<Answers<'_>, DatabaseError> {
        self.run_step(batch, AfterBatch::Commit).await
    }

    async fn run_step(
        &mut self,
        batch: Batch,
        then: AfterBatch,
    ) -> Result<Answers<'_>, DatabaseError> {
        assert!(self.is_open, "a transaction ends once");
        // After a commit, and after an error, the session has closed the transaction itself.
        self.is_open = false;
        let answers = self.session.run(&batch.calls, then).await?;
        self.is_open = then == AfterBatch::Continue;
        Ok(Answers::new(batch, answers))
    }

    /// Rolls back a transaction that is meant to be, which is no error.
    pub(crate) async fn roll_back(mut self) -> Result<(), DatabaseError> {
        self.is_open = false;
        self.session.rollback().await
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // The error that led here is returned; a server that is gone has rolled back.
            self.session.abandon();
        }
    }
}

/// Calls that are sent together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    calls: Vec<Call>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a call; returns the number of its result set.
    pub(crate) fn add<const N: usize>(
        &mut self,
        statement: &'static Statement,
        parameters: [Value; N],
    ) -> usize {
        self.add_all(statement, Vec::from(parameters))
    }

    /// Adds a call that was made elsewhere.
    pub(crate) fn add_call(&mut self, call: Call) -> usize {
        self.add_all(call.statement, call.parameters)
    }

    /// As [`add`](Self::add), with any number of parameters.
    pub(crate) fn add_all(
        &mut self,
        statement: &'static Statement,
        parameters: Vec<Value>,
    ) -> usize {
        debug_assert_eq!(
            statement.parameters.len(),
            parameters.len(),
            "{}",
            statement.name
        );
        self.calls.push(Call {
            statement,
            parameters,
        });
        self.calls.len() - 1
    }
}

/// Executes one batch in a transaction of its own.
pub(crate) async fn ask(
    session: &mut dyn Session,
    isolation: Isolation,
    batch: Batch,
) -> Result<Answers<'_>, DatabaseError> {
    session.begin(isolation)?;
    let answers = session.run(&batch.calls, AfterBatch::Commit).await?;
    Ok(Answers::new(batch, answers))
}

/// The result sets of a batch.
#[derive(Debug)]
pub(crate) struct Answers<'a> {
    batch: Batch,
    answers: &'a row::Answers,
}

impl<'a> Answers<'a> {
    fn new(batch: Batch, answers: &'a row::Answers) -> Self {
        let calls = batch.calls.len();
        assert_eq!(answers.count(), calls, "each call has its answer");
        Self { batch, answers }
    }

    /// The result set of the call with this number.
    pub(crate) fn of(&self, call: usize) -> Answer<'a> {
        Answer {
            statement: self.batch.calls[call].statement.name,
            rows: self.answers.of(call),
        }
    }
}

/// The result set of one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    statement: &'static str,
    rows: Rows<'a>,
}

impl<'a> Answer<'a> {
    pub(crate) fn count(self) -> usize {
        self.rows.count()
    }

    /// A hash of all columns of all rows, in their order.
    pub(crate) fn content(self) -> u32 {
        let mut hasher = crc32fast::Hasher::new();
        for row in 0..self.rows.count() {
            for column in 0..self.rows.columns() {
                match (self.rows.integer(row, column), self.rows.text(row, column)) {
                    (Some(number), _) => hasher.update(&number.to_le_bytes()),
                    (None, Some(text)) => hasher.update(text.as_bytes()),
                    (None, None) => {}
                }
                // The end of a column, which no text contains.
                hasher.update(&[0xff]);
            }
        }
        hasher.finalize()
    }

    /// Rows affected by a change.
    pub(crate) fn changed(self) -> u64 {
        self.rows.changed
    }

    /// The only row; an error if there is another number of rows.
    pub(crate) fn one(self) -> Result<Row<'a>, DatabaseError> {
        let row = self.first()?;
        if self.count() > 1 {
            return Err(self.failed(format!("expected one row, got {}", self.count())));
        }
        Ok(row)
    }

    /// The first row; an error if there is none.
    pub(crate) fn first(self) -> Result<Row<'a>, DatabaseError> {
        self.find()
            .ok_or_else(|| self.failed("expected a row, got none".to_owned()))
    }

    /// The first row, if there is any.
    pub(crate) fn find(self) -> Option<Row<'a>> {
        self.all().next()
    }

    /// Rows of the answer in their order.
    pub(crate) fn all(self) -> impl Iterator<Item = Row<'a>> {
        (0..self.count()).map(move |row| Row { answer: self, row })
    }

    /// Maps each row; ends at the first error.
    pub(crate) fn collect<T>(
        self,
        each: impl Fn(Row<'a>) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        // Allocated once: an iterator of results has no size hint.
        let mut collected = Vec::with_capacity(self.count());
        for row in self.all() {
            collected.push(each(row)?);
        }
        Ok(collected)
    }

    pub(crate) fn failed(self, message: String) -> DatabaseError {
        DatabaseError::failed(self.statement, message)
    }
}

/// A row of a result set.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    answer: Answer<'a>,
    /// Its index in the result set.
    row: usize,
}

impl<'a> Row<'a> {
    /// The integer in a column, counted from 0.
    pub(crate) fn integer(self, column: usize) -> Result<i64, DatabaseError> {
        let number = self.find_integer(column)?;
        number.ok_or_else(|| self.holds(column, "number"))
    }

    /// The integer in a nullable column.
    pub(crate) fn find_integer(self, column: usize) -> Result<Option<i64>, DatabaseError> {
        let rows = self.answer.rows;
        match rows.integer(self.row, column) {
            None if !rows.is_null(self.row, column) => Err(self.holds(column, "number")),
            found => Ok(found),
        }
    }

    /// The text in a column, counted from 0.
    pub(crate) fn text(self, column: usize) -> Result<String, DatabaseError> {
        self.str(column).map(str::to_owned)
    }

    /// The text in a column, borrowed from the result set.
    pub(crate) fn str(self, column: usize) -> Result<&'a str, DatabaseError> {
        let text = self.find_str(column)?;
        text.ok_or_else(|| self.holds(column, "text"))
    }

    /// The text in a nullable column, borrowed from the result set.
    pub(crate) fn find_str(self, column: usize) -> Result<Option<&'a str>, DatabaseError> {
        let rows = self.answer.rows;
        match rows.text(self.row, column) {
            None if !rows.is_null(self.row, column) => Err(self.holds(column, "text")),
            found => Ok(found),
        }
    }

    /// Whether a column holds yes (1).
    pub(crate) fn is(self, column: usize) -> Result<bool, DatabaseError> {
        Ok(self.integer(column)? != 0)
    }

    fn holds(self, column: usize, what: &str) -> DatabaseError {
        let message = format!("column {column} holds no {what}");
        self.answer.failed(message)
    }
}

/// Values for the parameters of a call.
macro_rules! values {
    ($($value:expr),* $(,)?) => {
        [$($crate::value::Value::from($value)),*]
    };
}
pub(crate) use values;
