//! Builds that are interrupted and go on, through the binary, on real files.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{PAGE_BYTES, Running, SMALL, Scratch, WIDE, open_direct};
use runtime::Buffer;

/// A byte of the database that is written long after its build has begun.
const IN_THE_MIDDLE: u64 = 20 << 20;

/// Two databases of 48 MiB.
fn two_databases() -> String {
    let line = format!("{SMALL} {WIDE} --allow-cached");
    let line = line.replace("--databases 1", "--databases 2");
    line.replace("--target-size 48MiB", "--target-size 96MiB")
}

fn is_written(database: &Path, offset: u64) -> bool {
    if !database.exists() {
        return false;
    }
    let mut page = Buffer::zeroed(PAGE_BYTES as usize);
    let read = open_direct(database).read_exact_at(&mut page, offset);
    read.is_ok() && page.iter().any(|&byte| byte != 0)
}

fn is_building(here: &Scratch, name: &str) -> bool {
    let state = fs::read(here.path(&format!("target/{name}/mail.state")));
    state.is_ok_and(|text| text.windows(8).any(|part| part == b"building"))
}

fn forget_results(here: &Scratch) {
    fs::remove_dir_all(here.path("out")).expect("results to remove");
}

/// Interrupts the build of the first of two databases by a signal when it is about half. On a machine that
/// is too fast for that it is tried again.
fn interrupted_by(signal: &str, line: &str) -> (Scratch, common::Ended) {
    for _ in 0..20 {
        let here = Scratch::new();
        let database = here.directory("target").join("mail-001/mail-001.edb");
        let mut running = Running::start(&here, line);
        while running.is_alive() && !is_written(&database, IN_THE_MIDDLE) {
            std::thread::yield_now();
        }
        running.signal(signal);
        let ended = running.end();
        if is_building(&here, "mail-001") {
            return (here, ended);
        }
    }
    panic!("every build ended before it could be interrupted");
}

fn result(here: &Scratch) -> serde_json::Value {
    let text = fs::read(here.path("out/result.json")).expect("a file");
    serde_json::from_slice(&text).expect("one document")
}

/// One processor, so that the second database is not built beside the first one.
fn on_one_processor(here: &Scratch, line: &str) -> Running {
    let mut command = std::process::Command::new("taskset");
    command.current_dir(here.path("")).env("NO_COLOR", "1");
    command.args(["--cpu-list", "0", env!("CARGO_BIN_EXE_proofload")]);
    Running::start_with(command, line)
}

#[test]
fn the_same_command_goes_on_with_a_build_that_was_killed() {
    let line = two_databases();
    let (here, _) = interrupted_by("KILL", &line);
    forget_results(&here);
    here.proofload(&format!("{line} --dry-run"))
        .exits(0)
        .prints("its build was interrupted, will go on")
        .prints("interrupted build: goes on, 0 of 2 databases built");
    let run = here
        .proofload(&line)
        .exits(0)
        .says("going on with a build that was interrupted: 0 of 2 databases built")
        .says("mail-001: its build goes on at ")
        .prints("Databases kept in target")
        .prints("PASS");
    assert!(!run.stderr.contains("recovered"), "{}", run.stderr);
    let document = result(&here);
    let build = &document["resumed_build"];
    assert_eq!(build["databases"], 2);
    assert_eq!(build["complete_databases"], 0);
    let first = &build["gone_on"][0];
    assert_eq!(first["name"], "mail-001");
    // What had been written before this place was there, but for requests side by side.
    let found = first["found_bytes"].as_u64().expect("bytes");
    assert!(found > IN_THE_MIDDLE - (8 << 20), "{found}");
    assert_eq!(document["phases"][0]["name"], "build");
    let log = fs::read_to_string(here.path("out/log.txt")).expect("a log");
    assert!(log.contains("its build goes on at"), "{log}");
    let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
    assert!(page.contains("its build goes on at"));
    here.proofload("verify out").exits(0);
    here.proofload("edb check target/mail-001/mail-001.edb target/mail-002/mail-002.edb")
        .exits(0);
    let again = line.replace("--out out", "--out again");
    here.proofload(&again)
        .exits(3)
        .says("Run on them with --reuse");
}

#[test]
fn a_build_that_is_stopped_is_kept_and_goes_on() {
    let line = two_databases().replace("run ", "run --build-only ");
    let (here, stopped) = interrupted_by("INT", &line);
    stopped
        .exits(130)
        .prints("INTERRUPTED")
        .prints("the same command goes on with their build");
    forget_results(&here);
    here.proofload(&line)
        .exits(0)
        .says("mail-001: its build goes on at ")
        .prints("BUILT");
    let first = result(&here)["resumed_build"]["gone_on"][0].clone();
    assert!(first["found_bytes"].as_u64() > Some(IN_THE_MIDDLE - (8 << 20)));
    // The rows that a build without an interruption makes, in a file of the same length. Its pages have other
    // database times.
    here.directory("other");
    let fresh = line.replace("--on target --out out", "--on other --out fresh");
    here.proofload(&fresh).exits(0);
    for name in ["mail-001/mail-001.edb", "mail-002/mail-002.edb"] {
        let built = |place: &str| {
            let file = format!("{place}/{name}");
            here.proofload(&format!("edb check {file}")).exits(0);
            let rows = here
                .proofload(&format!("edb dump {file}"))
                .exits(0)
                .stdout
                .clone();
            (
                fs::metadata(here.path(&file)).expect("a database").len(),
                rows,
            )
        };
        let (gone_on, whole) = (built("target"), built("other"));
        assert!(gone_on == whole, "{name}");
        assert!(gone_on.1.lines().count() > 1000, "{name}");
    }
}

#[test]
fn complete_databases_are_not_built_again() {
    let line = two_databases().replace("run ", "run --build-only ");
    for attempt in 0.. {
        assert!(attempt < 20, "every build ended before it could be killed");
        let here = Scratch::new();
        let target = here.directory("target");
        let mut running = on_one_processor(&here, &line);
        let second = target.join("mail-002/mail-002.edb");
        while running.is_alive() && !is_written(&second, 4 << 20) {
            std::thread::yield_now();
        }
        running.signal("KILL");
        drop(running.end());
        if is_building(&here, "mail-001") || !is_building(&here, "mail-002") {
            continue;
        }
        forget_results(&here);
        let changed = |name: &str| {
            let facts = fs::metadata(target.join(name)).expect("a file");
            facts.modified().expect("a time")
        };
        let before = changed("mail-001/mail-001.edb");
        here.proofload(&line)
            .exits(0)
            .says("1 of 2 databases built")
            .says("mail-002: its build goes on at ");
        assert_eq!(changed("mail-001/mail-001.edb"), before);
        let build = result(&here)["resumed_build"].clone();
        assert_eq!(build["complete_databases"], 1);
        assert_eq!(build["gone_on"].as_array().map(Vec::len), Some(1));
        return;
    }
}

#[test]
fn a_build_goes_on_with_its_own_settings_only() {
    let line = two_databases();
    let (here, _) = interrupted_by("KILL", &line);
    forget_results(&here);
    let other = line.replace("--target-size 96MiB", "--target-size 128MiB");
    here.proofload(&other)
        .exits(2)
        .says("were built with mail.mailbox_size = ");
    let other = format!("{line} --set mail.item.indexed=true");
    here.proofload(&other)
        .exits(2)
        .says("were built with mail.item.indexed = false");
    let other = line.replace("--databases 2", "--databases 1");
    here.proofload(&other)
        .exits(2)
        .says("holds other databases than asked for");
    assert!(!here.path("out").exists(), "a refusal writes nothing");
}

#[test]
fn a_build_that_goes_on_takes_nothing_for_granted() {
    let line = two_databases().replace("run ", "run --build-only ");
    let (here, _) = interrupted_by("KILL", &line);
    forget_results(&here);
    common::damage(
        &here.path("target/mail-001/mail-001.edb"),
        std::iter::once(100),
    );
    here.proofload(&line).exits(0);
    let first = result(&here)["resumed_build"]["gone_on"][0].clone();
    let found = first["found_bytes"].as_u64().expect("bytes");
    assert!(found <= 100 * PAGE_BYTES, "{found}");
    here.proofload("edb check target/mail-001/mail-001.edb")
        .exits(0);
}
