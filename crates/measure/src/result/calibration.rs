//! What the calibration of a modelled array leaves open of a prediction.

use serde::{Deserialize, Serialize};

use super::{Check, CheckId, CheckKind, RunResult};
use crate::metric::{IoMetric, Stream};

/// The part of the values that lies outside a bar, on each side.
const TAIL: f64 = 0.05;

/// The figures of all requests that get a bar.
const FIGURES: [(Stream, IoMetric); 6] = [
    (Stream::DatabaseRead, IoMetric::Average),
    (Stream::DatabaseRead, IoMetric::P99),
    (Stream::DatabaseWrite, IoMetric::Average),
    (Stream::DatabaseWrite, IoMetric::P99),
    (Stream::LogWrite, IoMetric::Average),
    (Stream::LogWrite, IoMetric::P99),
];

/// Error bars: between which values 90 % of those lie that the parameter sets of a calibration give, each
/// changed by the errors of the tests that took no part in the fit.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct CalibrationResult {
    /// Parameter sets that a prediction was made with.
    pub parameter_sets: u64,
    /// Levels of the run, in the order of `checks`; those that say nothing of storage have no bar.
    pub levels: Vec<LevelBar>,
    /// Figures of all databases together.
    pub figures: Vec<FigureBar>,
}

/// The error bar of a judged level.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct LevelBar {
    /// The level, as in `checks`.
    pub id: CheckId,
    /// Its operation, as in `checks`.
    pub subject: String,
    /// Its place, as in `checks`.
    #[serde(rename = "where")]
    pub place: String,
    /// 5 % of the values are lower; in the unit of the level.
    pub low: f64,
    /// 5 % of the values are higher; in the unit of the level.
    pub high: f64,
    /// Share of the values that meet the level.
    pub met_fraction: f64,
}

/// The error bar of a figure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FigureBar {
    /// What the figure is about: `database_read`, `database_write` or `log_write`; of the rate of reads
    /// and writes together `run`.
    pub stream: String,
    /// The figure: `average_ms`, `p99_ms` or `per_second`.
    pub figure: String,
    /// The value of the best parameter set.
    pub value: f64,
    /// 5 % of the values are lower.
    pub low: f64,
    /// 5 % of the values are higher.
    pub high: f64,
}

/// How far models were from tests that took no part in the calibration: measured over modelled.
#[derive(Debug, Clone, Copy, Default)]
pub struct HeldOut<'a> {
    /// Of rates.
    pub rate_ratios: &'a [f64],
    /// Of mean response times.
    pub latency_ratios: &'a [f64],
    /// Of 99th percentiles of response times.
    pub p99_ratios: &'a [f64],
}

impl CalibrationResult {
    /// The bars of a prediction, by those with each parameter set.
    #[must_use]
    pub fn of(best: &RunResult, sets: &[RunResult], held_out: HeldOut<'_>) -> Self {
        let levels = best.checks.iter().filter_map(|check| {
            let ratios = held_out.ratios_of(check.kind(), best)?;
            let values = sets.iter().filter_map(|set| set.same_check(check)?.value);
            let range = Range::of(values, ratios)?;
            let met = range.values.iter();
            let met = met.filter(|value| check.bound.allows(**value, check.limit));
            Some(LevelBar {
                id: check.id,
                subject: check.subject.clone(),
                place: check.place.clone(),
                low: range.low(),
                high: range.high(),
                met_fraction: met.count() as f64 / range.values.len() as f64,
            })
        });
        let figures = FIGURES.iter().filter_map(|&(stream, metric)| {
            let of = |result: &RunResult| result.totals.stream(stream).get(metric);
            let ratios = match metric {
                IoMetric::P99 => held_out.of_p99(),
                _ => held_out.latency_ratios,
            };
            let range = Range::of(sets.iter().filter_map(of), ratios)?;
            Some(range.bar(stream.column(), metric, of(best)?))
        });
        let rate = |result: &RunResult| result.throughput.achieved_iops;
        let ratios = held_out.of_rate(best);
        let rates = (rate(best) > 0.0).then(|| Range::of(sets.iter().map(rate), ratios));
        let rates = rates.flatten();
        let rates = rates.map(|range| range.bar("run", IoMetric::Rate, rate(best)));
        Self {
            parameter_sets: sets.len() as u64,
            levels: levels.collect(),
            figures: figures.chain(rates).collect(),
        }
    }

    /// The bar of a level.
    #[must_use]
    pub fn of_level(&self, check: &Check) -> Option<&LevelBar> {
        let is_same = |bar: &&LevelBar| {
            (bar.id, &bar.subject, &bar.place) == (check.id, &check.subject, &check.place)
        };
        self.levels.iter().find(is_same)
    }

    /// The bar of a figure of all databases together.
    #[must_use]
    pub fn of_figure(&self, stream: Stream, metric: IoMetric) -> Option<&FigureBar> {
        let is_same = |bar: &&FigureBar| bar.stream == stream.column() && bar.figure == metric.id();
        self.figures.iter().find(is_same)
    }
}

impl LevelBar {
    /// Whether the limit of the level lies inside the bar, so that the calibration does not say on which
    /// side the value is.
    #[must_use]
    pub fn leaves_open(&self, check: &Check) -> bool {
        let meets = |value| check.bound.allows(value, check.limit);
        meets(self.low) != meets(self.high)
    }
}

impl<'a> HeldOut<'a> {
    /// By which errors the values of a level are changed; `None` for one that gets no bar.
    fn ratios_of(self, kind: CheckKind, result: &RunResult) -> Option<&'a [f64]> {
        match kind {
            CheckKind::Latency | CheckKind::Spike => Some(self.latency_ratios),
            CheckKind::Percentile => Some(self.of_p99()),
            CheckKind::Throughput => Some(self.of_rate(result)),
            CheckKind::Resource
            | CheckKind::Mix
            | CheckKind::Service
            | CheckKind::Completion
            | CheckKind::Integrity => None,
        }
    }

    fn of_p99(self) -> &'a [f64] {
        match self.p99_ratios {
            [] => self.latency_ratios,
            ratios => ratios,
        }
    }

    /// A rate that was asked for is held by the load as long as the storage keeps up with it: an error of the
    /// storage's own rate does not change it.
    fn of_rate(self, result: &RunResult) -> &'a [f64] {
        let throughput = &result.throughput;
        let is_asked_for = throughput.target_iops.or(throughput.rate_iops).is_some();
        let trace = result.trace.as_ref();
        let keeps_arrivals = trace.is_some_and(|trace| trace.outstanding.is_none());
        match is_asked_for || keeps_arrivals {
            true => &[],
            false => self.rate_ratios,
        }
    }
}

impl RunResult {
    /// The check of the same level, operation and place.
    fn same_check(&self, other: &Check) -> Option<&Check> {
        let is_same = |check: &&Check| {
            (check.id, &check.subject, &check.place) == (other.id, &other.subject, &other.place)
        };
        self.checks.iter().find(is_same)
    }
}

/// Between which values 90 % of all lie, each of which is changed by every ratio; `None` without values.
#[must_use]
pub fn error_bar(values: impl Iterator<Item = f64>, ratios: &[f64]) -> Option<(f64, f64)> {
    let range = Range::of(values, ratios)?;
    Some((range.low(), range.high()))
}

/// Values in ascending order, at least one.
struct Range {
    values: Vec<f64>,
}

impl Range {
    /// Every value changed by every ratio; `None` without values.
    fn of(values: impl Iterator<Item = f64>, ratios: &[f64]) -> Option<Self> {
        let ratios = if ratios.is_empty() { &[1.0] } else { ratios };
        let mut all: Vec<f64> = values
            .flat_map(|value| ratios.iter().map(move |ratio| value * ratio))
            .collect();
        all.sort_by(f64::total_cmp);
        (!all.is_empty()).then_some(Self { values: all })
    }

    fn at(&self, share: f64) -> f64 {
        self.values[((self.values.len() - 1) as f64 * share).round() as usize]
    }

    fn low(&self) -> f64 {
        self.at(TAIL)
    }

    fn high(&self) -> f64 {
        self.at(1.0 - TAIL)
    }

    fn bar(&self, stream: &str, metric: IoMetric, value: f64) -> FigureBar {
        FigureBar {
            stream: stream.to_owned(),
            figure: metric.id().to_owned(),
            value,
            low: self.low(),
            high: self.high(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn result(read_ms: f64, iops: f64) -> RunResult {
        let mut result = RunResult::new();
        let average = CheckId::DatabaseReadAverage;
        result.checks = vec![
            Check::of(average, "db1", 20.0, Some(read_ms), String::new()),
            Check::of_run(CheckId::AchievedIops, 90.0, Some(iops), String::new()),
            Check::of_run(CheckId::Errors, 0.0, Some(0.0), String::new()),
        ];
        result.totals.reads.latency = Some(super::super::LatencyFigures {
            average_ms: read_ms,
            p99_ms: read_ms * 3.0,
            ..Default::default()
        });
        result.throughput.achieved_iops = iops;
        result
    }

    fn close(one: f64, other: f64) -> bool {
        (one - other).abs() < 1e-9
    }

    #[test]
    fn bars_hold_nine_values_of_ten() {
        let sets: Vec<RunResult> = (0..=100).map(|set| result(f64::from(set), 100.0)).collect();
        let bars = CalibrationResult::of(&result(18.0, 100.0), &sets, HeldOut::default());
        assert_eq!(bars.parameter_sets, 101);
        let read = &bars.levels[0];
        assert_eq!((read.low, read.high), (5.0, 95.0));
        // 0 to 20 of 0 to 100.
        assert!(close(read.met_fraction, 21.0 / 101.0));
        let p99 = bars.of_figure(Stream::DatabaseRead, IoMetric::P99).unwrap();
        assert_eq!((p99.value, p99.low, p99.high), (54.0, 15.0, 285.0));
        // Errors are no matter of the model, and nothing was written.
        assert_eq!(bars.levels.len(), 2);
        assert_eq!(bars.figures.len(), 3);
    }

    #[test]
    fn errors_of_held_out_tests_widen_bars() {
        let held_out = HeldOut {
            rate_ratios: &[0.8, 1.1],
            latency_ratios: &[0.9, 1.3],
            p99_ratios: &[],
        };
        let mut best = result(10.0, 100.0);
        let bars = CalibrationResult::of(&best, &[best.clone()], held_out);
        let bar = |number: usize| (bars.levels[number].low, bars.levels[number].high);
        assert_eq!(bar(0), (9.0, 13.0));
        assert_eq!(bar(1), (80.0, 110.00000000000001));
        let p99 = bars.of_figure(Stream::DatabaseRead, IoMetric::P99).unwrap();
        assert_eq!((p99.low, p99.high), (27.0, 39.0));
        // A load that was asked for does not grow with the storage.
        best.throughput.target_iops = Some(100.0);
        let bars = CalibrationResult::of(&best, &[best.clone()], held_out);
        assert_eq!((bars.levels[1].low, bars.levels[1].high), (100.0, 100.0));
    }

    #[test]
    fn a_limit_inside_a_bar_is_open() {
        let best = result(18.0, 100.0);
        let open = |sets: &[RunResult]| {
            let bars = CalibrationResult::of(&best, sets, HeldOut::default());
            let pairs = bars.levels.iter().zip(&best.checks);
            let open: Vec<bool> = pairs.map(|(bar, check)| bar.leaves_open(check)).collect();
            open
        };
        assert_eq!(
            open(&[result(15.0, 95.0), result(20.0, 90.0)]),
            [false, false]
        );
        assert_eq!(
            open(&[result(15.0, 89.0), result(20.1, 90.0)]),
            [true, true]
        );
        assert_eq!(
            open(&[result(25.0, 50.0), result(30.0, 60.0)]),
            [false, false]
        );
    }
}
