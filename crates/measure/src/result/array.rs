//! The inside of a modelled array, over the measured phase.

use serde::{Deserialize, Serialize};

/// What went on in a modelled array.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayResult {
    /// Name of the description.
    pub name: String,
    /// The array's name for people.
    pub title: String,
    /// The description in force, as TOML that stands by itself.
    pub description: String,
    /// Length of the time the counters are about, simulated.
    pub counted_s: f64,
    /// Host requests per second, all controllers together.
    pub host_requests_per_second: f64,
    /// Bytes read and written by hosts per second, all controllers together.
    pub host_bytes_per_second: f64,
    /// One entry per controller.
    pub controllers: Vec<ArrayController>,
    /// One entry per volume.
    pub volumes: Vec<ArrayVolume>,
    /// One entry per pool with pages.
    pub pools: Vec<ArrayPool>,
    /// One entry per disk group.
    pub groups: Vec<ArrayGroup>,
    /// One entry per disk.
    pub disks: Vec<ArrayDisk>,
    /// Acknowledged sectors that were lost, since the beginning.
    pub lost_sectors: u64,
    /// How many times as fast as in the array rebuilds, scrubs and moves between tiers went on; absent where they did
    /// as there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warp: Option<u64>,
}

impl ArrayResult {
    /// Share of the time that the busiest disk was busy; `None` without disk groups.
    pub fn busiest_disk_fraction(&self) -> Option<f64> {
        let groups = self.groups.iter();
        groups.map(|group| group.max_busy_fraction).reduce(f64::max)
    }

    /// Share of the reads that SSD read caches served, mean over the pools that have one.
    pub fn read_cache_hit_fraction(&self) -> Option<f64> {
        let pools = self.pools.iter();
        let hits: Vec<f64> = pools
            .filter_map(|pool| pool.read_cache_hit_fraction)
            .collect();
        (!hits.is_empty()).then(|| hits.iter().sum::<f64>() / hits.len() as f64)
    }

    /// Share of the pages that lie on performance tiers; `None` without such tiers or pages.
    pub fn performance_tier_fraction(&self) -> Option<f64> {
        let sum = |pages: fn(&ArrayPool) -> u64| self.pools.iter().map(pages).sum::<u64>();
        let high = sum(|pool| pool.performance_pages);
        let all = high + sum(|pool| pool.standard_pages + pool.archive_pages);
        let has_tier = sum(|pool| pool.performance_slots) > 0;
        (has_tier && all > 0).then(|| high as f64 / all as f64)
    }
}

/// A controller with its ports and its data cache.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayController {
    /// Its number, from 0.
    pub number: u64,
    /// Whether it is online.
    pub online: bool,
    /// Host requests that came to its ports per second.
    pub requests_per_second: f64,
    /// Bytes from hosts per second.
    pub received_bytes_per_second: f64,
    /// Bytes to hosts per second.
    pub sent_bytes_per_second: f64,
    /// Share of the time its CPU was busy.
    pub cpu_busy_fraction: f64,
    /// Share of the time its link to the partner was busy.
    pub link_busy_fraction: f64,
    /// Lines its cache has room for.
    pub cache_lines_max: u64,
    /// Lines in its cache at the end.
    pub cache_lines: u64,
    /// Lines with contents that the disks lack, at the end.
    pub cache_dirty_lines: u64,
    /// Writers that waited for room in the cache, at the end.
    pub waiting_writers: u64,
}

/// A volume as hosts see it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayVolume {
    /// Name, given in the description or made from what lies on the volume.
    pub name: String,
    /// The pool or group it lies in.
    pub place: String,
    /// The controller that owns it by its description.
    pub owner: u64,
    /// Reads that hosts sent, per second.
    pub reads_per_second: f64,
    /// Writes that hosts sent, per second.
    pub writes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub written_bytes_per_second: f64,
    /// Share of the reads that the data cache held; null without reads.
    pub read_hit_fraction: Option<f64>,
    /// Average latency of reads that the data cache held; null without any.
    pub average_read_hit_ms: Option<f64>,
    /// Average latency of the other reads; null without any.
    pub average_read_miss_ms: Option<f64>,
    /// Average latency of writes; null without any.
    pub average_write_ms: Option<f64>,
    /// Mean number of requests inside the array.
    pub average_queue_depth: f64,
    /// Requests that ended with an error.
    pub errors: u64,
}

/// A pool with pages, tiers and a read cache.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayPool {
    /// Name, given in the description or a letter.
    pub name: String,
    /// Size of a page.
    pub page_bytes: u64,
    /// Pages on the performance tier at the end.
    pub performance_pages: u64,
    /// Pages on the standard tier at the end.
    pub standard_pages: u64,
    /// Pages on the archive tier at the end.
    pub archive_pages: u64,
    /// Pages the performance tier has room for.
    pub performance_slots: u64,
    /// Bytes that were moved to a higher tier.
    pub promoted_bytes: u64,
    /// Bytes that were moved to a lower tier.
    pub demoted_bytes: u64,
    /// Writes that waited for a page to be moved or zeroed.
    pub writes_held: u64,
    /// Lines the read cache has room for; 0 without one.
    pub read_cache_lines_max: u64,
    /// Lines that can be read from it at the end: how warm it is.
    pub read_cache_lines: u64,
    /// Share of the reads that reached the pool which it served; null without a cache or reads.
    pub read_cache_hit_fraction: Option<f64>,
    /// Lines copied into it.
    pub read_cache_fills: u64,
    /// Lines that left it for others.
    pub read_cache_evictions: u64,
    /// Copies lost to writes.
    pub read_cache_invalidations: u64,
}

/// A disk group: its disks together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayGroup {
    /// Name, as `--dry-run` lists it.
    pub name: String,
    /// Its level, such as `RAID 6`.
    pub level: String,
    /// Name of its disks.
    pub disk: String,
    /// Number of its disks, spares included.
    pub disks: u64,
    /// Disk reads per second, all disks together.
    pub reads_per_second: f64,
    /// Disk writes per second, all disks together.
    pub writes_per_second: f64,
    /// Mean share of the time its disks were busy.
    pub average_busy_fraction: f64,
    /// The same of its busiest disk.
    pub max_busy_fraction: f64,
    /// How far the rebuild of a lost disk has come at the end; null when none goes on.
    pub rebuild_completed_fraction: Option<f64>,
    /// Mean time of a request in the disk; null without requests.
    pub average_disk_latency_ms: Option<f64>,
    /// Mean number of requests inside each of its disks.
    pub average_disk_queue_depth: f64,
}

/// A disk of a group, spares included.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ArrayDisk {
    /// Its number, from 0.
    pub number: u64,
    /// Name of its disk group.
    pub group: String,
    /// Whether it is online.
    pub online: bool,
    /// Reads per second that it served, those of background tasks included.
    pub reads_per_second: f64,
    /// Writes per second that it served, those of background tasks included.
    pub writes_per_second: f64,
    /// Bytes read per second.
    pub read_bytes_per_second: f64,
    /// Bytes written per second.
    pub written_bytes_per_second: f64,
    /// Share of the time it had something to do.
    pub busy_fraction: f64,
    /// Mean time from the command sent to the disk to its end; null without requests.
    pub average_disk_latency_ms: Option<f64>,
    /// The same with the wait for the disk in the controller.
    pub average_latency_ms: Option<f64>,
    /// Mean number of requests inside the disk.
    pub average_disk_queue_depth: f64,
    /// Share of the serving time spent on moving the arm; null without any.
    pub seek_fraction: Option<f64>,
    /// Share of the serving time spent on waiting for the turn; null without any.
    pub rotation_fraction: Option<f64>,
    /// Sectors that were read and disagreed with their checksums, where a served array keeps those; absent without any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum_errors: Option<u64>,
}
