//! The files beside databases, which say what has become of them and where their log begins: they are lost, damaged,
//! and those of somebody else.

mod common;

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::Path;

use common::{Running, SMALL, Scratch, WIDE, long_run};

/// What the state file of the database says.
fn state(here: &Scratch) -> serde_json::Value {
    let text = fs::read_to_string(here.path("target/mail-001/mail.state")).expect("its state");
    let (json, _) = text.split_once('\0').expect("padding");
    serde_json::from_str(json).expect("a document")
}

#[test]
fn the_messages_of_a_database_without_its_state_are_counted() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --keep")).exits(0);
    here.move_results("first");
    let before = state(&here);
    assert_ne!(
        before["population"]["next_row"],
        before["population"]["built_rows"]
    );
    let path = target.join("mail-001").join("mail.state");
    fs::remove_file(&path).expect("its state");
    // What is counted shows in the state that recovery would begin with.
    let mut running = Running::start(&here, &long_run("--reuse"));
    running.wait_until_it_says("messages of the database were counted");
    running.wait_until_it_says("warming up");
    assert_eq!(state(&here)["population"], before["population"]);
    running.signal("INT");
    drop(running.end());
    here.move_results("counted");
    // One that is damaged at rest is reported, and one of somebody else is left.
    let mut text = fs::read(&path).expect("its state");
    // One digit of a number.
    let digit = text.windows(10).position(|part| part == b"next_row\":");
    let digit = &mut text[digit.expect("a number") + 10];
    *digit = if *digit == b'9' { b'8' } else { *digit + 1 };
    fs::write(&path, &text).expect("a damaged state");
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(4);
    assert_eq!(here.result()["errors"][0]["class"], "state-file");
    here.move_results("damaged");
    let precious = vec![b'x'; 4096];
    fs::write(&path, &precious).expect("a file");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(3)
        .says("mail.state, which says what has become of mail-001.edb, cannot be used")
        .says("move it away");
    assert!(!here.path("out").exists(), "a refusal writes nothing");
    assert!(fs::read(&path).is_ok_and(|left| left == precious));
    // That of another database is none of this one.
    let mut other = before;
    other["seed"] = 12_345.into();
    let mut text = other.to_string().into_bytes();
    text.resize(4096, 0);
    fs::write(&path, text).expect("another state");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(3)
        .says("mail.state belongs to another database");
    fs::remove_file(&path).expect("away");
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
    fs::remove_dir_all(target.join("mail-001")).expect("its directory");
    here.move_results("again");
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(2)
        .says("The directory mail-001 is missing");
}

#[test]
fn a_state_that_is_harmed_in_mid_run_is_reported_and_written_again() {
    let here = Scratch::new();
    let target = here.directory("target");
    let path = target.join("mail-001").join("mail.state");
    let line = |more: &str| format!("{SMALL} {WIDE} --set service_levels.allowed_errors=10 {more}");
    let harms: [fn(&Path); 4] = [
        |path| {
            let mut text = fs::read(path).expect("its state");
            text[20..60].fill(b'#');
            fs::write(path, &text).expect("a damaged state");
        },
        |path| fs::remove_file(path).expect("no state"),
        |path| fs::write(path, b"").expect("an empty file"),
        |path| fs::write(path, vec![b'x'; 4096]).expect("another file"),
    ];
    for (number, harm) in harms.into_iter().enumerate() {
        let how = if number == 0 { "--keep" } else { "--reuse" };
        let mut running = Running::start(&here, &line(how));
        running.wait_until_it_says("measuring 0:0");
        harm(&path);
        let ended = running.end().exits(0).prints("1 error of 10 allowed");
        assert_eq!(
            here.result()["errors"][0]["class"],
            "state-file",
            "{number}"
        );
        let is_left = number == harms.len() - 1;
        if is_left {
            ended
                .prints("mail.state cannot be used")
                .prints("move it away");
            fs::remove_file(&path).expect("away");
        } else {
            ended.prints("run on them again with --reuse");
        }
        here.move_results(&format!("out-{number}"));
    }
    here.proofload(&line("--reuse")).exits(0);
    assert!(
        here.result()["errors"]
            .as_array()
            .is_some_and(Vec::is_empty)
    );
}

#[test]
fn the_state_that_older_versions_wrote_is_understood() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --build-only"))
        .exits(0);
    here.move_results("built");
    let path = target.join("mail-001").join("mail.state");
    let text = fs::read_to_string(&path).expect("its state");
    let (json, _) = text.split_once('\0').expect("padding");
    let mut state: serde_json::Value = serde_json::from_str(json).expect("a document");
    let fields = state.as_object_mut().expect("fields");
    assert!(fields.remove("in_flight").is_some());
    let write = |state: &serde_json::Value| {
        let mut text = state.to_string().into_bytes();
        text.resize(4096, 0);
        fs::write(&path, text).expect("a state");
    };
    let mut cut_off = state.clone();
    cut_off["condition"] = "in-use".into();
    write(&cut_off);
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(3)
        .says("older version")
        .says("rebuild them");
    write(&state);
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(0)
        .prints("PASS");
}

#[test]
fn a_database_that_is_removed_in_a_run_is_not_said_to_be_unbuilt() {
    let here = Scratch::new();
    here.directory("target");
    let line = format!("{SMALL} {WIDE}").replace("--databases 1", "--databases 2");
    let line = line.replace("48MiB", "96MiB");
    let line = line.replace("--duration 2s", "--duration 4s");
    let mut running = Running::start(&here, &format!("{line} --keep"));
    running.wait_until_it_says("measuring 0:0");
    for entry in fs::read_dir(here.path("target/mail-002")).expect("its files") {
        fs::remove_file(entry.expect("an entry").path()).expect("a file removed");
    }
    let ended = running.end();
    for wrong in ["goes on with their build", "run on them again"] {
        assert!(!ended.stdout.contains(wrong), "{}", ended.stdout);
    }
    drop(ended.prints("target/mail-002 has no database any more; remove"));
    here.move_results("removed");
    fs::remove_file(here.path("target/mail-002/mail.state")).expect("its state");
    here.proofload(&format!("{line} --reuse"))
        .exits(0)
        .says("building");
}

/// Files of the log of the database, by name.
fn log_files(here: &Scratch) -> Vec<String> {
    let entries = fs::read_dir(here.path("target/log-001")).expect("log files");
    let name = |entry: fs::DirEntry| entry.file_name().to_string_lossy().into_owned();
    entries
        .map(|entry| name(entry.expect("an entry")))
        .collect()
}

/// Full files of it.
fn full_log_files(here: &Scratch) -> usize {
    let names = log_files(here);
    let is_full = |name: &&String| name.starts_with("E0000") && name.ends_with(".log");
    names.iter().filter(is_full).count()
}

/// Runs on the database again; the one class of errors that were counted.
fn only_class(here: &Scratch) -> String {
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(4);
    let result = here.result();
    let counts = result["error_counts"].as_array().expect("counts");
    assert_eq!(counts.len(), 1, "{counts:?}");
    let found = counts[0]["class"].as_str().expect("a class").to_owned();
    fs::remove_dir_all(here.path("out")).expect("results to remove");
    found
}

#[test]
fn a_closed_database_without_its_current_log_file_says_how_to_go_on() {
    let here = Scratch::new();
    here.directory("target");
    here.directory("away");
    here.proofload(&format!("{SMALL} {WIDE} --keep")).exits(0);
    here.move_results("out-0");
    assert!(full_log_files(&here) > 0, "{:?}", log_files(&here));
    let file = here.path("target/log-001/E00.log");
    let intact = fs::read(&file).expect("a log file");
    // Its header is garbled, with one that no file says it again; and it is missing.
    let oldest = fs::read(here.path("target/log-001/E00.chk")).expect("a checkpoint");
    let mut garbled = intact.clone();
    garbled[..8_192].copy_from_slice(&oldest);
    for (number, contents) in [Some(garbled), None].into_iter().enumerate() {
        match contents {
            Some(contents) => fs::write(&file, contents).expect("another log file"),
            None => fs::remove_file(&file).expect("no log file"),
        }
        here.proofload(&format!("{SMALL} {WIDE} --reuse"))
            .exits(4)
            .says("closed properly, and everything that was committed is in its own file")
            .says("move all of its files");
        assert_eq!(here.result()["error_counts"][0]["class"], "log", "{number}");
        here.move_results(&format!("out-refused-{number}"));
    }
    // It is back.
    fs::write(&file, intact).expect("the log file");
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
    here.move_results("out-1");
    fs::remove_file(&file).expect("no log file");
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(4);
    here.move_results("out-2");
    // What is said is done.
    for name in log_files(&here) {
        if name.starts_with("E00") {
            let to = here.path("away").join(&name);
            fs::rename(here.path("target/log-001").join(&name), to).expect("moved");
        }
    }
    here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
}

/// No file before it says what its header was.
#[test]
fn the_header_of_the_first_log_file_is_written_again() {
    for is_killed in [false, true] {
        let here = Scratch::new();
        here.directory("target");
        let line = long_run("--rate 1 --keep");
        let mut running = Running::start(&here, &line);
        running.wait_until_it_says("measuring 0:01");
        running.signal(if is_killed { "KILL" } else { "INT" });
        drop(running.end());
        here.move_results("out-0");
        assert_eq!(full_log_files(&here), 0, "{:?}", log_files(&here));
        let file = fs::File::options()
            .write(true)
            .open(here.path("target/log-001/E00.log"));
        let file = file.expect("a log file");
        file.write_all_at(&[0xA5; 8], 60).expect("garbled");
        assert_eq!(only_class(&here), "log", "{is_killed}");
        here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
    }
}

#[test]
fn a_killed_database_whose_checkpoint_is_gone_says_so() {
    let here = Scratch::new();
    here.directory("target");
    let harms: [fn(&Path); 3] = [
        |path| fs::remove_file(path).expect("removed"),
        |path| fs::write(path, vec![0; 8_192]).expect("zeros"),
        |path| fs::write(path, b"").expect("cut short"),
    ];
    let mut how = "--keep";
    for harm in harms {
        let mut running = Running::start(&here, &long_run(how));
        running.wait_until_it_says("measuring 0:01");
        let path = here.path("target/log-001/E00.chk");
        // Older log files are removed when a checkpoint has been written.
        while here.path("target/log-001/E0000000001.log").exists() || full_log_files(&here) == 0 {
            std::thread::sleep(std::time::Duration::from_millis(50));
        }
        running.signal("KILL");
        drop(running.end());
        fs::remove_dir_all(here.path("out")).expect("results to remove");
        harm(&path);
        assert_eq!(only_class(&here), "checkpoint");
        here.proofload(&format!("{SMALL} {WIDE} --reuse")).exits(0);
        fs::remove_dir_all(here.path("out")).expect("results to remove");
        how = "--reuse";
    }
}

#[test]
fn a_passive_copy_without_its_state_is_known_by_its_log() {
    let here = Scratch::new();
    here.directory("target");
    let copies = here.directory("copies");
    let shipped = "--set engine.log_file_size=128KiB --copy-to copies";
    let mut running = Running::start(&here, &long_run(&format!("{shipped} --keep")));
    running.wait_until_it_says("measuring 0:01");
    let has_shipped = || {
        let names = fs::read_dir(copies.join("log-001")).expect("log files");
        let mut names = names.map(|entry| entry.expect("an entry").file_name());
        names.any(|name| name.to_string_lossy().ends_with(".log"))
    };
    while !has_shipped() {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal("KILL");
    drop(running.end());
    here.move_results("out-0");
    fs::remove_file(copies.join("mail-001/mail.state")).expect("its state");
    here.proofload("edb recover copies/mail-001/mail-001.edb")
        .exits(3)
        .says("passive copy");
    let line = format!("{SMALL} {WIDE} --set engine.log_file_size=128KiB --reuse");
    here.proofload(&line.replace("--on target", "--on copies"))
        .exits(0)
        .says("is a passive copy whose replication was interrupted")
        .says("What was committed in later log files is lost")
        .says("mail.state beside");
}
