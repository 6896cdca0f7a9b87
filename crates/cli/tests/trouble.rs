//! Runs that meet trouble: they are killed, pages are damaged under them, the disk fills up. What
//! they say, how they end, and that their databases are of use afterwards.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::Command;

use common::{Ended, LoopMount, PAGE_BYTES, Running, SMALL, Scratch, WIDE, damage, long_run};

const DATABASE: &str = "target/mail-001/mail-001.edb";

#[test]
fn a_killed_run_is_recovered_and_goes_on() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &long_run("--keep"));
    running.wait_until_it_says("measuring 0:0");
    running.signal("KILL");
    drop(running.end());
    here.move_results("killed");
    here.proofload(&format!("edb check {DATABASE}"))
        .exits(3)
        .says("not closed properly")
        .says("--reuse");
    let size = |here: &Scratch| {
        let facts = fs::metadata(here.path(DATABASE));
        facts.expect("a database").len()
    };
    let left_bytes = size(&here);
    let ended = here.proofload(&format!("{SMALL} {WIDE} --reuse"));
    let ended = ended.exits(0).prints("PASS");
    let recoveries: Vec<&str> = ended
        .stderr
        .lines()
        .filter(|line| line.contains("had not been closed properly; it was recovered"))
        .collect();
    assert_eq!(recoveries.len(), 1, "{}", ended.stderr);
    assert!(recoveries[0].contains("mail-001.edb") && recoveries[0].contains("log records redone"));
    // A database that had been rebuilt would have lost what the killed run added.
    assert!(size(&here) >= left_bytes);
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
    here.move_results("recovered");
    let again = here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
    assert!(!again.stderr.contains("recovered"), "{}", again.stderr);
}

#[test]
fn a_damaged_header_is_reported_and_repaired() {
    let here = Scratch::new();
    here.directory("target");
    let build = format!("{SMALL} {WIDE}").replace("run ", "run --build-only ");
    here.proofload(&build).exits(0);
    here.move_results("built");
    let file = fs::OpenOptions::new().write(true).open(here.path(DATABASE));
    let damaged = file.expect("a database").write_all_at(&[0xa5; 8], 100);
    damaged.expect("bytes in the first header");
    here.proofload(&format!("edb check {DATABASE}")).exits(4);
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(4)
        .says("the first header is damaged: the checksum of the database header is wrong");
    let error = &here.result()["errors"][0];
    assert_eq!(
        (error["class"].as_str(), error["ese_error"].as_i64()),
        (Some("header"), Some(-1206))
    );
    here.proofload(&format!("edb check {DATABASE}")).exits(0);
}

#[test]
fn a_kept_database_that_is_gone_is_missed_before_anything_happens() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --build-only"))
        .exits(0);
    here.move_results("built");
    fs::remove_file(here.path(DATABASE)).expect("the database gone");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(3)
        .says("mail-001.edb is missing")
        .says("rebuilt");
    assert!(!here.path("out").exists(), "a refusal writes nothing");
    fs::remove_file(target.join("mail-001").join("mail.state")).expect("a state file");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(0)
        .says("building")
        .prints("PASS");
}

#[test]
fn a_database_without_a_good_header_is_named_once() {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --build-only"))
        .exits(0);
    here.move_results("built");
    let file = fs::File::options().write(true).open(here.path(DATABASE));
    let file = file.expect("a database");
    file.write_all_at(&[7; 2 * PAGE_BYTES as usize], 0)
        .expect("headers overwritten");
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(4);
    let error = &here.result()["errors"][0];
    assert_eq!(error["kind"], "integrity");
    let named = error["error"].as_str().unwrap_or_default();
    assert!(named.contains("cannot be opened"), "{error}");
    assert!(!named.contains("mail-001.edb"), "{error}");
    let file = error["file"].as_str().unwrap_or_default();
    assert!(file.ends_with(DATABASE), "{error}");
}

#[test]
fn a_damaged_page_ends_in_a_report_that_names_it() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &long_run("--set run.stop_after_errors=0"));
    running.wait_until_it_says("measuring 0:0");
    // In every third page, from page slot 20 on.
    let database = here.path(DATABASE);
    let size = fs::metadata(&database).expect("its size").len();
    damage(&database, (20..size / PAGE_BYTES).step_by(3));
    let ended = running.end().exits(4).prints("mail-001.edb");
    let ended = ended.says("The load was ended after");
    let ended = ended.prints("Databases kept in target");
    let error = &here.result()["errors"][0];
    let page = error["page"].as_u64().expect("the number of a page");
    assert!(
        error["file"]
            .as_str()
            .unwrap_or_default()
            .ends_with(DATABASE),
        "{error}"
    );
    let what = error["error"].as_str().unwrap_or_default();
    assert!(what.contains("damaged"), "{error}");
    assert_eq!(error["kind"], "integrity");
    // Page 1 lies in slot 2, behind the two headers.
    assert_eq!((page + 1 - 20) % 3, 0, "page {page} was not damaged");
    let shown = fs::read_to_string(here.path("out").join("report.html")).expect("a report");
    let with_commas = |number: u64| match number {
        1000.. => format!("{},{:03}", number / 1000, number % 1000),
        _ => number.to_string(),
    };
    for text in [with_commas(page).as_str(), "mail-001.edb", what] {
        let escaped = text.replace('&', "&amp;").replace('<', "&lt;");
        assert!(shown.contains(&escaped), "'{text}' is not in the report");
        assert!(
            text == what || ended.stdout.contains(text),
            "{}",
            ended.stdout
        );
    }
    assert!(
        here.path(DATABASE).exists(),
        "what is damaged stays for inspection"
    );
}

#[test]
fn a_full_disk_ends_in_a_report_and_the_databases_open_afterwards() {
    let here = Scratch::new();
    let target = here.directory("target");
    let Some(_mount) = LoopMount::new(&here.path("image"), 400 << 20, &target) else {
        test_support::skip("no file system on a loop device can be mounted (needs root)");
        return;
    };
    // Two runs: one ends when the database cannot grow, one when the log cannot.
    for (name, more) in [
        ("database", ""),
        ("log", "--set engine.circular_logging=false"),
    ] {
        let reuse = if name == "log" { "--reuse" } else { "" };
        let mut running = Running::start(&here, &long_run(&format!("{reuse} {more}")));
        running.wait_until_it_says("measuring 0:0");
        let filler = target.join("lost+found").join("filler");
        fill(&filler);
        let ended = running.end().exits(4);
        let error = &here.result()["errors"][0];
        let file = error["file"].as_str().unwrap_or_default().to_owned();
        assert!(file.contains("/target/"), "{error}");
        let what = error["error"].as_str().unwrap_or_default();
        assert!(what.contains("space"), "{error}");
        assert!(!what.contains("byte"), "{error}");
        assert_eq!(error["kind"], "out-of-space");
        let ended = ended.prints("ran out of space").prints("Free space");
        for wrong in ["cannot be trusted", "edb check E00"] {
            assert!(!ended.stdout.contains(wrong), "{}", ended.stdout);
        }
        assert!(ended.stdout.contains(&file), "{}", ended.stdout);
        here.move_results(&format!("full-{name}"));
        fs::remove_file(&filler).expect("space again");
        here.proofload(&format!("{SMALL} {WIDE} --reuse"))
            .exits(0)
            .prints("PASS");
        here.move_results(&format!("after-{name}"));
        here.proofload(&format!("edb check {DATABASE}"))
            .exits(0)
            .prints("sound");
    }
}

/// Takes all the space of a file system.
fn fill(path: &Path) {
    let file = fs::File::create(path).expect("a file");
    let mut at = 0;
    for length in [1 << 20, 4096] {
        let block = vec![7; length];
        while file.write_all_at(&block, at).is_ok() && file.sync_data().is_ok() {
            at += length as u64;
        }
    }
}

#[test]
fn a_run_that_finds_no_room_for_results_leaves_nothing_of_them() {
    let here = Scratch::new();
    let target = here.directory("target");
    let full = here.directory("full");
    let Some(_mount) = LoopMount::new(&here.path("image"), 8 << 20, &full) else {
        test_support::skip("no file system can be mounted (needs root)");
        return;
    };
    let out = full.join("out");
    fs::create_dir(&out).expect("an empty directory");
    fill(&full.join("filler"));
    let line = format!("{SMALL} {WIDE}").replace("--out out", "--out full/out");
    for _ in 0..2 {
        here.proofload(&line)
            .exits(3)
            .says("No space left on device");
        assert_eq!(fs::read_dir(&out).expect("the directory").count(), 0);
    }
    assert_eq!(fs::read_dir(target).expect("the target").count(), 0);
    fs::remove_file(full.join("filler")).expect("space again");
    here.proofload(&line).exits(0);
}

#[test]
fn results_without_room_go_on_elsewhere_and_the_verdict_stays() {
    let here = Scratch::new();
    here.directory("target");
    let (full, spare) = (here.directory("full"), here.directory("spare"));
    let Some(_mount) = LoopMount::new(&here.path("image"), 8 << 20, &full) else {
        test_support::skip("no file system can be mounted (needs root)");
        return;
    };
    let line = format!("{SMALL} {WIDE}").replace("--out out", "--out full/out");
    let line = line.replace("--duration 2s", "--duration 6s");
    let mut command = common::proofload(&here.path(""));
    command.env("TMPDIR", &spare);
    let mut running = Running::start_with(command, &line);
    running.wait_until_it_says("measuring 0:0");
    fill(&full.join("filler"));
    let ended = running.end().exits(0).prints("PASS");
    let ended = ended
        .says("No space left on device")
        .says("A copy goes on in");
    let report = ended
        .stdout
        .lines()
        .find_map(|line| line.strip_prefix("Report: "));
    let copy = Path::new(report.expect("a report"))
        .parent()
        .expect("a copy");
    assert!(copy.starts_with(&spare), "{}", copy.display());
    let text = fs::read(copy.join("result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("one document");
    assert_eq!(result["complete"], true);
    // Every sample is there once, those before the copy too.
    let samples = fs::read_to_string(copy.join("samples.csv")).expect("samples");
    let totals = samples.lines().filter(|line| line.contains(",total,"));
    let numbers: Vec<u64> = totals
        .map(|line| {
            line.split(',')
                .next()
                .and_then(|n| n.parse().ok())
                .expect("a number")
        })
        .collect();
    let expected: Vec<u64> = (numbers[0]..).take(numbers.len()).collect();
    assert!(numbers.len() > 5 && numbers == expected, "{numbers:?}");
    here.proofload(&format!("report {}", copy.display()))
        .exits(0);
}

#[test]
fn results_that_vanish_in_a_run_are_missed_at_once() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE}").replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    fs::remove_file(here.path("out/samples.csv")).expect("samples to remove");
    running
        .end()
        .exits(0)
        .prints("PASS")
        .says("out/samples.csv was removed while the run lasted")
        .says("The results there are incomplete.");
    // What is there says the same.
    let result = here.result();
    assert_eq!(
        (&result["complete"], &result["verdict"]),
        (&true.into(), &"pass".into())
    );
    here.proofload("verify out").exits(5);
}

#[test]
fn a_report_does_not_go_where_the_directory_of_the_results_was() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE}").replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    here.move_results("moved");
    let other = here.directory("out");
    running
        .end()
        .exits(0)
        .prints("PASS")
        .says("out was moved or replaced while the run lasted.");
    assert_eq!(fs::read_dir(other).expect("the other directory").count(), 0);
    here.proofload("verify moved").exits(0);
}

#[test]
fn databases_that_were_moved_in_a_run_are_not_said_to_be_in_their_places() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE} --keep").replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    fs::rename(here.path("target/mail-001"), here.path("moved")).expect("the directory moved");
    fs::create_dir(here.path("target/mail-001")).expect("another in its place");
    running
        .end()
        .exits(0)
        .prints("target/mail-001 was moved or replaced while it lasted");
}

#[test]
fn a_target_that_another_program_removes_is_no_failure_of_the_storage() {
    let here = Scratch::new();
    let target = here.directory("target");
    let mut running = Running::start(&here, &long_run("--keep"));
    running.wait_until_it_says("measuring 0:0");
    // In one step, so that nothing is used of which a part is still there.
    fs::rename(&target, here.path("away")).expect("a directory moved");
    fs::remove_dir_all(here.path("away")).expect("a directory removed");
    running
        .end()
        .exits(5)
        .prints("its directory was removed by another program")
        .prints("INCONCLUSIVE");
    assert_eq!(here.result()["errors"][0]["kind"], "removed");
    here.proofload("verify out").exits(0);
}

/// Runs a line with a limit of the process.
fn limited(here: &Scratch, limit: &str, line: &str) -> Ended {
    let mut shell = Command::new("bash");
    shell.current_dir(here.path("")).env("NO_COLOR", "1");
    let script = format!("ulimit {limit}; exec \"$0\" \"$@\"");
    shell.args(["-c", &script, env!("CARGO_BIN_EXE_proofload")]);
    Ended::of(shell.args(line.split_whitespace()))
}

/// How many files are open before the program opens one differs between machines, so several limits are tried: what
/// a run could do with each of them is its own, but none is a failure of the storage.
#[test]
fn a_limit_on_open_files_is_no_failure_of_the_storage() {
    let here = Scratch::new();
    let mut refused = 0;
    for files in [8, 11, 14, 17, 20, 24, 28, 32] {
        here.directory("target");
        let ended = limited(&here, &format!("-n {files}"), &format!("{SMALL} {WIDE}"));
        let (status, text) = (ended.status, format!("{}{}", ended.stdout, ended.stderr));
        assert!(
            matches!(status, Some(0 | 3 | 5)) && !text.contains("FAIL ("),
            "with {files} files: {status:?}: {text}"
        );
        refused += u32::from(status != Some(0));
        for name in ["target", "out"] {
            drop(fs::remove_dir_all(here.path(name)));
        }
    }
    assert!(refused > 0, "no limit was reached");
}

#[test]
fn a_limit_on_the_size_of_files_is_no_failure_of_the_storage() {
    let here = Scratch::new();
    here.directory("target");
    // In KiB: less than the database is to have.
    limited(&here, "-f 16384", &format!("{SMALL} {WIDE}"))
        .exits(5)
        .prints("INCONCLUSIVE")
        .prints("ulimit -f");
    assert_eq!(here.result()["errors"][0]["kind"], "process-limit");
}

#[test]
fn samples_that_are_cut_short_in_a_run_are_missed() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE}").replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    let samples = fs::File::options()
        .write(true)
        .open(here.path("out/samples.csv"));
    let cut = samples.expect("samples").set_len(100);
    cut.expect("cut short");
    running
        .end()
        .exits(0)
        .says("out/samples.csv was cut short or changed while the run lasted")
        .says("The results there are incomplete.");
    assert_eq!(here.result()["complete"], true);
}

#[test]
fn a_run_whose_database_cannot_be_verified_does_not_pass() {
    let here = Scratch::new();
    here.directory("target");
    let more = "--set service_levels.allowed_errors=10";
    let line = format!("{SMALL} {WIDE} {more}").replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("measuring 0:0");
    fs::remove_file(here.path(DATABASE)).expect("the database to remove");
    running
        .end()
        .exits(5)
        .prints("mail-001 could not be verified after the run");
    let result = here.result();
    let reason = result["verification"]["not_verified"].as_str();
    assert_eq!(
        reason,
        Some("mail-001 could not be verified after the run.")
    );
}
