//! What a database file says of itself.

use runtime::File;

use super::checker::Checker;
use super::walk::TreeFacts;
use super::whole::system_facts;
use crate::format::database_header::{DatabaseHeader, DatabaseState};
use crate::format::general::{GeneralTable, GeneralTree};
use crate::format::layout::DATABASE_ROOT;
use crate::format::page::{PageDamage, PageFlags, PageView};
use crate::reading::{CheckError, Page, PageProblem, ReadError, Reader, tables_of};

/// Pages read in one request to count them.
const COUNT_PAGES: u32 = 64;

/// Facts of a database file.
#[derive(Debug, Clone)]
pub struct DatabaseInfo {
    /// The header in use.
    pub header: DatabaseHeader,
    /// Whether both copies of the header are valid and identical.
    pub headers_agree: bool,
    /// Size of the file.
    pub file_size_bytes: u64,
    /// Page slots in the file, headers not counted.
    pub pages: u32,
    /// Pages that belong to no tree but the database's own free space.
    pub free_pages: u64,
    /// User tables; empty if the catalog cannot be read.
    pub tables: Vec<TableInfo>,
    /// Why the catalog cannot be read, if it cannot.
    pub catalog_problem: Option<String>,
    /// How many pages there are of each kind, if they were counted.
    pub page_counts: Option<PageCounts>,
}

/// Facts of a table.
#[derive(Debug, Clone)]
pub struct TableInfo {
    /// Columns, indexes and roots.
    pub table: GeneralTable,
    /// Its trees: the rows, the secondary indexes, the long values.
    pub trees: Vec<TreeInfo>,
    /// Number of its rows, if they were counted and all pages could be read.
    pub rows: Option<u64>,
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

/// Pages by what they say they are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageCounts {
    /// Leaves with rows of tables.
    pub row_leaves: u64,
    /// Leaves of secondary indexes.
    pub index_leaves: u64,
    /// Leaves with long values.
    pub long_value_leaves: u64,
    /// Pages above leaves, of all three.
    pub internal: u64,
    /// Pages of extent trees.
    pub space: u64,
    /// Pages that a tree gave back.
    pub freed: u64,
    /// Pages that were never written.
    pub never_written: u64,
    /// Pages that cannot be read or are damaged. In files of other programs these may be slots that
    /// were never pages.
    pub unreadable: u64,
}

impl PageCounts {
    fn add(&mut self, page: Result<PageView<'_>, &PageProblem>) {
        let view = match page {
            Ok(view) => view,
            Err(PageProblem::Damage(PageDamage::NeverWritten)) => {
                self.never_written += 1;
                return;
            }
            Err(_) => {
                self.unreadable += 1;
                return;
            }
        };
        let is = |flag| view.flags().contains(flag);
        *if is(PageFlags::EMPTY) {
            &mut self.freed
        } else if is(PageFlags::SPACE) {
            &mut self.space
        } else if !view.is_leaf() {
            &mut self.internal
        } else if is(PageFlags::INDEX) {
            &mut self.index_leaves
        } else if is(PageFlags::LONG_VALUE) {
            &mut self.long_value_leaves
        } else {
            &mut self.row_leaves
        } += 1;
    }
}

/// Reads header, catalog and space of a database. With `count` every page is read too, to count rows
/// and pages.
///
/// # Errors
/// If the storage fails or the file is no database.
pub async fn info<F: File>(file: &F, count: bool) -> Result<DatabaseInfo, CheckError> {
    let reader = Reader::open(file).await?;
    let header = reader.header.clone();
    let (first, second, same) = &reader.header_copies;
    let headers_agree = first.is_ok() && second.is_ok() && *same;
    let (file_size_bytes, pages) = (reader.file_size_bytes, reader.last_page);
    let mut found = DatabaseInfo {
        header,
        headers_agree,
        file_size_bytes,
        pages,
        free_pages: 0,
        tables: Vec::new(),
        catalog_problem: None,
        page_counts: None,
    };
    if found.header.state == DatabaseState::JustCreated {
        return Ok(found);
    }
    let stored = tables_of(&reader).await;
    let mut checker = Checker::new(reader, Box::new(|_, _| ()));
    let root = checker.space_of(&system_facts(DATABASE_ROOT), None).await;
    found.free_pages = root.available_pages();
    match stored {
        Ok(stored) => {
            for table in stored.into_iter().filter(|table| !table.is_system()) {
                found.tables.push(checker.table_info(table, count).await);
            }
        }
        Err(ReadError::File(CheckError::Io(error))) => return Err(error.into()),
        Err(error) => found.catalog_problem = Some(error.to_string()),
    }
    if count {
        found.page_counts = Some(checker.page_counts().await);
    }
    Ok(found)
}

impl<F: File> Checker<F> {
    async fn table_info(&mut self, table: GeneralTable, count: bool) -> TableInfo {
        let name = format!("table {}", table.name);
        let rows = facts(name.clone(), table.tree, PageFlags::default());
        let mut trees = vec![self.tree_info(&rows).await];
        let secondary = table.indexes.iter().filter(|index| !index.is_primary());
        let indexes = secondary.map(|index| {
            let name = format!("index {} of {name}", index.name);
            facts(name, index.tree, PageFlags::INDEX)
        });
        let long_values = table.long_values.map(|tree| {
            facts(
                format!("long values of {name}"),
                tree,
                PageFlags::LONG_VALUE,
            )
        });
        for tree in indexes.chain(long_values) {
            let info = self.tree_info(&tree).await;
            trees[0].owned_pages = trees[0].owned_pages.saturating_sub(info.owned_pages);
            trees.push(info);
        }
        let rows = if count {
            self.count_rows(&rows).await
        } else {
            None
        };
        TableInfo { table, trees, rows }
    }

    async fn count_rows(&mut self, rows: &TreeFacts) -> Option<u64> {
        let mut count = 0;
        let walked = self.walk(rows, &mut |_, _, _| count += 1).await;
        walked.complete.then_some(count)
    }

    async fn page_counts(&mut self) -> PageCounts {
        let mut counts = PageCounts::default();
        let mut first = 1;
        while first <= self.reader.last_page {
            let run = COUNT_PAGES.min(self.reader.last_page - first + 1);
            for page in self.reader.pages(first, run).await {
                counts.add(page.as_ref().map(Page::view));
            }
            first += run;
        }
        counts
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

fn facts(name: String, tree: GeneralTree, flags: PageFlags) -> TreeFacts {
    TreeFacts {
        name,
        object_id: tree.object_id,
        root: tree.root,
        flags,
        owned: None,
    }
}
