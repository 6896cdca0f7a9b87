//! The limits of a run that belong into a chart.

use measure::metric::Unit;
use measure::result::{CheckId, RunResult};

use crate::chart::Chart;
use crate::number::{bounded, limit};

/// Limits with their labels, each once.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Limits {
    list: Vec<(String, f64)>,
}

impl Limits {
    fn add(&mut self, label: String, value: f64) {
        if !self.list.iter().any(|(known, _)| *known == label) {
            self.list.push((label, value));
        }
    }

    /// The limits that are in `self` and in `other`.
    #[must_use]
    pub fn in_both(mut self, other: &Self) -> Self {
        self.list.retain(|limit| other.list.contains(limit));
        self
    }

    /// Draws them across a chart.
    pub fn draw(&self, chart: &mut Chart, tone: Option<usize>) {
        for (label, value) in &self.list {
            chart.limit(label, *value, tone);
        }
    }
}

/// Limits of the database read latency, for the average and for single samples.
#[must_use]
pub fn database_read(result: &RunResult) -> Limits {
    of_checks(
        result,
        [
            (CheckId::DatabaseReadAverage, "average read limit"),
            (CheckId::DatabaseReadMax, "read sample limit"),
        ],
    )
}

/// Limits of the log write latency, for the average and for single samples.
#[must_use]
pub fn log_write(result: &RunResult) -> Limits {
    of_checks(
        result,
        [
            (CheckId::LogWriteAverage, "average log write limit"),
            (CheckId::LogWriteMax, "log write sample limit"),
        ],
    )
}

/// Limits of the 99th percentiles of database reads and log writes.
#[must_use]
pub fn percentiles(result: &RunResult) -> Limits {
    of_checks(
        result,
        [
            (CheckId::DatabaseReadP99, "read limit"),
            (CheckId::LogWriteP99, "log write limit"),
        ],
    )
}

/// The target of the transactional I/O. Where less of it is enough, that is the limit; the two lie so
/// close that their labels would touch.
#[must_use]
pub fn rate(result: &RunResult) -> Limits {
    let mut limits = Limits::default();
    let Some(target) = result.throughput.target_iops else {
        return limits;
    };
    let target_text = bounded(target, Unit::Iops);
    let mut checks = result.checks.iter();
    match checks.find(|check| check.id == CheckId::AchievedIops) {
        Some(check) => {
            let enough = limit(check.limit);
            limits.add(format!("at least {enough} of {target_text}"), check.limit);
        }
        None => limits.add(format!("target {target_text}"), target),
    }
    limits
}

fn of_checks<const N: usize>(result: &RunResult, wanted: [(CheckId, &str); N]) -> Limits {
    let mut limits = Limits::default();
    for check in &result.checks {
        if let Some((_, label)) = wanted.iter().find(|(id, _)| *id == check.id) {
            let text = format!("{label} {}", bounded(check.limit, check.unit));
            limits.add(text, check.limit);
        }
    }
    limits
}

#[cfg(test)]
mod tests {
    use super::*;
    use measure::result::Check;

    #[test]
    fn only_levels_of_the_storage_stand_in_its_charts() {
        let mut result = RunResult::default();
        let of = |id, limit| Check::of(id, "db1", limit, Some(1.0), String::new());
        // Transactions are limited by a percentile too, and reads by an average.
        result.checks = vec![
            of(CheckId::OperationP90, 500.0).about("trade-order"),
            of(CheckId::DatabaseReadAverage, 20.0),
        ];
        assert_eq!(percentiles(&result), Limits::default());
        result.checks.push(of(CheckId::DatabaseReadP99, 50.0));
        let expected = vec![("read limit 50 ms".to_owned(), 50.0)];
        assert_eq!(percentiles(&result).list, expected);
    }
}
