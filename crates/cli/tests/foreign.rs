//! Files and names of others in the places of databases: they are refused or left, and never written.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::{Running, SMALL, Scratch, WIDE};

const DATABASE: &str = "target/mail-001/mail-001.edb";
const PRECIOUS: &str = "what somebody wants to keep";

/// A run of so many seconds.
fn line(seconds: u32, more: &str) -> String {
    let duration = format!("--duration {seconds}s");
    format!("{SMALL} {WIDE} {more}").replace("--duration 2s", &duration)
}

/// A target with kept databases.
fn built() -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(&line(2, "--build-only")).exits(0);
    fs::rename(here.path("out"), here.path("built")).unwrap();
    here
}

fn pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(made.unwrap().success());
}

/// A file as large as a checkpoint or as a log file, which begins with something precious.
fn precious(here: &Scratch, bytes: usize) -> (PathBuf, Vec<u8>) {
    let mut contents = PRECIOUS.as_bytes().to_vec();
    contents.resize(bytes, b'.');
    let path = here.path("precious.txt");
    fs::write(&path, &contents).unwrap();
    (path, contents)
}

#[test]
fn kept_databases_with_files_of_others_are_refused_before_anything_is_written() {
    let here = built();
    let (path, contents) = precious(&here, 8192);
    let checkpoint = here.path("target/log-001/E00.chk");
    let reuse = |what: &str| {
        here.proofload(&line(2, "--reuse"))
            .exits(3)
            .says("E00.chk cannot be used")
            .says(what);
        assert!(!here.path("out").exists(), "a refusal writes nothing");
        let _ = fs::remove_file(&checkpoint);
    };
    let _ = fs::remove_file(&checkpoint);
    fs::hard_link(&path, &checkpoint).unwrap();
    reuse("it is a hard link to a file that has another name, too");
    assert_eq!(fs::read(&path).unwrap(), contents);
    std::os::unix::fs::symlink(&path, &checkpoint).unwrap();
    reuse("it is a symbolic link");
    assert_eq!(fs::read(&path).unwrap(), contents);
    pipe(&checkpoint);
    reuse("it is a device, a pipe or a socket");
    // Without it the database, which was closed properly, is opened as ever.
    here.proofload(&line(2, "--reuse")).exits(0);
}

#[test]
fn a_recovery_writes_into_no_file_of_others() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line(600, "--keep"));
    running.wait_until_it_says("measuring 0:0");
    running.signal("KILL");
    drop(running.end());
    let (path, contents) = precious(&here, 8192);
    let checkpoint = here.path("target/log-001/E00.chk");
    let kept = here.path("E00.chk");
    fs::rename(&checkpoint, &kept).unwrap();
    fs::hard_link(&path, &checkpoint).unwrap();
    here.proofload(&format!("edb recover {DATABASE}"))
        .exits(3)
        .says("E00.chk failed: it is a hard link to a file that has another name, too")
        .says("put a copy in its place");
    assert_eq!(fs::read(&path).unwrap(), contents);
    fs::rename(&kept, &checkpoint).unwrap();
    here.proofload(&format!("edb recover {DATABASE}")).exits(0);
}
