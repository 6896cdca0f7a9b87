//! The function `proofload_hash` of SQL, for digests of tables: SQLite has no hash of its own.

use rusqlite::Connection;
use rusqlite::functions::{Context, FunctionFlags};
use rusqlite::types::ValueRef;

/// Adds the function to a connection: a number of 32 bits from any number of values.
pub(super) fn add_to(connection: &Connection) -> rusqlite::Result<()> {
    let flags = FunctionFlags::SQLITE_UTF8 | FunctionFlags::SQLITE_DETERMINISTIC;
    connection.create_scalar_function("proofload_hash", -1, flags, |values| Ok(hash(values)))
}

/// Each value is hashed with its type and length, so that neighbours cannot trade places.
fn hash(values: &Context<'_>) -> i64 {
    let mut hasher = crc32fast::Hasher::new();
    let mut add = |kind: u8, bytes: &[u8]| {
        hasher.update(&[kind]);
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(bytes);
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
    hasher.finalize().into()
}
