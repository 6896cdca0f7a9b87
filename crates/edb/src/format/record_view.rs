//! Reading single columns out of the bytes of a record.

use super::record::{Column, Field, NULL_BIT, RecordError, RecordLayout, TAG_SEPARATED};
use super::schema::{ColumnStorage, ColumnType};

const FIRST_VARIABLE: usize = 128;
const TAG_COMPRESSED: u8 = 0x02;
const TAG_MULTIPLE: u8 = 0x18;
const TAG_NULL: u8 = 0x20;

/// The value of a type with a fixed size; `None` if the type or the number of bytes is another.
pub(crate) fn read_fixed(column_type: ColumnType, bytes: &[u8]) -> Option<Field<'static>> {
    use ColumnType as T;
    Some(match column_type {
        T::Bit => Field::Bit(*bytes.first()? != 0),
        T::UnsignedByte => Field::UnsignedByte(*bytes.first()?),
        T::Short => Field::Short(i16::from_le_bytes(bytes.try_into().ok()?)),
        T::UnsignedShort => Field::UnsignedShort(u16::from_le_bytes(bytes.try_into().ok()?)),
        T::Long => Field::Long(i32::from_le_bytes(bytes.try_into().ok()?)),
        T::UnsignedLong => Field::UnsignedLong(u32::from_le_bytes(bytes.try_into().ok()?)),
        T::LongLong | T::Currency => Field::LongLong(i64::from_le_bytes(bytes.try_into().ok()?)),
        T::Float32 => Field::Float32(f32::from_le_bytes(bytes.try_into().ok()?)),
        T::Float64 => Field::Float64(f64::from_le_bytes(bytes.try_into().ok()?)),
        T::DateTime => Field::DateTime(u64::from_le_bytes(bytes.try_into().ok()?)),
        T::Guid => Field::Guid(bytes.try_into().ok()?),
        T::Binary | T::Text | T::LongBinary | T::LongText => return None,
    })
}

/// A record to read.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'l, 'r> {
    layout: &'l RecordLayout,
    record: &'r [u8],
    fixed: usize,
    variable: usize,
    fixed_end: usize,
    tagged_start: usize,
}

fn u16_at(bytes: &[u8], at: usize) -> Option<usize> {
    Some(usize::from(u16::from_le_bytes([
        *bytes.get(at)?,
        *bytes.get(at + 1)?,
    ])))
}

impl<'l, 'r> RecordView<'l, 'r> {
    pub(super) fn new(layout: &'l RecordLayout, record: &'r [u8]) -> Result<Self, RecordError> {
        let head = || {
            let fixed = usize::from(*record.first()?);
            let variable = usize::from(*record.get(1)?).checked_sub(FIRST_VARIABLE - 1)?;
            let fixed_end = u16_at(record, 2)?;
            let known = fixed <= layout.fixed && variable <= layout.variable;
            (known && fixed_end == layout.fixed_end(fixed)).then_some((fixed, variable, fixed_end))
        };
        let damaged = |part| RecordError::Damaged { part };
        let (fixed, variable, fixed_end) = head().ok_or_else(|| damaged("fixed columns"))?;
        let data = fixed_end + 2 * variable;
        let mut before = 0;
        for index in 0..variable {
            let stated = u16_at(record, fixed_end + 2 * index);
            let end = stated.ok_or_else(|| damaged("variable columns"))? & 0x7FFF;
            if end < before {
                return Err(damaged("variable columns"));
            }
            before = end;
        }
        let tagged_start = data + before;
        if tagged_start > record.len() {
            return Err(damaged("variable columns"));
        }
        Ok(Self {
            layout,
            record,
            fixed,
            variable,
            fixed_end,
            tagged_start,
        })
    }

    /// Value of the column at `position` of the table's columns.
    ///
    /// # Errors
    /// If the record is damaged, or the value has a form this project never writes (compressed or
    /// multi-valued).
    ///
    /// # Panics
    /// If there is no such column.
    pub fn field(&self, position: usize) -> Result<Field<'r>, RecordError> {
        let column = &self.layout.columns[position];
        let found = match column.storage {
            ColumnStorage::Fixed => self.fixed_field(position, column),
            ColumnStorage::Variable => self.variable_field(position - self.layout.fixed),
            ColumnStorage::Tagged => self.tagged_field(column),
        };
        found.ok_or(RecordError::Damaged { part: "values" })
    }

    /// The values of all columns.
    ///
    /// # Errors
    /// As [`Self::field`].
    pub fn fields(&self) -> Result<Vec<Field<'r>>, RecordError> {
        (0..self.layout.columns.len())
            .map(|position| self.field(position))
            .collect()
    }

    fn fixed_field(&self, position: usize, column: &Column) -> Option<Field<'r>> {
        if position >= self.fixed {
            return Some(Field::Null);
        }
        let null_map = self.fixed_end - self.fixed.div_ceil(8);
        if self.record.get(null_map + position / 8)? >> (position % 8) & 1 == 1 {
            return Some(Field::Null);
        }
        let size = column.column_type.fixed_bytes()?;
        read_fixed(
            column.column_type,
            self.record.get(column.offset..column.offset + size)?,
        )
    }

    fn variable_field(&self, index: usize) -> Option<Field<'r>> {
        if index >= self.variable {
            return Some(Field::Null);
        }
        let stated = |index: usize| u16_at(self.record, self.fixed_end + 2 * index);
        let own = stated(index)?;
        if own & usize::from(NULL_BIT) != 0 {
            return Some(Field::Null);
        }
        let start = if index == 0 {
            0
        } else {
            stated(index - 1)? & 0x7FFF
        };
        let data = self.fixed_end + 2 * self.variable;
        Some(Field::Bytes(self.record.get(data + start..data + own)?))
    }

    fn tagged_field(&self, column: &Column) -> Option<Field<'r>> {
        let part = &self.record[self.tagged_start..];
        if part.is_empty() {
            return Some(Field::Null);
        }
        let mask = if self.layout.small_pages {
            0x1FFF
        } else {
            0x7FFF
        };
        let offset = |entry: usize| Some(u16_at(part, 4 * entry + 2)? & mask);
        let entries = offset(0)? / 4;
        let Some(entry) =
            (0..entries).find(|&e| u16_at(part, 4 * e) == Some(usize::from(column.id)))
        else {
            return Some(Field::Null);
        };
        let end = if entry + 1 < entries {
            offset(entry + 1)?
        } else {
            part.len()
        };
        let (&flags, value) = part.get(offset(entry)?..end)?.split_first()?;
        if flags & TAG_NULL != 0 {
            return Some(Field::Null);
        }
        if flags & (TAG_COMPRESSED | TAG_MULTIPLE) != 0 {
            return None;
        }
        if flags & TAG_SEPARATED != 0 {
            return Some(Field::LongValue(u32::from_le_bytes(value.try_into().ok()?)));
        }
        match column.column_type.fixed_bytes() {
            Some(_) => read_fixed(column.column_type, value),
            None => Some(Field::Bytes(value)),
        }
    }
}

impl RecordLayout {
    /// Reads a record.
    ///
    /// # Errors
    /// If its offsets contradict each other.
    pub fn view<'l, 'r>(&'l self, record: &'r [u8]) -> Result<RecordView<'l, 'r>, RecordError> {
        RecordView::new(self, record)
    }
}
