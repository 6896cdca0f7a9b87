//! What the array has done since the model started, as performance monitors count it.

use crate::controller::{SerialCounters, SerialStation};
use crate::disk::Disk;
use crate::host::HostOperation;
use crate::payload::Payload;
use crate::pool::PoolCounters;
use crate::{SECTOR_BYTES, station};

use super::Array;
use super::requests::Request;

/// Everything there is to count. All counts and sums run from the start of the model; rates and
/// means of an interval are differences of two of these.
#[derive(Debug, Clone, Default)]
pub struct ArrayCounters {
    /// When the counters were read, ns.
    pub now_ns: u64,
    /// Counters of each controller, by its number.
    pub controllers: Vec<ControllerCounters>,
    /// Counters of each volume, by its number in the settings.
    pub volumes: Vec<VolumeCounters>,
    /// Counters of each disk, by the number of its station.
    pub disks: Vec<DiskFigures>,
    /// By pool: first that of the volumes without one, then those of the settings by name.
    pub pools: Vec<PoolCounters>,
    /// Acknowledged sectors that were lost.
    pub lost_sectors: u64,
}

/// What a controller has done, and how it is.
#[derive(Debug, Clone, Default)]
pub struct ControllerCounters {
    /// Whether it is online, as it does until a fault takes it out of service.
    pub online: bool,
    /// Whether the battery of its cache works.
    pub battery_works: bool,
    /// Its CPU, which every command passes.
    pub processor: SerialCounters,
    /// The link to its partner.
    pub link: SerialCounters,
    /// Its host ports, by their number.
    pub ports: Vec<PortCounters>,
    /// Lines in its cache, and those that hold what the disks lack.
    pub cached_lines: u64,
    /// Lines with contents that the disks lack.
    pub dirty_lines: u64,
    /// Writers that wait for room in the cache.
    pub waiting_writers: u64,
    /// Stripes on their way to disk.
    pub destages_in_flight: u64,
    /// Reads and writes it has at the back end.
    pub backend_in_flight: u64,
}

/// What has gone through a host port.
#[derive(Debug, Clone, Default)]
pub struct PortCounters {
    /// Reads that came by this port, those sent again included.
    pub reads: u64,
    /// Writes that came by this port, those sent again included.
    pub writes: u64,
    /// Flushes and trims that came.
    pub others: u64,
    /// Bytes of written data received from hosts.
    pub received_bytes: u64,
    /// Bytes of read data sent to hosts.
    pub sent_bytes: u64,
    /// The lane from hosts.
    pub inbound: SerialCounters,
    /// The lane to hosts.
    pub outbound: SerialCounters,
}

/// A volume, as hosts see it. Latencies run from the host's submission to its completion.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct VolumeCounters {
    /// Reads whose data were all in the cache.
    pub read_hits: u64,
    /// The sum of their latencies, ns.
    pub read_hit_latency_sum_ns: u64,
    /// Reads that needed the disks.
    pub read_misses: u64,
    /// The sum of their latencies, ns.
    pub read_miss_latency_sum_ns: u64,
    /// Writes that were acknowledged.
    pub writes: u64,
    /// The sum of their latencies, ns.
    pub write_latency_sum_ns: u64,
    /// Flushes and trims that were acknowledged.
    pub others: u64,
    /// Requests that failed; they count nowhere else.
    pub errors: u64,
    /// Bytes that hosts have read.
    pub read_bytes: u64,
    /// Bytes that hosts have written.
    pub written_bytes: u64,
    /// Requests inside, with the time integral of their number: the host's queue.
    pub inside: SerialCounters,
}

/// A disk and its station.
#[derive(Debug, Clone, Default)]
pub struct DiskFigures {
    /// Whether it is online, as it does until a fault takes it out of service.
    pub online: bool,
    /// How many times as long it takes for everything as its make does.
    pub slowness: u32,
    /// The disk itself: requests, sectors, where its time went.
    pub disk: crate::disk::DiskCounters,
    /// The station, with what waits for the disk: drive latency and drive queue.
    pub station: station::StationCounters,
}

/// Counting for one volume.
#[derive(Debug, Default)]
pub(super) struct VolumeCounting {
    pub inside: SerialStation,
    counters: VolumeCounters,
}

impl VolumeCounting {
    /// Counts a request that has ended.
    #[inline]
    pub fn note<P>(&mut self, request: &Request<P>, response_ns: u64) {
        let counters = &mut self.counters;
        if request.result.is_some() {
            counters.errors += 1;
            return;
        }
        let bytes = u64::from(request.extent.sectors) * SECTOR_BYTES;
        match request.operation {
            HostOperation::Read if request.service.missed => {
                counters.read_misses += 1;
                counters.read_miss_latency_sum_ns += response_ns;
                counters.read_bytes += bytes;
            }
            HostOperation::Read => {
                counters.read_hits += 1;
                counters.read_hit_latency_sum_ns += response_ns;
                counters.read_bytes += bytes;
            }
            HostOperation::Write => {
                counters.writes += 1;
                counters.write_latency_sum_ns += response_ns;
                counters.written_bytes += bytes;
            }
            HostOperation::Flush | HostOperation::Trim => counters.others += 1,
        }
    }
}

impl<P: Payload> Array<P> {
    /// What has been done so far. Cheap: a few hundred bytes for each disk and volume.
    pub fn counters(&self) -> ArrayCounters {
        let volumes = self.volumes.iter().map(|volume| VolumeCounters {
            inside: volume.counting.inside.counters(self.now_ns),
            ..volume.counting.counters
        });
        let disks = self.storage.stations().iter().map(|station| DiskFigures {
            online: station.is_working(),
            slowness: station.slowness(),
            disk: station.disk().counters().clone(),
            station: *station.counters(),
        });
        ArrayCounters {
            now_ns: self.now_ns,
            controllers: (0..self.controllers.len())
                .map(|each| self.controller(each))
                .collect(),
            volumes: volumes.collect(),
            disks: disks.collect(),
            pools: self.storage.pool_counters(),
            lost_sectors: self.lost.ever_lost(),
        }
    }

    fn controller(&self, number: usize) -> ControllerCounters {
        let controller = &self.controllers[number];
        let ports = controller.ports.iter().map(|port| PortCounters {
            reads: port.requests[HostOperation::Read as usize],
            writes: port.requests[HostOperation::Write as usize],
            others: port.requests[HostOperation::Flush as usize]
                + port.requests[HostOperation::Trim as usize],
            received_bytes: port.sectors[0] * SECTOR_BYTES,
            sent_bytes: port.sectors[1] * SECTOR_BYTES,
            inbound: port.inbound.counters(self.now_ns),
            outbound: port.outbound.counters(self.now_ns),
        });
        ControllerCounters {
            online: controller.availability.works(),
            battery_works: controller.availability.battery_works(),
            processor: controller.processor.counters(self.now_ns),
            link: controller.link.counters(self.now_ns),
            ports: ports.collect(),
            cached_lines: controller.cache.len(),
            dirty_lines: controller.cache.unwritten_lines(),
            waiting_writers: controller.waiting.writers.len() as u64,
            destages_in_flight: controller.destaging.destages.len() as u64,
            backend_in_flight: u64::from(controller.load.operations()),
        }
    }
}
