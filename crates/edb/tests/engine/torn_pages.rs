//! Torn pages that no checksum shows.

use super::common::*;
use crashtest::table::{DATABASE_DIRECTORY, DATABASE_FILE, LOG_DIRECTORY};
use edb::checkpoint::{Checkpoint, CheckpointFile};
use edb::database::LOG_PREFIX;
use edb::format::page::{PageView, verify};
use edb::log::LogReader;
use edb::position::{LogPosition, PageNumber};
use edb::recovery::{LoggedPage, logged_pages};
use edb::{Commit, EngineSettings, LongValues, ScanOptions, Value};
use runtime::simulated::{SimulatedDisk, SimulatedFile, SimulatedOptions};
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, Handle, Persistence, Runtime};
use std::rc::Rc;

const PAGE_BYTES: usize = 4096;
/// The row whose page is torn.
const KEY: i64 = 1;

/// Page images in the log, and no checkpoint but those of opening and closing.
fn settings() -> EngineSettings {
    let mut settings = with_images(&small_settings(PAGE_BYTES));
    settings.internals.checkpoint_interval_ms = 1_000_000;
    settings
}

async fn set_size(db: &Db, size: i32) {
    let table = db.table("messages").unwrap();
    let mut tx = db.begin();
    let values = vec![(1, Value::Long(size))];
    assert!(tx.update(&table, KEY, values).await.unwrap());
    tx.commit(Commit::Durable).await.unwrap();
}

/// Reads other rows until the page of the row has been written and has left the cache.
async fn push_page_out(db: &Db) {
    let table = db.table("messages").unwrap();
    for _ in 0..4 {
        let options = ScanOptions {
            long_values: LongValues::Fetch,
            ..ScanOptions::default()
        };
        db.begin().scan(&table, 100.., options).await.unwrap();
    }
}

/// What the log says, with the position of each entry.
async fn log_of(handle: &Handle, disk: &SimulatedDisk) -> Vec<(LogPosition, LoggedPage)> {
    let directory = disk.directory(LOG_DIRECTORY);
    let observer = Rc::new(NoObserver);
    let start = LogPosition::START;
    let reader = LogReader::open(handle, &directory, LOG_PREFIX, start, observer);
    let mut reader = reader.await.unwrap().unwrap();
    let mut entries = Vec::new();
    while let Some((span, record)) = reader.next().await.unwrap() {
        let pages = logged_pages(&record).unwrap();
        entries.extend(pages.into_iter().map(|page| (span.begin, page)));
    }
    entries
}

async fn move_checkpoint(handle: &Handle, disk: &SimulatedDisk, to: LogPosition) {
    let directory = disk.directory(LOG_DIRECTORY);
    let file = CheckpointFile::open(handle, &directory, LOG_PREFIX, Rc::new(NoObserver));
    let file = file.await.unwrap();
    let before = file.read().await.unwrap().unwrap();
    assert!(before.position < to, "the checkpoint moves forward");
    let moved = Checkpoint {
        position: to,
        ..before
    };
    file.write(&moved).await.unwrap();
}

async fn database_file(disk: &SimulatedDisk) -> SimulatedFile {
    disk.directory(DATABASE_DIRECTORY)
        .open(DATABASE_FILE)
        .await
        .unwrap()
}

async fn read_page(file: &SimulatedFile, page: u32) -> Buffer {
    let offset = PageNumber(page).offset_bytes(PAGE_BYTES);
    let (bytes, result) = file.read(offset, Buffer::zeroed(PAGE_BYTES)).await;
    result.unwrap();
    bytes
}

/// A closed database in which the row has the size 1.
async fn prepared(handle: &Handle) -> SimulatedDisk {
    let disk = SimulatedDisk::new(handle, SimulatedOptions::instant());
    let db = create(handle, &disk, &settings()).await;
    let table = db.create_table(&messages()).await.unwrap();
    let mut tx = db.begin();
    for number in 1..=300_i32 {
        let mixed = (number as u64).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        let values = row(&mixed.to_be_bytes(), number, vec![5; 3000]);
        tx.insert(&table, &values).await.unwrap();
    }
    tx.commit(Commit::Durable).await.unwrap();
    db.close().await.unwrap();
    disk
}

/// A page of state 1 is changed to state 2, which is logged as an image and written; a power cut tears
/// the write, so that some sectors are of state 1 and some of state 2. Recovery gives the page state 2
/// again, from its image; from there on the changes before the image are not needed any more, and the
/// checkpoint passes them. The page is changed to state 3, whose bytes are in the sectors of the first
/// tear those of state 1. A second power cut tears that write so that only these sectors are written.
/// Now the page is whole and of state 1, and the log begins after the change to state 2.
#[test]
fn a_torn_page_that_looks_like_an_older_whole_one_is_restored_from_its_image() {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    runtime.block_on(async move {
        let disk = prepared(&handle).await;
        let closed = disk.killed_copy(&handle);
        let (db, report) = open(&handle, &disk, &settings()).await.unwrap();
        assert!(report.was_clean, "{report:?}");
        set_size(&db, 2).await;
        push_page_out(&db).await;
        set_size(&db, 3).await;
        let disk = disk.killed_copy(&handle);
        drop(db);

        let log = log_of(&handle, &disk).await;
        let last_image = log.iter().rev().find_map(|(at, entry)| match entry {
            LoggedPage::Image { page, dbtime } => Some((*at, *page, *dbtime)),
            _ => None,
        });
        let (image_at, page, image_time) = last_image.expect("the page was written");
        let older = read_page(&database_file(&closed).await, page).await;
        verify(&older, page).expect("the page is whole");
        let older_time = PageView::new(&older).dbtime();
        let changes: Vec<(bool, u64)> = log
            .iter()
            .filter_map(|(at, entry)| match entry {
                LoggedPage::Changed {
                    page: changed,
                    after,
                    ..
                } if *changed == page && *after > older_time => Some((*at < image_at, *after)),
                _ => None,
            })
            .collect();
        let [(true, second), (false, third)] = changes[..] else {
            panic!("one change before the image and one after it: {changes:?}");
        };
        assert!(second == image_time && third > image_time);

        let file = database_file(&disk).await;
        let offset = PageNumber(page).offset_bytes(PAGE_BYTES);
        let write = file.write(offset, Rc::new(older), Persistence::Durable);
        write.await.unwrap();
        move_checkpoint(&handle, &disk, image_at).await;

        let (db, report) = open(&handle, &disk, &settings()).await.unwrap();
        assert!(!report.was_clean, "{report:?}");
        assert_eq!(report.restored_pages, 1, "{report:?}");
        let table = db.table("messages").unwrap();
        let tx = db.begin();
        let row = tx.get(&table, KEY, LongValues::Leave).await.unwrap();
        assert_eq!(row.unwrap().values[1], Value::Long(3));
        drop(tx);
        db.close().await.unwrap();
        assert_eq!(db.take_damage(), []);
        let file = database_file(&disk).await;
        let report = edb::check::check(&file, |_, _| {}).await.unwrap();
        assert_eq!(report.findings, []);
    });
}
