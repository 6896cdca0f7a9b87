//! Rows on their way into the tables and out of answers.

use crate::value::Value;

/// Takes rows column by column, in the order of the table's columns, so that millions of them need
/// no memory of their own. What stands behind it is a COPY stream, a bulk insert or a checksum.
pub trait RowSink {
    /// The next column holds nothing.
    fn null(&mut self);
    /// The next column holds a number.
    fn integer(&mut self, number: i64);
    /// The next column holds a text.
    fn text(&mut self, text: &str);
    /// The row is complete.
    ///
    /// # Errors
    /// What the sink stands for did not take it; nothing more may follow.
    fn end_row(&mut self) -> Result<(), crate::error::DatabaseError>;
}

/// The rows that one call has answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rows {
    /// Row by row, each with all of its columns.
    pub rows: Vec<Vec<Value>>,
    /// Rows that a change has touched; 0 for a question.
    pub changed: u64,
}

impl Rows {
    /// The number in a column of a row, both counted from 0; `None` where there is no such row, or
    /// no number there.
    #[must_use]
    pub fn integer(&self, row: usize, column: usize) -> Option<i64> {
        self.rows.get(row)?.get(column)?.as_integer()
    }

    /// The text in a column of a row, both counted from 0; `None` where there is no such row, or no
    /// text there.
    #[must_use]
    pub fn text(&self, row: usize, column: usize) -> Option<&str> {
        self.rows.get(row)?.get(column)?.as_text()
    }

    /// How many rows came.
    #[must_use]
    pub fn count(&self) -> usize {
        self.rows.len()
    }
}
