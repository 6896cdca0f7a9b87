//! The tables every database has, as the catalog describes them.

use super::row::{CatalogRow, catalog_definition};
use super::table::{StoredTable, StoredTree, rows_of_table};
use crate::format::key::{StringKind, push_segment};
use crate::format::layout::{
    CATALOG, CATALOG_NAME_INDEX, CATALOG_ROOT_INDEX, CATALOG_SHADOW, LOCALES, OBJECT_IDS,
    SystemTree,
};
use crate::format::record::{Field, RecordError, RecordLayout};
use crate::format::schema::{COLUMN_NOT_NULL, ColumnType, TableDefinition};

/// System table with columns that never change.
const FLAGS_SYSTEM_FIXED: u32 = 0xC000_0000;
/// System table that came after the catalog itself.
const FLAGS_SYSTEM_DYNAMIC: u32 = 0x8800_0000;

impl From<SystemTree> for StoredTree {
    fn from(tree: SystemTree) -> Self {
        Self {
            object_id: tree.object_id,
            root: tree.root,
            initial_pages: tree.primary_pages,
        }
    }
}

/// The copy of the catalog as a table.
#[must_use]
pub fn shadow_definition() -> TableDefinition {
    let mut definition = catalog_definition();
    CATALOG_SHADOW.name.clone_into(&mut definition.name);
    definition.indexes.truncate(1);
    definition
}

/// The map of object ids as a table.
#[must_use]
pub fn object_id_definition() -> TableDefinition {
    TableDefinition::new(OBJECT_IDS.name)
        .fixed("objid", ColumnType::Long, COLUMN_NOT_NULL)
        .fixed("objidTable", ColumnType::Long, COLUMN_NOT_NULL)
        .fixed("type", ColumnType::Short, COLUMN_NOT_NULL)
        .primary("primary", &["objid"])
}

/// Locales in use: a table of key and value whose columns are this project's own; it stays empty.
fn locale_definition() -> TableDefinition {
    TableDefinition::new(LOCALES.name)
        .fixed("Count", ColumnType::Long, COLUMN_NOT_NULL)
        .variable("Key", ColumnType::Binary)
        .primary("Key", &["Key"])
}

/// The system tables, by object id.
pub(super) fn system_tables() -> Vec<StoredTable> {
    let table = |definition, flags, tree: SystemTree, indexes| StoredTable {
        definition,
        flags,
        tree: tree.into(),
        indexes,
        long_values: None,
    };
    // The catalog does not record how large the first extent of an index is.
    let index = |tree: SystemTree| StoredTree {
        initial_pages: 1,
        ..tree.into()
    };
    let indexes = vec![index(CATALOG_NAME_INDEX), index(CATALOG_ROOT_INDEX)];
    vec![
        table(catalog_definition(), FLAGS_SYSTEM_FIXED, CATALOG, indexes),
        table(
            shadow_definition(),
            FLAGS_SYSTEM_FIXED,
            CATALOG_SHADOW,
            Vec::new(),
        ),
        table(
            object_id_definition(),
            FLAGS_SYSTEM_DYNAMIC,
            OBJECT_IDS,
            Vec::new(),
        ),
        table(
            locale_definition(),
            FLAGS_SYSTEM_DYNAMIC,
            LOCALES,
            Vec::new(),
        ),
    ]
}

/// The catalog rows of the system tables, in key order.
#[must_use]
pub fn system_rows() -> Vec<CatalogRow> {
    system_tables().iter().flat_map(rows_of_table).collect()
}

/// Key of an object in `MSysObjids`.
#[must_use]
pub fn object_id_key(object_id: u32) -> Vec<u8> {
    let mut key = Vec::new();
    push_segment(&mut key, &Field::Long(object_id as i32), StringKind::Binary);
    key
}

/// The record of a tree in `MSysObjids`, which has a row for each table, index and long value tree.
///
/// # Errors
/// Never for a row of a tree; the layout must be that of [`object_id_definition`].
pub fn object_id_row(row: &CatalogRow, layout: &RecordLayout) -> Result<Vec<u8>, RecordError> {
    layout.encode(&[
        Field::Long(row.id as i32),
        Field::Long(row.table_object_id as i32),
        Field::Short(row.kind as i16),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::catalog::tables_of_rows;

    #[test]
    fn the_catalog_describes_itself() {
        let rows = system_rows();
        assert!(rows.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        assert!(tables_of_rows(&rows) == Ok(system_tables()));
        assert_eq!(
            rows.iter().filter(|row| row.table_object_id == 2).count(),
            1 + 28 + 3
        );
    }
}
