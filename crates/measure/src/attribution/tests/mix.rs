//! The mix of transactions as the only level that was missed.

use super::*;

/// The share of an operation that may differ by a percentage point.
pub(super) fn share(operation: &str, points: f64) -> Check {
    let check = Check::of_run(CheckId::MixDeviation, 1.0, Some(points), String::new());
    check.about(&format!("share of {operation}"))
}

#[test]
fn a_wrong_mix_says_nothing_of_the_storage_whatever_the_device_did() {
    let mut result = slow();
    result.checks = vec![share("buy", 1.7), share("sell", 2.0), share("look", 0.5)];
    result.host.devices[0].busy_fraction = 1.0;
    server(&mut result, &[("storage", 100.0)]);
    attribute(&mut result);
    assert_eq!(result.verdict, Verdict::Inconclusive);
    let texts: Vec<&str> = result.causes.iter().map(|one| one.text.as_str()).collect();
    assert_eq!(
        texts,
        ["the share of sell differed from the profile by 2.00 percentage points (allowed: 1)."]
    );
    // The mix of a prediction is not the one asked for either.
    result.kind = RunKind::Prediction;
    result.set_verdict(Verdict::Fail, "");
    assert_eq!(causes(result.clone()).0, Verdict::Inconclusive);
    // A level that the storage has missed stands beside it.
    result.kind = RunKind::Run;
    result.set_verdict(Verdict::Fail, "");
    result
        .checks
        .push(check(CheckId::DatabaseReadAverage, 20.0, 25.0));
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}
