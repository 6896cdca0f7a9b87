//! New tables, and the tables a catalog describes.
//!
//! A table is created by one step: its trees, its rows in the catalog and in the copy of it, and the
//! entries in the catalog's indexes become one log record. So a table is there as a whole or not at
//! all, and needs no undo.

use crate::catalog::{Table, TableState, check_definition};
use crate::engine::Core;
use crate::error::EngineError;
use crate::format::catalog::{
    CatalogRow, ObjectKind, StoredTable, StoredTree, catalog_definition, object_id_definition,
    object_id_key, object_id_row, rows_of_table, tables_of_rows,
};
use crate::format::layout::{
    CATALOG, CATALOG_NAME_INDEX, CATALOG_ROOT_INDEX, CATALOG_SHADOW, OBJECT_IDS,
};
use crate::format::long_value::LongValueKey;
use crate::format::page::{NodeFlags, PageFlags, PageView};
use crate::format::record::{RecordError, RecordLayout};
use crate::format::schema::TableDefinition;
use crate::log_record::encode_system;
use crate::nodes::insert_node;
use crate::space::{self, DATABASE_ROOT};
use crate::tree::{Need, Step, find};
use runtime::Directory;

/// Pages of a table's first extent.
const TABLE_PAGES: u32 = 16;
/// Pages of the first extent of an index and of a long value tree, out of the table's.
const SMALL_TREE_PAGES: u32 = 4;

impl<D: Directory> Core<D> {
    /// Writes the catalog rows and the empty trees of a table in one log record.
    pub(crate) async fn create_table(
        &self,
        definition: &TableDefinition,
    ) -> Result<Table, EngineError> {
        let name = &definition.name;
        let refuse = |reason: String| EngineError::Definition {
            table: name.clone(),
            reason,
        };
        check_definition(definition).map_err(refuse)?;
        if self.catalog.borrow().tables.contains_key(name) {
            return Err(EngineError::TableExists(name.clone()));
        }
        let first_id = self.last_object_id.get() + 1;
        let stored = self.write(|mut step| {
            let stored = create_trees(&mut step, definition, first_id)?;
            add_rows(&mut step, &rows_of_table(&stored), name)?;
            self.commit_step(step, encode_system);
            Ok(stored)
        });
        let stored = stored.await?;
        let trees = 1 + stored.indexes.len() + usize::from(stored.long_values.is_some());
        self.last_object_id
            .set(self.last_object_id.get() + trees as u32);
        let table = Table::new(stored, self.settings.engine.page_bytes())?;
        table.state.has_counters.set(true); // They begin at one.
        let old = self
            .catalog
            .borrow_mut()
            .tables
            .insert(name.clone(), table.clone());
        assert!(old.is_none(), "two tables were created under one name");
        Ok(table)
    }

    /// Reads the catalog and opens all user tables.
    pub(crate) async fn load_catalog(&self) -> Result<(), EngineError> {
        let rows = self.read(read_rows).await?;
        let highest = rows.iter().filter(|row| row.kind != ObjectKind::Column);
        let highest = highest.map(|row| row.id).max().unwrap_or(0);
        self.last_object_id
            .set(self.last_object_id.get().max(highest));
        for stored in tables_of_rows(&rows)? {
            if stored.flags != 0 {
                continue; // A system table.
            }
            let name = stored.definition.name.clone();
            let table = Table::new(stored, self.settings.engine.page_bytes())?;
            self.catalog.borrow_mut().tables.insert(name, table);
        }
        Ok(())
    }

    /// Finds out the highest keys in use, unless that is known.
    pub(crate) async fn ensure_counters(&self, state: &TableState) -> Result<(), EngineError> {
        if state.has_counters.get() {
            return Ok(());
        }
        let last = |root: u32| self.read(move |step| last_key(step, root));
        let key = last(state.root()).await?;
        let long_value = match state.stored.long_values {
            Some(tree) => last(tree.root).await?,
            None => None,
        };
        if state.has_counters.replace(true) {
            return Ok(()); // Somebody else was faster.
        }
        if let Some(key) = key {
            let number = state.number_of_key(&key);
            let number = number.ok_or_else(|| EngineError::damaged(state.name(), "a key"))?;
            state.next_key.set(number.saturating_add(1).max(1));
        }
        match long_value.as_deref().map(LongValueKey::decode) {
            Some(Some(LongValueKey::Root { id } | LongValueKey::Chunk { id, .. })) => {
                state.next_long_value.set(id + 1);
            }
            Some(None) => return Err(EngineError::damaged(state.name(), "a long value key")),
            None => {}
        }
        Ok(())
    }
}

/// The highest key in a tree, deleted or not.
fn last_key(step: &Step<'_>, root: u32) -> Result<Option<Vec<u8>>, Need> {
    let leaf = find::last_leaf(step, root)?;
    let view = PageView::new(&leaf.page);
    Ok(view
        .node_count()
        .checked_sub(1)
        .map(|last| view.node(last).key()))
}

fn read_rows(step: &Step<'_>) -> Result<Vec<CatalogRow>, Need> {
    let mut rows = Vec::new();
    let mut page = find::first_leaf(step, CATALOG.root)?.page;
    let layout = RecordLayout::new(&catalog_definition().columns, page.len());
    loop {
        let view = PageView::new(&page);
        for node in view.nodes() {
            let row = CatalogRow::decode(&layout, node.data);
            rows.push(row.map_err(|error| EngineError::damaged(CATALOG.name, &error))?);
        }
        match view.next() {
            0 => return Ok(rows),
            next => page = step.page(next)?,
        }
    }
}

fn create_trees(
    step: &mut Step<'_>,
    definition: &TableDefinition,
    first_id: u32,
) -> Result<StoredTable, Need> {
    let mut ids = first_id..;
    let mut next_id = || {
        ids.next()
            .unwrap_or_else(|| panic!("object ids are used up"))
    };
    let plain = PageFlags::default();
    let object_id = next_id();
    let root = space::create_tree(step, DATABASE_ROOT, TABLE_PAGES, plain, object_id, true)?;
    let tree = StoredTree {
        object_id,
        root,
        initial_pages: TABLE_PAGES,
    };
    let mut small_tree = |flags, initial_pages| {
        let object_id = next_id();
        let pages = SMALL_TREE_PAGES;
        let root = space::create_tree(step, tree.root, pages, flags, object_id, false)?;
        Ok::<_, Need>(StoredTree {
            object_id,
            root,
            initial_pages,
        })
    };
    // The catalog does not record how large the first extent of an index is.
    let indexes = definition.indexes[1..]
        .iter()
        .map(|_| small_tree(PageFlags::INDEX, 1));
    let indexes = indexes.collect::<Result<Vec<_>, _>>()?;
    let long_values = if definition.has_long_values() {
        Some(small_tree(PageFlags::LONG_VALUE, SMALL_TREE_PAGES)?)
    } else {
        None
    };
    Ok(StoredTable {
        definition: definition.clone(),
        flags: 0,
        tree,
        indexes,
        long_values,
    })
}

/// Adds rows to the catalog, to its copy, its indexes and the list of objects.
pub(crate) fn add_rows(step: &mut Step<'_>, rows: &[CatalogRow], table: &str) -> Result<(), Need> {
    let refuse = |error: RecordError| EngineError::of_record(table, &error);
    let page_bytes = step.page(CATALOG.root)?.len();
    let layout = RecordLayout::new(&catalog_definition().columns, page_bytes);
    let id_layout = RecordLayout::new(&object_id_definition().columns, page_bytes);
    let mut insert =
        |root: u32, key: &[u8], data: &[u8]| insert_node(step, root, key, NodeFlags::NONE, data);
    for row in rows {
        let key = row.key();
        let record = row.encode(&layout).map_err(refuse)?;
        insert(CATALOG.root, &key, &record)?;
        insert(CATALOG_SHADOW.root, &key, &record)?;
        insert(CATALOG_NAME_INDEX.root, &row.name_key(), &key)?;
        if let Some(root_key) = row.root_key() {
            insert(CATALOG_ROOT_INDEX.root, &root_key, &key)?;
        }
        // The primary index is the table itself.
        let is_tree = row.kind != ObjectKind::Column;
        if is_tree && (row.kind == ObjectKind::Table || row.id != row.table_object_id) {
            let record = object_id_row(row, &id_layout).map_err(refuse)?;
            insert(OBJECT_IDS.root, &object_id_key(row.id), &record)?;
        }
    }
    Ok(())
}
