//! Counters of the array as figures of a result: differences over the measured phase.

use array::description::Description;
use array::pool::PoolCounters;
use array::{
    ArrayCounters, ArraySettings, ControllerCounters, DiskFigures, SECTOR_BYTES, VolumeCounters,
};
use measure::result::{
    ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume,
};

/// What the figures need to know of the array beside its counters.
pub struct ArrayDetails {
    name: String,
    description: String,
    settings: ArraySettings,
}

impl ArrayDetails {
    /// Figures of the array `name` with this description, written out as `settings`.
    pub fn new(name: &str, description: &Description, settings: &ArraySettings) -> Self {
        Self {
            name: name.to_owned(),
            description: description.to_toml(),
            settings: settings.clone(),
        }
    }

    /// What happened between two readings of the counters. An empty first one is the beginning.
    pub fn between(&self, from: &ArrayCounters, until: &ArrayCounters) -> ArrayResult {
        let span = Span {
            ns: until.now_ns.saturating_sub(from.now_ns) as f64,
        };
        let pairs = |number: usize| (from.controllers.get(number), number);
        let controllers = until.controllers.iter().enumerate();
        let controllers = controllers.map(|(number, now)| {
            let none = ControllerCounters::default();
            ArrayController {
                cache_lines_max: self.cache_lines(),
                ..controller(
                    &span,
                    pairs(number).1,
                    pairs(number).0.unwrap_or(&none),
                    now,
                )
            }
        });
        let controllers: Vec<ArrayController> = controllers.collect();
        let volumes = until.volumes.iter().enumerate().map(|(number, now)| {
            let before = from.volumes.get(number).copied().unwrap_or_default();
            self.volume(&span, number, &before, now)
        });
        // The first pool is that of the volumes without one.
        let pools = self.settings.pools.keys().zip(until.pools.iter().skip(1));
        let pools = pools.enumerate().map(|(number, (name, now))| {
            let before = from.pools.get(number + 1).copied().unwrap_or_default();
            pool(name, &before, now)
        });
        let names = self.group_of_disks();
        let disks: Vec<ArrayDisk> = until
            .disks
            .iter()
            .enumerate()
            .map(|(number, now)| {
                let none = DiskFigures::default();
                let before = from.disks.get(number).unwrap_or(&none);
                disk(
                    &span,
                    number,
                    names.get(number).copied().unwrap_or(""),
                    before,
                    now,
                )
            })
            .collect();
        ArrayResult {
            name: self.name.clone(),
            title: self.settings.title.clone(),
            description: self.description.clone(),
            counted_s: span.ns / 1e9,
            host_requests_per_second: controllers
                .iter()
                .map(|controller| controller.requests_per_second)
                .sum(),
            host_bytes_per_second: controllers
                .iter()
                .map(|each| each.received_bytes_per_second + each.sent_bytes_per_second)
                .sum(),
            controllers,
            volumes: volumes.collect(),
            pools: pools.collect(),
            groups: self.groups(&disks),
            disks,
            lost_sectors: until.lost_sectors,
            warp: Some(u64::from(self.settings.backend.policy.warp)).filter(|&warp| warp > 1),
        }
    }

    /// Lines that the data cache of a controller has room for.
    fn cache_lines(&self) -> u64 {
        let cache = &self.settings.cache;
        cache.capacity_mib * 1024 / u64::from(cache.line_kib.max(1))
    }

    /// The disk group of every disk in turn.
    fn group_of_disks(&self) -> Vec<&str> {
        let groups = self.settings.backend.disk_group.iter();
        let names = groups.flat_map(|group| {
            let stations = usize::from(group.disks) + usize::from(group.spares);
            std::iter::repeat_n(group.name.as_str(), stations)
        });
        names.collect()
    }

    fn groups(&self, disks: &[ArrayDisk]) -> Vec<ArrayGroup> {
        let groups = self.settings.backend.disk_group.iter();
        groups
            .map(|group| {
                let own: Vec<&ArrayDisk> = disks
                    .iter()
                    .filter(|disk| disk.group == group.name)
                    .collect();
                let sum = |value: fn(&ArrayDisk) -> f64| own.iter().map(|disk| value(disk)).sum();
                let reads_per_second: f64 = sum(|disk| disk.reads_per_second);
                let writes_per_second: f64 = sum(|disk| disk.writes_per_second);
                let busy: f64 = sum(|disk| disk.busy_fraction);
                let spent: f64 = sum(|disk| {
                    let rate = disk.reads_per_second + disk.writes_per_second;
                    rate * disk.average_disk_latency_ms.unwrap_or(0.0)
                });
                let queued: f64 = sum(|disk| disk.average_disk_queue_depth);
                let busiest = own.iter().map(|disk| disk.busy_fraction);
                ArrayGroup {
                    name: group.name.clone(),
                    level: group.level.title().to_owned(),
                    disk: group.disk.clone(),
                    disks: own.len() as u64,
                    reads_per_second,
                    writes_per_second,
                    average_busy_fraction: busy / own.len().max(1) as f64,
                    max_busy_fraction: busiest.fold(0.0, f64::max),
                    average_disk_latency_ms: ratio(spent, reads_per_second + writes_per_second),
                    rebuild_completed_fraction: None,
                    average_disk_queue_depth: queued / own.len().max(1) as f64,
                }
            })
            .collect()
    }

    fn volume(
        &self,
        span: &Span,
        number: usize,
        before: &VolumeCounters,
        now: &VolumeCounters,
    ) -> ArrayVolume {
        let settings = &self.settings.volumes[number];
        let place = settings.pool.as_ref().or(settings.group.as_ref());
        let hits = now.read_hits - before.read_hits;
        let misses = now.read_misses - before.read_misses;
        let writes = now.writes - before.writes;
        let mean = |ns: u64, count: u64| ratio(ns as f64 / 1e6, count as f64);
        let queue_ns = now.inside.number_integral_ns - before.inside.number_integral_ns;
        ArrayVolume {
            name: settings.name.clone(),
            place: place.cloned().unwrap_or_default(),
            owner: u64::from(settings.owner),
            reads_per_second: span.rate(hits + misses),
            writes_per_second: span.rate(writes),
            read_bytes_per_second: span.rate(now.read_bytes - before.read_bytes),
            written_bytes_per_second: span.rate(now.written_bytes - before.written_bytes),
            read_hit_fraction: ratio(hits as f64, (hits + misses) as f64),
            average_read_hit_ms: mean(
                now.read_hit_latency_sum_ns - before.read_hit_latency_sum_ns,
                hits,
            ),
            average_read_miss_ms: mean(
                now.read_miss_latency_sum_ns - before.read_miss_latency_sum_ns,
                misses,
            ),
            average_write_ms: mean(
                now.write_latency_sum_ns - before.write_latency_sum_ns,
                writes,
            ),
            average_queue_depth: span.share(queue_ns),
            errors: now.errors - before.errors,
        }
    }
}

/// The time between two readings.
struct Span {
    ns: f64,
}

impl Span {
    fn rate(&self, count: u64) -> f64 {
        ratio(count as f64 * 1e9, self.ns).unwrap_or(0.0)
    }

    fn share(&self, ns: u64) -> f64 {
        ratio(ns as f64, self.ns).unwrap_or(0.0)
    }
}

fn ratio(value: f64, of: f64) -> Option<f64> {
    (of > 0.0).then(|| value / of)
}

fn controller(
    span: &Span,
    number: usize,
    before: &ControllerCounters,
    now: &ControllerCounters,
) -> ArrayController {
    let sum = |counters: &ControllerCounters, value: fn(&array::PortCounters) -> u64| -> u64 {
        counters.ports.iter().map(value).sum()
    };
    let grown = |value: fn(&array::PortCounters) -> u64| sum(now, value) - sum(before, value);
    ArrayController {
        number: number as u64,
        online: now.online,
        requests_per_second: span.rate(grown(|port| port.reads + port.writes + port.others)),
        received_bytes_per_second: span.rate(grown(|port| port.received_bytes)),
        sent_bytes_per_second: span.rate(grown(|port| port.sent_bytes)),
        cpu_busy_fraction: span.share(now.processor.busy_ns - before.processor.busy_ns),
        link_busy_fraction: span.share(now.link.busy_ns - before.link.busy_ns),
        cache_lines_max: 0,
        cache_lines: now.cached_lines,
        cache_dirty_lines: now.dirty_lines,
        waiting_writers: now.waiting_writers,
    }
}

fn pool(name: &str, before: &PoolCounters, now: &PoolCounters) -> ArrayPool {
    let (cache, earlier) = (&now.read_cache, &before.read_cache);
    let hits = (cache.hits - earlier.hits) as f64;
    let misses = (cache.misses - earlier.misses) as f64;
    ArrayPool {
        name: name.to_owned(),
        page_bytes: now.page_bytes,
        performance_pages: now.pages[0],
        standard_pages: now.pages[1],
        archive_pages: now.pages[2],
        performance_slots: now.slots[0],
        promoted_bytes: now.bytes_moved_up() - before.bytes_moved_up(),
        demoted_bytes: now.bytes_moved_down() - before.bytes_moved_down(),
        writes_held: now.writes_held - before.writes_held,
        read_cache_lines_max: cache.lines_max,
        read_cache_lines: cache.lines,
        read_cache_hit_fraction: ratio(hits, hits + misses),
        read_cache_fills: cache.fills - earlier.fills,
        read_cache_evictions: cache.evictions - earlier.evictions,
        read_cache_invalidations: cache.invalidations - earlier.invalidations,
    }
}

fn disk(
    span: &Span,
    number: usize,
    group: &str,
    before: &DiskFigures,
    now: &DiskFigures,
) -> ArrayDisk {
    // A disk that was replaced counts from 0.
    let grown = |now: u64, before: u64| now.checked_sub(before).unwrap_or(now);
    let (disk, earlier) = (&now.disk, &before.disk);
    let (station, station_earlier) = (&now.station, &before.station);
    let reads = grown(disk.reads, earlier.reads);
    let writes = grown(disk.writes, earlier.writes);
    let done = (reads + writes) as f64;
    let served = grown(disk.service_ns, earlier.service_ns) as f64;
    let waited = station.read_response_ns + station.write_response_ns;
    let waited = grown(
        waited,
        station_earlier.read_response_ns + station_earlier.write_response_ns,
    );
    let passed = grown(
        station.reads + station.writes,
        station_earlier.reads + station_earlier.writes,
    );
    ArrayDisk {
        number: number as u64,
        group: group.to_owned(),
        online: now.online,
        reads_per_second: span.rate(reads),
        writes_per_second: span.rate(writes),
        read_bytes_per_second: span
            .rate(grown(disk.read_sectors, earlier.read_sectors) * SECTOR_BYTES),
        written_bytes_per_second: span
            .rate(grown(disk.written_sectors, earlier.written_sectors) * SECTOR_BYTES),
        busy_fraction: span.share(grown(disk.busy_ns, earlier.busy_ns)),
        average_disk_latency_ms: ratio(
            grown(disk.response_ns, earlier.response_ns) as f64 / 1e6,
            done,
        ),
        average_latency_ms: ratio(waited as f64 / 1e6, passed as f64),
        average_disk_queue_depth: span
            .share(grown(disk.queue_integral_ns, earlier.queue_integral_ns)),
        seek_fraction: ratio(
            grown(disk.parts.seek_ns, earlier.parts.seek_ns) as f64,
            served,
        ),
        rotation_fraction: ratio(
            grown(disk.parts.rotation_ns, earlier.parts.rotation_ns) as f64,
            served,
        ),
        checksum_errors: Some(station.checksum_errors - station_earlier.checksum_errors)
            .filter(|&errors| errors > 0),
    }
}
