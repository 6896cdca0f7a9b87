//! `proofload serve` as a person runs it: programs use the files that it mounts.

mod common;

use std::fs::{self, File};
use std::io::ErrorKind;
use std::os::unix::fs::FileExt;
use std::time::Duration;

use common::Scratch;
use common::served::{ARRAY, bytes, ended, opened, serving, unmount};

#[test]
fn what_programs_write_is_there_when_they_read_it() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &["--volumes", "2"]) else {
        return;
    };
    let names = fs::read_dir(here.path("array")).expect("the mount point");
    let mut names: Vec<_> = names.map(|one| one.expect("a file").file_name()).collect();
    names.sort();
    assert_eq!(names, ["volume-1", "volume-2"]);
    let (one, other) = (opened(&here, "volume-1"), opened(&here, "volume-2"));
    assert_eq!(one.metadata().expect("its size").len(), 1 << 30);
    // Whole sectors, parts of sectors, and what lies across them.
    for (offset, length, seed) in [
        (0, 65_536, 1),
        (1_000, 24, 2),
        (4_095, 3, 3),
        (70_001, 9_001, 4),
    ] {
        one.write_all_at(&bytes(length, seed), offset)
            .expect("written");
        let mut read = vec![0; length];
        one.read_exact_at(&mut read, offset).expect("read");
        assert_eq!(read, bytes(length, seed), "{offset}");
    }
    let mut expected = bytes(65_536, 1);
    expected[1_000..1_024].copy_from_slice(&bytes(24, 2));
    expected[4_095..4_098].copy_from_slice(&bytes(3, 3));
    let mut read = vec![0; 65_536];
    one.read_exact_at(&mut read, 0).expect("read");
    assert!(read == expected);
    one.sync_all().expect("flushed");
    other.read_exact_at(&mut read, 0).expect("read");
    assert!(read.iter().all(|&byte| byte == 0), "another volume");
    // The end of a volume is that of its file.
    let end = 1 << 30;
    assert_eq!(one.read_at(&mut read, end).expect("nothing"), 0);
    assert_eq!(one.read_at(&mut read, end - 512).expect("a sector"), 512);
    let error = one.write_at(&[1], end).expect_err("no room");
    assert_eq!(error.kind(), ErrorKind::StorageFull);
    drop((one, other));
    let ended = ended(running).exits(0).prints("reads").prints("flushes");
    assert!(!ended.stdout.contains("failed"), "{}", ended.stdout);
    assert_eq!(
        fs::read_dir(here.path("array")).expect("unmounted").count(),
        0
    );
}

#[test]
fn data_survives_a_disk_that_fails_on_schedule() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &["--event", "2s disk-fail 3"]) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    let written = bytes(4 << 20, 7);
    volume.write_all_at(&written, 0).expect("written");
    running.wait_until_it_says("At 0:00:02.0: disk 3 of group");
    let mut read = vec![0; written.len()];
    volume.read_exact_at(&mut read, 0).expect("read");
    assert!(read == written);
    drop(volume);
    ended(running).exits(0);
}

#[test]
fn the_report_has_what_programs_did_and_what_broke() {
    let here = Scratch::new();
    let out = ["--out", "out", "--event", "1s disk-fail 3"];
    let Some(mut running) = serving(&here, &out) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    for part in 0..16 {
        volume
            .write_all_at(&bytes(65_536, 7), part << 16)
            .expect("written");
    }
    volume.sync_all().expect("flushed");
    running.wait_until_it_says("is degraded");
    let mut read = vec![0; 65_536];
    for part in 0..8 {
        volume.read_exact_at(&mut read, part << 16).expect("read");
    }
    drop(volume);
    ended(running).exits(0).prints("Report: out/report.html");
    let result = here.result();
    assert_eq!(
        (&result["kind"], &result["verdict"]),
        (&"served".into(), &"pass".into())
    );
    let headline = result["headline"].as_str().expect("a headline");
    assert!(
        headline.starts_with("SERVED: The modelled array msa2050 was served for "),
        "{headline}"
    );
    // The kernel may split requests and join them.
    let volume = &result["databases"][0];
    assert_eq!(volume["name"], "volume-1");
    assert_eq!(volume["writes"]["bytes"], 1 << 20, "{volume}");
    assert_eq!(volume["reads"]["bytes"], 1 << 19, "{volume}");
    let happened = result["events"].as_array().expect("events");
    assert!(
        happened.iter().any(|one| one["what"] == "disk-fails"),
        "{happened:?}"
    );
    // Nothing is judged, so no verdict is recomputed.
    here.proofload("verify out").exits(5).prints("not changed");
    here.proofload("report out").exits(0).prints("Volumes");
    here.proofload("certificate out")
        .exits(2)
        .says("modelled array");
    let refused = here.proofload("serve msa2050 --at array --out out");
    refused.exits(2).says("out");
}

#[test]
fn a_killed_server_leaves_the_figures_so_far() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &["--out", "out"]) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    volume.write_all_at(&bytes(65_536, 7), 0).expect("written");
    while here.result()["databases"][0]["writes"]["bytes"] != 65_536 {
        std::thread::sleep(Duration::from_millis(100));
    }
    running.signal("KILL");
    drop((running.end(), volume));
    unmount(&here.path("array"));
    let report = here.proofload("report out").exits(0).prints("UNFINISHED");
    assert!(!report.stdout.contains("--reuse"), "{}", report.stdout);
    assert_eq!(here.result()["databases"][0]["writes"]["bytes"], 65_536);
    // A mount would hide them.
    here.proofload(&format!("serve {ARRAY} --at array --out array/results"))
        .exits(2)
        .says("where volumes are mounted");
}

#[test]
fn results_that_cannot_be_written_do_not_keep_back_what_was_seen() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &["--out", "out"]) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    volume.write_all_at(&bytes(65_536, 7), 0).expect("written");
    drop(volume);
    fs::remove_dir_all(here.path("out")).expect("removed");
    ended(running).exits(3).prints("writes").says("was removed");
}

#[test]
fn a_killed_server_leaves_errors_and_nothing_that_hangs() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &[]) else {
        return;
    };
    let volume = File::open(here.path("array/volume-1")).expect("a volume");
    running.signal("KILL");
    drop(running.end());
    let error = volume.read_at(&mut [0; 512], 0).expect_err("it is gone");
    assert_eq!(error.kind(), ErrorKind::NotConnected);
    drop(volume);
    let again = format!("serve {ARRAY} --at array");
    here.proofload(&again)
        .exits(3)
        .says("is still mounted by a process that has ended")
        .says("umount");
    unmount(&here.path("array"));
    here.proofload("serve nothing-of-the-kind --at array")
        .exits(2);
}

#[test]
fn volumes_that_somebody_unmounts_end_the_server() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &[]) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    volume.write_all_at(&[1; 512], 0).expect("written");
    drop(volume);
    unmount(&here.path("array"));
    running.end().exits(0).prints("writes");
}

#[test]
fn files_that_are_still_open_do_not_keep_the_server_from_ending() {
    for signal in ["INT", "TERM"] {
        let here = Scratch::new();
        let Some(mut running) = serving(&here, &[]) else {
            return;
        };
        let volume = opened(&here, "volume-1");
        volume.write_all_at(&[1; 512], 0).expect("written");
        running.signal(signal);
        let own = format!("(process {})", std::process::id());
        running
            .end()
            .exits(0)
            .prints("writes")
            .prints("still had files open there")
            .prints(&own);
        volume.read_at(&mut [0; 512], 0).expect_err("it is gone");
        let entries = fs::read_dir(here.path("array")).expect("unmounted");
        assert_eq!(entries.count(), 0);
    }
}

#[test]
fn places_that_a_mount_would_hide_are_refused() {
    let here = Scratch::new();
    here.file("file", "");
    here.directory("full");
    here.file("full/notes", "mine");
    for (place, words) in [
        ("missing", "There is no directory missing."),
        ("file", "file is no directory."),
        (
            "full",
            "full is not empty, and a mount would hide what is there.",
        ),
    ] {
        here.proofload(&format!("serve {ARRAY} --at {place}"))
            .exits(2)
            .says(words);
    }
}
