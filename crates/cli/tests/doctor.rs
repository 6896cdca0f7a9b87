//! `proofload doctor` on directories, devices and places that do not suit, and that it leaves nothing behind.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Ended, LoopDevice, Running, SMALL, Scratch, WIDE};
use serde_json::Value;

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a directory").count()
}

fn examined(here: &Scratch, line: &str, status: i32) -> Value {
    let ended = here.proofload(&format!("doctor --json --quiet {line}"));
    let ended = ended.exits(status);
    assert_eq!(ended.stderr, "");
    serde_json::from_str(&ended.stdout).expect("one document")
}

fn findings(place: &Value) -> Vec<String> {
    let findings = place["findings"].as_array().expect("a list").iter();
    let ids = findings.map(|one| one["id"].as_str().expect("an identifier").to_owned());
    ids.collect()
}

/// Runs a program; whether it succeeded.
fn run(program: &str, arguments: &[&str]) -> bool {
    let output = Command::new(program).args(arguments).output();
    output.is_ok_and(|output| output.status.success())
}

#[test]
fn a_directory_is_examined_and_left_as_it_was() {
    let here = Scratch::new();
    let target = here.directory("target");
    let report = examined(&here, "target --watch 1", 0);
    assert_eq!(report["schema"], "proofload/doctor/1");
    assert_eq!(report["suitable"], true);
    let place = &report["places"][0];
    assert_eq!(place["direct_io"], true);
    let reads = place["idle_reads"].as_array().expect("a list");
    let sizes: Vec<_> = reads
        .iter()
        .map(|one| one["block_bytes"].as_u64())
        .collect();
    assert_eq!(sizes, [Some(4096), Some(32768)]);
    for one in reads {
        let at = |name: &str| one[name].as_f64().expect("a latency");
        assert!(at("p50_ms") > 0.0 && at("p50_ms") <= at("p99_ms"));
        assert!(at("p99_ms") <= at("max_ms"));
        assert!(one["reads"].as_u64() > Some(0));
    }
    assert!(place["target"]["free_bytes"].as_u64() > Some(0));
    assert_eq!(entries(&target), 0);
    here.proofload("doctor target --watch 0")
        .exits(0)
        .says("timing reads")
        .prints("direct I/O    works")
        .prints("I/O driver    ")
        .prints("suitable for a run");
    fs::write(target.join("other"), "").expect("a file");
    let report = examined(&here, "target --watch 0", 0);
    let found = findings(&report["places"][0]);
    assert!(found.contains(&"not-empty".to_owned()), "{found:?}");
}

#[test]
fn a_place_that_is_not_there_or_no_directory() {
    let here = Scratch::new();
    let text = here.proofload("doctor nowhere --watch 0").exits(3);
    text.prints("path: nowhere does not exist.")
        .prints("not suitable for a run");
    here.file("file", "text");
    here.directory("target");
    let report = examined(&here, "file target --watch 0", 3);
    assert_eq!(report["suitable"], false);
    assert_eq!(findings(&report["places"][0]), ["path"]);
    let second = findings(&report["places"][1]);
    assert!(!second.contains(&"path".to_owned()), "{second:?}");
    here.proofload("doctor").exits(2);
}

#[test]
fn memory_is_not_storage() {
    let here = Scratch::new();
    let report = examined(&here, "/dev/shm --watch 0", 3);
    let found = findings(&report["places"][0]);
    assert!(found.contains(&"in-memory".to_owned()), "{found:?}");
}

/// A file system that is taken down with the value.
struct Mounted(std::path::PathBuf);

impl Mounted {
    fn new(at: &Path, arguments: &[&str]) -> Option<Self> {
        let mounted = run("mount", &[arguments, &[at.to_str()?]].concat());
        if !mounted {
            test_support::skip("nothing can be mounted (needs root)");
        }
        mounted.then(|| Self(at.to_owned()))
    }
}

impl Drop for Mounted {
    fn drop(&mut self) {
        run("umount", &[self.0.to_str().expect("a path in UTF-8")]);
    }
}

#[test]
fn a_file_system_in_memory_is_not_suitable_and_left_empty() {
    let here = Scratch::new();
    let at = here.directory("memory");
    let Some(_mounted) = Mounted::new(&at, &["-t", "ramfs", "ramfs"]) else {
        return;
    };
    let report = examined(&here, "memory --watch 0", 3);
    assert_eq!(report["places"][0]["direct_io"], Value::Null);
    let found = findings(&report["places"][0]);
    assert!(found.contains(&"in-memory".to_owned()), "{found:?}");
    assert_eq!(report["places"][0]["idle_reads"], Value::Array(Vec::new()));
    assert_eq!(entries(&at), 0);
}

#[test]
fn a_directory_that_cannot_be_written_is_not_suitable() {
    let here = Scratch::new();
    here.directory("below");
    let at = here.directory("fixed");
    let below = here.path("below");
    let Some(_mounted) = Mounted::new(&at, &["--bind", below.to_str().expect("a path")]) else {
        return;
    };
    assert!(run(
        "mount",
        &["-o", "remount,bind,ro", at.to_str().expect("a path")]
    ));
    let report = examined(&here, "fixed --watch 0", 3);
    assert_eq!(findings(&report["places"][0])[0], "read-only");
}

#[test]
fn a_block_device_is_read_and_not_written() {
    let here = Scratch::new();
    let Some(device) = LoopDevice::buffered(&here.path("image"), 8 << 20) else {
        test_support::skip("no loop device can be set up (needs root)");
        return;
    };
    let before = fs::read(here.path("image")).expect("the image");
    let report = examined(&here, &format!("{} --watch 0", device.path), 0);
    let place = &report["places"][0];
    assert_eq!(place["devices"][0]["kind"], "loop");
    assert_eq!(place["devices"][0]["is_buffered"], true);
    assert_eq!(place["target"]["kind"], "block-device");
    let found = findings(place);
    assert!(found.contains(&"buffered-loop".to_owned()), "{found:?}");
    assert_eq!(place["idle_reads"].as_array().map(Vec::len), Some(2));
    assert!(fs::read(here.path("image")).expect("the image") == before);
    assert!(run("mkfs.ext4", &["-q", &device.path]));
    let report = examined(&here, &format!("{} --watch 0", device.path), 0);
    assert!(findings(&report["places"][0]).contains(&"not-empty".to_owned()));
    let at = here.directory("mounted");
    let Some(_mounted) = Mounted::new(&at, &[&device.path]) else {
        return;
    };
    let report = examined(&here, &format!("{} --watch 0", device.path), 3);
    let place = &report["places"][0];
    assert_eq!(findings(place)[0], "in-use");
    assert_eq!(place["idle_reads"], Value::Array(Vec::new()));
}

#[test]
fn a_target_in_use_is_named_with_its_holder_and_left_alone() {
    let here = Scratch::new();
    here.directory("target");
    let mut run = Running::start(
        &here,
        &format!("{SMALL} {WIDE}").replace("--duration 2s", "--duration 60s"),
    );
    run.wait_until_it_says("measuring");
    let report = examined(&here, "target --watch 0", 3);
    let place = &report["places"][0];
    assert_eq!(findings(place)[0], "in-use");
    let message = place["findings"][0]["message"]
        .as_str()
        .expect("a sentence");
    assert!(message.contains(&run.id().to_string()), "{message}");
    assert_eq!(place["idle_reads"], Value::Array(Vec::new()));
    run.signal("INT");
    run.end().exits(130);
}

#[test]
fn nothing_is_left_when_it_is_killed() {
    let here = Scratch::new();
    let target = here.directory("target");
    for (signal, after, watch) in [
        ("INT", "0.3", "30"),
        ("KILL", "0.02", "0"),
        ("KILL", "0.05", "0"),
        ("INT", "0.1", "0"),
    ] {
        let mut command = Command::new("timeout");
        command.args([
            &format!("--signal={signal}"),
            after,
            env!("CARGO_BIN_EXE_proofload"),
        ]);
        command
            .args(["doctor", "target", "--watch", watch])
            .current_dir(here.path(""));
        let _ = Ended::of(&mut command);
        assert_eq!(entries(&target), 0);
    }
}
