//! A run with a witness on another machine, a power cut, and the audit: what is lost is named, what is
//! there is not, and what cannot be judged is said so.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::PathBuf;

use common::brokerage::{brokerage, end_server};
use common::witness::{Witness, audit, killed_run};
use common::{Ended, Running, SMALL, Scratch, WIDE, copy, proofload};

const SEGMENT: u64 = 4096;
const PAGE: u64 = 32_768;

fn mail(more: &str) -> String {
    format!("{SMALL} {WIDE} {more}")
}

fn long(line: &str) -> String {
    line.replace("--duration 2s", "--duration 10m")
}

fn log_of(here: &Scratch) -> PathBuf {
    here.path("target/log-001/E00.log")
}

#[test]
fn nothing_is_lost_when_a_mail_run_is_killed() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    for circular in [true, false] {
        let more = format!(
            "--set engine.circular_logging={circular} {}",
            witness.options()
        );
        killed_run(&here, &long(&mail(&more)), 30_000);
        let ended = audit(&here, &witness, "out").exits(0).prints("0 of ");
        assert!(
            ended.stdout.contains("acknowledged transactions lost"),
            "{}",
            ended.stdout
        );
        let judged_by_log = !ended.stdout.contains("by the checkpoint");
        assert!(circular || judged_by_log, "{}", ended.stdout);
        // The audit has recovered the databases, so the state at the power cut is gone.
        audit(&here, &witness, "out")
            .exits(5)
            .prints("it was opened again after the run");
        for name in ["target", "out"] {
            fs::remove_dir_all(here.path(name)).expect("what the run left");
        }
        here.directory("target");
    }
}

#[test]
fn a_log_that_lost_its_end_loses_the_transactions_in_it() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    // One log file for the whole run.
    let more = format!(
        "--set engine.log_file_size=32MiB --set engine.checkpoint_depth=64MiB {}",
        witness.options()
    );
    killed_run(&here, &long(&mail(&more)), 8_000);
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(log_of(&here));
    let file = file.expect("a log");
    let size = file.metadata().expect("its size").len();
    let mut bytes = vec![0; size as usize];
    file.read_exact_at(&mut bytes, 0).expect("the log");
    let is_used = |segment: &[u8]| segment.iter().any(|byte| *byte != 0);
    let mut segments = bytes.chunks(SEGMENT as usize).enumerate();
    let last = segments.rfind(|(_, one)| is_used(one));
    let (last, _) = last.expect("a segment");
    let from = last as u64 / 2 * SEGMENT;
    let zeros = vec![0; (size - from) as usize];
    file.write_all_at(&zeros, from).expect("zeros at the end");
    let ended = audit(&here, &witness, "out").exits(4);
    let text = &ended.stdout;
    assert!(
        text.contains("mail-001.edb: the commit at log byte") && !text.starts_with("0 of"),
        "{text}"
    );
    let json = format!("audit out --json {}", witness.options());
    let document = here.proofload(&json).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["schema"], "proofload/audit/1");
}

#[test]
fn an_older_copy_loses_what_came_after_it() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let build = mail("").replace("run ", "run --build-only ");
    here.proofload(&build).exits(0);
    copy(&here.path("target"), &here.path("older"));
    fs::remove_dir_all(here.path("out")).expect("the results of the build");
    let more = format!("--reuse {}", witness.options());
    killed_run(&here, &long(&mail(&more)), 20_000);
    fs::remove_dir_all(here.path("target")).expect("the target");
    copy(&here.path("older"), &here.path("target"));
    let ended = audit(&here, &witness, "out").exits(4);
    let text = ended.prints("a state from before the run opened it").stdout;
    let numbers: Vec<&str> = text.split(' ').take(3).collect();
    assert_eq!(numbers[0], numbers[2], "all are lost: {text}");
}

#[test]
fn a_run_that_ended_is_audited_too_and_says_what_the_witness_has() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let line = mail(&format!("--keep {}", witness.options()));
    here.proofload(&line).exits(0);
    let page = fs::read_to_string(here.path("out/report.html")).expect("a report");
    assert!(page.contains("all that the databases acknowledged as durable"));
    let text = fs::read(here.path("out/result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("a document");
    let sent = result["witness"]["acknowledged"]
        .as_u64()
        .expect("a number");
    assert!(sent > 0 && result["witness"]["missed"] == 0, "{result}");
    let ended = audit(&here, &witness, "out").exits(0);
    let text = ended.stdout.replace(',', "");
    assert!(
        text.starts_with(&format!("0 of {sent} acknowledged transactions lost")),
        "{text}"
    );
    here.proofload("verify out").exits(0);
    here.proofload("certificate out").exits(0);
    // Another run on the same databases: the state that the first one left is gone.
    fs::rename(here.path("out"), here.path("first")).expect("the results aside");
    here.proofload(&mail("--reuse")).exits(0);
    audit(&here, &witness, "first")
        .exits(5)
        .prints("opened again after the run");
    audit(&here, &witness, "out")
        .exits(2)
        .says("had no witness");
}

#[test]
fn who_has_another_secret_or_another_witness_is_refused() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    here.file("other", "a secret of somebody else");
    here.file("short", "short");
    let address = &witness.address;
    let with = |secret: &str| mail(&format!("--witness {address} --secret-file {secret}"));
    here.proofload(&with("other"))
        .exits(3)
        .says("The witness has another secret");
    here.proofload(&with("short"))
        .exits(2)
        .says("16 are the fewest");
    here.proofload(&with("missing"))
        .exits(2)
        .says("cannot be read");
    here.proofload(&mail(&format!("--witness {address}")))
        .exits(2)
        .says("--secret-file");
    here.proofload(&mail("--witness 127.0.0.1:9 --secret-file secret"))
        .exits(3)
        .says("is not reached");
    assert!(!here.path("out").exists(), "nothing was begun");
    here.proofload(&mail(&format!("--keep {}", witness.options())))
        .exits(0);
    here.proofload(&format!(
        "audit out --witness {address} --secret-file other"
    ))
    .exits(3)
    .says("another secret");
    // A witness that has never heard of the run.
    drop(witness);
    fs::rename(here.path("kept"), here.path("gone")).expect("the records aside");
    let other = Witness::start(&here);
    audit(&here, &other, "out")
        .exits(2)
        .says("The witness has no records of run");
}

#[test]
fn a_run_goes_on_without_its_witness_and_says_so() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let line = mail(&format!("--keep {}", witness.options()));
    let mut running = Running::start(&here, &line.replace("--duration 2s", "--duration 6s"));
    running.wait_until_it_says("measuring 0:0");
    let address = witness.address.clone();
    drop(witness);
    running
        .end()
        .exits(0)
        .prints("an audit covers only what it has acknowledged");
    let text = fs::read(here.path("out/result.json")).expect("a result");
    let result: serde_json::Value = serde_json::from_slice(&text).expect("a document");
    assert!(
        result["witness"]["missed"].as_u64() > Some(0),
        "{}",
        result["witness"]
    );
    let again = Witness::listen(&here, &address);
    audit(&here, &again, "out").exits(0).prints("0 of ");
}

fn brokerage_is_audited(database: &str) {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let build = brokerage(database).replace("--keep", "--build-only");
    here.proofload(&build).exits(0);
    fs::remove_dir_all(here.path("out")).expect("the results of the build");
    copy(&here.path("target"), &here.path("older"));
    let line = format!("{} --reuse {}", brokerage(database), witness.options());
    let line = line.replace("--keep", "");
    killed_run(&here, &line, 5_000);
    end_server(&here);
    // An audit leaves the database as it is, so it can be made again.
    for _ in 0..2 {
        audit(&here, &witness, "out")
            .exits(0)
            .prints("0 of ")
            .prints("were compared with the rows of their trades");
    }
    copy(&here.path("target"), &here.path("killed"));
    fs::remove_dir_all(here.path("target")).expect("the target");
    copy(&here.path("older"), &here.path("target"));
    let ended = audit(&here, &witness, "out").exits(4);
    let text = ended.prints("a state from before the run").stdout;
    let numbers: Vec<&str> = text.split(' ').take(3).collect();
    assert_eq!(numbers[0], numbers[2], "all are lost: {text}");
    // Another run has gone on where the first one was killed.
    fs::remove_dir_all(here.path("target")).expect("the target");
    copy(&here.path("killed"), &here.path("target"));
    fs::rename(here.path("out"), here.path("first")).expect("the results aside");
    let next = brokerage(database).replace("--duration 10m", "--duration 1s");
    let next = next.replace("--keep", "--reuse");
    let ended = Ended::of(proofload(&here.path("")).args(next.split_whitespace()));
    assert!(matches!(ended.status, Some(0 | 1 | 5)), "{}", ended.stderr);
    audit(&here, &witness, "first")
        .exits(5)
        .prints("Another run has worked on the database");
}

#[test]
fn a_brokerage_on_sqlite_is_audited() {
    brokerage_is_audited("sqlite");
}

#[test]
fn a_brokerage_on_postgresql_is_audited() {
    match common::brokerage::has_postgresql() {
        true => brokerage_is_audited("auto"),
        false => test_support::skip("PostgreSQL is not installed"),
    }
}

/// The run's own result does not say how many records there must be: it was killed.
#[test]
fn records_of_a_killed_run_that_are_damaged_are_said_to_be() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    killed_run(&here, &long(&mail(&witness.options())), 8_000);
    let entries = fs::read_dir(here.path("kept")).expect("the records");
    let mut paths = entries.map(|entry| entry.expect("an entry").path());
    let path = paths.find(|path| path.extension().is_some_and(|end| end == "records"));
    let path = path.expect("the file of the run");
    let whole = fs::read(&path).expect("its records");
    copy(&here.path("target"), &here.path("killed"));
    for at in [whole.len() - 1, whole.len() / 2] {
        let mut harmed = whole.clone();
        harmed[at] ^= 1;
        fs::write(&path, harmed).expect("records");
        fs::remove_dir_all(here.path("target")).expect("the target");
        copy(&here.path("killed"), &here.path("target"));
        audit(&here, &witness, "out")
            .exits(5)
            .prints("more may have been acknowledged")
            .prints("cannot be read from record");
    }
    // Whole ones are judged as ever.
    fs::write(&path, &whole).expect("records");
    fs::remove_dir_all(here.path("target")).expect("the target");
    copy(&here.path("killed"), &here.path("target"));
    audit(&here, &witness, "out").exits(0).prints("0 of ");
}

/// What the checkpoint says is gone: nobody knows of the log files that were used again.
#[test]
fn without_its_checkpoint_a_log_that_was_used_again_accuses_nobody() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let more = format!("--set engine.circular_logging=true {}", witness.options());
    killed_run(&here, &long(&mail(&more)), 60_000);
    let ended = fs::remove_file(here.path("target/log-001/E00.chk"));
    ended.expect("a checkpoint file");
    // Where no log file was used again, all commits are in those that are left.
    let oldest = here.path("target/log-001/E0000000001.log");
    let is_used_again = !oldest.exists();
    let ended = audit(&here, &witness, "out");
    match is_used_again {
        true => ended
            .exits(5)
            .prints("it has no checkpoint file that can be read"),
        false => ended.exits(0),
    };
}

/// Pages of the mailboxes that the run has only read: the log has no changes of them.
#[test]
fn pages_that_are_damaged_far_from_the_log_are_found() {
    let here = Scratch::new();
    here.directory("target");
    let witness = Witness::start(&here);
    let more = format!("--keep {}", witness.options());
    here.proofload(&mail(&more)).exits(0);
    let file = fs::File::options()
        .write(true)
        .open(here.path("target/mail-001/mail-001.edb"))
        .expect("a database");
    let pages = file.metadata().expect("its size").len() / PAGE;
    for page in (pages / 4..pages / 4 * 3).step_by(16) {
        file.write_all_at(&[0; 64], page * PAGE + PAGE / 2)
            .expect("damage");
    }
    drop(file);
    audit(&here, &witness, "out")
        .exits(4)
        .prints("a check of every page and tree has");
}
