//! The pages, trees and tables of a database file, read without the engine.
//!
//! What [`crate::check`] and [`crate::dump`] share.

mod error;
mod reader;
mod tree;

pub use error::ReadError;
pub(crate) use error::reason_of;
pub use reader::{CheckError, PageProblem};
pub(crate) use reader::{Page, Reader, root_dbtime};
pub(crate) use tree::TreeReader;

use crate::format::database_header::DatabaseHeader;
use crate::format::general::{GeneralTable, tables_of_catalog};
use crate::format::layout::CATALOG;
use crate::format::page::Node;
use runtime::File;

/// The header of a database file, in whatever state it is.
///
/// # Errors
/// If it has none that is whole, or the storage fails.
pub async fn header_of<F: File>(file: &F) -> Result<DatabaseHeader, CheckError> {
    Ok(Reader::open(file).await?.header)
}

/// All tables that the catalog of a file describes.
pub(crate) async fn tables_of<F: File>(reader: &Reader<F>) -> Result<Vec<GeneralTable>, ReadError> {
    let mut records: Vec<Vec<u8>> = Vec::new();
    let mut tree = TreeReader::new(reader, CATALOG.name, CATALOG.root);
    while let Some(leaf) = tree.next_leaf().await? {
        let nodes = leaf.view().nodes().filter(Node::is_visible);
        records.extend(nodes.map(|node| node.data.to_vec()));
    }
    let records = records.iter().map(Vec::as_slice);
    Ok(tables_of_catalog(records, reader.page_size_bytes)?)
}
