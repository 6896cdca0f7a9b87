//! A process knows which requests of a killed one are still under way, and its own files do not
//! count.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use crate::common::{in_directory, on_real_storage, runtime_with};
use runtime::host::requests_are_under_way;
use runtime::{Directory, Handle, HostDirectory, IoDriver};
use rustix::fs::OFlags;
use rustix::process::{Pid, PidfdFlags, PidfdGetfdFlags, pidfd_getfd, pidfd_open};
use std::cell::Cell;
use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::os::fd::OwnedFd;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::rc::Rc;

const FILE: &str = "file";
/// The directory that the process to be killed works in.
const DIRECTORY_OF_CHILD: &str = "PROOFLOAD_TEST_DIRECTORY";
const DRIVER_OF_CHILD: &str = "PROOFLOAD_TEST_IO_DRIVER";
const OPENED: &str = "the file is open";

fn under_way(directory: &Path) -> bool {
    requests_are_under_way(File::open(directory.join(FILE)).unwrap())
}

#[test]
fn a_file_may_be_opened_again_by_its_own_process() {
    on_real_storage(async |_: Handle, directory: HostDirectory| {
        let first = directory.create(FILE).await.unwrap();
        let second = directory.open(FILE).await.unwrap();
        drop(first);
        let third = directory.open(FILE).await.unwrap();
        assert!(under_way(directory.path()));
        drop((second, third));
        assert!(!under_way(directory.path()));
        directory.open(FILE).await.unwrap();
    });
}

#[test]
fn a_file_that_is_only_read_does_not_count() {
    on_real_storage(async |handle: Handle, directory: HostDirectory| {
        directory.create(FILE).await.unwrap();
        let reader = HostDirectory::open_for_reading(&handle, directory.path()).unwrap();
        let file = reader.open(FILE).await.unwrap();
        assert!(!under_way(directory.path()));
        drop(file);
    });
}

/// What a request under way is to the kernel: the open file lasts longer than the process.
#[test]
fn a_file_is_opened_when_the_requests_of_a_killed_process_are_complete() {
    on_real_storage(async |handle: Handle, directory: HostDirectory| {
        directory.create(FILE).await.unwrap();
        let driver = handle.io_driver().unwrap().driver;
        let mut child = child(directory.path(), driver);
        let kept = files_for_requests(&child, directory.path());
        child.kill().unwrap();
        child.wait().unwrap();
        let Some(kept) = kept else {
            return test_support::skip(
                "files of other processes cannot be kept open (pidfd_getfd)",
            );
        };
        assert!(!kept.is_empty(), "the process has no file for requests");
        assert!(under_way(directory.path()));
        let reader = HostDirectory::open_for_reading(&handle, directory.path()).unwrap();
        reader.open(FILE).await.unwrap();
        let is_open = Rc::new(Cell::new(false));
        let (opened, writer) = (Rc::clone(&is_open), directory.clone());
        let opening = handle.spawn(async move {
            let file = writer.open(FILE).await.unwrap();
            opened.set(true);
            file
        });
        handle.sleep_ns(100_000_000).await;
        assert!(!is_open.get());
        drop(kept);
        drop(opening.await);
        assert!(!under_way(directory.path()));
    });
}

/// This program again, with the file open.
fn child(directory: &Path, driver: IoDriver) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let mut child = command
        .args([
            "--exact",
            "request_locks::the_process_that_is_killed",
            "--nocapture",
        ])
        .env(DIRECTORY_OF_CHILD, directory)
        .env(DRIVER_OF_CHILD, driver.id())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.as_mut().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains(OPENED)));
    child
}

#[test]
fn the_process_that_is_killed() {
    let Ok(directory) = std::env::var(DIRECTORY_OF_CHILD) else {
        return; // Started as a test, this has nothing to do.
    };
    let driver = match std::env::var(DRIVER_OF_CHILD).as_deref() {
        Ok("threads") => IoDriver::Threads,
        _ => IoDriver::IoUring,
    };
    let Some(runtime) = runtime_with(driver) else {
        return;
    };
    in_directory(&runtime, Path::new(&directory), async |_, directory| {
        let file = directory.open(FILE).await.unwrap();
        println!("{OPENED}");
        let _ = std::io::stdin().read_line(&mut String::new()); // Until the other ends.
        drop(file);
    });
}

/// The open files of a process that its requests go through; `None` where the system refuses them.
fn files_for_requests(child: &Child, directory: &Path) -> Option<Vec<OwnedFd>> {
    let process = pidfd_open(Pid::from_child(child), PidfdFlags::empty()).ok()?;
    let mut files = Vec::new();
    for entry in fs::read_dir(format!("/proc/{}/fd", child.id())).unwrap() {
        let entry = entry.unwrap();
        if fs::read_link(entry.path()).ok() != Some(directory.join(FILE)) {
            continue;
        }
        let number = entry.file_name().to_str().unwrap().parse().unwrap();
        let file = pidfd_getfd(&process, number, PidfdGetfdFlags::empty()).ok()?;
        if rustix::fs::fcntl_getfl(&file)
            .unwrap()
            .contains(OFlags::DIRECT)
        {
            files.push(file);
        }
    }
    Some(files)
}
