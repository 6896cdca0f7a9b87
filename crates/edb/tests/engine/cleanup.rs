//! Removing deleted records from pages that cannot be read.

use super::common::*;
use edb::check::CheckReport;
use edb::{Commit, EngineError, ScanOptions, Table};
use runtime::file::{IoFailure, IoOperation};
use runtime::simulated::{Fault, FaultEffect, SimulatedDisk, SimulatedOptions};
use runtime::{Directory, Handle, Runtime};

const ROWS: i64 = 400;

/// A database with deleted rows that can be removed once `clean_up` is called, and whose pages are
/// not in the cache.
struct Prepared {
    handle: Handle,
    disk: SimulatedDisk,
    db: Db,
    table: Table,
}

impl Prepared {
    async fn new(handle: &Handle) -> Self {
        let disk = SimulatedDisk::new(handle, SimulatedOptions::instant());
        let db = create(handle, &disk, &small_settings(4096)).await;
        let table = db.create_table(&messages()).await.unwrap();
        let mut tx = db.begin();
        for number in 0..ROWS {
            let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
            let values = row(&mixed.to_be_bytes(), number as i32, vec![5; 3000]);
            tx.insert(&table, &values).await.unwrap();
        }
        tx.commit(Commit::Durable).await.unwrap();
        let prepared = Self {
            handle: handle.clone(),
            disk,
            db,
            table,
        };
        let reader = prepared.db.begin();
        let mut tx = prepared.db.begin();
        for key in 1..=10 {
            assert!(tx.delete(&prepared.table, key).await.unwrap());
        }
        tx.commit(Commit::Durable).await.unwrap();
        prepared.push_pages_out().await;
        drop(reader);
        prepared
    }

    /// Reads the other rows until the pages of the deleted ones have left the cache.
    async fn push_pages_out(&self) {
        for _ in 0..4 {
            let tx = self.db.begin();
            let options = ScanOptions {
                long_values: edb::LongValues::Fetch,
                ..ScanOptions::default()
            };
            tx.scan(&self.table, 200.., options).await.unwrap();
        }
    }

    fn fail(&self, count: u64) {
        let effect = FaultEffect::Fail(IoFailure::Device("input/output error".to_owned()));
        let fault = Fault {
            count,
            ..Fault::once(IoOperation::Read, 1, effect)
        };
        self.disk.set_fault(fault.on_file("database/mail.edb"));
    }

    async fn close_and_check(&self) -> CheckReport {
        self.db.close().await.unwrap();
        self.disk.clear_faults();
        let directory = self.disk.directory("database");
        let file = directory.open("mail.edb").await.unwrap();
        let report = edb::check::check(&file, |_, _| {}).await.unwrap();
        assert_eq!(report.findings, []);
        assert_eq!(report.rows, ROWS as u64 - 10);
        report
    }
}

#[test]
fn a_read_that_fails_once_leaves_no_deleted_record_behind() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let prepared = Prepared::new(&handle).await;
        prepared.fail(1);
        prepared.db.clean_up().await.unwrap();
        assert_eq!(prepared.disk.faults_injected(), 1);
        assert_eq!(prepared.close_and_check().await.deleted_nodes, 0);
        assert_eq!(prepared.db.take_damage(), []);
    });
}

/// Closing takes its time for them, too, which its progress has to show.
#[test]
fn deleted_records_count_in_what_closing_has_to_do() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let prepared = Prepared::new(&handle).await;
        let before = prepared.db.statistics();
        assert!(before.waiting_cleanups >= 10, "{before:?}");
        assert_eq!(
            before.closing_bytes,
            (before.cache.dirty_pages + before.waiting_cleanups) * 4096
        );
        prepared.db.clean_up().await.unwrap();
        let after = prepared.db.statistics();
        assert_eq!(after.waiting_cleanups, 0);
        assert_eq!(after.closing_bytes, after.cache.dirty_pages * 4096);
        prepared.close_and_check().await;
    });
}

#[test]
fn deleted_records_on_pages_that_could_not_be_read_are_removed_at_the_close() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let prepared = Prepared::new(&handle).await;
        prepared.fail(u64::MAX);
        let began_ns = prepared.handle.now_ns();
        let refused = prepared.db.clean_up().await;
        assert!(matches!(refused, Err(EngineError::Page(_))), "{refused:?}");
        // Not so many waits as there are records: the log must not grow meanwhile.
        assert!(prepared.handle.now_ns() - began_ns < 10_000_000_000);
        prepared.disk.clear_faults();
        assert_eq!(prepared.close_and_check().await.deleted_nodes, 0);
        assert!(!prepared.db.take_damage().is_empty());
    });
}

#[test]
fn deleted_records_that_cannot_be_removed_are_no_damage_and_nobody_sees_them() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let prepared = Prepared::new(&handle).await;
        prepared.fail(u64::MAX);
        assert!(prepared.db.clean_up().await.is_err());
        let report = prepared.close_and_check().await;
        assert!(report.is_sound() && report.deleted_nodes > 0, "{report:?}");
        let (db, _) = open(&handle, &prepared.disk, &small_settings(4096))
            .await
            .unwrap();
        let table = db.table("messages").unwrap();
        let rows = crashtest::reading::read_all(&db, &table).await.unwrap();
        assert_eq!(rows.len() as i64, ROWS - 10);
        db.close().await.unwrap();
    });
}
