//! The rows of a table in two numbers.

use super::text_rows::TextRows;
use crate::error::DatabaseError;
use crate::schema::{Column, Table};
use std::fmt::Write as _;

/// Rows of a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigest {
    /// How many there are.
    pub rows: u64,
    /// Sum of their hashes, as the database prints it.
    pub hash: String,
}

impl TableDigest {
    /// Both, for the table of the seal.
    pub(super) fn value(&self) -> String {
        format!("{} rows, {}", self.rows, self.hash)
    }

    /// What is different from an earlier digest of this many rows, in words behind the name of the table.
    #[must_use]
    pub fn difference(&self, table: &str, rows_before: u64) -> String {
        match self.rows == rows_before {
            true => format!("{table} (contents of rows)"),
            false => format!("{table} ({} rows, and {rows_before} before)", self.rows),
        }
    }
}

/// A part of a table: some columns of some rows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TablePart {
    /// The columns, in the order of the table.
    pub columns: Vec<&'static Column>,
    /// Only rows with at most this number in this column.
    pub up_to: Option<(&'static str, i64)>,
}

/// What one pass over a table gives.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TableDigests {
    /// Of all rows and columns.
    pub all: TableDigest,
    /// Of the part that was asked for.
    pub part: Option<TableDigest>,
}

/// The query for a digest of the table, which it calls `t`, and of a part of it. `hash` is the number of a row, of these columns
/// or of all, and `text` the type of texts in a CAST.
pub(super) fn query(
    table: &Table,
    part: Option<&TablePart>,
    text: &str,
    hash: impl Fn(Option<&[&'static Column]>) -> String,
) -> String {
    let sum = |hashes: String| format!("CAST(COALESCE(SUM({hashes}), 0) AS {text})");
    let mut sql = format!("SELECT COUNT(*), {}", sum(hash(None)));
    if let Some(part) = part {
        let is_of_part = part.up_to.map_or_else(
            || "1 = 1".to_owned(),
            |(column, number)| format!("{column} <= {number}"),
        );
        let of_part = |what: &str| format!("CASE WHEN {is_of_part} THEN {what} END");
        let hashes = of_part(&hash(Some(&part.columns)));
        let _ = write!(sql, ", COUNT({}), {}", of_part("1"), sum(hashes));
    }
    let _ = write!(sql, " FROM {} t", table.name.name());
    sql
}

/// The digests from the row of the query.
pub(super) fn digests_of(table: &Table, rows: TextRows) -> Result<TableDigests, DatabaseError> {
    let mut columns = rows.into_iter().next().unwrap_or_default().into_iter();
    let mut next = || {
        let rows = columns.next().flatten()?.parse().ok()?;
        let hash = columns.next().flatten()?;
        Some(TableDigest { rows, hash })
    };
    let no_number = || {
        DatabaseError::failed(
            format!("the digest of {}", table.name.name()),
            "the server gave no number",
        )
    };
    Ok(TableDigests {
        all: next().ok_or_else(no_number)?,
        part: next(),
    })
}

/// Columns as texts, with NULL distinguished from an empty one.
pub(super) fn as_texts<'a>(columns: impl IntoIterator<Item = &'a Column>, is_null: &str) -> String {
    let text = |column: &Column| match column.may_be_null {
        true => format!("COALESCE({}, {is_null})", column.name),
        false => column.name.to_owned(),
    };
    let texts: Vec<String> = columns.into_iter().map(text).collect();
    texts.join(", ")
}

/// The names of columns.
pub(super) fn names<'a>(columns: impl IntoIterator<Item = &'a Column>) -> String {
    let names: Vec<&str> = columns.into_iter().map(|column| column.name).collect();
    names.join(", ")
}
