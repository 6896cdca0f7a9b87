//! The inside of a modelled array: utilization of its parts, caches and tiers.

use maud::{Markup, html};
use measure::metric::Metric;
use measure::metric::RowScope;
use measure::result::{ArrayResult, RunKind};
use measure::sample::SampleRow;

use super::run_charts::{line, over_time, phases, under_load};
use super::{charts, tables};
use crate::chart::{Chart, HorizontalAxis, Mark, Point};
use crate::number::{bytes, count, duration, figure};
use crate::run::{Run, Sample};
use crate::table::{
    array_controllers_table, array_disks_table, array_groups_table, array_pools_table,
    array_volumes_table,
};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
/// Up to this many parts have a line each.
const MOST_LINES: usize = 8;

/// A figure of a part in one sample.
type Counted = fn(&SampleRow) -> Option<f64>;

/// Tables and charts of the array; nothing for a run on real storage.
pub(super) fn section(run: &Run) -> Markup {
    let Some(array) = &run.result.array else {
        return html! {};
    };
    html! {
        h2 id="array" { "Inside the array" }
        p {
            b { (array.title) } ", counters over " (duration(array.counted_s))
            (match run.result.kind {
                RunKind::Served => "",
                _ => " of simulated time",
            })
            @if let Some(requests) = run.result.host_requests {
                ", " (count(requests)) " host requests in all"
            }
            @if let Some(wall) = run.result.wall_seconds.filter(|_| run.result.kind != RunKind::Served) {
                ", computed in " (duration(wall))
            }
            "."
            @if let Some(warp) = array.warp {
                b { " Rebuilds, scrubs and moves between tiers went on " (count(warp)) " times as fast as in the array." }
            }
            @if array.lost_sectors > 0 {
                b { " " (count(array.lost_sectors)) " acknowledged sectors were lost." }
            }
        }
        h3 { "Disk groups" }
        (tables::table(&array_groups_table(array)))
        h3 { "Volumes" }
        (tables::table(&array_volumes_table(array)))
        h3 { "Controllers" }
        (tables::table(&array_controllers_table(array)))
        @if !array.pools.is_empty() {
            h3 { "Pools" }
            (tables::table(&array_pools_table(array)))
        }
        @let drawn = array_charts(run, array);
        @if !drawn.is_empty() { h3 { "Charts of the array" } (charts("", &drawn)) }
        details {
            summary { "All disks (" (array.disks.len()) ")" }
            (tables::table(&array_disks_table(array)))
        }
        details {
            summary { "Array description" }
            pre { (array.description) }
        }
    }
}

/// The charts of the array.
pub(super) fn array_charts(run: &Run, array: &ArrayResult) -> Vec<Chart> {
    let run = &under_load(run);
    let mut list = vec![
        host_latency(run),
        groups(
            run,
            "array-busy",
            "Disk utilization, average of each group",
            "%",
            |row| row.get(Metric::ArrayBusy).map(|share| share * 100.0),
        ),
        groups(
            run,
            "array-drive",
            "Disk latency of each group",
            "ms",
            |row| row.get(Metric::ArrayDriveLatency),
        ),
        groups(
            run,
            "array-requests",
            "Disk I/O of each group",
            "IOPS",
            |row| {
                let reads = row.get(Metric::ArrayReads)?;
                Some(reads + row.get(Metric::ArrayWrites)?)
            },
        ),
        groups(
            run,
            "array-queue",
            "Queue depth of the disks, average of each group",
            "",
            |row| row.get(Metric::ArrayQueueDepth),
        ),
        each_disk(array),
        dirty(run),
        hits(run),
        warm_up(run),
        tiers(run, array),
        migration(run),
    ];
    list[1].top = Some(100.0);
    list.retain(|chart| !chart.is_empty());
    for chart in &mut list {
        if chart.horizontal == HorizontalAxis::Elapsed {
            chart.bands = phases(&run.timeline);
        }
    }
    list
}

/// What one kind of part shows over time, each part by name.
fn parts(
    run: &Run,
    scope: RowScope,
    value: impl Fn(&SampleRow) -> Option<f64>,
) -> Vec<(String, Vec<Point>)> {
    let mut names: Vec<&str> = Vec::new();
    for part in run.timeline.iter().flat_map(|sample| sample.of(scope)) {
        if !names.contains(&part.name.as_str()) {
            names.push(&part.name);
        }
    }
    let lines = names.into_iter().map(|name| {
        let of = |sample: &Sample| {
            let row = sample.row(scope, name);
            row.and_then(&value).unwrap_or(f64::NAN)
        };
        (name.to_owned(), line(run, of))
    });
    lines.collect()
}

/// Adds a line for each part that ever was above zero.
fn add_parts(chart: &mut Chart, prefix: &str, lines: &[(String, Vec<Point>)]) {
    let busy = |points: &[Point]| points.iter().any(|point| point.1 > 0.0);
    let shown = lines.iter().filter(|(_, points)| busy(points));
    for (name, points) in shown.take(MOST_LINES) {
        let tone = chart.series.len();
        let mark = if tone.is_multiple_of(2) {
            Mark::Line
        } else {
            Mark::Dashed
        };
        chart.add(&format!("{prefix}{name}"), tone, mark, points);
    }
    let left = lines.len().saturating_sub(MOST_LINES);
    if left > 0 {
        chart.note = format!("{left} more are in samples.csv.");
    }
}

fn groups(
    run: &Run,
    identity: &'static str,
    title: &str,
    unit: &'static str,
    value: Counted,
) -> Chart {
    let mut chart = over_time(identity, title, unit);
    add_parts(&mut chart, "", &parts(run, RowScope::ArrayGroup, value));
    chart
}

/// Weighted means over the volumes of one sample.
fn over_volumes(sample: &Sample, weight: Counted, value: Counted) -> f64 {
    let volumes = sample.of(RowScope::ArrayVolume);
    let pairs = volumes.filter_map(|row| Some((weight(row)?, value(row)?)));
    let (mut weights, mut sum) = (0.0, 0.0);
    for (weight, value) in pairs {
        weights += weight;
        sum += weight * value;
    }
    if weights > 0.0 {
        sum / weights
    } else {
        f64::NAN
    }
}

fn read_hits(row: &SampleRow) -> Option<f64> {
    Some(row.get(Metric::ArrayReads)? * row.get(Metric::ArrayReadHits)?)
}

fn read_misses(row: &SampleRow) -> Option<f64> {
    Some(row.get(Metric::ArrayReads)? * (1.0 - row.get(Metric::ArrayReadHits)?))
}

/// Latency as hosts see it, by hit and miss of the data cache.
fn host_latency(run: &Run) -> Chart {
    let mut chart = over_time("array-host", "Latency of host requests, all volumes", "ms");
    let kinds: [(&str, Mark, Counted, Counted); 3] = [
        (
            "read misses in the data cache",
            Mark::Line,
            read_misses,
            |row| row.get(Metric::ArrayReadMissLatency),
        ),
        (
            "read hits in the data cache",
            Mark::Dashed,
            read_hits,
            |row| row.get(Metric::ArrayReadHitLatency),
        ),
        (
            "writes",
            Mark::Line,
            |row| row.get(Metric::ArrayWrites),
            |row| row.get(Metric::ArrayWriteLatency),
        ),
    ];
    for (tone, (name, mark, weight, value)) in kinds.into_iter().enumerate() {
        let points = line(run, |sample| over_volumes(sample, weight, value));
        chart.add(name, tone, mark, &points);
    }
    chart
}

/// How evenly the disks were used over the measured phase.
fn each_disk(array: &ArrayResult) -> Chart {
    let title = "Utilization of each disk over the measured phase";
    let mut chart = Chart::new(
        "array-disks",
        title,
        "%",
        HorizontalAxis::Number("disk".into()),
    );
    chart.top = Some(100.0);
    for (tone, group) in array.groups.iter().enumerate().take(MOST_LINES) {
        let own = array.disks.iter().filter(|disk| disk.group == group.name);
        let points: Vec<Point> = own
            .map(|disk| (disk.number as f64, disk.busy_fraction * 100.0))
            .collect();
        chart.add(&group.name, tone, Mark::Dots, &points);
    }
    chart
}

fn dirty(run: &Run) -> Chart {
    let mut chart = over_time("array-dirty", "Dirty data in the data cache", "%");
    let lines = parts(run, RowScope::ArrayController, |row| {
        row.get(Metric::ArrayDirty).map(|share| share * 100.0)
    });
    add_parts(&mut chart, "controller ", &lines);
    chart
}

fn hits(run: &Run) -> Chart {
    let mut chart = over_time("array-hits", "Reads served by the caches", "%");
    let weight = |row: &SampleRow| row.get(Metric::ArrayReads);
    let data = line(run, |sample| {
        100.0 * over_volumes(sample, weight, |row| row.get(Metric::ArrayReadHits))
    });
    if data.iter().any(|point| point.1 > 0.0) {
        chart.add("data cache, of all reads", 0, Mark::Line, &data);
    }
    let lines = parts(run, RowScope::ArrayPool, |row| {
        row.get(Metric::ArrayReadHits).map(|share| share * 100.0)
    });
    add_parts(
        &mut chart,
        "SSD read cache, of data cache misses in pool ",
        &lines,
    );
    chart.top = Some(100.0);
    chart
}

fn warm_up(run: &Run) -> Chart {
    let mut chart = over_time("array-warm", "SSD read cache in use", "%");
    let lines = parts(run, RowScope::ArrayPool, |row| {
        row.get(Metric::ArrayReadCacheUsed)
            .map(|share| share * 100.0)
    });
    add_parts(&mut chart, "pool ", &lines);
    chart.top = Some(100.0);
    chart
}

/// How much lies on which tier, where there is more than one.
fn tiers(run: &Run, array: &ArrayResult) -> Chart {
    let mut chart = over_time("array-tiers", "Data on each tier", "GiB");
    if array.pools.iter().all(|pool| pool.performance_slots == 0) {
        return chart;
    }
    let page_bytes = |name: &str| {
        let pool = array.pools.iter().find(|pool| pool.name == name);
        pool.map_or(0.0, |pool| pool.page_bytes as f64)
    };
    let kinds: [(&str, Counted); 3] = [
        ("performance", |row| row.get(Metric::ArrayPerformancePages)),
        ("standard", |row| row.get(Metric::ArrayStandardPages)),
        ("archive", |row| row.get(Metric::ArrayArchivePages)),
    ];
    for (tone, (name, pages)) in kinds.into_iter().enumerate() {
        let points = line(run, |sample| {
            let pools = sample.of(RowScope::ArrayPool);
            let sizes = pools.filter_map(|row| Some(pages(row)? * page_bytes(&row.name)));
            sizes.sum::<f64>() / GIB
        });
        if points.iter().any(|point| point.1 > 0.0) {
            chart.add(name, tone, Mark::Line, &points);
        }
    }
    let room: f64 = array
        .pools
        .iter()
        .map(|pool| pool.performance_slots as f64 * pool.page_bytes as f64)
        .sum();
    chart.note = format!("Capacity of the performance tier: {}.", bytes(room));
    chart
}

fn migration(run: &Run) -> Chart {
    let mut chart = over_time("array-moves", "Tier migration", "MiB/s");
    let kinds: [(&str, Counted); 2] = [
        ("promoted", |row| row.get(Metric::ArrayPromoted)),
        ("demoted", |row| row.get(Metric::ArrayDemoted)),
    ];
    for (tone, (name, rate)) in kinds.into_iter().enumerate() {
        let points = line(run, |sample| {
            let pools = sample.of(RowScope::ArrayPool);
            pools.filter_map(rate).sum::<f64>() / MIB
        });
        if points.iter().any(|point| point.1 > 0.0) {
            chart.add(name, tone, Mark::Line, &points);
        }
    }
    let most = figure(
        chart
            .series
            .iter()
            .flat_map(|series| series.points.iter().map(|point| point.1))
            .filter(|value| value.is_finite())
            .fold(0.0, f64::max),
    );
    chart.note = format!("Max {most} MiB/s in a sample.");
    chart
}
