//! Backup, soft recovery and passive copies through the binary, on real files.

mod common;

use std::fs;
use std::path::Path;

use common::{Running, SMALL, Scratch, WIDE, small_without_duration, small_without_load};

const RECOVERY: &str = "--set recovery.log_files=4 --set engine.log_file_size=256KiB";

fn entries(path: &Path) -> usize {
    fs::read_dir(path).expect("a directory").count()
}

fn result(here: &Scratch, out: &str) -> serde_json::Value {
    let text = fs::read(here.path(out).join("result.json")).expect("a file");
    serde_json::from_slice(&text).expect("one document")
}

#[test]
fn a_backup_is_copied_checked_restored_and_removed() {
    let here = Scratch::new();
    let (target, copies) = (here.directory("target"), here.directory("copies"));
    let line = small_without_load();
    let run = here
        .proofload(&format!("{line} --test backup --backup-to copies"))
        .exits(0)
        .prints("PASS")
        .prints("Backup")
        .prints("Copies removed from copies");
    assert!(
        run.stderr.contains("backup: 48 MiB to read and copy"),
        "{}",
        run.stderr
    );
    assert!(!run.stderr.contains("measured phase"), "{}", run.stderr);
    assert_eq!((entries(&target), entries(&copies)), (0, 0));
    let document = result(&here, "out");
    assert_eq!(document["tests"][0], "backup");
    let database = &document["backup"]["databases"][0];
    assert_eq!(database["bytes"], database["size_bytes"]);
    assert_eq!(database["copy"]["bytes"], database["bytes"]);
    assert!(database["copy"]["recovered_s"].is_number(), "{database}");
    here.proofload("verify out")
        .exits(0)
        .prints("the verdict `pass`");
    here.proofload("report out").exits(0).prints("Backup");
    let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
    assert!(page.contains("Copies") && !page.contains("Transactional I/O"));
}

#[test]
fn a_copy_that_is_kept_is_a_database() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("copies");
    let line = small_without_load();
    here.proofload(&format!("{line} --test backup --backup-to copies --keep"))
        .exits(0)
        .prints("Copies kept in copies");
    here.proofload("edb check copies/mail-001/mail-001.edb")
        .exits(0);
    let again = SMALL.replace("--on target --out out", "--on copies --out again --reuse");
    here.proofload(&format!("{again} {WIDE}"))
        .exits(0)
        .prints("PASS");
}

#[test]
fn soft_recovery_replays_the_log_files_that_were_asked_for() {
    let here = Scratch::new();
    let target = here.directory("target");
    let run = here
        .proofload(&format!(
            "{} {RECOVERY} --test recovery",
            small_without_duration()
        ))
        .exits(0)
        .prints("Soft recovery")
        .prints("per log file");
    assert!(
        run.stderr.contains("soft recovery: 1 MiB to replay"),
        "{}",
        run.stderr
    );
    assert_eq!(entries(&target), 0);
    let document = result(&here, "out");
    let recovery = &document["recovery"];
    assert_eq!(recovery["wanted_log_files"], 4);
    assert!(
        recovery["databases"][0]["log_files"].as_u64() >= Some(4),
        "{recovery}"
    );
    assert_eq!(document["verification"]["databases"][0]["errors"], 0);
    here.proofload("verify out")
        .exits(0)
        .prints("the verdict `pass`");
    // A verdict by other figures than those of the tables is found.
    let path = here.path("out/result.json");
    let text = fs::read_to_string(&path).expect("a file");
    let text = text.replacen("\"wanted_log_files\": 4,", "\"wanted_log_files\": 4000,", 1);
    fs::write(&path, text).expect("a file");
    here.proofload("verify out").exits(4).prints("verdict");
}

#[test]
fn all_tests_have_one_verdict_and_one_report() {
    let here = Scratch::new();
    here.directory("target");
    let run = here
        .proofload(&format!(
            "{SMALL} {WIDE} {RECOVERY} --allow-cached --test all"
        ))
        .exits(0)
        .prints("PASS")
        .prints("Backup")
        .prints("Soft recovery");
    for line in [
        "measured phase: 2 s",
        "backup: 48 MiB",
        "soft recovery: 1 MiB",
    ] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    let tests = result(&here, "out")["tests"].clone();
    assert_eq!(
        tests,
        serde_json::json!(["performance", "backup", "recovery"])
    );
    here.proofload("verify out")
        .exits(0)
        .prints("the verdict `pass`");
}

/// Small log files, so that a short load fills some.
const FOLLOWED: &str = "--allow-cached --set engine.log_file_size=128KiB --copy-to copies";

#[test]
fn a_passive_copy_is_seeded_follows_the_load_and_is_compared() {
    let here = Scratch::new();
    let (target, copies) = (here.directory("target"), here.directory("copies"));
    let run = here
        .proofload(&format!("{SMALL} {WIDE} {FOLLOWED}"))
        .exits(0)
        .prints("PASS")
        .prints("Passive copies")
        .prints("Copies removed from copies");
    for line in [
        "seeding of passive copies: 48 MiB to read and copy",
        "seeding passive copies: ",
        "comparing passive copies",
    ] {
        assert!(run.stderr.contains(line), "{line}: {}", run.stderr);
    }
    assert_eq!((entries(&target), entries(&copies)), (0, 0));
    let document = result(&here, "out");
    let database = &document["replication"]["databases"][0];
    assert_eq!(database["different_pages"], 0);
    assert_eq!(database["same_log_position"], true);
    assert!(
        database["compared_pages"].as_u64() > Some(1_000),
        "{database}"
    );
    assert!(
        database["shipped_log_files"].as_u64() > Some(0),
        "{database}"
    );
    let totals = &document["totals"];
    for stream in ["log_reads", "copy_log_writes", "copy_log_reads"] {
        assert!(
            totals[stream]["count"].as_u64() > Some(0),
            "{stream}: {totals}"
        );
    }
    here.proofload("verify out")
        .exits(0)
        .prints("the verdict `pass`");
    let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
    assert!(page.contains("Passive copies") && page.contains("log writes of copies"));
}

#[test]
fn a_passive_copy_that_is_kept_is_a_database() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("copies");
    // Long enough for the database to register more pages than the copy has to write.
    let line =
        format!("{SMALL} {WIDE} {FOLLOWED} --keep").replace("--duration 2s", "--duration 5s");
    here.proofload(&line)
        .exits(0)
        .prints("Copies kept in copies");
    let again = SMALL.replace("--on target --out out", "--on copies --out again --reuse");
    here.proofload(&format!("{again} {WIDE} --allow-cached"))
        .exits(0)
        .prints("PASS");
}

/// Whether a second full log file was shipped to the copy.
fn has_shipped(here: &Scratch) -> bool {
    let files = fs::read_dir(here.path("copies/log-001"));
    let files = files.into_iter().flatten().flatten();
    files
        .filter(|file| file.file_name().to_string_lossy().ends_with(".log"))
        .count()
        > 1
}

#[test]
fn a_passive_copy_whose_database_is_gone_is_activated() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("copies");
    let line =
        format!("{SMALL} {WIDE} {FOLLOWED} --keep").replace("--duration 2s", "--duration 1m");
    let mut running = Running::start(&here, &line);
    while running.is_alive() && !has_shipped(&here) {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running.signal("KILL");
    running.end();
    fs::remove_dir_all(here.path("target")).expect("the end of the storage");
    let again = SMALL.replace("--on target --out out", "--on copies --out again --reuse");
    let again = format!("{again} {WIDE} --allow-cached");
    here.proofload("edb recover copies/mail-001/mail-001.edb")
        .exits(3)
        .says("--reuse --on DIRECTORY' activates it");
    here.proofload(&format!("{again} --dry-run"))
        .exits(0)
        .prints("a passive copy, will be activated with the log that was shipped");
    here.proofload(&again)
        .exits(0)
        .says("is a passive copy whose replication was interrupted; it was activated");
    let document = result(&here, "again");
    let note = document["notes"][0].as_str().expect("a note");
    assert!(note.contains("What was committed in later log files is lost"));
    assert_eq!(document["verification"]["databases"][0]["errors"], 0);
    assert_eq!(document["verdict"], "pass");
}

#[test]
fn a_stress_test_is_long_and_lenient() {
    let here = Scratch::new();
    here.directory("target");
    let small = SMALL.replace("--duration 2s", "");
    here.proofload(&format!("{small} --test stress --dry-run"))
        .exits(0)
        .prints("measured phase: 24 h");
    here.proofload(&format!("{SMALL} {WIDE} --allow-cached --test stress"))
        .exits(0);
    let document = result(&here, "out");
    assert_eq!(document["tests"][0], "stress");
    let checks = document["checks"].as_array().expect("checks");
    let lenient = |check: &&serde_json::Value| {
        let rule = check["rule"].as_str();
        rule.is_some_and(|rule| rule.contains("the lenient limit"))
    };
    assert_eq!(checks.iter().filter(lenient).count(), 2);
}

#[test]
fn what_does_not_go_together_is_refused_before_anything_is_written() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.directory("target/inside");
    here.directory("full");
    here.directory("one");
    here.directory("two");
    here.file("full/file", "");
    for (options, words) in [
        ("--backup-to full", "this run makes none"),
        ("--test backup --backup-to target/inside", "inside"),
        ("--test backup --backup-to full", "full"),
        ("--test backup --backup-to missing", "missing"),
        ("--test backup --backup-to target", "target"),
        ("--test restore", "restore"),
        ("--copy-to target/inside", "inside"),
        ("--copy-to full", "full"),
        ("--copy-to target", "target"),
        ("--copy-to one,two", "not be tested"),
        ("--test recovery --copy-to missing", "follow a load"),
        (
            "--test all --backup-to missing --copy-to missing",
            "missing",
        ),
    ] {
        fs::remove_dir_all(here.path("target")).expect("ours");
        fs::create_dir_all(here.path("target/inside")).expect("a directory");
        if !options.contains("inside") {
            fs::remove_dir(here.path("target/inside")).expect("ours");
        }
        let run = here.proofload(&format!("{} {options}", small_without_load()));
        assert!(
            matches!(run.status, Some(2 | 3)),
            "{options}: {}",
            run.stderr
        );
        assert!(run.stderr.contains(words), "{options}: {}", run.stderr);
        assert!(entries(&target) <= 1 && !here.path("out").exists());
    }
    for (options, words) in [
        ("--duration 1m --test backup", "--test backup has none"),
        ("--duration 1m --test recovery", "--test recovery has none"),
        ("--threads 2 --test backup", "without any"),
        ("--rate 10 --test backup", "without any"),
        ("--rate-transactions 10 --test backup", "without any"),
    ] {
        here.proofload(&format!("{} {options}", small_without_load()))
            .exits(2)
            .says(words);
    }
    here.proofload("run brokerage --on target --database sqlite --test backup")
        .exits(2)
        .says("brokerage has none");
    here.proofload("run brokerage --on target --database sqlite --copy-to copies")
        .exits(2)
        .says("brokerage has none");
}
