//! One session, nothing goes wrong.

use super::common::*;
use edb::{Commit, Direction, EngineError, LongValues, ScanOptions, Value};
use runtime::Runtime;
use runtime::simulated::{SimulatedDisk, SimulatedOptions};

const FETCH: LongValues = LongValues::Fetch;

fn body(seed: usize, bytes: usize) -> Vec<u8> {
    (0..bytes)
        .map(|at| (at * 7 + seed * 13 + at / 251) as u8)
        .collect()
}

fn token(number: usize) -> Vec<u8> {
    let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    [&mixed.to_be_bytes()[..], b"-token"].concat()
}

#[test]
fn rows_come_back_by_key_by_index_and_after_reopening() {
    for page_bytes in [4096, 8192, 32_768] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
            let settings = small_settings(page_bytes);
            let db = create(&handle, &disk, &settings).await;
            let table = db.create_table(&messages()).await.unwrap();
            let size_of = |number: usize| [10, 700, 1024, 40_000][number % 4];
            for number in 0..400 {
                let mut tx = db.begin();
                let values = row(&token(number), number as i32, body(number, size_of(number)));
                let key = tx.insert(&table, &values).await.unwrap();
                assert_eq!(key, number as i64 + 1);
                let commit = match number % 3 {
                    0 => Commit::Durable,
                    _ => Commit::Lazy { within_ms: 50 },
                };
                tx.commit(commit).await.unwrap();
            }
            let mut tx = db.begin();
            for number in (0..400).step_by(5) {
                assert!(tx.delete(&table, number as i64 + 1).await.unwrap());
            }
            tx.commit(Commit::Durable).await.unwrap();
            db.close().await.unwrap();
            drop(db);
            let (db, report) = open(&handle, &disk, &settings).await.unwrap();
            assert!(report.was_clean, "{report:?}");
            let table = db.table("messages").unwrap();
            let tx = db.begin();
            for number in 0..400 {
                let found = tx
                    .seek_index(&table, "ByToken", &token(number), FETCH)
                    .await
                    .unwrap();
                let same = tx.get(&table, number as i64 + 1, FETCH).await.unwrap();
                assert_eq!(found, same);
                assert_eq!(found.is_none(), number % 5 == 0, "row {number}");
                if let Some(found) = found {
                    assert_eq!(found.values[1], Value::Long(number as i32));
                    assert_eq!(
                        found.values[3].as_bytes().unwrap(),
                        body(number, size_of(number))
                    );
                }
            }
            let forward = tx.scan(&table, 1.., ScanOptions::default()).await.unwrap();
            let keys: Vec<i64> = forward.iter().map(|row| row.key).collect();
            let expected: Vec<i64> = (1..=400).filter(|key| key % 5 != 1).collect();
            assert_eq!(keys, expected);
            let options = ScanOptions {
                direction: Direction::Backward,
                limit: 7,
                read_ahead: true,
                ..ScanOptions::default()
            };
            let last = tx.scan(&table, ..300, options).await.unwrap();
            let keys: Vec<i64> = last.iter().map(|row| row.key).collect();
            assert_eq!(keys, [299, 298, 297, 295, 294, 293, 292]);
            let all = ScanOptions {
                read_ahead: true,
                ..ScanOptions::default()
            };
            let by_token = tx.scan_index(&table, "ByToken", b"", all).await.unwrap();
            assert_eq!(by_token.len(), expected.len());
            assert!(
                by_token
                    .windows(2)
                    .all(|pair| { pair[0].values[2].as_bytes() < pair[1].values[2].as_bytes() })
            );
            drop(tx);
            db.close().await.unwrap();
        });
    }
}

#[test]
fn snapshots_conflicts_and_rollbacks() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let settings = small_settings(4096);
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let mut tx = db.begin();
        let one = tx
            .insert(&table, &row(b"one", 1, body(1, 5000)))
            .await
            .unwrap();
        let two = tx
            .insert(&table, &row(b"two", 2, body(2, 10)))
            .await
            .unwrap();
        tx.commit(Commit::Durable).await.unwrap();

        let before = db.begin();
        let mut first = db.begin();
        let mut second = db.begin();
        assert!(
            first
                .update(&table, one, vec![(1, Value::Long(11))])
                .await
                .unwrap()
        );
        let own = first.get(&table, one, FETCH).await.unwrap().unwrap();
        assert_eq!(own.values[1], Value::Long(11));
        assert_eq!(own.values[3].as_bytes().unwrap(), body(1, 5000));
        let conflict = second.update(&table, one, vec![(1, Value::Long(12))]).await;
        assert_eq!(conflict, Err(EngineError::WriteConflict));
        assert_eq!(
            second.delete(&table, one).await,
            Err(EngineError::WriteConflict)
        );
        first.commit(Commit::Durable).await.unwrap();
        // Still: the change was committed after the snapshot.
        let conflict = second.update(&table, one, vec![(1, Value::Long(12))]).await;
        assert_eq!(conflict, Err(EngineError::WriteConflict));
        // The transaction goes on after the conflict, and is rolled back as a whole.
        assert!(second.delete(&table, two).await.unwrap());
        assert_eq!(second.get(&table, two, FETCH).await.unwrap(), None);
        let three = second
            .insert(&table, &row(b"three", 3, body(3, 3000)))
            .await
            .unwrap();
        let duplicate = second
            .insert(&table, &row(b"three", 4, body(4, 3000)))
            .await;
        assert_eq!(
            duplicate,
            Err(EngineError::KeyDuplicate {
                index: "ByToken".into()
            })
        );
        assert!(second.get(&table, three, FETCH).await.unwrap().is_some());
        second.rollback().await.unwrap();

        let seen = before.get(&table, one, FETCH).await.unwrap().unwrap();
        assert_eq!(seen.values[1], Value::Long(1));
        let after = db.begin();
        let seen = after.get(&table, one, FETCH).await.unwrap().unwrap();
        assert_eq!(seen.values[1], Value::Long(11));
        assert!(after.get(&table, two, FETCH).await.unwrap().is_some());
        assert_eq!(after.get(&table, three, FETCH).await.unwrap(), None);
        let gone = after
            .seek_index(&table, "ByToken", b"three", FETCH)
            .await
            .unwrap();
        assert_eq!(gone, None);
        assert_eq!(
            db.close().await,
            Err(EngineError::TransactionsOpen { open: 2 })
        );
        drop((before, after));
        let mut dropped = db.begin();
        dropped
            .insert(&table, &row(b"four", 4, body(4, 3000)))
            .await
            .unwrap();
        drop(dropped);
        db.close().await.unwrap();
        let (db, _) = open(&handle, &disk, &settings).await.unwrap();
        let table = db.table("messages").unwrap();
        let rows = db
            .begin()
            .scan(&table, .., ScanOptions::default())
            .await
            .unwrap();
        assert_eq!(rows.len(), 2);
        db.close().await.unwrap();
    });
}
