//! Reading a whole table by every way there is.

use crate::common::Db;
use crate::sessions::State;
use edb::{Direction, EngineError, LongValues, Row, ScanOptions, Table};
use std::collections::BTreeMap;

/// Reads everything by every way there is, checks that all agree, and returns it.
pub async fn read_all(db: &Db, table: &Table) -> Result<BTreeMap<i64, Row>, EngineError> {
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
    assert!(rows == reversed, "forward and backward scans differ");
    let leave = ScanOptions::default();
    let mut by_token = tx.scan_index(table, "ByToken", b"", leave).await?;
    assert!(
        by_token
            .windows(2)
            .all(|pair| { pair[0].values[2].as_bytes() < pair[1].values[2].as_bytes() })
    );
    by_token.sort_by_key(|row| row.key);
    let keys = |rows: &[Row]| rows.iter().map(|row| row.key).collect::<Vec<_>>();
    assert_eq!(keys(&rows), keys(&by_token), "table and index differ");
    for row in &rows {
        let token = row.values[2].as_bytes().unwrap();
        let found = tx
            .seek_index(table, "ByToken", token, LongValues::Leave)
            .await?;
        assert_eq!(found.map(|found| found.key), Some(row.key));
    }
    Ok(rows.into_iter().map(|row| (row.key, row)).collect())
}

/// Whether the rows are exactly those of the model.
pub fn equals(rows: &BTreeMap<i64, Row>, state: &State) -> bool {
    rows.len() == state.len()
        && state
            .iter()
            .all(|(key, model)| rows.get(key).is_some_and(|row| model.is(row)))
}
