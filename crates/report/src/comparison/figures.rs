//! The figures that are compared.

use measure::result::{ArrayGroup, ArrayVolume, DatabaseResult, IoFigures, RunResult};

use super::Comparison;
use crate::number::{change, figure_or_absent, limit};
use crate::table::{Cell, Column, Table};

/// Which way is better.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Better {
    Higher,
    Lower,
}

/// A figure: its name, its unit, which way is better, and where it comes from.
struct Figure {
    name: &'static str,
    unit: &'static str,
    better: Better,
    value: fn(&RunResult) -> Option<f64>,
}

/// Changes smaller than this share are not called better or worse.
const WORTH_A_WORD: f64 = 0.01;

const FIGURES: [Figure; 31] = [
    higher("transactional I/O", "1/s", |run| {
        Some(run.throughput.achieved_iops)
    }),
    higher("of the target", "%", |run| {
        run.throughput.achieved_fraction.map(|share| share * 100.0)
    }),
    higher("operations", "1/s", |run| {
        Some(run.throughput.operations_per_second)
    }),
    lower("database read, average", "ms", |run| {
        average(&run.totals.reads)
    }),
    lower("database read, 99 %", "ms", |run| p99(&run.totals.reads)),
    lower("database read, slowest one", "ms", |run| {
        slowest(run, |one| &one.reads)
    }),
    lower("database write, average", "ms", |run| {
        average(&run.totals.writes)
    }),
    lower("database write, 99 %", "ms", |run| p99(&run.totals.writes)),
    lower("log write, average", "ms", |run| {
        average(&run.totals.log_writes)
    }),
    lower("log write, 99 %", "ms", |run| p99(&run.totals.log_writes)),
    lower("log write, slowest one", "ms", |run| {
        slowest(run, |one| &one.log_writes)
    }),
    higher("database reads", "1/s", |run| {
        Some(run.totals.reads.per_second)
    }),
    higher("database writes", "1/s", |run| {
        Some(run.totals.writes.per_second)
    }),
    higher("log writes", "1/s", |run| {
        Some(run.totals.log_writes.per_second)
    }),
    higher("read and written", "MiB/s", |run| {
        let all = [
            &run.totals.reads,
            &run.totals.writes,
            &run.totals.log_writes,
        ];
        Some(
            all.iter()
                .map(|figures| figures.bytes_per_second())
                .sum::<f64>()
                / 1_048_576.0,
        )
    }),
    lower("page-fault stalls", "1/s", |run| {
        Some(run.totals.page_fault_stalls_per_second)
    }),
    higher("transactions, trade results", "1/s", |run| {
        run.server.as_ref()?;
        let results = run.operations.iter().find(|one| one.name == "trade-result");
        results.map(|one| one.per_second)
    }),
    lower("sessions waiting for storage", "%", |run| {
        let waits = &run.server.as_ref()?.waits;
        let of_storage = waits.iter().filter(|wait| wait.class == "storage");
        (!waits.is_empty()).then(|| of_storage.map(|wait| wait.share_percent).sum())
    }),
    lower("conflicts per 1,000 transactions", "", |run| {
        let transactions = &run.server.as_ref()?.transactions;
        let committed = transactions.committed.max(1) as f64;
        Some(1_000.0 * transactions.conflicts as f64 / committed)
    }),
    lower("without service", "s", |run| {
        Some(run.server.as_ref()?.seconds_without_service)
    }),
    lower("service levels failed", "", |run| {
        Some(run.failed_checks().count() as f64)
    }),
    lower("array: disks busy, mean", "%", |run| {
        of_groups(
            run,
            |group| group.disks as f64,
            |group| group.average_busy_fraction,
        )
        .map(|share| share * 100.0)
    }),
    lower("array: busiest disk", "%", |run| {
        let groups = run.array.as_ref()?.groups.iter();
        let busy = groups.map(|group| group.maximum_busy_fraction * 100.0);
        busy.reduce(f64::max)
    }),
    lower("array: drive latency, mean", "ms", |run| {
        let requests = |group: &ArrayGroup| group.reads_per_second + group.writes_per_second;
        of_groups(run, requests, |group| {
            group.average_drive_latency_ms.unwrap_or(0.0)
        })
    }),
    lower("array: requests to the disks", "1/s", |run| {
        let groups = run.array.as_ref()?.groups.iter();
        Some(
            groups
                .map(|group| group.reads_per_second + group.writes_per_second)
                .sum(),
        )
    }),
    lower("array: read miss, average", "ms", |run| {
        of_volumes(run, misses, |volume| volume.average_read_miss_ms)
    }),
    higher("array: reads in the data cache", "%", |run| {
        let reads = |volume: &ArrayVolume| volume.reads_per_second;
        of_volumes(run, reads, |volume| volume.read_hit_fraction).map(|share| share * 100.0)
    }),
    higher("array: reads in the SSD cache", "%", |run| {
        let pools = run.array.as_ref()?.pools.iter();
        let hits: Vec<f64> = pools
            .filter_map(|pool| pool.read_cache_hit_fraction)
            .collect();
        (!hits.is_empty()).then(|| 100.0 * hits.iter().sum::<f64>() / hits.len() as f64)
    }),
    higher("array: data on the SSD tier", "%", |run| {
        let pools = &run.array.as_ref()?.pools;
        let slots: u64 = pools.iter().map(|pool| pool.performance_slots).sum();
        let high: u64 = pools.iter().map(|pool| pool.performance_pages).sum();
        let low = pools
            .iter()
            .map(|pool| pool.standard_pages + pool.archive_pages);
        let all = high + low.sum::<u64>();
        (slots > 0 && all > 0).then(|| 100.0 * high as f64 / all as f64)
    }),
    lower("array: moved between tiers", "GiB", |run| {
        let pools = &run.array.as_ref()?.pools;
        let moved = pools
            .iter()
            .map(|pool| pool.moved_up_bytes + pool.moved_down_bytes);
        let moved: u64 = moved.sum();
        (moved > 0).then(|| moved as f64 / 1_073_741_824.0)
    }),
    lower("array: controllers busy, mean", "%", |run| {
        let controllers = &run.array.as_ref()?.controllers;
        let busy = controllers.iter().map(|one| one.processor_busy_fraction);
        let busy: f64 = busy.sum();
        (!controllers.is_empty()).then(|| 100.0 * busy / controllers.len() as f64)
    }),
];

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

const fn higher(
    name: &'static str,
    unit: &'static str,
    value: fn(&RunResult) -> Option<f64>,
) -> Figure {
    Figure {
        name,
        unit,
        better: Better::Higher,
        value,
    }
}

const fn lower(
    name: &'static str,
    unit: &'static str,
    value: fn(&RunResult) -> Option<f64>,
) -> Figure {
    Figure {
        name,
        unit,
        better: Better::Lower,
        value,
    }
}

fn average(figures: &IoFigures) -> Option<f64> {
    figures.latency.map(|latency| latency.average_ms)
}

/// The average of the database where it is highest.
fn slowest(run: &RunResult, figures: fn(&DatabaseResult) -> &IoFigures) -> Option<f64> {
    let averages = run.databases.iter().filter_map(|one| average(figures(one)));
    averages.reduce(f64::max)
}

fn p99(figures: &IoFigures) -> Option<f64> {
    figures.latency.map(|latency| latency.p99_ms)
}

/// What a table of figures shows of each run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// The values, and the changes of each later run against the first.
    Both,
    /// The values alone.
    Values,
    /// The changes alone.
    Changes,
}

/// One row for each figure that any run has.
pub(super) fn table(comparison: &Comparison, shown: Shown) -> Table {
    let mut table = Table::new(heads(comparison, shown, "figure"));
    for figure in &FIGURES {
        let values = comparison.of_each(figure.value);
        if is_known(&values) {
            table.push(row(figure.name, figure.unit, figure.better, &values, shown));
        }
    }
    table
}

/// Columns for a name, a unit, and what is shown of each run.
pub(super) fn heads(comparison: &Comparison, shown: Shown, what: &str) -> Vec<Column> {
    let mut heads = vec![Column::text(what), Column::text("unit")];
    for (index, name) in comparison.names().iter().enumerate() {
        if shown != Shown::Changes {
            heads.push(Column::number(name, ""));
        }
        match shown {
            Shown::Both if index > 0 => heads.push(Column::number("against the first", "")),
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
    unit: &str,
    better: Better,
    values: &[Option<f64>],
    shown: Shown,
) -> Vec<Cell> {
    let mut cells = vec![Cell::new(name), Cell::new(unit)];
    let base = values.first().copied().flatten().unwrap_or(f64::NAN);
    for (index, value) in values.iter().enumerate() {
        if shown != Shown::Changes {
            cells.push(Cell::new(match value {
                Some(value) if unit.is_empty() => limit(*value),
                _ => figure_or_absent(*value),
            }));
        }
        if index > 0 && shown != Shown::Values {
            let value = value.unwrap_or(f64::NAN);
            cells.push(Cell::new(change(value, base) + word(better, value, base)));
        }
    }
    cells
}

/// Whether the change is for the better.
fn word(better: Better, value: f64, base: f64) -> &'static str {
    let share = value / base - 1.0;
    if !share.is_finite() || share.abs() < WORTH_A_WORD {
        return "";
    }
    if (share > 0.0) == (better == Better::Higher) {
        " better"
    } else {
        " worse"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_follows_the_direction() {
        assert_eq!(word(Better::Higher, 120.0, 100.0), " better");
        assert_eq!(word(Better::Lower, 120.0, 100.0), " worse");
        assert_eq!(word(Better::Lower, 100.5, 100.0), "");
        assert_eq!(word(Better::Lower, 1.0, 0.0), "");
    }
}
