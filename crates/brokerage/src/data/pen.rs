//! Writes rows into a sink, with one place in memory for all texts that are put together.

use crate::error::DatabaseError;
use crate::row::RowSink;

/// A sink, and the text that is being put together.
pub(super) struct Pen<'a> {
    sink: &'a mut dyn RowSink,
    text: String,
}

impl<'a> Pen<'a> {
    /// A pen for a sink.
    pub fn new(sink: &'a mut dyn RowSink) -> Self {
        let text = String::with_capacity(256);
        Self { sink, text }
    }

    /// The next column holds nothing.
    pub fn null(&mut self) {
        self.sink.null();
    }

    /// The next column holds a number.
    pub fn number(&mut self, number: i64) {
        self.sink.integer(number);
    }

    /// The next columns hold numbers.
    pub fn numbers(&mut self, numbers: &[i64]) {
        numbers.iter().for_each(|&one| self.sink.integer(one));
    }

    /// The next column holds a text.
    pub fn text(&mut self, text: &str) {
        self.sink.text(text);
    }

    /// The next column holds a text that is put together now.
    pub fn compose(&mut self, put: impl FnOnce(&mut String)) {
        self.text.clear();
        put(&mut self.text);
        self.sink.text(&self.text);
    }

    /// The row is complete.
    pub fn end(&mut self) -> Result<(), DatabaseError> {
        self.sink.end_row()
    }
}
