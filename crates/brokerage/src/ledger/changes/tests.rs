use super::*;
use crate::database::sqlite::Sqlite;
use crate::database::{Build, Database};
use crate::ledger::Ledger;
use crate::transactions::data_maintenance::Input;
use std::time::{Duration, Instant};

#[test]
fn the_last_change_counts_and_of_overlapping_ones_either() {
    let of = |changes: &[(u32, u32, u32)]| {
        let mut last = LastChange::default();
        changes.iter().for_each(|(content, begun_ms, ended_ms)| {
            last.add(*content, *begun_ms, *ended_ms);
        });
        last
    };
    let one_after_the_other = of(&[(1, 0, 10), (2, 11, 20)]);
    assert_eq!(one_after_the_other.lost(Some(1)), Some(20));
    assert_eq!(one_after_the_other.lost(Some(2)), None);
    assert_eq!(one_after_the_other.lost(None), Some(20));
    // The same millisecond does not say which was first.
    for begun_ms in [5, 10] {
        let overlapping = of(&[(1, 0, 10), (2, begun_ms, 20)]);
        assert_eq!([1, 2].map(|one| overlapping.lost(Some(one))), [None; 2]);
        assert_eq!(overlapping.lost(Some(3)), Some(20));
    }
    // A long one overlaps both of the others, of which the first is not the last.
    let long = of(&[(1, 0, 10), (2, 11, 20), (3, 5, 30)]);
    assert_eq!(
        [1, 2, 3].map(|one| long.lost(Some(one))),
        [Some(30), None, None]
    );
    let mut unknown = of(&[(1, 0, 10)]);
    unknown.is_unknown = true;
    assert_eq!((unknown.is_known(), unknown.lost(Some(9))), (false, None));
    assert!(!LastChange::default().is_known());
}

/// A database with trades of these ids, whose executors have these names, and an exchange.
fn database(executors: &[(i64, &str)]) -> (tempfile::TempDir, Sqlite) {
    let room = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::new(room.path(), 1 << 20, 1);
    sqlite.create(&Build::new(1_000, 1, 7)).unwrap();
    let connection = rusqlite::Connection::open(sqlite.path()).unwrap();
    let execute = |sql: &str| connection.execute_batch(sql).unwrap();
    execute("PRAGMA foreign_keys = OFF");
    for (id, name) in executors {
        execute(&format!(
            "INSERT INTO trade VALUES ({id}, 0, 1, 1, 1, 'A', 1, 1, 1, '{name}', 1, 0, 0, 0, 0);
             INSERT INTO settlement VALUES ({id}, 'Cash', 0, 0)"
        ));
    }
    (room, sqlite)
}

const BASE: i64 = 100;

/// A ledger of updates of trades with ids up to the highest one before the run, all at the same time.
fn ledger(updates: &[(Column, i64, &str)], unknown: &[(Column, i64)]) -> Ledger {
    let ledger = Ledger::unnamed().unwrap();
    ledger.begin(BASE, Instant::now());
    for (column, trade, text) in updates {
        ledger.updated(Instant::now(), *column, &[(*trade, (*text).to_owned())]);
    }
    ledger.update_unknown(unknown);
    ledger
}

#[test]
fn a_lost_update_is_found_in_any_number_of_parts() {
    let (_room, sqlite) = database(&[(1, "A B"), (2, "C X D"), (3, "E F"), (4, "G H")]);
    let updates = [
        (Column::Executor, 1, "A B"),
        (Column::CashType, 1, "Cash"),
        (Column::Executor, 2, "C D"),
        (Column::Executor, 3, "E X F"),
        (Column::CashType, 4, "Cash Account"),
        (Column::Executor, 5, "I J"),
    ];
    for parts in [1, 2, 5] {
        let ledger = ledger(&updates, &[(Column::Executor, 3), (Column::Executor, 4)]);
        let mut closed = ledger.close().unwrap();
        assert_eq!(closed.updated_rows, 8);
        let mut work = AcknowledgedWork::default();
        let mut session = sqlite.connect().unwrap();
        compare_updates_in_parts(&mut closed.file, parts, &mut *session, &mut work).unwrap();
        // Of the executor of trade 3 nothing can be said.
        assert_eq!((work.updated_rows, work.lost_updates), (5, 3), "{work:?}");
        for of in [
            "executor of trade 2",
            "cash type of trade 4",
            "executor of trade 5",
        ] {
            assert!(work.first.iter().any(|one| one.contains(of)), "{work:?}");
        }
        let summary = crate::ledger::compare::summary(&work).unwrap();
        let says = "3 of 5 updated rows do not hold";
        assert!(summary.starts_with(says), "{summary}");
    }
}

#[test]
fn a_lost_round_of_data_maintenance_is_found() {
    let (_room, sqlite) = database(&[]);
    let connection = rusqlite::Connection::open(sqlite.path()).unwrap();
    let set = |text: &str| {
        let sql =
            format!("DELETE FROM tax_rate; INSERT INTO tax_rate VALUES ('C001', '{text}', 1)");
        connection.execute_batch(&sql).unwrap();
    };
    let mut session = sqlite.connect().unwrap();
    let query = || Input::TaxRate("C001".to_owned()).query();
    let mut found = || {
        let mut batch = Batch::new();
        batch.add_call(query());
        let asked = ask(&mut *session, Isolation::ReadCommitted, batch);
        complete(asked).unwrap().of(0).content()
    };
    set("first");
    let first = found();
    set("second");
    let second = found();
    assert_ne!(first, second);
    let now = Instant::now();
    let later = |ms| now + Duration::from_millis(ms);
    let mut compare = |changes: &[(u32, u64)], is_unknown: bool| {
        let ledger = Ledger::unnamed().unwrap();
        ledger.begin(BASE, now - Duration::from_secs(100));
        for (content, begun_ms) in changes {
            ledger.maintained(later(*begun_ms), query(), *content);
        }
        if is_unknown {
            ledger.maintenance_unknown(query());
        }
        let closed = ledger.close().unwrap();
        let mut work = AcknowledgedWork::default();
        compare_maintenance(&closed.maintained, &mut *session, &mut work).unwrap();
        (work.maintained, work.lost_maintenance)
    };
    // The second one begins long after the first one was acknowledged.
    let far = 3_600_000;
    assert_eq!(compare(&[(first, 0), (second, far)], false), (1, 0));
    assert_eq!(compare(&[(second, 0), (first, far)], false), (1, 1));
    assert_eq!(compare(&[(second, 0), (first, 0)], false), (1, 0));
    assert_eq!(compare(&[(second, 0), (first, far)], true), (0, 0));
}
