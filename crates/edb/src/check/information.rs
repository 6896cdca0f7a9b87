//! What a database file says of itself.

use runtime::File;

use super::checker::Checker;
use super::reader::{CheckError, Reader};
use super::walk::TreeFacts;
use super::whole::{system_facts, table_facts};
use crate::format::catalog::StoredTable;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::layout::{
    CATALOG, CATALOG_NAME_INDEX, CATALOG_ROOT_INDEX, CATALOG_SHADOW, DATABASE_ROOT,
};

/// Facts of a database file.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// The header in use.
    pub header: DatabaseHeader,
    /// Whether both copies of the header are whole and the same.
    pub headers_agree: bool,
    /// Size of the file.
    pub file_size_bytes: u64,
    /// Page slots in the file, headers not counted.
    pub pages: u32,
    /// Pages that belong to no tree but the database's own free space.
    pub free_pages: u64,
    /// User tables; empty if the catalog cannot be read.
    pub tables: Vec<TableInfo>,
}

/// Facts of a table.
#[derive(Debug, Clone)]
pub struct TableInfo {
    /// Columns, indexes and roots.
    pub stored: StoredTable,
    /// Its trees: the rows, the secondary indexes, the long values.
    pub trees: Vec<TreeInfo>,
}

/// Facts of one tree.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TreeInfo {
    /// Such as "index ByToken of table messages".
    pub name: String,
    /// Object id in the catalog and on each page of the tree.
    pub object_id: u32,
    /// Number of the root page.
    pub root: u32,
    /// Pages from root to leaf; 0 if a page on the way cannot be read.
    pub levels: u32,
    /// Pages the tree owns, those it has given to trees of its own left out.
    pub owned_pages: u64,
    /// Owned pages that are free.
    pub free_pages: u64,
}

/// Reads header, catalog and space of a database, without looking at its rows.
///
/// # Errors
/// If the storage fails or the file is no database.
pub async fn info<F: File>(file: &F) -> Result<DatabaseInfo, CheckError> {
    let reader = Reader::open(file).await?;
    let header = reader.header.clone();
    let (first, second, same) = &reader.header_copies;
    let headers_agree = first.is_ok() && second.is_ok() && *same;
    let (file_size_bytes, pages) = (reader.file_size_bytes, reader.last_page);
    let mut checker = Checker::new(reader, Box::new(|_, _| ()));
    let (mut tables, mut free_pages) = (Vec::new(), 0);
    if header.state != DatabaseState::JustCreated {
        let root = checker.space_of(&system_facts(DATABASE_ROOT), None).await;
        free_pages = root.available_pages();
        for stored in checker.stored_tables().await {
            tables.push(checker.table_info(stored).await);
        }
    }
    Ok(DatabaseInfo {
        header,
        headers_agree,
        file_size_bytes,
        pages,
        free_pages,
        tables,
    })
}

impl<F: File> Checker<F> {
    async fn stored_tables(&mut self) -> Vec<StoredTable> {
        let [catalog, shadow, names, roots] = [
            CATALOG,
            CATALOG_SHADOW,
            CATALOG_NAME_INDEX,
            CATALOG_ROOT_INDEX,
        ]
        .map(system_facts);
        self.read_catalog(&catalog, &shadow, &names, &roots)
            .await
            .unwrap_or_default()
    }

    async fn table_info(&mut self, stored: StoredTable) -> TableInfo {
        let facts = table_facts(&stored);
        let mut trees = vec![self.tree_info(&facts.rows).await];
        for tree in facts.indexes.iter().chain(&facts.long_values) {
            let info = self.tree_info(tree).await;
            trees[0].owned_pages = trees[0].owned_pages.saturating_sub(info.owned_pages);
            trees.push(info);
        }
        TableInfo { stored, trees }
    }

    async fn tree_info(&mut self, tree: &TreeFacts) -> TreeInfo {
        let space = self.space_of(tree, None).await;
        TreeInfo {
            name: tree.name.clone(),
            object_id: tree.object_id,
            root: tree.root,
            levels: self.levels(tree.root).await,
            owned_pages: space.owned_pages(),
            free_pages: space.available_pages(),
        }
    }

    /// Pages on the way from a root down to its first leaf.
    async fn levels(&mut self, root: u32) -> u32 {
        let (mut number, mut levels) = (root, 0);
        // A tree is never so deep; a loop in a damaged one would be.
        while levels < 16 && number != 0 && number <= self.reader.last_page {
            let Ok(page) = self.reader.page(number).await else {
                return 0;
            };
            levels += 1;
            if page.view().is_leaf() {
                return levels;
            }
            number = page.view().child(0);
        }
        0
    }
}
