//! Writes rows into a sink, with one buffer for composed texts.

use crate::error::DatabaseError;
use crate::row::RowSink;

/// A sink, and the text that is being composed.
pub(super) struct RowWriter<'a> {
    sink: &'a mut dyn RowSink,
    text: String,
}

impl<'a> RowWriter<'a> {
    /// A writer into a sink.
    pub fn new(sink: &'a mut dyn RowSink) -> Self {
        let text = String::with_capacity(256);
        Self { sink, text }
    }

    /// Appends a column that is NULL.
    pub fn null(&mut self) {
        self.sink.null();
    }

    /// Appends an integer column.
    pub fn number(&mut self, number: i64) {
        self.sink.integer(number);
    }

    /// Appends an integer column for each number.
    pub fn numbers(&mut self, numbers: &[i64]) {
        numbers.iter().for_each(|&one| self.sink.integer(one));
    }

    /// Appends a text column.
    pub fn text(&mut self, text: &str) {
        self.sink.text(text);
    }

    /// Appends a text column that `put` composes.
    pub fn compose(&mut self, put: impl FnOnce(&mut String)) {
        self.text.clear();
        put(&mut self.text);
        self.sink.text(&self.text);
    }

    /// Ends the row; all its columns have been appended.
    pub fn end(&mut self) -> Result<(), DatabaseError> {
        self.sink.end_row()
    }
}
