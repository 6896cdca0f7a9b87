//! Predictions that end when their answer is known.

#![allow(clippy::unwrap_used)] // A failed unwrap is a failed test.

use measure::result::RunResult;
use proofload::Scenario;

/// A small mail server on flash, half an hour at most.
fn scenario() -> Scenario {
    Scenario::new("exchange-2013")
        .on_array("nvme-raid10")
        .with("mail.databases", 1)
        .with("mail.mailboxes_per_database", 10)
        .with("mail.mailbox_size", "5MiB")
        .with("run.held_rate", 300)
        .with("run.duration", "5m")
        .with("run.sample_interval", "1s")
        .with("run.warm_up.maximum", "1s")
        .with("engine.cache_size_per_database", "8MiB")
        .with("engine.checkpoint_depth", "4MiB")
        .with("array.volumes.database_size_gb", 2)
}

fn predicted(scenario: &Scenario) -> RunResult {
    scenario.predict().unwrap().result
}

#[test]
fn a_prediction_ends_when_its_latencies_are_known() {
    let until = |percent: f64| predicted(&scenario().with("run.until_percent", percent));
    let rough = until(5.0);
    assert!(
        (20.0..300.0).contains(&rough.duration_s),
        "{} {}",
        rough.duration_s,
        rough.verdict_reason
    );
    let said = rough
        .notes
        .iter()
        .find(|note| note.contains("were known to"));
    assert!(said.unwrap().contains("of 5 min"), "{said:?}");
    // Better known takes longer.
    let fine = until(2.0);
    assert!(
        fine.duration_s > rough.duration_s,
        "{} {}",
        fine.duration_s,
        rough.duration_s
    );
    let whole = predicted(&scenario());
    assert_eq!(whole.duration_s, 300.0);
    let mean_ms = |result: &RunResult| result.totals.reads.latency.unwrap().average_ms;
    let error = (mean_ms(&rough) / mean_ms(&whole) - 1.0).abs();
    // The interval holds the mean of an endless run with a confidence of 95 %; this seed is one of them.
    assert!(error < 0.05, "{error}");
}

#[cfg(feature = "host")]
#[test]
fn a_run_on_storage_lasts_as_long_as_it_is_asked_to() {
    let place = tempfile::tempdir().unwrap();
    let run = scenario().with("run.until_percent", 5);
    let options = proofload::RunOptions {
        on: vec![place.path().to_owned()],
        ..proofload::RunOptions::default()
    };
    let error = run.run(&options).unwrap_err();
    assert!(error.to_string().contains("ends predictions"), "{error}");
}

#[test]
fn events_and_an_early_end_do_not_go_together() {
    let both = scenario()
        .with("run.until_percent", 5)
        .with_event("1m disk-fail 3")
        .unwrap();
    let error = both.predict().unwrap_err();
    assert!(error.to_string().contains("may end before them"), "{error}");
}
