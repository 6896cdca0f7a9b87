//! The limits of a run that belong into a chart.

use measure::result::{Bound, Check, CheckKind, RunResult, Scope};

use crate::chart::Chart;
use crate::number::limit;

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

/// Whether a latency check is about a percentile and not about an average.
#[must_use]
pub fn is_percentile(check: &Check) -> bool {
    check.name.contains("percentile")
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

/// Limits of the 99th percentiles of database reads and log writes.
#[must_use]
pub fn percentiles(result: &RunResult) -> Limits {
    let mut limits = Limits::default();
    for check in result.checks.iter().filter(|check| is_percentile(check)) {
        let what = if check.scope == Scope::Log {
            "log write"
        } else {
            "read"
        };
        if check.kind == CheckKind::Latency && check.unit == "ms" {
            limits.add(
                format!("{what} limit {} ms", limit(check.limit)),
                check.limit,
            );
        }
    }
    limits
}

/// The rate of I/O that was wanted. Where less of it is enough, that is the limit; the two lie so
/// close that their labels would touch. A rate of transactions is no rate of I/O.
#[must_use]
pub fn rate(result: &RunResult) -> Limits {
    let mut limits = Limits::default();
    let Some(target) = result.throughput.target_iops else {
        return limits;
    };
    let mut enough = result
        .checks
        .iter()
        .filter(|check| check.kind == CheckKind::Throughput && check.bound == Bound::AtLeast);
    match enough.next() {
        Some(check) if result.server.is_none() => limits.add(
            format!("at least {} of {} 1/s", limit(check.limit), limit(target)),
            check.limit,
        ),
        _ => limits.add(format!("target {} 1/s", limit(target)), target),
    }
    limits
}

fn latency(result: &RunResult, scope: Scope, what: &str) -> Limits {
    let mut limits = Limits::default();
    let upper = |check: &&Check| {
        check.scope == scope
            && check.bound == Bound::AtMost
            && check.unit == "ms"
            && !is_percentile(check)
    };
    for check in result.checks.iter().filter(upper) {
        let of = match check.kind {
            CheckKind::Latency => format!("average {what} limit"),
            CheckKind::Spike => format!("{what} sample limit"),
            _ => continue,
        };
        limits.add(format!("{of} {} ms", limit(check.limit)), check.limit);
    }
    limits
}
