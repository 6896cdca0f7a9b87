//! Runs that are interrupted and go on with `--resume`, through the binary, on real files.

mod common;

use std::fs;
use std::time::Duration;

use common::{Ended, Running, SMALL, Scratch, WIDE};
use serde_json::Value;

/// A run of a measured phase long enough to be interrupted in it.
fn line() -> String {
    let line = format!("{SMALL} {WIDE} --allow-cached --keep");
    line.replace("--duration 2s", "--duration 6s")
}

/// The result document as it is now; `None` while it is not there.
fn result(here: &Scratch) -> Option<Value> {
    let text = fs::read(here.path("out/result.json")).ok()?;
    serde_json::from_slice(&text).ok()
}

fn measured_s(here: &Scratch) -> f64 {
    let result = result(here);
    result.map_or(0.0, |result| result["duration_s"].as_f64().unwrap_or(0.0))
}

/// Ends a run by a signal when so many seconds were measured.
fn interrupt(here: &Scratch, mut running: Running, signal: &str, after_s: f64) -> Ended {
    while running.is_alive() && measured_s(here) < after_s {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal(signal);
    running.end()
}

/// A run that was killed when a second or more of its six were measured.
fn killed() -> Scratch {
    let here = Scratch::new();
    here.directory("target");
    let running = Running::start(&here, &line());
    interrupt(&here, running, "KILL", 1.0);
    let result = result(&here).expect("a result");
    assert_eq!(result["complete"], false);
    here
}

/// The rows of samples, with another figure in the first measured one of a database.
fn with_another_figure(rows: &str) -> String {
    let is_of_database = |row: &&str| row.contains(",measured,") && row.contains(",database,");
    let row = rows
        .lines()
        .find(is_of_database)
        .expect("a row of a database");
    let mut fields: Vec<&str> = row.split(',').collect();
    let is_figure = |(place, field): &(usize, &&str)| *place > 5 && field.contains('.');
    let (place, figure) = fields.iter().enumerate().find(is_figure).expect("a figure");
    let other = figure.replace('.', "9.");
    fields[place] = &other;
    rows.replace(row, &fields.join(","))
}

fn total_rows(here: &Scratch) -> Vec<(u64, String)> {
    let text = fs::read_to_string(here.path("out/samples.csv")).expect("samples");
    let rows = text
        .lines()
        .skip(1)
        .filter(|row| row.contains(",total,all,"));
    let fields = |row: &str| {
        let mut fields = row.split(',');
        let sample = fields.next().expect("a number").parse().expect("a number");
        (sample, fields.next().expect("a phase").to_owned())
    };
    rows.map(fields).collect()
}

#[test]
fn a_run_that_was_killed_twice_comes_to_its_end() {
    let here = killed();
    let first_s = measured_s(&here);
    here.proofload("run --resume out --dry-run")
        .exits(0)
        .prints("not closed, will be recovered")
        .prints("that are left of 6 s");
    let running = Running::start(&here, "run --resume out");
    interrupt(&here, running, "KILL", first_s + 1.0);
    let between = result(&here).expect("a result");
    assert_eq!(between["interruptions"].as_array().map(Vec::len), Some(1));
    here.proofload("verify out").exits(5);
    here.proofload("run --resume out")
        .exits(0)
        .says("was recovered")
        .prints("PASS")
        .prints("warning: The run was interrupted when")
        .prints("also without --keep");
    let result = result(&here).expect("a result");
    let duration_s = result["duration_s"].as_f64().expect("a length");
    // A busy machine may take the order to end late.
    assert!((5.8..7.5).contains(&duration_s), "{duration_s}");
    let headline = result["headline"].as_str().expect("an answer");
    assert!(
        headline.contains("interrupted 2 times and resumed"),
        "{headline}"
    );
    let warnings = result["warnings"].as_array().expect("warnings");
    let of_interruptions = warnings.iter().filter_map(Value::as_str);
    let of_interruptions =
        of_interruptions.filter(|text| text.contains("The run was interrupted when"));
    assert_eq!(of_interruptions.count(), 2, "{warnings:?}");
    let interruptions = result["interruptions"].as_array().expect("interruptions");
    assert_eq!(interruptions.len(), 2);
    let at = |number: usize, field: &str| interruptions[number][field].as_f64().expect("a time");
    assert!((at(0, "measured_s") - first_s).abs() < 0.01);
    assert!(at(0, "resumed_at_s") >= at(0, "last_sample_s"));
    assert!(at(1, "measured_s") > at(0, "measured_s"));
    let phases = result["phases"].as_array().expect("phases");
    let measured = phases.iter().filter(|phase| phase["name"] == "measured");
    let measured: Vec<f64> = measured
        .filter_map(|phase| phase["duration_s"].as_f64())
        .collect();
    assert_eq!(measured.len(), 3);
    assert!((measured.iter().sum::<f64>() - duration_s).abs() < 0.01);
    let rows = total_rows(&here);
    assert!(
        rows.iter().map(|row| row.0).eq(0..rows.len() as u64),
        "{rows:?}"
    );
    // Everything that was recomputed agrees, hashes included.
    here.proofload("verify out").exits(0);
    let page = fs::read_to_string(here.path("out/report.html")).expect("a page");
    assert!(page.contains("The run was interrupted when"));
    here.proofload("run --resume out")
        .exits(2)
        .says("was not interrupted: it has ended");
    here.proofload("edb check target/mail-001/mail-001.edb")
        .exits(0);
}

#[test]
fn a_run_that_was_stopped_goes_on_if_its_databases_were_kept() {
    let here = Scratch::new();
    here.directory("target");
    let running = Running::start(&here, &line());
    interrupt(&here, running, "TERM", 1.0)
        .exits(130)
        .prints("INTERRUPTED")
        .prints("go on with this run with --resume out");
    let first_s = measured_s(&here);
    // One that is killed before it has opened a database leaves them as they were closed.
    let mut early = Running::start(&here, "run --resume out");
    early.wait_until_it_says("locating kept databases");
    early.signal("KILL");
    drop(early.end());
    here.proofload("run --resume out").exits(0).prints("PASS");
    let result = result(&here).expect("a result");
    let before = result["interruptions"][0]["measured_s"].as_f64();
    assert!((before.expect("a length") - first_s).abs() < 0.01);
    assert!(measured_s(&here) > 5.8);
    here.proofload("verify out").exits(0);

    let removed = Scratch::new();
    removed.directory("target");
    let running = Running::start(&removed, &line().replace(" --keep", ""));
    interrupt(&removed, running, "TERM", 1.0)
        .exits(130)
        .prints("Databases removed");
    removed
        .proofload("run --resume out")
        .exits(2)
        .says("target");
}

#[test]
fn samples_that_a_power_cut_has_taken_are_measured_again() {
    let here = killed();
    let reach = &result(&here).expect("a result")["samples"]["files_reach"];
    let samples = here.path("out/samples.csv");
    let file = fs::File::options()
        .write(true)
        .open(&samples)
        .expect("samples");
    file.set_len(reach["samples"].as_u64().expect("a length") - 500)
        .expect("a shorter file");
    drop(file);
    here.proofload("verify out")
        .exits(5)
        .prints("as after a power cut");
    // What is left is compared all the same.
    let rows = fs::read_to_string(&samples).expect("samples");
    fs::write(&samples, with_another_figure(&rows)).expect("other samples");
    here.proofload("verify out").exits(4).prints("samples.csv");
    here.proofload("run --resume out").exits(2);
    fs::write(&samples, rows).expect("the samples");
    let before_s = measured_s(&here);
    here.proofload("run --resume out").exits(0).prints("PASS");
    let result = result(&here).expect("a result");
    let kept_s = result["interruptions"][0]["measured_s"]
        .as_f64()
        .expect("a length");
    assert!(
        kept_s < before_s - 0.2 && kept_s > before_s - 1.1,
        "{kept_s} of {before_s}"
    );
    let lost_s = result["interruptions"][0]["lost_s"]
        .as_f64()
        .expect("a length");
    assert!((kept_s + lost_s - before_s).abs() < 0.01, "{lost_s}");
    let headline = result["headline"].as_str().expect("an answer");
    assert!(headline.contains("samples of"), "{headline}");
    here.proofload("verify out").exits(0);
}

/// What is left in the directory is all that a continuation knows of what was measured.
#[test]
fn figures_that_do_not_follow_from_each_other_are_refused() {
    let here = killed();
    let refused = |file: &str, text: &str, other: &str, what: &str| {
        assert_ne!(text, other, "{what}");
        let path = here.path("out").join(file);
        fs::write(&path, other).expect("another file");
        here.proofload("run --resume out")
            .exits(2)
            .says("were changed, or are damaged")
            .says(what);
        fs::write(&path, text).expect("the file");
    };
    // A latency that lies among those of its histogram, and is not their average.
    let rows = fs::read_to_string(here.path("out/samples.csv")).expect("samples");
    let names: Vec<&str> = rows.lines().next().expect("names").split(',').collect();
    for name in ["database_write_average_ms", "database_write_max_ms"] {
        let column = names.iter().position(|one| *one == name).expect("a column");
        let changed = |row: &str| {
            let mut fields: Vec<String> = row.split(',').map(str::to_owned).collect();
            let value: Result<f64, _> = fields[column].parse();
            if let Ok(value) = value
                && row.contains(",measured,")
            {
                fields[column] = format!("{:.6}", value * 0.98);
            }
            fields.join(",")
        };
        let other: Vec<String> = rows.lines().map(changed).collect();
        refused("samples.csv", &rows, &(other.join("\n") + "\n"), name);
    }
    // A figure that is not that of the samples.
    let text = fs::read_to_string(here.path("out/result.json")).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("a document");
    let achieved = &result["throughput"]["achieved_iops"];
    let other = text.replace(
        &format!("\"achieved_iops\": {achieved}"),
        "\"achieved_iops\": 7.5",
    );
    refused("result.json", &text, &other, "throughput.achieved_iops");
    here.proofload("run --resume out").exits(0);
    here.proofload("verify out").exits(0);
}

/// A verdict over two storages would be about neither.
#[test]
fn a_run_does_not_go_on_on_other_storage() {
    let here = killed();
    let document = here.path("out/result.json");
    let text = fs::read_to_string(&document).expect("a result");
    let result: Value = serde_json::from_str(&text).expect("a document");
    let file_system = &result["target"]["logs"][0]["file_system"];
    let other = text.replace(
        &format!("\"file_system\": {file_system}"),
        "\"file_system\": \"befs\"",
    );
    assert_ne!(other, text);
    fs::write(&document, &other).expect("a result of elsewhere");
    for dry in ["", " --dry-run"] {
        here.proofload(&format!("run --resume out{dry}"))
            .exits(2)
            .says("The run was begun on")
            .says("these are not the same");
    }
    fs::write(&document, &text).expect("its result");
    here.proofload("run --resume out").exits(0);
}

#[test]
fn a_found_load_is_not_looked_for_again() {
    let here = Scratch::new();
    here.directory("target");
    let line = line().replace(
        "--threads 2",
        "--threads auto --set tuning.maximum_threads=1 --set mail.iops_per_mailbox=5",
    );
    let running = Running::start(&here, &line);
    interrupt(&here, running, "KILL", 1.0);
    let before = result(&here).expect("a result");
    assert!(before["tuning"]["chosen"].is_string(), "{before}");
    let resumed = here.proofload("run --resume out");
    assert!(!resumed.stderr.contains("tuning"), "{}", resumed.stderr);
    let after = result(&here).expect("a result");
    assert_eq!(after["tuning"], before["tuning"]);
    assert_eq!(
        after["throughput"]["threads"],
        before["throughput"]["threads"]
    );
    here.proofload("verify out").exits(0);
}

#[test]
fn a_curve_and_the_highest_load_are_not_looked_for_again() {
    let here = Scratch::new();
    here.directory("target");
    let search = "--find max-iops --curve 50,100 --set tuning.sample_interval=100ms \
         --set tuning.transient_samples=3 --set tuning.stable_samples=6 --set tuning.total_limit=4s";
    let line = line().replace("--threads 2", search);
    let running = Running::start(&here, &line);
    interrupt(&here, running, "KILL", 1.0);
    let before = result(&here).expect("a result");
    let tuning = &before["tuning"];
    assert_eq!(
        tuning["curve"].as_array().map_or(0, Vec::len),
        2,
        "{tuning}"
    );
    let resumed = here.proofload("run --resume out");
    assert!(!resumed.stderr.contains("tuning"), "{}", resumed.stderr);
    let after = result(&here).expect("a result");
    assert_eq!(&after["tuning"], tuning);
    assert_eq!(
        after["throughput"]["rate_iops"],
        before["throughput"]["rate_iops"]
    );
    assert_eq!(after["complete"], true);
    here.proofload("verify out").exits(0);
    here.proofload("report out").exits(0);
}

#[test]
fn a_run_that_was_measured_is_only_verified() {
    let here = Scratch::new();
    here.directory("target");
    let mut running = Running::start(&here, &line());
    running.wait_until_it_says("closing");
    running.signal("KILL");
    drop(running.end());
    if result(&here).is_some_and(|result| result["complete"] == true) {
        return; // It was faster than the signal.
    }
    let before_s = measured_s(&here);
    let resumed = here.proofload("run --resume out").exits(0).prints("PASS");
    assert!(!resumed.stderr.contains("warming up"), "{}", resumed.stderr);
    let result = result(&here).expect("a result");
    assert!((measured_s(&here) - before_s).abs() < 0.3);
    let verification = &result["verification"]["databases"][0];
    assert!(verification["pages"].as_u64() > Some(0), "{verification}");
    here.proofload("verify out").exits(0);
}

#[test]
fn what_cannot_go_on_is_refused() {
    let here = killed();
    here.proofload("run --resume out --threads 3")
        .exits(2)
        .says("cannot be used with");
    here.proofload("run --resume target")
        .exits(2)
        .says("is not a run directory");
    // Other settings than those of its begin.
    let config = here.path("out/config.toml");
    let text = fs::read_to_string(&config).expect("settings");
    fs::write(&config, text.replace("threads = 2", "threads = 3")).expect("other settings");
    here.proofload("run --resume out")
        .exits(2)
        .says("mail.threads in")
        .says("is not what it was when the run was interrupted");
    fs::write(&config, &text).expect("its settings");
    // Samples that were changed.
    let samples = here.path("out/samples.csv");
    let rows = fs::read_to_string(&samples).expect("samples");
    fs::write(&samples, with_another_figure(&rows)).expect("other samples");
    here.proofload("run --resume out")
        .exits(2)
        .says("were changed, or are damaged");
    fs::write(&samples, &rows).expect("its samples");
    // Another run on its databases.
    let other = line().replace("--out out", "--out other --reuse");
    here.proofload(&other.replace("--duration 6s", "--duration 1s"))
        .exits(0);
    here.proofload("run --resume out")
        .exits(2)
        .says("another run has worked on it since");
}

#[test]
fn a_run_that_was_interrupted_before_it_measured_begins_again() {
    let here = Scratch::new();
    here.directory("target");
    let line = line().replace(
        "run.warm_up.maximum=1s",
        "run.warm_up.maximum=1m --set run.warm_up.minimum=1m",
    );
    let mut running = Running::start(&here, &line);
    running.wait_until_it_says("warming up 0:01");
    running.signal("KILL");
    drop(running.end());
    here.proofload("run --resume out")
        .exits(2)
        .says("before a whole sample was measured")
        .says("--reuse");
}

/// A run that was stopped has hashes of its files, which are looked at.
#[test]
fn a_stopped_run_whose_files_were_changed_is_refused() {
    let here = Scratch::new();
    here.directory("target");
    let running = Running::start(&here, &line().replace(" --allow-cached", ""));
    interrupt(&here, running, "TERM", 1.0).exits(130);
    let document = here.path("out/result.json");
    let text = fs::read_to_string(&document).expect("a result");
    let other = text.replace("\"allow_cached\": false", "\"allow_cached\": true");
    assert_ne!(other, text);
    fs::write(&document, &other).expect("another result");
    here.proofload("run --resume out")
        .exits(2)
        .says("result.json has another SHA-256");
    fs::write(&document, &text).expect("its result");
    let samples = here.path("out/samples.csv");
    let rows = fs::read_to_string(&samples).expect("samples");
    let last = rows.lines().next_back().expect("a row");
    let last = last.split(',').next().expect("a number");
    let kept = rows
        .lines()
        .filter(|row| !row.starts_with(&format!("{last},")));
    let kept: Vec<&str> = kept.collect();
    fs::write(&samples, kept.join("\n") + "\n").expect("fewer samples");
    here.proofload("run --resume out")
        .exits(2)
        .says("samples.csv has another SHA-256");
}

/// What a run has done since an older copy of its results or of its databases cannot be forgotten.
#[test]
fn older_results_and_older_databases_are_refused() {
    let here = killed();
    common::copy(&here.path("out"), &here.path("older"));
    common::copy(&here.path("target"), &here.path("older-target"));
    let first_s = measured_s(&here);
    let running = Running::start(&here, "run --resume out");
    interrupt(&here, running, "KILL", first_s + 1.0);
    common::copy(&here.path("target"), &here.path("newer-target"));
    here.proofload("run --resume older")
        .exits(2)
        .says("another run has worked on it since");
    let put = |databases: &str| {
        // The directory itself stays, as its marker says which one it is.
        for entry in fs::read_dir(here.path(databases)).expect("a directory") {
            let entry = entry.expect("an entry");
            common::copy(&entry.path(), &here.path("target").join(entry.file_name()));
        }
    };
    put("older-target");
    here.proofload("run --resume out")
        .exits(2)
        .says("another run has worked on it since");
    put("newer-target");
    here.proofload("run --resume out").exits(0);
    here.proofload("run --resume older").exits(2);
}

/// The clock of a run goes on, and so do the numbers of its samples.
#[test]
fn samples_that_are_missing_in_the_middle_are_refused() {
    let here = killed();
    let samples = here.path("out/samples.csv");
    let rows = fs::read_to_string(&samples).expect("samples");
    let kept = rows.lines().filter(|row| !row.starts_with("1,"));
    let kept: Vec<&str> = kept.collect();
    assert!(kept.len() < rows.lines().count());
    fs::write(&samples, kept.join("\n") + "\n").expect("fewer samples");
    here.proofload("run --resume out")
        .exits(2)
        .says("samples.csv, sample 1");
}

#[test]
fn the_copies_of_a_backup_that_is_to_come_need_their_place() {
    let here = Scratch::new();
    for directory in ["target", "copies", "other"] {
        here.directory(directory);
    }
    let line = line() + " --test backup --backup-to copies --set backup.under_load=true";
    let line = line.replace("--test backup", "--test all --set recovery.log_files=1");
    let running = Running::start(&here, &line);
    interrupt(&here, running, "KILL", 1.0);
    here.proofload("run --resume out")
        .exits(2)
        .says("The copies of the backup of this run went to copies")
        .says("--backup-to");
    here.proofload("run --resume out --backup-to other")
        .exits(0);
    let result = result(&here).expect("a result");
    assert_eq!(result["backup"]["copied_to"], "other");
}
