//! Targets that read database files and logs.

use crashtest::base::Base;
use crashtest::table::{DATABASE_DIRECTORY, DATABASE_FILE, LOG_DIRECTORY};
use edb::check::{check, info};
use edb::database::LOG_PREFIX;
use edb::format::checksum::header_checksum;
use edb::format::page::{PageView, seal_as_is, verify};
use edb::log::LogReader;
use edb::position::LogPosition;
use edb::recovery::logged_pages;
use runtime::simulated::{SimulatedDisk, SimulatedFile, SimulatedOptions};
use runtime::trace::NoObserver;
use runtime::{Buffer, Directory, File, IoError, Persistence, Runtime};
use std::rc::Rc;

/// Bytes of a page of the database that is changed.
const PAGE: usize = 4096;

/// Bytes of one change: where in the file (3 bytes, in steps of one byte), and the new byte.
const CHANGE: usize = 4;

/// Reads one page. Its checksum is made right, or nothing behind it would be seen.
pub fn page(bytes: &[u8]) {
    let mut page = vec![0; PAGE];
    let length = bytes.len().min(PAGE);
    page[..length].copy_from_slice(&bytes[..length]);
    let _ = verify(&page, 1);
    seal_as_is(&mut page, 1);
    let view = PageView::new(&page);
    if verify(&page, 1).is_err() || view.check_structure().is_err() {
        return;
    }
    let _ = view.external_header();
    for index in 0..view.node_count() {
        let key = view.node(index).key();
        if view.is_leaf() {
            let _ = view.search(&key);
        } else {
            let _ = view.child_index(&key);
        }
    }
}

/// Reads a database file with its catalog. The bytes are changes of a sound one: three bytes of
/// place and one of content each. The checksums of the pages that are changed are made right.
pub fn database(bytes: &[u8]) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let Ok(base) = Base::with_pages(PAGE) else {
        panic!("the database to be changed cannot be made");
    };
    let disk = base.disk.restarted(&handle, SimulatedOptions::instant());
    let changes = changes(bytes);
    let done = runtime.block_on(async move {
        let directory = disk.directory(DATABASE_DIRECTORY);
        let file = directory.open(DATABASE_FILE).await?;
        change(&file, &changes, |page, bytes| {
            if page < 2 {
                let checksum = header_checksum(bytes);
                bytes[..4].copy_from_slice(&checksum.to_le_bytes());
            } else {
                // The page behind the two headers has number 1.
                seal_as_is(bytes, page as u32 - 1);
            }
        })
        .await?;
        let _ = info(&file, true).await;
        let _ = check(&file, |_, _| {}).await;
        Ok::<_, IoError>(())
    });
    assert_eq!(done, Ok(()), "the simulated disk carries every request out");
}

/// Reads a log. The bytes are changes of a sound one, as with [`database`].
pub fn log(bytes: &[u8]) {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let Ok(base) = Base::with_pages(PAGE) else {
        panic!("the log to be changed cannot be made");
    };
    let disk = base.disk.restarted(&handle, SimulatedOptions::instant());
    let changes = changes(bytes);
    let done = runtime.block_on(async move {
        let directory = disk.directory(LOG_DIRECTORY);
        let file = directory.open("E00.log").await?;
        change(&file, &changes, |page, bytes| {
            if page == 0 {
                let checksum = header_checksum(bytes);
                bytes[..4].copy_from_slice(&checksum.to_le_bytes());
            }
        })
        .await?;
        let observer = Rc::new(NoObserver);
        let start = LogPosition::START;
        let opened = LogReader::open(&handle, &directory, LOG_PREFIX, start, observer).await;
        if let Ok(Some(mut reader)) = opened {
            while let Ok(Some((_, record))) = reader.next().await {
                let _ = logged_pages(&record);
            }
        }
        Ok::<_, IoError>(())
    });
    assert_eq!(done, Ok(()), "the simulated disk carries every request out");
}

/// Reads one log record.
pub fn log_record(bytes: &[u8]) {
    let _ = logged_pages(bytes);
}

/// Records of a sound log, for a corpus.
#[must_use]
pub fn sound_records() -> Vec<Vec<u8>> {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let Ok(base) = Base::with_pages(PAGE) else {
        return Vec::new();
    };
    let disk: SimulatedDisk = base.disk.restarted(&handle, SimulatedOptions::instant());
    runtime.block_on(async move {
        let mut records = Vec::new();
        let directory = disk.directory(LOG_DIRECTORY);
        let (start, observer) = (LogPosition::START, Rc::new(NoObserver));
        let opened = LogReader::open(&handle, &directory, LOG_PREFIX, start, observer).await;
        if let Ok(Some(mut reader)) = opened {
            while let Ok(Some((_, record))) = reader.next().await {
                records.push(record);
            }
        }
        records
    })
}

/// Pages of a sound database, for a corpus.
#[must_use]
pub fn sound_pages() -> Vec<Vec<u8>> {
    let runtime = Runtime::virtual_clock();
    let handle = runtime.handle();
    let Ok(base) = Base::with_pages(PAGE) else {
        return Vec::new();
    };
    let disk = base.disk.restarted(&handle, SimulatedOptions::instant());
    runtime.block_on(async move {
        let mut pages = Vec::new();
        let directory = disk.directory(DATABASE_DIRECTORY);
        let Ok(file) = directory.open(DATABASE_FILE).await else {
            return pages;
        };
        let end = file.size_bytes().await.unwrap_or_default();
        for offset in (2 * PAGE as u64..end).step_by(PAGE) {
            let (bytes, result) = file.read(offset, Buffer::zeroed(PAGE)).await;
            if result.is_ok() && bytes.iter().any(|byte| *byte != 0) {
                pages.push(bytes.to_vec());
            }
        }
        pages
    })
}

/// Places in a file and the bytes to put there.
fn changes(bytes: &[u8]) -> Vec<(u64, u8)> {
    let (changes, _) = bytes.as_chunks::<CHANGE>();
    changes
        .iter()
        .map(|[a, b, c, byte]| {
            let place = u64::from(*a) << 16 | u64::from(*b) << 8 | u64::from(*c);
            (place, *byte)
        })
        .collect()
}

/// Makes the changes, each page read and written once per change of page.
async fn change(
    file: &SimulatedFile,
    changes: &[(u64, u8)],
    finish: impl Fn(u64, &mut [u8]),
) -> Result<(), IoError> {
    let end = file.size_bytes().await?;
    for (place, byte) in changes {
        let place = place % end;
        let page = place / PAGE as u64;
        let offset = page * PAGE as u64;
        let (mut bytes, result) = file.read(offset, Buffer::zeroed(PAGE)).await;
        result?;
        if bytes.iter().all(|byte| *byte == 0) {
            continue; // A page that was never written has no checksum to be made right.
        }
        bytes[(place - offset) as usize] = *byte;
        finish(page, &mut bytes);
        file.write(offset, Rc::new(bytes), Persistence::Durable)
            .await?;
    }
    Ok(())
}
