//! The values of a row, with or without bytes of their own.

use crate::format::record::{Cell, Field};

/// One column's value, with bytes of its own.
pub type Value = Cell<Vec<u8>>;

impl Value {
    /// The value as records know it.
    pub(crate) fn field(&self) -> Field<'_> {
        self.with_bytes(Vec::as_slice)
    }

    /// The value that a record holds.
    pub(crate) fn of_field(field: Field<'_>) -> Self {
        field.with_bytes(|bytes| bytes.to_vec())
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
