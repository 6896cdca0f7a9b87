//! Causes of runs that search for their load.

use super::{Change, check};
use crate::result::{CauseId, CheckId, SearchEnd, TuningResult};

pub(super) const CASES: [(CauseId, Change); 2] = [
    (CauseId::MaximumNotHeld, |one| {
        one.throughput.rate_iops = Some(900.0);
        one.tuning = Some(TuningResult {
            finds_maximum: true,
            reached: true,
            maximum_iops: Some(900.0),
            ..TuningResult::default()
        });
    }),
    (CauseId::SearchLimit, |one| {
        one.checks = vec![check(CheckId::AchievedIops, 5_000.0, 900.0)];
        one.tuning = Some(TuningResult {
            target_iops: Some(5_000.0),
            maximum_iops: Some(900.0),
            ended: SearchEnd::LargestLoad,
            ..TuningResult::default()
        });
    }),
];
