//! The rows of `samples.csv` about the inside of a modelled array.

use crate::metric::Metric;
use crate::metric::RowScope;
use crate::metric::Values;
use crate::result::{ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume};

/// Scope, name and values of each part: controllers, volumes, pools, groups, disks.
pub(super) fn array_rows(array: &ArrayResult) -> Vec<(RowScope, String, Values)> {
    let controllers = array.controllers.iter().map(|part| {
        let name = part.number.to_string();
        (RowScope::ArrayController, name, controller(part))
    });
    let volumes = array
        .volumes
        .iter()
        .map(|part| (RowScope::ArrayVolume, part.name.clone(), volume(part)));
    let pools = array.pools.iter().map(|part| {
        let values = pool(part, array.counted_s);
        (RowScope::ArrayPool, part.name.clone(), values)
    });
    let groups = array
        .groups
        .iter()
        .map(|part| (RowScope::ArrayGroup, part.name.clone(), group(part)));
    let disks = array
        .disks
        .iter()
        .map(|part| (RowScope::ArrayDisk, part.number.to_string(), disk(part)));
    controllers
        .chain(volumes)
        .chain(pools)
        .chain(groups)
        .chain(disks)
        .collect()
}

fn controller(part: &ArrayController) -> Values {
    let dirty = share(part.cache_dirty_lines, part.cache_lines_max);
    let values = [
        (Metric::ArrayRequests, Some(part.requests_per_second)),
        (Metric::ArrayReadBytes, Some(part.sent_bytes_per_second)),
        (
            Metric::ArrayWrittenBytes,
            Some(part.received_bytes_per_second),
        ),
        (Metric::ArrayBusy, Some(part.cpu_busy_fraction)),
        (Metric::ArrayLinkBusy, Some(part.link_busy_fraction)),
        (Metric::ArrayDirty, dirty),
    ];
    values.into_iter().collect()
}

fn volume(part: &ArrayVolume) -> Values {
    let values = [
        (Metric::ArrayReads, Some(part.reads_per_second)),
        (Metric::ArrayWrites, Some(part.writes_per_second)),
        (Metric::ArrayReadBytes, Some(part.read_bytes_per_second)),
        (
            Metric::ArrayWrittenBytes,
            Some(part.written_bytes_per_second),
        ),
        (Metric::ArrayQueueDepth, Some(part.average_queue_depth)),
        (Metric::ArrayReadHits, part.read_hit_fraction),
        (Metric::ArrayReadHitLatency, part.average_read_hit_ms),
        (Metric::ArrayReadMissLatency, part.average_read_miss_ms),
        (Metric::ArrayWriteLatency, part.average_write_ms),
    ];
    values.into_iter().collect()
}

fn pool(part: &ArrayPool, counted_s: f64) -> Values {
    let rate = |bytes: u64| (counted_s > 0.0).then(|| bytes as f64 / counted_s);
    let pages = |pages: u64| Some(pages as f64);
    let used = share(part.read_cache_lines, part.read_cache_lines_max);
    let values = [
        (Metric::ArrayReadHits, part.read_cache_hit_fraction),
        (Metric::ArrayReadCacheUsed, used),
        (Metric::ArrayPerformancePages, pages(part.performance_pages)),
        (Metric::ArrayStandardPages, pages(part.standard_pages)),
        (Metric::ArrayArchivePages, pages(part.archive_pages)),
        (Metric::ArrayPromoted, rate(part.promoted_bytes)),
        (Metric::ArrayDemoted, rate(part.demoted_bytes)),
    ];
    values.into_iter().collect()
}

fn group(part: &ArrayGroup) -> Values {
    let values = [
        (Metric::ArrayReads, Some(part.reads_per_second)),
        (Metric::ArrayWrites, Some(part.writes_per_second)),
        (Metric::ArrayBusy, Some(part.average_busy_fraction)),
        (Metric::ArrayDriveLatency, part.average_disk_latency_ms),
        (Metric::ArrayQueueDepth, Some(part.average_disk_queue_depth)),
        (Metric::ArrayRebuild, part.rebuild_completed_fraction),
    ];
    values.into_iter().collect()
}

fn disk(part: &ArrayDisk) -> Values {
    let values = [
        (Metric::ArrayReads, Some(part.reads_per_second)),
        (Metric::ArrayWrites, Some(part.writes_per_second)),
        (Metric::ArrayReadBytes, Some(part.read_bytes_per_second)),
        (
            Metric::ArrayWrittenBytes,
            Some(part.written_bytes_per_second),
        ),
        (Metric::ArrayBusy, Some(part.busy_fraction)),
        (Metric::ArrayDriveLatency, part.average_disk_latency_ms),
        (Metric::ArrayLatency, part.average_latency_ms),
        (Metric::ArrayQueueDepth, Some(part.average_disk_queue_depth)),
    ];
    values.into_iter().collect()
}

fn share(part: u64, of: u64) -> Option<f64> {
    (of > 0).then(|| part as f64 / of as f64)
}
