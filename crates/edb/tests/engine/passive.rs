//! Passive copies: seeded, kept up to date by the log, compared with their database.

use super::common::*;
use crashtest::model::State;
use crashtest::sessions::TestDatabase;
use edb::audit::{AcknowledgedCommit, CommitObserver};
use edb::database::BackupReads;
use edb::integrity::FilePart;
use edb::passive::{Comparison, CopyPlace, PassiveCopy, activate};
use edb::{Commit, EngineSettings, LongValues};
use runtime::simulated::{Fault, FaultEffect, SimulatedDisk, SimulatedOptions};
use runtime::trace::{IoEvent, NoObserver};
use runtime::{
    Directory, File, Handle, IoError, IoFailure, IoObserver, IoOperation, Persistence, Runtime,
    SimulatedDirectory,
};
use std::cell::RefCell;
use std::rc::Rc;

const READS: BackupReads = BackupReads {
    pages: 16,
    outstanding: 2,
};

/// The settings of a copy, which writes its pages back soon.
fn settings_of_copy(settings: &EngineSettings) -> EngineSettings {
    let mut settings = *settings;
    settings.engine.checkpoint_depth = config::ByteSize::kib(128);
    settings
}

/// On storage that works no request fails.
struct NothingFails;

impl IoObserver for NothingFails {
    fn completed(&self, _event: &IoEvent) {}

    fn failed(&self, event: &IoEvent, error: &IoError) {
        panic!("{error}: {event:?}");
    }
}

async fn seed(
    db: &Db,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    observer: Rc<dyn IoObserver>,
) -> PassiveCopy<SimulatedDirectory> {
    let (directory, log_directory) = (disk.directory("copy"), disk.directory("copy-log"));
    let place = CopyPlace {
        directory: &directory,
        log_directory: &log_directory,
        name: "mail.edb",
        settings: settings_of_copy(settings),
        observer,
    };
    let observer = Rc::new(NoObserver);
    let seeded = db.seed(&place, READS, observer, |_| true).await;
    seeded.expect("a copy").1.expect("one that was not stopped")
}

/// Runs sessions before and after a copy is seeded; closes the database, lets `harm` change something, and compares.
async fn compare(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    number: u64,
    harm: impl AsyncFnOnce(),
) -> (Comparison, u32) {
    let db = create(handle, disk, settings).await;
    let table = db.create_table(&messages()).await.unwrap();
    let world = TestDatabase::new(handle, db.clone(), table, State::new(), number);
    assert_eq!(world.run(number, 4, 30).await, []);
    let copy = seed(&db, disk, settings, Rc::new(NothingFails)).await;
    assert_eq!(world.run(number + 1, 4, 60).await, []);
    drop(world);
    db.close().await.unwrap();
    drop(db);
    let replayed = copy.state().replayed;
    assert_eq!(copy.suspension(), None);
    harm().await;
    let active = disk.directory("database");
    let compared = copy.catch_up((&active, "mail.edb"), |_| true).await;
    (compared.unwrap(), replayed)
}

#[test]
fn a_copy_that_was_brought_up_to_date_is_the_same_page_by_page() {
    let mut replayed_files = 0;
    for number in 0..12 {
        let page_bytes = [4096, 32_768][number as usize % 2];
        println!("seed {number}, pages of {page_bytes} bytes");
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        replayed_files += runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(number));
            let mut settings = small_settings(page_bytes);
            if number % 3 == 0 {
                settings = with_images(&settings);
            }
            let (found, replayed) = compare(&handle, &disk, &settings, number, async || {}).await;
            assert!(found.same_position, "{found:?}");
            assert_eq!(
                (found.wrong_pages, found.different_pages),
                (0, 0),
                "{found:?}"
            );
            assert!(found.pages > 10, "{found:?}");
            assert_eq!(found.files, []);
            replayed
        });
    }
    assert!(replayed_files > 20, "{replayed_files} files");
}

/// The files beside the pages of a copy.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Beside {
    /// A log file that is gone.
    MissingLog,
    /// A log file with a wrong byte.
    Log,
    Header,
    SecondHeader,
    Checkpoint,
}

#[test]
fn files_beside_the_pages_that_are_wrong_are_found() {
    for what in [
        Beside::MissingLog,
        Beside::Log,
        Beside::Header,
        Beside::SecondHeader,
        Beside::Checkpoint,
    ] {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        let found = runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(3));
            let (directory, log) = (disk.directory("copy"), disk.directory("copy-log"));
            let harm = async || {
                let names = log.list().await.unwrap();
                let full = names.iter().find(|name| name.ends_with(".log")).unwrap();
                let (place, name, offset) = match what {
                    Beside::MissingLog => return log.remove(full).await.unwrap(),
                    Beside::Log => (&log, full.as_str(), 4096),
                    Beside::Header => (&directory, "mail.edb", 0),
                    Beside::SecondHeader => (&directory, "mail.edb", 4096),
                    Beside::Checkpoint => (&log, "E00.chk", 0),
                };
                let file = place.open(name).await.unwrap();
                let (mut bytes, read) = file.read(offset, runtime::Buffer::zeroed(4096)).await;
                read.unwrap();
                bytes[100] ^= 1;
                let write = file.write(offset, Rc::new(bytes), Persistence::Durable);
                write.await.unwrap();
            };
            let settings = small_settings(4096);
            compare(&handle, &disk, &settings, 3, harm).await.0
        });
        let is_of = |part: FilePart| match what {
            Beside::MissingLog | Beside::Log => matches!(part, FilePart::Log { .. }),
            Beside::Header => part == FilePart::Header { copy: 1 },
            Beside::SecondHeader => part == FilePart::Header { copy: 2 },
            Beside::Checkpoint => part == FilePart::Checkpoint { copy: 1 },
        };
        assert_eq!(found.files.len(), 1, "{what:?}: {found:?}");
        assert!(is_of(found.files[0].part), "{what:?}: {found:?}");
        assert_eq!(found.different_pages, 0, "{what:?}: {found:?}");
    }
}

/// Runs with this fault at the copy. The database does not notice it; gives why replication has ended.
fn suspended_by(fault: Fault) -> String {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(5));
        let settings = small_settings(4096);
        let db = create(&handle, &disk, &settings).await;
        let table = db.create_table(&messages()).await.unwrap();
        let world = TestDatabase::new(&handle, db.clone(), table, State::new(), 5);
        let copy = seed(&db, &disk, &settings, Rc::new(NoObserver)).await;
        disk.set_fault(fault);
        assert_eq!(world.run(5, 4, 100).await, []);
        drop(world);
        db.close().await.unwrap();
        drop(db);
        let active = disk.directory("database");
        let why = copy.suspension();
        let caught_up = copy.catch_up((&active, "mail.edb"), |_| true).await;
        assert!(caught_up.is_err(), "{caught_up:?}");
        why.expect("replication was suspended")
    })
}

#[test]
fn a_copy_whose_storage_fails_or_is_full_does_not_hold_up_its_database() {
    for failure in [IoFailure::PermissionDenied, IoFailure::OutOfSpace] {
        for (operation, file) in [
            (IoOperation::Write, "copy-log/"),
            (IoOperation::Create, "copy-log/"),
            (IoOperation::Write, "copy/mail.edb"),
            (IoOperation::Read, "copy-log/"),
        ] {
            println!("{operation:?} of {file}: {failure:?}");
            let fault = Fault::from_then_on(operation, 3, FaultEffect::Fail(failure.clone()));
            let why = suspended_by(fault.on_file(file));
            assert!(why.starts_with("Replication is suspended since"), "{why}");
        }
    }
}

#[test]
fn pages_that_differ_are_found() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(6));
        let settings = small_settings(4096);
        let db = create(&handle, &disk, &settings).await;
        let copy = seed(&db, &disk, &settings, Rc::new(NoObserver)).await;
        db.close().await.unwrap();
        drop(db);
        let file = disk.directory("copy").open("mail.edb").await.unwrap();
        let last = file.size_bytes().await.unwrap() - 4096;
        let mut bytes = runtime::Buffer::zeroed(4096);
        bytes.fill(7);
        let write = file.write(last, Rc::new(bytes), Persistence::Durable);
        write.await.unwrap();
        let active = disk.directory("database");
        let found = copy
            .catch_up((&active, "mail.edb"), |_| true)
            .await
            .unwrap();
        assert_eq!(
            (found.wrong_pages, found.different_pages),
            (1, 1),
            "{found:?}"
        );
        assert_eq!(found.first_different.map(u64::from), Some(last / 4096 - 1));
        assert!(found.same_position, "{found:?}");
    });
}

/// The generations of the log that commits are in, in their order.
#[derive(Default)]
struct Generations {
    file_bytes: u64,
    of_commits: RefCell<Vec<u32>>,
}

impl CommitObserver for Generations {
    fn acknowledged(&self, commit: AcknowledgedCommit) {
        let generation = commit.position.generation(self.file_bytes);
        self.of_commits.borrow_mut().push(generation);
    }
}

async fn size_of_copy(disk: &SimulatedDisk) -> u64 {
    let file = disk.directory("copy").open("mail.edb").await.unwrap();
    file.size_bytes().await.unwrap()
}

/// Inserts rows, a transaction each, into a database with a copy. Returns the generation of the log that each of
/// them was committed in, and by how many bytes the file of the copy has grown.
async fn insert_with_copy(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
    rows: usize,
) -> (Vec<u32>, u64) {
    let db = create(handle, disk, settings).await;
    let table = db.create_table(&messages()).await.unwrap();
    let copy = seed(&db, disk, settings, Rc::new(NothingFails)).await;
    let seeded_bytes = size_of_copy(disk).await;
    let generations = Rc::new(Generations {
        file_bytes: settings.engine.log_file_size.bytes(),
        ..Generations::default()
    });
    db.observe_commits(generations.clone());
    for number in 0..rows {
        let mut tx = db.begin();
        let values = row(&number.to_be_bytes(), number as i32, vec![7; 3_000]);
        tx.insert(&table, &values).await.unwrap();
        tx.commit(Commit::Durable).await.unwrap();
    }
    assert_eq!(copy.suspension(), None);
    let grown_bytes = size_of_copy(disk).await - seeded_bytes;
    (generations.of_commits.take(), grown_bytes)
}

#[test]
fn a_copy_whose_database_is_gone_has_every_commit_up_to_the_end_of_the_shipped_log() {
    let mut lost = 0;
    for number in 0..40_usize {
        let runtime = Runtime::virtual_clock();
        let handle = runtime.handle();
        lost += runtime.block_on(async move {
            let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(number as u64));
            let settings = small_settings([4096, 32_768][number % 2]);
            // More than the database has pages for when the copy is seeded.
            let rows = [400, 120][number % 2] + number;
            let (committed, grown_bytes) = insert_with_copy(&handle, &disk, &settings, rows).await;
            assert_eq!(grown_bytes > 0, number.is_multiple_of(2), "{grown_bytes}");
            // Its power is cut with that of its database, or it goes on without it.
            let disk = match number % 4 {
                0 => disk.killed_copy(&handle),
                _ => disk.crashed_copy(&handle, number as u64),
            };
            let (directory, log_directory) = (disk.directory("copy"), disk.directory("copy-log"));
            let last = activate("mail.edb", &log_directory).await.unwrap();
            let last = last.expect("a log file that was shipped").generation;
            assert_eq!(activate("mail.edb", &log_directory).await, Ok(None));
            let opened = Db::open_passive_copy(
                &handle,
                &directory,
                "mail.edb",
                &log_directory,
                settings,
                Rc::new(NothingFails),
            );
            let (db, report) = opened.await.unwrap();
            assert!(!report.was_clean);
            assert_eq!(db.take_damage(), [], "seed {number}");
            let table = db.table("messages").unwrap();
            let mut tx = db.begin();
            let mut found = Vec::new();
            for number in 0..committed.len() {
                let key = number as i64 + 1;
                let row = tx.get(&table, key, LongValues::Fetch).await.unwrap();
                found.push(row.is_some());
            }
            for (generation, found) in committed.iter().zip(&found) {
                assert!(
                    *found || *generation >= last,
                    "generation {generation} of {last}"
                );
                assert!(
                    !*found || *generation <= last,
                    "generation {generation} of {last}"
                );
            }
            // What was shipped in part ends somewhere.
            assert!(
                found.is_sorted_by(|before, after| before >= after),
                "{found:?}"
            );
            // It is a database as any other from now on.
            let values = row(b"one more", 1, Vec::new());
            tx.insert(&table, &values).await.unwrap();
            tx.commit(Commit::Durable).await.unwrap();
            db.close().await.unwrap();
            drop(db);
            let (data, log) = (&directory, &log_directory);
            let observer = Rc::new(NoObserver);
            let again = Db::open(&handle, data, "mail.edb", log, settings, observer);
            let (db, report) = again.await.unwrap();
            assert!(report.was_clean);
            assert_eq!(db.take_damage(), [], "seed {number}");
            found.iter().filter(|found| !**found).count()
        });
    }
    assert!(lost > 40, "{lost} commits were not shipped");
}

#[test]
fn a_copy_without_log_cannot_be_activated() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = SimulatedDisk::new(&handle, SimulatedOptions::seeded(7));
        let settings = small_settings(4096);
        insert_with_copy(&handle, &disk, &settings, 1).await;
        let error = activate("mail.edb", &disk.directory("copy-log")).await;
        let error = error.unwrap_err().to_string();
        assert!(error.contains("no log file was shipped"), "{error}");
    });
}
