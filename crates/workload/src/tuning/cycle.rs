//! One step of a search: is a load settled, and does it keep the service levels?

use std::collections::VecDeque;
use std::sync::Arc;

use measure::display::number::{beside_limit, bounded};
use measure::metric::{IoMetric, Stream};
use measure::result::{Bound, Check, CheckId, CheckKind, Scope, TuningStep};
use measure::sample::{DatabaseTotals, Layout, RunTotals};
use measure::service_level::{Measured, ServiceLevels, evaluate};
use measure::steady::SteadyRule;

use super::sample::{DatabaseLatency, TuningSample};
use super::window::Window;

/// Windows that a step takes at most until it is steady.
pub const MOST_WINDOWS: u32 = 3;

/// Latencies below this part of their limits leave room for much more load.
const COMFORTABLE: f64 = 0.25;

/// A read latency below this part of its limit may vary.
const NEAR_LIMIT: f64 = 0.5;

/// Requests behind an average, and behind a 99th percentile that is limited: fewer of them decide nothing,
/// as in the verdict of a run.
const REQUESTS: u64 = 100;
const REQUESTS_OF_P99: u64 = 1_000;

/// How many I/Os a window has is a matter of chance: this times the square root of their number is what a rate
/// that is carried may be short of. Were they independent, three would do; a scan makes many at once.
const CHANCE: f64 = 5.0;

/// How a step is judged. Defaults of Jetstress (Microsoft's post on its latency slope): 30 samples,
/// 0.5 ms per sample, 120 samples, 10 minutes.
#[derive(Debug, Clone)]
pub struct CycleSettings {
    /// Samples over which the slope of the read latency is fitted.
    pub transient_samples: usize,
    /// Samples of a window of the settled state, which is judged.
    pub stable_samples: usize,
    /// Slope in ms per sample that still counts as settled. Only a rise is held against it.
    pub settled_slope_ms: f64,
    /// Longest time to settle, in seconds.
    pub settle_limit_s: f64,
    /// The limits that a step must meet.
    pub levels: ServiceLevels,
    /// Length of the measured phase in seconds, which decides between strict and lenient limits.
    pub planned_s: f64,
    /// Length in seconds of the parts of a window whose averages are judged as samples.
    pub judged_sample_s: f64,
    /// The rule of the steady state.
    pub steady: SteadyRule,
    /// Names of the databases and of the operations.
    pub layout: Arc<Layout>,
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleOutcome {
    /// Whether the latency settled in time, and rate and latency were steady in the window.
    pub steady: bool,
    /// Whether every service level was kept in the settled window.
    pub kept: bool,
    /// Whether every latency is so far below its limit that much more load can be tried.
    pub comfortable: bool,
    /// The service level that was missed most.
    pub missed: Option<CheckId>,
    /// Database reads plus writes per second in the window.
    pub achieved_iops: f64,
    /// Average database read latency of the worst database in the window.
    pub database_read_ms: Option<f64>,
    /// 99th percentile of that latency.
    pub database_read_p99_ms: Option<f64>,
    /// Average log write latency of the worst database in the window.
    pub log_write_ms: Option<f64>,
    /// 99th percentile of that latency.
    pub log_write_p99_ms: Option<f64>,
    /// Page-fault stalls per second of the worst database.
    pub stalls_per_second: f64,
    /// What was found, as a sentence.
    pub finding: String,
    /// Length of the window in seconds.
    pub judged_s: f64,
    /// Length of the step in seconds.
    pub duration_s: f64,
}

/// A step under way.
#[derive(Debug, Clone)]
pub struct Cycle {
    settings: CycleSettings,
    /// The rate that is held.
    asked_iops: Option<f64>,
    elapsed_s: f64,
    /// Read latency of each database, one entry for each of the latest samples.
    recent_ms: VecDeque<Vec<Option<f64>>>,
    settled: bool,
    window: Window,
    windows: u32,
}

impl Cycle {
    /// A step that begins now, at the rate that is held if one is.
    #[must_use]
    pub fn new(settings: CycleSettings, asked_iops: Option<f64>) -> Self {
        assert!(settings.transient_samples >= 2 && settings.stable_samples >= 1);
        Self {
            window: Window::new(&settings.layout, settings.judged_sample_s),
            settings,
            asked_iops,
            elapsed_s: 0.0,
            recent_ms: VecDeque::new(),
            settled: false,
            windows: 0,
        }
    }

    /// Takes the next sample; gives the outcome when the step has ended.
    pub fn take(&mut self, sample: &TuningSample) -> Option<CycleOutcome> {
        self.elapsed_s += sample.length_s;
        if self.settled {
            return self.take_settled(sample);
        }
        let latencies = sample.databases.iter().map(DatabaseLatency::read_ms);
        self.recent_ms.push_back(latencies.collect());
        if self.recent_ms.len() > self.settings.transient_samples {
            self.recent_ms.pop_front();
        }
        let full = self.recent_ms.len() == self.settings.transient_samples;
        if full && self.steepest_rise_ms() <= self.settings.settled_slope_ms {
            self.settled = true;
        } else if self.elapsed_s >= self.settings.settle_limit_s {
            // What the load does while it is not settled is still worth a line in the report.
            self.window.add(sample);
            let judged = self.judge(false);
            return Some(CycleOutcome {
                kept: false,
                comfortable: false,
                missed: None,
                finding: format!(
                    "the read latency did not settle within {:.0} s",
                    self.settings.settle_limit_s
                ),
                ..judged
            });
        }
        None
    }

    fn take_settled(&mut self, sample: &TuningSample) -> Option<CycleOutcome> {
        self.window.add(sample);
        if !self
            .window
            .ticks()
            .is_multiple_of(self.settings.stable_samples)
        {
            return None;
        }
        self.windows += 1;
        let outcome = self.judge(true);
        if self.windows >= MOST_WINDOWS || outcome.steady && self.has_enough_requests() {
            return Some(outcome);
        }
        if !outcome.steady {
            // What went before is what was not steady.
            self.window = Window::new(&self.settings.layout, self.settings.judged_sample_s);
        }
        None
    }

    /// The steepest slope over all databases, in ms per sample.
    fn steepest_rise_ms(&self) -> f64 {
        let databases = self.recent_ms.front().map_or(0, Vec::len);
        (0..databases)
            .map(|database| slope(self.recent_ms.iter().map(|sample| sample[database])))
            .fold(f64::NEG_INFINITY, f64::max)
    }

    /// Whether there are as many requests behind each average as the verdict of a run asks for. A
    /// database that makes none of a kind will make none in a longer window either.
    fn has_enough_requests(&self) -> bool {
        let levels = &self.settings.levels;
        let least = |p99_ms: f64| match p99_ms.is_finite() {
            true => REQUESTS_OF_P99,
            false => REQUESTS,
        };
        let wanted = [
            (Stream::DatabaseRead, least(levels.p99_database_read_ms)),
            (Stream::LogWrite, least(levels.p99_log_write_ms)),
        ];
        self.window.totals().databases().all(|(_, database)| {
            wanted.iter().all(|&(stream, least)| {
                let count = database.stream(stream).meter.count();
                count == 0 || count >= least
            })
        })
    }

    fn judge(&mut self, settled: bool) -> CycleOutcome {
        let steady = settled && self.is_steady();
        self.window.end_sample();
        let totals = self.window.totals();
        let checks = evaluate(
            &self.levels(totals),
            &Measured {
                totals,
                planned_s: Some(self.settings.planned_s),
                target_iops: self.asked_iops,
                errors: &[],
                error_counts: &[],
                hung_after_s: None,
                interrupted: false,
                must_be_steady: None,
                // A load that is looked for is one of the performance test.
                tests: &[],
            },
        );
        // Errors are counted by the run, which they end when there are too many.
        let checks = checks.iter().filter(|check| check.id != CheckId::Errors);
        let missed = checks.clone().filter(|check| check.passed == Some(false));
        let missed = missed.max_by(|a, b| weight(a).total_cmp(&weight(b)));
        let mut latencies = checks.filter(|check| is_latency(check));
        let read = |metric| worst(totals, Stream::DatabaseRead, metric);
        let log = |metric| worst(totals, Stream::LogWrite, metric);
        let stalls = totals.databases().map(|(_, one)| one.page_fault_stalls);
        CycleOutcome {
            steady,
            kept: missed.is_none(),
            comfortable: missed.is_none() && latencies.all(|check| excess(check) < COMFORTABLE),
            missed: missed.map(|check| check.id),
            achieved_iops: totals.achieved_iops(),
            database_read_ms: read(IoMetric::Average),
            database_read_p99_ms: read(IoMetric::P99),
            log_write_ms: log(IoMetric::Average),
            log_write_p99_ms: log(IoMetric::P99),
            stalls_per_second: stalls.max().unwrap_or(0) as f64 / totals.measured_s().max(1e-9),
            finding: missed.map_or("every service level is met".to_owned(), sentence),
            judged_s: totals.measured_s(),
            duration_s: self.elapsed_s,
        }
    }

    /// The levels of a window: a rate may be missed by chance, in a short one by more.
    fn levels(&self, totals: &RunTotals) -> ServiceLevels {
        let mut levels = self.settings.levels.clone();
        if let Some(asked_iops) = self.asked_iops {
            let expected = (asked_iops * totals.measured_s()).max(1.0);
            levels.achieved_margin_fraction += (CHANCE / expected.sqrt()).min(0.5);
        }
        levels
    }

    /// Whether the rate was steady, and the read latency where it is near its limit. Too few samples
    /// for the rule say nothing against it.
    fn is_steady(&self) -> bool {
        let rule = &self.settings.steady;
        let Some(rounds) = self.window.rounds(rule.fewest_samples()) else {
            return true;
        };
        let counts: Vec<f64> = rounds.iter().map(|round| round.ios).collect();
        let read_ms: Vec<f64> = rounds.iter().map(|round| round.read_ms).collect();
        let highest_ms = read_ms.iter().copied().fold(0.0, f64::max);
        let may_vary = highest_ms <= self.settings.levels.average_database_read_ms * NEAR_LIMIT;
        let is_steady = |values: &[f64]| rule.judge("", values, 1.0).steady != Some(false);
        rule.allows_counts(&counts) && (may_vary || is_steady(&read_ms))
    }
}

impl CycleOutcome {
    /// The step in a result, with its finding as conclusion.
    #[must_use]
    pub fn entry(&self, threads: u32, rate_iops: Option<f64>) -> TuningStep {
        TuningStep {
            threads: u64::from(threads),
            rate_iops,
            percent: None,
            duration_s: self.duration_s,
            judged_s: self.judged_s,
            achieved_iops: self.achieved_iops,
            average_database_read_ms: self.database_read_ms,
            p99_database_read_ms: self.database_read_p99_ms,
            average_log_write_ms: self.log_write_ms,
            p99_log_write_ms: self.log_write_p99_ms,
            page_fault_stalls_per_second: self.stalls_per_second,
            steady: self.steady,
            kept: self.kept,
            missed: self.missed,
            conclusion: self.finding.clone(),
        }
    }
}

fn is_latency(check: &Check) -> bool {
    let kind = check.kind();
    matches!(
        kind,
        CheckKind::Latency | CheckKind::Percentile | CheckKind::Spike
    )
}

/// The value of a check as a part of its limit; of one that asks for at least so much the inverse.
fn excess(check: &Check) -> f64 {
    let value = check.value.unwrap_or(0.0);
    match check.bound {
        Bound::AtMost => value / check.limit.max(f64::MIN_POSITIVE),
        Bound::AtLeast => check.limit / value.max(f64::MIN_POSITIVE),
    }
}

/// By what a missed check is chosen to be named: a latency says more than the rate that it leads to.
fn weight(check: &Check) -> f64 {
    match is_latency(check) {
        true => 1e12 + excess(check).min(1e11),
        false => excess(check).min(1e11),
    }
}

fn sentence(check: &Check) -> String {
    let value = check.value.unwrap_or(f64::NAN);
    let of = match check.scope() {
        Scope::Run => String::new(),
        _ => format!(" of {}", check.place),
    };
    let bound = match check.bound {
        Bound::AtMost => "limit",
        Bound::AtLeast => "required",
    };
    format!(
        "{}{of} is {} ({bound} {})",
        check.name,
        beside_limit(value, check.limit, check.unit),
        bounded(check.limit, check.unit)
    )
}

/// The highest figure of a stream over the databases.
fn worst(totals: &RunTotals, stream: Stream, metric: IoMetric) -> Option<f64> {
    let of = |(_, database): (&str, &DatabaseTotals)| {
        database.stream(stream).meter.latency.figure(metric)
    };
    totals.databases().filter_map(of).reduce(f64::max)
}

/// Slope of the least-squares line through the values at 0, 1, 2, ...; 0 with less than two values.
fn slope(values: impl Iterator<Item = Option<f64>>) -> f64 {
    let points: Vec<(f64, f64)> = values
        .enumerate()
        .filter_map(|(at, value)| value.map(|value| (at as f64, value)))
        .collect();
    let count = points.len() as f64;
    let mean_x = points.iter().map(|p| p.0).sum::<f64>() / count;
    let mean_y = points.iter().map(|p| p.1).sum::<f64>() / count;
    let spread: f64 = points.iter().map(|p| (p.0 - mean_x).powi(2)).sum();
    if points.len() < 2 || spread == 0.0 {
        return 0.0;
    }
    points
        .iter()
        .map(|p| (p.0 - mean_x) * (p.1 - mean_y))
        .sum::<f64>()
        / spread
}

#[cfg(test)]
mod tests;
