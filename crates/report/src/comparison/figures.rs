//! The figures that are compared.

use measure::display::{Better, ResultMetric};
use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{ArrayGroup, ArrayVolume, RunResult};

use super::Comparison;
use crate::number::{self, quantity};
use crate::table::{Cell, Column, Table};

/// A figure: its name, its unit, which way is better if either is, where it comes from, and where the
/// half-width of its confidence interval does.
struct Figure(&'static str, Unit, Option<Better>, Of, Option<Of>);

/// What a figure, or its half-width, is in a result.
type Of = fn(&RunResult) -> Option<f64>;

/// Changes smaller than this share are not called better or worse.
const WORTH_A_WORD: f64 = 0.01;
/// A value this many times the first is written as a multiple of it.
const WRITTEN_AS_MULTIPLE: f64 = 10.0;

/// What is compared of the storage.
const OF_STORAGE: [Figure; 20] = [
    higher("transactional I/O", Unit::Iops, |run| {
        Some(run.throughput.achieved_iops)
    })
    .within(|run| run.throughput.achieved_half_width_iops),
    higher("share of the target", Unit::Fraction, |run| {
        run.throughput.achieved_fraction
    }),
    higher("operations", Unit::OperationsPerSecond, |run| {
        Some(run.throughput.operations_per_second)
    }),
    lower("database read, average", Unit::Milliseconds, |run| {
        run.totals.reads.get(IoMetric::Average)
    })
    .within(|run| run.totals.reads.get(IoMetric::HalfWidth)),
    lower("database read, p99", Unit::Milliseconds, |run| {
        run.totals.reads.get(IoMetric::P99)
    }),
    lower("database read, max", Unit::Milliseconds, |run| {
        run.totals.reads.get(IoMetric::Max)
    }),
    lower(
        "database read, worst database, average",
        Unit::Milliseconds,
        |run| worst_average(run, Stream::DatabaseRead),
    ),
    lower("database write, average", Unit::Milliseconds, |run| {
        run.totals.writes.get(IoMetric::Average)
    })
    .within(|run| run.totals.writes.get(IoMetric::HalfWidth)),
    lower("database write, p99", Unit::Milliseconds, |run| {
        run.totals.writes.get(IoMetric::P99)
    }),
    lower("database write, max", Unit::Milliseconds, |run| {
        run.totals.writes.get(IoMetric::Max)
    }),
    lower("log write, average", Unit::Milliseconds, |run| {
        run.totals.log_writes.get(IoMetric::Average)
    })
    .within(|run| run.totals.log_writes.get(IoMetric::HalfWidth)),
    lower("log write, p99", Unit::Milliseconds, |run| {
        run.totals.log_writes.get(IoMetric::P99)
    }),
    lower("log write, max", Unit::Milliseconds, |run| {
        run.totals.log_writes.get(IoMetric::Max)
    }),
    lower(
        "log write, worst database, average",
        Unit::Milliseconds,
        |run| worst_average(run, Stream::LogWrite),
    ),
    amount("database reads", Unit::Iops, |run| {
        run.totals.reads.get(IoMetric::Rate)
    }),
    amount("database writes", Unit::Iops, |run| {
        run.totals.writes.get(IoMetric::Rate)
    }),
    amount("reads of all database I/O", Unit::Fraction, |run| {
        run.totals.read_fraction()
    }),
    amount("log writes", Unit::Iops, |run| {
        run.totals.log_writes.get(IoMetric::Rate)
    }),
    amount(
        "throughput, read and written",
        Unit::BytesPerSecond,
        |run| {
            let streams = [
                Stream::DatabaseRead,
                Stream::DatabaseWrite,
                Stream::LogWrite,
            ];
            let of = |stream| run.totals.stream(stream).bytes_per_second();
            Some(streams.map(of).iter().sum::<f64>())
        },
    ),
    lower("page-fault stalls", Unit::StallsPerSecond, |run| {
        Some(run.totals.page_fault_stalls_per_second)
    }),
];

/// What is compared below the metrics of the workloads.
const OF_ARRAY: [Figure; 11] = [
    lower("service levels failed", Unit::Count, |run| {
        Some(run.failed_checks().count() as f64)
    }),
    lower("array: disk utilization, average", Unit::Fraction, |run| {
        of_groups(
            run,
            |group| group.disks as f64,
            |group| group.average_busy_fraction,
        )
    }),
    lower("array: disk utilization, max", Unit::Fraction, |run| {
        run.array.as_ref()?.busiest_disk_fraction()
    }),
    lower("array: drive latency, average", Unit::Milliseconds, |run| {
        let requests = |group: &ArrayGroup| group.reads_per_second + group.writes_per_second;
        of_groups(run, requests, |group| {
            group.average_disk_latency_ms.unwrap_or(0.0)
        })
    }),
    amount("array: disk I/O", Unit::Iops, |run| {
        let groups = run.array.as_ref()?.groups.iter();
        Some(
            groups
                .map(|group| group.reads_per_second + group.writes_per_second)
                .sum(),
        )
    }),
    lower(
        "array: read miss latency, average",
        Unit::Milliseconds,
        |run| of_volumes(run, misses, |volume| volume.average_read_miss_ms),
    ),
    higher("array: data cache hits, reads", Unit::Fraction, |run| {
        let reads = |volume: &ArrayVolume| volume.reads_per_second;
        of_volumes(run, reads, |volume| volume.read_hit_fraction)
    }),
    higher("array: SSD read cache hits, reads", Unit::Fraction, |run| {
        run.array.as_ref()?.read_cache_hit_fraction()
    }),
    higher("array: data on the SSD tier", Unit::Fraction, |run| {
        run.array.as_ref()?.performance_tier_fraction()
    }),
    amount("array: migrated between tiers", Unit::Bytes, |run| {
        let pools = &run.array.as_ref()?.pools;
        let moved = pools
            .iter()
            .map(|pool| pool.promoted_bytes + pool.demoted_bytes);
        let moved: u64 = moved.sum();
        (moved > 0).then_some(moved as f64)
    }),
    lower("array: controller CPU, average", Unit::Fraction, |run| {
        let controllers = &run.array.as_ref()?.controllers;
        let busy = controllers.iter().map(|one| one.cpu_busy_fraction);
        let busy: f64 = busy.sum();
        (!controllers.is_empty()).then(|| busy / controllers.len() as f64)
    }),
];

/// The highest average latency among the databases; `None` with a single one.
fn worst_average(run: &RunResult, stream: Stream) -> Option<f64> {
    run.worst_average_ms(stream)
        .filter(|_| run.databases.len() > 1)
}

/// A mean over the disk groups.
fn of_groups(
    run: &RunResult,
    weight: impl Fn(&ArrayGroup) -> f64,
    value: impl Fn(&ArrayGroup) -> f64,
) -> Option<f64> {
    let groups = &run.array.as_ref()?.groups;
    let weights: f64 = groups.iter().map(&weight).sum();
    let sum: f64 = groups
        .iter()
        .map(|group| weight(group) * value(group))
        .sum();
    (weights > 0.0).then(|| sum / weights)
}

/// A mean over the volumes that have the value.
fn of_volumes(
    run: &RunResult,
    weight: impl Fn(&ArrayVolume) -> f64,
    value: impl Fn(&ArrayVolume) -> Option<f64>,
) -> Option<f64> {
    let volumes = run.array.as_ref()?.volumes.iter();
    let pairs = volumes.filter_map(|volume| Some((weight(volume), value(volume)?)));
    let (weights, sum) = pairs.fold((0.0, 0.0), |(weights, sum), (weight, value)| {
        (weights + weight, sum + weight * value)
    });
    (weights > 0.0).then(|| sum / weights)
}

/// Reads per second of a volume that the data cache did not hold.
fn misses(volume: &ArrayVolume) -> f64 {
    volume.reads_per_second * (1.0 - volume.read_hit_fraction.unwrap_or(0.0))
}

const fn higher(name: &'static str, unit: Unit, value: Of) -> Figure {
    Figure(name, unit, Some(Better::Higher), value, None)
}

const fn lower(name: &'static str, unit: Unit, value: Of) -> Figure {
    Figure(name, unit, Some(Better::Lower), value, None)
}

/// A figure that says how much I/O there was, and not how good the storage is.
const fn amount(name: &'static str, unit: Unit, value: Of) -> Figure {
    Figure(name, unit, None, value, None)
}

impl Figure {
    /// The same figure with the half-width of its confidence interval.
    const fn within(mut self, half_width: Of) -> Self {
        self.4 = Some(half_width);
        self
    }

    /// The figure of each run.
    fn of_each(&self, comparison: &Comparison) -> Vec<Value> {
        let value = |result: &RunResult| Value {
            value: (self.3)(result),
            half_width: self.4.and_then(|half_width| half_width(result)),
        };
        let runs = comparison.runs().iter();
        runs.map(|run| value(&run.result)).collect()
    }
}

/// A figure of one run.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Value {
    /// `None` when it was not measured.
    value: Option<f64>,
    /// Half-width of its 95 % confidence interval, in the same unit, where there is one.
    half_width: Option<f64>,
}

impl From<Option<f64>> for Value {
    fn from(value: Option<f64>) -> Self {
        Self {
            value,
            half_width: None,
        }
    }
}

impl Value {
    /// The value, `NaN` when it was not measured.
    fn number(self) -> f64 {
        self.value.unwrap_or(f64::NAN)
    }

    /// The value with its confidence interval, where there is one.
    fn text(self, unit: Unit) -> String {
        let text = quantity(self.number(), unit);
        let half_width = self.half_width.filter(|half| half.is_finite());
        match half_width.filter(|_| self.number().is_finite()) {
            None => text,
            Some(half) if unit == Unit::Milliseconds => {
                format!(
                    "{text} \u{b1} {}",
                    number::latency_beside(half, self.number())
                )
            }
            Some(half) => format!("{text} \u{b1} {}", number::figure(half)),
        }
    }

    /// Whether the confidence intervals of both overlap.
    fn overlaps(self, other: Self) -> bool {
        let half_widths = self.half_width.zip(other.half_width);
        half_widths.is_some_and(|(one, two)| (self.number() - other.number()).abs() <= one + two)
    }
}

/// What a table of figures shows of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The values, and the changes of each later run against the first.
    Both,
    /// Only the values of each run.
    Values,
    /// Only the changes against the first run.
    Changes,
}

/// One row for each figure that any run has.
pub(super) fn table(comparison: &Comparison, shown: Shown) -> Table {
    let mut table = Table::new(heads(comparison, shown, "figure"));
    let mut add = |name, unit, better, values: Vec<Value>| {
        if is_known(&values) {
            table.push(row(comparison, name, (unit, better), &values, shown));
        }
    };
    for figure in OF_STORAGE {
        add(figure.0, figure.1, figure.2, figure.of_each(comparison));
    }
    for metric in own_metrics(comparison) {
        let values = comparison.runs().iter().map(|run| {
            let mut own = run.contribution.metrics.iter();
            let own = own.find(|own| own.id == metric.id);
            Value::from(own.and_then(|own| (own.value)(&run.result)))
        });
        let better = Some(metric.better);
        add(metric.label, metric.unit, better, values.collect());
    }
    for figure in OF_ARRAY {
        add(figure.0, figure.1, figure.2, figure.of_each(comparison));
    }
    table
}

/// The metrics of the workloads of all runs, each once.
fn own_metrics(comparison: &Comparison) -> Vec<&'static ResultMetric> {
    let mut all: Vec<&ResultMetric> = Vec::new();
    for metric in comparison
        .runs()
        .iter()
        .flat_map(|run| run.contribution.metrics)
    {
        if !all.iter().any(|known| known.id == metric.id) {
            all.push(metric);
        }
    }
    all
}

/// Columns for a name, a unit, and what is shown of each run.
pub(super) fn heads(comparison: &Comparison, shown: Shown, what: &str) -> Vec<Column> {
    let mut heads = vec![Column::text(what)];
    for (index, name) in comparison.names().iter().enumerate() {
        if shown != Shown::Changes {
            heads.push(Column::number(name, ""));
        }
        match shown {
            Shown::Both if index > 0 => heads.push(Column::number("change", "")),
            Shown::Changes if index > 0 => heads.push(Column::number(name, "")),
            _ => {}
        }
    }
    heads
}

/// Whether any run has the value.
pub(super) fn is_known(values: &[Value]) -> bool {
    values.iter().any(|value| value.number().is_finite())
}

/// The values of all runs and their changes.
pub(super) fn row(
    comparison: &Comparison,
    name: &str,
    (unit, better): (Unit, Option<Better>),
    values: &[Value],
    shown: Shown,
) -> Vec<Cell> {
    let mut cells = vec![Cell::new(name)];
    let base = values.first().copied().unwrap_or_default();
    for (index, value) in values.iter().enumerate() {
        if shown != Shown::Changes {
            cells.push(Cell::new(value.text(unit)));
        }
        if index > 0 && shown != Shown::Values {
            let better = better.filter(|_| comparison.is_alike(index));
            cells.push(Cell::new(change(*value, base, better)));
        }
    }
    cells
}

/// The change against the first run in words: `14.7 % lower (better)`, `0 %`, `12.0 x (worse)`.
fn change(value: Value, base: Value, better: Option<Better>) -> String {
    let ratio = value.number() / base.number();
    let text = number::change(value.number(), base.number());
    let Some(digits) = text.strip_prefix(['+', '-']).filter(|_| ratio.is_finite()) else {
        return text;
    };
    let is_higher = ratio > 1.0;
    let judgement = match better {
        _ if value.overlaps(base) => " (within 95 % CI)",
        Some(better) if (ratio - 1.0).abs() >= WORTH_A_WORD => {
            match is_higher == (better == Better::Higher) {
                true => " (better)",
                false => " (worse)",
            }
        }
        _ => "",
    };
    if ratio >= WRITTEN_AS_MULTIPLE {
        return format!("{} x{judgement}", number::figure(ratio));
    }
    let direction = if is_higher { "higher" } else { "lower" };
    format!("{digits} {direction}{judgement}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plain(value: f64) -> Value {
        Value::from(Some(value))
    }

    #[test]
    fn changes_say_which_way_and_whether_that_is_better() {
        let of = |value, base, better| change(plain(value), plain(base), Some(better));
        assert_eq!(of(120.0, 100.0, Better::Higher), "20.0 % higher (better)");
        assert_eq!(of(120.0, 100.0, Better::Lower), "20.0 % higher (worse)");
        assert_eq!(of(85.3, 100.0, Better::Lower), "14.7 % lower (better)");
        assert_eq!(of(100.5, 100.0, Better::Lower), "0.5 % higher");
        assert_eq!(of(100.0, 100.0, Better::Lower), "0 %");
        assert_eq!(of(1.0, 0.0, Better::Lower), "-");
        assert_eq!(of(f64::NAN, 1.0, Better::Lower), "-");
        assert_eq!(of(47_536.0, 100.0, Better::Lower), "475 x (worse)");
        assert_eq!(of(999.0, 100.0, Better::Lower), "899 % higher (worse)");
    }

    #[test]
    fn an_amount_of_io_is_neither_better_nor_worse() {
        assert_eq!(change(plain(29.0), plain(100.0), None), "71.0 % lower");
        let amounts = OF_STORAGE.iter().filter(|figure| figure.2.is_none());
        let names: Vec<&str> = amounts.map(|figure| figure.0).collect();
        assert!(names.contains(&"log writes"), "{names:?}");
    }

    #[test]
    fn where_intervals_overlap_nothing_is_judged() {
        let known = |value, half_width| Value {
            value: Some(value),
            half_width: Some(half_width),
        };
        let of = |value, base| change(value, base, Some(Better::Lower));
        let base = known(10.0, 0.5);
        assert_eq!(of(known(11.0, 0.5), base), "10.0 % higher (within 95 % CI)");
        assert_eq!(of(known(11.0, 0.4), base), "10.0 % higher (worse)");
        assert_eq!(of(plain(11.0), base), "10.0 % higher (worse)");
    }
}
