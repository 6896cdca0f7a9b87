//! A brokerage run that is killed, and the audit with the ledger that it has left: what is lost is named,
//! what is there is not, and what cannot be judged is said so.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::process::Command;
use std::time::{Duration, Instant};

use common::brokerage::{brokerage, has_postgresql, server};
use common::{Ended, Running, SMALL, Scratch, WIDE, copy, proofload};

/// Bytes of some hundred records.
const SOME: u64 = 6_000;

fn ledger_bytes(here: &Scratch) -> u64 {
    let about = fs::metadata(here.path("out/acknowledged.bin"));
    about.map_or(0, |about| about.len())
}

fn wait_for_records(here: &Scratch, running: &mut Running) {
    let (before, end) = (
        ledger_bytes(here),
        Instant::now() + Duration::from_secs(300),
    );
    while ledger_bytes(here) < before + SOME {
        assert!(Instant::now() < end, "nothing is acknowledged");
        assert!(running.is_alive(), "it has ended");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Sends a signal to the run and to all processes of its server.
fn signal_all(here: &Scratch, running: &mut Running, name: &str) {
    running.signal(name);
    let Some(server) = server(here) else {
        return;
    };
    let (server, signal) = (server.to_string(), format!("-{name}"));
    let send = |program: &str, arguments: &[&str]| {
        let sent = Command::new(program).args(arguments).status();
        assert!(sent.expect(program).success());
    };
    send("kill", &[&signal, &server]);
    // The sessions: the children of this process, whatever their name.
    send("pkill", &[&signal, "-P", &server]);
}

/// A run that was killed in the middle, with a copy of the target from some time before.
fn killed_run(database: &str) -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &brokerage(database));
    wait_for_records(&here, &mut running);
    signal_all(&here, &mut running, "STOP");
    copy(&here.path("target"), &here.path("older"));
    signal_all(&here, &mut running, "CONT");
    wait_for_records(&here, &mut running);
    running.signal("KILL");
    drop(running.end());
    here
}

fn put_back(here: &Scratch, name: &str) {
    fs::remove_dir_all(here.path("target")).expect("the target");
    copy(&here.path(name), &here.path("target"));
    // The copy says that a server runs on it, as after a power cut.
    let _ = fs::remove_file(here.path("target/brokerage/cluster/data/postmaster.pid"));
}

/// The lost transactions and all of them, as the answer says.
fn lost_of(ended: &Ended) -> (u64, u64) {
    let line = ended.stdout.lines().next().unwrap_or_default();
    let words: Vec<&str> = line.split(' ').collect();
    let number = |word: &str| word.replace(',', "").parse().expect("a number");
    assert!(line.ends_with("acknowledged transactions lost"), "{line}");
    (number(words[0]), number(words[2]))
}

fn a_killed_run_is_audited(database: &str) {
    let here = killed_run(database);
    // The server of the killed run may still be stopping: the audit waits for it.
    // An audit leaves the database as it is, so it can be made again.
    for _ in 0..2 {
        let ended = here.proofload("audit out").exits(0);
        let (lost, all) = lost_of(&ended);
        assert!(lost == 0 && all > 0, "{}", ended.stdout);
        ended
            .prints("were compared with the rows of their trades")
            .prints("out/acknowledged.bin on this machine");
    }
    copy(&here.path("target"), &here.path("killed"));
    put_back(&here, "older");
    let ended = here.proofload("audit out").exits(4);
    let (lost, all) = lost_of(&ended);
    assert!(0 < lost && lost < all, "{}", ended.stdout);
    let first = ended.stdout.lines().nth(1).expect("an example");
    assert!(first.contains("s after the start"), "{first}");
    let document = here.proofload("audit out --json").exits(4).stdout;
    let document: serde_json::Value = serde_json::from_str(&document).expect("a document");
    assert_eq!(document["lost"], lost);
    assert_eq!(document["acknowledged"], all);
    // Another run has gone on where the first one was killed.
    put_back(&here, "killed");
    fs::rename(here.path("out"), here.path("first")).expect("the results aside");
    let next = brokerage(database).replace("--duration 10m", "--duration 1s");
    let next = next.replace("--keep", "--reuse");
    let ended = Ended::of(proofload(&here.path("")).args(next.split_whitespace()));
    assert!(matches!(ended.status, Some(0 | 1 | 5)), "{}", ended.stderr);
    here.proofload("audit first")
        .exits(5)
        .prints("Another run has worked on the database");
    // The second one ended by itself, and is audited likewise.
    here.proofload("audit out").exits(0).prints("0 of ");
}

#[test]
fn a_killed_run_on_sqlite_is_audited_with_its_own_ledger() {
    a_killed_run_is_audited("sqlite");
}

#[test]
fn a_killed_run_on_postgresql_is_audited_with_its_own_ledger() {
    match has_postgresql() {
        true => a_killed_run_is_audited("auto"),
        false => test_support::skip("PostgreSQL is not installed"),
    }
}

/// The trade is there with its price and settlement, and the cash that it moved is not.
#[test]
fn a_row_that_belongs_to_an_acknowledged_result_is_missed_by_an_audit() {
    let here = killed_run("sqlite");
    here.proofload("audit out")
        .exits(0)
        .prints("found no contradiction");
    let file = here.path("target/brokerage/proofload_brokerage.sqlite");
    let connection = rusqlite::Connection::open(&file).expect("a database");
    let gone = connection.execute(
        "DELETE FROM cash_transaction WHERE trade_id = (SELECT MAX(trade_id) FROM cash_transaction)",
        [],
    );
    assert_eq!(gone.expect("a row removed"), 1);
    connection.close().expect("closed");
    here.proofload("audit out")
        .exits(4)
        .prints("At least 0 of ")
        .prints("The consistency check \"");
    // A database that cannot be read any more is damaged, too.
    let file = fs::File::options().write(true).open(file);
    let file = file.expect("the database");
    let length = file.metadata().expect("its length").len();
    let rest = vec![0xA5; (length - length / 4) as usize];
    file.write_all_at(&rest, length / 4).expect("damaged");
    here.proofload("audit out")
        .exits(4)
        .says("The database reports corruption or an I/O error");
}

#[test]
fn a_ledger_without_its_end_or_its_start_is_used_as_far_as_it_is_valid() {
    let here = killed_run("sqlite");
    let ledger = here.path("out/acknowledged.bin");
    let file = fs::File::options().write(true).open(&ledger);
    let file = file.expect("the ledger");
    let (_, all) = lost_of(&here.proofload("audit out").exits(0));
    file.set_len(ledger_bytes(&here) - 10)
        .expect("a shorter one");
    let ended = here.proofload("audit out").exits(0);
    let (lost, fewer) = lost_of(&ended);
    assert!(lost == 0 && 0 < fewer && fewer < all, "{}", ended.stdout);
    ended.prints("after its last valid block, which were not used");
    file.set_len(7).expect("a shorter one");
    here.proofload("audit out")
        .exits(5)
        .prints("INCONCLUSIVE: no acknowledged transaction of this run is known")
        .prints("acknowledged.bin");
    fs::remove_file(ledger).expect("the ledger");
    here.proofload("audit out")
        .exits(2)
        .says("There is no out/acknowledged.bin");
}

#[test]
fn a_mail_run_without_a_witness_has_no_ledger() {
    let here = Scratch::new();
    here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --keep")).exits(0);
    here.proofload("audit out")
        .exits(2)
        .says("only its witness knows what it acknowledged")
        .says("A run without one cannot be audited");
    here.proofload("audit out --witness localhost:1")
        .exits(2)
        .says("--secret-file");
}
