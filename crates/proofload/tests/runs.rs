//! Whole runs on real files, with every exit status they can end in.
//!
//! No test here depends on how fast the machine is: limits are set so wide or so narrow that the
//! verdict is certain.

mod common;

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::process::{Command, Stdio};

use common::{Ended, Scratch, proofload};

/// A database of 48 MiB under a cache of 8 MiB, two sessions, some seconds.
const SMALL: &str = "run exchange-2013 --on target --out out --databases 1 --target-size 48MiB \
    --threads 2 --duration 2s --set run.sample_interval=250ms \
    --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
    --set run.warm_up.maximum=1s --set run.steady_state.required=false";

/// Limits that any storage keeps.
const WIDE: &str = "--set service_levels.average_database_read=10m \
    --set service_levels.average_log_write=10m \
    --set service_levels.maximum_database_read_strict=10m \
    --set service_levels.maximum_database_read_lenient=10m \
    --set service_levels.maximum_log_write_strict=10m \
    --set service_levels.maximum_log_write_lenient=10m \
    --set service_levels.page_fault_stalls_per_second=1000000 \
    --set service_levels.achieved_margin_fraction=1 --set service_levels.fewest_samples=1";

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
    here.proofload("report out out --fio-json fio.json")
        .exits(2)
        .says("one run");
    here.proofload("show out/config.toml")
        .exits(0)
        .prints("\nthreads = 2\n");
}

#[test]
fn a_missed_level_exits_1_and_json_is_all_there_is() {
    let here = Scratch::new();
    here.directory("target");
    let ended = here
        .proofload(&format!(
            "{SMALL} {WIDE} --json --quiet --set service_levels.average_database_read=1us"
        ))
        .exits(1);
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
        .prints("--reuse");
    here.proofload("edb info target/mail-001/mail-001.edb")
        .exits(0)
        .prints("of 32768 bytes")
        .prints("table ");
    here.proofload("edb check target/mail-001/mail-001.edb")
        .exits(0)
        .prints("sound");
    fs::rename(here.path("out"), here.path("built")).expect("the old results aside");
    here.proofload(&format!("{SMALL} {WIDE}"))
        .exits(3)
        .says("--reuse");
    fs::remove_dir_all(here.path("out")).ok();
    here.proofload(&format!("{SMALL} {WIDE} --reuse --seed 7"))
        .exits(0)
        .prints("PASS")
        .prints("Databases kept in target");
    assert!(target.join("mail-001").exists());
    fs::rename(here.path("out"), here.path("second")).expect("the old results aside");
    here.proofload(&format!("{SMALL} {WIDE} --reuse --rate 50"))
        .exits(0)
        .prints("PASS");
}

#[test]
fn a_damaged_page_ends_in_a_report_that_names_it() {
    let here = Scratch::new();
    let target = here.directory("target");
    here.proofload(&format!("{SMALL} {WIDE} --build-only"))
        .exits(0);
    fs::rename(here.path("out"), here.path("built")).expect("the old results aside");
    let database = target.join("mail-001").join("mail-001.edb");
    let file = fs::File::options()
        .read(true)
        .write(true)
        .open(&database)
        .expect("a database");
    let size = file.metadata().expect("its size").len();
    // A byte of every tenth page, so that whatever is read first meets damage.
    for page in (20..size / 32_768).step_by(10) {
        let at = page * 32_768 + 5_000;
        let mut byte = [0];
        file.read_exact_at(&mut byte, at).expect("a byte");
        file.write_all_at(&[!byte[0]], at).expect("another byte");
    }
    drop(file);
    here.proofload(&format!("{SMALL} {WIDE} --reuse"))
        .exits(4)
        .prints("mail-001.edb")
        .prints("page")
        .prints("Databases kept in target");
    assert!(database.exists(), "what is damaged stays for inspection");
}

#[test]
fn an_interrupted_run_keeps_what_it_has() {
    let here = Scratch::new();
    let target = here.directory("target");
    let line = format!("{SMALL} {WIDE} --duration 10m");
    let line = line.replace("--duration 2s", "");
    let mut child = proofload(&here.path(""))
        .args(line.split_whitespace())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut said = BufReader::new(child.stderr.take().expect("its messages"));
    let mut text = String::new();
    while !text.contains("measuring 0:0") {
        assert_ne!(said.read_line(&mut text).expect("a line"), 0, "{text}");
    }
    let signal = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(signal.expect("kill").success());
    // The pipe is read on, or the program would wait for room in it.
    while said.read_line(&mut text).expect("a line") > 0 {}
    let output = child.wait_with_output().expect("its end");
    Ended::from_output(line, &output)
        .exits(130)
        .prints("INTERRUPTED");
    assert!(text.contains("Press Ctrl-C again"), "{text}");
    let result = fs::read_to_string(here.path("out").join("result.json")).expect("a result");
    assert!(result.contains("\"verdict\": \"interrupted\""));
    assert_eq!(entries(&target), 0);
}
