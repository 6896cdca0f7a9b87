//! Faults of storage, done to real files below the engine, in mid-run and at rest: to pages, log files,
//! headers and checkpoints. Each must be found, and called what it is; nothing else may be.

mod common;
mod faults {
    pub mod files;
    pub mod pages;
}

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use common::{Running, SMALL, Scratch, WIDE};
use faults::files::{Harm, LOG_HARMS, Part, harm};
use faults::pages::{HarmedPage, Pages, harm_pages};

const DATABASE: &str = "target/mail-001/mail-001.edb";
const PAGE_BYTES: u64 = 32_768;

fn line(duration: &str, more: &str) -> String {
    format!("{SMALL} {WIDE} {more}").replace("--duration 2s", &format!("--duration {duration}"))
}

/// Runs to the end, and keeps no results but the ones it returns.
fn run(here: &Scratch, line: &str) -> (Option<i32>, serde_json::Value) {
    let _ = fs::remove_dir_all(here.path("out"));
    let ended = here.proofload(line);
    let text = fs::read(here.path("out").join("result.json"));
    let text = text.unwrap_or_else(|error| panic!("{error}: {}", ended.stderr));
    (ended.status, serde_json::from_slice(&text).expect("JSON"))
}

/// The classes of the errors of a result.
fn classes(result: &serde_json::Value) -> Vec<String> {
    let counts = result["error_counts"].as_array().expect("counts");
    let name = |count: &serde_json::Value| count["class"].as_str().unwrap_or("none").to_owned();
    counts.iter().map(name).collect()
}

/// A database of another seed.
fn foreign_database() -> (Scratch, PathBuf) {
    let other = Scratch::new();
    other.directory("target");
    let build = line("2s", "--build-only --seed 7");
    other.proofload(&build).exits(0);
    let path = other.path(DATABASE);
    (other, path)
}

/// Every harmed page that is still as it was left must have been reported as one of the classes of its
/// harm, and no sound page as damaged.
fn assert_reported(result: &serde_json::Value, harmed: &BTreeMap<u32, HarmedPage>, file: &Path) {
    let errors = result["errors"].as_array().expect("errors");
    let mut reported: BTreeMap<u32, Vec<String>> = BTreeMap::new();
    for error in errors {
        let Some(page) = error["page"].as_u64() else {
            continue;
        };
        let class = error["class"].as_str().unwrap_or("none").to_owned();
        assert!(
            harmed.contains_key(&(page as u32)) || class == "structure" || class == "contents",
            "a false alarm: {error}"
        );
        reported.entry(page as u32).or_default().push(class);
    }
    let now = Pages::read(file);
    let mut left = 0;
    for (number, page) in harmed {
        let found = reported.get(number);
        if now.page(*number) == page.bytes {
            left += 1;
            assert!(
                found.is_some(),
                "page {number} is wrong ({:?}), and was not reported",
                page.harm
            );
        }
        // Trees that are read over the page may be found damaged besides.
        let expected = page.harm.classes();
        let is_named = |found: &Vec<String>| {
            let mut found = found.iter();
            found.any(|class| expected.contains(&class.as_str()))
        };
        assert!(
            found.is_none_or(is_named),
            "page {number}: {:?} was reported as {found:?}",
            page.harm
        );
    }
    assert!(
        left * 2 > harmed.len(),
        "{left} of {} are left",
        harmed.len()
    );
}

fn pages_in_mid_run(seed: u64) {
    let (_other, foreign) = foreign_database();
    let here = Scratch::new();
    here.directory("target");
    let file = here.path(DATABASE);
    let mut running = Running::start(&here, &line("14s", "--keep --rate 150"));
    running.wait_until_it_says("measuring 0:0");
    let earlier = Pages::read(&file);
    sleep(Duration::from_secs(5));
    let harmed = harm_pages(&file, &earlier, &Pages::read(&foreign), seed);
    running.end().exits(4);
    let text = fs::read(here.path("out").join("result.json")).expect("a result");
    let result = serde_json::from_slice(&text).expect("JSON");
    assert_reported(&result, &harmed, &file);
}

fn pages_at_rest(seed: u64) {
    let (_other, foreign) = foreign_database();
    let here = Scratch::new();
    here.directory("target");
    let file = here.path(DATABASE);
    assert_eq!(run(&here, &line("2s", "--build-only")).0, Some(0));
    let earlier = Pages::read(&file);
    assert_eq!(run(&here, &line("4s", "--reuse")).0, Some(0));
    let harmed = harm_pages(&file, &earlier, &Pages::read(&foreign), seed);
    let (status, result) = run(&here, &line("2s", "--reuse --rate 20"));
    assert_eq!(status, Some(4), "{:?}", classes(&result));
    assert_reported(&result, &harmed, &file);
}

#[test]
fn pages_harmed_in_mid_run_are_reported_as_what_they_are() {
    pages_in_mid_run(1);
    pages_in_mid_run(2);
}

#[test]
fn pages_harmed_at_rest_are_reported_as_what_they_are() {
    pages_at_rest(3);
    pages_at_rest(4);
}

/// Copies a directory with everything in it.
fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("a directory");
    for entry in fs::read_dir(from).expect("a directory") {
        let entry = entry.expect("an entry");
        let target = to.join(entry.file_name());
        match entry.file_type().expect("a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(fs::copy(entry.path(), target).expect("a copy")),
        }
    }
}

/// Puts the databases back to what they were.
fn restore(here: &Scratch) {
    fs::remove_dir_all(here.path("target")).expect("removed");
    copy(&here.path("saved"), &here.path("target"));
}

fn assert_found(here: &Scratch, part: Part, harm: Harm, when: &str) {
    let (status, result) = run(here, &line("1s", "--reuse"));
    let found = classes(&result);
    let is_found = status == Some(4) && found == [part.class()];
    assert!(is_found, "{part:?} {harm:?} {when}: {status:?} {found:?}");
}

#[test]
fn log_files_harmed_at_rest_are_found() {
    let here = Scratch::new();
    here.directory("target");
    assert_eq!(run(&here, &line("2s", "--keep")).0, Some(0));
    copy(&here.path("target"), &here.path("saved"));
    for part in [Part::CurrentLog, Part::FullLog] {
        for &kind in LOG_HARMS {
            restore(&here);
            harm(&here.path("target"), part, kind, None);
            assert_found(&here, part, kind, "at rest");
        }
    }
}

#[test]
fn log_files_harmed_after_a_kill_are_found_by_recovery() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line("10m", "--keep"));
    running.wait_until_it_says("measuring 0:01");
    running.signal("KILL");
    drop(running.end());
    copy(&here.path("target"), &here.path("saved"));
    assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    for part in [Part::CurrentLog, Part::FullLog] {
        for &kind in LOG_HARMS {
            restore(&here);
            harm(&here.path("target"), part, kind, None);
            assert_found(&here, part, kind, "after a kill");
        }
    }
}

#[test]
fn headers_and_checkpoints_harmed_at_rest_are_found() {
    let (_other, foreign) = foreign_database();
    let here = Scratch::new();
    here.directory("target");
    assert_eq!(run(&here, &line("1s", "--keep")).0, Some(0));
    let earlier = fs::read(here.path(DATABASE)).expect("a database");
    let earlier = &earlier[..2 * PAGE_BYTES as usize];
    assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    copy(&here.path("target"), &here.path("saved"));
    for part in [Part::FirstHeader, Part::SecondHeader] {
        for kind in [Harm::Flip, Harm::Zero, Harm::Older, Harm::Foreign] {
            restore(&here);
            let other = match kind {
                Harm::Foreign => fs::read(&foreign).expect("a database"),
                _ => earlier.to_vec(),
            };
            harm(&here.path("target"), part, kind, Some(&other));
            assert_found(&here, part, kind, "at rest");
        }
    }
}

#[test]
fn files_harmed_in_mid_run_are_found() {
    let (_other, foreign) = foreign_database();
    let foreign = fs::read(&foreign).expect("a database");
    for part in [Part::FirstHeader, Part::SecondHeader, Part::FullLog] {
        let kinds = match part {
            Part::FullLog => LOG_HARMS,
            _ => &[Harm::Flip, Harm::Zero, Harm::Older, Harm::Foreign],
        };
        for &kind in kinds {
            let here = Scratch::new();
            here.directory("target");
            let mut running = Running::start(&here, &line("3s", "--keep"));
            running.wait_until_it_says("warming up");
            sleep(Duration::from_millis(500));
            let earlier = fs::read(here.path(DATABASE)).expect("a database");
            running.wait_until_it_says("measuring 0:01");
            let other = if kind == Harm::Foreign {
                &foreign
            } else {
                &earlier
            };
            harm(&here.path("target"), part, kind, Some(other));
            drop(running.end());
            let text = fs::read(here.path("out").join("result.json")).expect("a result");
            let result: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
            let found = classes(&result);
            assert_eq!(
                (result["exit_status"].as_i64(), found),
                (Some(4), vec![part.class().to_owned()]),
                "{part:?} {kind:?}"
            );
        }
    }
}
