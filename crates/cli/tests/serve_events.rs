//! What happens to a served array while programs use it: events that somebody asks for, power cuts, trims.

mod common;

use std::fs::{self, File};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use common::served::{bytes, ended, opened, serving, serving_of, unmount};
use common::{Ended, Scratch};
use rustix::fs::{FallocateFlags, fallocate};

const CONTROL: [&str; 2] = ["--control", "socket"];
/// Writes are acknowledged from a cache without a battery, and stay there for long.
const UNPROTECTED: [&str; 8] = [
    "--event",
    "0s battery-lost 0",
    "--event",
    "0s battery-lost 1",
    "--set",
    "array.cache.write_back_without_battery=true",
    "--set",
    "array.cache.destage.age_ms=600000",
];

fn write(volume: &File, offset: u64, seed: u8) {
    let written = volume.write_all_at(&bytes(1 << 20, seed), offset);
    written.expect("written");
}

fn holds(volume: &File, offset: u64) -> Vec<u8> {
    let mut read = vec![0; 1 << 20];
    volume.read_exact_at(&mut read, offset).expect("read");
    read
}

#[test]
fn events_that_somebody_asks_for_happen_at_once() {
    let here = Scratch::new();
    let Some(mut running) = serving(&here, &CONTROL) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    write(&volume, 0, 1);
    here.proofload("event socket disk-fail 3")
        .exits(0)
        .prints("disk 3 of group 'a-disks' fails.");
    running.wait_until_it_says("disk 3 of group 'a-disks' fails.");
    here.proofload("event socket disk-slow 5 x20 for 200ms")
        .exits(0)
        .prints("slows down by a factor of 20, at ");
    running.wait_until_it_says("disk 5 of group 'a-disks' is as fast as before.");
    assert!(holds(&volume, 0) == bytes(1 << 20, 1));
    drop(volume);
    here.proofload("event socket disk-fail 300")
        .exits(2)
        .says("there is no disk 300");
    here.proofload("event socket rain")
        .exits(2)
        .says("there is no event 'rain'");
    here.proofload("event nothing disk-fail 3")
        .exits(3)
        .says("No array answers at nothing");
    ended(running).exits(0);
    assert!(!here.path("socket").exists());
    here.file("socket", "mine");
    here.proofload("serve msa2050 --at array --control socket")
        .exits(2)
        .says("socket is there already, and is no socket.");
    assert_eq!(
        fs::read_to_string(here.path("socket")).expect("the file"),
        "mine"
    );
    assert_eq!(
        fs::read_dir(here.path("array")).expect("unmounted").count(),
        0
    );
}

#[test]
fn a_power_cut_drops_what_no_battery_keeps_and_no_flush_has_brought_to_the_disks() {
    let here = Scratch::new();
    let store = ["--store", "store"];
    let more = [CONTROL.as_slice(), &UNPROTECTED, &store].concat();
    let Some(mut running) = serving(&here, &more) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    write(&volume, 0, 1);
    volume.sync_all().expect("flushed");
    write(&volume, 0, 2);
    write(&volume, 8 << 20, 3);
    assert!(holds(&volume, 0) == bytes(1 << 20, 2));
    here.proofload("event socket power-cut for 1s")
        .exits(0)
        .prints("the power of the array is cut");
    let cut = Instant::now();
    // For what was open the array is gone, and it is not what it was when the power is back.
    volume.read_at(&mut [0; 512], 0).expect_err("it is gone");
    volume.write_at(&[0; 512], 0).expect_err("it is gone");
    volume.sync_all().expect_err("it is gone");
    let again = opened(&here, "volume-1");
    assert!(holds(&again, 0) == bytes(1 << 20, 1), "what was flushed");
    assert!(
        cut.elapsed() > Duration::from_millis(700),
        "{:?}",
        cut.elapsed()
    );
    assert!(
        holds(&again, 8 << 20).iter().all(|&byte| byte == 0),
        "what was not"
    );
    volume.read_at(&mut [0; 512], 0).expect_err("it stays gone");
    running.wait_until_it_says("acknowledged bytes are lost");
    write(&again, 16 << 20, 4);
    // The store does not bring back what the array has lost.
    running.signal("KILL");
    drop(running.end());
    drop((again, volume));
    unmount(&here.path("array"));
    assert!(here.path("socket").exists(), "left behind");
    let again = [CONTROL.as_slice(), &store].concat();
    let Some(running) = serving(&here, &again) else {
        return;
    };
    here.directory("other");
    here.proofload("serve msa2050 --at other --control socket")
        .exits(3)
        .says("Another program listens at socket.");
    let volume = opened(&here, "volume-1");
    assert!(holds(&volume, 0) == bytes(1 << 20, 1));
    assert!(holds(&volume, 8 << 20).iter().all(|&byte| byte == 0));
    assert!(holds(&volume, 16 << 20) == bytes(1 << 20, 4));
    drop(volume);
    ended(running).exits(0);
}

#[test]
fn a_power_cut_drops_nothing_that_a_battery_keeps() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &CONTROL) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    write(&volume, 0, 1);
    here.proofload("event socket power-cut for 100ms").exits(0);
    drop(volume);
    let again = opened(&here, "volume-1");
    assert!(holds(&again, 0) == bytes(1 << 20, 1));
    drop(again);
    ended(running).exits(0);
}

#[test]
fn a_hole_reads_as_zeros_and_takes_no_room_in_the_store() {
    let here = Scratch::new();
    let Some(running) = serving(&here, &["--store", "store"]) else {
        return;
    };
    let stored = || {
        let disks = fs::read_dir(here.path("store/disks")).expect("disks");
        let blocks = disks.map(|disk| {
            use std::os::unix::fs::MetadataExt;
            disk.expect("a disk").metadata().expect("its size").blocks()
        });
        blocks.sum::<u64>() * 512
    };
    let volume = opened(&here, "volume-1");
    for part in 0..48 {
        write(&volume, part << 20, part as u8 + 1);
    }
    volume.sync_all().expect("flushed");
    let flags = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
    let (begin, length) = ((1 << 20) + 1000, 40 << 20);
    fallocate(volume.as_fd(), flags, begin, length).expect("a hole");
    for part in 0..48 {
        let mut expected = bytes(1 << 20, part as u8 + 1);
        for (index, byte) in expected.iter_mut().enumerate() {
            let at = (part << 20) + index as u64;
            if (begin..begin + length).contains(&at) {
                *byte = 0;
            }
        }
        assert!(holds(&volume, part << 20) == expected, "{part}");
    }
    let error = fallocate(volume.as_fd(), FallocateFlags::COLLAPSE_RANGE, 0, 4096);
    error.expect_err("nothing else is possible");
    drop(volume);
    ended(running).exits(0);
    // RAID 6 stores a quarter more than is written; nine pages of 4 MiB were given back.
    assert!(stored() < 20 << 20, "{}", stored());
}

#[test]
fn scripts_are_listed_shown_and_served() {
    let here = Scratch::new();
    here.proofload("list scripts")
        .exits(0)
        .prints("power-cut")
        .prints("fail-slow-disk");
    here.proofload("show power-cut")
        .exits(0)
        .prints("1m power-cut for 10s");
    here.file(
        "own.toml",
        "title = 'Own'\nevents = ['100ms disk-fail 3']\n",
    );
    let Some(mut running) = serving(&here, &["--script", "own.toml"]) else {
        return;
    };
    running.wait_until_it_says("At 0:00:00.1: disk 3 of group 'a-disks' fails.");
    ended(running).exits(0);
    here.proofload("serve msa2050 --at array --script nothing")
        .exits(2)
        .says("There is no bundled script and no file called 'nothing'");
}

#[test]
fn every_bundled_script_is_one_for_some_bundled_array() {
    let here = Scratch::new();
    for script in proofload::scripts::BUNDLED_SCRIPTS {
        let name = script.name;
        let array = match name {
            "burst-credits" => "cloud-burst",
            _ => "msa2050-tier",
        };
        let Some(running) = serving_of(array, &here, &["--script", name]) else {
            return;
        };
        ended(running).exits(0);
    }
}

fn state(here: &Scratch) -> serde_json::Value {
    let printed = here.proofload("serve --status socket --json").exits(0);
    serde_json::from_str(&printed.stdout).expect("JSON")
}

#[test]
fn the_state_of_a_served_array_is_shown_to_others() {
    let here = Scratch::new();
    let warp = ["--warp", "60", "--out", "out"];
    let more = ["--metrics", "0", "--event", "1h disk-fail 3"];
    let more = [warp, more].concat();
    let Some(mut running) = serving(&here, &[CONTROL.as_slice(), &more].concat()) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    write(&volume, 0, 1);
    assert!(holds(&volume, 0) == bytes(1 << 20, 1));
    for event in [
        "disk-fail 0",
        "disk-replace 0",
        "disk-slow 5 x20 for 2h",
        "battery-lost 1",
    ] {
        here.proofload(&format!("event socket {event}")).exits(0);
    }
    let state = state(&here);
    assert_eq!(state["schema"], "proofload/serving/1");
    assert_eq!(state["process"], running.id());
    assert_eq!(state["warp"], 60);
    assert_eq!(state["clients"]["failed"], 0);
    assert!(state["clients"]["reads"]["count"].as_u64() > Some(0));
    assert!(state["clients"]["writes"]["average_ms"].as_f64() > Some(0.0));
    assert_eq!(state["disks"][0]["condition"], "rebuilding");
    assert_eq!(state["disks"][5]["condition"], "slow");
    assert_eq!(state["disks"][5]["slowdown_factor"], 20);
    assert_eq!(state["disks"][1]["condition"], "healthy");
    let rebuild = &state["rebuilds"][0];
    assert_eq!(rebuild["disk"], 0);
    let fraction = rebuild["completed_fraction"].as_f64().expect("a number");
    assert!((0.0..=1.0).contains(&fraction), "{fraction}");
    assert_eq!(state["controllers"][1]["battery_works"], false);
    assert_eq!(state["pools"][0]["tiers"][0]["name"], "standard");
    let happened = state["events"].as_array().expect("events");
    let happened: Vec<&str> = happened
        .iter()
        .filter_map(|one| one["what"].as_str())
        .collect();
    for what in [
        "disk-fails",
        "rebuild-begins",
        "disk-slows",
        "cache-battery-fails",
    ] {
        assert!(happened.contains(&what), "{what} in {happened:?}");
    }
    let planned = state["planned_events"].as_array().expect("events");
    assert_eq!(planned.len(), 2, "{planned:?}");
    assert_eq!(planned[0]["at_s"], 3600.0, "{planned:?}");
    here.proofload("serve --status socket")
        .exits(0)
        .prints("Rebuilds, scrubs and moves between tiers go on 60 times as fast")
        .prints("disk 5 (a-disks) is slower by a factor of 20")
        .prints("the rebuild onto disk 0 (a-disks)")
        .prints("disk 3 of group 'a-disks' fails");
    let said = running.wait_until_it_says("/metrics");
    let address = said
        .split("http://")
        .nth(1)
        .and_then(|rest| rest.split('/').next());
    let mut stream = TcpStream::connect(address.expect("an address")).expect("it answers");
    write!(stream, "GET /metrics HTTP/1.1\r\n\r\n").expect("asked");
    let mut metrics = String::new();
    stream.read_to_string(&mut metrics).expect("answered");
    assert!(
        metrics.contains("proofload_served_disks{condition=\"failed\"}"),
        "{metrics}"
    );
    assert!(
        metrics.contains("\nproofload_served_warp 60\n"),
        "{metrics}"
    );
    drop(volume);
    let sentence = "Rebuilds and scrubs go on 60 times as fast as in the array (warp 60)";
    ended(running).exits(0).says(sentence).prints(sentence);
    let result = here.result();
    assert_eq!(result["array"]["warp"], 60);
    let warnings = result["warnings"].as_array().expect("warnings");
    let warned = |one: &serde_json::Value| one.as_str().is_some_and(|one| one.contains(sentence));
    assert!(warnings.iter().any(warned), "{warnings:?}");
    here.proofload("serve --status socket --json")
        .exits(3)
        .says("No array answers at socket");
    here.proofload("serve --status socket --at array").exits(2);
}

/// Events count from when the array is served, also when the store is read back first.
#[test]
fn an_event_that_is_due_happens_once_and_at_its_time() {
    let here = Scratch::new();
    let store = [CONTROL.as_slice(), &["--store", "store"]].concat();
    let Some(mut running) = serving(&here, &[store.as_slice(), &UNPROTECTED].concat()) else {
        return;
    };
    let volume = opened(&here, "volume-1");
    for part in 0..64 {
        write(&volume, part << 20, part as u8);
    }
    running.signal("KILL");
    drop(running.end());
    drop(volume);
    unmount(&here.path("array"));
    let event = ["--event", "200ms disk-slow 5 x20"];
    let Some(mut running) = serving(&here, &[store.as_slice(), &event].concat()) else {
        return;
    };
    running.wait_until_it_says("Reading the store back: 0 % of ");
    running.wait_until_it_says("\nAt 0:");
    let events = state(&here)["events"].clone();
    let events = events.as_array().expect("events");
    let slowed = events.iter().filter(|one| one["what"] == "disk-slows");
    let slowed: Vec<_> = slowed.collect();
    assert_eq!(slowed.len(), 1, "{events:?}");
    assert_eq!(
        (&slowed[0]["at_s"], &slowed[0]["planned"]),
        (&0.2.into(), &true.into())
    );
    ended(running).exits(0);
}

/// The module for tests in Python does what its own tests say.
#[test]
fn tests_in_python_serve_an_array_and_cut_its_power() {
    let here = Scratch::new();
    // Without FUSE they would be left out.
    let Some(running) = serving(&here, &[]) else {
        return;
    };
    ended(running).exits(0);
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/python");
    let mut python = Command::new("python3");
    python
        .args(["-m", "unittest", "-v", "test_power_cut"])
        .current_dir(examples)
        .env("PROOFLOAD", env!("CARGO_BIN_EXE_proofload"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let ended = Ended::of(&mut python).exits(0).says("Ran 4 tests");
    assert!(!ended.stderr.contains("skipped"), "{}", ended.stderr);
}
