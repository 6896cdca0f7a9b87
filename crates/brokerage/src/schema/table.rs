//! Types of a table definition.

use super::names::TableName;

/// The type of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit number: identifiers, cents, milliseconds since 1970, volumes.
    Big,
    /// A 32-bit number: days since 1970, quantities, rates.
    Integer,
    /// A 16-bit number: kinds, tiers, yes (1) or no (0).
    Small,
    /// A text of at most this many characters.
    Text(u32),
    /// A text of up to 100,000 characters.
    Long,
}

/// A column of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name in SQL, the same in every database.
    pub name: &'static str,
    /// The type of its values.
    pub of: Type,
    /// Whether NULL is allowed.
    pub may_be_null: bool,
}

/// A foreign key, which refers to a primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The referring columns, in the order of the primary key.
    pub columns: &'static [&'static str],
    /// The table whose primary key they refer to.
    pub table: TableName,
}

/// A secondary index of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Its columns, in order.
    pub columns: &'static [&'static str],
    /// Whether it is a unique index.
    pub is_unique: bool,
}

/// What the number of rows depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The same for every data set.
    Fixed,
    /// Proportional to the number of customers.
    Scaling,
    /// Proportional to the number of customers, and changed by trades.
    Growing,
}

/// The definition of a table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Its name, which is also its index in [`super::tables::TABLES`].
    pub name: TableName,
    /// What its number of rows depends on.
    pub class: Class,
    /// Its columns, in the order in which rows are written.
    pub columns: &'static [Column],
    /// The columns of the primary key.
    pub primary_key: &'static [&'static str],
    /// Its foreign keys, in the order of their constraints.
    pub references: &'static [Reference],
    /// Its secondary indexes, besides the primary key.
    pub indexes: &'static [Index],
}

impl Table {
    /// Name of an index of this table by some columns, the same in all databases.
    #[must_use]
    pub fn index_name(&self, columns: &[&str]) -> String {
        format!("{}_by_{}", self.name.name(), columns.join("_"))
    }
}

pub(super) const fn big(name: &'static str) -> Column {
    column(name, Type::Big)
}

pub(super) const fn integer(name: &'static str) -> Column {
    column(name, Type::Integer)
}

pub(super) const fn small(name: &'static str) -> Column {
    column(name, Type::Small)
}

pub(super) const fn text(name: &'static str, length: u32) -> Column {
    column(name, Type::Text(length))
}

pub(super) const fn column(name: &'static str, of: Type) -> Column {
    Column {
        name,
        of,
        may_be_null: false,
    }
}

/// The same column, nullable.
pub(super) const fn or_null(column: Column) -> Column {
    Column {
        may_be_null: true,
        ..column
    }
}

pub(super) const fn refers(columns: &'static [&'static str], table: TableName) -> Reference {
    Reference { columns, table }
}

pub(super) const fn index(columns: &'static [&'static str]) -> Index {
    Index {
        columns,
        is_unique: false,
    }
}

pub(super) const fn unique(columns: &'static [&'static str]) -> Index {
    Index {
        columns,
        is_unique: true,
    }
}
