//! Copies that are put in the places of databases before a run, through the binary, on real files.

mod common;

use std::fs;
use std::io::Write;
use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{
    LoopMount, PAGE_BYTES, Running, SMALL, Scratch, WIDE, copy, damage, open_direct,
    small_without_load,
};
use runtime::Buffer;

const DATABASE: &str = "mail-001/mail-001.edb";

fn load() -> String {
    format!("{SMALL} {WIDE} --allow-cached")
}

/// A target whose databases were changed by a load, and copies from before.
fn with_copies() -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    here.directory("copies");
    let backup = small_without_load().replace("--out out", "--out backup");
    here.proofload(&format!("{backup} --test backup --backup-to copies --keep"))
        .exits(0)
        .prints("Copies kept in copies");
    let dirty = load().replace("--out out", "--out dirty");
    here.proofload(&format!("{dirty} --reuse")).exits(0);
    here
}

fn result(here: &Scratch, out: &str) -> serde_json::Value {
    let text = fs::read(here.path(out).join("result.json")).expect("a file");
    serde_json::from_slice(&text).expect("one document")
}

fn first_error(here: &Scratch) -> String {
    let error = result(here, "out")["errors"][0]["error"].clone();
    error.as_str().unwrap_or_default().to_owned()
}

fn has_state(target: &Path, word: &str) -> bool {
    let state = fs::read(target.join("mail-001/mail.state")).expect("a state file");
    let mut parts = state.windows(word.len());
    parts.any(|part| part == word.as_bytes())
}

fn forget(here: &Scratch, out: &str) {
    fs::remove_dir_all(here.path(out)).expect("results to remove");
}

#[test]
fn every_run_begins_with_the_databases_of_the_copies() {
    let here = with_copies();
    let line = format!("{} --restore copies", load());
    here.proofload(&format!("{line} --dry-run"))
        .exits(0)
        .prints("restore: ");
    assert!(!here.path("out").exists());
    let before = fs::read(here.path("copies").join(DATABASE)).expect("a copy");
    for _ in 0..2 {
        here.proofload(&line)
            .exits(0)
            .says("1 database restored from copies: ")
            .prints("Databases kept in target")
            .prints("PASS");
        let document = result(&here, "out");
        let restore = &document["restore"];
        assert_eq!(restore["from"], "copies");
        let bytes = restore["databases"][0]["bytes"].as_u64();
        let size = before.len() as u64 - 2 * PAGE_BYTES;
        assert_eq!(bytes, Some(size), "{restore}");
        assert!(restore["duration_s"].as_f64() > Some(0.0));
        assert_eq!(document["phases"][0]["name"], "restore");
        assert_eq!(document["verification"]["databases"][0]["errors"], 0);
        let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
        assert!(page.contains("1 database restored from copies"));
        here.proofload("verify out").exits(0);
        forget(&here, "out");
    }
    let after = fs::read(here.path("copies").join(DATABASE)).expect("a copy");
    assert!(before == after, "the copies are not changed");
    here.proofload("edb check target/mail-001/mail-001.edb")
        .exits(0);
}

#[test]
fn databases_that_were_never_checked_as_copies_are_said_to_be_so() {
    let here = with_copies();
    here.directory("kept");
    let kept = load().replace("--on target --out out", "--on kept --out kept-out");
    here.proofload(&format!("{kept} --keep")).exits(0);
    let words = "never checked as a copy of a backup is";
    here.proofload(&format!("{} --restore kept", load()))
        .exits(0)
        .says(words)
        .prints("its pages are verified while they are restored");
    let warnings = result(&here, "out")["warnings"].to_string();
    assert!(warnings.contains(words), "{warnings}");
    forget(&here, "out");
    let ended = here
        .proofload(&format!("{} --restore copies", load()))
        .exits(0);
    assert!(!ended.stderr.contains(words), "{}", ended.stderr);
}

#[test]
fn a_restored_database_is_the_copy_byte_for_byte() {
    let here = with_copies();
    // The load never begins: only the restore changes the target.
    let line = format!("{} --restore copies --set run.warm_up.minimum=10m", load());
    let line = line.replace("warm_up.maximum=1s", "warm_up.maximum=20m");
    let read = |place: &str| fs::read(here.path(place).join(DATABASE)).expect("a database");
    assert!(read("target") != read("copies"), "the load changed nothing");
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("1 database restored from copies");
    running.signal("KILL");
    drop(running.end());
    // Opening it writes the header; the pages follow later.
    let (target, copied) = (read("target"), read("copies"));
    let same = target
        .chunks(PAGE_BYTES as usize)
        .zip(copied.chunks(PAGE_BYTES as usize));
    let different = same.filter(|(one, other)| one != other).count();
    assert!(
        target.len() >= copied.len() && different <= 64,
        "{different}"
    );
}

#[test]
fn copies_that_are_not_complete_are_refused_and_nothing_is_changed() {
    let here = with_copies();
    let target = here.path("target").join(DATABASE);
    let before = fs::read(&target).expect("a database");
    let line = format!("{} --restore copies", load());
    let refused = |line: &str, status: i32, words: &str| {
        here.proofload(line).exits(status).says(words);
        assert!(
            !here.path("out").exists(),
            "a refusal writes nothing: {words}"
        );
        assert!(
            fs::read(&target).is_ok_and(|after| after == before),
            "{words}"
        );
    };
    copy(&here.path("copies"), &here.path("good"));
    let again = || copy(&here.path("good"), &here.path("copies"));
    // A file of it is missing.
    fs::remove_file(here.path("copies/mail-001/mail-001.edb.versions")).expect("a file");
    refused(&line, 3, "its page versions are missing");
    again();
    fs::remove_file(here.path("copies/mail-001/mail.state")).expect("a file");
    refused(&line, 3, "the copy is incomplete");
    again();
    fs::remove_file(here.path("copies").join(DATABASE)).expect("a file");
    refused(&line, 3, "mail-001.edb");
    again();
    // A header is damaged.
    let file = fs::OpenOptions::new()
        .write(true)
        .open(here.path("copies").join(DATABASE));
    file.expect("a copy")
        .write_all_at(&[0xa5; 8], 100)
        .expect("bytes");
    refused(&line, 3, "header");
    again();
    // It is no directory of copies, or one of the databases themselves.
    here.directory("empty");
    refused(
        &line.replace("copies", "empty"),
        2,
        "finds no copies of Proofload",
    );
    refused(&line.replace("copies", "target"), 2, "names the target");
    // Copies of other databases.
    let other = small_without_load().replace("--on target --out out", "--on third --out third-out");
    here.directory("third");
    here.directory("others");
    here.proofload(&format!(
        "{other} --seed 77 --test backup --backup-to others --keep"
    ))
    .exits(0);
    refused(&line.replace("copies", "others"), 2, "built with seed 77");
    let brokerage = "run brokerage --on target --database sqlite --restore copies";
    refused(brokerage, 2, "brokerage has none");
    // Targets that are not ours.
    here.directory("foreign");
    here.file("foreign/file", "of somebody else");
    let foreign = line.replace("--on target", "--on foreign");
    refused(&foreign, 2, "find no databases of Proofload");
    assert!(here.path("foreign/file").exists());
}

#[test]
fn a_damaged_copy_ends_the_restore_and_another_one_repairs_it() {
    let here = with_copies();
    copy(&here.path("copies"), &here.path("good"));
    damage(&here.path("copies").join(DATABASE), std::iter::once(700));
    let line = format!("{} --restore copies", load());
    here.proofload(&line)
        .exits(4)
        .prints("restore them again with --restore");
    assert!(first_error(&here).contains("page 699 is damaged"));
    let target = here.path("target");
    assert!(has_state(&target, "copying"));
    forget(&here, "out");
    here.proofload(&format!("{} --reuse", load()))
        .exits(3)
        .says("is incomplete")
        .says("--restore DIR");
    here.proofload(&line.replace("--restore copies", "--restore good"))
        .exits(0)
        .prints("PASS");
    assert!(!has_state(&target, "copying"));
}

#[test]
fn a_page_in_the_place_of_another_one_is_found() {
    let here = with_copies();
    let database = here.path("copies").join(DATABASE);
    let file = open_direct(&database);
    let mut page = Buffer::zeroed(PAGE_BYTES as usize);
    file.read_exact_at(&mut page, 700 * PAGE_BYTES)
        .expect("a page");
    file.write_all_at(&page, 701 * PAGE_BYTES).expect("a page");
    here.proofload(&format!("{} --restore copies", load()))
        .exits(4);
    assert!(first_error(&here).contains("page 700 is damaged"));
}

#[test]
fn a_restore_that_was_interrupted_is_done_again() {
    for signal in ["KILL", "INT"] {
        let here = with_copies();
        let target = here.path("target");
        let line = format!("{} --restore copies", load());
        let mut attempts = 0..20;
        let interrupted = attempts.any(|_| {
            let mut running = Running::start(&here, &line);
            while running.is_alive() && !has_state(&target, "copying") {
                std::thread::yield_now();
            }
            running.signal(signal);
            let ended = running.end();
            let is_interrupted = has_state(&target, "copying");
            if is_interrupted && signal == "INT" {
                ended.exits(130).prints("restore them again with --restore");
            }
            forget(&here, "out");
            is_interrupted
        });
        assert!(
            interrupted,
            "every restore ended before it could be interrupted"
        );
        here.proofload(&format!("{} --reuse", load()))
            .exits(3)
            .says("is incomplete");
        here.proofload(&line).exits(0).prints("PASS");
    }
}

#[test]
fn a_restore_without_room_says_so_and_can_be_repeated() {
    let here = Scratch::new();
    let (target, copies) = (here.directory("target"), here.directory("copies"));
    let Some(mount) = LoopMount::new(&here.path("image"), 400 << 20, &target) else {
        return test_support::skip("no file system on a loop device can be mounted (needs root)");
    };
    fs::create_dir(target.join("here")).expect("a directory");
    let line = load().replace("--on target", "--on target/here");
    let line = format!("{line} --set engine.log_file_size=256KiB");
    let backup = line.replace("--out out", "--out backup");
    let backup = backup.replace("--threads 2 --duration 2s", "");
    here.proofload(&format!("{backup} --test backup --backup-to copies --keep"))
        .exits(0);
    assert!(copies.join(DATABASE).exists());
    // Somebody fills the file system while the restore runs.
    let line = format!("{line} --restore copies");
    let state = || has_state(&target.join("here"), "copying");
    let mut attempts = 0..20;
    let failed = attempts.any(|_| {
        let mut running = Running::start(&here, &line);
        while running.is_alive() && !state() {
            std::thread::yield_now();
        }
        let filler = target.join("filler");
        let file = fs::File::create(&filler).expect("a file");
        while (&file).write_all(&[1; 1 << 20]).is_ok() {}
        let ended = running.end();
        drop(file);
        fs::remove_file(&filler).expect("the filler");
        let is_incomplete = state();
        if is_incomplete {
            let ended = ended.prints("restore them again with --restore");
            assert!(matches!(ended.status, Some(3 | 4)), "{}", ended.stdout);
        }
        forget(&here, "out");
        is_incomplete
    });
    assert!(failed, "the file system was never full in time");
    here.proofload(&line).exits(0).prints("PASS");
    drop(mount);
}
