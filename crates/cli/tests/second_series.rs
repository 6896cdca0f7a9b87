//! A second series of samples, through the binary: the same run in samples of another length.

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

use common::brokerage::brokerage;
use common::{Running, SMALL, Scratch, WIDE};
use measure::histogram::merge_interval_log;
use measure::sample::{Phase, SampleReader, SampleRow};
use serde_json::Value;

/// Samples of half a second, and of a quarter.
fn with_second(line: &str) -> String {
    let line = line.replace("run.sample_interval=250ms", "run.sample_interval=500ms");
    format!("{line} --set run.second_sample_interval=250ms")
}

/// The rows of all samples in a file of a run.
fn rows(run: &Path, file: &str) -> Vec<SampleRow> {
    let text = fs::read(run.join(file)).expect("samples");
    let rows = SampleReader::read_all(text.as_slice()).expect("rows of samples");
    let totals = rows.into_iter().filter(|row| row.scope.name() == "total");
    let rows: Vec<SampleRow> = totals.collect();
    let numbers = rows.iter().map(|row| row.sample);
    assert!(numbers.eq(0..rows.len() as u64), "{file}");
    rows
}

/// Samples of the measured phase, and their length in all.
fn measured(run: &Path, file: &str) -> (usize, f64) {
    let rows = rows(run, file);
    let lengths = rows.iter().filter(|row| row.phase == Phase::Measured);
    let lengths = lengths.map(|row| row.length_s);
    (lengths.clone().count(), lengths.sum())
}

/// What was counted in the measured phase, by tag.
fn counts(run: &Path, file: &str) -> BTreeMap<String, u64> {
    let text = fs::read(run.join(file)).expect("histograms");
    let all = merge_interval_log(&text, |_| true).expect("histograms");
    let counts = all.into_iter().map(|one| (one.tag, one.histogram.count()));
    counts.collect()
}

/// Both series are there, and cover and count the same; gives the numbers of measured samples.
fn agree(run: &Path) -> (usize, usize) {
    let first = measured(run, "samples.csv");
    let second = measured(run, "samples-2.csv");
    assert!((first.1 - second.1).abs() < 1e-4, "{first:?} {second:?}");
    let found = counts(run, "histograms.hlog");
    assert!(!found.is_empty());
    assert_eq!(found, counts(run, "histograms-2.hlog"));
    (first.0, second.0)
}

/// Changes the first digit behind `text` in a file; gives back what the file held.
fn change_digit(path: &Path, text: &str) -> Vec<u8> {
    let before = fs::read(path).expect("a file");
    let mut bytes = before.clone();
    let found = bytes.windows(text.len()).position(|w| w == text.as_bytes());
    let begin = found.expect("the text is there") + text.len();
    let digit = bytes[begin..].iter().position(u8::is_ascii_digit);
    let digit = &mut bytes[begin + digit.expect("a digit")];
    *digit = if *digit == b'9' { b'8' } else { *digit + 1 };
    fs::write(path, bytes).expect("a file");
    before
}

#[test]
fn a_run_has_two_series_that_count_the_same_and_are_verified() {
    let here = Scratch::new();
    here.directory("target");
    let line = with_second(&format!("{SMALL} {WIDE} --rate 200 --quiet"));
    here.proofload(&line).exits(0);
    let run = here.path("out");
    let (first, second) = agree(&run);
    assert!(second >= first, "{first} {second}");
    // Figures of the host, too.
    let cpu = rows(&run, "samples-2.csv")
        .iter()
        .filter(|row| row.get(measure::metric::Metric::CpuBusy).is_some())
        .count();
    assert!(cpu > 0);
    here.proofload("verify out").exits(0);
    for (file, text) in [
        ("samples-2.csv", "measured,"),
        ("histograms-2.hlog", "mail-001/database-read,"),
    ] {
        let path = run.join(file);
        let before = change_digit(&path, text);
        here.proofload("verify out")
            .exits(4)
            .prints(&format!("{file}: "));
        fs::write(&path, before).expect("what was there");
    }
    // Also without hashes, by the histograms and by the first series.
    let path = run.join("result.json");
    let text = fs::read_to_string(&path).expect("a result");
    let mut result: Value = serde_json::from_str(&text).expect("a result");
    assert_eq!(result["samples"]["second_interval_s"], 0.25);
    let fields = result.as_object_mut().expect("fields");
    fields.remove("files").expect("hashes of files");
    fields.remove("document_sha256").expect("a hash");
    fs::write(&path, result.to_string()).expect("a result");
    here.proofload("verify out").exits(5);
    let path = run.join("histograms-2.hlog");
    let before = fs::read_to_string(&path).expect("histograms");
    let is_read = |line: &&str| line.contains("mail-001/database-read,");
    let read = before.lines().find(is_read).expect("reads");
    fs::write(&path, before.replace(&format!("{read}\n"), "")).expect("fewer histograms");
    here.proofload("verify out")
        .exits(4)
        .prints("samples-2.csv: ")
        .prints("mail-001, database-read, count");
}

#[test]
fn a_run_that_was_killed_goes_on_with_both_series() {
    let here = Scratch::new();
    here.directory("target");
    let line = with_second(&format!("{SMALL} {WIDE} --allow-cached --keep"));
    let mut running = Running::start(&here, &line.replace("--duration 2s", "--duration 5s"));
    let measured_s = || {
        let text = fs::read(here.path("out/result.json")).ok()?;
        serde_json::from_slice::<Value>(&text).ok()?["duration_s"].as_f64()
    };
    while running.is_alive() && measured_s().unwrap_or(0.0) < 1.0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    running.signal("KILL");
    drop(running.end());
    here.proofload("run --resume out").exits(0).prints("PASS");
    // Samples of half a second hold whole ones of a quarter, so nothing is in one series only.
    agree(&here.path("out"));
    here.proofload("verify out").exits(0);
}

#[test]
fn a_prediction_is_the_same_with_a_second_series() {
    let here = Scratch::new();
    let line = "predict exchange-2013 --array nvme-raid10 --databases 1 --target-size 48MiB --threads 2 \
        --duration 3s --set engine.cache_size_per_database=8MiB --set engine.checkpoint_depth=4MiB \
        --set run.warm_up.maximum=1s --set run.steady_state.required=false --quiet";
    let line = |out: &str, intervals: &str| format!("{line} {WIDE} --out {out} {intervals}");
    let first = "--set run.sample_interval=250ms";
    here.proofload(&line("alone", first)).exits(0);
    assert!(!here.path("alone/samples-2.csv").exists());
    let second = format!("{first} --set run.second_sample_interval=500ms");
    here.proofload(&line("out", &second)).exits(0);
    assert_eq!(agree(&here.path("out")), (12, 6));
    let samples = |out: &str| fs::read_to_string(here.path(out).join("samples.csv")).expect(out);
    assert_eq!(samples("alone"), samples("out"));
    // The array's figures, too.
    let text = fs::read_to_string(here.path("out/samples-2.csv")).expect("samples");
    assert!(text.contains(",array-disk,"));
    // One that shares no multiple with the first but a short one.
    let second = format!("{first} --set run.second_sample_interval=100ms");
    here.proofload(&line("short", &second)).exits(0);
    assert_eq!(agree(&here.path("short")), (12, 30));
    here.proofload("verify short").exits(0);
}

#[test]
fn a_brokerage_has_two_series() {
    let here = Scratch::new();
    here.directory("target");
    let line = brokerage("sqlite").replace("--duration 10m", "--duration 3s");
    // Whatever its verdict.
    here.proofload(&with_second(&line));
    agree(&here.path("out"));
    let ended = here.proofload("verify out");
    assert_ne!(ended.status, Some(4), "{}", ended.stdout);
}
