//! Writes: into the cache and to the failover partner, or through to the disks.

use crate::VolumeId;
use crate::cache::{CacheWrite, key_of, unit_of};
use crate::group::IoClass;
use crate::host::{FirstWrite, HostError, HostOperation};
use crate::io::VolumeExtent;
use crate::payload::Payload;
use crate::pool::PoolWrite;

use super::Array;
use super::operations::{Purpose, Waiter};
use super::requests::Stage;

impl<P: Payload> Array<P> {
    /// Whether the controller's cache is a place where an acknowledged write is safe enough.
    fn writes_back(&self, server: usize, volume: u16) -> bool {
        let volume = &self.volumes[volume];
        let partner_works = self.controllers.partner_works(server);
        volume.policy.write_back
            && volume.ownership.moving_to().is_none()
            && self
                .rules
                .cache
                .may_write_back_with(self.controllers[server].availability.battery_works())
            && self.rules.cache.may_write_back(partner_works)
    }

    /// The owner of the volume serves a write.
    pub(super) fn write(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        let extent = request.extent;
        let volume = &mut self.volumes[extent.volume];
        let sequential = volume.writers.note(extent.first_sector, extent.sectors);
        let kind = if sequential {
            FirstWrite::Sequential
        } else {
            FirstWrite::Random
        };
        request.service.sequential = sequential;
        let mapped = self.storage.map_for_write(volume.pool, extent, kind);
        if mapped.is_err() {
            self.finish(now_ns, id, Some(HostError::PoolFull));
            return;
        }
        self.accept(now_ns, id);
    }

    /// Takes a write into the cache, has it wait for room there, or sends it through.
    fn accept(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let (server, extent) = (usize::from(request.service.server), request.extent);
        let lines = self.controllers[server].cache.lines_of(extent);
        let too_long = lines > self.rules.cache.dirty_limit_lines / 2;
        if too_long || !self.writes_back(server, extent.volume) {
            self.write_through(now_ns, id);
            return;
        }
        let waits = !self.controllers[server].waiting.writers.is_empty();
        if waits || !self.admit(now_ns, id) {
            let ticket = self.requests.ticket(id);
            let waiting = &mut self.controllers[server].waiting;
            waiting.writers.push_back(ticket);
            self.destage(now_ns, server);
        }
    }

    /// Reserves room in the cache for a write and mirrors it; says whether there was room.
    fn admit(&mut self, now_ns: u64, id: u32) -> bool {
        let request = &mut self.requests[id];
        let (server, extent) = (usize::from(request.service.server), request.extent);
        let controller = &mut self.controllers[server];
        let cache = &mut controller.cache;
        let limit_lines = self.rules.cache.dirty_limit_lines;
        let Some(first_slot) = cache.reserve(extent, limit_lines) else {
            return false;
        };
        request.service.first_slot = first_slot;
        let first_line = extent.first_sector / u64::from(cache.line_sectors());
        let lines_per_unit = self.volumes[extent.volume].policy.lines_per_unit;
        cache
            .dirty
            .prefetch(unit_of(key_of(extent.volume, first_line), lines_per_unit));
        self.operations
            .mark_overlapped(&controller.destaging.write_throughs, extent);
        if self.rules.cache.mirrors
            && let Some(partner) = self.controllers.partner(server)
            && self.controllers[partner].availability.works()
        {
            let generation = self.controllers[partner].availability.generation();
            self.requests[id].service.partner_generation = generation;
            let sectors = extent.sectors;
            let crossed_ns = self.controllers.send_over_link(now_ns, server, sectors);
            self.enter(id, Stage::Mirroring, now_ns, server, crossed_ns);
        } else {
            self.put(now_ns, id, false);
        }
        true
    }

    /// The partner has its copy of a write, unless it has failed meanwhile.
    pub(super) fn mirrored(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let server = usize::from(request.service.server);
        let partner = &self.controllers[1 - server].availability;
        if partner.works() && partner.generation() == request.service.partner_generation {
            self.put(now_ns, id, true);
            return;
        }
        self.controllers[server].cache.unreserve(request.extent);
        self.accept(now_ns, id);
    }

    /// Puts a write into the lines reserved for it, and acknowledges it.
    fn put(&mut self, now_ns: u64, id: u32, mirrored: bool) {
        let request = &self.requests[id];
        let (server, extent) = (usize::from(request.service.server), request.extent);
        let write = CacheWrite {
            now_ns,
            lines_per_unit: self.volumes[extent.volume].policy.lines_per_unit,
            mirrored,
            sequential: request.service.sequential,
        };
        let cache = &mut self.controllers[server].cache;
        cache.write_reserved(write, extent, request.service.first_slot, &request.payload);
        self.lost.remove(extent);
        self.finish(now_ns, id, None);
        self.destage(now_ns, server);
    }

    /// Sends a write to the disks and acknowledges it from there.
    fn write_through(&mut self, now_ns: u64, id: u32) {
        let ticket = self.requests.ticket(id);
        let request = &self.requests[id];
        let (server, extent) = (usize::from(request.service.server), request.extent);
        let controller = &mut self.controllers[server];
        if controller.cache.has_unwritten(extent) {
            // What is on its way to the same sectors goes first.
            controller.waiting.clean.push(ticket);
            self.destage(now_ns, server);
            return;
        }
        controller.cache.forget(extent);
        let overlapped = self
            .operations
            .mark_overlapped(&controller.destaging.write_throughs, extent);
        let operation_id = self.begin(Purpose::WriteThrough, server, extent);
        let volume = &self.volumes[extent.volume];
        if self.rules.cache.holds_reads && !volume.policy.direct_io {
            let destaging = &mut self.controllers[server].destaging;
            destaging.write_throughs.push(operation_id);
        }
        let operation = &mut self.operations[operation_id];
        operation.overlapped = overlapped;
        operation.waiters.push(Waiter { ticket, extent });
        let request = &mut self.requests[id];
        request.service.open = 1;
        let write = PoolWrite {
            owner_id: operation_id,
            volume: VolumeId(extent.volume),
            class: IoClass::HostWrite,
            sequential: request.service.sequential,
        };
        let pieces = [(extent.first_sector, extent.sectors, request.payload.clone())];
        self.storage.write(now_ns, volume.pool, write, &pieces);
    }

    /// A write has reached the disks, or failed.
    pub(super) fn written_through(&mut self, now_ns: u64, id: u32, error: Option<HostError>) {
        let operation = &self.operations[id];
        let (server, extent) = (operation.controller, operation.extent);
        let waiter = operation.waiters.first().copied();
        let controller = &mut self.controllers[server];
        let write_throughs = &mut controller.destaging.write_throughs;
        let position = write_throughs.iter().position(|&other| other == id);
        let listed = position.map(|position| write_throughs.swap_remove(position));
        let keeps = listed.is_some() && error.is_none() && !operation.overlapped;
        // A read that overlapped the write may have brought the old contents into the cache.
        controller.cache.forget(extent);
        let Some(request) = waiter.and_then(|waiter| self.current(waiter.ticket)) else {
            return;
        };
        if error.is_none() {
            self.lost.remove(extent);
        }
        if keeps {
            self.keep(server, request, extent);
        }
        self.requests[request].result = error;
        self.part_ended(now_ns, request);
    }

    /// Keeps what has been written through for reads to come.
    fn keep(&mut self, server: usize, id: u32, extent: VolumeExtent) {
        let controller = &mut self.controllers[server];
        let owns = self.volumes[extent.volume].owner() == server;
        if controller.availability.serves() && owns {
            controller.cache.keep(extent, &self.requests[id].payload);
        }
    }

    /// Lets the writers go on that wait for room, as far as there is any.
    pub(super) fn wake_writers(&mut self, now_ns: u64, server: usize) {
        while let Some(&ticket) = self.controllers[server].waiting.writers.front() {
            if let Some(id) = self.current(ticket) {
                let volume = self.requests[id].extent.volume;
                if !self.writes_back(server, volume) {
                    self.controllers[server].waiting.writers.pop_front();
                    self.write_through(now_ns, id);
                    continue;
                }
                if !self.admit(now_ns, id) {
                    return;
                }
            }
            self.controllers[server].waiting.writers.pop_front();
        }
    }

    /// Lets the requests go on that wait for their sectors to be on disk.
    pub(super) fn wake_clean(&mut self, now_ns: u64, server: usize) {
        let tickets = std::mem::take(&mut self.controllers[server].waiting.clean);
        for ticket in tickets {
            let Some(id) = self.current(ticket) else {
                continue;
            };
            match self.requests[id].operation {
                HostOperation::Trim => self.trim(now_ns, id),
                _ => self.accept(now_ns, id),
            }
        }
    }
}
