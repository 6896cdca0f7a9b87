//! A line for each row, below the names of the columns.

use std::io::{self, Write};

use super::json::JsonValues;
use super::values::{Column, Pieces, columns_of, fixed};
use super::{RowEvent, Rows};
use crate::format::general::GeneralColumn;

/// A line with the names of the columns and one for each row, by RFC 4180 but for the ends of lines.
pub(super) struct CsvRows {
    columns: Vec<Column>,
    next: usize,
    pieces: Option<Pieces>,
    /// Whether a value of bytes has none so far.
    is_empty: bool,
    /// The array of a column with several values, until it is complete.
    array: Option<(JsonValues, Vec<u8>)>,
}

impl CsvRows {
    pub(super) fn new(columns: &[&GeneralColumn]) -> Self {
        Self {
            columns: columns_of(columns),
            next: 0,
            pieces: None,
            is_empty: true,
            array: None,
        }
    }

    fn begin_column(&mut self, out: &mut dyn Write) -> io::Result<()> {
        self.next += 1;
        if self.next > 1 {
            out.write_all(b",")?;
        }
        Ok(())
    }

    /// Puts a part of an array where it is collected.
    fn take_of_array(&mut self, event: &RowEvent<'_>, out: &mut dyn Write) -> io::Result<()> {
        let Some((values, text)) = &mut self.array else {
            return Ok(());
        };
        match event {
            RowEvent::Fixed(value) => values.fixed(value, text)?,
            RowEvent::BeginBytes => values.begin_bytes(&self.columns[self.next - 1], text)?,
            RowEvent::Bytes(bytes) => values.bytes(bytes, text)?,
            RowEvent::EndBytes => values.end_bytes(text)?,
            _ => {}
        }
        if values.is_done()
            && let Some((_, text)) = self.array.take()
        {
            quoted(&String::from_utf8_lossy(&text), out)?;
        }
        Ok(())
    }
}

impl Rows for CsvRows {
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()> {
        for (place, column) in self.columns.iter().enumerate() {
            if place > 0 {
                out.write_all(b",")?;
            }
            if needs_quotes(&column.name) {
                quoted(&column.name, out)?;
            } else {
                out.write_all(column.name.as_bytes())?;
            }
        }
        out.write_all(b"\n")
    }

    fn take(&mut self, event: RowEvent<'_>, out: &mut dyn Write) -> io::Result<()> {
        if self.array.is_some() {
            return self.take_of_array(&event, out);
        }
        match event {
            RowEvent::BeginRow => {
                self.next = 0;
                Ok(())
            }
            RowEvent::Null | RowEvent::One => self.begin_column(out),
            RowEvent::Many(values) => {
                self.begin_column(out)?;
                let (mut array, mut text) = (JsonValues::new(), Vec::new());
                array.begin_array(values, &mut text)?;
                if array.is_done() {
                    return quoted(&String::from_utf8_lossy(&text), out);
                }
                self.array = Some((array, text));
                Ok(())
            }
            RowEvent::Fixed(value) => out.write_all(fixed(&value).0.as_bytes()),
            RowEvent::BeginBytes => {
                let pieces = Pieces::of(&self.columns[self.next - 1]);
                self.is_empty = true;
                // Around every text: what the rest of a long one holds is not known yet.
                if matches!(pieces, Pieces::Text(_)) {
                    out.write_all(b"\"")?;
                }
                self.pieces = Some(pieces);
                Ok(())
            }
            RowEvent::Bytes(bytes) => {
                self.is_empty &= bytes.is_empty();
                let text = self.pieces.as_mut().map(|pieces| pieces.push(bytes));
                double_quotes(&text.unwrap_or_default(), out)
            }
            RowEvent::EndBytes => match self.pieces.take() {
                Some(pieces @ Pieces::Text(_)) => {
                    double_quotes(&pieces.finish(), out)?;
                    out.write_all(b"\"")
                }
                _ if self.is_empty => out.write_all(b"\"\""),
                _ => Ok(()),
            },
            RowEvent::EndRow => out.write_all(b"\n"),
        }
    }
}

fn needs_quotes(text: &str) -> bool {
    text.is_empty() || text.contains([',', '"', '\n', '\r'])
}

fn quoted(text: &str, out: &mut dyn Write) -> io::Result<()> {
    out.write_all(b"\"")?;
    double_quotes(text, out)?;
    out.write_all(b"\"")
}

fn double_quotes(text: &str, out: &mut dyn Write) -> io::Result<()> {
    for (place, part) in text.split('"').enumerate() {
        if place > 0 {
            out.write_all(b"\"\"")?;
        }
        out.write_all(part.as_bytes())?;
    }
    Ok(())
}
