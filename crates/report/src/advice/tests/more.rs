//! More of what is advised, and when.

use super::*;

#[test]
fn failed_requests_without_a_record_are_found() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.checks.push(failed(CheckId::Errors, 3.0));
    assert!(advice(&result)[0].text.starts_with("3 errors were counted"));
}

#[test]
fn busy_processors_are_attributed() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    result.checks.push(failed(CheckId::AchievedIops, 100.0));
    result.host.cpus = 4;
    for (own, words) in [(20.0, "only 5.00 %"), (380.0, "a bigger host")] {
        result.host.counters = vec![
            counter(Metric::CpuBusy, 97.0),
            counter(Metric::ProcessCpu, own),
        ];
        let found = of(&result, AdviceId::TARGET_MISSED).expect("there is advice");
        assert!(found.text.contains(words), "{}", found.text);
    }
}

#[test]
fn a_run_without_samples_claims_nothing() {
    let mut result = slow_run(5.0, 4.0, 1.0);
    for (samples, words) in [
        (0, "No full sample was taken."),
        (1, "One sample"),
        (19, "19 samples"),
    ] {
        result.samples.count = samples;
        let found = of(&result, AdviceId::SHORT_RUN).expect("there is advice");
        assert!(found.text.starts_with(words), "{}", found.text);
        assert!(!found.text.contains("works"), "{}", found.text);
    }
    result.samples.count = FEW_SAMPLES;
    assert!(of(&result, AdviceId::SHORT_RUN).is_none());
}
