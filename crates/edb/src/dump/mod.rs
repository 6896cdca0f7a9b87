//! The rows of a table of any database file, one after the other.
//!
//! [`DatabaseReader`] knows the tables of a file; [`DatabaseReader::rows`] goes through one of them
//! in key order and says what it finds as [`RowEvent`]s, long values chunk by chunk. It holds one page
//! per tree level and a few pages of long values at a time, however large the table is.

mod error;
mod long_values;
mod rows;
mod tree;

#[cfg(test)]
mod tests;

pub use error::DumpError;
pub use rows::RowEvent;

use runtime::File;

use crate::check::CheckError;
use crate::check::reader::Reader;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::general::{GeneralTable, tables_of_catalog};
use crate::format::layout::CATALOG;
use tree::TreeReader;

/// Reads the tables of a database file.
pub struct DatabaseReader<F: File> {
    reader: Reader<F>,
    tables: Vec<GeneralTable>,
}

impl<F: File> DatabaseReader<F> {
    /// Reads header and catalog of a file that was closed properly.
    ///
    /// # Errors
    /// If the file is no such database, its catalog is damaged, or the storage fails.
    pub async fn open(file: &F) -> Result<Self, DumpError> {
        let reader = Reader::open(file).await?;
        let file = reader.file_name();
        match reader.header.state {
            DatabaseState::Clean => {}
            DatabaseState::Dirty => return Err(CheckError::NotClean { file }.into()),
            DatabaseState::JustCreated => return Err(CheckError::Unfinished { file }.into()),
        }
        Self::with_catalog(reader).await
    }

    /// As [`Self::open`], of a file that need not have been closed: its pages are taken as they are,
    /// without what is only in the log.
    ///
    /// # Errors
    /// As [`Self::open`].
    pub async fn open_as_is(file: &F) -> Result<Self, DumpError> {
        Self::with_catalog(Reader::open(file).await?).await
    }

    async fn with_catalog(reader: Reader<F>) -> Result<Self, DumpError> {
        let tables = tables_of(&reader).await?;
        Ok(Self { reader, tables })
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

/// All tables that the catalog of a file describes.
pub(crate) async fn tables_of<F: File>(reader: &Reader<F>) -> Result<Vec<GeneralTable>, DumpError> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut tree = TreeReader::new(reader, CATALOG.name, CATALOG.root);
    while let Some(leaf) = tree.next_leaf().await? {
        let nodes = leaf.view().nodes().filter(|node| node.is_visible());
        records.extend(nodes.map(|node| node.data.to_vec()));
    }
    let records = records.iter().map(Vec::as_slice);
    Ok(tables_of_catalog(records, reader.page_size_bytes)?)
}
