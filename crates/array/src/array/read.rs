//! Reads: hits, misses and reading ahead.

use crate::cache::{NONE, Sectors, for_runs};
use crate::group::IoClass;
use crate::host::{HostError, HostOperation};
use crate::io::VolumeExtent;
use crate::payload::Payload;
use crate::pool::PoolRead;
use crate::{IncidentKind, VolumeId};

use super::Array;
use super::operations::{Purpose, Waiter};
use super::requests::Stage;

/// What is kept between reads so that nothing is allocated for each.
#[derive(Debug, Default)]
pub(super) struct ReadScratch {
    /// Extents to be read from the pool.
    gaps: Vec<VolumeExtent>,
    /// Cache lines of the parts of the read that was looked up last.
    found: Vec<u32>,
}

/// A read from the pool, and what becomes of it.
#[derive(Debug, Clone, Copy)]
struct Fill {
    extent: VolumeExtent,
    /// The host request that waits for it, if it is not read ahead.
    waiter: Option<Waiter>,
    /// Whether it goes into the cache.
    keeps: bool,
    sequential: bool,
}

/// Adds an extent to a list whose last extent it may continue.
fn add_gap(gaps: &mut Vec<VolumeExtent>, gap: VolumeExtent) {
    match gaps.last_mut() {
        Some(last) if last.end_sector() == gap.first_sector => last.sectors += gap.sectors,
        _ => gaps.push(gap),
    }
}

impl<P: Payload> Array<P> {
    /// The owner of the volume serves a read.
    pub(super) fn read(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        let extent = request.extent;
        let server = usize::from(request.service.server);
        if P::CARRIES_BYTES {
            request.payload = P::zeroed(extent.sectors);
        }
        request.service.missed = false;
        if self.lost.overlaps(extent) {
            self.finish(now_ns, id, Some(HostError::DataLost));
            return;
        }
        let volume = &mut self.volumes[extent.volume];
        let sequential = volume.readers.note(extent.first_sector, extent.sectors);
        let reads_ahead = volume.policy.reads_ahead;
        request.service.sequential = sequential;
        let cache = &mut self.controllers[server].cache;
        if !volume.policy.direct_io && cache.look_up(extent, &mut self.read_scratch.found) {
            cache.copy_hits(extent, &self.read_scratch.found, &mut request.payload);
            self.finish(now_ns, id, None);
        } else {
            request.service.missed = true;
            let miss_ns = self.rules.service.read_miss_ns;
            if miss_ns > 0 && !self.takes_fast_path(HostOperation::Read, extent) {
                let processor = &mut self.controllers[server].processor;
                let done_ns = processor.enter(now_ns, miss_ns);
                self.enter(id, Stage::Missing, now_ns, server, done_ns);
            } else {
                self.fetch(now_ns, id);
            }
        }
        if sequential && reads_ahead {
            self.read_ahead(now_ns, server, extent.volume);
        }
    }

    /// The time of a miss at the CPU has passed: fetches what the cache lacks by now.
    pub(super) fn fetch_missing(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let extent = request.extent;
        if !self.volumes[extent.volume].policy.direct_io {
            let cache = &self.controllers[usize::from(request.service.server)].cache;
            cache.look_up(extent, &mut self.read_scratch.found);
        }
        self.fetch(now_ns, id);
    }

    /// Takes what the cache has and has the rest of a read that was looked up just now read.
    fn fetch(&mut self, now_ns: u64, id: u32) {
        let ticket = self.requests.ticket(id);
        let request = &mut self.requests[id];
        let (extent, sequential) = (request.extent, request.service.sequential);
        let server = usize::from(request.service.server);
        // While parts are set out, the request itself counts as one of them.
        request.service.open = 1;
        let direct = self.volumes[extent.volume].policy.direct_io;
        let mut gaps = std::mem::take(&mut self.read_scratch.gaps);
        gaps.clear();
        if direct {
            gaps.push(extent);
        } else {
            let found = &self.read_scratch.found;
            let cache = &mut self.controllers[server].cache;
            cache.copy_hits(extent, found, &mut request.payload);
            for (part, &slot) in cache.parts(extent).zip(found) {
                let missing = cache.missing(&part, slot);
                if missing == 0 {
                    continue;
                }
                let start = extent.first_sector + u64::from(part.offset);
                let line_start = start - u64::from(part.within);
                if slot != NONE
                    && let Some(fill) = cache.fill_in_flight(slot, missing)
                {
                    let fill = &mut self.operations[fill];
                    let waited_for = run_of(extent.volume, line_start, missing);
                    if fill.extent.contains(waited_for) {
                        fill.waiters.push(Waiter {
                            ticket,
                            extent: waited_for,
                        });
                        request.service.open += 1;
                        continue;
                    }
                }
                for_runs(missing, |first, sectors| {
                    let gap = VolumeExtent {
                        volume: extent.volume,
                        first_sector: line_start + u64::from(first),
                        sectors,
                    };
                    add_gap(&mut gaps, gap);
                });
            }
        }
        let keeps = !direct && self.rules.cache.holds_reads;
        for &gap in &gaps {
            self.requests[id].service.open += 1;
            let fill = Fill {
                extent: gap,
                waiter: Some(Waiter {
                    ticket,
                    extent: gap,
                }),
                keeps,
                sequential,
            };
            self.fill(now_ns, server, fill);
        }
        self.read_scratch.gaps = gaps;
        self.part_ended(now_ns, id);
    }

    /// Reads an extent from its pool.
    fn fill(&mut self, now_ns: u64, server: usize, fill: Fill) {
        let Fill { extent, waiter, .. } = fill;
        let id = self.begin(Purpose::Fill, server, extent);
        let operation = &mut self.operations[id];
        operation.waiters.extend(waiter);
        if fill.keeps {
            let cache = &mut self.controllers[server].cache;
            cache.start_fill(id, extent, &mut operation.lines);
        }
        let class = match waiter {
            Some(_) => IoClass::HostRead,
            None => IoClass::ReadAhead,
        };
        let read = PoolRead {
            owner_id: id,
            volume: VolumeId(extent.volume),
            first_sector: extent.first_sector,
            sectors: extent.sectors,
            class,
            sequential: fill.sequential,
        };
        let pool = self.volumes[extent.volume].pool;
        self.storage.read(now_ns, pool, read);
    }

    /// Says that a read of a host fails: the first time, and then each time that their number has doubled.
    fn report_failed_read(&mut self, now_ns: u64, extent: VolumeExtent) {
        self.failed_reads += 1;
        if self.failed_reads.is_power_of_two() {
            let kind = IncidentKind::ReadFailed {
                volume: extent.volume,
                first_sector: extent.first_sector,
                sectors: extent.sectors,
            };
            self.log.add(now_ns, kind);
        }
    }

    /// A fill has ended.
    pub(super) fn filled(&mut self, now_ns: u64, id: u32, error: Option<HostError>, payload: &P) {
        let operation = &mut self.operations[id];
        let (server, extent) = (operation.controller, operation.extent);
        let lines = std::mem::take(&mut operation.lines);
        let mut waiters = std::mem::take(&mut operation.waiters);
        let contents = error.is_none().then_some(payload);
        let cache = &mut self.controllers[server].cache;
        cache.end_fill(id, extent, &lines, contents);
        for waiter in &waiters {
            let Some(request) = self.current(waiter.ticket) else {
                continue;
            };
            let works = self.controllers[server].availability.works();
            if error.is_some() && waiter.extent != extent && works {
                // What cannot be read may lie outside of this request: ask for its part alone.
                let fill = Fill {
                    extent: waiter.extent,
                    waiter: Some(*waiter),
                    keeps: false,
                    sequential: false,
                };
                self.fill(now_ns, server, fill);
                continue;
            }
            if error == Some(HostError::Unreadable) {
                self.report_failed_read(now_ns, self.requests[request].extent);
            }
            let waiting = &mut self.requests[request];
            if error.is_some() {
                waiting.result = error;
            } else if P::CARRIES_BYTES {
                let first_sector = waiter.extent.first_sector;
                let from = (first_sector - extent.first_sector) as u32;
                let to = (first_sector - waiting.extent.first_sector) as u32;
                let part = payload.part(from, waiter.extent.sectors);
                // Most reads are one part, which needs no second copy.
                match waiter.extent == waiting.extent {
                    true => waiting.payload = part,
                    false => waiting.payload.overlay(to, &part),
                }
            }
            self.part_ended(now_ns, request);
        }
        if !lines.is_empty() {
            self.wake_writers(now_ns, server);
        }
        waiters.clear();
        let operation = &mut self.operations[id];
        operation.lines = lines;
        operation.waiters = waiters;
    }

    /// Reads ahead of the sequential reader that was last noted.
    fn read_ahead(&mut self, now_ns: u64, server: usize, number: u16) {
        let volume = &mut self.volumes[number];
        let Some(ahead) = volume.readers.ahead(volume.capacity_sectors) else {
            return;
        };
        let ahead = VolumeExtent {
            volume: number,
            first_sector: ahead.first_sector,
            sectors: ahead.sectors,
        };
        let piece_sectors = self.rules.cache.read_ahead_piece_sectors;
        let mut gaps = std::mem::take(&mut self.read_scratch.gaps);
        gaps.clear();
        let cache = &self.controllers[server].cache;
        for part in cache.parts(ahead) {
            if !cache.lacks_unpinned(&part) {
                continue;
            }
            let gap = VolumeExtent {
                volume: number,
                first_sector: ahead.first_sector + u64::from(part.offset),
                sectors: part.sectors,
            };
            match gaps.last() {
                Some(last) if last.sectors + part.sectors <= piece_sectors => {
                    add_gap(&mut gaps, gap);
                }
                _ => gaps.push(gap),
            }
        }
        for &extent in &gaps {
            let fill = Fill {
                extent,
                waiter: None,
                keeps: true,
                sequential: true,
            };
            self.fill(now_ns, server, fill);
        }
        self.read_scratch.gaps = gaps;
    }
}

/// The sectors `bits`, which are one run, of the line that begins at `line_start`.
fn run_of(volume: u16, line_start: u64, bits: Sectors) -> VolumeExtent {
    VolumeExtent {
        volume,
        first_sector: line_start + u64::from(bits.trailing_zeros()),
        sectors: bits.count_ones(),
    }
}
