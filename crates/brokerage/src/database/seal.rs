//! The seal: a digest of all rows of each table, by which rows that were changed while no run was at
//! work are found.
//!
//! It is kept in the database, in a table of names and values beside the marker. A run removes it
//! before its first change and writes it anew when all checks have passed, so a run that was interrupted
//! leaves none.

use super::digest::TableDigest;
use super::interface::Database;
use super::run_mark::RunMark;
use super::text_rows::TextRows;
use crate::error::DatabaseError;
use crate::schema::TABLES;

/// Name of the table of names and values.
pub const STATE_TABLE: &str = "proofload_state";
/// The name of the seal in it, before the name of a table.
const SEAL: &str = "seal ";
/// The name of the server's version when the seal was written: another version may hash otherwise.
const SEALED_BY: &str = "sealed by";

/// What the seal says about the rows that are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sealed {
    /// Every row of every table is as it was.
    Unchanged,
    /// These tables have other rows, each with a description.
    Changed(Vec<String>),
    /// There is no seal, with the reason.
    Unknown(String),
}

/// The statement that creates the table of names and values.
pub(super) fn create_state_table(text_type: &str) -> String {
    format!(
        "CREATE TABLE IF NOT EXISTS {STATE_TABLE} (name {text_type} NOT NULL, \
         value {text_type} NOT NULL)"
    )
}

/// Compares the rows of all tables, of which these are the digests in the order of the tables, with the
/// seal.
///
/// # Errors
/// Those of the database.
pub fn compare(database: &dyn Database, digests: &[TableDigest]) -> Result<Sealed, DatabaseError> {
    let state = database.state_values()?;
    let value = |name: &str| {
        let found = state.iter().find(|(one, _)| one == name);
        found.map(|(_, value)| value.as_str())
    };
    let Some(by) = value(SEALED_BY) else {
        return Ok(Sealed::Unknown(
            "the last run did not end with all checks passed".to_owned(),
        ));
    };
    let server = database.server()?.name;
    if by != server {
        return Ok(Sealed::Unknown(format!(
            "digests of {by} cannot be compared with those of {server}"
        )));
    }
    let mut changed = Vec::new();
    for (table, digest) in TABLES.iter().zip(digests) {
        let name = table.name.name();
        let found = digest.value();
        match value(&format!("{SEAL}{name}")) {
            Some(expected) if expected == found => {}
            Some(expected) => changed.push(digest.difference(name, rows_in(expected))),
            None => changed.push(format!("{name} (not sealed)")),
        }
    }
    Ok(match changed.is_empty() {
        true => Sealed::Unchanged,
        false => Sealed::Changed(changed),
    })
}

/// The number of rows in the value of a digest; 0 in one that is damaged.
fn rows_in(value: &str) -> u64 {
    let rows = value.split(' ').next().and_then(|rows| rows.parse().ok());
    rows.unwrap_or(0)
}

/// Seals the rows of all tables, of which these are the digests, in the order of the tables.
///
/// # Errors
/// Those of the database.
pub fn write(database: &dyn Database, digests: &[TableDigest]) -> Result<(), DatabaseError> {
    let sealed = TABLES.iter().zip(digests).map(|(table, digest)| {
        let name = format!("{SEAL}{}", table.name.name());
        (name, digest.value())
    });
    let mut values: Vec<(String, String)> = sealed.collect();
    values.push((SEALED_BY.to_owned(), database.server()?.name));
    values.extend(RunMark::kept(&database.state_values()?));
    database.set_state_values(&values)
}

/// Removes the seal: rows will change.
///
/// # Errors
/// Those of the database.
pub fn remove(database: &dyn Database) -> Result<(), DatabaseError> {
    let values = database.state_values()?;
    let kept: Vec<(String, String)> = RunMark::kept(&values).into_iter().collect();
    if values == kept {
        return Ok(());
    }
    database.set_state_values(&kept)
}

/// The statements that replace all names and values.
pub(super) fn replace_values(values: &[(String, String)]) -> Vec<String> {
    let mut sql = vec![format!("DELETE FROM {STATE_TABLE}")];
    if !values.is_empty() {
        let quoted = |text: &str| format!("'{}'", text.replace('\'', "''"));
        let rows: Vec<String> = values
            .iter()
            .map(|(name, value)| format!("({}, {})", quoted(name), quoted(value)))
            .collect();
        sql.push(format!(
            "INSERT INTO {STATE_TABLE} (name, value) VALUES {}",
            rows.join(", ")
        ));
    }
    sql
}

/// The query whose rows are names and values.
pub(super) fn values_query() -> String {
    format!("SELECT name, value FROM {STATE_TABLE}")
}

/// Names and values from the rows of the query.
pub(super) fn values_of(rows: TextRows) -> Vec<(String, String)> {
    let pair = |row: Vec<Option<String>>| {
        let mut columns = row.into_iter();
        Some((columns.next()??, columns.next()??))
    };
    rows.into_iter().filter_map(pair).collect()
}
