//! A table while the database is open.

use crate::error::EngineError;
use crate::format::catalog::StoredTable;
use crate::format::key::{self, StringKind, push_segment};
use crate::format::record::{Field, RecordLayout};
use crate::format::schema::{
    COLUMN_AUTO_INCREMENT, ColumnDefinition, ColumnStorage, ColumnType, IndexDefinition,
    TableDefinition,
};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::rc::Rc;

/// The tables of a database, by name.
#[derive(Default)]
pub(crate) struct Catalog {
    pub(crate) tables: BTreeMap<String, Table>,
}

/// A table of an open database. Cheap to clone.
#[derive(Clone)]
pub struct Table {
    pub(crate) state: Rc<TableState>,
}

/// What the engine knows of a table.
pub(crate) struct TableState {
    pub(crate) stored: StoredTable,
    pub(crate) layout: RecordLayout,
    /// Position of the column that is the key, and its type.
    pub(crate) key_column: usize,
    pub(crate) key_type: ColumnType,
    pub(crate) indexes: Vec<SecondaryIndex>,
    /// Whether the two counters below were read from the trees, which happens before the first
    /// change of a row.
    pub(crate) has_counters: Cell<bool>,
    /// The next automatic key.
    pub(crate) next_key: Cell<i64>,
    /// The next number of a long value.
    pub(crate) next_long_value: Cell<u32>,
}

pub(crate) struct SecondaryIndex {
    pub(crate) name: String,
    pub(crate) root: u32,
    /// Positions of the key columns, and how their strings are stored in keys.
    columns: Vec<(usize, StringKind)>,
}

impl Table {
    /// Columns and indexes as they were given when the table was created.
    #[must_use]
    pub fn definition(&self) -> &TableDefinition {
        &self.state.stored.definition
    }

    /// Name in the catalog, unique in the database.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.state.stored.definition.name
    }

    /// Opens a table that the catalog describes. The counters are set afterwards.
    pub(crate) fn new(stored: StoredTable, page_size_bytes: usize) -> Result<Self, EngineError> {
        check_definition(&stored.definition).map_err(|reason| EngineError::Definition {
            table: stored.definition.name.clone(),
            reason,
        })?;
        let definition = &stored.definition;
        let key_id = definition.indexes[0].columns[0];
        let position_of = |id: u16| {
            let place = definition.columns.iter().position(|column| column.id == id);
            place.unwrap_or_else(|| panic!("the columns of all indexes were checked"))
        };
        let key_column = position_of(key_id);
        let indexes = definition.indexes[1..].iter().zip(&stored.indexes);
        let indexes = indexes.map(|(index, tree)| SecondaryIndex {
            name: index.name.clone(),
            root: tree.root,
            columns: index
                .columns
                .iter()
                .map(|&id| position_of(id))
                .map(|position| (position, string_kind(&definition.columns[position])))
                .collect(),
        });
        let indexes = indexes.collect();
        let state = TableState {
            layout: RecordLayout::new(&definition.columns, page_size_bytes),
            key_column,
            key_type: definition.columns[key_column].column_type,
            indexes,
            has_counters: Cell::new(false),
            next_key: Cell::new(1),
            next_long_value: Cell::new(1),
            stored,
        };
        Ok(Self {
            state: Rc::new(state),
        })
    }
}

fn string_kind(column: &ColumnDefinition) -> StringKind {
    if column.column_type.is_text() {
        StringKind::Text
    } else {
        StringKind::Binary
    }
}

/// Says what this engine cannot do.
pub(crate) fn check_definition(definition: &TableDefinition) -> Result<(), String> {
    let Some((primary, secondary)) = definition.indexes.split_first() else {
        return Err("it has no primary index".to_owned());
    };
    let [key] = primary.columns.as_slice() else {
        return Err("its primary index must be on one column".to_owned());
    };
    let column = definition.column_by_id(*key);
    let Some(column) = column else {
        return Err("its primary index names a column that is not there".to_owned());
    };
    let numbered = column.flags & COLUMN_AUTO_INCREMENT != 0
        && column.storage() == ColumnStorage::Fixed
        && matches!(column.column_type, ColumnType::Long | ColumnType::LongLong);
    if !numbered {
        return Err(format!(
            "column {} must be a fixed Long or LongLong with auto-increment to be the key",
            column.name
        ));
    }
    secondary
        .iter()
        .try_for_each(|index| check_index(definition, index))
}

fn check_index(definition: &TableDefinition, index: &IndexDefinition) -> Result<(), String> {
    if !index.unique || index.primary {
        return Err(format!(
            "index {} must be a unique secondary index",
            index.name
        ));
    }
    for &id in &index.columns {
        let Some(column) = definition.column_by_id(id) else {
            return Err(format!(
                "index {} names a column that is not there",
                index.name
            ));
        };
        if column.column_type.is_long() {
            return Err(format!(
                "column {} of index {} is a long value, which cannot be a key",
                column.name, index.name
            ));
        }
    }
    Ok(())
}

impl TableState {
    pub(crate) fn name(&self) -> &str {
        &self.stored.definition.name
    }

    pub(crate) fn root(&self) -> u32 {
        self.stored.tree.root
    }

    /// Root of the long value tree.
    pub(crate) fn long_value_root(&self) -> u32 {
        let tree = self.stored.long_values.as_ref();
        tree.unwrap_or_else(|| panic!("table {} has no long values", self.name()))
            .root
    }

    /// The number of a row as a key of the table.
    pub(crate) fn key(&self, number: i64) -> Vec<u8> {
        self.row_key(number).to_vec()
    }

    /// As [`TableState::key`], without memory of its own.
    pub(crate) fn row_key(&self, number: i64) -> RowKey {
        match self.key_type {
            // No row has a number beyond the type's range: the key is out of range, too.
            ColumnType::Long => match i32::try_from(number) {
                Ok(number) => RowKey::new(&key::long_key(number)),
                Err(_) if number < 0 => RowKey::new(&[]),
                Err(_) => RowKey::new(&[0xFF]),
            },
            _ => RowKey::new(&key::long_long_key(number)),
        }
    }

    /// The number that a key of the table stands for.
    pub(crate) fn number_of_key(&self, key: &[u8]) -> Option<i64> {
        match self.key_type {
            ColumnType::Long => key::long_of_key(key).map(i64::from),
            _ => key::long_long_of_key(key),
        }
    }

    /// The row number as the value of its column.
    pub(crate) fn key_field(&self, number: i64) -> Option<Field<'static>> {
        match self.key_type {
            ColumnType::Long => i32::try_from(number).ok().map(Field::Long),
            _ => Some(Field::LongLong(number)),
        }
    }
}

/// A key of a table.
#[derive(Clone, Copy)]
pub(crate) struct RowKey {
    bytes: [u8; 9],
    length: u8,
}

impl RowKey {
    fn new(key: &[u8]) -> Self {
        let mut bytes = [0; 9];
        bytes[..key.len()].copy_from_slice(key);
        let length = key.len() as u8; // At most 9.
        Self { bytes, length }
    }
}

impl std::ops::Deref for RowKey {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        &self.bytes[..usize::from(self.length)]
    }
}

impl SecondaryIndex {
    /// The key of a row in this index.
    pub(crate) fn key_of(&self, fields: &[Field<'_>]) -> Vec<u8> {
        let mut key = Vec::new();
        for &(position, kind) in &self.columns {
            push_segment(&mut key, &fields[position], kind);
        }
        key
    }

    /// The key of the value `bytes` in an index on one binary or text column.
    pub(crate) fn key_of_bytes(&self, bytes: &[u8]) -> Vec<u8> {
        let mut key = Vec::with_capacity(key::binary_segment_bytes(bytes.len()));
        let kind = self
            .columns
            .first()
            .map_or(StringKind::Binary, |&(_, kind)| kind);
        push_segment(&mut key, &Field::Bytes(bytes), kind);
        key
    }
}
