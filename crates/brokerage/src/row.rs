//! Rows on their way into tables, and result sets.

/// Takes rows column by column, in the order of the table's columns, without allocating per row.
/// Implemented by a COPY stream, a bulk insert and a checksum.
pub trait RowSink {
    /// Appends NULL as the next column.
    fn null(&mut self);
    /// Appends an integer column.
    fn integer(&mut self, number: i64);
    /// Appends a text column.
    fn text(&mut self, text: &str);
    /// Ends the row.
    ///
    /// # Errors
    /// The row was not taken; nothing more may be appended.
    fn end_row(&mut self) -> Result<(), crate::error::DatabaseError>;
}

/// A column of a result row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Cell {
    Null,
    Integer(i64),
    /// A range of the text buffer.
    Text {
        from: usize,
        length: u32,
    },
}

/// The result sets of a batch of calls, in a few buffers that the session reuses for the next
/// batch: rows take no memory of their own.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Answers {
    calls: Vec<Extent>,
    cells: Vec<Cell>,
    texts: String,
}

/// Location of a call's result set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Extent {
    first_cell: usize,
    columns: usize,
    changed: u64,
}

impl Answers {
    /// Removes all result sets.
    pub fn clear(&mut self) {
        self.calls.clear();
        self.cells.clear();
        self.texts.clear();
    }

    /// Begins the result set of the next call, with this many columns per row.
    pub fn begin(&mut self, columns: usize) {
        self.calls.push(Extent {
            first_cell: self.cells.len(),
            columns,
            changed: 0,
        });
    }

    /// Appends NULL as the next column.
    pub fn null(&mut self) {
        self.cells.push(Cell::Null);
    }

    /// Appends an integer column.
    pub fn integer(&mut self, number: i64) {
        self.cells.push(Cell::Integer(number));
    }

    /// Appends a text column.
    ///
    /// # Panics
    /// The text is longer than 4 GiB.
    pub fn text(&mut self, text: &str) {
        let Ok(length) = u32::try_from(text.len()) else {
            panic!("no column holds a text of more than 4 GiB");
        };
        let from = self.texts.len();
        self.texts.push_str(text);
        self.cells.push(Cell::Text { from, length });
    }

    /// Sets the number of rows changed by the last call.
    pub fn changed(&mut self, rows: u64) {
        if let Some(last) = self.calls.last_mut() {
            last.changed = rows;
        }
    }

    /// Number of calls answered.
    #[must_use]
    pub fn count(&self) -> usize {
        self.calls.len()
    }

    /// The result set of a call, counted from 0.
    ///
    /// # Panics
    /// There is no such call.
    #[must_use]
    pub fn of(&self, call: usize) -> Rows<'_> {
        let extent = self.calls[call];
        let next = self.calls.get(call + 1);
        let end = next.map_or(self.cells.len(), |next| next.first_cell);
        Rows {
            cells: &self.cells[extent.first_cell..end],
            columns: extent.columns,
            texts: &self.texts,
            changed: extent.changed,
        }
    }
}

/// The result set of one call.
#[derive(Debug, Clone, Copy)]
pub struct Rows<'a> {
    /// Row by row, each with all of its columns.
    cells: &'a [Cell],
    columns: usize,
    texts: &'a str,
    /// Rows affected by a change; 0 for a query.
    pub changed: u64,
}

impl<'a> Rows<'a> {
    fn cell(self, row: usize, column: usize) -> Option<Cell> {
        let is_there = column < self.columns;
        let at = is_there.then(|| row * self.columns + column)?;
        self.cells.get(at).copied()
    }

    /// The integer in a column of a row, both counted from 0; `None` where there is no such row, or
    /// no integer.
    #[must_use]
    pub fn integer(self, row: usize, column: usize) -> Option<i64> {
        match self.cell(row, column)? {
            Cell::Integer(number) => Some(number),
            Cell::Null | Cell::Text { .. } => None,
        }
    }

    /// The text in a column of a row, both counted from 0; `None` where there is no such row, or no
    /// text.
    #[must_use]
    pub fn text(self, row: usize, column: usize) -> Option<&'a str> {
        match self.cell(row, column)? {
            Cell::Text { from, length } => self.texts.get(from..from + length as usize),
            Cell::Null | Cell::Integer(_) => None,
        }
    }

    /// Whether a column of a row, both counted from 0, exists and is NULL.
    #[must_use]
    pub fn is_null(self, row: usize, column: usize) -> bool {
        self.cell(row, column) == Some(Cell::Null)
    }

    /// Number of columns per row.
    #[must_use]
    pub fn columns(self) -> usize {
        self.columns
    }

    /// Number of rows in the result set.
    #[must_use]
    pub fn count(self) -> usize {
        self.cells.len().checked_div(self.columns).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_answer_has_its_own_rows() {
        let mut answers = Answers::default();
        for _ in 0..2 {
            answers.clear();
            answers.begin(2);
            answers.integer(7);
            answers.text("seven");
            answers.null();
            answers.text("");
            answers.begin(0);
            answers.changed(3);
            answers.begin(1);
            answers.begin(1);
            answers.text("last");
        }
        let [first, change, none, last] = [0, 1, 2, 3].map(|call| answers.of(call));
        assert_eq!(answers.count(), 4);
        assert_eq!([first, change, none, last].map(Rows::count), [2, 0, 0, 1]);
        assert_eq!((first.integer(0, 0), first.text(0, 0)), (Some(7), None));
        assert_eq!(
            (first.text(0, 1), first.integer(0, 1)),
            (Some("seven"), None)
        );
        assert!(first.is_null(1, 0) && !first.is_null(1, 1) && !first.is_null(2, 0));
        assert_eq!((first.text(1, 1), first.text(0, 2)), (Some(""), None));
        assert_eq!((change.changed, first.changed), (3, 0));
        assert_eq!((none.text(0, 0), last.text(0, 0)), (None, Some("last")));
    }
}
