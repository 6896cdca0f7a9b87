//! The second series of samples: compared with its histograms, and with the first.

use super::{Verified, raw_samples, recounted};
use crate::metric::Stream;
use crate::result::RunResult;
use crate::run_directory::SECOND_SERIES;
use crate::sample::RunTotals;

/// Compares the second series, if there is one, with its histograms, and its counts with those of the
/// first.
pub(super) fn compare_second(result: &RunResult, first: &RunTotals, verified: &mut Verified) {
    let Some(interval_s) = result.samples.second_interval_s else {
        return;
    };
    let reach = result.samples.second_files_reach;
    let reach = reach.filter(|_| !result.complete);
    let consequence = "the second series of samples was not compared";
    let Some(raw) = raw_samples(SECOND_SERIES, reach, consequence, verified) else {
        return;
    };
    let differences = &mut verified.differences;
    let Some(second) = recounted(SECOND_SERIES, &raw, interval_s, differences) else {
        return;
    };
    // Where a run was killed, the two do not end at the same time.
    if !result.complete || !result.interruptions.is_empty() {
        return;
    }
    let counts = counts(&second.totals).into_iter().zip(counts(first));
    for ((what, found), (_, expected)) in counts.filter(|(second, first)| second != first) {
        let file = SECOND_SERIES.samples;
        let (found, expected) = (found.to_string(), expected.to_string());
        verified.differences.of(file, &what, found, expected);
    }
}

/// What was counted in the measured phase, with its name.
fn counts(totals: &RunTotals) -> Vec<(String, u64)> {
    let streams = totals.databases().flat_map(|(name, database)| {
        Stream::ALL.into_iter().flat_map(move |stream| {
            let meter = &database.stream(stream).meter;
            [
                (format!("{name}, {stream}, count"), meter.count()),
                (format!("{name}, {stream}, errors"), meter.errors),
            ]
        })
    });
    let operations = totals.layout().operations.iter().map(|kind| {
        let count = totals.operation_count(&kind.name);
        (format!("{}, count", kind.name), count)
    });
    streams.chain(operations).collect()
}
