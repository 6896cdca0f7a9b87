//! The same deterministic run on every database: identical outputs, and consistent data; then
//! several users at once on the same database.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

mod concurrent;
pub mod run;

use crate::common;
use crate::data_set;
use brokerage::checks::{self, Baseline};
use brokerage::database::Database;
use brokerage::database::mariadb::MariaDb;
use brokerage::database::sqlite::Sqlite;
use brokerage::dataset::DataSet;
use brokerage::operation::Operation;
use brokerage::profile::Brokerage;
use brokerage::transactions::clean_up;
use run::{Plan, RunOutputs};
use std::time::Instant;

/// Builds a database, runs on it and checks its consistency.
fn run_deterministic(database: &dyn Database) -> RunOutputs {
    let data_set = DataSet::new(1_000, 1, 7);
    let started = Instant::now();
    data_set::build(database, data_set);
    eprintln!("built in {:?}", started.elapsed());
    let mut session = database.connect().unwrap();
    let all = checks::check_all(&mut *session, &mut |_| {}).unwrap();
    assert_eq!(all.violations, [], "as built");
    assert_eq!(all.completed, data_set.built_trades());
    let before = Baseline::note(&mut *session).unwrap();
    eprintln!("checked after {:?}", started.elapsed());
    let plan = Plan {
        data_set,
        brokerage: Brokerage::default(),
        market: data_set::market(),
        seed: 42,
        transactions: 2_000,
        step_ms: 50,
    };
    let outputs = run::run(&mut *session, &plan).unwrap();
    eprintln!("ran after {:?}", started.elapsed());
    let after = checks::check(&mut *session, &before).unwrap();
    assert_eq!(after.violations, [], "after the run");
    assert_eq!(after.completed, outputs.count(Operation::TradeResult));
    assert_eq!(after.pending + after.submitted, outputs.pending);
    // Clean-up leaves nothing open, and the data consistent.
    let open = clean_up::Input {
        after_trade: data_set.built_trades() as i64,
        now_ms: data_set.opening_ms() + 1_000_000,
    };
    let cleaned = clean_up::run(&mut *session, &open).unwrap();
    assert_eq!(
        (cleaned.cancelled, cleaned.requests),
        (outputs.pending, after.pending)
    );
    let cleaned = checks::check(&mut *session, &before).unwrap();
    assert_eq!((cleaned.pending, cleaned.submitted), (0, 0));
    assert_eq!(cleaned.violations, []);
    drop(session);
    concurrent::work(database, data_set, open.now_ms);
    eprintln!("all in {:?}", started.elapsed());
    outputs
}

/// What a run of that length must contain, or it would show little.
fn is_full(outputs: &RunOutputs) {
    for &operation in Operation::ALL {
        assert!(outputs.count(operation) > 0, "no {}", operation.name());
    }
    assert!(outputs.count(Operation::DataMaintenance) >= 12);
    let ten_results = outputs.count(Operation::TradeResult) / 10;
    assert_eq!(outputs.count(Operation::MarketFeed), ten_results);
    assert!(ten_results > 10);
    let orders = outputs.count(Operation::TradeOrder);
    let results = outputs.count(Operation::TradeResult);
    assert_eq!(orders, results + outputs.pending);
}

fn compare(one: &RunOutputs, other: &RunOutputs, names: &str) {
    assert_eq!(one.transactions.len(), other.transactions.len());
    let pairs = one.transactions.iter().zip(&other.transactions);
    for (number, (one, other)) in pairs.enumerate() {
        assert_eq!(one, other, "transaction {number} on {names}");
    }
    assert_eq!(one, other);
}

#[test]
fn every_database_gives_the_same_outputs_and_stays_consistent() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 4);
    let on_sqlite = run_deterministic(&sqlite);
    is_full(&on_sqlite);
    if let Some(cluster) = common::cluster(&room) {
        let on_postgres = run_deterministic(&cluster.database().unwrap());
        compare(&on_sqlite, &on_postgres, "SQLite and PostgreSQL");
    }
    if let Some(server) = common::mariadb::server() {
        let mariadb = MariaDb::open(&server.address()).unwrap();
        compare(
            &on_sqlite,
            &run_deterministic(&mariadb),
            "SQLite and MariaDB",
        );
    }
}
