//! Rows altered or lost while a run is at work: those that no transaction changes, and those of trades that
//! the run itself has completed.

use super::{Load, copies};
use crate::common;
use brokerage::database::mariadb::MariaDb;
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

/// Alters rows under a load, of which `number` is the number that a query gives. Each must be found.
fn alter(load: Load, number: Number<'_>, execute: Change<'_>) {
    load.wait_for_load();
    let before = number(LAST_TRADE);
    while number(LAST_TRADE) == before {
        sleep(Duration::from_millis(50));
    }
    for sql in ALTERATIONS {
        execute(sql);
    }
    sleep(Duration::from_secs(1));
    are_found(&load.end());
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

/// A query of one number, and a change, each by a session of its own.
type Number<'a> = &'a dyn Fn(&str) -> i64;
type Change<'a> = &'a dyn Fn(&str);

/// Puts a load on PostgreSQL, if it is installed, and alters what is there.
fn on_postgresql(alter: impl FnOnce(Load, Number<'_>, Change<'_>)) {
    let room = common::room();
    let Some(cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let ask = |sql: &str| postgres.connect_for_sql().unwrap().ask(sql).unwrap();
    let load = Load::start(Arc::new(postgres.clone()));
    alter(load, &|sql| first_number(&ask(sql)), &|sql| drop(ask(sql)));
}

/// The same of SQLite.
fn on_sqlite(alter: impl FnOnce(Load, Number<'_>, Change<'_>)) {
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
        load,
        &|sql| connect().query_row(sql, [], |row| row.get(0)).unwrap(),
        &|sql| assert!(connect().execute(sql, []).unwrap() > 0, "{sql}"),
    );
}

#[test]
fn rows_of_postgresql_altered_under_a_load_are_found() {
    on_postgresql(alter);
}

#[test]
fn rows_of_sqlite_altered_under_a_load_are_found() {
    on_sqlite(alter);
}

/// Trades that were completed after this one.
const COMPLETED_AFTER: &str = "SELECT COUNT(*) FROM trade WHERE status_id = 1 AND id > ";

/// Each alters what belongs to a trade that the run has completed, with the rule that it breaks.
const OF_COMPLETED_TRADES: [(&str, &str); 6] = [
    (
        "UPDATE trade SET trade_price_cents = trade_price_cents * 2 WHERE id = ",
        "Every trade has the charge and commission of its rates",
    ),
    (
        "UPDATE trade SET commission_cents = commission_cents + 1 WHERE id = ",
        "Brokers' commissions grew by those of their trades",
    ),
    (
        "UPDATE settlement SET amount_cents = amount_cents + 1 WHERE trade_id = ",
        "Every settlement is the value of its trade",
    ),
    (
        "UPDATE trade_history SET changed_at = changed_at + 86400000 WHERE status_id = 3 AND trade_id = ",
        "The times of every trade",
    ),
    (
        "UPDATE holding_history SET before_quantity = before_quantity + 3, \
         after_quantity = after_quantity + 3 WHERE trade_id = ",
        "Every change of a lot begins where another one has ended",
    ),
    (
        // Lots that were there before the load, as some of them are closed meanwhile.
        "UPDATE holding SET price_cents = price_cents - 1 WHERE trade_id < 3000 AND trade_id <> ",
        "Every lot has the account, security, price and time",
    ),
];

/// Alters completed trades of a run under its load. Each rule that is broken must be named.
fn alter_completed_trades(load: Load, number: Number<'_>, execute: Change<'_>) {
    let before = number(LAST_TRADE);
    load.wait_for_load();
    let completed = || number(&format!("{COMPLETED_AFTER}{before}"));
    while completed() == 0 && !load.thread.is_finished() {
        sleep(Duration::from_millis(50));
    }
    let first = format!("SELECT MIN(id) FROM trade WHERE status_id = 1 AND id > {before}");
    let trade = number(&first);
    for (sql, _) in OF_COMPLETED_TRADES {
        execute(&format!("{sql}{trade}"));
    }
    let result = load.end();
    let reason = &result.verdict_reason;
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
    let checks = &result.server.as_ref().unwrap().consistency_checks;
    for (sql, rule) in OF_COMPLETED_TRADES {
        let is_broken = checks
            .iter()
            .any(|check| !check.passed && check.rule.starts_with(rule));
        assert!(is_broken, "{sql}: {checks:?}");
    }
}

/// The number in the first row that a server returns.
fn first_number(rows: &[Vec<Option<String>>]) -> i64 {
    rows[0][0].as_deref().unwrap().parse().unwrap()
}

#[test]
fn completed_trades_of_postgresql_altered_under_a_load_are_found() {
    on_postgresql(alter_completed_trades);
}

#[test]
fn completed_trades_of_mariadb_altered_under_a_load_are_found() {
    let Some(server) = copies::mariadb() else {
        return;
    };
    let maria = MariaDb::open(&server.address()).unwrap();
    let ask = |sql: &str| maria.connect_for_sql().unwrap().ask(sql).unwrap();
    let load = Load::start(Arc::new(maria.clone()));
    alter_completed_trades(load, &|sql| first_number(&ask(sql)), &|sql| drop(ask(sql)));
}

#[test]
fn completed_trades_of_sqlite_altered_under_a_load_are_found() {
    on_sqlite(alter_completed_trades);
}
