//! Several programs on the same databases at the same time: one works, the others are refused and
//! named whom they wait for. Databases of any size are run on again.

mod common;

use std::fs;
use std::path::Path;

use common::{Ended, Running, SMALL, Scratch, WIDE};

const DATABASE: &str = "target/mail-001/mail-001.edb";

/// A run that lasts until something happens to it, or some seconds.
fn line(duration: &str, out: &str, more: &str) -> String {
    let line = format!("{SMALL} {WIDE} {more}");
    let line = line.replace("--duration 2s", &format!("--duration {duration}"));
    line.replace("--out out", &format!("--out {out}"))
}

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a directory").count()
}

/// It was refused, says who is at it, and does not advise to remove anything.
#[track_caller]
fn assert_refused(ended: Ended, process: u32) {
    let ended = ended.exits(3);
    let ended = ended.says(&format!("proofload (process {process}, started 2"));
    assert!(!ended.stderr.contains("rm -r"), "{}", ended.stderr);
}

#[test]
fn a_run_in_progress_is_left_alone() {
    let here = Scratch::new();
    let target = here.directory("target");
    let mut running = Running::start(&here, &line("10m", "first", ""));
    running.wait_until_it_says("measuring 0:0");
    let process = running.id();
    assert_refused(here.proofload(&line("2s", "second", "--reuse")), process);
    assert_refused(
        here.proofload(&line("2s", "second", "--reuse --dry-run")),
        process,
    );
    assert_refused(here.proofload(&line("2s", "second", "")), process);
    assert_refused(here.proofload(&format!("edb check {DATABASE}")), process);
    assert_refused(here.proofload(&format!("edb info {DATABASE}")), process);
    here.proofload("run exchange-2013 --on target/mail-001 --out second --dry-run")
        .exits(3);
    assert!(!here.path("second").exists());
    running.signal("INT");
    running.end().exits(130).says("Stopping");
    assert_eq!(entries(&target), 0, "what it made is removed");
}

#[test]
fn a_run_that_warms_up_is_not_resumed() {
    let here = Scratch::new();
    here.directory("target");
    let more = "--set run.warm_up.minimum=10m --set run.warm_up.maximum=10m";
    let line = line("10m", "first", more).replace("--set run.warm_up.maximum=1s", "");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("warming up 0:0");
    assert_refused(here.proofload("run --resume first"), running.id());
    running.signal("INT");
    running.end().exits(130);
    here.proofload("run --resume first")
        .exits(2)
        .says("before a whole sample was measured");
}

#[test]
fn of_two_runs_that_start_at_once_one_is_refused() {
    let here = Scratch::new();
    let target = here.directory("target");
    for reuse in ["--keep", "--reuse"] {
        for round in 0..3 {
            let out = |name| format!("{name}{reuse}-{round}");
            let one = Running::start(&here, &line("2s", &out("one"), reuse));
            let other = Running::start(&here, &line("2s", &out("other"), reuse));
            let ids = [one.id(), other.id()];
            let mut ended = [one.end(), other.end()];
            if ended[0].status != Some(3) {
                ended.swap(0, 1);
            }
            let [refused, passed] = ended;
            let passed = passed.exits(0).prints("PASS");
            let refused = refused.exits(3);
            let named = ids
                .iter()
                .any(|id| refused.stderr.contains(&format!("(process {id}, started")));
            assert!(named, "{}\n{}", refused.stderr, passed.stderr);
            here.proofload(&format!("edb check {DATABASE}")).exits(0);
            if reuse == "--keep" {
                fs::remove_dir_all(&target).expect("a target to empty");
                here.directory("target");
            }
        }
        if reuse == "--keep" {
            here.proofload(&line("2s", "built", "--build-only"))
                .exits(0);
        }
    }
}

#[test]
fn a_lock_ends_with_its_process() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line("10m", "first", "--keep"));
    running.wait_until_it_says("measuring 0:0");
    running.signal("KILL");
    drop(running.end());
    here.proofload(&line("2s", "second", "--reuse")).exits(0);
}

#[test]
fn databases_of_any_size_are_run_on_again() {
    for size in [
        "8MiB --databases 1",
        "8388609 --databases 1",
        "9999999 --databases 1 --mailboxes 7",
        "25999999 --databases 3",
        "16.3MB --databases 1 --mailboxes 4001",
    ] {
        let here = Scratch::new();
        here.directory("target");
        let line = line("2s", "out", "");
        let line = line.replace("--databases 1", "");
        let line = line.replace("48MiB", size);
        let build = format!("{line} --keep");
        here.proofload(&build).exits(0);
        let runs_again = |out: &str, line: &str| {
            let line = line.replace("--out out", &format!("--out {out}"));
            here.proofload(&format!("{line} --reuse")).exits(0);
        };
        runs_again("same", &line);
        let without_size = line.replace(&format!("--target-size {size}"), "");
        runs_again("without-size", &without_size);
        // The settings in force can be read again.
        let other = here.directory("other").display().to_string();
        here.proofload(&format!("run out/config.toml --on {other} --dry-run"))
            .exits(0);
    }
}

#[test]
fn sizes_that_no_mailbox_can_have_are_refused_at_once() {
    let here = Scratch::new();
    here.directory("target");
    for (size, said) in [
        ("8MiB --mailboxes 5000", "does not hold one item"),
        ("8MiB --mailboxes 100000", "a mailbox has from 1KiB"),
        ("1TiB --mailboxes 20000000", "more than the 10,000,000"),
    ] {
        here.proofload(&line("2s", "out", "").replace("48MiB", size))
            .exits(2)
            .says(said);
    }
    assert_eq!(entries(&here.path("target")), 0);
}
