//! The rows of a table of any database file, one after the other.
//!
//! [`DatabaseReader`] knows the tables of a file; [`DatabaseReader::rows`] goes through one of them
//! in key order and says what it finds as [`RowEvent`]s, long values chunk by chunk. It holds one page
//! per tree level and a few pages of long values at a time, however large the table is.
//! [`DatabaseReader::write_rows`] writes them as CSV or as JSON Lines.

mod formats;
mod long_values;
mod rows;

#[cfg(test)]
mod tests;

pub use crate::reading::ReadError;
pub use formats::RowFormat;
pub use rows::RowEvent;

use runtime::File;

use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::general::GeneralTable;
use crate::reading::{CheckError, Reader, tables_of};

/// Reads the tables of a database file.
pub struct DatabaseReader<F: File> {
    reader: Reader<F>,
    tables: Vec<GeneralTable>,
    /// Whether what is not in the file need not be wrong: its pages may lack what is only in the log.
    is_as_is: bool,
}

/// How many rows were read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RowCount {
    /// Rows.
    pub rows: u64,
    /// Their values that are not, or not wholly, in a file that is read as it is. As much of each as is there is
    /// printed.
    pub incomplete_values: u64,
}

impl<F: File> DatabaseReader<F> {
    /// Reads header and catalog of a file that was closed properly.
    ///
    /// # Errors
    /// If the file is no such database, its catalog is damaged, or the storage fails.
    pub async fn open(file: &F) -> Result<Self, ReadError> {
        let reader = Reader::open(file).await?;
        let file = reader.file_name();
        match reader.header.state {
            DatabaseState::Clean => {}
            DatabaseState::Dirty => {
                let writer = reader.header.writer;
                return Err(CheckError::NotClean { file, writer }.into());
            }
            DatabaseState::JustCreated => return Err(CheckError::Unfinished { file }.into()),
        }
        Self::with_catalog(reader, false).await
    }

    /// As [`Self::open`], of a file that need not have been closed: its pages are taken as they are,
    /// without what is only in the log.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_as_is(file: &F) -> Result<Self, ReadError> {
        Self::with_catalog(Reader::open(file).await?, true).await
    }

    async fn with_catalog(reader: Reader<F>, is_as_is: bool) -> Result<Self, ReadError> {
        let tables = tables_of(&reader).await?;
        Ok(Self {
            reader,
            tables,
            is_as_is,
        })
    }

    /// The header in use.
    #[must_use]
    pub fn header(&self) -> &DatabaseHeader {
        &self.reader.header
    }

    /// All tables, the system's own first.
    #[must_use]
    pub fn tables(&self) -> &[GeneralTable] {
        &self.tables
    }

    /// The table with this name.
    #[must_use]
    pub fn table(&self, name: &str) -> Option<&GeneralTable> {
        self.tables.iter().find(|table| table.name == name)
    }
}
