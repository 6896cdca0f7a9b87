//! One row of the catalog.

use crate::format::key::{StringKind, push_segment};
use crate::format::record::{Field, RecordError, RecordLayout};
use crate::format::schema::{COLUMN_NOT_NULL, ColumnType, TableDefinition};

/// What a row describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)] // The names say it all.
pub enum ObjectKind {
    Table = 1,
    Column = 2,
    Index = 3,
    LongValue = 4,
}

impl ObjectKind {
    fn from_code(code: i16) -> Option<Self> {
        let kinds = [Self::Table, Self::Column, Self::Index, Self::LongValue];
        kinds.into_iter().find(|kind| *kind as i16 == code)
    }
}

/// A row of the catalog, with the fields this engine uses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogRow {
    /// Object id of the table the row belongs to.
    pub table_object_id: u32,
    /// Whether the row describes a table, a column, an index or a long value tree.
    pub kind: ObjectKind,
    /// Object id of the table, index or long value tree; column id of a column.
    pub id: u32,
    /// Root page; type of a column.
    pub root_or_type: u32,
    /// Density in percent; size of a column in bytes.
    pub density_or_size: u32,
    /// Table, column or index flags.
    pub flags: u32,
    /// Initial pages; code page of a column; locale of an index.
    pub pages_or_locale: u32,
    /// Offset of a fixed column in records.
    pub record_offset: Option<u16>,
    /// Name of the table, column or index, in ASCII.
    pub name: String,
    /// Column ids of an index.
    pub key_columns: Vec<u16>,
}

/// Locale mapping flags every index of real files carries.
const LOCALE_MAP_FLAGS: i32 = 0x3_0401;
/// UTF-16 of the locale name of indexes.
const LOCALE_NAME: &[u8] = b"e\0n\0-\0U\0S\0";

mod column {
    pub const ROOT_FLAG: usize = 7;
    pub const RECORD_OFFSET: usize = 8;
    pub const LOCALE_MAP_FLAGS: usize = 9;
    pub const NAME: usize = 12;
    pub const KEY_COLUMNS: usize = 16;
    pub const LOCALE_NAME: usize = 27;
    pub const COUNT: usize = 28;
}

/// The catalog as a table.
#[must_use]
pub fn catalog_definition() -> TableDefinition {
    use ColumnType as T;
    TableDefinition::new("MSysObjects")
        .fixed("ObjidTable", T::Long, COLUMN_NOT_NULL)
        .fixed("Type", T::Short, COLUMN_NOT_NULL)
        .fixed("Id", T::Long, COLUMN_NOT_NULL)
        .fixed("ColtypOrPgnoFDP", T::Long, COLUMN_NOT_NULL)
        .fixed("SpaceUsage", T::Long, COLUMN_NOT_NULL)
        .fixed("Flags", T::Long, COLUMN_NOT_NULL)
        .fixed("PagesOrLocale", T::Long, COLUMN_NOT_NULL)
        .fixed("RootFlag", T::Bit, 0)
        .fixed("RecordOffset", T::Short, 0)
        .fixed("LCMapFlags", T::Long, 0)
        .fixed("KeyMost", T::UnsignedShort, 0)
        .fixed("LVChunkMax", T::Long, 0)
        .variable("Name", T::Text)
        .variable("Stats", T::Binary)
        .variable("TemplateTable", T::Text)
        .variable("DefaultValue", T::Binary)
        .variable("KeyFldIDs", T::Binary)
        .variable("VarSegMac", T::Binary)
        .variable("ConditionalColumns", T::Binary)
        .variable("TupleLimits", T::Binary)
        .variable("Version", T::Binary)
        .variable("SortID", T::Binary)
        .tagged("CallbackData", T::LongBinary)
        .tagged("CallbackDependencies", T::LongBinary)
        .tagged("SeparateLV", T::LongBinary)
        .tagged("SpaceHints", T::LongBinary)
        .tagged("SpaceDeferredLVHints", T::LongBinary)
        .tagged("LocaleName", T::LongBinary)
        .primary("Id", &["ObjidTable", "Type", "Id"])
        .unique_index("Name", &["ObjidTable", "Type", "Name"])
        .unique_index("RootObjects", &["RootFlag", "Name"])
}

impl CatalogRow {
    /// Key of the row in the catalog.
    #[must_use]
    pub fn key(&self) -> Vec<u8> {
        let mut key = self.table_and_kind();
        push_segment(&mut key, &Field::Long(self.id as i32), StringKind::Binary);
        key
    }

    /// Key of the row in the catalog's index "Name".
    #[must_use]
    pub fn name_key(&self) -> Vec<u8> {
        let mut key = self.table_and_kind();
        push_segment(
            &mut key,
            &Field::Bytes(self.name.as_bytes()),
            StringKind::Text,
        );
        key
    }

    /// Key of the row in the catalog's index "RootObjects": only tables are in it.
    #[must_use]
    pub fn root_key(&self) -> Option<Vec<u8>> {
        (self.kind == ObjectKind::Table).then(|| {
            let mut key = Vec::new();
            push_segment(&mut key, &Field::Bit(true), StringKind::Binary);
            push_segment(
                &mut key,
                &Field::Bytes(self.name.as_bytes()),
                StringKind::Text,
            );
            key
        })
    }

    /// The keys of the rows that describe this table: from the first (inclusive) to the second
    /// (exclusive).
    #[must_use]
    pub fn key_range(table_object_id: u32) -> (Vec<u8>, Vec<u8>) {
        let bound = |id: u32| {
            let mut key = Vec::new();
            push_segment(&mut key, &Field::Long(id as i32), StringKind::Binary);
            key
        };
        (bound(table_object_id), bound(table_object_id + 1))
    }

    fn table_and_kind(&self) -> Vec<u8> {
        let mut key = Vec::new();
        let table = Field::Long(self.table_object_id as i32);
        push_segment(&mut key, &table, StringKind::Binary);
        push_segment(
            &mut key,
            &Field::Short(self.kind as i16),
            StringKind::Binary,
        );
        key
    }

    /// The row as a record.
    ///
    /// # Errors
    /// If the name or the key columns are too long.
    pub fn encode(&self, layout: &RecordLayout) -> Result<Vec<u8>, RecordError> {
        let mut fields = [Field::Null; column::COUNT];
        let numbers = [
            self.root_or_type,
            self.density_or_size,
            self.flags,
            self.pages_or_locale,
        ];
        fields[0] = Field::Long(self.table_object_id as i32);
        fields[1] = Field::Short(self.kind as i16);
        fields[2] = Field::Long(self.id as i32);
        for (field, number) in fields[3..].iter_mut().zip(numbers) {
            *field = Field::Long(number as i32);
        }
        fields[column::NAME] = Field::Bytes(self.name.as_bytes());
        if let Some(offset) = self.record_offset {
            fields[column::RECORD_OFFSET] = Field::Short(offset as i16);
        }
        if self.kind == ObjectKind::Table {
            fields[column::ROOT_FLAG] = Field::Bit(true);
        }
        let entries: Vec<u8> = self
            .key_columns
            .iter()
            .flat_map(|id| key_entry(*id))
            .collect();
        if self.kind == ObjectKind::Index {
            fields[column::LOCALE_MAP_FLAGS] = Field::Long(LOCALE_MAP_FLAGS);
            fields[column::KEY_COLUMNS] = Field::Bytes(&entries);
            fields[column::LOCALE_NAME] = Field::Bytes(LOCALE_NAME);
        }
        layout.encode(&fields)
    }

    /// Reads a record of the catalog.
    ///
    /// # Errors
    /// If it is damaged or of a kind this engine never writes.
    pub fn decode(layout: &RecordLayout, record: &[u8]) -> Result<Self, RecordError> {
        let view = layout.view(record)?;
        let damaged = RecordError::Damaged {
            part: "catalog fields",
        };
        let long = |position: usize| match view.field(position)? {
            Field::Long(value) => Ok(value as u32),
            _ => Err(damaged.clone()),
        };
        let kind = match view.field(1)? {
            Field::Short(code) => ObjectKind::from_code(code).ok_or(damaged.clone())?,
            _ => return Err(damaged),
        };
        let name = match view.field(column::NAME)? {
            Field::Bytes(name) if name.is_ascii() => String::from_utf8_lossy(name).into_owned(),
            _ => return Err(damaged),
        };
        let record_offset = match view.field(column::RECORD_OFFSET)? {
            Field::Short(offset) => Some(offset as u16),
            _ => None,
        };
        let key_columns = match view.field(column::KEY_COLUMNS)? {
            Field::Bytes(entries) => entries.as_chunks().0.iter().map(id_of_entry).collect(),
            _ => Vec::new(),
        };
        Ok(Self {
            table_object_id: long(0)?,
            kind,
            id: long(2)?,
            root_or_type: long(3)?,
            density_or_size: long(4)?,
            flags: long(5)?,
            pages_or_locale: long(6)?,
            record_offset,
            name,
            key_columns,
        })
    }
}

/// Flags (none), a zero byte, column id.
fn key_entry(id: u16) -> [u8; 4] {
    let [low, high] = id.to_le_bytes();
    [0, 0, low, high]
}

fn id_of_entry(entry: &[u8; 4]) -> u16 {
    u16::from_le_bytes([entry[2], entry[3]])
}
