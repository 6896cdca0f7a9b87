//! `proofload verify`: what was changed in a run directory is found.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use std::process::Command;

use common::brokerage::brokerage;
use common::{Running, SMALL, Scratch, WIDE, long_run};

/// A run that has passed, in `out`.
fn run() -> Scratch {
    let scratch = Scratch::new();
    scratch.directory("target");
    let line = format!("{SMALL} {WIDE} --rate 200 --quiet");
    scratch.proofload(&line).exits(0);
    scratch
}

/// A copy of the run with the first digit behind `text` in a file changed.
fn changed(scratch: &Scratch, file: &str, text: &str) {
    change_digit(&copied(scratch).join(file), text);
}

/// A copy of the run, in `changed`.
fn copied(scratch: &Scratch) -> PathBuf {
    let (from, to) = (scratch.path("out"), scratch.path("changed"));
    let _ = fs::remove_dir_all(&to);
    fs::create_dir(&to).expect("what the run has written");
    for entry in fs::read_dir(&from).expect("what the run has written") {
        let name = entry.expect("what the run has written").file_name();
        fs::copy(from.join(&name), to.join(&name)).expect("what the run has written");
    }
    to
}

fn change_digit(path: &Path, text: &str) {
    let mut bytes = fs::read(path).expect("what the run has written");
    let found = bytes.windows(text.len()).position(|w| w == text.as_bytes());
    let begin = found.expect("the text is there") + text.len();
    let digit = bytes[begin..]
        .iter()
        .position(u8::is_ascii_digit)
        .expect("what the run has written");
    let digit = &mut bytes[begin + digit];
    *digit = if *digit == b'9' { b'8' } else { *digit + 1 };
    fs::write(path, bytes).expect("what the run has written");
}

/// Takes the hashes out of a result, as one of an earlier version has none.
fn without_hashes(path: &Path) {
    let text = fs::read_to_string(path).expect("what the run has written");
    let mut result: serde_json::Value =
        serde_json::from_str(&text).expect("what the run has written");
    let fields = result.as_object_mut().expect("what the run has written");
    fields.remove("files").expect("hashes of files");
    fields.remove("document_sha256").expect("a hash");
    fs::write(
        path,
        serde_json::to_string_pretty(&result).expect("what the run has written"),
    )
    .expect("what the run has written");
}

#[test]
fn a_run_is_verified_and_a_changed_digit_is_found() {
    let scratch = run();
    scratch
        .proofload("verify out")
        .exits(0)
        .prints("out: verified")
        .prints("the verdict `pass` recomputed from 8 samples");
    for (file, text) in [
        ("samples.csv", "measured,"),
        ("histograms.hlog", "mail-001/database-read,"),
        ("result.json", "\"average_ms\": "),
        ("result.json", "\"seed\": "),
        ("result.json", "\"document_sha256\": "),
        ("config.toml", "average_database_read = "),
        ("log.txt", "T"),
    ] {
        changed(&scratch, file, text);
        let ended = scratch.proofload("verify changed").exits(4);
        ended
            .prints("changed: CHANGED")
            .prints(&format!("{file}: "));
        let report = scratch.proofload("report changed").exits(0);
        let warns = "The result document was changed after the run";
        let is_changed = file == "result.json";
        assert_eq!(report.stdout.contains(warns), is_changed, "{file}");
    }
}

#[test]
fn figures_that_do_not_follow_from_the_samples_are_found_without_hashes() {
    let scratch = run();
    without_hashes(&scratch.path("out/result.json"));
    scratch
        .proofload("verify out")
        .exits(5)
        .prints("not changed as far as it could be verified")
        .prints("result.json has no hashes");
    for (file, text, field) in [
        (
            "result.json",
            "\"achieved_iops\": ",
            "throughput.achieved_iops",
        ),
        ("result.json", "\"value\": ", "checks[0].value"),
        ("result.json", "\"average_ms\": ", "average_ms"),
        ("result.json", "\"seed\": ", "seed"),
        ("config.toml", "allowed_maximum_violations = ", "rule"),
        ("samples.csv", "measured,", "length"),
    ] {
        changed(&scratch, file, text);
        let ended = scratch.proofload("verify changed");
        if file == "samples.csv" {
            ended.exits(4);
        } else {
            ended.exits(4).prints(field);
        }
    }
    changed(&scratch, "samples.csv", "measured,");
    fs::remove_file(scratch.path("changed/samples.csv")).unwrap();
    scratch.proofload("verify changed").exits(5);
}

#[test]
fn a_run_that_failed_is_verified_too() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let levels = "--set service_levels.average_database_read=1us \
                  --set service_levels.fewest_samples=1";
    scratch.fails(&format!("{SMALL} {levels} --quiet"));
    scratch
        .proofload("verify out")
        .exits(0)
        .prints("the verdict `fail`");
    let path = scratch.path("out/result.json");
    let text = fs::read_to_string(&path).unwrap();
    without_hashes(&path);
    assert!(text.contains("\"verdict\": \"fail\""));
    let text = fs::read_to_string(&path).unwrap();
    fs::write(
        &path,
        text.replace("\"verdict\": \"fail\"", "\"verdict\": \"pass\""),
    )
    .unwrap();
    scratch
        .proofload("verify out")
        .exits(4)
        .prints("result.json: verdict\n    recorded    pass\n    recomputed  fail")
        .prints("and the verdict `fail` recomputed");
}

#[test]
fn a_prediction_is_verified_and_what_is_no_run_is_refused() {
    let scratch = Scratch::new();
    scratch
        .proofload("predict exchange-2013 --array msa2050-tier --duration 5m --out out --quiet")
        .exits(0);
    let json = scratch.proofload("verify out --json").exits(0).stdout;
    let found: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!(found["agreement"], "whole");
    assert_eq!(found["document_sha256"].as_str().unwrap().len(), 64);
    scratch.directory("empty");
    scratch
        .proofload("verify empty")
        .exits(2)
        .says("is not a run directory");
    scratch.proofload("verify missing").exits(2);
}

/// What a killed run of a brokerage has written of itself last follows from its samples.
#[test]
fn a_brokerage_that_was_killed_is_verified_as_far_as_it_went() {
    let scratch = Scratch::new();
    scratch.directory("target");
    // The next sample is far off when the first one is there.
    let line = brokerage("sqlite").replace("sample_interval=250ms", "sample_interval=5s");
    let mut running = Running::start(&scratch, &line);
    running.wait_until_it_says("measuring");
    let is_judged = || {
        let text = fs::read(scratch.path("out/result.json")).expect("a document");
        let document: serde_json::Value = serde_json::from_slice(&text).expect("one document");
        document["checks"]
            .as_array()
            .is_some_and(|checks| !checks.is_empty())
    };
    while !is_judged() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    running.signal("KILL");
    running.end();
    scratch
        .proofload("verify out")
        .exits(5)
        .prints("The run did not end")
        .prints("and the verdict `interrupted` recomputed");
}

#[test]
fn a_report_of_other_results_is_noticed() {
    let scratch = run();
    scratch.proofload("verify out").exits(0);
    let page = scratch.path("out/report.html");
    let text = fs::read_to_string(&page).expect("a report");
    fs::write(&page, text.replace("PASS", "PASS with honours")).expect("another report");
    scratch
        .proofload("verify out")
        .exits(5)
        .prints("report.html is not what this version makes of these results");
    scratch.proofload("report out --quiet").exits(0);
    scratch.proofload("verify out").exits(0);
    scratch
        .proofload("report out --jetstress-report --quiet")
        .exits(0);
    scratch.proofload("verify out").exits(0);
    let files = fs::read_dir(scratch.path("out")).expect("a directory");
    let mut files = files.flatten().map(|file| file.path());
    let page = files.find(|path| path.extension().is_some_and(|ending| ending == "xml"));
    let page = page.expect("a report in the layout of Jetstress");
    let text = fs::read_to_string(&page).expect("that report");
    fs::write(&page, format!("{text}<!-- better -->")).expect("another report");
    scratch
        .proofload("verify out")
        .exits(5)
        .prints(".xml is not what this version makes of these results")
        .prints("`proofload report --jetstress-report` makes it again");
}

/// Cuts a file of a run off behind so many bytes.
fn cut_off(path: &Path, bytes: u64) {
    let file = fs::File::options().write(true).open(path);
    let cut = file.and_then(|file| file.set_len(bytes));
    cut.expect("what the run has written");
}

#[test]
fn files_that_are_cut_off_are_named_in_one_sentence() {
    let scratch = run();
    for file in ["result.json", "samples.csv", "histograms.hlog", "log.txt"] {
        for bytes in [0, 300] {
            cut_off(&copied(&scratch).join(file), bytes);
            let found = format!("recomputed  {bytes} bytes: it is cut off");
            scratch
                .proofload("verify changed")
                .exits(4)
                .prints("CHANGED: 1 difference\n")
                .prints(&format!("  {file}: length\n"))
                .prints(&found);
        }
    }
    cut_off(&copied(&scratch).join("result.json"), 300);
    scratch
        .proofload("report changed")
        .exits(2)
        .says("result.json is cut off: it ends after 300 bytes");
}

/// A power cut leaves less of the samples than of the result, which is replaced in one step.
#[test]
fn samples_of_a_killed_run_that_are_cut_off_leave_it_open() {
    let scratch = Scratch::new();
    scratch.directory("target");
    let mut running = Running::start(&scratch, &long_run("--quiet"));
    let result = scratch.path("out/result.json");
    let has_samples = |text: Vec<u8>| String::from_utf8_lossy(&text).contains("\"checks\": [\n");
    while !fs::read(&result).is_ok_and(has_samples) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    running.signal("KILL");
    running.end();
    let text = fs::read(&result).expect("a result");
    let document: serde_json::Value = serde_json::from_slice(&text).expect("one document");
    for (file, part) in [
        ("samples.csv", "samples"),
        ("histograms.hlog", "histograms"),
    ] {
        let reach = &document["samples"]["files_reach"][part];
        let reach = reach.as_u64().expect("how far the file was written");
        for bytes in [0, 100, reach / 2] {
            cut_off(&copied(&scratch).join(file), bytes);
            scratch
                .proofload("verify changed")
                .exits(5)
                .prints("Not verified: Samples that the result follows from are missing");
        }
    }
    cut_off(&copied(&scratch).join("result.json"), 3_000);
    scratch.proofload("verify changed").exits(4);
}

/// A pipe, a device, a socket and a file without data that is larger than any memory.
const ODD: [fn(&Path); 4] = [
    |path| {
        let made = Command::new("mkfifo").arg(path).status();
        assert!(made.expect("mkfifo").success());
    },
    |path| symlink("/dev/zero", path).expect("a link"),
    |path| drop(UnixListener::bind(path).expect("a socket")),
    |path| {
        let file = fs::File::create(path).expect("a file");
        file.set_len(1 << 43).expect("a length");
    },
];

/// Whoever opened such a file would wait for ever, or read until no memory is left.
#[test]
fn files_that_are_no_files_are_refused() {
    let scratch = run();
    // The statuses of verify, report and certificate.
    for (file, statuses) in [
        ("result.json", [2, 2, 2]),
        ("samples.csv", [4, 2, 4]),
        ("histograms.hlog", [4, 2, 4]),
        ("config.toml", [4, 0, 4]),
        ("log.txt", [4, 0, 4]),
        ("report.html", [5, 0, 0]),
        ("certificate.html", [0, 0, 0]),
    ] {
        for (number, make) in ODD.iter().enumerate() {
            let path = copied(&scratch).join(file);
            let _ = fs::remove_file(&path);
            make(&path);
            // A document is written anew by the command that makes it.
            let commands = [
                "verify changed",
                "report changed",
                "certificate changed --overwrite",
            ];
            for (command, status) in commands.into_iter().zip(statuses) {
                let ended = scratch.proofload_within(60, command);
                let said = format!("{}{}", ended.stdout, ended.stderr);
                assert_eq!(
                    ended.status,
                    Some(status),
                    "{command}, {file} {number}: {said}"
                );
                let why = match number {
                    3 => "at most 2147483648 are read",
                    _ => "not a regular file",
                };
                assert_eq!(
                    said.contains(why),
                    status != 0,
                    "{command}, {file} {number}: {said}"
                );
            }
        }
    }
}

#[test]
fn a_rank_has_no_ranks() {
    let scratch = run();
    let path = scratch.path("out/result.json");
    let text = fs::read(&path).expect("what the run has written");
    let mut result: serde_json::Value = serde_json::from_slice(&text).expect("a document");
    result["ranks"] = serde_json::json!([{ "directory": "." }]);
    fs::write(&path, result.to_string()).expect("a file");
    scratch
        .proofload_within(60, "verify out")
        .exits(4)
        .prints("./result.json: ranks");
}
