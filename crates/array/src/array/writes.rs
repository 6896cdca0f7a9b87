//! Writes: into the cache and to the partner, or through to the disks.

use crate::VolumeId;
use crate::cache::{NONE, PutWrite, for_runs, key_of, number_of, volume_of};
use crate::controller::Ticket;
use crate::group::IoClass;
use crate::host::{FirstWrite, HostError};
use crate::payload::Payload;
use crate::pool::PoolWrite;

use super::Array;
use super::flight::Stage;
use super::operation::Purpose;

impl<P: Payload> Array<P> {
    /// The unit a line belongs to.
    #[inline]
    pub(super) fn unit_of(&self, line_key: u64) -> u64 {
        let volume = volume_of(line_key);
        let lines_per_unit = self.volumes[usize::from(volume)].lines_per_unit;
        key_of(volume, number_of(line_key) / lines_per_unit)
    }

    /// Whether the controller's cache is a place where an acknowledged write is safe enough.
    pub(super) fn writes_back(&self, server: usize, volume: usize) -> bool {
        let volume = &self.volumes[volume];
        let controller = &self.controllers[server];
        let copied = !self.mirrors || self.partner_works(server) || self.times.write_back_alone;
        volume.write_back && volume.moving_to.is_none() && controller.battery_works && copied
    }

    /// Whether a controller has a working partner.
    pub(super) fn partner_works(&self, number: usize) -> bool {
        self.controllers.len() == 2 && self.controllers[1 - number].works
    }

    /// The owner of the volume serves a write.
    pub(super) fn write(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let volume = &mut self.volumes[usize::from(number)];
        let sequential = volume.writers.note(first_sector, sectors);
        let kind = if sequential {
            FirstWrite::Sequential
        } else {
            FirstWrite::Random
        };
        let pool = &mut self.pools[usize::from(volume.pool)];
        let place = pool.map_for_write(VolumeId(number), first_sector, u64::from(sectors), kind);
        self.flights[id].sequential = sequential;
        if place.is_err() {
            self.finish(now_ns, id, Some(HostError::PoolFull));
            return;
        }
        self.accept(now_ns, id);
    }

    /// Takes a write into the cache, has it wait for room there, or sends it through.
    pub(super) fn accept(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let server = usize::from(flight.server);
        let volume = usize::from(flight.volume);
        let lines = self.lines_of(server, id);
        if !self.writes_back(server, volume) || lines > self.dirty_limit_lines / 2 {
            self.write_through(now_ns, id);
            return;
        }
        let waits = !self.controllers[server].waiting_writers.is_empty();
        if waits || !self.admit(now_ns, id, lines) {
            let ticket = self.ticket(id);
            self.controllers[server].waiting_writers.push_back(ticket);
            self.destage(now_ns, server);
        }
    }

    fn lines_of(&self, server: usize, id: u32) -> u64 {
        let flight = &self.flights[id];
        let line_sectors = u64::from(self.controllers[server].cache.line_sectors());
        let last = flight.first_sector + u64::from(flight.sectors) - 1;
        last / line_sectors - flight.first_sector / line_sectors + 1
    }

    /// Reserves room in the cache for a write and mirrors it; says whether there was room.
    fn admit(&mut self, now_ns: u64, id: u32, lines: u64) -> bool {
        let flight = &self.flights[id];
        let server = usize::from(flight.server);
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let cache = &mut self.controllers[server].cache;
        let promised = cache.unwritten_lines + cache.reserved_lines + lines;
        if promised > self.dirty_limit_lines || cache.available_lines() < lines {
            return false;
        }
        let mut first_slot = NONE;
        for part in cache.parts(number, first_sector, sectors) {
            let slot = match cache.find(part.key) {
                Some(slot) => slot,
                // There is a line: as many as the write needs were available.
                None => match cache.allocate(part.key) {
                    Some(slot) => slot,
                    None => panic!("an available line can be had"),
                },
            };
            cache.pin(slot);
            if part.offset == 0 {
                first_slot = slot;
            }
        }
        self.flights[id].first_slot = first_slot;
        cache.reserved_lines += lines;
        let lines_per_unit = self.volumes[usize::from(number)].lines_per_unit;
        let first_line = first_sector / u64::from(cache.line_sectors());
        cache
            .dirty
            .foresee(key_of(number, first_line / lines_per_unit));
        self.contest(server, number, first_sector, sectors);
        if self.mirrors && self.partner_works(server) {
            let partner_life = self.controllers[1 - server].life;
            let flight = &mut self.flights[id];
            let sectors = flight.sectors;
            flight.mirror_life = partner_life;
            let crossed_ns = self.cross(now_ns, server, sectors);
            self.enter(id, Stage::Mirroring, now_ns, server as u8, crossed_ns);
        } else {
            self.put(now_ns, id, false);
        }
        true
    }

    /// Gives up what [`Array::admit`] reserved.
    pub(super) fn unreserve(&mut self, id: u32) {
        let flight = &self.flights[id];
        let server = usize::from(flight.server);
        let cache = &mut self.controllers[server].cache;
        for part in cache.parts(flight.volume, flight.first_sector, flight.sectors) {
            let Some(slot) = cache.find(part.key) else {
                panic!("a pinned line stays");
            };
            cache.unpin(slot);
            cache.reserved_lines -= 1;
        }
    }

    /// The partner has its copy of a write, unless it has failed meanwhile.
    pub(super) fn mirrored(&mut self, now_ns: u64, id: u32) {
        let server = usize::from(self.flights[id].server);
        let partner = &self.controllers[1 - server];
        if partner.works && partner.life == self.flights[id].mirror_life {
            self.put(now_ns, id, true);
            return;
        }
        self.unreserve(id);
        self.accept(now_ns, id);
    }

    /// Puts a write into the lines reserved for it, and acknowledges it.
    fn put(&mut self, now_ns: u64, id: u32, mirrored: bool) {
        let flight = &mut self.flights[id];
        let server = usize::from(flight.server);
        let (number, sequential) = (flight.volume, flight.sequential);
        let (first_sector, sectors) = (flight.first_sector, flight.sectors);
        let payload = std::mem::take(&mut flight.payload);
        let mut near = flight.first_slot;
        let lines_per_unit = self.volumes[usize::from(number)].lines_per_unit;
        let cache = &mut self.controllers[server].cache;
        for part in cache.parts(number, first_sector, sectors) {
            let Some(slot) = cache.find_again(near, part.key) else {
                panic!("a pinned line stays");
            };
            near = NONE;
            let unit = key_of(number, number_of(part.key) / lines_per_unit);
            cache.put(
                PutWrite {
                    now_ns,
                    unit,
                    mirrored,
                    sequential,
                },
                slot,
                part,
                &payload,
            );
            cache.unpin(slot);
            cache.reserved_lines -= 1;
        }
        self.flights[id].payload = payload;
        if !self.lost.is_empty() {
            self.lost.remove(number, first_sector, u64::from(sectors));
        }
        self.finish(now_ns, id, None);
        self.destage(now_ns, server);
    }

    /// Sends a write to the disks and acknowledges it from there.
    fn write_through(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let server = usize::from(flight.server);
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let ticket = self.ticket(id);
        if self.is_unwritten(server, number, first_sector, sectors) {
            // What is on its way to the same sectors goes first.
            self.controllers[server].waiting_clean.push(ticket);
            self.destage(now_ns, server);
            return;
        }
        self.forget(server, number, first_sector, sectors);
        let contested = self.contest(server, number, first_sector, sectors);
        let operation_id = self.begin(Purpose::WriteThrough, server, number);
        if self.holds_reads && !self.volumes[usize::from(number)].direct_io {
            self.controllers[server].throughs.push(operation_id);
        }
        let operation = &mut self.operations[operation_id];
        operation.first_sector = first_sector;
        operation.sectors = sectors;
        operation.contested = contested;
        operation.waiters.push(super::operation::Waiter {
            ticket,
            first_sector,
            sectors,
        });
        let flight = &mut self.flights[id];
        flight.open = 1;
        let write = PoolWrite {
            owner_id: operation_id,
            volume: VolumeId(number),
            class: IoClass::HostWrite,
            sequential: flight.sequential,
        };
        let pieces = [(first_sector, sectors, flight.payload.clone())];
        let pool = usize::from(self.volumes[usize::from(number)].pool);
        self.pools[pool].write(now_ns, write, &pieces, &mut self.backend);
    }

    /// Whether the cache holds something of a stretch that the disks lack.
    pub(super) fn is_unwritten(
        &self,
        server: usize,
        volume: u16,
        first_sector: u64,
        sectors: u32,
    ) -> bool {
        let cache = &self.controllers[server].cache;
        cache.unwritten_lines > 0
            && cache.parts(volume, first_sector, sectors).any(|part| {
                cache.find(part.key).is_some_and(|slot| {
                    let line = cache.line(slot);
                    (line.dirty | line.destaging()) & part.bits() != 0
                })
            })
    }

    /// Forgets a stretch that changes on disk.
    pub(super) fn forget(&mut self, server: usize, volume: u16, first_sector: u64, sectors: u32) {
        let cache = &mut self.controllers[server].cache;
        if cache.len() == 0 {
            return;
        }
        for part in cache.parts(volume, first_sector, sectors) {
            if let Some(slot) = cache.find(part.key) {
                cache.line_mut(slot).forget(part.bits());
            }
        }
    }

    /// A write has reached the disks, or failed.
    pub(super) fn written_through(&mut self, now_ns: u64, id: u32, error: Option<HostError>) {
        let operation = &self.operations[id];
        let server = usize::from(operation.controller);
        let (volume, first_sector, sectors) =
            (operation.volume, operation.first_sector, operation.sectors);
        let waiter = operation.waiters.first().copied();
        let throughs = &mut self.controllers[server].throughs;
        let known = throughs.iter().position(|&other| other == id);
        let keeps = known.map(|position| throughs.swap_remove(position));
        let keeps = keeps.is_some() && error.is_none() && !self.operations[id].contested;
        // A read that overlapped the write may have brought the old contents into the cache.
        self.forget(server, volume, first_sector, sectors);
        let Some(waiter) = waiter.filter(|waiter| self.is_current(waiter.ticket)) else {
            return;
        };
        if error.is_none() && !self.lost.is_empty() {
            self.lost.remove(volume, first_sector, u64::from(sectors));
        }
        if keeps {
            self.keep(server, waiter.ticket.id);
        }
        self.flights[waiter.ticket.id].result = error;
        self.part_ended(now_ns, waiter.ticket.id);
    }

    /// Another write or a trim meets writes that are on their way through the cache: what the disks
    /// hold in the end depends on the order, so none of them is kept. Says whether there are any.
    pub(super) fn contest(
        &mut self,
        server: usize,
        volume: u16,
        first_sector: u64,
        sectors: u32,
    ) -> bool {
        let end_sector = first_sector + u64::from(sectors);
        let mut met = false;
        for &id in &self.controllers[server].throughs {
            let other = &mut self.operations[id];
            let other_end = other.first_sector + u64::from(other.sectors);
            if other.volume == volume && first_sector < other_end && other.first_sector < end_sector
            {
                other.contested = true;
                met = true;
            }
        }
        met
    }

    /// Keeps what has gone through the cache for reads to come.
    fn keep(&mut self, server: usize, id: u32) {
        let flight = &self.flights[id];
        let owner = usize::from(self.volumes[usize::from(flight.volume)].owner);
        let controller = &mut self.controllers[server];
        if !controller.works || controller.returning || owner != server {
            return;
        }
        let cache = &mut controller.cache;
        for part in cache.parts(flight.volume, flight.first_sector, flight.sectors) {
            let Some(slot) = cache.find(part.key).or_else(|| cache.allocate(part.key)) else {
                continue;
            };
            let line = cache.line_mut(slot);
            let clean = part.bits() & !line.dirty & !line.destaging();
            if P::CARRIES_BYTES {
                for_runs(clean, |first, sectors| {
                    let offset = part.offset + first - part.within;
                    line.contents
                        .overlay(first, &flight.payload.part(offset, sectors));
                });
            }
            line.valid |= clean;
            cache.list_if_replaceable(slot);
            cache.touch(slot);
        }
    }

    /// Has another look at the writers that wait for room.
    pub(super) fn wake_writers(&mut self, now_ns: u64, server: usize) {
        while let Some(&ticket) = self.controllers[server].waiting_writers.front() {
            if self.is_current(ticket) {
                let volume = usize::from(self.flights[ticket.id].volume);
                let through = !self.writes_back(server, volume);
                let lines = self.lines_of(server, ticket.id);
                if through {
                    self.controllers[server].waiting_writers.pop_front();
                    self.write_through(now_ns, ticket.id);
                    continue;
                }
                if !self.admit(now_ns, ticket.id, lines) {
                    return;
                }
            }
            self.controllers[server].waiting_writers.pop_front();
        }
    }

    /// Has another look at the requests that wait for their sectors to be on disk.
    pub(super) fn wake_clean(&mut self, now_ns: u64, server: usize) {
        if self.controllers[server].waiting_clean.is_empty() {
            return;
        }
        let tickets: Vec<Ticket> = std::mem::take(&mut self.controllers[server].waiting_clean);
        for ticket in tickets {
            if self.is_current(ticket) {
                match self.flights[ticket.id].operation {
                    crate::HostOperation::Trim => self.trim(now_ns, ticket.id),
                    _ => self.accept(now_ns, ticket.id),
                }
            }
        }
    }
}
