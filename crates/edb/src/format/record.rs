//! Records: one row's column values as the data of a leaf node.
//!
//! Fixed columns, a NULL bit map, end offsets and data of the variable columns, then the tagged
//! columns that have a value. Each tagged value has a flag byte first: on large pages always, on
//! small ones because its offset says so.
//!
//! For the sake of readers: a NULL in a fixed column is stored as zero bytes, tagged NULLs are left
//! out, and trailing NULL columns of each kind are cut off.

use super::page::is_small;
use super::schema::{ColumnDefinition, ColumnStorage, ColumnType};

/// One column's value, with its bytes borrowed from a page or a row.
pub type Field<'a> = Cell<&'a [u8]>;

/// One column's value; `B` is how binary and text are held.
#[derive(Debug, Clone, Copy, PartialEq)]
#[allow(missing_docs)] // The names are those of `ColumnType`.
pub enum Cell<B> {
    Null,
    Bit(bool),
    UnsignedByte(u8),
    Short(i16),
    UnsignedShort(u16),
    Long(i32),
    UnsignedLong(u32),
    /// Also of type Currency.
    LongLong(i64),
    Float32(f32),
    Float64(f64),
    /// Eight bytes whose meaning is the application's.
    DateTime(u64),
    Guid([u8; 16]),
    /// Binary and text of every kind; text is in the column's code page.
    Bytes(B),
    /// A long value outside the record: its id in the long value tree. In a row, it was not
    /// fetched; given back in a replacement, it stays as it is.
    LongValue(u32),
}

impl<B> Cell<B> {
    /// The same value with its bytes held in another way.
    pub(crate) fn with_bytes<'a, C>(&'a self, hold: impl FnOnce(&'a B) -> C) -> Cell<C> {
        match self {
            Self::Null => Cell::Null,
            Self::Bit(value) => Cell::Bit(*value),
            Self::UnsignedByte(value) => Cell::UnsignedByte(*value),
            Self::Short(value) => Cell::Short(*value),
            Self::UnsignedShort(value) => Cell::UnsignedShort(*value),
            Self::Long(value) => Cell::Long(*value),
            Self::UnsignedLong(value) => Cell::UnsignedLong(*value),
            Self::LongLong(value) => Cell::LongLong(*value),
            Self::Float32(value) => Cell::Float32(*value),
            Self::Float64(value) => Cell::Float64(*value),
            Self::DateTime(value) => Cell::DateTime(*value),
            Self::Guid(value) => Cell::Guid(*value),
            Self::Bytes(value) => Cell::Bytes(hold(value)),
            Self::LongValue(id) => Cell::LongValue(*id),
        }
    }
}

/// What is wrong with values or a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// Not one value per column.
    #[error("{given} values for a table of {columns} columns")]
    Count {
        /// Number of values given.
        given: usize,
        /// Number of columns of the table.
        columns: usize,
    },
    /// A value of another type than its column, or too long for it.
    #[error("the value of column {column} is not of its type or too long")]
    Type {
        /// Name of the column.
        column: String,
    },
    /// The bytes are no record of this table.
    #[error("the record's {part} are damaged")]
    Damaged {
        /// The part of the record, in the plural: it completes the message.
        part: &'static str,
    },
}

const NO_VARIABLE: u8 = 127;
const HEAD_BYTES: usize = 4;
/// The longest value of a variable column.
const MAX_VARIABLE_BYTES: usize = 255;
pub(super) const NULL_BIT: u16 = 0x8000;

const TAG_LONG: u8 = 0x01;
pub(super) const TAG_SEPARATED: u8 = 0x04;
/// In the offset of a tagged value on small pages: it has a flag byte.
const HAS_FLAG_BYTE: u16 = 0x4000;

#[derive(Debug, Clone)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) column_type: ColumnType,
    pub(super) storage: ColumnStorage,
    pub(super) id: u16,
    /// Of fixed columns: where in the record.
    pub(super) offset: usize,
}

/// How the records of one table are laid out.
#[derive(Debug, Clone)]
pub struct RecordLayout {
    pub(super) columns: Vec<Column>,
    pub(super) fixed: usize,
    pub(super) variable: usize,
    pub(super) small_pages: bool,
}

impl RecordLayout {
    /// Layout for these columns, in id order, on pages of this size.
    ///
    /// # Panics
    /// If the ids of a kind have holes or are out of order.
    #[must_use]
    pub fn new(definitions: &[ColumnDefinition], page_size_bytes: usize) -> Self {
        let (mut offset, mut fixed, mut variable) = (HEAD_BYTES, 0, 0);
        let mut columns: Vec<Column> = Vec::new();
        for definition in definitions {
            let storage = definition.storage();
            let expected = match columns.last() {
                Some(last) if last.storage == storage => last.id + 1,
                _ => storage.first_id(),
            };
            assert_eq!(definition.id, expected, "column ids must be dense");
            let name = definition.name.clone();
            let column_type = definition.column_type;
            columns.push(Column {
                name,
                column_type,
                storage,
                id: definition.id,
                offset,
            });
            match storage {
                ColumnStorage::Fixed => {
                    fixed += 1;
                    offset += column_type.fixed_bytes().unwrap_or(0);
                }
                ColumnStorage::Variable => variable += 1,
                ColumnStorage::Tagged => {}
            }
        }
        Self {
            columns,
            fixed,
            variable,
            small_pages: is_small(page_size_bytes),
        }
    }

    /// Columns of the table, which is also the number of values of a row.
    #[must_use]
    pub fn column_count(&self) -> usize {
        self.columns.len()
    }

    /// Where the fixed column at `position` lies in a record.
    #[must_use]
    pub fn fixed_offset(&self, position: usize) -> Option<usize> {
        let column = &self.columns[position];
        (column.storage == ColumnStorage::Fixed).then_some(column.offset)
    }

    /// Bytes of the record that holds these values, one per column.
    ///
    /// # Errors
    /// If a value does not fit its column.
    pub fn encoded_bytes(&self, fields: &[Field<'_>]) -> Result<usize, RecordError> {
        self.check(fields)?;
        let (fixed, variable, tagged) = self.present(fields);
        let bytes_of = |(column, field): (&Column, &Field<'_>)| value_bytes(column, field);
        let data: usize = self.columns[self.fixed..]
            .iter()
            .zip(&fields[self.fixed..])
            .map(bytes_of)
            .sum();
        Ok(self.fixed_end(fixed) + 2 * variable + data + 5 * tagged)
    }

    /// Writes the record into `record`, which has exactly [`Self::encoded_bytes`] bytes.
    ///
    /// # Panics
    /// If the length is not that.
    pub fn encode_into(&self, fields: &[Field<'_>], record: &mut [u8]) {
        let (fixed, variable, tagged) = self.present(fields);
        let end = self.fixed_end(fixed);
        record[0] = fixed as u8;
        record[1] = NO_VARIABLE + variable as u8;
        record[2..4].copy_from_slice(&(end as u16).to_le_bytes());
        let null_map = end - fixed.div_ceil(8);
        record[null_map..end].fill(0);
        for (index, column) in self.columns[..fixed].iter().enumerate() {
            let size = column.column_type.fixed_bytes().unwrap_or(0);
            write_fixed(
                &fields[index],
                &mut record[column.offset..column.offset + size],
            );
            if fields[index] == Field::Null {
                record[null_map + index / 8] |= 1 << (index % 8);
            }
        }
        let mut at = end + 2 * variable;
        let variable_start = at;
        for index in 0..variable {
            let field = &fields[self.fixed + index];
            let mut stated = 0;
            if let Field::Bytes(bytes) = field {
                record[at..at + bytes.len()].copy_from_slice(bytes);
                at += bytes.len();
            } else {
                stated = NULL_BIT;
            }
            stated |= (at - variable_start) as u16;
            record[end + 2 * index..end + 2 * index + 2].copy_from_slice(&stated.to_le_bytes());
        }
        let written = self.encode_tagged(fields, tagged, &mut record[at..]);
        assert_eq!(at + written, record.len(), "the record has another size");
    }

    /// The record that holds these values, one per column.
    ///
    /// # Errors
    /// If a value does not fit its column.
    pub fn encode(&self, fields: &[Field<'_>]) -> Result<Vec<u8>, RecordError> {
        let mut record = vec![0; self.encoded_bytes(fields)?];
        self.encode_into(fields, &mut record);
        Ok(record)
    }

    fn encode_tagged(&self, fields: &[Field<'_>], tagged: usize, out: &mut [u8]) -> usize {
        let first = self.fixed + self.variable;
        let (mut entry, mut at) = (0, 4 * tagged);
        for (column, field) in self.columns[first..].iter().zip(&fields[first..]) {
            let flags = match field {
                Field::Null => continue,
                Field::LongValue(_) => TAG_LONG | TAG_SEPARATED,
                _ if column.column_type.is_long() => TAG_LONG,
                _ => 0,
            };
            out[entry..entry + 2].copy_from_slice(&column.id.to_le_bytes());
            let has_flag_byte = if self.small_pages { HAS_FLAG_BYTE } else { 0 };
            let offset = at as u16 | has_flag_byte;
            out[entry + 2..entry + 4].copy_from_slice(&offset.to_le_bytes());
            entry += 4;
            out[at] = flags;
            let end = at + 1 + value_bytes(column, field);
            match field {
                Field::Bytes(bytes) => out[at + 1..end].copy_from_slice(bytes),
                Field::LongValue(id) => out[at + 1..end].copy_from_slice(&id.to_le_bytes()),
                _ => write_fixed(field, &mut out[at + 1..end]),
            }
            at = end;
        }
        at
    }

    /// End of the fixed part when columns 1..=`fixed` are present.
    pub(super) fn fixed_end(&self, fixed: usize) -> usize {
        let last = self.columns[..fixed].last();
        let data_end = last.map_or(HEAD_BYTES, |column| {
            column.offset + column.column_type.fixed_bytes().unwrap_or(0)
        });
        data_end + fixed.div_ceil(8)
    }

    /// How many fixed and variable columns are written, and how many tagged ones have a value.
    fn present(&self, fields: &[Field<'_>]) -> (usize, usize, usize) {
        let has_value = |field: &Field<'_>| *field != Field::Null;
        let (fixed, rest) = fields.split_at(self.fixed);
        let (variable, tagged) = rest.split_at(self.variable);
        let last = |fields: &[Field<'_>]| fields.iter().rposition(has_value).map_or(0, |i| i + 1);
        (
            last(fixed),
            last(variable),
            tagged.iter().filter(|field| has_value(field)).count(),
        )
    }

    fn check(&self, fields: &[Field<'_>]) -> Result<(), RecordError> {
        if fields.len() != self.columns.len() {
            return Err(RecordError::Count {
                given: fields.len(),
                columns: self.columns.len(),
            });
        }
        for (column, field) in self.columns.iter().zip(fields) {
            if !fits(column, field) {
                return Err(RecordError::Type {
                    column: column.name.clone(),
                });
            }
        }
        Ok(())
    }
}

fn fits(column: &Column, field: &Field<'_>) -> bool {
    use ColumnType as T;
    match (column.column_type, field) {
        (_, Field::Null)
        | (T::Bit, Field::Bit(_))
        | (T::UnsignedByte, Field::UnsignedByte(_))
        | (T::Short, Field::Short(_))
        | (T::UnsignedShort, Field::UnsignedShort(_))
        | (T::Long, Field::Long(_))
        | (T::UnsignedLong, Field::UnsignedLong(_))
        | (T::LongLong | T::Currency, Field::LongLong(_))
        | (T::Float32, Field::Float32(_))
        | (T::Float64, Field::Float64(_))
        | (T::DateTime, Field::DateTime(_))
        | (T::Guid, Field::Guid(_))
        | (T::LongBinary | T::LongText, Field::LongValue(_)) => true,
        (T::Binary | T::Text, Field::Bytes(bytes)) => bytes.len() <= MAX_VARIABLE_BYTES,
        // Beyond this a value could not be named by the 15-bit offsets of the tagged array.
        (T::LongBinary | T::LongText, Field::Bytes(bytes)) => bytes.len() <= 0x7F00,
        _ => false,
    }
}

/// Bytes of a variable or tagged value, without flag byte.
fn value_bytes(column: &Column, field: &Field<'_>) -> usize {
    match field {
        Field::Null => 0,
        Field::Bytes(bytes) => bytes.len(),
        Field::LongValue(_) => 4,
        _ => column.column_type.fixed_bytes().unwrap_or(0),
    }
}

fn write_fixed(field: &Field<'_>, out: &mut [u8]) {
    match *field {
        Field::Null => out.fill(0),
        Field::Bit(value) => out.fill(if value { 0xFF } else { 0 }),
        Field::UnsignedByte(value) => out.fill(value),
        Field::Short(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::UnsignedShort(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::Long(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::UnsignedLong(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::LongLong(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::Float32(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::Float64(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::DateTime(value) => out.copy_from_slice(&value.to_le_bytes()),
        Field::Guid(value) => out.copy_from_slice(&value),
        Field::Bytes(_) | Field::LongValue(_) => unreachable!("checked against the column type"),
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
