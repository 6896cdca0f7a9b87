//! Probes on a modelled array: Little's law, limits, sizes, and the same bits for the same seed.

use array::description::{Description, one_disk};
use calibrate::model::{self, ModelOptions};
use calibrate::{Access, Job, Probe};

fn job(access: Access, outstanding: u32, limit: Option<f64>) -> Job {
    Job {
        access,
        sizes: 4_096..=16_384,
        outstanding,
        limit_bytes_per_s: limit,
    }
}

fn probe(jobs: Vec<Job>) -> Probe {
    Probe {
        name: "probe".to_owned(),
        jobs,
        span_bytes: 4 << 30,
        duration_ns: 5_000_000_000,
    }
}

fn disk(name: &str) -> Description {
    Description::load(&one_disk(name).expect("a built-in disk")).expect("a description")
}

#[test]
fn outstanding_requests_are_rate_times_response_time() {
    for (name, outstanding) in [("sas-10k-900gb", 4), ("ssd-sas-800gb", 16)] {
        let probe = probe(vec![job(Access::RandomRead, outstanding, None)]);
        let found = model::run(&disk(name), &probe, ModelOptions::default()).expect("figures");
        let outside = found[0].iops * found[0].mean_us / 1e6;
        let ratio = outside / f64::from(outstanding);
        assert!((ratio - 1.0).abs() < 0.02, "{name}: {outside}");
        // Sizes of 4, 8, 12 and 16 KiB are as likely.
        let bytes = found[0].bytes_per_s / found[0].iops;
        assert!((bytes / 10_240.0 - 1.0).abs() < 0.03, "{name}: {bytes}");
    }
}

#[test]
fn a_limit_is_kept_one_request_after_the_other() {
    let jobs = vec![
        job(Access::RandomRead, 8, None),
        job(Access::SequentialWrite, 10, Some(10_240_000.0)),
    ];
    let found = model::run(
        &disk("ssd-sas-800gb"),
        &probe(jobs),
        ModelOptions::default(),
    );
    let found = found.expect("figures");
    assert!(
        (found[1].bytes_per_s / 10_240_000.0 - 1.0).abs() < 0.05,
        "{found:?}"
    );
    // Ten at once would wait for each other.
    assert!(found[1].mean_us < 200.0, "{found:?}");
}

#[test]
fn the_inner_edge_of_a_disk_is_slower() {
    let stream = probe(vec![Job {
        sizes: 1 << 20..=1 << 20,
        ..job(Access::SequentialRead, 2, None)
    }]);
    let rate = |start_share| {
        let options = ModelOptions {
            start_share,
            ..ModelOptions::default()
        };
        model::run(&disk("sata-7k2-3tb"), &stream, options).expect("figures")[0].bytes_per_s
    };
    let ratio = rate(0.0) / rate(1.0);
    assert!((1.7..2.1).contains(&ratio), "{ratio}");
}

#[test]
fn the_same_seed_gives_the_same_figures() {
    let run = |seed| {
        let options = ModelOptions {
            seed,
            ..ModelOptions::default()
        };
        let probe = probe(vec![job(Access::RandomWrite, 8, None)]);
        model::run(&disk("ssd-sas-800gb"), &probe, options).expect("figures")
    };
    assert_eq!(run(1), run(1));
    assert_ne!(run(1), run(2));
}

#[test]
fn a_probe_that_is_larger_than_the_disk_is_refused() {
    let mut probe = probe(vec![job(Access::RandomRead, 1, None)]);
    probe.span_bytes = 4 << 40;
    let found = model::run(&disk("ssd-sas-800gb"), &probe, ModelOptions::default());
    assert!(found.is_err());
}
