//! One JSON object for each row.

use std::io::{self, Write};

use super::values::{Column, Pieces, columns_of, fixed};
use super::{RowEvent, Rows};
use crate::format::general::GeneralColumn;
use crate::format::record::Field;

/// Writes values as JSON, those of one column in an array if there are several.
pub(super) struct JsonValues {
    pieces: Option<Pieces>,
    /// Values still to come in an array.
    left: usize,
    in_array: bool,
}

impl JsonValues {
    pub(super) fn new() -> Self {
        Self {
            pieces: None,
            left: 0,
            in_array: false,
        }
    }

    pub(super) fn begin_array(&mut self, values: usize, out: &mut dyn Write) -> io::Result<()> {
        (self.left, self.in_array) = (values, true);
        out.write_all(b"[")?;
        if values == 0 {
            self.end_value(out)
        } else {
            Ok(())
        }
    }

    /// Whether the column is complete.
    pub(super) fn is_done(&self) -> bool {
        self.left == 0
    }

    fn end_value(&mut self, out: &mut dyn Write) -> io::Result<()> {
        if !self.in_array {
            return Ok(());
        }
        self.left = self.left.saturating_sub(1);
        if self.left > 0 {
            return out.write_all(b",");
        }
        self.in_array = false;
        out.write_all(b"]")
    }

    pub(super) fn fixed(&mut self, value: &Field<'static>, out: &mut dyn Write) -> io::Result<()> {
        let (text, quoted) = fixed(value);
        if quoted {
            write!(out, "\"{text}\"")?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        self.end_value(out)
    }

    pub(super) fn begin_bytes(&mut self, column: &Column, out: &mut dyn Write) -> io::Result<()> {
        self.pieces = Some(Pieces::of(column));
        out.write_all(b"\"")
    }

    pub(super) fn bytes(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let text = self.pieces.as_mut().map(|pieces| pieces.push(bytes));
        escape(&text.unwrap_or_default(), out)
    }

    pub(super) fn end_bytes(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let text = self.pieces.take().map(Pieces::finish);
        escape(&text.unwrap_or_default(), out)?;
        out.write_all(b"\"")?;
        self.end_value(out)
    }
}

/// Text within the quotes of JSON.
fn escape(text: &str, out: &mut dyn Write) -> io::Result<()> {
    if text.is_empty() {
        return Ok(());
    }
    let quoted = serde_json::to_string(text)?;
    out.write_all(&quoted.as_bytes()[1..quoted.len() - 1])
}

/// One JSON object for each row, each on a line of its own.
pub(super) struct JsonRows {
    columns: Vec<Column>,
    next: usize,
    values: JsonValues,
}

impl JsonRows {
    pub(super) fn new(columns: &[&GeneralColumn]) -> Self {
        Self {
            columns: columns_of(columns),
            next: 0,
            values: JsonValues::new(),
        }
    }

    fn begin_column(&mut self, out: &mut dyn Write) -> io::Result<()> {
        let separator = if self.next == 0 { "" } else { "," };
        let name = serde_json::to_string(&self.columns[self.next].name)?;
        self.next += 1;
        write!(out, "{separator}{name}:")
    }
}

impl Rows for JsonRows {
    fn begin(&mut self, _: &mut dyn Write) -> io::Result<()> {
        Ok(())
    }

    fn take(&mut self, event: RowEvent<'_>, out: &mut dyn Write) -> io::Result<()> {
        match event {
            RowEvent::BeginRow => {
                self.next = 0;
                out.write_all(b"{")
            }
            RowEvent::Null => {
                self.begin_column(out)?;
                out.write_all(b"null")
            }
            RowEvent::One => self.begin_column(out),
            RowEvent::Many(values) => {
                self.begin_column(out)?;
                self.values.begin_array(values, out)
            }
            RowEvent::Fixed(value) => self.values.fixed(&value, out),
            RowEvent::BeginBytes => self.values.begin_bytes(&self.columns[self.next - 1], out),
            RowEvent::Bytes(bytes) => self.values.bytes(bytes, out),
            RowEvent::EndBytes => self.values.end_bytes(out),
            RowEvent::EndRow => out.write_all(b"}\n"),
        }
    }
}
