//! A transaction on its way: batches of calls, and their answers.

use crate::error::DatabaseError;
use crate::row::{self, Rows};
use crate::session::{Call, Isolation, Session, Then};
use crate::statement::Statement;
use crate::value::Value;

/// A transaction that is open. Dropped before its end, it is rolled back.
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

    /// Carries a batch out; the transaction goes on.
    pub(crate) async fn run(&mut self, batch: Batch) -> Result<Answers<'_>, DatabaseError> {
        self.carry_out(batch, Then::GoOn).await
    }

    /// Carries the last batch out and commits with it.
    pub(crate) async fn commit(&mut self, batch: Batch) -> Result<Answers<'_>, DatabaseError> {
        self.carry_out(batch, Then::Commit).await
    }

    async fn carry_out(&mut self, batch: Batch, then: Then) -> Result<Answers<'_>, DatabaseError> {
        assert!(self.is_open, "a transaction ends once");
        // After a commit, and after an error, the session has closed the transaction itself.
        self.is_open = false;
        let answers = self.session.run(&batch.calls, then).await?;
        self.is_open = then == Then::GoOn;
        Ok(Answers::new(batch, answers))
    }

    /// Rolls back on purpose.
    pub(crate) async fn roll_back(mut self) -> Result<(), DatabaseError> {
        self.is_open = false;
        self.session.rollback().await
    }
}

impl Drop for Transaction<'_> {
    fn drop(&mut self) {
        if self.is_open {
            // What led here is the error that counts; a server that is gone has rolled back.
            self.session.abandon();
        }
    }
}

/// Calls that go together.
#[derive(Debug, Default)]
pub(crate) struct Batch {
    calls: Vec<Call>,
}

impl Batch {
    pub(crate) fn new() -> Self {
        Self::default()
    }

    /// Adds a call; the number under which its answer will be found.
    pub(crate) fn add<const N: usize>(
        &mut self,
        statement: &'static Statement,
        parameters: [Value; N],
    ) -> usize {
        self.add_all(statement, Vec::from(parameters))
    }

    /// The same, with any number of parameters.
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

/// One batch in a transaction of its own.
pub(crate) async fn ask(
    session: &mut dyn Session,
    isolation: Isolation,
    batch: Batch,
) -> Result<Answers<'_>, DatabaseError> {
    session.begin(isolation)?;
    let answers = session.run(&batch.calls, Then::Commit).await?;
    Ok(Answers::new(batch, answers))
}

/// The answers to a batch.
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

    /// The answer to the call of this number.
    pub(crate) fn of(&self, call: usize) -> Answer<'a> {
        Answer {
            statement: self.batch.calls[call].statement.name,
            rows: self.answers.of(call),
        }
    }
}

/// The answer to one call.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Answer<'a> {
    statement: &'static str,
    rows: Rows<'a>,
}

impl<'a> Answer<'a> {
    pub(crate) fn count(self) -> usize {
        self.rows.count()
    }

    /// Rows that a change has touched.
    pub(crate) fn changed(self) -> u64 {
        self.rows.changed
    }

    /// The only row.
    pub(crate) fn one(self) -> Result<Row<'a>, DatabaseError> {
        let row = self.first()?;
        if self.count() > 1 {
            return Err(self.failed(format!("{} rows came, one was to", self.count())));
        }
        Ok(row)
    }

    /// The first row.
    pub(crate) fn first(self) -> Result<Row<'a>, DatabaseError> {
        self.find()
            .ok_or_else(|| self.failed("no row came, one was to".to_owned()))
    }

    /// The first row, if there is any.
    pub(crate) fn find(self) -> Option<Row<'a>> {
        self.all().next()
    }

    /// Every row.
    pub(crate) fn all(self) -> impl Iterator<Item = Row<'a>> {
        (0..self.count()).map(move |row| Row { answer: self, row })
    }

    /// Something of every row.
    pub(crate) fn collect<T>(
        self,
        each: impl Fn(Row<'a>) -> Result<T, DatabaseError>,
    ) -> Result<Vec<T>, DatabaseError> {
        // Room is taken once: an iterator of results would not say how many there are.
        let mut collected = Vec::with_capacity(self.count());
        for row in self.all() {
            collected.push(each(row)?);
        }
        Ok(collected)
    }

    pub(crate) fn failed(self, message: String) -> DatabaseError {
        DatabaseError::Failed {
            statement: self.statement.to_owned(),
            message,
        }
    }
}

/// A row of an answer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Row<'a> {
    answer: Answer<'a>,
    /// Its number.
    row: usize,
}

impl<'a> Row<'a> {
    /// The number in a column, counted from 0.
    pub(crate) fn integer(self, column: usize) -> Result<i64, DatabaseError> {
        let number = self.find_integer(column)?;
        number.ok_or_else(|| self.holds(column, "number"))
    }

    /// The number in a column that may hold nothing.
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

    /// The text in a column, as long as the answers stand.
    pub(crate) fn str(self, column: usize) -> Result<&'a str, DatabaseError> {
        let text = self.find_str(column)?;
        text.ok_or_else(|| self.holds(column, "text"))
    }

    /// The text in a column that may hold nothing, as long as the answers stand.
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
