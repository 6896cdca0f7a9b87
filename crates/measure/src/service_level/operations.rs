//! Levels of single kinds of operations: response times, shares of the mix, shares of rollbacks.

use crate::display::number::{self, bounded, figure, limit};
use crate::metric::Unit;
use crate::result::{Check, CheckId};
use crate::sample::RunTotals;

/// Levels of single kinds of operations. A level of an operation that a run does not know is an
/// error of the program.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct OperationLevels {
    /// The longest 90th percentile that an operation may have, by operation.
    pub p90: Vec<PercentileLevel>,
    /// Shares of groups of operations.
    pub shares: Vec<ShareLevel>,
}

/// The time that 90 of 100 operations of a kind must keep.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct PercentileLevel {
    /// Name of the operation.
    pub operation: String,
    /// The limit; infinity is not judged.
    pub p90_ms: f64,
}

/// How many of some operations are of some kinds.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ShareLevel {
    /// What is shared, in words, such as `share of read`.
    pub name: String,
    /// Names of the operations that are counted.
    pub of: Vec<String>,
    /// Names of the operations that they are a share of.
    pub among: Vec<String>,
    /// The share that is wanted, in percent.
    pub percent: f64,
    /// How far from it the share may lie, in points of percent.
    pub tolerance_points: f64,
    /// How many operations too many or too few may be due to chance alone, whatever the length of
    /// the run: where in the shuffled deck the measured phase begins and ends. In a long run they
    /// are as good as nothing.
    pub chance_operations: f64,
}

impl OperationLevels {
    pub(super) fn checks(&self, totals: &RunTotals) -> Vec<Check> {
        let percentiles = self.p90.iter().map(|level| level.check(totals));
        let shares = self.shares.iter().map(|level| level.check(totals));
        percentiles.chain(shares).collect()
    }
}

impl PercentileLevel {
    fn check(&self, totals: &RunTotals) -> Check {
        let service = totals.operation_service(&self.operation);
        let value = service.filter(|times| !times.is_empty());
        let rule = format!(
            "90 % of the {} transactions of the measured phase take at most this long, from start \
             to commit. Allowed: {}.",
            self.operation,
            bounded(self.p90_ms, Unit::Milliseconds)
        );
        let value = value.map(|times| times.quantile_ms(0.9));
        Check::of_run(CheckId::OperationP90, self.p90_ms, value, rule).about(&self.operation)
    }
}

impl ShareLevel {
    fn check(&self, totals: &RunTotals) -> Check {
        let count = |names: &[String]| -> u64 {
            let counts = names.iter().map(|name| totals.operation_count(name));
            counts.sum()
        };
        let among = count(&self.among);
        let share = 100.0 * count(&self.of) as f64 / among.max(1) as f64;
        let chance_points = 100.0 * self.chance_operations / among.max(1) as f64;
        let allowed_points = (self.tolerance_points + chance_points).min(100.0);
        let rule = format!(
            "{} of the {} transactions of the measured phase. Required: {} %, \u{b1} {} percentage \
             points, and {} for chance in so few of them; it was {} %.",
            self.name,
            number::count(among),
            limit(self.percent),
            limit(self.tolerance_points),
            figure(chance_points),
            figure(share)
        );
        let deviation = (among > 0).then_some((share - self.percent).abs());
        Check::of_run(CheckId::MixDeviation, allowed_points, deviation, rule).about(&self.name)
    }
}
