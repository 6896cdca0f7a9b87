//! Flushes, which wait for what was written before, and trims, which give pages back.

use crate::io::VolumeExtent;
use crate::payload::Payload;

use super::Array;

impl<P: Payload> Array<P> {
    /// The owner of the volume serves a flush.
    pub(super) fn flush(&mut self, now_ns: u64, id: u32) {
        let server = usize::from(self.requests[id].service.server);
        let controller = &mut self.controllers[server];
        let battery_works = controller.availability.battery_works();
        if self.rules.cache.is_flushed_at_once(battery_works)
            || controller.cache.unwritten_lines() == 0
        {
            self.finish(now_ns, id, None);
            return;
        }
        let ticket = self.requests.ticket(id);
        controller.waiting.flushes.push((ticket, now_ns));
        self.destage(now_ns, server);
    }

    /// Lets the flushes go on for which everything dirty before is on disk.
    pub(super) fn wake_flushes(&mut self, now_ns: u64, server: usize) {
        let controller = &mut self.controllers[server];
        if controller.waiting.flushes.is_empty() {
            return;
        }
        let waiting = controller.cache.dirty.oldest();
        let waiting_ns = waiting.map(|(since_ns, _)| since_ns);
        let under_way_ns = self
            .operations
            .oldest_dirty_ns(&controller.destaging.destages);
        let oldest_ns = waiting_ns.into_iter().chain(under_way_ns).min();
        let mut flushes = std::mem::take(&mut controller.waiting.flushes);
        flushes.retain(|&(ticket, since_ns)| {
            let Some(id) = self.current(ticket) else {
                return false;
            };
            let waits = oldest_ns.is_some_and(|oldest_ns| oldest_ns <= since_ns);
            if !waits {
                self.finish(now_ns, id, None);
            }
            waits
        });
        self.controllers[server].waiting.flushes = flushes;
    }

    /// The owner of the volume serves a trim: whole pages within the extent are given back.
    pub(super) fn trim(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let server = usize::from(request.service.server);
        let volume = &self.volumes[request.extent.volume];
        let pages = volume
            .policy
            .page_sectors
            .and_then(|page_sectors| whole_pages(request.extent, page_sectors));
        let Some(pages) = pages else {
            self.finish(now_ns, id, None);
            return;
        };
        let controller = &mut self.controllers[server];
        self.operations
            .mark_overlapped(&controller.destaging.write_throughs, pages);
        if !controller.cache.discard(pages) {
            controller.waiting.clean.push(self.requests.ticket(id));
            self.destage(now_ns, server);
            return;
        }
        self.storage.trim(volume.pool, pages);
        self.lost.remove(pages);
        self.finish(now_ns, id, None);
        self.controllers.wake(server);
    }
}

/// The pages that lie wholly in an extent.
fn whole_pages(extent: VolumeExtent, page_sectors: u64) -> Option<VolumeExtent> {
    let first_sector = extent.first_sector.next_multiple_of(page_sectors);
    let end_sector = extent.end_sector() / page_sectors * page_sectors;
    (first_sector < end_sector).then(|| VolumeExtent {
        volume: extent.volume,
        first_sector,
        sectors: (end_sector - first_sector) as u32,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_pages_are_trimmed() {
        let extent = |first_sector, sectors| VolumeExtent {
            volume: 0,
            first_sector,
            sectors,
        };
        assert_eq!(whole_pages(extent(1, 30), 16), None);
        assert_eq!(whole_pages(extent(1, 31), 16), Some(extent(16, 16)));
        assert_eq!(whole_pages(extent(0, 40), 16), Some(extent(0, 32)));
    }
}
