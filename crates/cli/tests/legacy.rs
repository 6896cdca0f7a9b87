//! `proofload run legacy2003`: the command line of Jetstress.exe 2003/2004; and reports in Jetstress's layout.

mod common;

use std::fs;
use std::path::PathBuf;

use common::{Ended, Scratch, WIDE, proofload};

/// Runs the old command line from within the directory `disk`, with results below `home`.
fn legacy(here: &Scratch, options: &str, switches: &str) -> Ended {
    let mut command = proofload(&here.path("disk"));
    command.env("HOME", here.path("home"));
    command
        .arg("run")
        .arg("legacy2003")
        .args(options.split_whitespace());
    command.arg("--").args(switches.split_whitespace());
    Ended::of(&mut command)
}

fn prepared() -> Scratch {
    let here = Scratch::new();
    for name in ["disk", "log", "home"] {
        here.directory(name);
    }
    here
}

#[test]
fn a_database_is_built_run_on_and_reported_in_the_layout_of_jetstress() {
    let here = prepared();
    legacy(&here, "--out ../built", "-l ../log -n 20000 -q 0")
        .exits(0)
        .says("-q 0           --build-only: the database is built, and no test is run");
    assert!(here.path("disk/mail-001").is_dir() && here.path("log/log-001").is_dir());
    let paper = "-l ../log -n 0 -b 64 -t 2 -I 15 -r 35 -d 5 -z 93 -a -q 2 -g 500";
    legacy(&here, "--dry-run --out ../dry", paper)
        .exits(0)
        .prints("-b 64          engine.cache_size_per_database = 64MiB")
        .prints("-g 500         engine.log_buffer = 252KiB")
        .prints("the rest       seeks: 45 percent")
        .prints("2 threads");
    let short = "--set run.sample_interval=200ms --set run.warm_up.maximum=1s --allow-cached \
                 --set run.steady_state.required=false --jetstress-report";
    let ended = legacy(&here, &format!("{short} {WIDE}"), paper);
    // A host that others keep busy leaves it open.
    assert!(
        [Some(0), Some(5)].contains(&ended.status),
        "{}",
        ended.stderr
    );
    let runs = fs::read_dir(here.path("home/proofload-runs")).expect("the results");
    let mut runs: Vec<PathBuf> = runs
        .map(|entry| entry.expect("a directory").path())
        .collect();
    runs.sort();
    let run = runs.pop().expect("a run");
    let result = fs::read_to_string(run.join("result.json")).expect("the result");
    let result: serde_json::Value = serde_json::from_str(&result).expect("JSON");
    let settings = &result["workload"]["settings"];
    assert_eq!(settings["mail.mix.replace_percent"], 35);
    assert_eq!(settings["mail.mix.lazy_commit_percent"], 93);
    assert_eq!(settings["engine.cache_size_per_database"], "64MiB");
    assert_eq!(result["throughput"]["threads"], 2);

    let page = file(&run, "Performance_", ".html");
    let outcome = if ended.status == Some(0) {
        "<td class=\"success\">Pass</td>"
    } else {
        ">Fail</td>"
    };
    assert!(page.contains(outcome), "{page}");
    assert!(
        file(&run, "Performance_", ".xml")
            .contains("<Section name=\"Transactional I/O Performance\">")
    );
    assert!(file(&run, "DBChecksum_", ".html").contains("Seen pages"));
    // The same of a run that is there, and the run is still as it was.
    let words = format!("report {} --jetstress-report", run.display());
    here.proofload(&words)
        .exits(0)
        .says("In the layout of Jetstress");
    here.proofload(&format!("verify {}", run.display()))
        .exits(0);
}

/// The text of the file in a directory that begins and ends so.
fn file(directory: &std::path::Path, begin: &str, end: &str) -> String {
    let names = fs::read_dir(directory).expect("a directory");
    let names = names.map(|entry| entry.expect("an entry").file_name());
    let mut names = names.map(|name| name.to_string_lossy().into_owned());
    let found = names.find(|name| name.starts_with(begin) && name.ends_with(end));
    let found = found.unwrap_or_else(|| panic!("no {begin}...{end} in {}", directory.display()));
    fs::read_to_string(directory.join(found)).expect("a file")
}

#[test]
fn what_the_old_command_line_does_not_allow_exits_2() {
    let here = prepared();
    legacy(&here, "", "-x 3 -a -t 2")
        .exits(2)
        .says("'-x' is no switch of Jetstress 2003/2004")
        .says("-z %    commits that do not wait for the log");
    legacy(&here, "", "-a -t 2 -n 0")
        .exits(2)
        .says("find no databases");
    legacy(&here, "--log-on ../log", "-a -t 2 -l ../log")
        .exits(2)
        .says("both name a directory");
    legacy(&here, "", "-n 1000000 -t 2 -i 90 -d 20")
        .exits(2)
        .says("110 percent");
    here.proofload("run exchange-2013 --on disk -- -t 3")
        .exits(2)
        .says("takes no switches of Jetstress");
    here.proofload("run exchange-2013").exits(2).says("--on");
    assert_eq!(
        fs::read_dir(here.path("disk")).expect("the target").count(),
        0
    );
    assert_eq!(
        fs::read_dir(here.path("home")).expect("the home").count(),
        0
    );
}
