//! Counters of a server, between two readings.

/// The average of times in microseconds; `None` if they were not taken.
pub(super) fn average_ms(micros: Option<&u64>, count: Option<&u64>) -> Option<f64> {
    let (micros, count) = (*micros?, *count?);
    (micros > 0 && count > 0).then(|| micros as f64 / 1e3 / count as f64)
}

/// What counters have grown by; from zero on after a restart of the server. `None` without both
/// readings.
pub(super) fn difference(before: Option<&Vec<i64>>, after: Option<&Vec<i64>>) -> Option<Vec<u64>> {
    let (before, after) = (before?, after?);
    let restarted = before
        .iter()
        .zip(after)
        .any(|(before, after)| after < before);
    let grown = before.iter().zip(after).map(|(before, after)| {
        let started = if restarted { 0 } else { *before };
        (after - started).max(0).unsigned_abs()
    });
    Some(grown.collect())
}
