//! The inside of a modelled array over the measured phase.

use measure::metric::Unit;
use measure::result::{ArrayPool, ArrayResult};

use super::{Cell, Column, Table};
use crate::number::{ABSENT, bytes, count, figure, latency_or_absent, percent};

fn share(value: Option<f64>) -> String {
    value.map_or_else(|| ABSENT.to_string(), percent)
}

fn part(of: u64, all: u64) -> String {
    share((all > 0).then(|| of as f64 / all as f64))
}

fn online(online: bool) -> Cell {
    Cell::new(if online { "yes" } else { "no" }).notable_when(!online)
}

/// The disk groups: IOPS, utilization and latency of their drives.
#[must_use]
pub fn array_groups_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("group"),
        Column::text("level"),
        Column::number("disks", ""),
        Column::text("drive"),
        Column::number("read IOPS", ""),
        Column::number("write IOPS", ""),
        Column::number("utilization", "% average"),
        Column::number("utilization", "% max disk"),
        Column::number("drive latency", ""),
        Column::number("queue depth", "per drive"),
    ]);
    for group in &array.groups {
        table.push(vec![
            Cell::new(group.name.clone()),
            Cell::new(group.level.clone()),
            Cell::new(count(group.disks)),
            Cell::new(group.disk.clone()),
            Cell::new(figure(group.reads_per_second)),
            Cell::new(figure(group.writes_per_second)),
            Cell::new(percent(group.average_busy_fraction)),
            Cell::new(percent(group.max_busy_fraction)),
            Cell::new(latency_or_absent(group.average_drive_latency_ms)),
            Cell::new(figure(group.average_drive_queue_depth)),
        ]);
    }
    table
}

/// The volumes as hosts see them.
#[must_use]
pub fn array_volumes_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("volume"),
        Column::text("pool"),
        Column::number("controller", ""),
        Column::number("IOPS", "").of("reads"),
        Column::number("cache hits", "%").of("reads"),
        Column::number("hit", "latency").of("reads"),
        Column::number("miss", "latency").of("reads"),
        Column::number("IOPS", "").of("writes"),
        Column::number("average", "latency").of("writes"),
        Column::number("queue depth", ""),
        Column::number("errors", ""),
    ]);
    for volume in &array.volumes {
        table.push(vec![
            Cell::new(volume.name.clone()),
            Cell::new(volume.place.clone()),
            // A controller's number is a name; 0 says something.
            Cell::new(format!("#{}", volume.owner)),
            Cell::new(figure(volume.reads_per_second)),
            Cell::new(share(volume.read_hit_fraction)),
            Cell::new(latency_or_absent(volume.average_read_hit_ms)),
            Cell::new(latency_or_absent(volume.average_read_miss_ms)),
            Cell::new(figure(volume.writes_per_second)),
            Cell::new(latency_or_absent(volume.average_write_ms)),
            Cell::new(figure(volume.average_queue_depth)),
            Cell::new(count(volume.errors)).notable_when(volume.errors > 0),
        ]);
    }
    table.without_empty_columns()
}

/// The controllers with their data caches.
#[must_use]
pub fn array_controllers_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("controller"),
        Column::text("online"),
        Column::number("host IOPS", ""),
        Column::number("written", "by hosts"),
        Column::number("read", "by hosts"),
        Column::number("CPU", "%"),
        Column::number("mirror link", "%"),
        Column::number("cache in use", "%"),
        Column::number("dirty", "%"),
        Column::number("writes waiting", "for cache"),
    ]);
    for controller in &array.controllers {
        let most = controller.cache_lines_max;
        table.push(vec![
            Cell::new(format!("#{}", controller.number)),
            online(controller.online),
            Cell::new(figure(controller.requests_per_second)),
            Cell::of(
                Some(controller.received_bytes_per_second),
                Unit::BytesPerSecond,
            ),
            Cell::of(Some(controller.sent_bytes_per_second), Unit::BytesPerSecond),
            Cell::new(percent(controller.processor_busy_fraction)),
            Cell::new(percent(controller.link_busy_fraction)),
            Cell::new(part(controller.cache_lines, most)),
            Cell::new(part(controller.cache_dirty_lines, most)),
            Cell::new(count(controller.waiting_writers)),
        ]);
    }
    table
}

/// The pools: tiers, moves, SSD read caches.
#[must_use]
pub fn array_pools_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("pool"),
        Column::number("performance", "tier"),
        Column::number("performance", "tier capacity"),
        Column::number("standard", "tier"),
        Column::number("archive", "tier"),
        Column::number("promoted", ""),
        Column::number("demoted", ""),
        Column::number("SSD cache hits", "% of reads"),
        Column::number("SSD cache in use", "%"),
        Column::number("filled", "lines"),
        Column::number("evicted", "lines"),
        Column::number("invalidated", "lines"),
    ]);
    for pool in &array.pools {
        let size = |pages: u64| bytes_or_none(pages, pool);
        table.push(vec![
            Cell::new(pool.name.clone()),
            Cell::new(size(pool.performance_pages)),
            Cell::new(size(pool.performance_slots)),
            Cell::new(size(pool.standard_pages)),
            Cell::new(size(pool.archive_pages)),
            Cell::new(bytes_or_zero(pool.promoted_bytes)),
            Cell::new(bytes_or_zero(pool.demoted_bytes)),
            Cell::new(share(pool.read_cache_hit_fraction)),
            Cell::new(part(pool.read_cache_lines, pool.read_cache_lines_max)),
            Cell::new(count(pool.read_cache_fills)),
            Cell::new(count(pool.read_cache_evictions)),
            Cell::new(count(pool.read_cache_invalidations)),
        ]);
    }
    table.without_empty_columns()
}

fn bytes_or_none(pages: u64, pool: &ArrayPool) -> String {
    bytes_or_zero(pages * pool.page_bytes)
}

/// A zero without a unit, so that a column of them can be left out.
fn bytes_or_zero(size: u64) -> String {
    match size {
        0 => "0".to_string(),
        size => bytes(size as f64),
    }
}

/// A table with a row for each disk of the array.
#[must_use]
pub fn array_disks_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("disk"),
        Column::text("group"),
        Column::text("online"),
        Column::number("read IOPS", ""),
        Column::number("write IOPS", ""),
        Column::number("utilization", "%"),
        Column::number("drive latency", ""),
        Column::number("with queueing", "in controller"),
        Column::number("queue depth", ""),
        Column::number("seek", "% of service time"),
        Column::number("rotation", "% of service time"),
    ]);
    for disk in &array.disks {
        table.push(vec![
            Cell::new(format!("#{}", disk.number)),
            Cell::new(disk.group.clone()),
            online(disk.online),
            Cell::new(figure(disk.reads_per_second)),
            Cell::new(figure(disk.writes_per_second)),
            Cell::new(percent(disk.busy_fraction)),
            Cell::new(latency_or_absent(disk.average_drive_latency_ms)),
            Cell::new(latency_or_absent(disk.average_latency_ms)),
            Cell::new(figure(disk.average_drive_queue_depth)),
            Cell::new(share(disk.seek_fraction)),
            Cell::new(share(disk.rotation_fraction)),
        ]);
    }
    table.without_empty_columns()
}
