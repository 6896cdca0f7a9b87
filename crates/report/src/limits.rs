//! The limits of a run that belong into a chart.

use measure::result::{Bound, Check, CheckKind, RunResult, Scope};

use crate::chart::Chart;
use crate::number::figure;

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
    latency(result, Scope::Database, "read")
}

/// Limits of the log write latency, for the average and for single samples.
#[must_use]
pub fn log_write(result: &RunResult) -> Limits {
    latency(result, Scope::Log, "log write")
}

/// The rate that was wanted.
#[must_use]
pub fn rate(result: &RunResult) -> Limits {
    let mut limits = Limits::default();
    if let Some(target) = result.throughput.target_iops {
        limits.add(format!("target {} 1/s", figure(target)), target);
    }
    for check in &result.checks {
        if check.kind == CheckKind::Throughput && check.bound == Bound::AtLeast {
            limits.add(
                format!("at least {} {}", figure(check.limit), check.unit),
                check.limit,
            );
        }
    }
    limits
}

fn latency(result: &RunResult, scope: Scope, what: &str) -> Limits {
    let mut limits = Limits::default();
    let upper =
        |check: &&Check| check.scope == scope && check.bound == Bound::AtMost && check.unit == "ms";
    for check in result.checks.iter().filter(upper) {
        let of = match check.kind {
            CheckKind::Latency => format!("{what} limit"),
            CheckKind::Spike => format!("{what} limit for a sample"),
            _ => continue,
        };
        limits.add(format!("{of} {} ms", figure(check.limit)), check.limit);
    }
    limits
}
