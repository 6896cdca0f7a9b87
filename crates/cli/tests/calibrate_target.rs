//! Tests that `calibrate` makes on a directory or a block device, as a user types it.

mod common;

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::Duration;

use common::{LoopDevice, Running, Scratch};
use serde_json::Value;

/// Reads of a class with few tests, each as short as it can be.
const SHORT: &str = "--like nl-sas-7k2-1tb --read-only --time 16s --target-size 64MiB --sets 48";

fn names_in(directory: &Path) -> Vec<String> {
    let entries = fs::read_dir(directory).expect("a directory");
    let names = entries.map(|entry| entry.expect("an entry").file_name());
    names
        .map(|name| name.to_string_lossy().into_owned())
        .collect()
}

/// Rates, response times and queue depths of tests belong together, however fast the storage is.
fn assert_consistent(saved: &str) {
    let saved: Value = serde_json::from_str(saved).expect("JSON");
    let tests = saved["tests"].as_array().expect("tests");
    assert_eq!(tests.len(), 16);
    for test in tests {
        for job in test["jobs"].as_array().expect("jobs") {
            let (options, read) = (&job["options"], &job["read"]);
            assert_eq!(job["write"], Value::Null, "{test}");
            let option = |key: &str| options[key].as_str().unwrap_or_default();
            let number = |value: &Value| value.as_f64().unwrap_or_else(|| panic!("{test}"));
            let (iops, requests) = (number(&read["iops"]), number(&read["requests"]));
            let bytes: f64 = option("bsrange")
                .split('-')
                .next()
                .and_then(|size| size.parse().ok())
                .expect("a size");
            let moved = number(&read["bytes_per_s"]);
            assert!((moved / iops / bytes - 1.0).abs() < 1e-9, "{test}");
            let latency = |key: &str| number(&read["latency_us"][key]);
            let quantiles = ["p50", "p90", "p99", "p99.9"].map(latency);
            assert!(quantiles.is_sorted(), "{test}");
            let depth: f64 = option("iodepth").parse().expect("a depth");
            if let Some(limit) = options["rate"].as_str() {
                let limit: f64 = limit.parse().expect("a limit");
                assert!(moved < 1.1 * limit + bytes, "{test}");
                continue;
            }
            // Little's law. Requests under way at either end of the window count in part.
            let outstanding = iops * latency("mean") / 1e6;
            let margin = 0.1 + 2.0 * depth / requests;
            assert!((outstanding / depth - 1.0).abs() < margin, "{test}");
        }
    }
}

#[test]
fn a_directory_is_tested_and_left_as_it_was() {
    let here = Scratch::new();
    let target = here.directory("target");
    let line = format!("calibrate target {SHORT} --out my.toml --save tests.json");
    here.proofload(&format!("{line} --dry-run"))
        .exits(0)
        .prints("a file of 64 MiB is made in it, and removed at the end")
        .prints("lay-out: 64 MiB of random bytes")
        .prints("tests: 16, reads, 16 s altogether, 1.0 s each")
        .prints("48 parameter sets");
    assert!(names_in(&target).is_empty());
    let ended = here.proofload(&line);
    if ended.status == Some(3) && ended.stderr.contains("direct I/O") {
        test_support::skip("the file system of the build directory has no direct I/O");
        return;
    }
    ended
        .exits(0)
        .prints("command_overhead_ms")
        .prints("held out")
        .prints("randread-64k-qd4")
        .prints("Array: my.toml");
    assert!(names_in(&target).is_empty());
    let array = fs::read_to_string(here.path("my.toml")).expect("an array");
    assert!(array.starts_with("# Measured on target, "), "{array}");
    assert!(
        array.contains(": 16 tests, reads, 16 s altogether"),
        "{array}"
    );
    assert_consistent(&fs::read_to_string(here.path("tests.json")).expect("what was measured"));
    here.proofload("calibrate --fio tests.json --like nl-sas-7k2-1tb --out other.toml --dry-run")
        .exits(0)
        .prints("tests: 16");
    here.file(
        "t.csv",
        "time_s,volume,offset_bytes,size_bytes,operation\n0.1,v,0,4096,read\n",
    );
    here.proofload("predict t.csv --array my.toml --quiet")
        .exits(0);
}

#[test]
fn what_is_stopped_leaves_nothing() {
    let here = Scratch::new();
    let target = here.directory("target");
    // In the lay-out of many GiB, and in the tests after a short one.
    for options in [
        "--target-size 2GiB --time 10m",
        "--target-size 64MiB --time 10m",
    ] {
        let line = format!("calibrate target --like ssd-sas-800gb --out my.toml {options}");
        let mut running = Running::start(&here, &line);
        running.wait_until_it_says("search:");
        let file = target.join("probes-001/probes.dat");
        for _ in 0..600 {
            if !running.is_alive() || file.exists() {
                break;
            }
            sleep(Duration::from_millis(50));
        }
        sleep(Duration::from_millis(500));
        running.signal("INT");
        let ended = running.end();
        if ended.status == Some(3) && ended.stderr.contains("direct I/O") {
            test_support::skip("the file system of the build directory has no direct I/O");
            return;
        }
        ended.exits(130).says("no model was written");
        assert!(names_in(&target).is_empty());
        assert!(!here.path("my.toml").exists());
    }
}

#[test]
fn a_search_that_is_stopped_keeps_what_was_measured() {
    let here = Scratch::new();
    let target = here.directory("target");
    let line = format!("calibrate target {SHORT} --out my.toml --save tests.json");
    let mut running = Running::start(&here, &line.replace("--sets 48", "--sets 100000"));
    running.wait_until_it_says("search:");
    for _ in 0..2_400 {
        if !running.is_alive() || here.path("tests.json").exists() {
            break;
        }
        sleep(Duration::from_millis(50));
    }
    if !running.is_alive() {
        let ended = running.end();
        assert!(ended.stderr.contains("direct I/O"), "{}", ended.stderr);
        test_support::skip("the file system of the build directory has no direct I/O");
        return;
    }
    sleep(Duration::from_millis(500));
    running.signal("TERM");
    running
        .end()
        .exits(130)
        .says("Stopped before the search was done");
    assert!(names_in(&target).is_empty());
    assert!(!here.path("my.toml").exists());
    assert_consistent(&fs::read_to_string(here.path("tests.json")).expect("what was measured"));
}

#[test]
fn what_cannot_be_tested_is_refused_before_anything_is_written() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.directory("filled");
    here.file("filled/notes", "of somebody else");
    here.file("all.json", "{\"tests\": []}");
    here.file("there.json", "");
    let like = "--like ssd-sas-800gb --out my.toml";
    for (arguments, status, says) in [
        (format!("calibrate {like}"), 2, "nothing to calibrate from"),
        (
            format!("calibrate target --fio all.json {like}"),
            2,
            "Either target is tested, or tests of fio are read, not both",
        ),
        (
            format!("calibrate --fio all.json --read-only {like}"),
            2,
            "cannot be used with",
        ),
        (
            format!("calibrate target {like} --time 10s"),
            2,
            "--time 10s is too short",
        ),
        (
            format!("calibrate target {like} --target-size 1MiB"),
            2,
            "--target-size is below 64 MiB",
        ),
        (
            format!("calibrate target {like} --target-size 790TiB"),
            3,
            "has room for",
        ),
        (format!("calibrate filled {like}"), 3, "is not empty"),
        (format!("calibrate nowhere {like}"), 2, "does not exist"),
        (
            "calibrate target --like cloud-burst-100gb --out my.toml".to_owned(),
            2,
            "no parameters",
        ),
        (
            "calibrate target --like ssd-sas-800gb --out nowhere/my.toml".to_owned(),
            2,
            "There is no directory nowhere",
        ),
        (
            format!("calibrate target {like} --save there.json"),
            2,
            "is there already",
        ),
    ] {
        here.proofload(&arguments).exits(status).says(says);
    }
    assert!(names_in(&target).is_empty());
    assert_eq!(names_in(&here.path("filled")), ["notes"]);
    assert!(!here.path("my.toml").exists());
}

#[test]
fn a_block_device_is_only_read_or_erased_as_it_was_said() {
    let here = Scratch::new();
    let image = here.path("image");
    let Some(device) = LoopDevice::new(&image, 256 << 20) else {
        test_support::skip("no loop device can be set up (needs root)");
        return;
    };
    let line = format!(
        "calibrate {} --like ssd-sas-800gb --out my.toml --time 10m --target-size 128MiB",
        device.path
    );
    here.proofload(&line)
        .exits(2)
        .says("Add --read-only to read it only, or --erase-device");
    fs::write(&device.path, vec![7; 128 << 20]).expect("bytes on the device");
    let before = fs::read(&image).expect("the image");
    for option in ["--read-only", "--erase-device"] {
        let mut running = Running::start(&here, &format!("{line} {option}"));
        running.wait_until_it_says("search:");
        sleep(Duration::from_secs(2));
        running.signal("INT");
        running.end().exits(130);
        let after = fs::read(&image).expect("the image");
        match option {
            "--read-only" => assert!(after == before, "nothing was written"),
            _ => {
                let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
                assert!(is_zero(&after[..1 << 20]), "its beginning is blank again");
                assert!(is_zero(&after[255 << 20..]), "its end is blank");
                assert!(!is_zero(&after[16 << 20..32 << 20]), "it was laid out");
            }
        }
    }
}
