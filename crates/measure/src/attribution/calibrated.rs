//! Whether the calibration of a modelled array leaves a level open.

use crate::display::number::quantity;
use crate::result::{Cause, CauseId, Check, RunResult, Verdict};

const REMEDY: &str =
    "Calibrate the disk again with tests that are more like this load, or plan for less.";

/// When the cause holds, for the documentation.
pub(super) const CONDITION: (CauseId, &str) = (
    CauseId::Calibration,
    "the array of a prediction was calibrated, and the limit of a level that was met, or of each level that was \
     not, lies within the error bar",
);

/// Makes a prediction inconclusive where its verdict depends on what the calibration leaves open.
pub(super) fn attribute_calibrated(result: &mut RunResult) {
    let judged = |passed| {
        result
            .checks
            .iter()
            .filter(move |check| check.passed == Some(passed))
    };
    let open = |check: &&Check| is_open(result, check);
    let first = match result.verdict {
        Verdict::Pass => judged(true).find(open),
        Verdict::Fail if judged(false).all(|check| open(&check)) => judged(false).next(),
        _ => None,
    };
    let Some(cause) = first.and_then(|check| cause(result, check)) else {
        return;
    };
    let reason = format!(
        "{} But the calibration of the array leaves it open: {} {REMEDY}",
        result.verdict_reason, cause.text
    );
    result.set_verdict(Verdict::Inconclusive, reason);
    result.causes.push(cause);
}

fn is_open(result: &RunResult, check: &Check) -> bool {
    let bars = result.calibration.as_ref();
    let bar = bars.and_then(|bars| bars.of_level(check));
    bar.is_some_and(|bar| bar.leaves_open(check))
}

fn cause(result: &RunResult, check: &Check) -> Option<Cause> {
    let bar = result.calibration.as_ref()?.of_level(check)?;
    let shown = |value| quantity(value, check.unit);
    Some(Cause {
        id: CauseId::Calibration,
        text: format!(
            "the {} of {} is {}, and 90 % of what the parameter sets give lies between {} and {} (limit: {}).",
            check.name,
            check.place,
            shown(check.value?),
            shown(bar.low),
            shown(bar.high),
            shown(check.limit),
        ),
        remedy: REMEDY.to_owned(),
    })
}
