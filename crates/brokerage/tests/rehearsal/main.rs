//! The same rehearsal on every database: identical outputs, and books that balance; then several
//! users at once on the same books.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

#[path = "../common/mod.rs"]
mod common;
#[path = "../house/mod.rs"]
mod house;
mod together;

use brokerage::books::{self, Before};
use brokerage::database::Database;
use brokerage::database::mariadb::MariaDb;
use brokerage::database::sqlite::Sqlite;
use brokerage::house::House;
use brokerage::rehearsal::{self, Plan, Rehearsed};
use brokerage::transactions::clean_up;
use std::time::Instant;
use workload::brokerage::kinds::Operation;
use workload::profile::Brokerage;

/// Fills a database, rehearses on it and checks its books.
fn rehearse(database: &dyn Database) -> Rehearsed {
    let house = House::new(1_000, 1, 7);
    let begun = Instant::now();
    house::build(database, house);
    eprintln!("built in {:?}", begun.elapsed());
    let mut session = database.connect().unwrap();
    let all = books::check_all(&mut *session).unwrap();
    assert_eq!(all.broken, [], "the books as built");
    assert_eq!(all.completed, house.built_trades());
    let before = Before::note(&mut *session).unwrap();
    eprintln!("checked after {:?}", begun.elapsed());
    let plan = Plan {
        house,
        brokerage: Brokerage::default(),
        market: house::market(),
        seed: 42,
        transactions: 2_000,
        step_ms: 50,
    };
    let rehearsed = rehearsal::run(&mut *session, &plan).unwrap();
    eprintln!("rehearsed after {:?}", begun.elapsed());
    let after = books::check(&mut *session, &before).unwrap();
    assert_eq!(after.broken, [], "the books after the rehearsal");
    assert_eq!(after.completed, rehearsed.count(Operation::TradeResult));
    assert_eq!(after.pending + after.submitted, rehearsed.pending);
    // Clean-up leaves nothing open, and books that balance.
    let open = clean_up::Input {
        after_trade: house.built_trades() as i64,
        now_ms: house.opening_ms() + 1_000_000,
    };
    let cleaned = clean_up::run(&mut *session, &open).unwrap();
    assert_eq!(
        (cleaned.cancelled, cleaned.requests),
        (rehearsed.pending, after.pending)
    );
    let cleaned = books::check(&mut *session, &before).unwrap();
    assert_eq!((cleaned.pending, cleaned.submitted), (0, 0));
    assert_eq!(cleaned.broken, []);
    drop(session);
    together::work(database, house, open.now_ms);
    eprintln!("all in {:?}", begun.elapsed());
    rehearsed
}

/// What a rehearsal of that length must have in it, or it would show little.
fn is_full(rehearsed: &Rehearsed) {
    for operation in Operation::ALL {
        assert!(rehearsed.count(operation) > 0, "no {}", operation.name());
    }
    assert!(rehearsed.count(Operation::DataMaintenance) >= 12);
    let ten_results = rehearsed.count(Operation::TradeResult) / 10;
    assert_eq!(rehearsed.count(Operation::MarketFeed), ten_results);
    assert!(ten_results > 10);
    let orders = rehearsed.count(Operation::TradeOrder);
    let results = rehearsed.count(Operation::TradeResult);
    assert_eq!(orders, results + rehearsed.pending);
}

fn compare(one: &Rehearsed, other: &Rehearsed, names: &str) {
    assert_eq!(one.transactions.len(), other.transactions.len());
    let pairs = one.transactions.iter().zip(&other.transactions);
    for (number, (one, other)) in pairs.enumerate() {
        assert_eq!(one, other, "transaction {number} on {names}");
    }
    assert_eq!(one, other);
}

#[test]
fn every_database_gives_the_same_outputs_and_keeps_its_books() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 4);
    let on_sqlite = rehearse(&sqlite);
    is_full(&on_sqlite);
    if let Some(cluster) = common::cluster(&room) {
        let on_postgres = rehearse(&cluster.database().unwrap());
        compare(&on_sqlite, &on_postgres, "SQLite and PostgreSQL");
    }
    if let Some(server) = common::mariadb::server() {
        let mariadb = MariaDb::open(&server.address()).unwrap();
        compare(&on_sqlite, &rehearse(&mariadb), "SQLite and MariaDB");
    }
}
