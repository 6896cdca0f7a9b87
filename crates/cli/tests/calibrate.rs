//! Models of disks from what fio measured, as a user types it.

mod common;

use std::fmt::Write as _;
use std::fs;

use common::Scratch;

/// Random reads that a disk of 120 us and 500 MB/s would give.
fn results() -> String {
    let mut tests = String::new();
    for (kib, outstanding) in [(4, 1), (4, 8), (8, 4), (16, 1), (16, 16), (64, 2), (64, 8)] {
        let alone_us = 110.0 + f64::from(kib) * 2.4;
        let iops = (f64::from(outstanding) / alone_us * 1e6).min(500e6 / 1024.0 / f64::from(kib));
        let comma = if tests.is_empty() { "" } else { "," };
        let mean_us = f64::from(outstanding) / iops * 1e6;
        let _ = write!(
            tests,
            "{comma}{{\"test\": \"{kib}k-{outstanding}\", \"jobs\": [{{\"options\": {{\"rw\": \"randread\", \
             \"bs\": \"{kib}k\", \"iodepth\": \"{outstanding}\", \"ioengine\": \"libaio\", \"size\": \"1g\", \"runtime\": \"10\"}}, \
             \"read\": {{\"iops\": {iops}, \"bytes_per_s\": {}, \"requests\": 1000, \
             \"latency_us\": {{\"mean\": {mean_us}}}}}}}]}}",
            iops * 1024.0 * f64::from(kib)
        );
    }
    format!("{{\"tests\": [{tests}]}}")
}

#[test]
fn a_model_that_fits_is_an_array_for_predictions() {
    let here = Scratch::new();
    fs::create_dir(here.path("results")).expect("a directory");
    here.file("results/all.json", &results());
    here.file("results/notes.txt", "not a result");
    let line = "calibrate --fio results --like ssd-sata-mlc-256gb --sets 96 --out my.toml";
    here.proofload(&format!("{line} --dry-run"))
        .exits(0)
        .prints("fitted: 6")
        .prints("held out, to judge the model: 1")
        .prints("96 parameter sets");
    assert!(!here.path("my.toml").exists());
    here.proofload(line)
        .exits(0)
        .prints("page_read_us")
        .prints("held out")
        .prints("Array: my.toml");
    let array = fs::read_to_string(here.path("my.toml")).expect("an array");
    assert!(array.starts_with("# Calibrated by proofload"), "{array}");
    // Nothing is written over.
    here.proofload(line).exits(2).says("is there already");
    here.file(
        "t.csv",
        "time_s,volume,offset_bytes,size_bytes,operation\n0.1,v,0,4096,read\n",
    );
    here.proofload("predict t.csv --array my.toml --quiet")
        .exits(0);
    here.proofload(
        "predict exchange-2013 --array my.toml --databases 1 --mailboxes 100 --target-size 1GB \
         --duration 1m --dry-run",
    )
    .exits(0);
}

#[test]
fn what_cannot_be_fitted_is_refused() {
    let here = Scratch::new();
    here.file("all.json", &results());
    here.file("broken.json", "{\"tests\": 3}");
    here.file("few.json", "{\"tests\": []}");
    here.file("no-disk.toml", "title = \"nothing\"\n");
    for (arguments, says) in [
        (
            "--fio nowhere --like ssd-sas-800gb",
            "nowhere cannot be read",
        ),
        (
            "--fio broken.json --like ssd-sas-800gb",
            "no result of 'fio",
        ),
        ("--fio few.json --like ssd-sas-800gb", "Of 0 tests"),
        (
            "--fio all.json --like ssd-sas-80gb",
            "Did you mean ssd-sas-800gb?",
        ),
        ("--fio all.json --like no-disk.toml", "describes no disk"),
        ("--fio all.json --like cloud-burst-100gb", "no parameters"),
        ("--fio all.json --like ssd-sas-800gb --sets 3", "from 48"),
    ] {
        here.proofload(&format!("calibrate {arguments} --out my.toml"))
            .exits(2)
            .says(says);
    }
    assert!(!here.path("my.toml").exists());
}
