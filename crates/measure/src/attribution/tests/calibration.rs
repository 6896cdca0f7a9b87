//! Predictions on a calibrated array.

use super::*;
use crate::result::{CalibrationResult, LevelBar};

/// A prediction with these levels, each with the bar of its value, in ms.
fn predicted(verdict: Verdict, levels: &[(f64, (f64, f64))]) -> RunResult {
    let mut result = slow();
    result.kind = RunKind::Prediction;
    let checks = levels
        .iter()
        .enumerate()
        .map(|(number, &(value, _))| Check {
            place: format!("db{number}"),
            ..check(CheckId::DatabaseReadAverage, 20.0, value)
        });
    result.checks = checks.collect();
    let bars = result.checks.iter().zip(levels);
    let bars = bars.map(|(check, &(_, (low, high)))| LevelBar {
        id: check.id,
        place: check.place.clone(),
        low,
        high,
        ..LevelBar::default()
    });
    result.calibration = Some(CalibrationResult {
        parameter_sets: 50,
        levels: bars.collect(),
        ..CalibrationResult::default()
    });
    result.set_verdict(verdict, "Judged.");
    result
}

#[test]
fn a_limit_within_a_bar_leaves_the_verdict_open() {
    let (sure, open) = ((12.0, (9.0, 19.0)), (18.0, (9.0, 21.0)));
    let (missed, missed_open) = ((30.0, (25.0, 35.0)), (22.0, (18.0, 26.0)));
    let inconclusive = (Verdict::Inconclusive, vec![CauseId::Calibration]);
    for (verdict, levels, expected) in [
        (Verdict::Pass, vec![sure, sure], (Verdict::Pass, vec![])),
        (Verdict::Pass, vec![sure, open], inconclusive.clone()),
        (Verdict::Fail, vec![open, missed], (Verdict::Fail, vec![])),
        (
            Verdict::Fail,
            vec![missed_open, missed],
            (Verdict::Fail, vec![]),
        ),
        (Verdict::Fail, vec![sure, missed_open], inconclusive.clone()),
        (
            Verdict::Interrupted,
            vec![open],
            (Verdict::Interrupted, vec![]),
        ),
    ] {
        assert_eq!(causes(predicted(verdict, &levels)), expected, "{levels:?}");
    }
}

#[test]
fn a_level_without_a_bar_is_not_open() {
    let mut result = predicted(Verdict::Fail, &[(22.0, (18.0, 26.0))]);
    result
        .checks
        .push(check(CheckId::PageFaultStalls, 1.0, 2.0));
    assert_eq!(causes(result), (Verdict::Fail, vec![]));
}

#[test]
fn the_reason_has_the_figures() {
    let mut result = predicted(Verdict::Pass, &[(18.0, (9.0, 21.0))]);
    attribute(&mut result);
    assert_eq!(
        result.verdict_reason,
        "Judged. But the calibration of the array leaves it open: the average database read latency of db0 is \
         18.0 ms, and 90 % of what the parameter sets give lies between 9.00 ms and 21.0 ms (limit: 20.0 ms). \
         Calibrate the disk again with tests that are more like this load, or plan for less."
    );
}
