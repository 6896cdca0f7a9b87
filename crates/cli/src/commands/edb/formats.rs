//! Rows as CSV and as JSON Lines.
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

use std::io::{self, Write};

use edb::dump::RowEvent;
use edb::format::general::{GeneralColumn, TextDecoder};
use edb::format::record::Field;
use edb::format::schema::ColumnType;

/// A way to write rows.
pub(super) trait RowFormat {
    /// Writes what comes before the first row.
    fn begin(&mut self, out: &mut dyn Write) -> io::Result<()>;
    /// Writes the next part of a row.
    fn take(&mut self, event: RowEvent<'_>, out: &mut dyn Write) -> io::Result<()>;
}

/// Name and kind of a column.
struct Column {
    name: String,
    /// Code page, of text.
    code_page: Option<u32>,
}

fn columns_of(columns: &[&GeneralColumn]) -> Vec<Column> {
    let column = |column: &&GeneralColumn| Column {
        name: column.name.clone(),
        code_page: column
            .column_type()
            .is_some_and(ColumnType::is_text)
            .then_some(column.code_page),
    };
    columns.iter().map(column).collect()
}

/// Turns the pieces of a value of bytes or text into characters.
enum Pieces {
    Hexadecimal,
    Text(TextDecoder),
}

impl Pieces {
    fn of(column: &Column) -> Self {
        match column.code_page {
            Some(code_page) => Self::Text(TextDecoder::new(code_page)),
            None => Self::Hexadecimal,
        }
    }

    fn push(&mut self, bytes: &[u8]) -> String {
        let mut text = String::new();
        match self {
            Self::Hexadecimal => {
                text.reserve(2 * bytes.len());
                for byte in bytes {
                    for digit in [byte >> 4, byte & 0xF] {
                        text.push(char::from(b"0123456789abcdef"[usize::from(digit)]));
                    }
                }
            }
            Self::Text(decoder) => decoder.push(bytes, &mut text),
        }
        text
    }

    fn finish(self) -> String {
        let mut text = String::new();
        if let Self::Text(decoder) = self {
            decoder.finish(&mut text);
        }
        text
    }
}

/// A value of fixed size, with whether JSON wants quotes around it.
fn fixed(value: &Field<'static>) -> (String, bool) {
    let float = |value: f64, text: String| (text, !value.is_finite());
    match value {
        Field::Bit(value) => (value.to_string(), false),
        Field::UnsignedByte(value) => (value.to_string(), false),
        Field::Short(value) => (value.to_string(), false),
        Field::UnsignedShort(value) => (value.to_string(), false),
        Field::Long(value) => (value.to_string(), false),
        Field::UnsignedLong(value) => (value.to_string(), false),
        Field::LongLong(value) => (value.to_string(), false),
        Field::Float32(value) => float(f64::from(*value), value.to_string()),
        Field::Float64(value) => float(*value, value.to_string()),
        Field::DateTime(value) => (value.to_string(), false),
        Field::Guid(bytes) => (guid(bytes), true),
        Field::Null | Field::Bytes(_) | Field::LongValue(_) => (String::new(), true),
    }
}

/// The first three parts are little-endian numbers.
fn guid(bytes: &[u8; 16]) -> String {
    const ORDER: [usize; 16] = [3, 2, 1, 0, 5, 4, 7, 6, 8, 9, 10, 11, 12, 13, 14, 15];
    let mut text = String::new();
    for (place, &index) in ORDER.iter().enumerate() {
        if matches!(place, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{:02x}", bytes[index]));
    }
    text
}

/// Writes values as JSON, those of one column in an array if there are several.
struct JsonValues {
    pieces: Option<Pieces>,
    /// Values still to come in an array.
    left: usize,
    in_array: bool,
}

impl JsonValues {
    fn new() -> Self {
        Self {
            pieces: None,
            left: 0,
            in_array: false,
        }
    }

    fn begin_array(&mut self, values: usize, out: &mut dyn Write) -> io::Result<()> {
        (self.left, self.in_array) = (values, true);
        out.write_all(b"[")?;
        if values == 0 {
            self.end_value(out)
        } else {
            Ok(())
        }
    }

    /// Whether the column is complete.
    fn is_done(&self) -> bool {
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

    fn fixed(&mut self, value: &Field<'static>, out: &mut dyn Write) -> io::Result<()> {
        let (text, quoted) = fixed(value);
        if quoted {
            write!(out, "\"{text}\"")?;
        } else {
            out.write_all(text.as_bytes())?;
        }
        self.end_value(out)
    }

    fn begin_bytes(&mut self, column: &Column, out: &mut dyn Write) -> io::Result<()> {
        self.pieces = Some(Pieces::of(column));
        out.write_all(b"\"")
    }

    fn bytes(&mut self, bytes: &[u8], out: &mut dyn Write) -> io::Result<()> {
        let text = self.pieces.as_mut().map(|pieces| pieces.push(bytes));
        escape(&text.unwrap_or_default(), out)
    }

    fn end_bytes(&mut self, out: &mut dyn Write) -> io::Result<()> {
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

impl RowFormat for JsonRows {
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

impl RowFormat for CsvRows {
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
