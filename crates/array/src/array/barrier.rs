//! Flushes, which wait for what was written before, and trims, which give pages back.

use crate::VolumeId;
use crate::cache::{Sectors, volume_of};
use crate::payload::Payload;
use crate::settings::FlushPolicy;

use super::Array;

impl<P: Payload> Array<P> {
    /// The owner of the volume serves a flush.
    pub(super) fn flush(&mut self, now_ns: u64, id: u32) {
        let server = usize::from(self.flights[id].server);
        let controller = &self.controllers[server];
        let safe = controller.battery_works && self.flush_policy == FlushPolicy::Protected;
        if safe || controller.cache.unwritten_lines == 0 {
            self.finish(now_ns, id, None);
            return;
        }
        let ticket = self.ticket(id);
        self.controllers[server].flushes.push((ticket, now_ns));
        self.destage(now_ns, server);
    }

    /// Has another look at the flushes that wait.
    pub(super) fn wake_flushes(&mut self, now_ns: u64, server: usize) {
        if self.controllers[server].flushes.is_empty() {
            return;
        }
        let controller = &mut self.controllers[server];
        let waiting_ns = controller
            .cache
            .dirty
            .oldest()
            .map_or(u64::MAX, |(since_ns, _)| since_ns);
        let under_way = controller.destages.iter();
        let under_way_ns = under_way
            .map(|&id| self.operations[id].dirty_since_ns)
            .min();
        let oldest_ns = waiting_ns.min(under_way_ns.unwrap_or(u64::MAX));
        let mut flushes = std::mem::take(&mut controller.flushes);
        flushes.retain(|&(ticket, since_ns)| {
            if !self.is_current(ticket) {
                return false;
            }
            let waits = oldest_ns <= since_ns;
            if !waits {
                self.finish(now_ns, ticket.id, None);
            }
            waits
        });
        self.controllers[server].flushes = flushes;
    }

    /// The owner of the volume serves a trim: whole pages within the stretch are given back.
    pub(super) fn trim(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let (number, first_sector, sectors) = (flight.volume, flight.first_sector, flight.sectors);
        let server = usize::from(flight.server);
        let volume = &self.volumes[usize::from(number)];
        let Some(page_sectors) = volume.page_sectors else {
            self.finish(now_ns, id, None);
            return;
        };
        let first = first_sector.next_multiple_of(page_sectors);
        let end = (first_sector + u64::from(sectors)) / page_sectors * page_sectors;
        if end <= first {
            self.finish(now_ns, id, None);
            return;
        }
        let sectors = (end - first) as u32;
        self.contest(server, number, first, sectors);
        if !self.drop_lines(server, number, first, sectors) {
            let ticket = self.ticket(id);
            self.controllers[server].waiting_clean.push(ticket);
            self.destage(now_ns, server);
            return;
        }
        let pool = usize::from(self.volumes[usize::from(number)].pool);
        self.pools[pool].trim(VolumeId(number), first, u64::from(sectors));
        if !self.lost.is_empty() {
            self.lost.remove(number, first, u64::from(sectors));
        }
        self.finish(now_ns, id, None);
        self.woken.push(server as u8);
    }

    /// Drops whole lines of a stretch from the cache; says no if some are on their way to disk.
    fn drop_lines(&mut self, server: usize, volume: u16, first_sector: u64, sectors: u32) -> bool {
        let cache = &self.controllers[server].cache;
        let parts = cache.parts(volume, first_sector, sectors);
        let under_way = parts.clone().any(|part| {
            cache
                .find(part.key)
                .is_some_and(|slot| cache.line(slot).destaging() & part.bits() != 0)
        });
        if under_way {
            return false;
        }
        for part in parts {
            let Some(slot) = self.controllers[server].cache.find(part.key) else {
                continue;
            };
            debug_assert_eq!(volume_of(part.key), volume);
            let bits: Sectors = part.bits();
            let cache = &mut self.controllers[server].cache;
            cache.drop_dirty(slot, bits);
            cache.line_mut(slot).forget(bits);
        }
        true
    }
}
