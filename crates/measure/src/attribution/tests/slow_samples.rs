//! Levels of single samples.

use super::*;
use crate::result::SlowSample;

/// A run that missed its maximum in some samples, each with the busy CPUs and the read latency of the
/// device that are given.
fn with_slow_samples(samples: &[(f64, f64)], allowed: f64) -> RunResult {
    let mut result = slow();
    let settings = &mut result.workload.settings;
    let path = "service_levels.allowed_maximum_violations".to_owned();
    settings.insert(path, allowed.into());
    let slow_sample = |&(busy_percent, device_ms): &(f64, f64)| SlowSample {
        begins_s: 60.0,
        requests: 500,
        average_ms: 120.0,
        host: [
            ("cpu_busy_percent", busy_percent),
            ("process_cpu_percent", 4.0),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .into(),
        devices: [(
            "sda".to_owned(),
            [("device_average_read_ms".to_owned(), device_ms)].into(),
        )]
        .into(),
    };
    let slow_samples: Vec<SlowSample> = samples.iter().map(slow_sample).collect();
    result.checks = vec![Check {
        samples_above: samples.len() as u64,
        slow_samples,
        ..check(CheckId::DatabaseReadMax, 100.0, 120.0)
    }];
    // Over the whole phase the device accounts for everything, and the CPUs were idle.
    result.host.devices[0].average_read_ms = Some(25.0);
    counter(&mut result, Metric::CpuBusy, 10.0);
    counter(&mut result, Metric::ProcessCpu, 4.0);
    result
}

#[test]
fn a_slow_sample_is_explained_by_what_was_seen_in_it() {
    // Another program took the CPUs for one sample, and the device was as fast as ever.
    let busy = (99.0, 10.0);
    let host_busy = (
        Verdict::Inconclusive,
        vec![CauseId::HostBusy, CauseId::AboveDevice],
    );
    assert_eq!(causes(with_slow_samples(&[busy], 0.0)), host_busy);
    // The device was slow in the sample, whatever the CPUs did.
    let slow_device = (99.0, 110.0);
    assert_eq!(
        causes(with_slow_samples(&[slow_device], 0.0)),
        (Verdict::Fail, vec![])
    );
    // One sample of the storage is too many where none is allowed, and not where one is.
    assert_eq!(
        causes(with_slow_samples(&[busy, slow_device], 0.0)),
        (Verdict::Fail, vec![])
    );
    assert_eq!(
        causes(with_slow_samples(&[busy, slow_device], 1.0)),
        host_busy
    );
    // Nothing explains a sample whose latency neither device nor host accounts for.
    assert_eq!(
        causes(with_slow_samples(&[(20.0, 60.0)], 0.0)),
        (Verdict::Fail, vec![])
    );
}

#[test]
fn samples_that_are_not_listed_count_like_those_that_are() {
    let mut result = with_slow_samples(&[(99.0, 10.0), (99.0, 110.0)], 3.0);
    result.checks[0].samples_above = 6;
    assert_eq!(causes(result.clone()).0, Verdict::Inconclusive);
    result.checks[0].samples_above = 8;
    assert_eq!(causes(result).0, Verdict::Fail);
}

#[test]
fn the_sentence_says_in_how_many_samples_it_was_seen() {
    let mut result = with_slow_samples(&[(99.0, 10.0), (20.0, 10.0)], 0.0);
    attribute(&mut result);
    let texts: Vec<&str> = result.causes.iter().map(|one| one.text.as_str()).collect();
    assert!(
        texts[0].starts_with("in 2 of 2 samples above the limit, the first of them 60 s after"),
        "{texts:?}"
    );
    assert!(texts[1].starts_with("in 1 of 2 samples"), "{texts:?}");
    let mut result = with_slow_samples(&[(99.0, 10.0), (99.0, 10.0)], 0.0);
    result.checks[0].samples_above = 300;
    attribute(&mut result);
    let text = &result.causes[0].text;
    assert!(text.starts_with("in 2 of the 2 slowest samples"), "{text}");
}
