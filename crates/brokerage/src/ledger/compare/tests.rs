use super::*;
use crate::database::sqlite::Sqlite;
use crate::database::{Build, Database};
use crate::ledger::{Ledger, RANGE_BITS};
use std::time::Instant;

const BASE: i64 = 100;
/// The first trade of the second user.
const SECOND: i64 = BASE + 1 + (1 << RANGE_BITS);

/// A database with these trades (id, status, price, settled) and 10 shares traded of A.
fn database(trades: &[(i64, i64, i64, bool)]) -> (tempfile::TempDir, Sqlite) {
    let room = tempfile::tempdir().unwrap();
    let sqlite = Sqlite::new(room.path(), 1 << 20, 1);
    sqlite.create(&Build::new(1_000, 1, 7)).unwrap();
    let connection = rusqlite::Connection::open(sqlite.path()).unwrap();
    let execute = |sql: &str| connection.execute_batch(sql).unwrap();
    execute("PRAGMA foreign_keys = OFF; INSERT INTO last_trade VALUES ('A', 0, 1, 1, 10)");
    for (id, status, price, is_settled) in trades {
        execute(&format!(
            "INSERT INTO trade VALUES ({id}, 0, {status}, 1, 1, 'A', 1, 1, 1, '', {price}, 0, 0, 0, 0)"
        ));
        if *is_settled {
            execute(&format!("INSERT INTO settlement VALUES ({id}, '', 0, 0)"));
        }
    }
    (room, sqlite)
}

fn begun() -> Ledger {
    let ledger = Ledger::unnamed().unwrap();
    ledger.begin(BASE, Instant::now());
    ledger
}

fn compared(ledger: &Ledger, trades: &[(i64, i64, i64, bool)], table: u64) -> AcknowledgedWork {
    let (_room, sqlite) = database(trades);
    let mut session = sqlite.connect().unwrap();
    let before = Volumes::from([("A".to_owned(), 3)]);
    let mut closed = ledger.close().unwrap();
    let symbol = |security: u32| if security == 0 { "A" } else { "B" }.to_owned();
    let progress = &mut |_, _| {};
    compare_in_parts(&mut closed, &mut *session, &before, symbol, progress, table).unwrap()
}

/// Two trades of each of two users, with a market feed of the shares that the database has.
fn good() -> (Ledger, Vec<(i64, i64, i64, bool)>) {
    let ledger = begun();
    ledger.entered(BASE + 1, true);
    ledger.booked(BASE + 1, 2_500);
    ledger.entered(BASE + 2, false);
    ledger.submitted(BASE + 2);
    ledger.entered(SECOND, true);
    ledger.booked(SECOND, 2_600);
    ledger.entered(SECOND + 1, false);
    ledger.traded(0, 7);
    let trades = vec![
        (7, 1, 1, true),
        (BASE + 1, 1, 2_500, true),
        (BASE + 2, 3, 0, false),
        (SECOND, 1, 2_600, true),
        (SECOND + 1, 4, 0, false),
    ];
    (ledger, trades)
}

#[test]
fn what_was_acknowledged_and_is_there_passes_in_any_number_of_parts() {
    for table in [1, 2, 3, 1_000] {
        let (ledger, trades) = good();
        let work = compared(&ledger, &trades, table);
        assert_eq!(summary(&work), None, "{table}: {work:?}");
        assert_eq!((work.orders, work.submissions, work.results), (4, 1, 2));
        assert_eq!(work.feed_shares, 7);
    }
}

#[test]
fn each_kind_of_lost_or_repeated_work_is_found_and_named() {
    type Trade = (i64, i64, i64, bool);
    type Change = fn(&Ledger, &mut Vec<Trade>);
    let cases: [(Change, &str); 10] = [
        (
            |_, trades| trades.truncate(4),
            "1 of 4 acknowledged orders are not",
        ),
        (
            |_, trades| trades[1] = (BASE + 1, 3, 0, false),
            "1 of 2 acknowledged trade results are not",
        ),
        (
            |_, trades| trades[3].3 = false,
            "1 of 2 acknowledged trade results are not",
        ),
        (
            |_, trades| trades[2].1 = 4,
            "1 of 5 acknowledged submissions are not",
        ),
        (
            |_, trades| trades[2].1 = 5,
            "1 of 5 acknowledged submissions are not",
        ),
        (|_, trades| trades[1].2 += 1, "have another price"),
        (
            |ledger, _| ledger.booked(BASE + 1, 2_400),
            "acknowledged twice",
        ),
        (
            |_, trades| trades.push((SECOND + 9, 4, 0, false)),
            "1 orders in the database were never",
        ),
        (
            |_, trades| trades[4] = (SECOND + 1, 1, 5, true),
            "1 results in the database were never",
        ),
        (
            |ledger, _| ledger.traded(0, 1),
            "1 securities have another number",
        ),
    ];
    for (change, says) in cases {
        for table in [1, 1_000] {
            let (ledger, mut trades) = good();
            change(&ledger, &mut trades);
            let work = compared(&ledger, &trades, table);
            let found = summary(&work).unwrap_or_default();
            assert!(found.contains(says), "{says}: {found}");
            assert!(found.contains("The first: "), "{found}");
        }
    }
    // A trade that is gone took its result with it.
    let (ledger, mut trades) = good();
    trades.remove(1);
    let work = compared(&ledger, &trades, 1_000);
    assert_eq!((work.lost_orders, work.lost_results), (1, 1));
    assert!(
        work.first[0].contains("order 101, acknowledged 0."),
        "{:?}",
        work.first
    );
}

#[test]
fn unknown_outcomes_are_neither_lost_nor_unexpected() {
    let (ledger, mut trades) = good();
    ledger.order_unknown(BASE + 3);
    ledger.order_unknown(BASE + 4);
    ledger.result_unknown(BASE + 2);
    ledger.traded_unknown(0, 5);
    trades.push((BASE + 3, 4, 0, false));
    trades[2] = (BASE + 2, 1, 2_000, true);
    let work = compared(&ledger, &trades, 1_000);
    assert_eq!(summary(&work), None, "{work:?}");
    assert_eq!(work.unknown_outcomes, 3);
    // More shares than even the unknown ones would add are too many.
    let (ledger, trades) = good();
    ledger.traded(0, -2);
    ledger.traded_unknown(0, 1);
    assert_eq!(compared(&ledger, &trades, 1_000).securities_differing, 1);
}

#[test]
fn a_ledger_that_lacks_the_last_work_finds_what_is_lost_and_nothing_else() {
    let witnessed = |trades: &[(i64, i64, i64, bool)]| {
        let record = |kind: Kind, trade: i64, content: u32| witness::Record {
            kind: kind as u8,
            database: 0,
            time_ms: 1_500,
            position: trade as u64,
            hash: u64::from(content),
        };
        let kept = [
            witness::Record::fact(0, 0, BASE as u64, 0),
            record(Kind::EnteredSubmitted, BASE + 1, 0),
            record(Kind::Booked, BASE + 1, records::content(2_500)),
            record(Kind::EnteredPending, BASE + 2, 0),
            record(Kind::Submitted, BASE + 2, 0),
            // Its order is not among the records.
            record(Kind::Booked, SECOND, records::content(2_600)),
        ];
        let mut closed = Ledger::of_witness(&kept).unwrap();
        let (_room, sqlite) = database(trades);
        let mut session = sqlite.connect().unwrap();
        compare_incomplete(&mut closed, &mut *session).unwrap()
    };
    let all = [
        (7, 1, 1, true),
        (BASE + 1, 1, 2_500, true),
        // Completed and not in the records, as the next one.
        (BASE + 2, 1, 2_700, true),
        (SECOND, 1, 2_600, true),
        (SECOND + 1, 3, 0, false),
    ];
    let work = witnessed(&all);
    assert_eq!((summary(&work), work.first.len()), (None, 0), "{work:?}");
    assert_eq!((work.orders, work.submissions, work.results), (2, 1, 2));
    let lost = |work: AcknowledgedWork| {
        let orders_and_results = (work.lost_orders, work.lost_results);
        (
            orders_and_results,
            work.lost_submissions,
            work.changed_results,
        )
    };
    assert_eq!(lost(witnessed(&all[..1])), ((2, 2), 1, 0));
    let mut changed = all;
    changed[3] = (SECOND, 3, 0, false);
    let work = witnessed(&changed);
    assert!(
        work.first[0].contains("1.500 s after the start"),
        "{work:?}"
    );
    assert_eq!(lost(work), ((0, 1), 0, 0));
    changed[3] = (SECOND, 1, 2_601, true);
    assert_eq!(lost(witnessed(&changed)), ((0, 0), 0, 1));
    changed = all;
    changed[2] = (BASE + 2, 5, 0, false);
    assert_eq!(lost(witnessed(&changed)), ((0, 0), 1, 0));
}
