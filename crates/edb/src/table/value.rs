//! Values of columns.

use crate::format::record::Field;

/// One column's value.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)] // The names are those of the column types.
pub enum Value {
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
    /// Binary and text of every kind, text in the column's code page.
    Bytes(Vec<u8>),
    /// A long value outside the record that was not fetched, by its number. Given back in
    /// a replacement, it stays as it is.
    Unfetched(u32),
}

impl Value {
    /// The value as records know it.
    pub(crate) fn field(&self) -> Field<'_> {
        match self {
            Self::Null => Field::Null,
            Self::Bit(value) => Field::Bit(*value),
            Self::UnsignedByte(value) => Field::UnsignedByte(*value),
            Self::Short(value) => Field::Short(*value),
            Self::UnsignedShort(value) => Field::UnsignedShort(*value),
            Self::Long(value) => Field::Long(*value),
            Self::UnsignedLong(value) => Field::UnsignedLong(*value),
            Self::LongLong(value) => Field::LongLong(*value),
            Self::Float32(value) => Field::Float32(*value),
            Self::Float64(value) => Field::Float64(*value),
            Self::DateTime(value) => Field::DateTime(*value),
            Self::Guid(value) => Field::Guid(*value),
            Self::Bytes(value) => Field::Bytes(value),
            Self::Unfetched(id) => Field::LongValue(*id),
        }
    }

    /// The value that a record holds.
    pub(crate) fn of_field(field: Field<'_>) -> Self {
        match field {
            Field::Null => Self::Null,
            Field::Bit(value) => Self::Bit(value),
            Field::UnsignedByte(value) => Self::UnsignedByte(value),
            Field::Short(value) => Self::Short(value),
            Field::UnsignedShort(value) => Self::UnsignedShort(value),
            Field::Long(value) => Self::Long(value),
            Field::UnsignedLong(value) => Self::UnsignedLong(value),
            Field::LongLong(value) => Self::LongLong(value),
            Field::Float32(value) => Self::Float32(value),
            Field::Float64(value) => Self::Float64(value),
            Field::DateTime(value) => Self::DateTime(value),
            Field::Guid(value) => Self::Guid(value),
            Field::Bytes(value) => Self::Bytes(value.to_vec()),
            Field::LongValue(id) => Self::Unfetched(id),
        }
    }

    /// The bytes, if the value is binary or text.
    #[must_use]
    pub fn as_bytes(&self) -> Option<&[u8]> {
        match self {
            Self::Bytes(bytes) => Some(bytes),
            _ => None,
        }
    }
}
