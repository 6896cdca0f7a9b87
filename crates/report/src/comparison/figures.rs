//! The figures that are compared.

use measure::display::{Better, ResultMetric};
use measure::metric::Stream;
use measure::metric::{IoMetric, Unit};
use measure::result::{ArrayGroup, ArrayVolume, RunResult};

use super::Comparison;
use crate::number::{self, quantity};
use crate::table::{Cell, Column, Table};

/// A figure: its name, its unit, which way is better, and where it comes from.
struct Figure(&'static str, Unit, Better, fn(&RunResult) -> Option<f64>);

/// Changes smaller than this share are not called better or worse.
const WORTH_A_WORD: f64 = 0.01;

/// What is compared of the storage.
const OF_STORAGE: [Figure; 16] = [
    higher("transactional I/O", Unit::Iops, |run| {
        Some(run.throughput.achieved_iops)
    }),
    higher("share of the target", Unit::Fraction, |run| {
        run.throughput.achieved_fraction
    }),
    higher("operations", Unit::OperationsPerSecond, |run| {
        Some(run.throughput.operations_per_second)
    }),
    lower("database read, average", Unit::Milliseconds, |run| {
        run.totals.reads.get(IoMetric::Average)
    }),
    lower("database read, p99", Unit::Milliseconds, |run| {
        run.totals.reads.get(IoMetric::P99)
    }),
    lower(
        "database read, worst database, average",
        Unit::Milliseconds,
        |run| worst_average(run, Stream::DatabaseRead),
    ),
    lower("database write, average", Unit::Milliseconds, |run| {
        run.totals.writes.get(IoMetric::Average)
    }),
    lower("database write, p99", Unit::Milliseconds, |run| {
        run.totals.writes.get(IoMetric::P99)
    }),
    lower("log write, average", Unit::Milliseconds, |run| {
        run.totals.log_writes.get(IoMetric::Average)
    }),
    lower("log write, p99", Unit::Milliseconds, |run| {
        run.totals.log_writes.get(IoMetric::P99)
    }),
    lower(
        "log write, worst database, average",
        Unit::Milliseconds,
        |run| worst_average(run, Stream::LogWrite),
    ),
    higher("database reads", Unit::Iops, |run| {
        run.totals.reads.get(IoMetric::Rate)
    }),
    higher("database writes", Unit::Iops, |run| {
        run.totals.writes.get(IoMetric::Rate)
    }),
    higher("log writes", Unit::Iops, |run| {
        run.totals.log_writes.get(IoMetric::Rate)
    }),
    higher(
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
    lower("array: disk I/O", Unit::Iops, |run| {
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
    lower("array: migrated between tiers", Unit::Bytes, |run| {
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

const fn higher(name: &'static str, unit: Unit, value: fn(&RunResult) -> Option<f64>) -> Figure {
    Figure(name, unit, Better::Higher, value)
}

const fn lower(name: &'static str, unit: Unit, value: fn(&RunResult) -> Option<f64>) -> Figure {
    Figure(name, unit, Better::Lower, value)
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
    let mut add = |name, unit, better, values: Vec<Option<f64>>| {
        if is_known(&values) {
            table.push(row(name, unit, better, &values, shown));
        }
    };
    for Figure(name, unit, better, value) in OF_STORAGE {
        add(name, unit, better, comparison.of_each(value));
    }
    for metric in own_metrics(comparison) {
        let values = comparison.runs().iter().map(|run| {
            let mut own = run.contribution.metrics.iter();
            let own = own.find(|own| own.id == metric.id)?;
            (own.value)(&run.result)
        });
        add(metric.label, metric.unit, metric.better, values.collect());
    }
    for Figure(name, unit, better, value) in OF_ARRAY {
        add(name, unit, better, comparison.of_each(value));
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
pub(super) fn is_known(values: &[Option<f64>]) -> bool {
    values.iter().any(|value| value.is_some_and(f64::is_finite))
}

/// The values of all runs and their changes.
pub(super) fn row(
    name: &str,
    unit: Unit,
    better: Better,
    values: &[Option<f64>],
    shown: Shown,
) -> Vec<Cell> {
    let mut cells = vec![Cell::new(name)];
    let base = values.first().copied().flatten().unwrap_or(f64::NAN);
    for (index, value) in values.iter().enumerate() {
        if shown != Shown::Changes {
            cells.push(Cell::new(quantity(value.unwrap_or(f64::NAN), unit)));
        }
        if index > 0 && shown != Shown::Values {
            let value = value.unwrap_or(f64::NAN);
            cells.push(Cell::new(change(value, base, better)));
        }
    }
    cells
}

/// The change against the first run in words: `14.7 % lower (better)`, `0 %`.
fn change(value: f64, base: f64, better: Better) -> String {
    let change = value / base - 1.0;
    let text = number::change(value, base);
    let Some(digits) = text.strip_prefix(['+', '-']).filter(|_| change.is_finite()) else {
        return text;
    };
    let direction = if change > 0.0 { "higher" } else { "lower" };
    let is_better = (change > 0.0) == (better == Better::Higher);
    let judgement = match change.abs() < WORTH_A_WORD {
        true => "",
        false if is_better => " (better)",
        false => " (worse)",
    };
    format!("{digits} {direction}{judgement}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_say_which_way_and_whether_that_is_better() {
        let of = |value, base, better| change(value, base, better);
        assert_eq!(of(120.0, 100.0, Better::Higher), "20.0 % higher (better)");
        assert_eq!(of(120.0, 100.0, Better::Lower), "20.0 % higher (worse)");
        assert_eq!(of(85.3, 100.0, Better::Lower), "14.7 % lower (better)");
        assert_eq!(of(100.5, 100.0, Better::Lower), "0.5 % higher");
        assert_eq!(of(100.0, 100.0, Better::Lower), "0 %");
        assert_eq!(of(1.0, 0.0, Better::Lower), "-");
        assert_eq!(of(f64::NAN, 1.0, Better::Lower), "-");
    }
}
