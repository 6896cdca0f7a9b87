//! A volume that fills up ends the run, which says so and does not hold it against the storage.

use super::{Load, copies};
use crate::common;
use brokerage::run::full_volume::Volumes;
use measure::result::{ErrorKind, Verdict};
use std::io::Write;
use std::path::Path;
use std::sync::Arc;

/// Takes all the room that is left.
fn fill(directory: &Path) {
    let mut file = std::fs::File::create(directory.join("filler")).unwrap();
    let mut bytes = vec![7; 1 << 20];
    while !bytes.is_empty() {
        if file.write_all(&bytes).is_err() {
            bytes.truncate(bytes.len() / 2);
        }
    }
}

#[test]
fn a_volume_that_fills_up_ends_the_run_and_is_named() {
    let room = common::room();
    let on = room.path().join("small");
    let Some(_volume) = common::Small::mount(&on, "size=256m") else {
        return;
    };
    let sqlite = copies::sqlite(&on);
    let load = Load::on(Arc::new(sqlite), Volumes::of(vec![on.clone()]));
    load.wait_for_load();
    // The index of its log is no file, which a full file system could not map.
    assert!(!on.join("proofload_brokerage.sqlite-shm").exists());
    std::thread::sleep(std::time::Duration::from_secs(1));
    fill(&on);
    let started = std::time::Instant::now();
    while !load.thread.is_finished() && started.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let result = load.end();
    let reason = &result.verdict_reason;
    assert_eq!(result.ended_by(), Some(ErrorKind::OutOfSpace), "{reason}");
    assert_eq!((result.verdict, result.exit_status), (Verdict::Error, 4));
    assert!(reason.contains(&on.display().to_string()), "{reason}");
}
