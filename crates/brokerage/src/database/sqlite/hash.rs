//! The function `proofload_hash` of SQL, for digests of tables: SQLite has no hash of its own.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// Adds the function to a connection: a number of 32 bits from any number of values.
pub(super) fn add_to(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("proofload_hash", -1, flags, |values| Ok(hash(values)))
}

/// Most rows have no more than this.
const ROW_BYTES: usize = 512;

/// Each value is hashed with its type and length, so that neighbours cannot trade places. All of them at once:
/// a short piece costs the sum as much as a long one.
fn hash(values: &Context<'_>) -> i64 {
    let mut bytes = Vec::with_capacity(ROW_BYTES);
    let mut add = |kind: u8, value: &[u8]| {
        bytes.push(kind);
        bytes.extend_from_slice(&(value.len() as u64).to_le_bytes());
        bytes.extend_from_slice(value);
    };
    for number in 0..values.len() {
        match values.get_raw(number) {
            ValueRef::Null => add(0, &[]),
            ValueRef::Integer(value) => add(1, &value.to_le_bytes()),
            ValueRef::Real(value) => add(2, &value.to_le_bytes()),
            ValueRef::Text(bytes) => add(3, bytes),
            ValueRef::Blob(bytes) => add(4, bytes),
        }
    }
    crc32fast::hash(&bytes).into()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Databases are sealed with it, and compared by later versions.
    #[test]
    fn a_hash_stays_what_it_is() {
        let connection = Connection::open_in_memory().unwrap();
        add_to(&connection).unwrap();
        let hash =
            connection.query_one("SELECT proofload_hash(1, 'a', NULL)", [], |row| row.get(0));
        assert_eq!(hash, Ok(690_914_050_i64));
    }
}
