//! Values as characters: what CSV and JSON have in common.

use crate::format::general::{GeneralColumn, TextDecoder};
use crate::format::record::Field;
use crate::format::schema::ColumnType;

/// Name and kind of a column.
pub(super) struct Column {
    pub(super) name: String,
    /// Code page, of text.
    code_page: Option<u32>,
}

pub(super) fn columns_of(columns: &[&GeneralColumn]) -> Vec<Column> {
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
pub(super) enum Pieces {
    Hexadecimal,
    Text(TextDecoder),
}

impl Pieces {
    pub(super) fn of(column: &Column) -> Self {
        match column.code_page {
            Some(code_page) => Self::Text(TextDecoder::new(code_page)),
            None => Self::Hexadecimal,
        }
    }

    pub(super) fn push(&mut self, bytes: &[u8]) -> String {
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

    pub(super) fn finish(self) -> String {
        let mut text = String::new();
        if let Self::Text(decoder) = self {
            decoder.finish(&mut text);
        }
        text
    }
}

/// A value of fixed size, with whether JSON wants quotes around it.
pub(super) fn fixed(value: &Field<'static>) -> (String, bool) {
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
