//! The inside of a modelled array: how busy its parts were, what its caches and tiers did.

use maud::{Markup, html};
use measure::result::ArrayResult;
use measure::sample::{ArrayRow, RowScope};

use super::course::{line, over_time, phases, under_load};
use super::{charts, tables};
use crate::chart::{Across, Chart, Mark, Point};
use crate::number::{bytes, count, duration, figure};
use crate::run::{Moment, Run};
use crate::table::{
    array_controllers_table, array_disks_table, array_groups_table, array_pools_table,
    array_volumes_table,
};

const MIB: f64 = 1_048_576.0;
const GIB: f64 = 1_073_741_824.0;
/// Up to this many parts have a line each.
const MOST_LINES: usize = 8;

/// A figure of a part in one sample.
type Counted = fn(&ArrayRow) -> Option<f64>;

/// Tables and charts of the array; nothing for a run on real storage.
pub(super) fn section(run: &Run) -> Markup {
    let Some(array) = &run.result.array else {
        return html! {};
    };
    html! {
        h2 id="array" { "Inside the array" }
        p {
            b { (array.title) } ", counted over " (duration(array.counted_s))
            " of simulated time"
            @if let Some(requests) = run.result.host_requests {
                ", " (count(requests)) " host requests since the beginning"
            }
            @if let Some(wall) = run.result.wall_seconds {
                ", computed in " (duration(wall))
            }
            "."
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
        @if !drawn.is_empty() { h3 { "The array over time" } (charts("", &drawn)) }
        details {
            summary { "Every disk (" (array.disks.len()) ")" }
            (tables::table(&array_disks_table(array)))
        }
        details {
            summary { "The description in force" }
            pre { (array.description) }
        }
    }
}

fn array_charts(run: &Run, array: &ArrayResult) -> Vec<Chart> {
    let run = &under_load(run);
    let mut list = vec![
        host_latency(run),
        groups(
            run,
            "array-busy",
            "Disks busy, mean of each group",
            "%",
            |row| row.array_busy_fraction.map(|share| share * 100.0),
        ),
        groups(
            run,
            "array-drive",
            "Drive latency of each group",
            "ms",
            |row| row.array_average_drive_latency_ms,
        ),
        groups(
            run,
            "array-requests",
            "Requests to the disks of each group",
            "1/s",
            |row| {
                let reads = row.array_reads_per_second?;
                Some(reads + row.array_writes_per_second?)
            },
        ),
        groups(
            run,
            "array-queue",
            "Requests in each drive, mean of each group",
            "",
            |row| row.array_average_queue_depth,
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
        if chart.across == Across::Elapsed {
            chart.bands = phases(&run.timeline);
        }
    }
    list
}

/// What one kind of part shows over time, each part by name.
fn parts(
    run: &Run,
    scope: RowScope,
    value: impl Fn(&ArrayRow) -> Option<f64>,
) -> Vec<(String, Vec<Point>)> {
    let mut names: Vec<&str> = Vec::new();
    for part in run.timeline.iter().flat_map(|moment| &moment.array) {
        if part.scope == scope && !names.contains(&part.name.as_str()) {
            names.push(&part.name);
        }
    }
    let lines = names.into_iter().map(|name| {
        let of = |moment: &Moment| {
            let mut own = moment.array.iter();
            let part = own.find(|part| part.scope == scope && part.name == name);
            part.and_then(|part| value(&part.figures))
                .unwrap_or(f64::NAN)
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
fn over_volumes(moment: &Moment, weight: Counted, value: Counted) -> f64 {
    let volumes = moment
        .array
        .iter()
        .filter(|part| part.scope == RowScope::ArrayVolume);
    let pairs = volumes.filter_map(|part| Some((weight(&part.figures)?, value(&part.figures)?)));
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

fn read_hits(row: &ArrayRow) -> Option<f64> {
    Some(row.array_reads_per_second? * row.array_read_hit_fraction?)
}

fn read_misses(row: &ArrayRow) -> Option<f64> {
    Some(row.array_reads_per_second? * (1.0 - row.array_read_hit_fraction?))
}

/// What hosts see, by what the data cache could do for them.
fn host_latency(run: &Run) -> Chart {
    let mut chart = over_time("array-host", "Latency of host requests, all volumes", "ms");
    let kinds: [(&str, Mark, Counted, Counted); 3] = [
        (
            "reads, not in the data cache",
            Mark::Line,
            read_misses,
            |row| row.array_average_read_miss_ms,
        ),
        ("reads, in the data cache", Mark::Dashed, read_hits, |row| {
            row.array_average_read_hit_ms
        }),
        (
            "writes",
            Mark::Line,
            |row| row.array_writes_per_second,
            |row| row.array_average_write_ms,
        ),
    ];
    for (tone, (name, mark, weight, value)) in kinds.into_iter().enumerate() {
        let points = line(run, |moment| over_volumes(moment, weight, value));
        chart.add(name, tone, mark, &points);
    }
    chart
}

/// How evenly the disks were busy over the measured phase.
fn each_disk(array: &ArrayResult) -> Chart {
    let title = "Each disk, busy over the measured phase";
    let mut chart = Chart::new("array-disks", title, "%", Across::Number("disk".into()));
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
    let mut chart = over_time("array-dirty", "Data cache that the disks lack", "%");
    let lines = parts(run, RowScope::ArrayController, |row| {
        row.array_cache_dirty_fraction.map(|share| share * 100.0)
    });
    add_parts(&mut chart, "controller ", &lines);
    chart
}

fn hits(run: &Run) -> Chart {
    let mut chart = over_time("array-hits", "Reads served by caches", "%");
    let weight = |row: &ArrayRow| row.array_reads_per_second;
    let data = line(run, |moment| {
        100.0 * over_volumes(moment, weight, |row| row.array_read_hit_fraction)
    });
    if data.iter().any(|point| point.1 > 0.0) {
        chart.add("data cache, of all reads", 0, Mark::Line, &data);
    }
    let lines = parts(run, RowScope::ArrayPool, |row| {
        row.array_read_hit_fraction.map(|share| share * 100.0)
    });
    add_parts(&mut chart, "SSD read cache, of the rest in pool ", &lines);
    chart.top = Some(100.0);
    chart
}

fn warm_up(run: &Run) -> Chart {
    let mut chart = over_time("array-warm", "SSD read cache in use", "%");
    let lines = parts(run, RowScope::ArrayPool, |row| {
        row.array_read_cache_used_fraction
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
        ("performance", |row| row.array_performance_pages),
        ("standard", |row| row.array_standard_pages),
        ("archive", |row| row.array_archive_pages),
    ];
    for (tone, (name, pages)) in kinds.into_iter().enumerate() {
        let points = line(run, |moment| {
            let pools = moment
                .array
                .iter()
                .filter(|part| part.scope == RowScope::ArrayPool);
            let sizes =
                pools.filter_map(|part| Some(pages(&part.figures)? * page_bytes(&part.name)));
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
    chart.note = format!("The performance tier has room for {}.", bytes(room));
    chart
}

fn migration(run: &Run) -> Chart {
    let mut chart = over_time("array-moves", "Moved between tiers", "MiB/s");
    let kinds: [(&str, Counted); 2] = [
        ("to higher tiers", |row| row.array_moved_up_bytes_per_second),
        ("to lower tiers", |row| {
            row.array_moved_down_bytes_per_second
        }),
    ];
    for (tone, (name, rate)) in kinds.into_iter().enumerate() {
        let points = line(run, |moment| {
            let pools = moment
                .array
                .iter()
                .filter(|part| part.scope == RowScope::ArrayPool);
            pools.filter_map(|part| rate(&part.figures)).sum::<f64>() / MIB
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
    chart.note = format!("At most {most} MiB/s in a sample.");
    chart
}
