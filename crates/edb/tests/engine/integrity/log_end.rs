//! A log whose end the storage has lost: what would be recovered with it contradicts itself.

use super::*;
use edb::EngineError;

const SEGMENT: u64 = 4096;

/// A database that was killed after pages had been written, with its settings.
async fn killed(handle: &Handle, images: bool) -> (SimulatedDisk, EngineSettings) {
    let mut settings = small_settings(PAGE as usize);
    if images {
        settings = with_images(&settings);
    }
    settings.engine.circular_logging = false;
    settings.engine.log_file_size = ByteSize::mib(2);
    settings.engine.checkpoint_depth = ByteSize::mib(4);
    let life = Life::begin_with(handle, 31, settings).await;
    life.work(32).await;
    (life.disk.killed_copy(handle), settings)
}

/// Fills the current log file with zeros from a segment on; whether it held anything there.
async fn lose_end(disk: &SimulatedDisk, segment: u64) -> bool {
    let file = disk.directory("log").open("E00.log").await.unwrap();
    let offset = segment * SEGMENT;
    let length = file.size_bytes().await.unwrap() - offset;
    let was_written = bytes_of(&file, offset, length)
        .await
        .iter()
        .any(|&byte| byte != 0);
    put(&file, offset, &Buffer::zeroed(length as usize)).await;
    was_written
}

/// Opens the database without the end of its log; what it is refused for, if it is.
async fn opened_without_end(
    handle: &Handle,
    disk: &SimulatedDisk,
    settings: &EngineSettings,
) -> Option<String> {
    match open(handle, disk, settings).await {
        Ok((db, _)) => {
            db.rebuild_versions(|_| true).await.unwrap();
            db.close().await.unwrap();
            let state = db.closed_state();
            let (database, log) = (disk.directory("database"), disk.directory("log"));
            let verified = state.verify(handle, (&database, "mail.edb"), &log, Rc::new(|_| true));
            let found = verified.await.unwrap();
            assert!(is_sound(&found), "{found:?}");
            None
        }
        Err(error @ EngineError::LogEndLost { .. }) => Some(error.to_string()),
        Err(other) => panic!("{other}"),
    }
}

#[test]
fn a_log_that_lost_its_end_is_no_log_of_newer_pages() {
    for images in [false, true] {
        on_virtual_clock(async move |handle| {
            let mut refusals = Vec::new();
            for segment in (1..).step_by(7) {
                let (disk, settings) = killed(&handle, images).await;
                let is_lost = lose_end(&disk, segment).await;
                let refusal = opened_without_end(&handle, &disk, &settings).await;
                assert!(is_lost || refusal.is_none(), "a whole log: {refusal:?}");
                refusals.extend(refusal);
                if !is_lost {
                    break;
                }
            }
            let name = "database/mail.edb cannot be recovered: the storage lost the end of the log";
            assert!(refusals.len() > 10 && refusals.iter().all(|text| text.starts_with(name)));
            let is_by_page = |text: &String| text.contains("(page ");
            assert!(refusals.iter().all(is_by_page), "{refusals:?}");
        });
    }
}
