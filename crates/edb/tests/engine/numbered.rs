//! Rows whose numbers the caller chooses.

use super::common::*;
use edb::check::info;
use edb::{Commit, EngineError, LongValues, Table};
use runtime::simulated::{SimulatedDisk, SimulatedOptions};
use runtime::{Directory, Handle, Runtime};

const ROWS: i64 = 4_000;

fn token(number: i64) -> Vec<u8> {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    mixed.to_be_bytes().to_vec()
}

async fn new_table(handle: &Handle) -> (SimulatedDisk, Db, Table) {
    let disk = SimulatedDisk::new(handle, SimulatedOptions::instant());
    let db = create(handle, &disk, &small_settings(4096)).await;
    let table = db.create_table(&messages()).await.unwrap();
    (disk, db, table)
}

/// Leaves of the rows and of the long values after rows with these numbers were inserted in turn.
fn leaves(numbers: Vec<i64>) -> (u64, u64) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let (disk, db, table) = new_table(&handle).await;
        for &number in &numbers {
            let mut tx = db.begin();
            let values = row(&token(number), 1, vec![7; 1_100]);
            tx.insert_numbered(&table, number, &values).await.unwrap();
            tx.commit(Commit::Lazy { within_ms: 5 }).await.unwrap();
        }
        let tx = db.begin();
        for number in [1, ROWS / 2, ROWS] {
            let found = tx.get(&table, number, LongValues::Fetch).await.unwrap();
            assert_eq!(
                found.unwrap().values[2].as_bytes(),
                Some(&token(number)[..])
            );
        }
        drop(tx);
        db.close().await.unwrap();
        let directory = disk.directory(crashtest::table::DATABASE_DIRECTORY);
        let file = directory
            .open(crashtest::table::DATABASE_FILE)
            .await
            .unwrap();
        let counts = info(&file, true).await.unwrap().page_counts.unwrap();
        (counts.row_leaves, counts.long_value_leaves)
    })
}

#[test]
fn rows_inserted_nearly_in_order_fill_pages_as_those_in_order_do() {
    let in_order = leaves((1..=ROWS).collect());
    // Each overtakes the one before it, as among sessions side by side.
    let mixed = leaves((0..ROWS).map(|at| (at ^ 1) + 1).collect());
    for (mixed, in_order) in [(mixed.0, in_order.0), (mixed.1, in_order.1)] {
        assert!(
            mixed * 100 <= in_order * 110,
            "{mixed} leaves instead of {in_order}"
        );
    }
}

#[test]
fn a_number_is_given_once_and_later_ones_are_above_it() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let (_disk, db, table) = new_table(&handle).await;
        let mut tx = db.begin();
        let insert = |number| row(&token(number), 1, vec![1; 9]);
        tx.insert_numbered(&table, 40, &insert(40)).await.unwrap();
        tx.insert_numbered(&table, 7, &insert(7)).await.unwrap();
        let again = tx.insert_numbered(&table, 7, &insert(8)).await;
        assert!(matches!(again, Err(EngineError::KeyDuplicate { .. })));
        assert_eq!(tx.insert(&table, &insert(9)).await.unwrap(), 41);
        tx.commit(Commit::Durable).await.unwrap();
        // Taken back, and inserted again with the same number.
        let mut tx = db.begin();
        tx.insert_numbered(&table, 12, &insert(12)).await.unwrap();
        tx.rollback().await.unwrap();
        let mut tx = db.begin();
        tx.insert_numbered(&table, 12, &insert(12)).await.unwrap();
        tx.commit(Commit::Durable).await.unwrap();
        db.close().await.unwrap();
    });
}
