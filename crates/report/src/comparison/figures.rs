//! The figures that are compared.

use measure::display::{Better, ResultMetric};
use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{ArrayGroup, ArrayVolume, RunResult};

use super::Comparison;
use super::change::{Value, change};
use crate::table::{Cell, Column, Table};

/// A figure: its name, its unit, which way is better if either is, where it comes from, and where the
/// half-width of its confidence interval does.
struct Figure(&'static str, Unit, Option<Better>, Of, Option<Of>);

/// What a figure, or its half-width, is in a result.
type Of = fn(&RunResult) -> Option<f64>;

/// What is compared first: the load that was carried.
const OF_LOAD: [Figure; 3] = [
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
];

/// The streams that are compared, and what is compared of the latency of each.
const STREAMS: [Stream; 3] = [
    Stream::DatabaseRead,
    Stream::DatabaseWrite,
    Stream::LogWrite,
];
const LATENCIES: [IoMetric; 3] = [IoMetric::Average, IoMetric::P99, IoMetric::Max];

/// What is compared of the storage below the figures of the streams.
const OF_STORAGE: [Figure; 3] = [
    amount("reads of all database I/O", Unit::Fraction, |run| {
        run.totals.read_fraction()
    }),
    amount(
        "throughput, read and written",
        Unit::BytesPerSecond,
        |run| {
            let of = |stream| run.totals.stream(stream).bytes_per_second();
            Some(STREAMS.map(of).iter().sum::<f64>())
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
    let mut add = |name: &str, unit, better, values: Vec<Value>| {
        if is_known(&values) {
            table.push(row(comparison, name, (unit, better), &values, shown));
        }
    };
    for figure in OF_LOAD {
        add(figure.0, figure.1, figure.2, figure.of_each(comparison));
    }
    for stream in STREAMS {
        let label = stream.label();
        for metric in LATENCIES {
            let values = of_stream(comparison, stream, metric);
            let name = format!("{label}, {}", metric.label());
            add(&name, metric.unit(), Some(Better::Lower), values);
        }
        let worst = comparison.of_each(|run| worst_average(run, stream));
        let worst = worst.into_iter().map(Value::from).collect();
        let name = format!("{label}, worst database, average");
        add(&name, Unit::Milliseconds, Some(Better::Lower), worst);
        let rates = of_stream(comparison, stream, IoMetric::Rate);
        add(label, IoMetric::Rate.unit(), None, rates);
    }
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

/// A figure of a stream in each run; averages with their confidence intervals.
fn of_stream(comparison: &Comparison, stream: Stream, metric: IoMetric) -> Vec<Value> {
    let runs = comparison.runs().iter();
    let of = |result: &RunResult| {
        let figures = result.totals.stream(stream);
        let half_width = figures.get(IoMetric::HalfWidth);
        Value {
            value: figures.get(metric),
            half_width: half_width.filter(|_| metric == IoMetric::Average),
        }
    };
    runs.map(|run| of(&run.result)).collect()
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
            cells.push(Cell::new(change(*value, base, unit, better)));
        }
    }
    cells
}
