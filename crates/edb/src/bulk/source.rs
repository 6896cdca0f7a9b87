//! What to build and where the rows come from.

use runtime::IoError;

use crate::format::database_header::Signature;
use crate::format::page::{MAX_PAGE_NUMBER, PAGE_SIZES_BYTES};
use crate::format::record::{Field, RecordError};
use crate::format::schema::{ColumnType, TableDefinition};

/// The table to build, and the page size and signature of its file.
#[derive(Debug, Clone)]
pub struct BuildPlan {
    /// Page size of the file.
    pub page_size_bytes: usize,
    /// The file ends on a multiple of so many pages, headers included, as if it had been extended
    /// step by step.
    pub extension_pages: u32,
    /// The table. Its primary index has one column of type Long or LongLong, counted up from 1; it
    /// may have one secondary index on a Binary column.
    pub table: TableDefinition,
    /// Signature of the new database.
    pub signature: Signature,
}

/// Why a database could not be built. The file is left as a "just created" one, to be removed.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// A read or write of the file failed, or the file could not grow.
    #[error("building the database failed: {0}")]
    Io(#[from] IoError),
    /// A row does not fit the table.
    #[error("row {row} cannot be stored: {error}")]
    Row {
        /// Number of the row, from 0.
        row: u64,
        /// Why its values do not make a record.
        error: RecordError,
    },
    /// A record does not fit a page.
    #[error("row {row} takes {bytes} bytes, at most {limit} fit a page; use long values")]
    RowTooLong {
        /// Number of the row, from 0.
        row: u64,
        /// Bytes of its record.
        bytes: usize,
        /// The most that fit.
        limit: usize,
    },
    /// The plan asks for something the builder does not make.
    #[error("this database cannot be built: {0}")]
    Plan(String),
    /// The source contradicts itself.
    #[error("the source of the rows is inconsistent: {0}")]
    Source(String),
}

/// Id of the long value of row `row`: a record that refers to it has `Field::LongValue` of it.
///
/// # Panics
/// If there are more rows than long value ids.
#[must_use]
pub fn long_value_id(row: u64) -> u32 {
    assert!(
        row < u64::from(crate::format::long_value::MAX_LONG_VALUE_ID),
        "out of long value ids"
    );
    row as u32 + 1
}

/// The rows of a database, by number from 0. The same number always gives the same row.
pub trait RowSource {
    /// How many rows there are.
    fn rows(&self) -> u64;

    /// The values of a row, one per column; the primary key is `row + 1`. A value that is to lie
    /// outside the record is given as `Field::LongValue(long_value_id(row))`.
    fn row(&mut self, row: u64) -> Vec<Field<'_>>;

    /// Bytes of the long value of a row; `None` if it has none. Rows have one exactly where their
    /// record refers to it.
    fn long_value_bytes(&mut self, row: u64) -> Option<usize>;

    /// Writes the long value of a row into `value`, which has just its length and undefined
    /// content.
    fn write_long_value(&mut self, row: u64, value: &mut [u8]);

    /// The next row in ascending order of the value in the secondary index's column, with that
    /// value in place of what `value` held. `None` after the last row. Asked for only if the table
    /// has a secondary index, and only once through all rows.
    fn next_index_entry(&mut self, value: &mut Vec<u8>) -> Option<u64>;
}

impl BuildPlan {
    /// Position of the secondary index's column, if there is such an index.
    ///
    /// # Errors
    /// If the plan asks for something the builder does not make.
    pub(super) fn check(&self) -> Result<Option<usize>, BuildError> {
        let refuse = |reason: &str| Err(BuildError::Plan(reason.to_owned()));
        if !PAGE_SIZES_BYTES.contains(&self.page_size_bytes) {
            return refuse("the page size is none of 4, 8, 16 and 32 KiB");
        }
        if self.extension_pages == 0 || self.extension_pages > MAX_PAGE_NUMBER / 2 {
            return refuse("the extension size makes no sense");
        }
        let column = |id: u16| self.table.columns.iter().position(|column| column.id == id);
        let type_of = |position: Option<usize>| position.map(|p| self.table.columns[p].column_type);
        let single = |index: usize| match self.table.indexes.get(index).map(|i| &i.columns[..]) {
            Some(&[id]) => column(id),
            _ => None,
        };
        let primary = type_of(single(0));
        if !matches!(primary, Some(ColumnType::LongLong | ColumnType::Long)) {
            return refuse("the primary index must have one column of type Long or LongLong");
        }
        match self.table.indexes.len() {
            1 => Ok(None),
            2 => match single(1) {
                position @ Some(_) if type_of(position) == Some(ColumnType::Binary) => Ok(position),
                _ => refuse("the secondary index must have one column of type Binary"),
            },
            _ => refuse("there may be one secondary index at most"),
        }
    }

    /// Whether the primary key has 32 bits.
    pub(super) fn has_short_key(&self) -> bool {
        let id = self.table.indexes[0].columns[0];
        let column = self.table.column_by_id(id);
        column.is_some_and(|column| column.column_type == ColumnType::Long)
    }
}
