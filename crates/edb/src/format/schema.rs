//! Tables, columns and indexes as a person defines them.
//!
//! Column ids follow from the kind of storage: fixed columns from 1, variable from 128, tagged from
//! 256, each range without holes (some readers find a fixed column by adding up the sizes of those
//! before it).

use std::fmt;
use strum::FromRepr;

/// Type of a column, with the number the catalog stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, FromRepr)]
#[repr(u8)]
#[allow(missing_docs)] // The names say it all.
pub enum ColumnType {
    Bit = 1,
    UnsignedByte = 2,
    Short = 3,
    Long = 4,
    Currency = 5,
    Float32 = 6,
    Float64 = 7,
    DateTime = 8,
    Binary = 9,
    Text = 10,
    LongBinary = 11,
    LongText = 12,
    UnsignedLong = 14,
    LongLong = 15,
    Guid = 16,
    UnsignedShort = 17,
}

impl ColumnType {
    /// The type with this number in the catalog.
    #[must_use]
    pub fn from_code(code: u32) -> Option<Self> {
        Self::from_repr(u8::try_from(code).ok()?)
    }

    /// Bytes of a value, `None` when values differ in length.
    #[must_use]
    pub const fn fixed_bytes(self) -> Option<usize> {
        match self {
            Self::Bit | Self::UnsignedByte => Some(1),
            Self::Short | Self::UnsignedShort => Some(2),
            Self::Long | Self::UnsignedLong | Self::Float32 => Some(4),
            Self::Currency | Self::Float64 | Self::DateTime | Self::LongLong => Some(8),
            Self::Guid => Some(16),
            Self::Binary | Self::Text | Self::LongBinary | Self::LongText => None,
        }
    }

    /// Whether values may be longer than 255 bytes and lie in the long value tree.
    #[must_use]
    pub const fn is_long(self) -> bool {
        matches!(self, Self::LongBinary | Self::LongText)
    }

    /// Whether values are text in the column's code page.
    #[must_use]
    pub const fn is_text(self) -> bool {
        matches!(self, Self::Text | Self::LongText)
    }
}

/// Where the column's values lie in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum ColumnStorage {
    /// Always there, at a fixed offset. Ids 1..=127.
    Fixed,
    /// Up to 255 bytes, found through an offset array. Ids 128..=255.
    Variable,
    /// Listed only when there is a value; the only place for long types. Ids from 256.
    Tagged,
}

impl ColumnStorage {
    /// Storage of the column with this id.
    ///
    /// # Panics
    /// For id 0, which no column has.
    #[must_use]
    pub fn of(id: u16) -> Self {
        assert!(id > 0, "column ids start at 1");
        match id {
            1..=127 => Self::Fixed,
            128..=255 => Self::Variable,
            _ => Self::Tagged,
        }
    }

    /// The first id of this storage.
    #[must_use]
    pub const fn first_id(self) -> u16 {
        match self {
            Self::Fixed => 1,
            Self::Variable => 128,
            Self::Tagged => 256,
        }
    }
}

/// Column flag: a value is required.
pub const COLUMN_NOT_NULL: u32 = 0x1;
/// Column flag: the engine numbers new rows in this column.
pub const COLUMN_AUTO_INCREMENT: u32 = 0x4;
/// Code page of ASCII and Western text.
pub const CODE_PAGE_1252: u32 = 1252;
/// Code page of UTF-16, little-endian.
pub const CODE_PAGE_UTF16: u32 = 1200;

/// Number, name and type of one column of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ColumnDefinition {
    /// Number in records; see [`ColumnStorage`].
    pub id: u16,
    /// Name in the catalog, ASCII only.
    pub name: String,
    /// Type of the values.
    pub column_type: ColumnType,
    /// Sum of `COLUMN_*` flags.
    pub flags: u32,
    /// Code page of text columns, 0 for others.
    pub code_page: u32,
}

impl ColumnDefinition {
    /// Where the values lie.
    #[must_use]
    pub fn storage(&self) -> ColumnStorage {
        ColumnStorage::of(self.id)
    }
}

/// One index, primary or secondary.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IndexDefinition {
    /// Name in the catalog, ASCII only.
    pub name: String,
    /// Ids of the key columns, most significant first, all ascending.
    pub columns: Vec<u16>,
    /// Whether the table itself is ordered by this index.
    pub primary: bool,
    /// Whether no two rows may have the same key.
    pub unique: bool,
    /// How full a bulk load or an append leaves the pages.
    pub density_percent: u32,
}

/// One table with its columns and indexes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDefinition {
    /// Name in the catalog, ASCII only.
    pub name: String,
    /// Columns in id order.
    pub columns: Vec<ColumnDefinition>,
    /// Indexes, the primary one first.
    pub indexes: Vec<IndexDefinition>,
    /// How full a bulk load leaves the pages of the table.
    pub density_percent: u32,
    /// How full a bulk load leaves the pages of long values.
    pub long_value_density_percent: u32,
}

/// The density ESE gives tables and indexes when nothing else is asked for.
pub const DEFAULT_DENSITY_PERCENT: u32 = 80;

impl TableDefinition {
    /// A table without columns.
    ///
    /// # Panics
    /// If the name is empty, longer than 64 bytes or not printable ASCII.
    #[must_use]
    pub fn new(name: &str) -> Self {
        assert_name(name);
        Self {
            name: name.to_owned(),
            columns: Vec::new(),
            indexes: Vec::new(),
            density_percent: DEFAULT_DENSITY_PERCENT,
            long_value_density_percent: 100,
        }
    }

    /// Adds a column stored at a fixed offset.
    ///
    /// # Panics
    /// If the type has no fixed size, or there are 127 of them already.
    #[must_use]
    pub fn fixed(self, name: &str, column_type: ColumnType, flags: u32) -> Self {
        assert!(
            column_type.fixed_bytes().is_some(),
            "{column_type:?} has no fixed size"
        );
        self.column(name, column_type, flags, ColumnStorage::Fixed)
    }

    /// Adds a binary or text column of up to 255 bytes.
    ///
    /// # Panics
    /// If the type is neither, or there are 128 of them already.
    #[must_use]
    pub fn variable(self, name: &str, column_type: ColumnType) -> Self {
        assert!(matches!(column_type, ColumnType::Binary | ColumnType::Text));
        self.column(name, column_type, 0, ColumnStorage::Variable)
    }

    /// Adds a column that takes room only where it has a value; the only storage for long types.
    #[must_use]
    pub fn tagged(self, name: &str, column_type: ColumnType) -> Self {
        self.column(name, column_type, 0, ColumnStorage::Tagged)
    }

    /// Orders the table by these columns.
    ///
    /// # Panics
    /// If there is a primary index already or a column has no such name.
    #[must_use]
    pub fn primary(mut self, name: &str, columns: &[&str]) -> Self {
        assert!(
            self.indexes.is_empty(),
            "the primary index comes first and only once"
        );
        let index = self.index_definition(name, columns, true, true);
        self.indexes.push(index);
        self
    }

    /// Adds a unique secondary index.
    ///
    /// # Panics
    /// If there is no primary index yet or a column has no such name.
    #[must_use]
    pub fn unique_index(mut self, name: &str, columns: &[&str]) -> Self {
        assert!(!self.indexes.is_empty(), "define the primary index first");
        let index = self.index_definition(name, columns, false, true);
        self.indexes.push(index);
        self
    }

    /// Sets how full a bulk load leaves the pages of table and secondary indexes.
    ///
    /// # Panics
    /// If it is not within 20..=100.
    #[must_use]
    pub fn density(mut self, percent: u32) -> Self {
        assert!((20..=100).contains(&percent), "a density of {percent} %");
        self.density_percent = percent;
        self.indexes
            .iter_mut()
            .for_each(|index| index.density_percent = percent);
        self
    }

    /// Position of a column in [`Self::columns`], and so of its value in a row.
    #[must_use]
    pub fn position(&self, column: &str) -> Option<usize> {
        self.columns
            .iter()
            .position(|candidate| candidate.name == column)
    }

    /// The column with this id.
    #[must_use]
    pub fn column_by_id(&self, id: u16) -> Option<&ColumnDefinition> {
        self.columns.iter().find(|column| column.id == id)
    }

    /// Whether rows can have long values, and so the table has a long value tree.
    #[must_use]
    pub fn has_long_values(&self) -> bool {
        self.columns
            .iter()
            .any(|column| column.column_type.is_long())
    }

    fn column(mut self, name: &str, kind: ColumnType, flags: u32, storage: ColumnStorage) -> Self {
        assert_name(name);
        assert!(
            self.position(name).is_none(),
            "column {name} is defined twice"
        );
        let same = self
            .columns
            .iter()
            .filter(|column| column.storage() == storage)
            .count();
        let id = storage.first_id() + same as u16;
        assert_eq!(ColumnStorage::of(id), storage, "too many columns in {self}");
        let code_page = if kind.is_text() { CODE_PAGE_1252 } else { 0 };
        let name = name.to_owned();
        self.columns.push(ColumnDefinition {
            id,
            name,
            column_type: kind,
            flags,
            code_page,
        });
        self.columns.sort_by_key(|column| column.id);
        self
    }

    fn index_definition(
        &self,
        name: &str,
        columns: &[&str],
        primary: bool,
        unique: bool,
    ) -> IndexDefinition {
        assert_name(name);
        assert!(!columns.is_empty(), "index {name} has no columns");
        let id_of = |column: &&str| {
            let position = self.position(column);
            assert!(
                position.is_some(),
                "index {name}: there is no column {column}"
            );
            position.map_or(0, |position| self.columns[position].id)
        };
        IndexDefinition {
            name: name.to_owned(),
            columns: columns.iter().map(id_of).collect(),
            primary,
            unique,
            density_percent: self.density_percent,
        }
    }
}

impl fmt::Display for TableDefinition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "table {}", self.name)
    }
}

fn assert_name(name: &str) {
    let printable = name.bytes().all(|byte| (0x20..0x7F).contains(&byte));
    assert!(
        printable && (1..=64).contains(&name.len()),
        "{name:?} is not a valid name"
    );
}
