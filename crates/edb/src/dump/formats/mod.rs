//! Rows as CSV and as JSON Lines: [`DatabaseReader::write_rows`].
//!
//! | value | CSV | JSON |
//! |---|---|---|
//! | NULL | nothing | `null` |
//! | bytes | hexadecimal digits; `""` if there are none | string of hexadecimal digits |
//! | text | in quotes | string |
//! | GUID | 8-4-4-4-12 hexadecimal digits | the same, a string |
//! | date | the eight bytes as a number: their meaning is the application's | the same |
//! | several values | the JSON array of them | array |
//!
//! A value is written as its pieces come, so that a long one needs no memory.

mod csv;
mod json;
mod values;

#[cfg(test)]
mod tests;

use std::io::{self, Write};

use config::choice;
use runtime::File;

use self::csv::CsvRows;
use self::json::JsonRows;
use super::{DatabaseReader, ReadError, RowCount, RowEvent};
use crate::format::general::{GeneralColumn, GeneralTable};

choice! {
    /// How rows are written.
    pub enum RowFormat {
        /// A line with the names of the columns, then one for each row.
        Csv = "csv",
        /// A JSON object for each row, on a line of its own.
        JsonLines = "json-lines",
    }
}

impl RowFormat {
    fn of_columns(self, columns: &[&GeneralColumn]) -> Box<dyn Rows> {
        match self {
            Self::Csv => Box::new(CsvRows::new(columns)),
            Self::JsonLines => Box::new(JsonRows::new(columns)),
        }
    }
}

/// Writes rows in one of the formats.
trait Rows {
    /// Writes what comes before the first row.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes the next part of a row.
    fn take(&mut self, event: RowEvent<'_>, out: &mut dyn Write) -> io::Result<()>;
}

impl<F: File> DatabaseReader<F> {
    /// Writes the rows of a table in key order and flushes `out`, also where the rows end at a damaged
    /// one.
    ///
    /// # Errors
    /// If a part of the table is damaged, or `out` cannot be written.
    pub async fn write_rows(
        &self,
        table: &GeneralTable,
        format: RowFormat,
        out: &mut dyn Write,
    ) -> Result<RowCount, ReadError> {
        let mut rows = format.of_columns(&Self::columns(table));
        rows.begin(out).map_err(ReadError::Output)?;
        let written = self
            .rows(table, &mut |event| rows.take(event, &mut *out))
            .await;
        out.flush().map_err(ReadError::Output)?;
        written
    }
}
