//! Rows that no transaction changes, altered or lost while a run is at work.

use super::{Load, copies};
use crate::common;
use measure::result::{ErrorKind, RunResult};
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

/// Each alters what neither the consistency checks nor the ledger know.
const ALTERATIONS: [&str; 5] = [
    "UPDATE zip_code SET town = 'X' WHERE code = (SELECT MIN(code) FROM zip_code)",
    "UPDATE daily_market SET close_cents = close_cents + 1 WHERE day = (SELECT MIN(day) FROM daily_market)",
    "UPDATE trade SET trade_price_cents = trade_price_cents + 100 WHERE id = (SELECT MIN(id) FROM trade)",
    "UPDATE trade_history SET changed_at = changed_at + 1 WHERE trade_id = (SELECT MIN(id) FROM trade)",
    "DELETE FROM news_reference WHERE news_item_id = (SELECT MIN(news_item_id) FROM news_reference)",
];

/// The highest id of a trade: it rises when the load has begun.
const LAST_TRADE: &str = "SELECT MAX(id) FROM trade";

/// Alters rows under a load, of which `number` is the number that a query gives.
fn alter(load: &Load, number: &dyn Fn(&str) -> i64, execute: &dyn Fn(&str)) {
    load.wait_for_load();
    let before = number(LAST_TRADE);
    while number(LAST_TRADE) == before {
        sleep(Duration::from_millis(50));
    }
    for sql in ALTERATIONS {
        execute(sql);
    }
    sleep(Duration::from_secs(1));
}

#[track_caller]
fn are_found(result: &RunResult) {
    let reason = &result.verdict_reason;
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
    for table in ["zip_code", "daily_market", "trade", "trade_history"] {
        let words = format!(" {table} (contents of rows)");
        assert!(reason.contains(&words), "{reason}");
    }
    assert!(reason.contains(" news_reference ("), "{reason}");
}

#[test]
fn rows_of_postgresql_altered_under_a_load_are_found() {
    let room = common::room();
    let Some(cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let ask = |sql: &str| postgres.connect_for_sql().unwrap().ask(sql).unwrap();
    let load = Load::start(Arc::new(postgres.clone()));
    alter(
        &load,
        &|sql| ask(sql)[0][0].as_deref().unwrap().parse().unwrap(),
        &|sql| drop(ask(sql)),
    );
    are_found(&load.end());
}

#[test]
fn rows_of_sqlite_altered_under_a_load_are_found() {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    let path = sqlite.path().to_owned();
    let connect = || {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection.busy_timeout(Duration::from_secs(60)).unwrap();
        connection
    };
    let load = Load::start(Arc::new(sqlite));
    alter(
        &load,
        &|sql| connect().query_row(sql, [], |row| row.get(0)).unwrap(),
        &|sql| assert!(connect().execute(sql, []).unwrap() > 0, "{sql}"),
    );
    are_found(&load.end());
}
