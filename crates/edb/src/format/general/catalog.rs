//! The catalog of any file of this format.

use super::record::{GeneralRecord, Stored};
use super::text::TextDecoder;
use crate::format::record::RecordError;
use crate::format::schema::{CODE_PAGE_1252, ColumnType};

/// Flags of tables that describe the catalog itself.
const TABLE_SYSTEM: u32 = 0x8000_0000;
/// Of an index: the entries of its key have four bytes.
const INDEX_LONG_ENTRIES: u32 = 0x1_0000;
const FIRST_TAGGED: u16 = 256;
const FIRST_VARIABLE: u16 = 128;
/// Offset of the first fixed column in a record.
const FIRST_OFFSET: usize = 4;

/// Columns of the catalog: number, offset in the record and bytes of fixed ones.
mod column {
    pub const TABLE: (u16, usize, usize) = (1, 4, 4);
    pub const KIND: (u16, usize, usize) = (2, 8, 2);
    pub const ID: (u16, usize, usize) = (3, 10, 4);
    pub const ROOT_OR_TYPE: (u16, usize, usize) = (4, 14, 4);
    pub const DENSITY_OR_SIZE: (u16, usize, usize) = (5, 18, 4);
    pub const FLAGS: (u16, usize, usize) = (6, 22, 4);
    pub const PAGES_OR_LOCALE: (u16, usize, usize) = (7, 26, 4);
    pub const RECORD_OFFSET: (u16, usize, usize) = (9, 31, 2);
    pub const LONG_VALUE_CHUNK: (u16, usize, usize) = (12, 39, 4);
    pub const NAME: u16 = 128;
    pub const TEMPLATE: u16 = 130;
    pub const DEFAULT: u16 = 131;
    pub const KEY_COLUMNS: u16 = 132;
    pub const CONDITIONS: u16 = 134;
    pub const TUPLE_LIMITS: u16 = 135;
}

mod kind {
    pub const TABLE: u32 = 1;
    pub const COLUMN: u32 = 2;
    pub const INDEX: u32 = 3;
    pub const LONG_VALUES: u32 = 4;
}

/// Why the catalog cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TableError {
    /// A row is damaged.
    #[error("a row of the catalog cannot be read: {0}")]
    Row(#[from] RecordError),
    /// A row misses a value, or has one that makes no sense.
    #[error("a row of the catalog makes no sense: {0}")]
    Sense(String),
}

/// A tree of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GeneralTree {
    /// Object id on its pages.
    pub object_id: u32,
    /// Number of the root page.
    pub root: u32,
}

/// A column, as the catalog describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneralColumn {
    /// Identifier of the column in records.
    pub id: u16,
    /// Name; unique in the table.
    pub name: String,
    /// Number of the type in the catalog.
    pub type_code: u32,
    /// Bytes of a fixed column.
    pub size_bytes: u32,
    /// Flags in the catalog.
    pub flags: u32,
    /// Code page of text.
    pub code_page: u32,
    /// Where a fixed column lies in a record.
    pub offset: usize,
    /// What records that hold nothing for the column stand for.
    pub default: Option<Vec<u8>>,
    /// Whether it is a column of the table's template.
    pub from_template: bool,
}

impl GeneralColumn {
    /// Type of the values; `None` if it is a deleted column's or unknown.
    #[must_use]
    pub fn column_type(&self) -> Option<ColumnType> {
        ColumnType::from_code(self.type_code)
    }

    /// What a record holds for this column.
    ///
    /// # Errors
    /// If the record is damaged there.
    pub fn stored<'r>(&self, record: &GeneralRecord<'r>) -> Result<Stored<'r>, RecordError> {
        match self.id {
            FIRST_TAGGED.. => record.tagged(self.id, self.from_template),
            FIRST_VARIABLE.. => Ok(record.variable(self.id)),
            _ => record.fixed(self.id, self.offset, self.size_bytes as usize),
        }
    }
}

/// A column of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct KeyColumn {
    /// Number of the column.
    pub id: u16,
    /// Whether higher values come first.
    pub descending: bool,
}

/// An index, as the catalog describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneralIndex {
    /// Name; unique in the table.
    pub name: String,
    /// Its entries; of the primary index, the rows.
    pub tree: GeneralTree,
    /// Flags in the catalog.
    pub flags: u32,
    /// Columns of the key, most significant first.
    pub columns: Vec<KeyColumn>,
    /// Whether only rows that meet a condition are in it, or parts of values are.
    pub is_partial: bool,
}

impl GeneralIndex {
    /// Whether the table itself is ordered by it.
    #[must_use]
    pub fn is_primary(&self) -> bool {
        self.flags & 0x20 != 0
    }

    /// Whether no two rows have the same key.
    #[must_use]
    pub fn is_unique(&self) -> bool {
        self.flags & 0x1 != 0
    }
}

/// A table, as the catalog describes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GeneralTable {
    /// Name; unique in the file.
    pub name: String,
    /// The tree that holds its rows.
    pub tree: GeneralTree,
    /// Flags in the catalog.
    pub flags: u32,
    /// Columns by number, those of the template first.
    pub columns: Vec<GeneralColumn>,
    /// Indexes, in the order of the catalog.
    pub indexes: Vec<GeneralIndex>,
    /// The tree of its long values.
    pub long_values: Option<GeneralTree>,
    /// Bytes of a full chunk of a long value, if the catalog says so.
    pub chunk_bytes: Option<u32>,
    template: Option<String>,
}

impl GeneralTable {
    /// Whether it is one of those that every file has.
    #[must_use]
    pub fn is_system(&self) -> bool {
        self.flags & TABLE_SYSTEM != 0
    }
}

/// A row of the catalog.
struct Row<'r>(GeneralRecord<'r>);

impl<'r> Row<'r> {
    fn bytes(&self, stored: &Stored<'r>) -> Option<&'r [u8]> {
        match stored {
            Stored::One(part) => Some(part.bytes),
            _ => None,
        }
    }

    fn number(&self, place: (u16, usize, usize)) -> Result<Option<u32>, TableError> {
        let stored = self.0.fixed(place.0, place.1, place.2)?;
        Ok(self.bytes(&stored).map(|bytes| {
            bytes
                .iter()
                .rev()
                .fold(0, |number, &byte| number << 8 | u32::from(byte))
        }))
    }

    fn required(&self, place: (u16, usize, usize)) -> Result<u32, TableError> {
        let number = self.number(place)?;
        number.ok_or_else(|| TableError::Sense(format!("column {} has no value", place.0)))
    }

    fn variable(&self, id: u16) -> Option<&'r [u8]> {
        self.bytes(&self.0.variable(id))
    }

    fn text(&self, id: u16) -> Option<String> {
        let bytes = self.variable(id)?;
        Some(TextDecoder::whole(CODE_PAGE_1252, bytes))
    }

    fn name(&self) -> Result<String, TableError> {
        let name = self.text(column::NAME);
        name.ok_or_else(|| TableError::Sense("an object has no name".to_owned()))
    }

    fn tree(&self) -> Result<GeneralTree, TableError> {
        Ok(GeneralTree {
            object_id: self.required(column::ID)?,
            root: self.required(column::ROOT_OR_TYPE)?,
        })
    }
}

/// Reads tables from the records of the catalog, in their order.
///
/// # Errors
/// If a row cannot be read or makes no sense.
pub fn tables_of_catalog<'r>(
    records: impl IntoIterator<Item = &'r [u8]>,
    page_size_bytes: usize,
) -> Result<Vec<GeneralTable>, TableError> {
    let mut tables: Vec<GeneralTable> = Vec::new();
    for record in records {
        let row = Row(GeneralRecord::new(record, page_size_bytes)?);
        let kind = row.required(column::KIND)?;
        if kind == kind::TABLE {
            tables.push(new_table(&row)?);
            continue;
        }
        let owner = row.required(column::TABLE)?;
        let table = tables.last_mut().filter(|t| t.tree.object_id == owner);
        let table = table
            .ok_or_else(|| TableError::Sense(format!("object {owner} has rows but is no table")))?;
        match kind {
            kind::COLUMN => add_column(table, &row)?,
            kind::INDEX => table.indexes.push(new_index(&row)?),
            kind::LONG_VALUES => {
                table.long_values = Some(row.tree()?);
                table.chunk_bytes = row.number(column::LONG_VALUE_CHUNK)?;
            }
            // Callbacks and whatever later versions add describe no data.
            _ => {}
        }
    }
    add_templates(&mut tables)?;
    Ok(tables)
}

fn new_table(row: &Row<'_>) -> Result<GeneralTable, TableError> {
    Ok(GeneralTable {
        name: row.name()?,
        tree: row.tree()?,
        flags: row.required(column::FLAGS)?,
        columns: Vec::new(),
        indexes: Vec::new(),
        long_values: None,
        chunk_bytes: None,
        template: row.text(column::TEMPLATE),
    })
}

fn add_column(table: &mut GeneralTable, row: &Row<'_>) -> Result<(), TableError> {
    let name = row.name()?;
    let id = row.required(column::ID)?;
    let id = u16::try_from(id).ok().filter(|&id| id > 0);
    let id = id.ok_or_else(|| TableError::Sense(format!("column {name} has no number")))?;
    let type_code = row.required(column::ROOT_OR_TYPE)?;
    let stated = row.required(column::DENSITY_OR_SIZE)?;
    let of_type = ColumnType::from_code(type_code).and_then(ColumnType::fixed_bytes);
    let size_bytes = of_type.map_or(stated, |bytes| bytes as u32);
    // What follows the column before it. The system tables state no offsets of their own.
    let before = table.columns.last().filter(|_| id < FIRST_VARIABLE);
    let following = before.map_or(FIRST_OFFSET, |column| {
        column.offset.saturating_add(column.size_bytes as usize)
    });
    let recorded = row.number(column::RECORD_OFFSET)?.unwrap_or(0) as usize;
    let offset = if table.is_system() || recorded < FIRST_OFFSET {
        following
    } else {
        recorded
    };
    table.columns.push(GeneralColumn {
        id,
        name,
        type_code,
        size_bytes,
        flags: row.required(column::FLAGS)?,
        code_page: row.required(column::PAGES_OR_LOCALE)?,
        offset,
        default: row.variable(column::DEFAULT).map(<[u8]>::to_vec),
        from_template: false,
    });
    Ok(())
}

fn new_index(row: &Row<'_>) -> Result<GeneralIndex, TableError> {
    let flags = row.required(column::FLAGS)?;
    let entries = row.variable(column::KEY_COLUMNS).unwrap_or_default();
    let columns = if flags & INDEX_LONG_ENTRIES != 0 {
        let (entries, _) = entries.as_chunks();
        entries.iter().map(key_column).collect()
    } else {
        let (entries, _) = entries.as_chunks();
        entries.iter().map(short_key_column).collect()
    };
    let is_partial =
        [column::CONDITIONS, column::TUPLE_LIMITS].map(|id| row.variable(id).is_some());
    Ok(GeneralIndex {
        name: row.name()?,
        tree: row.tree()?,
        flags,
        columns,
        is_partial: is_partial.contains(&true),
    })
}

/// Flags, a zero byte, number.
fn key_column(&[flags, _, low, high]: &[u8; 4]) -> KeyColumn {
    KeyColumn {
        id: u16::from_le_bytes([low, high]),
        descending: flags & 0x40 != 0,
    }
}

/// A number, negative if higher values come first.
fn short_key_column(entry: &[u8; 2]) -> KeyColumn {
    let id = i16::from_le_bytes(*entry);
    KeyColumn {
        id: id.unsigned_abs(),
        descending: id < 0,
    }
}

/// Gives tables made from a template its columns.
fn add_templates(tables: &mut [GeneralTable]) -> Result<(), TableError> {
    for index in 0..tables.len() {
        let Some(name) = tables[index].template.clone() else {
            continue;
        };
        let template = tables.iter().find(|table| table.name == name);
        let template = template.filter(|table| table.template.is_none());
        let template =
            template.ok_or_else(|| TableError::Sense(format!("there is no template {name}")))?;
        let mut columns = template.columns.clone();
        for column in &mut columns {
            column.from_template = true;
        }
        columns.append(&mut tables[index].columns);
        tables[index].columns = columns;
    }
    Ok(())
}
