//! Modelled arrays of which it is known what they fail on: the verdict names that level, and no other.

mod common;

use common::{Ended, Scratch, proofload};
use serde_json::Value;

/// A name, the array and load (`~` stands for a blank in an option), and the levels that are missed.
const CASES: [(&str, &str, &[&str]); 6] = [
    ("passing", "--array msa2050 --rate 400 --duration 30s", &[]),
    // Slow disks behind a cache that takes writes.
    (
        "read latency",
        "--array msa2050 --set array.pool.disk=nl-sas-7k2-1tb --rate 1600 --duration 30s",
        &["database-read-average", "database-read-max"],
    ),
    // Without a battery the controllers write through to parity on disks.
    (
        "log writes",
        "--array msa2050 --event 0s~battery-lost~0 --event 0s~battery-lost~1 --rate 200 --duration 30s",
        &["log-write-average"],
    ),
    // A disk of twenty hangs for seconds.
    (
        "a spike",
        "--array msa2050 --event 15s~disk-slow~3~x300~for~3s --rate 400 --duration 30s",
        &["database-read-max"],
    ),
    // More sessions than a cache of 256 pages has clean pages for.
    (
        "stalls",
        "--array lsi-s3500-raid0 --threads 300 --set mail.iops_per_mailbox=0 \
         --set engine.cache_size_per_database=8MiB --duration 6s",
        &["page-fault-stalls"],
    ),
    // A volume of 300 IOPS under two sessions: each request is quick, and there are too few.
    (
        "throughput",
        "--array cloud-burst --event 0s~credits-spent~0 --threads 2 --set mail.iops_per_mailbox=1.2 --duration 30s",
        &["achieved-iops"],
    ),
];

#[test]
fn the_verdict_names_the_level_that_the_array_misses_and_no_other() {
    let here = Scratch::new();
    std::thread::scope(|scope| {
        for (number, (name, options, missed)) in CASES.iter().enumerate() {
            let here = &here;
            scope.spawn(move || {
                let line = format!(
                    "predict exchange-2013 {options} --databases 2 --target-size 4GiB \
                     --set run.sample_interval=1s --set run.warm_up.minimum=2s \
                     --set run.steady_state.required=false --json --out out-{number}"
                );
                let words = line.split_whitespace().map(|word| word.replace('~', " "));
                let ended = Ended::of(proofload(&here.path("")).args(words));
                let result: Value = serde_json::from_str(&ended.stdout).expect("one document");
                let checks = result["checks"].as_array().expect("checks");
                let mut failed: Vec<&str> = checks
                    .iter()
                    .filter(|check| check["passed"] == false)
                    .filter_map(|check| check["id"].as_str())
                    .collect();
                failed.sort_unstable();
                failed.dedup();
                assert_eq!(failed, *missed, "{name}");
                let (verdict, status) = match missed.is_empty() {
                    true => ("pass", 0),
                    false => ("fail", 1),
                };
                assert_eq!(result["verdict"], verdict, "{name}");
                ended.exits(status);
            });
        }
    });
}
