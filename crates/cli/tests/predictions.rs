//! Predictions give the same figures as before, bit for bit: every workload, bundled arrays of each
//! kind, events, a trace, a sweep, searches and a study.
//!
//! A change of the engine, the array model or a workload that is meant to change figures changes
//! `known/predictions.txt` with it; its difference shows by how much.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

mod common;

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use common::Scratch;
use serde_json::Value;

const MAIL: &str = "--databases 2 --target-size 4GB --duration 20s \
    --set run.sample_interval=2s --set run.warm_up.minimum=6s";

const BROKERAGE: &str = "predict brokerage --threads 6 --target-size 1GB --duration 20s \
    --set run.sample_interval=5s --set run.warm_up.minimum=10s";

/// The name of each, and its command line. `MAIL` and `BROKERAGE` stand for the above.
const CASES: [(&str, &str); 24] = [
    (
        "msa2040",
        "predict exchange-2013 --array msa2040 --threads 8 MAIL",
    ),
    (
        "msa2040-cache",
        "predict exchange-2013 --array msa2040-cache --threads 8 MAIL",
    ),
    (
        "msa2042-tier",
        "predict exchange-2013 --array msa2042-tier --threads 8 MAIL",
    ),
    (
        "msa2050",
        "predict exchange-2013 --array msa2050 --threads 8 MAIL",
    ),
    (
        "eva5000-raid1",
        "predict exchange-2013 --array eva5000-isolated-vraid1 --threads 8 MAIL",
    ),
    (
        "eva5000-raid5",
        "predict exchange-2013 --array eva5000-crossover-vraid5 --threads 8 MAIL",
    ),
    (
        "s3500-raid0",
        "predict exchange-2013 --array lsi-s3500-raid0 --threads 8 MAIL",
    ),
    (
        "s3500-raid5",
        "predict exchange-2013 --array lsi-s3500-raid5 --threads 8 MAIL",
    ),
    (
        "nvme",
        "predict exchange-2013 --array nvme-raid10 --threads 4 --databases 1 \
        --target-size 1GB --duration 2s --set run.sample_interval=1s",
    ),
    (
        "exchange-2003",
        "predict exchange-2003 --array msa2040 --threads 8 MAIL",
    ),
    (
        "exchange-2007",
        "predict exchange-2007 --array msa2040 --threads 8 MAIL",
    ),
    (
        "exchange-2010",
        "predict exchange-2010 --array msa2040 --threads 8 MAIL",
    ),
    (
        "rate",
        "predict exchange-2013 --array msa2050 --rate 400 MAIL",
    ),
    (
        "tuning",
        "predict exchange-2013 --array msa2050 --threads auto MAIL",
    ),
    (
        "settled",
        "predict exchange-2013 --array msa2050-tier --settled --threads 8 MAIL",
    ),
    (
        "seed",
        "predict exchange-2013 --array msa2050 --seed 7 --threads 8 MAIL",
    ),
    (
        "failed-disk",
        "predict exchange-2013 --array msa2050 --threads 8 MAIL \
        --set array.event=[{at='8s',what='disk-fails',disk=3}]",
    ),
    (
        "rebuild",
        "predict exchange-2013 --array lsi-s3500-raid5 --threads 8 MAIL \
        --set array.event=[{at='4s',what='disk-fails',disk=3,lasts='1s'}]",
    ),
    ("brokerage", "BROKERAGE --array msa2042"),
    ("brokerage-tier", "BROKERAGE --array msa2042-tier"),
    ("trace", "predict {known}/trace.csv --array msa2050"),
    (
        "trace-of-a-disk",
        "predict {known}/trace.csv --array sas-10k-900gb",
    ),
    (
        "sweep",
        "predict exchange-2013 --array msa2050-tier --threads 8 MAIL \
        --sweep threads=4,8 --sweep array.pool.ssd_count=2,4",
    ),
    (
        "search",
        // Without a steady state every point would be predicted for three lengths, which takes most of the time.
        "predict exchange-2013 --array msa2050 --find max-iops MAIL \
        --set run.steady_state.required=false",
    ),
];

fn known(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/known")
        .join(name)
}

/// The directories of results at or below this one, in order.
fn results_below(directory: &Path, found: &mut Vec<PathBuf>) {
    if directory.join("result.json").exists() {
        found.push(directory.to_owned());
    }
    let entries = fs::read_dir(directory)
        .unwrap()
        .map(|entry| entry.unwrap().path());
    let mut inner: Vec<PathBuf> = entries.filter(|path| path.is_dir()).collect();
    inner.sort();
    for path in inner {
        results_below(&path, found);
    }
}

/// What a result comes to: figures that say how large a difference is, and a checksum of all samples.
fn summary(directory: &Path) -> String {
    let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap();
    let result: Value = serde_json::from_str(&read("result.json")).unwrap();
    let mut text = format!("{}:", result["verdict"].as_str().unwrap());
    for (name, pointer) in [
        ("IOPS", "/throughput/achieved_iops"),
        ("ms read", "/totals/reads/latency/average_ms"),
        ("ms write", "/totals/writes/latency/average_ms"),
        ("ms log write", "/totals/log_writes/latency/average_ms"),
    ] {
        if let Some(value) = result.pointer(pointer).and_then(Value::as_f64) {
            write!(text, " {value:.4} {name},").unwrap();
        }
    }
    let samples = read("samples.csv");
    // The head names the columns; a new name is no new figure.
    let rows = samples.split_once('\n').unwrap().1;
    let checksum = crc32fast::hash(rows.as_bytes());
    write!(text, " samples {checksum:08x}").unwrap();
    text
}

fn predict(name: &str, line: &str) -> String {
    let here = Scratch::new();
    let line = line.replace("MAIL", MAIL).replace("BROKERAGE", BROKERAGE);
    let line = line.replace("{known}", known("").to_str().unwrap());
    let ended = here.proofload(&format!("{line} --quiet --out out"));
    let mut found = Vec::new();
    results_below(&here.path("out"), &mut found);
    let mut text = format!("{name}: exit {}\n", ended.status.unwrap());
    for directory in found {
        let inner = directory.strip_prefix(here.path("out")).unwrap();
        writeln!(text, "  {} {}", inner.display(), summary(&directory)).unwrap();
    }
    text
}

#[test]
fn predictions_give_the_figures_that_they_gave() {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut done = Vec::new();
        while let Some((name, line)) = CASES.get(next.fetch_add(1, Ordering::Relaxed)) {
            done.push((*name, predict(name, line)));
        }
        done
    };
    let workers = thread::available_parallelism().map_or(1, usize::from);
    let done: Vec<(&str, String)> = thread::scope(|scope| {
        let started: Vec<_> = (0..workers).map(|_| scope.spawn(work)).collect();
        started
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    let text_of = |name: &str| &done.iter().find(|one| one.0 == name).unwrap().1;
    let text: String = CASES.iter().map(|case| text_of(case.0).as_str()).collect();
    test_support::expect(&known("predictions.txt"), &text);
}
