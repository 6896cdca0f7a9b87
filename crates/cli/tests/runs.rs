//! Whole runs on real files, with every exit status they can end in.
//!
//! No test here depends on how fast the machine is: limits are set so wide or so narrow that the
//! verdict is certain.

mod common;

use std::fs;
use std::path::Path;
use std::process::Command;

use common::{Ended, Running, SMALL, Scratch, WIDE};

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a directory").count()
}

#[test]
fn a_run_within_its_limits_passes_and_leaves_the_target_empty() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE}"))
        .exits(0)
        .prints("PASS")
        .prints("report.html")
        .prints("Databases removed from target")
        .says("measuring");
    assert_eq!(entries(&target), 0);
    for file in [
        "result.json",
        "samples.csv",
        "histograms.hlog",
        "report.html",
        "log.txt",
        "config.toml",
    ] {
        assert!(here.path("out").join(file).exists(), "{file}");
    }
    let log = fs::read_to_string(here.path("out/log.txt")).expect("a log");
    let end = log.lines().last().unwrap_or_default();
    assert!(end.contains(" ended: pass. All "), "{log}");
    here.proofload("report out --out again.html")
        .exits(0)
        .prints("PASS");
    let csv = here.proofload("report out --csv -").exits(0).stdout;
    assert_eq!(csv.lines().count(), 2, "{csv}");
    assert!(csv.starts_with("run,verdict,"), "{csv}");
    here.proofload("report out --csv runs.csv --fio-json fio.json --quiet")
        .exits(0)
        .prints_nothing();
    assert_eq!(fs::read_to_string(here.path("runs.csv")).ok(), Some(csv));
    let fio = fs::read(here.path("fio.json")).expect("a file");
    let fio: serde_json::Value = serde_json::from_slice(&fio).expect("one document");
    assert_eq!(fio["jobs"][0]["jobname"], "mail-001");
    // Nothing that is there is written over unasked, and nothing of a run at all.
    for (line, words) in [
        ("--csv runs.csv", "--overwrite"),
        ("--out out/samples.csv", "lies in the directory of a run"),
        (
            "--markdown out/result.json --overwrite",
            "lies in the directory of a run",
        ),
        ("--csv new.txt --markdown ./new.txt", "both name"),
    ] {
        let line = format!("report out --quiet {line}");
        here.proofload(&line).exits(2).says(words);
    }
    assert!(!here.path("new.txt").exists());
    here.proofload("report out --csv runs.csv --overwrite --quiet")
        .exits(0);
    here.proofload("report out out --fio-json fio.json")
        .exits(2)
        .says("one run");
    here.proofload("show out/config.toml")
        .exits(0)
        .prints("\nthreads = 2\n");
}

#[test]
fn a_plan_with_times_comes_before_the_run() {
    let here = Scratch::new();
    here.directory("target");
    let run = here.proofload(&format!("{SMALL} {WIDE}")).exits(0);
    let place = |text: &str| run.stderr.find(text).expect(text);
    let (plan, begin) = (place("Plan:"), place("building"));
    assert!(plan < begin);
    for line in [
        "build: 48 MiB to write",
        "warm-up: until the database caches are 90 % full and the load is steady, 1 s at most",
        "measured phase: 2 s, 8 samples of 250 ms",
        "verification: 48 MiB or more to read",
        "in all: 3 s to 4 s",
    ] {
        assert!((plan..begin).contains(&place(line)), "{line}");
    }
}

#[test]
fn a_low_limit_of_open_files_is_raised() {
    let here = Scratch::new();
    here.directory("target");
    // Each database has four files open, with two descriptors each.
    let line = SMALL.replace("--databases 1", "--databases 12");
    let line = line
        .replace("--threads 2", "--threads 12")
        .replace("48MiB", "96MiB");
    let shell = format!(
        "ulimit -Sn 40; exec {} {line} {WIDE} --build-only",
        env!("CARGO_BIN_EXE_proofload")
    );
    let mut bash = Command::new("bash");
    Ended::of(bash.args(["-c", &shell]).current_dir(here.path(""))).exits(0);
}

#[test]
fn a_missed_level_exits_1_and_json_is_all_there_is() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here.fails(&format!(
        "{SMALL} {WIDE} --json --quiet --set service_levels.average_database_read=1us"
    ));
    let result: serde_json::Value = serde_json::from_str(&ended.stdout).expect("one document");
    assert_eq!(result["verdict"], "fail");
    assert_eq!(result["exit_status"], 1);
    assert_eq!(result["workload"]["settings"]["mail.threads"], 2);
    assert_eq!(ended.stderr, "");
}

#[test]
fn too_few_samples_are_inconclusive() {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(&format!(
        "{SMALL} {WIDE} --set service_levels.fewest_samples=1000"
    ))
    .exits(5)
    .prints("INCONCLUSIVE");
}

#[test]
fn kept_databases_are_run_on_again() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --build-only"))
        .exits(0)
        .prints("BUILT")
        .prints("--reuse");
    let result = fs::read_to_string(here.path("out/result.json")).expect("a result");
    assert!(result.contains("\"verdict\": \"built\""), "{result}");
    assert!(result.contains("\"exit_status\": 0"), "{result}");
    assert!(here.path("out/report.html").exists());
    here.proofload("edb info target/mail-001/mail-001.edb")
        .exits(0)
        .prints("of 32,768 bytes")
        .prints("table ");
    here.proofload("edb check target/mail-001/mail-001.edb")
        .exits(0)
        .prints("sound");
    fs::rename(here.path("out"), here.path("built")).expect("the old results aside");
    here.proofload(&format!("{SMALL} {WIDE}"))
        .exits(3)
        .says("--reuse");
    fs::remove_dir_all(here.path("out")).ok();
    here.proofload(&format!("{SMALL} {WIDE} --reuse --dry-run"))
        .exits(0)
        .prints("kept, complete");
    let plan_says_the_present_size = || {
        let file = fs::metadata(target.join("mail-001/mail-001.edb")).expect("the database");
        let size = format!("{} MiB", file.len() >> 20);
        here.proofload(&format!("{SMALL} {WIDE} --reuse --dry-run"))
            .exits(0)
            .prints("1 database of 48 MiB when built")
            .prints(&format!("kept, complete, {size} at the start"))
            .prints(&format!("verification: {size} or more to read"));
        file.len()
    };
    let built_bytes = plan_says_the_present_size();
    let ended = here.proofload(&format!("{SMALL} {WIDE} --reuse --seed 7"));
    let ended = ended.exits(0).says("locating kept databases");
    assert!(!ended.stderr.contains("building"), "{}", ended.stderr);
    ended.prints("PASS").prints("Databases kept in target");
    assert!(target.join("mail-001").exists());
    fs::rename(here.path("out"), here.path("second")).expect("the old results aside");
    assert!(plan_says_the_present_size() > built_bytes);
    // What the databases are need not be said again, and nothing else may be said of them.
    let sparse = format!("{SMALL} {WIDE} --reuse --rate 50");
    let sparse = sparse.replace("--databases 1", "");
    let sparse = sparse.replace("--target-size 48MiB", "");
    here.proofload(&sparse).exits(0).prints("PASS");
    for other in ["--target-size 64MiB", "--mailboxes 3"] {
        here.proofload(&format!("{sparse} {other}").replace("--out out", "--out more"))
            .exits(2)
            .says("were built with mail.mailbox")
            .says("'proofload run exchange-2013 --on target --reuse'");
    }
    here.proofload("run exchange-2007 --on target --out more --reuse --databases 1")
        .exits(2)
        .says("'proofload run exchange-2013 --on target --reuse'");
    assert!(!here.path("more").exists(), "a refusal writes nothing");
}

#[test]
fn a_run_that_is_stopped_in_its_warm_up_says_that_nothing_was_measured() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --set run.warm_up.minimum=10m");
    let line = line.replace("warm_up.maximum=1s", "warm_up.maximum=20m");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("the warm-up takes at least 10 min");
    running.signal("INT");
    running
        .end()
        .exits(130)
        .says("Stopping")
        .prints("INTERRUPTED")
        .prints("Stopped before anything was measured");
    let text = fs::read(here.path("out").join("result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("one document");
    assert_eq!(result["complete"], true);
    assert_eq!(result["verdict"], "interrupted");
    assert!(here.path("out").join("report.html").exists());
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let here = Scratch::new();
    let target = here.directory("target");
    let line = format!("{SMALL} {WIDE} --duration 10m");
    let line = line.replace("--duration 2s", "");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    running.signal("INT");
    running
        .end()
        .exits(130)
        .prints("INTERRUPTED")
        .says("Press Ctrl-C again");
    let result = fs::read_to_string(here.path("out").join("result.json")).expect("a result");
    assert!(result.contains("\"verdict\": \"interrupted\""));
    assert_eq!(entries(&target), 0);
}
