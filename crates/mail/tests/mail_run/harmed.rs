//! Files changed from outside while a run works on them: the storage that loses what it was given.

use super::support::{Outcome, profile, run_on, slow_disk};
use config::ByteSize;
use measure::result::Verdict;
use runtime::time::SECOND_NS;
use runtime::{Buffer, Directory, File, Handle, Persistence, Runtime, SimulatedDisk};
use std::rc::Rc;

const PAGE: u64 = 8192;

/// Runs one database, to whose files `harm` does something.
fn run_harmed<W>(harm: impl FnOnce(Handle, SimulatedDisk) -> W) -> Outcome
where
    W: Future<Output = ()> + 'static,
{
    let mut profile = profile();
    profile.mail.databases = 1;
    profile.maintenance.log_read_back_rate = Some(ByteSize::mib(64));
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), slow_disk());
    drop(runtime.handle().spawn(harm(runtime.handle(), disk.clone())));
    run_on(&runtime, &disk, &profile)
}

async fn read<F: File>(file: &F, offset: u64, length: u64) -> Buffer {
    let (bytes, result) = file.read(offset, Buffer::zeroed(length as usize)).await;
    result.unwrap();
    bytes
}

async fn put<F: File>(file: &F, offset: u64, bytes: Buffer) {
    let written = file.write(offset, Rc::new(bytes), Persistence::Durable);
    written.await.unwrap();
}

#[test]
fn older_pages_put_back_under_a_run_are_lost_writes() {
    let Outcome { result, .. } = run_harmed(|handle, disk| async move {
        handle.sleep_ns(20 * SECOND_NS).await;
        let file = disk.directory("data0").open("mail-001.edb").await.unwrap();
        let (first, count) = (100 * PAGE, 600 * PAGE);
        let earlier = read(&file, first, count).await;
        handle.sleep_ns(30 * SECOND_NS).await;
        put(&file, first, earlier).await;
    });
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    let error = &result.errors[0];
    assert!(error.page.is_some() && error.file.contains("mail-001.edb"));
    assert!(error.error.contains("lost"), "{error:?}");
    assert!(error.error.contains("-1119"), "{error:?}");
}

#[test]
fn a_log_file_garbled_during_a_run_is_found() {
    let Outcome { result, .. } = run_harmed(|handle, disk| async move {
        let log = disk.directory("log0");
        // The newest full file, again and again: those that are read back already are released soon.
        loop {
            handle.sleep_ns(SECOND_NS / 2).await;
            let Ok(names) = log.list().await else {
                return;
            };
            let is_full = |name: &&String| name.len() == 15 && name.ends_with(".log");
            let Some(newest) = names.iter().rfind(is_full) else {
                continue;
            };
            let Ok(file) = log.open(newest).await else {
                continue;
            };
            let mut bytes = read(&file, 40_960, 4096).await;
            bytes[50..90].fill(0xE5);
            put(&file, 40_960, bytes).await;
        }
    });
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    let error = &result.errors[0];
    assert!(error.file.contains("log0/E00"), "{error:?}");
    assert!(error.error.contains("wrong checksum"), "{error:?}");
}

/// What somebody puts in the place of one of our small files survives the end of the run, which says so.
#[test]
fn foreign_files_in_the_places_of_ours_are_left_as_they_are() {
    for (name, was_there) in [("mail.state", true), ("mail-001.edb.versions", false)] {
        let Outcome { result, disk, .. } = run_harmed(|handle, disk| async move {
            handle.sleep_ns(20 * SECOND_NS).await;
            let data = disk.directory("data0");
            let removed = data.remove(name).await;
            assert_eq!(removed.is_ok(), was_there, "{name}");
            let file = data.create(name).await.unwrap();
            file.set_size_bytes(4096).await.unwrap();
            let mut foreign = Buffer::zeroed(4096);
            foreign.fill(b'x');
            put(&file, 0, foreign).await;
        });
        let runtime = Runtime::virtual_clock();
        let disk = disk.restarted(&runtime.handle(), slow_disk());
        let left = runtime.block_on(async move {
            let file = disk.directory("data0").open(name).await.unwrap();
            read(&file, 0, 4096).await
        });
        assert!(left.iter().all(|&byte| byte == b'x'), "{name}");
        assert_eq!(result.verdict, Verdict::Error, "{name}");
        let error = &result.errors[0];
        assert!(error.file.ends_with(name), "{error:?}");
        assert!(error.error.contains("it was left as it is"), "{error:?}");
    }
}
