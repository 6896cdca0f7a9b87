//! A table as catalog rows, and back.

use super::row::{CatalogRow, ObjectKind};
use crate::format::page::PAGE_SIZES_BYTES;
use crate::format::record::RecordLayout;
use crate::format::schema::{
    ColumnDefinition, ColumnStorage, ColumnType, IndexDefinition, TableDefinition,
};

/// Index flags: key column entries have four bytes.
const INDEX_LONG_ENTRIES: u32 = 0x1_0000;
const INDEX_UNIQUE: u32 = 0x1;
const INDEX_PRIMARY: u32 = 0x20;
/// All-null, first-null and some-null keys are indexed.
const INDEX_ALLOW_NULLS: u32 = 0xE;
/// Locale of indexes in real files: US English.
const LOCALE_US_ENGLISH: u32 = 1033;
/// Size the catalog states for variable columns.
const VARIABLE_COLUMN_BYTES: u32 = 255;
/// Name of the catalog row of long value trees.
const LONG_VALUE_NAME: &str = "LV";

/// A tree of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoredTree {
    /// Object id on its pages.
    pub object_id: u32,
    /// Number of the root page.
    pub root: u32,
    /// Pages of its first extent; 1 for indexes, of which the catalog does not record it.
    pub initial_pages: u32,
}

/// A table that exists in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredTable {
    /// Columns and indexes, as the rows of the catalog describe them.
    pub definition: TableDefinition,
    /// Catalog flags; 0 for user tables.
    pub flags: u32,
    /// The tree of the records: also that of the primary index.
    pub tree: StoredTree,
    /// The trees of the secondary indexes, in the order of `definition.indexes[1..]`.
    pub indexes: Vec<StoredTree>,
    /// The tree of long values.
    pub long_values: Option<StoredTree>,
}

/// Why catalog rows do not describe tables.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the catalog's rows of object {table_object_id} make no sense: {reason}")]
pub struct CatalogError {
    /// Object id of the table in the catalog.
    pub table_object_id: u32,
    /// Which row is missing or wrong.
    pub reason: String,
}

/// The rows of one table, in key order.
#[must_use]
pub fn rows_of_table(table: &StoredTable) -> Vec<CatalogRow> {
    let definition = &table.definition;
    // Where fixed columns lie does not depend on the page size.
    let layout = RecordLayout::new(&definition.columns, PAGE_SIZES_BYTES[0]);
    let blank = CatalogRow {
        table_object_id: table.tree.object_id,
        kind: ObjectKind::Table,
        id: table.tree.object_id,
        root_or_type: table.tree.root,
        density_or_size: definition.density_percent,
        flags: table.flags,
        pages_or_locale: table.tree.initial_pages,
        record_offset: None,
        name: definition.name.clone(),
        key_columns: Vec::new(),
    };
    let mut rows = vec![blank.clone()];
    for (position, column) in definition.columns.iter().enumerate() {
        let unlimited = if column.column_type.is_long() {
            0
        } else {
            VARIABLE_COLUMN_BYTES
        };
        rows.push(CatalogRow {
            kind: ObjectKind::Column,
            id: u32::from(column.id),
            root_or_type: column.column_type as u32,
            density_or_size: column
                .column_type
                .fixed_bytes()
                .map_or(unlimited, |b| b as u32),
            flags: column.flags,
            pages_or_locale: column.code_page,
            record_offset: layout.fixed_offset(position).map(|offset| offset as u16),
            name: column.name.clone(),
            ..blank.clone()
        });
    }
    let trees = std::iter::once(&table.tree).chain(&table.indexes);
    for (index, tree) in definition.indexes.iter().zip(trees) {
        rows.push(CatalogRow {
            kind: ObjectKind::Index,
            id: tree.object_id,
            root_or_type: tree.root,
            density_or_size: index.density_percent,
            flags: index_flags(index),
            pages_or_locale: LOCALE_US_ENGLISH,
            name: index.name.clone(),
            key_columns: index.columns.clone(),
            ..blank.clone()
        });
    }
    if let Some(tree) = table.long_values {
        rows.push(CatalogRow {
            kind: ObjectKind::LongValue,
            id: tree.object_id,
            root_or_type: tree.root,
            density_or_size: definition.long_value_density_percent,
            flags: 0,
            pages_or_locale: tree.initial_pages,
            name: LONG_VALUE_NAME.to_owned(),
            ..blank
        });
    }
    rows.sort_by_key(|row| (row.kind, row.id));
    rows
}

fn index_flags(index: &IndexDefinition) -> u32 {
    let unique = if index.unique { INDEX_UNIQUE } else { 0 };
    let primary = if index.primary { INDEX_PRIMARY } else { 0 };
    INDEX_LONG_ENTRIES | INDEX_ALLOW_NULLS | unique | primary
}

/// Reads tables back from catalog rows in key order.
///
/// # Errors
/// If rows are missing or contradict each other.
pub fn tables_of_rows(rows: &[CatalogRow]) -> Result<Vec<StoredTable>, CatalogError> {
    rows.chunk_by(|a, b| a.table_object_id == b.table_object_id)
        .map(table_of_rows)
        .collect()
}

fn table_of_rows(rows: &[CatalogRow]) -> Result<StoredTable, CatalogError> {
    let (first, rest) = rows.split_at(1);
    let first = &first[0];
    let error = |reason: String| CatalogError {
        table_object_id: first.table_object_id,
        reason,
    };
    if first.kind != ObjectKind::Table {
        return Err(error("the first row is not a table".to_owned()));
    }
    let tree = StoredTree {
        object_id: first.id,
        root: first.root_or_type,
        initial_pages: first.pages_or_locale,
    };
    let mut definition = TableDefinition {
        name: first.name.clone(),
        columns: Vec::new(),
        indexes: Vec::new(),
        density_percent: first.density_or_size,
        long_value_density_percent: 100,
    };
    let (mut indexes, mut long_values) = (Vec::new(), None);
    for row in rest {
        let own = StoredTree {
            object_id: row.id,
            root: row.root_or_type,
            initial_pages: 1,
        };
        match row.kind {
            ObjectKind::Table => return Err(error("there are two table rows".to_owned())),
            ObjectKind::Column => definition.columns.push(column_of_row(row).map_err(&error)?),
            ObjectKind::Index => {
                let index = index_of_row(row);
                if index.primary {
                    definition.indexes.insert(0, index);
                } else {
                    definition.indexes.push(index);
                    indexes.push(own);
                }
            }
            ObjectKind::LongValue => {
                definition.long_value_density_percent = row.density_or_size;
                let initial_pages = row.pages_or_locale;
                long_values = Some(StoredTree {
                    initial_pages,
                    ..own
                });
            }
        }
    }
    if definition.indexes.len() != indexes.len() + 1 || !definition.indexes[0].primary {
        return Err(error("there is not exactly one primary index".to_owned()));
    }
    check_columns(&definition).map_err(error)?;
    Ok(StoredTable {
        definition,
        flags: first.flags,
        tree,
        indexes,
        long_values,
    })
}

/// Whether records can be laid out by these columns.
fn check_columns(definition: &TableDefinition) -> Result<(), String> {
    let mut before: Option<&ColumnDefinition> = None;
    for column in &definition.columns {
        let storage = column.storage();
        let expected = match before {
            Some(last) if last.storage() == storage => last.id + 1,
            _ => storage.first_id(),
        };
        let name = &column.name;
        if column.id != expected {
            return Err(format!(
                "column {name} has the id {} instead of {expected}",
                column.id
            ));
        }
        if storage == ColumnStorage::Fixed && column.column_type.fixed_bytes().is_none() {
            return Err(format!(
                "column {name} is fixed, but its type has no fixed size"
            ));
        }
        before = Some(column);
    }
    for index in &definition.indexes {
        let known = |id: &u16| definition.column_by_id(*id).is_some();
        if index.columns.is_empty() || !index.columns.iter().all(known) {
            return Err(format!(
                "index {} has columns that do not exist",
                index.name
            ));
        }
    }
    Ok(())
}

fn column_of_row(row: &CatalogRow) -> Result<ColumnDefinition, String> {
    let column_type = ColumnType::from_code(row.root_or_type).ok_or_else(|| {
        format!(
            "column {} has the unknown type {}",
            row.name, row.root_or_type
        )
    })?;
    let id = u16::try_from(row.id).ok().filter(|&id| id > 0);
    let id = id.ok_or_else(|| format!("column {} has the id {}", row.name, row.id))?;
    let (name, code_page) = (row.name.clone(), row.pages_or_locale);
    Ok(ColumnDefinition {
        id,
        name,
        column_type,
        flags: row.flags,
        code_page,
    })
}

fn index_of_row(row: &CatalogRow) -> IndexDefinition {
    IndexDefinition {
        name: row.name.clone(),
        columns: row.key_columns.clone(),
        primary: row.flags & INDEX_PRIMARY != 0,
        unique: row.flags & INDEX_UNIQUE != 0,
        density_percent: row.density_or_size,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::catalog::catalog_definition;
    use crate::format::schema::COLUMN_AUTO_INCREMENT;

    fn messages() -> StoredTable {
        let tree = |object_id, root| StoredTree {
            object_id,
            root,
            initial_pages: 1,
        };
        let definition = TableDefinition::new("messages")
            .fixed("Id", ColumnType::LongLong, COLUMN_AUTO_INCREMENT)
            .fixed("Size", ColumnType::Long, 0)
            .variable("Token", ColumnType::Binary)
            .variable("Subject", ColumnType::Text)
            .tagged("Body", ColumnType::LongBinary)
            .primary("ById", &["Id"])
            .unique_index("ByToken", &["Token"])
            .density(90);
        StoredTable {
            definition,
            flags: 0,
            tree: StoredTree {
                initial_pages: 16,
                ..tree(8, 31)
            },
            indexes: vec![tree(9, 47)],
            long_values: Some(tree(10, 60)),
        }
    }

    #[test]
    fn tables_come_back_from_their_records() {
        let table = messages();
        let layout = RecordLayout::new(&catalog_definition().columns, PAGE_SIZES_BYTES[0]);
        let rows = rows_of_table(&table);
        assert_eq!(rows.len(), 1 + 5 + 2 + 1);
        assert!(rows.windows(2).all(|pair| pair[0].key() < pair[1].key()));
        let back: Vec<CatalogRow> = rows
            .iter()
            .map(|row| CatalogRow::decode(&layout, &row.encode(&layout).unwrap()).unwrap())
            .collect();
        assert_eq!(back, rows);
        assert_eq!(tables_of_rows(&back), Ok(vec![table]));
    }

    #[test]
    fn missing_rows_are_noticed() {
        let rows = rows_of_table(&messages());
        assert!(tables_of_rows(&rows[1..]).is_err());
        let without_primary: Vec<CatalogRow> = rows
            .iter()
            .filter(|row| row.name != "ById")
            .cloned()
            .collect();
        assert!(tables_of_rows(&without_primary).is_err());
        let without_column: Vec<CatalogRow> = rows
            .iter()
            .filter(|row| row.name != "Id")
            .cloned()
            .collect();
        assert!(tables_of_rows(&without_column).is_err());
        let mut wrong_type = rows.clone();
        wrong_type[1].root_or_type = ColumnType::LongBinary as u32;
        assert!(tables_of_rows(&wrong_type).is_err());
        let mut wrong_index = rows;
        for row in wrong_index.iter_mut().filter(|row| row.name == "ByToken") {
            row.key_columns = vec![77];
        }
        assert!(tables_of_rows(&wrong_index).is_err());
    }

    #[test]
    fn a_tables_rows_lie_in_its_key_range() {
        let (low, high) = CatalogRow::key_range(8);
        assert!(
            rows_of_table(&messages())
                .iter()
                .all(|row| row.key() >= low && row.key() < high)
        );
    }
}
