//! Reads: hits, misses and reading ahead.

use crate::VolumeId;
use crate::cache::{LinePart, NONE, Sectors, for_runs, number_of, sectors_from};
use crate::host::{HostError, HostOperation};
use crate::payload::Payload;
use crate::pool::PoolRead;

use super::Array;
use super::flight::Stage;
use super::operation::{Purpose, Waiter};

/// A stretch that is to be read from the pool.
#[derive(Debug, Clone, Copy)]
pub(super) struct Gap {
    first_sector: u64,
    sectors: u32,
}

/// Adds a stretch to a list whose last stretch it may continue.
fn add_gap(gaps: &mut Vec<Gap>, first_sector: u64, sectors: u32) {
    if let Some(last) = gaps.last_mut()
        && last.first_sector + u64::from(last.sectors) == first_sector
    {
        last.sectors += sectors;
        return;
    }
    gaps.push(Gap {
        first_sector,
        sectors,
    });
}

impl<P: Payload> Array<P> {
    /// The owner of the volume serves a read.
    pub(super) fn read(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let server = usize::from(flight.server);
        if P::CARRIES_BYTES {
            flight.payload = P::zeroed(sectors);
        }
        flight.missed = false;
        let lost = !self.lost.is_empty();
        if lost && self.lost.overlap(number, first_sector, u64::from(sectors)) {
            self.finish(now_ns, id, Some(HostError::DataLost));
            return;
        }
        let volume = &mut self.volumes[usize::from(number)];
        let sequential = volume.readers.note(first_sector, sectors);
        let reads_ahead = volume.reads_ahead;
        self.flights[id].sequential = sequential;
        if volume.direct_io || !self.look_up(server, id) {
            self.flights[id].missed = true;
            let miss_ns = self.times.service.read_miss_ns;
            let operation = HostOperation::Read;
            let fast = self.takes_fast_path(usize::from(number), operation, first_sector, sectors);
            if miss_ns > 0 && !fast {
                let done_ns = self.controllers[server].processor.enter(now_ns, miss_ns);
                self.enter(id, Stage::Missing, now_ns, server as u8, done_ns);
            } else {
                self.fetch(now_ns, id);
            }
        } else {
            self.take_hits(server, id);
            self.finish(now_ns, id, None);
        }
        if sequential && reads_ahead {
            self.read_ahead(now_ns, server, number);
        }
    }

    /// Finds the lines of a read's parts; says whether everything it asks for is in the cache.
    fn look_up(&mut self, server: usize, id: u32) -> bool {
        let flight = &self.flights[id];
        let cache = &self.controllers[server].cache;
        self.found.clear();
        let mut all = true;
        for part in cache.parts(flight.volume, flight.first_sector, flight.sectors) {
            let slot = cache.find(part.key).unwrap_or(NONE);
            all &= slot != NONE && part.bits() & !cache.line(slot).valid == 0;
            self.found.push(slot);
        }
        all
    }

    /// Copies what is in the cache to a read that was looked up just now.
    fn take_hits(&mut self, server: usize, id: u32) {
        let flight = &mut self.flights[id];
        let cache = &mut self.controllers[server].cache;
        let parts = cache.parts(flight.volume, flight.first_sector, flight.sectors);
        for (part, &slot) in parts.zip(&self.found) {
            if slot == NONE {
                continue;
            }
            cache.touch(slot);
            if P::CARRIES_BYTES {
                let line = cache.line(slot);
                for_runs(part.bits() & line.valid, |first, sectors| {
                    let contents = line.contents.part(first, sectors);
                    flight
                        .payload
                        .overlay(part.offset + first - part.within, &contents);
                });
            }
        }
    }

    /// The time of a miss at the processor has passed: fetches what the cache lacks by now.
    pub(super) fn fetch_missing(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let server = usize::from(flight.server);
        if !self.volumes[usize::from(flight.volume)].direct_io {
            self.look_up(server, id);
        }
        self.fetch(now_ns, id);
    }

    /// Takes what the cache has and has the rest of a read that was looked up just now read.
    fn fetch(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let server = usize::from(flight.server);
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let sequential = flight.sequential;
        // While parts are set out, the request itself counts as one of them.
        flight.open = 1;
        let ticket = self.ticket(id);
        let direct = self.volumes[usize::from(number)].direct_io;
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        if direct {
            gaps.push(Gap {
                first_sector,
                sectors,
            });
        } else {
            self.take_hits(server, id);
            let cache = &self.controllers[server].cache;
            let parts = cache.parts(number, first_sector, sectors);
            for (place, part) in parts.enumerate() {
                let slot = self.found[place];
                let missing = self.missing(server, &part, slot);
                if missing == 0 || slot != NONE && self.join(server, id, &part, slot, missing) {
                    continue;
                }
                let start = first_sector + u64::from(part.offset);
                for_runs(missing, |first, sectors| {
                    add_gap(&mut gaps, start + u64::from(first - part.within), sectors);
                });
            }
        }
        let keeps = !direct && self.holds_reads;
        for gap in &gaps {
            self.flights[id].open += 1;
            let waiter = Waiter {
                ticket,
                first_sector: gap.first_sector,
                sectors: gap.sectors,
            };
            self.fill(
                now_ns,
                server,
                number,
                *gap,
                Some(waiter),
                keeps,
                sequential,
            );
        }
        self.gaps = gaps;
        self.part_ended(now_ns, id);
    }

    /// What the line in `slot` lacks of a part.
    #[inline]
    fn missing(&self, server: usize, part: &LinePart, slot: u32) -> Sectors {
        let cache = &self.controllers[server].cache;
        let valid = if slot == NONE {
            0
        } else {
            cache.line(slot).valid
        };
        part.bits() & !valid
    }

    /// Has a read wait for a fill that brings all that is missing of a part already; says whether
    /// there is one. What the fill brings besides may be older than what the cache holds.
    fn join(
        &mut self,
        server: usize,
        id: u32,
        part: &LinePart,
        slot: u32,
        missing: Sectors,
    ) -> bool {
        let first = missing.trailing_zeros();
        let sectors = missing.count_ones();
        if missing != sectors_from(first, sectors) {
            return false;
        }
        let ticket = self.ticket(id);
        let cache = &self.controllers[server].cache;
        let line = cache.line(slot);
        if line.last_fill == NONE || line.blocked() & missing != 0 {
            return false;
        }
        let fill = &mut self.operations[line.last_fill];
        let start = number_of(part.key) * u64::from(cache.line_sectors());
        let first_sector = start + u64::from(first);
        let end_sector = first_sector + u64::from(sectors);
        let fill_end = fill.first_sector + u64::from(fill.sectors);
        if first_sector < fill.first_sector || end_sector > fill_end {
            return false;
        }
        fill.waiters.push(Waiter {
            ticket,
            first_sector,
            sectors,
        });
        self.flights[id].open += 1;
        true
    }

    /// Has a stretch read: into the cache if `keeps`, and to a host request if there is one.
    #[allow(clippy::too_many_arguments)] // All are needed, none belong together.
    fn fill(
        &mut self,
        now_ns: u64,
        server: usize,
        volume: u16,
        gap: Gap,
        waiter: Option<Waiter>,
        keeps: bool,
        sequential: bool,
    ) {
        let id = self.begin(Purpose::Fill, server, volume);
        let operation = &mut self.operations[id];
        operation.first_sector = gap.first_sector;
        operation.sectors = gap.sectors;
        operation.waiters.extend(waiter);
        if keeps {
            let cache = &mut self.controllers[server].cache;
            for part in cache.parts(volume, gap.first_sector, gap.sectors) {
                let slot = cache.find(part.key).or_else(|| cache.allocate(part.key));
                if let Some(slot) = slot {
                    cache.pin(slot);
                    cache.line_mut(slot).last_fill = id;
                    operation.lines.push(slot);
                }
            }
        }
        let read = PoolRead {
            owner_id: id,
            volume: VolumeId(volume),
            first_sector: gap.first_sector,
            sectors: gap.sectors,
            class: Self::read_class(waiter.is_none()),
            sequential,
        };
        let pool = usize::from(self.volumes[usize::from(volume)].pool);
        self.pools[pool].read(now_ns, read, &mut self.backend);
    }

    /// A fill is back.
    pub(super) fn filled(&mut self, now_ns: u64, id: u32, error: Option<HostError>, payload: &P) {
        let operation = &mut self.operations[id];
        let server = usize::from(operation.controller);
        let (number, first_sector) = (operation.volume, operation.first_sector);
        let end_sector = first_sector + u64::from(operation.sectors);
        let all_sectors = operation.sectors;
        let mut lines = std::mem::take(&mut operation.lines);
        let mut waiters = std::mem::take(&mut operation.waiters);
        let cache = &mut self.controllers[server].cache;
        let line_sectors = u64::from(cache.line_sectors());
        for &slot in &lines {
            let line = cache.line_mut(slot);
            if error.is_none() {
                let start = number_of(line.key) * line_sectors;
                let from = first_sector.max(start);
                let until = end_sector.min(start + line_sectors);
                let bits = sectors_from((from - start) as u32, (until - from) as u32);
                let brought = bits & !line.valid & !line.blocked();
                if P::CARRIES_BYTES {
                    for_runs(brought, |first, sectors| {
                        let offset = (start + u64::from(first) - first_sector) as u32;
                        line.contents.overlay(first, &payload.part(offset, sectors));
                    });
                }
                line.valid |= brought;
            }
            if line.last_fill == id {
                line.last_fill = NONE;
            }
            cache.unpin(slot);
        }
        for waiter in &waiters {
            if !self.is_current(waiter.ticket) {
                continue;
            }
            let request = waiter.ticket.id;
            let wider = (waiter.first_sector, waiter.sectors) != (first_sector, all_sectors);
            if error.is_some() && wider && self.controllers[server].works {
                // What cannot be read may lie outside of this request: ask for its part alone.
                let gap = Gap {
                    first_sector: waiter.first_sector,
                    sectors: waiter.sectors,
                };
                self.fill(now_ns, server, number, gap, Some(*waiter), false, false);
                continue;
            }
            let flight = &mut self.flights[request];
            if error.is_some() {
                flight.result = error;
            } else if P::CARRIES_BYTES {
                let part =
                    payload.part((waiter.first_sector - first_sector) as u32, waiter.sectors);
                flight
                    .payload
                    .overlay((waiter.first_sector - flight.first_sector) as u32, &part);
            }
            self.part_ended(now_ns, request);
        }
        if !lines.is_empty() {
            self.wake_writers(now_ns, server);
        }
        lines.clear();
        waiters.clear();
        let operation = &mut self.operations[id];
        operation.lines = lines;
        operation.waiters = waiters;
    }

    /// A part of a request has come to its end.
    pub(super) fn part_ended(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        flight.open -= 1;
        if flight.open == 0 {
            self.finish(now_ns, id, None);
        }
    }

    /// Reads ahead of the sequential reader that was last noted.
    fn read_ahead(&mut self, now_ns: u64, server: usize, number: u16) {
        let volume = &mut self.volumes[usize::from(number)];
        let Some(ahead) = volume.readers.ahead(volume.capacity_sectors) else {
            return;
        };
        let piece_sectors = self.read_ahead_piece_sectors;
        let mut gaps = std::mem::take(&mut self.gaps);
        gaps.clear();
        let cache = &self.controllers[server].cache;
        for part in cache.parts(number, ahead.first_sector, ahead.sectors) {
            let idle = match cache.find(part.key) {
                Some(slot) => {
                    let line = cache.line(slot);
                    line.pins == 0 && part.bits() & !line.valid != 0
                }
                None => true,
            };
            if !idle {
                continue;
            }
            let first_sector = ahead.first_sector + u64::from(part.offset);
            let full = gaps
                .last()
                .is_none_or(|gap| gap.sectors + part.sectors > piece_sectors);
            if full {
                gaps.push(Gap {
                    first_sector,
                    sectors: part.sectors,
                });
            } else {
                add_gap(&mut gaps, first_sector, part.sectors);
            }
        }
        for gap in &gaps {
            self.fill(now_ns, server, number, *gap, None, true, true);
        }
        self.gaps = gaps;
    }
}
