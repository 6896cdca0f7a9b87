//! Reading a whole table by every way there is.

use crate::check::{Stop, require};
use crate::model::State;
use crate::table::Db;
use edb::{Direction, LongValues, Row, ScanOptions, Table};
use std::collections::BTreeMap;

/// Reads everything by every way there is, checks that all agree, and returns it.
///
/// # Errors
/// If the engine reports an error, or two ways do not agree.
pub async fn read_all(db: &Db, table: &Table) -> Result<BTreeMap<i64, Row>, Stop> {
    let tx = db.begin();
    let fetch = ScanOptions {
        long_values: LongValues::Fetch,
        ..ScanOptions::default()
    };
    let rows = tx.scan(table, .., fetch).await?;
    let backward = ScanOptions {
        direction: Direction::Backward,
        ..fetch
    };
    let mut reversed = tx.scan(table, .., backward).await?;
    reversed.reverse();
    require(rows == reversed, || {
        "forward and backward scans differ".to_owned()
    })?;
    let leave = ScanOptions::default();
    let mut by_token = tx.scan_index(table, "ByToken", b"", leave).await?;
    let token = |row: &Row| row.values[2].as_bytes().map(<[u8]>::to_vec);
    let ascends = by_token
        .windows(2)
        .all(|pair| token(&pair[0]) < token(&pair[1]));
    require(ascends, || "the index is not in order".to_owned())?;
    by_token.sort_by_key(|row| row.key);
    let keys = |rows: &[Row]| rows.iter().map(|row| row.key).collect::<Vec<_>>();
    require(keys(&rows) == keys(&by_token), || {
        "the table and its index do not hold the same rows".to_owned()
    })?;
    for row in &rows {
        let token = row.values[2].as_bytes().unwrap_or_default();
        let found = tx
            .seek_index(table, "ByToken", token, LongValues::Leave)
            .await?;
        require(found.map(|found| found.key) == Some(row.key), || {
            format!("row {} is not found by its token", row.key)
        })?;
    }
    Ok(rows.into_iter().map(|row| (row.key, row)).collect())
}

/// Whether the rows are exactly those of the model.
#[must_use]
pub fn equals(rows: &BTreeMap<i64, Row>, state: &State) -> bool {
    rows.len() == state.len()
        && state
            .iter()
            .all(|(key, model)| rows.get(key).is_some_and(|row| model.is(row)))
}
