//! Catalogs and records as any program of this format may have written them.
//!
//! The rest of this crate writes a part of the format and reads what it has written. Files of other
//! programs also have columns with defaults, several values in one column, compressed values, gaps
//! in the numbers of columns and more kinds of indexes.
//!
//! - [`tables_of_catalog`] reads the catalog: tables with their columns, indexes and trees.
//! - [`GeneralRecord`] finds the bytes of each value of a record.
//! - [`expand`] undoes the compression of a value; [`TextDecoder`] reads text in its code page.
//!
//! Any bytes are taken without a panic.

mod catalog;
mod compression;
mod record;
mod text;

#[cfg(test)]
mod tests;

pub use catalog::{
    GeneralColumn, GeneralIndex, GeneralTable, GeneralTree, KeyColumn, TableError,
    tables_of_catalog,
};
pub use compression::{CompressionError, expand};
pub use record::{GeneralRecord, Part, Stored};
pub use text::TextDecoder;
