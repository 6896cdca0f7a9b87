//! Faults of storage, done to real files below the engine, in mid-run and at rest: to pages, log files,
//! headers and checkpoints. Each must be found, and called what it is; nothing else may be.

mod common;
mod faults {
    pub mod files;
    pub mod pages;
    pub mod tally;
}

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::Duration;

use common::{PAGE_BYTES, Running, SMALL, Scratch, WIDE};
use faults::files::{Harm, LOG_HARMS, Part, both_copies, full_logs, harm, has_logs_to_harm};
use faults::pages::{HarmedPage, Pages, harm_pages};
use faults::tally::{HarmTally, error_counts};

const DATABASE: &str = "target/mail-001/mail-001.edb";

/// Size of the databases of most tests.
const SMALL_SIZE: &str = "48MiB";

/// Pages harmed in each way where all errors are listed.
const PAGES_OF_A_KIND: usize = 48;

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

/// Another database of the same seed, with its log.
fn foreign_database(size: &str) -> (Scratch, PathBuf) {
    let other = Scratch::new();
    other.directory("target");
    let line = line("1s", "--keep").replace(SMALL_SIZE, size);
    assert_eq!(run(&other, &line).0, Some(0));
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
        // Trees with harmed pages may be found damaged at any of their pages.
        if class == "structure" || class == "contents" {
            continue;
        }
        assert!(
            harmed.contains_key(&(page as u32)),
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

/// Harms pages of which each can be listed.
fn harm_some(file: &Path, earlier: &Pages, foreign: &Path, seed: u64) -> BTreeMap<u32, HarmedPage> {
    harm_pages(file, earlier, &Pages::read(foreign), PAGES_OF_A_KIND, seed)
}

fn pages_in_mid_run(seed: u64) {
    let (_other, foreign) = foreign_database(SMALL_SIZE);
    let here = Scratch::new();
    here.directory("target");
    let file = here.path(DATABASE);
    let mut running = Running::start(&here, &line("14s", "--keep --rate 150"));
    running.wait_until_it_says("measuring 0:0");
    let earlier = Pages::read(&file);
    sleep(Duration::from_secs(5));
    let harmed = harm_some(&file, &earlier, &foreign, seed);
    running.end().exits(4);
    let text = fs::read(here.path("out").join("result.json")).expect("a result");
    let result = serde_json::from_slice(&text).expect("JSON");
    assert_reported(&result, &harmed, &file);
}

fn pages_at_rest(seed: u64) {
    let (_other, foreign) = foreign_database(SMALL_SIZE);
    let here = Scratch::new();
    here.directory("target");
    let file = here.path(DATABASE);
    assert_eq!(run(&here, &line("2s", "--build-only")).0, Some(0));
    let earlier = Pages::read(&file);
    assert_eq!(run(&here, &line("4s", "--reuse")).0, Some(0));
    let harmed = harm_some(&file, &earlier, &foreign, seed);
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

/// Harms so many pages that not all are described, or as many as the variable PROOFLOAD_HARMED_PAGES says,
/// in databases at rest.
#[test]
fn more_harmed_pages_than_are_listed_are_all_counted() {
    let wanted = std::env::var("PROOFLOAD_HARMED_PAGES").ok();
    let wanted = wanted.map_or(1_080, |text| text.parse().expect("a number of pages"));
    let (size, duration, of_a_kind) = match wanted {
        0..=1_080 => ("96MiB", "6s", 180),
        _ => ("1GiB", "90s", 2_500),
    };
    let line = |duration: &str, more: &str| line(duration, more).replace(SMALL_SIZE, size);
    let (_other, foreign) = foreign_database(size);
    let foreign = Pages::read(&foreign);
    let here = Scratch::new();
    here.directory("target");
    assert_eq!(run(&here, &line("2s", "--build-only")).0, Some(0));
    let earlier = Pages::read(&here.path(DATABASE));
    assert_eq!(run(&here, &line(duration, "--reuse")).0, Some(0));
    copy(&here.path("target"), &here.path("saved"));
    let mut tally = HarmTally::default();
    for seed in 5.. {
        let file = here.path(DATABASE);
        let harmed = harm_pages(&file, &earlier, &foreign, of_a_kind, seed);
        let (status, result) = run(&here, &line("1s", "--reuse --rate 20"));
        assert_eq!(status, Some(4), "{:?}", error_counts(&result));
        tally.add(&result, &harmed, &file);
        if tally.harmed >= wanted {
            break;
        }
        println!("{tally:?}");
        restore(&here);
    }
    println!("{tally:?}");
    assert_eq!(tally.missed, 0, "{tally:?}");
    // Four times what chance leaves on average, and one.
    assert!(tally.missed_older <= 1 + tally.older / 16_384, "{tally:?}");
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
    let target = here.path("target");
    assert_eq!(run(&here, &line("2s", "--keep")).0, Some(0));
    while !has_logs_to_harm(&target) {
        assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    }
    copy(&target, &here.path("saved"));
    for part in [Part::CurrentLog, Part::FullLog] {
        for &kind in LOG_HARMS {
            restore(&here);
            harm(&here.path("target"), part, kind, None);
            assert_found(&here, part, kind, "at rest");
        }
    }
    let target = here.path("target");
    restore(&here);
    let current = target.join("log-001/E00.log");
    let full = full_logs(&target);
    let all = || full.iter().chain([&current]);
    let removals: [Vec<&PathBuf>; 3] = [
        all().collect(),
        full.iter().collect(),
        full.first().into_iter().collect(),
    ];
    for removed in removals {
        restore(&here);
        for file in &removed {
            fs::remove_file(file).expect("a log file");
        }
        let (status, result) = run(&here, &line("1s", "--reuse"));
        assert_eq!(
            (status, classes(&result)),
            (Some(4), vec!["log".to_owned()])
        );
        let error = result["errors"][0]["error"].as_str().unwrap_or_default();
        assert!(error.contains("missing"), "{error}");
    }
}

#[test]
fn log_files_harmed_after_a_kill_are_found_by_recovery() {
    let here = Scratch::new();
    here.directory("target");
    let target = here.path("target");
    let mut how = "--keep";
    while !has_logs_to_harm(&target) {
        let _ = fs::remove_dir_all(here.path("out"));
        let mut running = Running::start(&here, &line("10m", how));
        running.wait_until_it_says("measuring 0:01");
        wait_until(|| has_logs_to_harm(&target));
        running.signal("KILL");
        drop(running.end());
        how = "--reuse";
    }
    copy(&target, &here.path("saved"));
    assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    for part in [Part::CurrentLog, Part::FullLog] {
        for &kind in LOG_HARMS {
            restore(&here);
            harm(&here.path("target"), part, kind, None);
            assert_found(&here, part, kind, "after a kill");
        }
    }
}

/// What is cut off is empty, so nothing else shows that the storage has lost the end of the file.
#[test]
fn a_database_cut_short_at_rest_is_found() {
    let here = Scratch::new();
    here.directory("target");
    assert_eq!(run(&here, &line("1s", "--build-only")).0, Some(0));
    for lost_bytes in [PAGE_BYTES / 2, 1, 2 * PAGE_BYTES + 513] {
        let file = fs::File::options().write(true).open(here.path(DATABASE));
        let file = file.expect("a database");
        let bytes = file.metadata().expect("its size").len();
        file.set_len(bytes - lost_bytes).expect("cut short");
        drop(file);
        let (status, result) = run(&here, &line("1s", "--reuse"));
        let found = (status, classes(&result));
        let expected = (Some(4), vec!["cut-short".to_owned()]);
        assert_eq!(found, expected, "{lost_bytes} bytes");
        // It was reported, and the file is as long as it was.
        let (_, result) = run(&here, &line("1s", "--reuse"));
        assert!(classes(&result).is_empty(), "{result}");
    }
}

#[test]
fn page_versions_harmed_at_rest_are_found() {
    let (_other, foreign) = foreign_database(SMALL_SIZE);
    let versions_of = |database: &Path| {
        let path = format!("{}.versions", database.display());
        fs::read(path).expect("page versions")
    };
    let foreign = versions_of(&foreign);
    let here = Scratch::new();
    here.directory("target");
    assert_eq!(run(&here, &line("1s", "--build-only")).0, Some(0));
    let older = versions_of(&here.path(DATABASE));
    assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    let written = versions_of(&here.path(DATABASE));
    copy(&here.path("target"), &here.path("saved"));
    let mut flipped = written.clone();
    let middle = written.len() / 2;
    flipped[middle] ^= 1;
    let half = written[..middle].to_vec();
    let harmed = [flipped, half, Vec::new(), older, foreign];
    for (number, bytes) in harmed.iter().enumerate() {
        restore(&here);
        let path = format!("{}.versions", here.path(DATABASE).display());
        fs::write(path, bytes).expect("other page versions");
        let (status, result) = run(&here, &line("1s", "--reuse"));
        let found = (status, classes(&result));
        let expected = (Some(4), vec!["page-versions".to_owned()]);
        assert_eq!(found, expected, "{number}");
    }
}

/// Header and checkpoint of the database below `target`.
fn header_and_checkpoint(target: &Path) -> [Vec<u8>; 2] {
    [Part::FirstHeader, Part::FirstCheckpoint].map(|part| both_copies(target, part))
}

#[test]
fn headers_and_checkpoints_harmed_at_rest_are_found() {
    let (other, _) = foreign_database(SMALL_SIZE);
    let here = Scratch::new();
    here.directory("target");
    let target = here.path("target");
    assert_eq!(run(&here, &line("1s", "--keep")).0, Some(0));
    let earlier = header_and_checkpoint(&target);
    assert_eq!(run(&here, &line("1s", "--reuse")).0, Some(0));
    copy(&target, &here.path("saved"));
    let foreign = header_and_checkpoint(&other.path("target"));
    for &kind in Part::FirstCheckpoint.harms() {
        for part in [
            Part::FirstHeader,
            Part::SecondHeader,
            Part::FirstCheckpoint,
            Part::SecondCheckpoint,
        ] {
            let of = usize::from(part.class() == "checkpoint");
            let copies = match kind {
                Harm::Foreign => &foreign[of],
                _ => &earlier[of],
            };
            if part.harms().contains(&kind) {
                restore(&here);
                harm(&target, part, kind, Some(copies));
                assert_found(&here, part, kind, "at rest");
            }
        }
    }
}

/// Waits for what every run comes to, however slow the machine is.
fn wait_until(is_so: impl Fn() -> bool) {
    while !is_so() {
        sleep(Duration::from_millis(50));
    }
}

fn has_a_checkpoint(target: &Path) -> bool {
    let read = fs::read(target.join("log-001/E00.chk"));
    read.is_ok_and(|bytes| bytes.iter().any(|&byte| byte != 0))
}

/// What a run ended with and what it found, and what was harmed.
type Outcome = ((Option<i64>, BTreeSet<String>), BTreeSet<String>);

/// Harms these copies of header and checkpoint of a run in one way while it measures: each must be found
/// and nothing else.
fn copies_in_mid_run(parts: [Part; 2], kind: Harm, foreign: &[Vec<u8>; 2]) {
    // A run writes copies over and reads them before. One that is put there between the two is gone
    // unseen and has done no harm, which a slow disk makes likelier.
    let mut tries = 1;
    loop {
        let ((status, found), harmed) = harmed_in_mid_run(parts, kind, foreign);
        // The kernel fails the next flush of a file that is written through the page cache and past it at
        // the same moment.
        let has_collided = found.contains("unwritable");
        if !has_collided && (found == harmed || tries == 3) {
            assert_eq!((status, found), (Some(4), harmed), "{kind:?}, {parts:?}");
            return;
        }
        let is_expected = found.is_subset(&harmed);
        assert!(
            (has_collided || is_expected) && tries < 10,
            "{kind:?}, {parts:?}: {found:?}"
        );
        tries += 1;
    }
}

fn harmed_in_mid_run(parts: [Part; 2], kind: Harm, foreign: &[Vec<u8>; 2]) -> Outcome {
    let here = Scratch::new();
    here.directory("target");
    let target = here.path("target");
    // What is older is an older one only when the run has gone on, and a file that is gone is missed at
    // the end.
    let is_stopped = kind == Harm::Older;
    let duration = if is_stopped { "10m" } else { "3s" };
    let mut running = Running::start(&here, &line(duration, "--keep"));
    running.wait_until_it_says("warming up");
    wait_until(|| has_a_checkpoint(&target));
    let earlier = header_and_checkpoint(&target);
    running.wait_until_it_says("measuring 0:01");
    let has_gone_on = || {
        let now = header_and_checkpoint(&target);
        now.iter().zip(&earlier).all(|(now, then)| now != then)
    };
    wait_until(|| !is_stopped || has_gone_on());
    let copies = if kind == Harm::Foreign {
        foreign
    } else {
        &earlier
    };
    let mut harmed = BTreeSet::new();
    for (part, copies) in parts.into_iter().zip(copies) {
        if part.harms().contains(&kind) {
            harm(&target, part, kind, Some(copies));
            harmed.insert(part.class().to_owned());
        }
    }
    if is_stopped {
        running.signal("INT");
    }
    drop(running.end());
    let text = fs::read(here.path("out").join("result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
    let found: BTreeSet<String> = classes(&result).into_iter().collect();
    ((result["exit_status"].as_i64(), found), harmed)
}

#[test]
fn headers_and_checkpoints_harmed_in_mid_run_are_found() {
    let (other, _) = foreign_database(SMALL_SIZE);
    let foreign = header_and_checkpoint(&other.path("target"));
    for &kind in Part::FirstCheckpoint.harms() {
        copies_in_mid_run([Part::FirstHeader, Part::FirstCheckpoint], kind, &foreign);
        copies_in_mid_run([Part::SecondHeader, Part::SecondCheckpoint], kind, &foreign);
    }
}

#[test]
fn log_files_harmed_in_mid_run_are_found() {
    for &kind in LOG_HARMS {
        let here = Scratch::new();
        here.directory("target");
        let target = here.path("target");
        let mut running = Running::start(&here, &line("10s", "--keep"));
        running.wait_until_it_says("measuring 0:01");
        wait_until(|| full_logs(&target).len() > 1);
        harm(&target, Part::FullLog, kind, None);
        let ended = running.end();
        let text = fs::read(here.path("out").join("result.json")).expect("a result");
        let result: serde_json::Value = serde_json::from_slice(&text).expect("JSON");
        let mut found = classes(&result);
        if kind == Harm::Cut {
            // Who reads a log file for a copy at this moment meets its end.
            found.retain(|class| class != "unreadable");
        }
        let found = (ended.status, found);
        assert_eq!(found, (Some(4), vec!["log".to_owned()]), "{kind:?}");
    }
}
