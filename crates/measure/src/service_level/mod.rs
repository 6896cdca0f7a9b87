//! Service levels: the limits, the rules that judge them, and the verdict.
//!
//! How the figures are read (each check prints its rule in these words):
//!
//! - An **average** is the sum of all latencies of the measured phase over their number, not the
//!   mean of the sample averages: a busy sample weighs more than an idle one.
//! - A **maximum** is about sample averages, as in Jetstress, not about single requests. With
//!   `allowed_maximum_violations = 0` no sample may exceed the limit; with N, up to N samples of
//!   each database may. Percentiles and the maximum stand beside it in the result.
//! - Each database is judged on its own; one that fails makes the run fail.
//! - A value exactly at its limit passes.
//! - A limit of `inf` is not judged.

mod judge;
mod levels;
mod operations;
mod rules;
mod storage_tests;

pub use judge::{Judgement, add_checks, allowed_errors, deciding_check, describe_counts, judge};
pub use levels::Levels;
pub use operations::{OperationLevels, PercentileLevel, ShareLevel};
pub use rules::{Measured, evaluate};
pub use storage_tests::checks_of_tests;

use std::ops::{Deref, DerefMut};

/// The limits that decide the verdict of a run.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ServiceLevels {
    /// Those of every workload; read as if they were fields of these.
    pub levels: Levels,
    /// Levels of single kinds of operations. None unless set.
    pub operations: OperationLevels,
}

impl Deref for ServiceLevels {
    type Target = Levels;

    fn deref(&self) -> &Levels {
        &self.levels
    }
}

impl DerefMut for ServiceLevels {
    fn deref_mut(&mut self) -> &mut Levels {
        &mut self.levels
    }
}
