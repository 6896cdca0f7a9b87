//! One tuning cycle: is a number of sessions settled, and does it keep the service levels?

use std::collections::VecDeque;

use measure::display::number::{self, beside_limit, bounded, figure};
use measure::metric::Unit;

/// How a cycle is judged. Defaults of Jetstress (Microsoft's post on its latency slope): 30 samples,
/// 0.5 ms per sample, 120 samples, 10 minutes.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleSettings {
    /// Samples over which the slope of the read latency is fitted.
    pub transient_samples: usize,
    /// Samples of the settled state that judge.
    pub stable_samples: usize,
    /// Slope in ms per sample that still counts as settled. Only a rise is held against it.
    pub settled_slope_ms: f64,
    /// Longest time to settle, in seconds.
    pub settle_limit_s: f64,
    /// Limit of the average database read latency, worst database, in ms.
    pub database_read_limit_ms: f64,
    /// Limit of the average log write latency, worst database, in ms.
    pub log_write_limit_ms: f64,
    /// Limit of page-fault stalls per second.
    pub stalls_per_second_limit: f64,
}

/// What was counted over one tuning sample.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TuningSample {
    /// Length of the sample in seconds.
    pub length_s: f64,
    /// Database reads plus writes.
    pub ios: u64,
    /// Page faults that had to wait for a free frame.
    pub stalls: u64,
    /// One entry for each database.
    pub databases: Vec<DatabaseLatency>,
}

/// Latencies of one database over one sample.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct DatabaseLatency {
    /// Number of database reads.
    pub reads: u64,
    /// Sum of their latencies in ms.
    pub read_total_ms: f64,
    /// Number of log writes.
    pub log_writes: u64,
    /// Sum of their latencies in ms.
    pub log_write_total_ms: f64,
}

/// The outcome of a cycle.
#[derive(Debug, Clone, PartialEq)]
pub struct CycleOutcome {
    /// Whether the latency settled in time.
    pub settled: bool,
    /// Whether every service level was kept in the settled window.
    pub kept: bool,
    /// Database reads plus writes per second in the window.
    pub achieved_iops: f64,
    /// Average database read latency of the worst database in the window.
    pub database_read_ms: Option<f64>,
    /// Average log write latency of the worst database in the window.
    pub log_write_ms: Option<f64>,
    /// What was found, as a sentence.
    pub finding: String,
    /// Length of the cycle in seconds.
    pub duration_s: f64,
}

/// A cycle under way.
#[derive(Debug, Clone)]
pub struct Cycle {
    settings: CycleSettings,
    elapsed_s: f64,
    /// Read latency of each database, one entry for each of the latest samples.
    recent_ms: VecDeque<Vec<Option<f64>>>,
    settled: bool,
    window: TuningSample,
    window_samples: usize,
}

impl Cycle {
    /// A cycle that begins now.
    #[must_use]
    pub fn new(settings: CycleSettings) -> Self {
        assert!(settings.transient_samples >= 2 && settings.stable_samples >= 1);
        Self {
            settings,
            elapsed_s: 0.0,
            recent_ms: VecDeque::new(),
            settled: false,
            window: TuningSample::default(),
            window_samples: 0,
        }
    }

    /// Takes the next sample; gives the outcome when the cycle has ended.
    pub fn take(&mut self, sample: &TuningSample) -> Option<CycleOutcome> {
        self.elapsed_s += sample.length_s;
        if self.settled {
            self.add(sample);
            return (self.window_samples == self.settings.stable_samples).then(|| self.judge());
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
            self.add(sample);
            let mut judged = self.judge();
            (judged.settled, judged.kept) = (false, false);
            judged.finding = format!(
                "the read latency did not settle within {:.0} s",
                self.settings.settle_limit_s
            );
            return Some(judged);
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

    fn add(&mut self, sample: &TuningSample) {
        self.window_samples += 1;
        self.window.length_s += sample.length_s;
        self.window.ios += sample.ios;
        self.window.stalls += sample.stalls;
        let window = &mut self.window.databases;
        window.resize(sample.databases.len(), DatabaseLatency::default());
        for (mine, theirs) in window.iter_mut().zip(&sample.databases) {
            mine.reads += theirs.reads;
            mine.read_total_ms += theirs.read_total_ms;
            mine.log_writes += theirs.log_writes;
            mine.log_write_total_ms += theirs.log_write_total_ms;
        }
    }

    fn judge(&self) -> CycleOutcome {
        let read_ms = self.window.worst_read_ms();
        let log_ms = self.window.worst_log_write_ms();
        let stalls = self.window.stalls as f64 / self.window.length_s;
        let limits = &self.settings;
        let mut broken = Vec::new();
        let checks = [
            (
                "database reads take",
                read_ms,
                limits.database_read_limit_ms,
            ),
            ("log writes take", log_ms, limits.log_write_limit_ms),
        ];
        for (what, value, limit) in checks {
            if let Some(value) = value.filter(|&value| value > limit) {
                let unit = Unit::Milliseconds;
                broken.push(format!(
                    "{what} {}, more than {}",
                    beside_limit(value, limit, unit),
                    bounded(limit, unit)
                ));
            }
        }
        if stalls > limits.stalls_per_second_limit {
            let limit = limits.stalls_per_second_limit;
            broken.push(format!(
                "{} page-fault stalls/s, more than {}",
                figure(stalls),
                number::limit(limit)
            ));
        }
        CycleOutcome {
            settled: true,
            kept: broken.is_empty(),
            achieved_iops: self.window.ios as f64 / self.window.length_s,
            database_read_ms: read_ms,
            log_write_ms: log_ms,
            finding: if broken.is_empty() {
                "every service level is met".to_owned()
            } else {
                broken.join("; ")
            },
            duration_s: self.elapsed_s,
        }
    }
}

impl TuningSample {
    /// Average database read latency of the worst database; `None` without reads.
    #[must_use]
    pub fn worst_read_ms(&self) -> Option<f64> {
        self.worst(DatabaseLatency::read_ms)
    }

    /// Average log write latency of the worst database; `None` without log writes.
    #[must_use]
    pub fn worst_log_write_ms(&self) -> Option<f64> {
        self.worst(DatabaseLatency::log_write_ms)
    }

    fn worst(&self, latency: fn(&DatabaseLatency) -> Option<f64>) -> Option<f64> {
        self.databases.iter().filter_map(latency).reduce(f64::max)
    }
}

impl DatabaseLatency {
    fn read_ms(&self) -> Option<f64> {
        (self.reads > 0).then(|| self.read_total_ms / self.reads as f64)
    }

    fn log_write_ms(&self) -> Option<f64> {
        (self.log_writes > 0).then(|| self.log_write_total_ms / self.log_writes as f64)
    }
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
mod tests {
    use super::*;

    fn settings() -> CycleSettings {
        CycleSettings {
            transient_samples: 10,
            stable_samples: 20,
            settled_slope_ms: 0.5,
            settle_limit_s: 60.0,
            database_read_limit_ms: 20.0,
            log_write_limit_ms: 10.0,
            stalls_per_second_limit: 1.0,
        }
    }

    fn sample(read_ms: [f64; 2]) -> TuningSample {
        let latency = |ms| DatabaseLatency {
            reads: 10,
            read_total_ms: ms * 10.0,
            log_writes: 5,
            log_write_total_ms: 5.0,
        };
        TuningSample {
            length_s: 1.0,
            ios: 100,
            stalls: 0,
            databases: read_ms.map(latency).to_vec(),
        }
    }

    fn run(latency: impl Fn(f64) -> [f64; 2]) -> (usize, CycleOutcome) {
        let mut cycle = Cycle::new(settings());
        for number in 0.. {
            if let Some(judged) = cycle.take(&sample(latency(number as f64))) {
                return (number + 1, judged);
            }
        }
        unreachable!()
    }

    #[test]
    fn a_steady_load_is_judged_by_its_worst_database() {
        let (samples, judged) = run(|_| [5.0, 15.0]);
        assert_eq!((samples, judged.settled, judged.kept), (30, true, true));
        assert_eq!(
            (judged.achieved_iops, judged.database_read_ms),
            (100.0, Some(15.0))
        );
        let (_, judged) = run(|_| [5.0, 25.0]);
        assert!(judged.settled && !judged.kept && judged.finding.contains("25.0 ms"));
    }

    #[test]
    fn a_rise_is_waited_for_and_a_fall_is_not_held_against_it() {
        // Rises by 1 ms per sample until sample 15, then stays.
        let (samples, judged) = run(|n| [1.0, n.min(15.0)]);
        assert!(samples > 35 && judged.settled && judged.kept, "{samples}");
        let (samples, _) = run(|n| [1.0, 60.0 - n]);
        assert_eq!(samples, 30);
    }

    #[test]
    fn a_latency_that_rises_for_ever_fails_at_the_limit() {
        let (samples, judged) = run(|n| [n, 1.0]);
        assert_eq!((samples, judged.settled, judged.kept), (60, false, false));
    }
}
