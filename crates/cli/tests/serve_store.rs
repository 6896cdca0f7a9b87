//! Contents of a served array that outlive the server.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use common::Scratch;
use common::served::{ARRAY, bytes, ended, opened, serving, serving_of, unmount};

const STORE: [&str; 2] = ["--store", "store"];

fn write(here: &Scratch, offset: u64, seed: u8) {
    let volume = opened(here, "volume-1");
    let written = volume.write_all_at(&bytes(4 << 20, seed), offset);
    written.expect("written");
    volume.sync_all().expect("flushed");
}

#[track_caller]
fn read_back(here: &Scratch, offset: u64, seed: u8) {
    let mut read = vec![0; 4 << 20];
    let volume = opened(here, "volume-1");
    volume.read_exact_at(&mut read, offset).expect("read");
    assert!(read == bytes(4 << 20, seed), "{offset}");
}

/// The file of the disk of that number of the first disk group.
fn disk(here: &Scratch, number: u16) -> PathBuf {
    let entries = fs::read_dir(here.path("store/disks")).expect("the disks");
    let paths = entries.map(|entry| entry.expect("a disk").path());
    let mut paths: Vec<PathBuf> = paths
        .filter(|path| path.to_string_lossy().ends_with(&format!("-{number}")))
        .collect();
    paths.sort();
    paths.swap_remove(0)
}

#[test]
fn what_was_stored_is_there_when_the_store_is_served_again() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &STORE) else {
        return;
    };
    write(&here, 0, 1);
    write(&here, 700 << 20, 2);
    ended(running).exits(0);
    // By a model with other times, too.
    let slower = [
        "--seed",
        "9",
        "--set",
        "array.controllers.service.read_us=500",
    ];
    let Some(mut running) = serving(&here, &[STORE.as_slice(), &slower].concat()) else {
        return;
    };
    let said = running.wait_until_it_says("those of the store store");
    assert!(!said.contains("degraded"), "{said}");
    read_back(&here, 0, 1);
    read_back(&here, 700 << 20, 2);
    write(&here, 1 << 20, 3);
    // Nobody else can have it meanwhile.
    here.directory("other");
    here.proofload(&format!(
        "serve {ARRAY} --at other --size 1GiB --store store"
    ))
    .exits(3)
    .says(&format!("is served by process {}", running.id()));
    ended(running).exits(0);
    let Some(running) = serving(&here, &STORE) else {
        return;
    };
    read_back(&here, 1 << 20, 3);
    ended(running).exits(0);
}

#[test]
fn what_was_acknowledged_is_there_after_the_server_was_killed() {
    let here = Scratch::new();
    for seed in 1..4 {
        let Some(mut running) = serving(&here, &STORE) else {
            return;
        };
        for before in 1..seed {
            read_back(&here, u64::from(before) * (9 << 20), before);
        }
        write(&here, u64::from(seed) * (9 << 20), seed);
        running.signal("KILL");
        drop(running.end());
        unmount(&here.path("array"));
    }
    let Some(running) = serving(&here, &STORE) else {
        return;
    };
    for seed in 1..4 {
        read_back(&here, u64::from(seed) * (9 << 20), seed);
    }
    ended(running).exits(0);
}

#[test]
fn data_are_there_without_the_files_of_disks_that_the_raid_level_makes_up_for() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &STORE) else {
        return;
    };
    write(&here, 0, 1);
    ended(running).exits(0);
    let pulled: Vec<PathBuf> = (0..3).map(|number| disk(&here, number)).collect();
    let elsewhere: Vec<PathBuf> = (0..3)
        .map(|number| here.path(&format!("pulled-{number}")))
        .collect();
    for (from, to) in pulled.iter().zip(&elsewhere) {
        fs::rename(from, to).expect("pulled");
    }
    here.proofload(&format!(
        "serve {ARRAY} --at array --size 1GiB --store store"
    ))
    .exits(3)
    .says("without them data are lost")
    .says("Put the files back");
    for number in [1, 2] {
        fs::rename(&elsewhere[number], &pulled[number]).expect("put back");
    }
    let Some(mut running) = serving(&here, &STORE) else {
        return;
    };
    running.wait_until_it_says("is degraded");
    read_back(&here, 0, 1);
    write(&here, 8 << 20, 2);
    read_back(&here, 8 << 20, 2);
    ended(running).exits(0);
}

#[test]
fn what_is_no_store_or_one_of_another_array_is_refused_and_left_as_it_is() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &STORE) else {
        return;
    };
    ended(running).exits(0);
    let again = |more: &str| here.proofload(&format!("serve {ARRAY} --at array {more}"));
    again("--size 2GiB --store store")
        .exits(2)
        .says("'volume-1' has 1073741824 bytes");
    again("--size 1GiB --volumes 2 --store store")
        .exits(2)
        .says("'volume-2'");
    here.proofload("serve msa2042 --at array --size 1GiB --store store")
        .exits(2)
        .says("is of another array or size");
    // What the refusal says to do is possible.
    let eva = "serve eva5000-single-vraid1 --at array --size 1GiB --store eva";
    here.proofload(eva)
        .exits(2)
        .says("'all' has no spares and spreads what failed disks held")
        .says("array.group.protection_level=none --set array.group.spares=2");
    let spares = [
        "--store",
        "eva",
        "--set",
        "array.group.protection_level=none",
        "--set",
        "array.group.spares=2",
    ];
    if let Some(running) = serving_of("eva5000-single-vraid1", &here, &spares) {
        ended(running).exits(0);
    }
    here.directory("full");
    here.file("full/notes", "mine");
    again("--store full")
        .exits(2)
        .says("full is no store, and is not empty.");
    let notes = fs::read_to_string(here.path("full/notes"));
    assert_eq!(notes.expect("the file"), "mine");
    here.file("file", "mine");
    again("--store file").exits(2).says("file is no store");
    let description = here.path("store/store.toml");
    let text = fs::read_to_string(&description).expect("the description");
    fs::write(&description, text.replace("sectors", "sector")).expect("damaged");
    again("--size 1GiB --store store")
        .exits(2)
        .says("a checksum is wrong");
}
