//! Files and names of others in the places of databases: they are refused or left, and never written.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread::sleep;
use std::time::{Duration, Instant};

use common::brokerage::{brokerage, has_postgresql};
use common::{Running, SMALL, Scratch, WIDE};
use serde_json::Value;

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

fn result(here: &Scratch) -> Value {
    serde_json::from_slice(&fs::read(here.path("out/result.json")).unwrap()).unwrap()
}

/// The classes of the errors of a result.
fn classes(result: &Value) -> Vec<&str> {
    let counts = result["error_counts"].as_array().unwrap().iter();
    counts
        .map(|count| count["class"].as_str().unwrap_or("none"))
        .collect()
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
    fs::create_dir(&checkpoint).unwrap();
    reuse("it is a directory");
    fs::remove_dir(&checkpoint).unwrap();
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

#[test]
fn a_log_file_of_others_is_not_used_again() {
    let here = Scratch::new();
    let target = here.directory("target");
    let mut running = Running::start(&here, &line(600, "--keep"));
    running.wait_until_it_says("measuring 0:0");
    let newest = || full_logs(&target.join("log-001")).pop();
    let began = Instant::now();
    let log = loop {
        assert!(
            began.elapsed() < Duration::from_secs(60),
            "no log file is full"
        );
        if let Some(log) = newest() {
            break log;
        }
        sleep(Duration::from_millis(2));
    };
    let bytes = fs::metadata(&log).unwrap().len() as usize;
    let (path, contents) = precious(&here, bytes);
    fs::remove_file(&log).unwrap();
    fs::hard_link(&path, &log).unwrap();
    // Until the log has gone on over more files than are kept.
    let is_passed = || {
        full_logs(&target.join("log-001"))
            .iter()
            .any(|one| is_later(one, &log, 24))
    };
    while !is_passed() {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "the log stands still"
        );
        sleep(Duration::from_millis(20));
    }
    running.signal("INT");
    drop(running.end());
    assert_eq!(fs::read(&path).unwrap(), contents);
    assert!(log.exists(), "it is left in place");
    let result = result(&here);
    assert_eq!(classes(&result), ["log"], "{}", result["errors"]);
    let error = result["errors"][0]["error"].as_str().unwrap();
    assert!(error.contains("it is a hard link"), "{error}");
    fs::rename(here.path("out"), here.path("interrupted")).unwrap();
    here.proofload(&line(2, "--reuse"))
        .exits(3)
        .says("it is a hard link");
    fs::remove_file(&log).unwrap();
    here.proofload(&line(2, "--reuse")).exits(0);
}

/// The full log files in a directory, the oldest first.
fn full_logs(directory: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(directory).unwrap().flatten();
    let mut logs: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    logs.retain(|path| generation(path).is_some());
    logs.sort();
    logs
}

fn generation(path: &Path) -> Option<u32> {
    let digits = path.file_name()?.to_str()?.strip_prefix("E00")?;
    let digits = digits.strip_suffix(".log")?;
    u32::from_str_radix(digits, 16)
        .ok()
        .filter(|_| digits.len() == 8)
}

fn is_later(one: &Path, other: &Path, files: u32) -> bool {
    generation(one) > generation(other).map(|number| number + files)
}

#[test]
fn a_marker_with_names_that_lead_elsewhere_is_damaged() {
    let here = built();
    let path = here.path("target/proofload.json");
    let text = fs::read_to_string(&path).unwrap();
    for name in ["../x", "/etc", "..", ".", "", "a/b", "mail-001/"] {
        let mut marker: Value = serde_json::from_str(&text).unwrap();
        let directories = marker["directories"].as_array_mut().unwrap();
        directories.push(name.into());
        fs::write(&path, marker.to_string()).unwrap();
        let new = here.proofload(&line(2, "")).exits(3).says("is not empty");
        let reuse = here.proofload(&line(2, "--reuse")).exits(3);
        let reuse = reuse.says("proofload.json is damaged");
        let doctor = here.proofload("doctor target");
        for ended in [new, reuse, doctor] {
            let said = format!("{}{}", ended.stdout, ended.stderr);
            assert!(!said.contains("rm -r"), "{name}: {said}");
        }
    }
    fs::write(&path, &text).unwrap();
    here.proofload(&line(2, "")).exits(3).says("rm -r");
    here.proofload(&line(2, "--reuse")).exits(0);
}

#[test]
fn what_is_no_file_is_not_waited_for() {
    let here = Scratch::new();
    here.directory("target");
    pipe(&here.path("pipe"));
    for command in ["edb info", "edb check", "edb dump", "edb recover"] {
        for file in ["pipe", "/dev/zero", "/dev/null"] {
            here.proofload_within(20, &format!("{command} {file}"))
                .exits(2)
                .says("is not a file");
        }
    }
    for command in [
        "show {}",
        "show --array {}",
        "show --study {}",
        "run {} --on target",
        "predict exchange-2013 --array {}",
        "predict {} --array msa2050",
        "study {}",
    ] {
        for file in ["pipe", "/dev/zero"] {
            here.proofload_within(20, &command.replace("{}", file))
                .exits(2)
                .says("it is not a regular file");
        }
    }
    for command in [
        "import pipe",
        "calibrate --fio pipe --like ssd-nvme-pcie3-1tb --out my.toml",
    ] {
        here.proofload_within(20, command)
            .exits(3)
            .says("it is not a regular file");
    }
    assert_eq!(fs::read_dir(here.path("target")).unwrap().count(), 0);
}

#[test]
fn copies_with_files_of_others_are_said_to_be_left() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("copies");
    let mut running = Running::start(&here, &line(4, "--copy-to copies"));
    running.wait_until_it_says("measuring 0:0");
    let foreign = here.path("copies/mail-001/thesis.doc");
    fs::write(&foreign, PRECIOUS).unwrap();
    running
        .end()
        .exits(0)
        .says("thesis.doc")
        .prints("Copies removed from copies, except what is not as the run made it.");
    assert_eq!(fs::read_to_string(&foreign).unwrap(), PRECIOUS);
}

#[test]
fn databases_whose_marker_is_gone_are_not_offered_for_reuse() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line(4, "--keep"));
    running.wait_until_it_says("measuring 0:0");
    fs::remove_file(here.path("target/proofload.json")).unwrap();
    let ended = running.end().exits(0);
    let ended = ended.prints("Databases kept in target, but target/proofload.json was removed");
    assert!(
        !ended.stdout.contains("run on them again"),
        "{}",
        ended.stdout
    );
}

#[test]
fn pages_behind_the_end_of_a_file_count_as_not_read_back() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line(4, "--keep"));
    running.wait_until_it_says("measuring 0:0");
    let foreign = here.path("foreign");
    fs::write(&foreign, vec![7; 3 << 20]).unwrap();
    fs::rename(&foreign, here.path(DATABASE)).unwrap();
    drop(running.end().exits(4));
    let result = result(&here);
    assert!(classes(&result).contains(&"cut-short"), "{result}");
    let verified = &result["verification"]["databases"][0];
    let count = |name: &str| verified[name].as_u64().unwrap();
    assert_eq!(count("pages"), (3 << 20) / common::PAGE_BYTES - 2);
    assert!(count("pages_read_back") <= count("pages"), "{verified}");
    assert!(
        count("pages_read_back") < count("pages_written"),
        "{verified}"
    );
}

#[test]
fn a_database_file_with_files_of_others_is_refused_before_anything_is_written() {
    let here = Scratch::new();
    here.directory("target");
    let line = brokerage("sqlite").replace("--duration 10m", "--duration 1s");
    here.proofload(&line.replace("--keep", "--build-only"))
        .exits(0);
    fs::remove_dir_all(here.path("out")).unwrap();
    let file = here.path("target/brokerage/proofload_brokerage.sqlite");
    let built = fs::metadata(&file).unwrap().modified().unwrap();
    let reuse = |name: &str, what: &str| {
        here.proofload_within(60, &line.replace("--keep", "--reuse"))
            .exits(3)
            .says(&format!("{name} cannot be used"))
            .says(what);
        assert!(!here.path("out").exists(), "a refusal writes nothing");
        assert_eq!(fs::metadata(&file).unwrap().modified().unwrap(), built);
    };
    let (path, contents) = precious(&here, 8192);
    for end in ["-wal", "-journal", "-shm", "-lock"] {
        let name = format!("proofload_brokerage.sqlite{end}");
        let beside = file.with_file_name(&name);
        let _ = fs::remove_file(&beside);
        fs::hard_link(&path, &beside).unwrap();
        reuse(&name, "it is a hard link to a file that has another name");
        fs::remove_file(&beside).unwrap();
        std::os::unix::fs::symlink(&path, &beside).unwrap();
        reuse(&name, "it is a symbolic link");
        fs::remove_file(&beside).unwrap();
        pipe(&beside);
        reuse(&name, "it is a pipe");
        fs::remove_file(&beside).unwrap();
        assert_eq!(fs::read(&path).unwrap(), contents);
    }
    // The database itself, which somebody wants to keep as it is.
    let name = "proofload_brokerage.sqlite";
    let kept = here.path("kept.sqlite");
    fs::hard_link(&file, &kept).unwrap();
    reuse(name, "it is a hard link to a file that has another name");
    fs::remove_file(&file).unwrap();
    std::os::unix::fs::symlink(&kept, &file).unwrap();
    reuse(name, "it is a symbolic link");
    fs::rename(&kept, &file).unwrap();
    // A directory that a link leads to is no other than its own.
    std::os::unix::fs::symlink(here.path("target"), here.path("link")).unwrap();
    let line = line.replace("--on target", "--on link");
    let ended = here.proofload(&line.replace("--keep", "--reuse"));
    assert!(matches!(ended.status, Some(0 | 1 | 5)), "{}", ended.stderr);
}

#[test]
fn what_others_put_into_the_directory_of_a_server_is_left() {
    if !has_postgresql() {
        test_support::skip("PostgreSQL is not installed");
        return;
    }
    let here = Scratch::new();
    here.directory("target");
    let line = brokerage("auto").replace("--keep", "");
    let line = line.replace("--duration 10m", "--duration 3s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring");
    let cluster = here.path("target/brokerage/cluster");
    let foreign = [
        "a.txt",
        "data/b.txt",
        "data/base/c.txt",
        "data/base/1/d.txt",
        "data/global/e.txt",
        "data/pg_wal/f.txt",
        "data/pg_multixact/members/g.txt",
    ];
    let foreign = foreign.map(|file| cluster.join(file));
    for path in &foreign {
        fs::write(path, PRECIOUS).unwrap();
    }
    let mut ended = running.end();
    for path in &foreign {
        let name = path.file_name().unwrap().to_str().unwrap();
        ended = ended.says(name);
        assert_eq!(fs::read_to_string(path).unwrap(), PRECIOUS);
    }
    ended.prints("except what is not as the run made it");
    for own in [
        "data/PG_VERSION",
        "data/base/1/PG_VERSION",
        "data/base/4",
        "server.log",
        "data/global/pg_control",
        "data/pg_xact",
        "data/pg_wal/archive_status",
    ] {
        assert!(!cluster.join(own).exists(), "{own} is left");
    }
}

/// SQLite would read what lies there as its database, and remove what it takes for its log.
#[test]
fn a_link_in_the_place_of_the_directory_of_sqlite_is_not_followed() {
    let here = Scratch::new();
    here.directory("target");
    let line = brokerage("sqlite").replace("--keep", "");
    let line = line.replace("--duration 10m", "--duration 2s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring");
    let (own, moved) = (here.path("target/brokerage"), here.path("moved"));
    let precious = here.directory("precious");
    for end in ["", "-wal", "-shm", "-journal", "-lock"] {
        let path = precious.join(format!("proofload_brokerage.sqlite{end}"));
        fs::write(path, PRECIOUS).unwrap();
    }
    fs::rename(&own, &moved).unwrap();
    std::os::unix::fs::symlink(&precious, &own).unwrap();
    running
        .end()
        .exits(5)
        .says("is another directory than the one in which the database was opened");
    for entry in fs::read_dir(&precious).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(fs::read_to_string(&path).unwrap(), PRECIOUS);
    }
    assert_eq!(fs::read_dir(&precious).unwrap().count(), 5);
    assert!(moved.join("proofload_brokerage.sqlite").exists());
}
