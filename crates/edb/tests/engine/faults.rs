//! Storage that fails, fills up or lies.

use super::common::*;
use crashtest::Stop;
use crashtest::model::State;
use crashtest::reading::read_all;
use crashtest::sessions::TestDatabase;
use edb::{Commit, EngineError, EngineSettings, LongValues, ScanOptions};
use runtime::file::{IoFailure, IoOperation};
use runtime::simulated::{Fault, FaultEffect, SimulatedDisk, SimulatedOptions};
use runtime::{Directory, File, Runtime};

const FAILURE: IoFailure = IoFailure::PermissionDenied;

/// After one failed request somewhere in the run, the database must come back whole once the storage
/// works again.
fn fail_once(seed: u64, operation: IoOperation, nth: u64, file: &str) {
    println!("seed {seed}: request {nth} of kind {operation:?} on {file} fails");
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let file = file.to_owned();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(seed));
        let settings = small_settings(4096);
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let world = TestDatabase::new(&handle, db.clone(), table, State::new(), seed);
        let effect = FaultEffect::Fail(FAILURE);
        disk.set_fault(Fault::once(operation, nth, effect).on_file(&file));
        let errors = world.run(seed, 4, 40).await;
        let closed = db.close().await;
        let injected = !errors.is_empty() || closed.is_err();
        for error in errors {
            let is_failure = matches!(error, Stop::Engine(_));
            let conflict = Stop::Engine(EngineError::WriteConflict);
            assert!(is_failure && error != conflict, "{error}");
        }
        disk.clear_faults();
        drop((world, db));
        // A process that gives up and starts again: completed writes are all there.
        let disk = disk.killed_copy(&handle);
        let (db, report) = open(&handle, &disk, &settings).await.unwrap();
        assert!(
            injected || report.was_clean,
            "the fault did not strike, yet {report:?}"
        );
        let table = db.table("messages").unwrap();
        read_all(&db, &table).await.unwrap();
        db.close().await.unwrap();
    });
}

#[test]
fn a_failed_request_poisons_the_database_and_reopening_recovers_it() {
    let mut seed = 0;
    for nth in [1, 2, 3, 5, 9, 17, 33, 60] {
        for (operation, file) in [
            (IoOperation::Write, "log/E00.log"),
            (IoOperation::Write, "database/mail.edb"),
            (IoOperation::Read, "database/mail.edb"),
            (IoOperation::Write, "log/E00.chk"),
            (IoOperation::Rename, "log/"),
            (IoOperation::Sync, "database/mail.edb"),
        ] {
            seed += 1;
            fail_once(seed, operation, nth, file);
        }
    }
}

#[test]
fn after_a_failed_log_write_all_further_work_is_refused() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let settings = small_settings(4096);
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let fault = Fault::from_then_on(IoOperation::Write, 1, FaultEffect::Fail(FAILURE));
        disk.set_fault(fault.on_file("log/"));
        let mut tx = db.begin();
        tx.insert(&table, &row(b"lost", 1, vec![1; 10]))
            .await
            .unwrap();
        assert!(tx.commit(Commit::Durable).await.is_err());
        let mut tx = db.begin();
        let refused = tx.insert(&table, &row(b"more", 1, vec![1; 10])).await;
        assert!(
            matches!(refused, Err(EngineError::Poisoned { .. })),
            "{refused:?}"
        );
        drop(tx);
        assert!(db.close().await.is_err());
        disk.clear_faults();
        let (db, report) = open(&handle, &disk, &settings).await.unwrap();
        assert!(!report.was_clean);
        let table = db.table("messages").unwrap();
        let rows = db
            .begin()
            .scan(&table, .., ScanOptions::default())
            .await
            .unwrap();
        assert_eq!(rows, []);
        db.close().await.unwrap();
    });
}

#[test]
fn a_full_disk_is_reported_and_the_database_opens_afterwards() {
    for seed in 0..6 {
        println!("seed {seed}");
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        runtime.block_on(async move {
            let capacity_bytes = 3_000_000 + seed * 111_111;
            let options = SimulatedOptions {
                capacity_bytes,
                ..SimulatedOptions::instant()
            };
            let disk = SimulatedDisk::new(&handle, options);
            let settings = small_settings(4096);
            let db = create(&handle, &disk, &settings).await;
            let table = db.create_table(&messages()).await.unwrap();
            let mut committed = 0;
            let error = loop {
                let mut tx = db.begin();
                let token = format!("token-{seed}-{committed}");
                let values = row(token.as_bytes(), 1, vec![3; 9000]);
                let result = match tx.insert(&table, &values).await {
                    Ok(_) => tx.commit(Commit::Durable).await,
                    Err(error) => tx.rollback().await.and(Err(error)),
                };
                match result {
                    Ok(()) => committed += 1,
                    Err(error) => break error,
                }
                assert!(committed < 10_000, "the disk never filled up");
            };
            let text = error.to_string();
            assert!(text.contains("o space is left"), "{text}");
            // Rows can still be read unless the log itself could not go on.
            let closed = db.close().await;
            drop(db);
            let (db, _) = open(&handle, &disk, &settings)
                .await
                .unwrap_or_else(|error| {
                    panic!("after {closed:?} the database does not open: {error}")
                });
            let table = db.table("messages").unwrap();
            let rows = read_all(&db, &table).await.unwrap();
            assert_eq!(rows.len(), committed);
            db.close().await.unwrap();
        });
    }
}

/// A closed database with some rows, and its settings.
async fn closed_database(handle: &runtime::Handle) -> (SimulatedDisk, EngineSettings, Vec<i64>) {
    let disk = SimulatedDisk::new(handle, SimulatedOptions::instant());
    let settings = small_settings(4096);
    let db = create(handle, &disk, &settings).await;
    let table = db.create_table(&messages()).await.unwrap();
    let mut tx = db.begin();
    let mut keys = Vec::new();
    for number in 0..300_i32 {
        let token = number.to_be_bytes();
        keys.push(
            tx.insert(&table, &row(&token, number, vec![5; 200]))
                .await
                .unwrap(),
        );
    }
    tx.commit(Commit::Durable).await.unwrap();
    db.close().await.unwrap();
    (disk, settings, keys)
}

#[test]
fn a_damaged_page_is_named_and_the_rest_stays_usable() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let (disk, settings, keys) = closed_database(&handle).await;
        // Damage one page in the middle of the table: flip bytes on the disk itself.
        let file = disk.directory("database").open("mail.edb").await.unwrap();
        let pages = file.size_bytes().await.unwrap() / 4096 - 2;
        let (mut damaged, mut leaves) = (0, 0);
        for page in 40..pages {
            let offset = (page + 1) * 4096;
            let (mut bytes, result) = file.read(offset, runtime::Buffer::zeroed(4096)).await;
            result.unwrap();
            let is_table_leaf = bytes[36] & 0x87 == 2 && bytes[36] & 0x60 == 0;
            leaves += u32::from(is_table_leaf && bytes[34] > 3);
            if leaves == 4 {
                bytes[2000] ^= 0x55;
                bytes[3000] ^= 0xAA;
                let write = file.write(
                    offset,
                    std::rc::Rc::new(bytes),
                    runtime::Persistence::Durable,
                );
                write.await.unwrap();
                damaged = page;
                break;
            }
        }
        assert!(damaged > 0, "there is a leaf to damage");
        let (db, _) = open(&handle, &disk, &settings).await.unwrap();
        let table = db.table("messages").unwrap();
        let mut tx = db.begin();
        let (mut read, mut failed) = (0, 0);
        for &key in &keys {
            match tx.get(&table, key, LongValues::Leave).await {
                Ok(Some(_)) => read += 1,
                Err(EngineError::Page(error)) => {
                    assert_eq!(u64::from(error.page.0), damaged);
                    assert!(error.file.contains("mail.edb"), "{}", error.file);
                    failed += 1;
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(
            read > 100 && failed > 0,
            "{read} rows read, {failed} failed"
        );
        // Work goes on around the damage, and a transaction that met it can be rolled back.
        let first = tx
            .update(&table, keys[0], vec![(1, edb::Value::Long(7))])
            .await;
        assert_eq!(first, Ok(true));
        tx.rollback().await.unwrap();
        db.close().await.unwrap();
    });
}

#[test]
fn unfinished_and_foreign_files_are_refused() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        let settings = small_settings(4096);
        // Creation stops half way because the disk fails.
        let fault = Fault::from_then_on(IoOperation::Write, 4, FaultEffect::Fail(FAILURE));
        disk.set_fault(fault.on_file("database/mail.edb"));
        let (database, log) = (disk.directory("database"), disk.directory("log"));
        let observer = || std::rc::Rc::new(runtime::trace::NoObserver);
        let created =
            edb::Database::create(&handle, &database, "mail.edb", &log, settings, observer());
        assert!(created.await.is_err());
        disk.clear_faults();
        let refused = open(&handle, &disk, &settings)
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(refused.contains("never completely created"), "{refused}");

        let (disk, settings, _) = closed_database(&handle).await;
        let other = small_settings(8192);
        let refused = open(&handle, &disk, &other)
            .await
            .err()
            .unwrap()
            .to_string();
        assert!(
            refused.contains(r#"engine.page_size = "4KiB""#),
            "{refused}"
        );
        // The log of another database.
        let stranger = SimulatedDisk::new(&handle, SimulatedOptions::instant());
        handle.sleep_ns(5_000_000_000).await;
        create(&handle, &stranger, &settings)
            .await
            .close()
            .await
            .unwrap();
        let (database, log) = (disk.directory("database"), stranger.directory("log"));
        let opened =
            edb::Database::open(&handle, &database, "mail.edb", &log, settings, observer());
        let refused = opened.await.err().unwrap().to_string();
        assert!(refused.contains("belongs to another database"), "{refused}");
    });
}
