//! The inside of a modelled array over the measured phase.

use measure::metric::Unit;
use measure::result::ArrayResult;

use super::{Cell, Column, Table};

fn iops(value: f64) -> Cell {
    Cell::of(value, Unit::Iops)
}

fn latency(value_ms: Option<f64>) -> Cell {
    Cell::of(value_ms, Unit::Milliseconds)
}

fn share(value: impl Into<Option<f64>>) -> Cell {
    Cell::of(value, Unit::Fraction)
}

fn part(of: u64, all: u64) -> Cell {
    share((all > 0).then(|| of as f64 / all as f64))
}

fn bytes(size: u64) -> Cell {
    Cell::of(size as f64, Unit::Bytes)
}

fn online(online: bool) -> Cell {
    Cell::new(if online { "yes" } else { "no" }).notable_when(!online)
}

/// The disk groups: IOPS, utilization and latency of their disks.
#[must_use]
pub fn array_groups_table(array: &ArrayResult) -> Table {
    let mut table = Table::new(vec![
        Column::text("group"),
        Column::text("level"),
        Column::number("disks", ""),
        Column::text("disk model"),
        Column::number("read IOPS", ""),
        Column::number("write IOPS", ""),
        Column::number("utilization", "% average"),
        Column::number("utilization", "% max disk"),
        Column::number("disk latency", ""),
        Column::number("queue depth", "per disk"),
    ]);
    for group in &array.groups {
        table.push(vec![
            Cell::new(group.name.clone()),
            Cell::new(group.level.clone()),
            Cell::count(group.disks),
            Cell::new(group.disk.clone()),
            iops(group.reads_per_second),
            iops(group.writes_per_second),
            share(group.average_busy_fraction),
            share(group.max_busy_fraction),
            latency(group.average_disk_latency_ms),
            Cell::figure(group.average_disk_queue_depth),
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
            Cell::new(format!("#{}", volume.owner)),
            iops(volume.reads_per_second),
            share(volume.read_hit_fraction),
            latency(volume.average_read_hit_ms),
            latency(volume.average_read_miss_ms),
            iops(volume.writes_per_second),
            latency(volume.average_write_ms),
            Cell::figure(volume.average_queue_depth),
            Cell::count(volume.errors).notable_when(volume.errors > 0),
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
            iops(controller.requests_per_second),
            Cell::of(controller.received_bytes_per_second, Unit::BytesPerSecond),
            Cell::of(controller.sent_bytes_per_second, Unit::BytesPerSecond),
            share(controller.cpu_busy_fraction),
            share(controller.link_busy_fraction),
            part(controller.cache_lines, most),
            part(controller.cache_dirty_lines, most),
            Cell::count(controller.waiting_writers),
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
        let size = |pages: u64| bytes(pages * pool.page_bytes);
        table.push(vec![
            Cell::new(pool.name.clone()),
            size(pool.performance_pages),
            size(pool.performance_slots),
            size(pool.standard_pages),
            size(pool.archive_pages),
            bytes(pool.promoted_bytes),
            bytes(pool.demoted_bytes),
            share(pool.read_cache_hit_fraction),
            part(pool.read_cache_lines, pool.read_cache_lines_max),
            Cell::count(pool.read_cache_fills),
            Cell::count(pool.read_cache_evictions),
            Cell::count(pool.read_cache_invalidations),
        ]);
    }
    table.without_empty_columns()
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
        Column::number("disk latency", ""),
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
            iops(disk.reads_per_second),
            iops(disk.writes_per_second),
            share(disk.busy_fraction),
            latency(disk.average_disk_latency_ms),
            latency(disk.average_latency_ms),
            Cell::figure(disk.average_disk_queue_depth),
            share(disk.seek_fraction),
            share(disk.rotation_fraction),
        ]);
    }
    table.without_empty_columns()
}
