//! Rows that are altered while no run is at work: found before the next run begins.

use super::{Load, copies};
use crate::common;
use brokerage::checks::unchanged;
use brokerage::database::seal::{self, Sealed};
use brokerage::database::sqlite::Sqlite;
use brokerage::database::{Database, postgres::Postgres};
use brokerage::profile::CheckedRows;
use measure::result::{ErrorKind, RunResult};
use std::sync::Arc;

/// An alteration, the table that it is found in, the consistency check that finds it without the
/// seal, if any does.
struct Alteration {
    sql: &'static str,
    table: &'static str,
    check: Option<&'static str>,
}

const ALTERATIONS: [Alteration; 5] = [
    Alteration {
        sql: "UPDATE customer_account SET balance_cents = balance_cents + 1000000 WHERE id = \
              (SELECT MAX(id) FROM customer_account)",
        table: "customer_account (contents of rows)",
        check: Some("accounts have a wrong balance"),
    },
    Alteration {
        sql: "UPDATE cash_transaction SET amount_cents = amount_cents + 1 WHERE trade_id = \
              (SELECT MIN(trade_id) FROM cash_transaction)",
        table: "cash_transaction (contents of rows)",
        check: Some("cash trades did not move the settled amount"),
    },
    Alteration {
        sql: "DELETE FROM settlement WHERE trade_id = (SELECT MIN(trade_id) FROM settlement)",
        table: "settlement (",
        check: Some("completed trades have no settlement"),
    },
    Alteration {
        sql: "UPDATE broker SET trade_count = trade_count + 1 WHERE id = 3",
        table: "broker (contents of rows)",
        check: Some("brokers have a wrong trade count"),
    },
    Alteration {
        sql: "UPDATE daily_market SET close_cents = close_cents + 1 \
              WHERE day = (SELECT MIN(day) FROM daily_market)",
        table: "daily_market (contents of rows)",
        check: None,
    },
];

/// Seals all rows as they are.
fn seal(database: &dyn Database) {
    let digests = unchanged::read(database, None, true, &mut |_| Ok(())).unwrap();
    seal::write(database, &digests.all).unwrap();
}

/// Starts a run, which is stopped at once if it comes so far.
fn run(database: &Arc<dyn Database>) -> RunResult {
    let load = Load::start(Arc::clone(database));
    load.wait_for_load();
    load.end()
}

#[test]
fn every_alteration_at_rest_is_found_before_the_load() {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    seal(&sqlite);
    let path = sqlite.path().to_owned();
    let good = room.path().join("good");
    let sqlite: Arc<dyn Database> = Arc::new(sqlite);
    let altered = |sql: &str| {
        let connection = rusqlite::Connection::open(&path).unwrap();
        connection
            .execute_batch("PRAGMA foreign_keys = OFF")
            .unwrap();
        assert!(connection.execute(sql, []).unwrap() > 0, "{sql}");
        connection.close().unwrap();
    };
    copies::in_one_file(&path);
    std::fs::copy(&path, &good).unwrap();
    for alteration in &ALTERATIONS {
        altered(alteration.sql);
        let result = run(&sqlite);
        let reason = &result.verdict_reason;
        assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
        assert_eq!(result.exit_status, 4);
        assert!(reason.contains(alteration.table), "{reason}");
        // Without the seal the rules remain.
        seal::remove(&*sqlite).unwrap();
        let result = run(&sqlite);
        match alteration.check {
            Some(check) => {
                let reason = &result.verdict_reason;
                assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
                assert!(reason.contains(check), "{reason}");
            }
            None => {
                let rows = &result.server.as_ref().unwrap().checked_rows;
                assert!(rows[0].contains("is not known"), "{rows:?}");
            }
        }
        for end in ["-wal", "-shm"] {
            let mut log = path.clone().into_os_string();
            log.push(end);
            let _ = std::fs::remove_file(log);
        }
        std::fs::copy(&good, &path).unwrap();
    }
    assert_eq!(run(&sqlite).ended_by(), None);
}

#[test]
fn checked_rows_decide_whether_alterations_at_rest_are_found() {
    let room = common::room();
    let sqlite = copies::sqlite(room.path());
    let path = sqlite.path().to_owned();
    let sqlite: Arc<dyn Database> = Arc::new(sqlite);
    let connection = rusqlite::Connection::open(&path).unwrap();
    let altered = "UPDATE broker SET trade_count = trade_count + 1 WHERE id = 3";
    assert_eq!(connection.execute(altered, []).unwrap(), 1);
    connection.close().unwrap();
    let run = |rows| {
        let load = Load::checking(Arc::clone(&sqlite), rows);
        load.wait_for_load();
        load.end()
    };
    let result = run(CheckedRows::OfTheRun);
    assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
    let rows = &result.server.as_ref().unwrap().checked_rows;
    assert!(rows[0].contains("rows were not examined"), "{rows:?}");
    let result = run(CheckedRows::All);
    let reason = &result.verdict_reason;
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
}

/// All rows are there, and queries that use the index miss those of the last run.
#[test]
fn an_index_that_lost_its_last_writes_is_found() {
    const INDEX: &str = "trade_by_account_id_entered_at";
    let room = common::room();
    let Some(mut cluster) = copies::cluster(&room) else {
        return;
    };
    let postgres = cluster.database().unwrap();
    let ask = |sql: &str| postgres.connect_for_sql().unwrap().ask(sql).unwrap();
    let file = ask(&format!("SELECT pg_relation_filepath('{INDEX}')"));
    let file = cluster
        .data_directory()
        .join(file[0][0].as_deref().unwrap());
    ask("CHECKPOINT");
    let older = std::fs::read(&file).unwrap();
    let database: Arc<dyn Database> = Arc::new(postgres.clone());
    let load = Load::start(Arc::clone(&database));
    load.wait_for_load();
    let trades = || ask("SELECT COUNT(*) FROM trade")[0][0].clone();
    let before = trades();
    while trades() == before {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let result = load.end();
    assert_eq!(result.ended_by(), None, "{}", result.verdict_reason);
    cluster.stop();
    std::fs::write(&file, older).unwrap();
    cluster.restart().unwrap();
    let result = run(&database);
    let reason = &result.verdict_reason;
    assert_eq!(result.ended_by(), Some(ErrorKind::Inconsistent), "{reason}");
    assert!(reason.contains(&format!("{INDEX} has ")), "{reason}");
}

/// Digests of a server's tables follow every column, also empty ones.
fn digests_follow_rows(database: &dyn Database, execute: &mut dyn FnMut(&str)) {
    common::build(database);
    let compare = || {
        let digests = unchanged::read(database, None, true, &mut |_| Ok(())).unwrap();
        assert_eq!(digests.damaged_indexes(), None);
        seal::compare(database, &digests.all).unwrap()
    };
    assert!(matches!(compare(), Sealed::Unknown(_)));
    seal(database);
    assert_eq!(compare(), Sealed::Unchanged);
    for (change, back, table) in [
        (
            "UPDATE customer_account SET balance_cents = balance_cents + 1 WHERE id = 4",
            "UPDATE customer_account SET balance_cents = balance_cents - 1 WHERE id = 4",
            "customer_account (contents of rows)",
        ),
        (
            "UPDATE news_item SET author = '' WHERE id = 3",
            "UPDATE news_item SET author = NULL WHERE id = 3",
            "news_item (contents of rows)",
        ),
        (
            "DELETE FROM watch_item WHERE watch_list_id = 4",
            "INSERT INTO watch_item VALUES (4, 't4')",
            "watch_item (9 rows, and 10 before)",
        ),
    ] {
        execute(change);
        assert_eq!(
            compare(),
            Sealed::Changed(vec![table.to_owned()]),
            "{change}"
        );
        execute(back);
        assert_eq!(compare(), Sealed::Unchanged, "{back}");
    }
    seal::remove(database).unwrap();
    assert!(matches!(compare(), Sealed::Unknown(_)));
}

#[test]
fn digests_of_postgresql_follow_rows() {
    let room = common::room();
    let Some(cluster) = common::cluster(&room) else {
        return;
    };
    let postgres: Postgres = cluster.database().unwrap();
    let mut connection = None;
    digests_follow_rows(&postgres, &mut |sql| {
        let connection = connection.get_or_insert_with(|| postgres.connect_for_sql().unwrap());
        connection.ask(sql).unwrap();
    });
}

#[test]
fn digests_of_mariadb_follow_rows() {
    let Some(server) = common::mariadb::server() else {
        return;
    };
    let maria = brokerage::database::mariadb::MariaDb::open(&server.address()).unwrap();
    let mut connection = None;
    digests_follow_rows(&maria, &mut |sql| {
        let connection = connection.get_or_insert_with(|| maria.connect_for_sql().unwrap());
        connection.ask(sql).unwrap();
    });
}

#[test]
fn digests_of_sqlite_follow_rows() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 1 << 20, 1);
    digests_follow_rows(&sqlite, &mut |sql| {
        let connection = rusqlite::Connection::open(sqlite.path()).unwrap();
        connection.execute_batch(sql).unwrap();
    });
}
