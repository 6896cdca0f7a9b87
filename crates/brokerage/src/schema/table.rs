//! What a table is.

use super::tables::TableName;

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Type {
    /// A 64-bit number: identifiers, cents, milliseconds since 1970, volumes.
    Big,
    /// A 32-bit number: days since 1970, quantities, rates.
    Integer,
    /// A 16-bit number: kinds, tiers, yes (1) or no (0).
    Small,
    /// A text of at most so many characters.
    Text(u32),
    /// A text of up to 100,000 characters.
    Long,
}

/// A column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub of: Type,
    /// Whether it may hold nothing.
    pub may_be_null: bool,
}

/// A foreign key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reference {
    /// The columns here.
    pub columns: &'static [&'static str],
    /// The table whose primary key they name.
    pub table: TableName,
}

/// A secondary index.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Index {
    /// Its columns.
    pub columns: &'static [&'static str],
    /// Whether no two rows may have the same.
    pub is_unique: bool,
}

/// How the number of rows comes about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Class {
    /// The same in every house.
    Fixed,
    /// By the number of customers.
    Scaling,
    /// By the number of customers, and trades change it.
    Growing,
}

/// A table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Table {
    /// Which one.
    pub name: TableName,
    /// How its size comes about.
    pub class: Class,
    /// Its columns, in the order in which rows come.
    pub columns: &'static [Column],
    /// The columns of the primary key.
    pub primary_key: &'static [&'static str],
    /// Its foreign keys.
    pub references: &'static [Reference],
    /// Its other indexes.
    pub indexes: &'static [Index],
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

/// The same column, which may also hold nothing.
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
