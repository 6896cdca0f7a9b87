//! The columns of `samples.csv` about the inside of a modelled array.

use super::RowScope;
use super::row_parts::columns;
use crate::result::{ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume};

columns! {
    /// A part of a modelled array in one sample.
    ArrayRow {
        /// Host requests per second (controller).
        array_requests_per_second,
        /// Reads per second (volume, group, disk).
        array_reads_per_second,
        /// Writes per second (volume, group, disk).
        array_writes_per_second,
        /// Bytes read per second (controller: sent to hosts; volume, disk).
        array_read_bytes_per_second,
        /// Bytes written per second (controller: received from hosts; volume, disk).
        array_written_bytes_per_second,
        /// Share of the time with something to do (controller: its processor; group: the mean of
        /// its disks; disk).
        array_busy_fraction,
        /// Share of the time the link to the partner was busy (controller).
        array_link_busy_fraction,
        /// Mean time of a request in the drive (group, disk).
        array_average_drive_latency_ms,
        /// The same with the wait for the drive in the controller (disk).
        array_average_latency_ms,
        /// Mean number of requests in the drive (group: the mean of its disks; disk), or inside the
        /// array (volume).
        array_average_queue_depth,
        /// Share of the reads that the data cache held (volume), or the SSD read cache (pool).
        array_read_hit_fraction,
        /// Mean latency of reads that the data cache held (volume).
        array_average_read_hit_ms,
        /// Mean latency of the other reads (volume).
        array_average_read_miss_ms,
        /// Mean latency of writes (volume).
        array_average_write_ms,
        /// Share of the data cache that holds what the disks lack (controller).
        array_cache_dirty_fraction,
        /// Share of the SSD read cache that can be read from: how warm it is (pool).
        array_read_cache_used_fraction,
        /// How far the rebuild of a lost disk has come (group).
        array_rebuild_done_fraction,
        /// Pages on the performance tier (pool).
        array_performance_pages,
        /// Pages on the standard tier (pool).
        array_standard_pages,
        /// Pages on the archive tier (pool).
        array_archive_pages,
        /// Bytes moved to a higher tier per second (pool).
        array_moved_up_bytes_per_second,
        /// Bytes moved to a lower tier per second (pool).
        array_moved_down_bytes_per_second,
    }
}

impl ArrayRow {
    /// One row for each part: controllers, volumes, pools, groups, disks.
    pub(super) fn all_of(array: &ArrayResult) -> Vec<(RowScope, String, ArrayRow)> {
        let counted_s = array.counted_s;
        let mut rows = Vec::new();
        for part in &array.controllers {
            rows.push((
                RowScope::ArrayController,
                part.number.to_string(),
                controller(part),
            ));
        }
        for part in &array.volumes {
            rows.push((RowScope::ArrayVolume, part.name.clone(), volume(part)));
        }
        for part in &array.pools {
            rows.push((
                RowScope::ArrayPool,
                part.name.clone(),
                pool(part, counted_s),
            ));
        }
        for part in &array.groups {
            rows.push((RowScope::ArrayGroup, part.name.clone(), group(part)));
        }
        for part in &array.disks {
            rows.push((RowScope::ArrayDisk, part.number.to_string(), disk(part)));
        }
        rows
    }
}

fn controller(part: &ArrayController) -> ArrayRow {
    ArrayRow {
        array_requests_per_second: Some(part.requests_per_second),
        array_read_bytes_per_second: Some(part.sent_bytes_per_second),
        array_written_bytes_per_second: Some(part.received_bytes_per_second),
        array_busy_fraction: Some(part.processor_busy_fraction),
        array_link_busy_fraction: Some(part.link_busy_fraction),
        array_cache_dirty_fraction: share(part.cache_dirty_lines, part.cache_lines_max),
        ..ArrayRow::default()
    }
}

fn volume(part: &ArrayVolume) -> ArrayRow {
    ArrayRow {
        array_reads_per_second: Some(part.reads_per_second),
        array_writes_per_second: Some(part.writes_per_second),
        array_read_bytes_per_second: Some(part.read_bytes_per_second),
        array_written_bytes_per_second: Some(part.written_bytes_per_second),
        array_average_queue_depth: Some(part.average_queue_depth),
        array_read_hit_fraction: part.read_hit_fraction,
        array_average_read_hit_ms: part.average_read_hit_ms,
        array_average_read_miss_ms: part.average_read_miss_ms,
        array_average_write_ms: part.average_write_ms,
        ..ArrayRow::default()
    }
}

fn pool(part: &ArrayPool, counted_s: f64) -> ArrayRow {
    let rate = |bytes: u64| (counted_s > 0.0).then(|| bytes as f64 / counted_s);
    ArrayRow {
        array_read_hit_fraction: part.read_cache_hit_fraction,
        array_read_cache_used_fraction: share(part.read_cache_lines, part.read_cache_lines_max),
        array_performance_pages: Some(part.performance_pages as f64),
        array_standard_pages: Some(part.standard_pages as f64),
        array_archive_pages: Some(part.archive_pages as f64),
        array_moved_up_bytes_per_second: rate(part.moved_up_bytes),
        array_moved_down_bytes_per_second: rate(part.moved_down_bytes),
        ..ArrayRow::default()
    }
}

fn group(part: &ArrayGroup) -> ArrayRow {
    ArrayRow {
        array_reads_per_second: Some(part.reads_per_second),
        array_writes_per_second: Some(part.writes_per_second),
        array_busy_fraction: Some(part.average_busy_fraction),
        array_average_drive_latency_ms: part.average_drive_latency_ms,
        array_average_queue_depth: Some(part.average_drive_queue_depth),
        array_rebuild_done_fraction: part.rebuild_done_fraction,
        ..ArrayRow::default()
    }
}

fn disk(part: &ArrayDisk) -> ArrayRow {
    ArrayRow {
        array_reads_per_second: Some(part.reads_per_second),
        array_writes_per_second: Some(part.writes_per_second),
        array_read_bytes_per_second: Some(part.read_bytes_per_second),
        array_written_bytes_per_second: Some(part.written_bytes_per_second),
        array_busy_fraction: Some(part.busy_fraction),
        array_average_drive_latency_ms: part.average_drive_latency_ms,
        array_average_latency_ms: part.average_latency_ms,
        array_average_queue_depth: Some(part.average_drive_queue_depth),
        ..ArrayRow::default()
    }
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}
