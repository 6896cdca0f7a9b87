//! The power of the whole array, which can go and come back.
//!
//! Requests of hosts fail at once, and nobody sends them again: for a host, too, the moment is over. Of the caches
//! stays what a battery keeps; without one the volumes hold what had reached the disks, or was on its way there,
//! as after a loss of power with a volatile write cache. What the disks have been given they do to the end.

use crate::host::HostError;
use crate::incident::IncidentKind;
use crate::payload::Payload;

use super::Array;
use super::requests::Stage;

/// What became of the power so far.
#[derive(Debug, Default)]
pub(super) struct Power {
    /// How often it was cut.
    cuts: u64,
    /// Controllers that have stopped with it, and work again with it.
    stopped: Vec<usize>,
    /// Volumes of which something was dropped, since somebody asked last.
    dropped: Vec<u16>,
}

impl<P: Payload> Array<P> {
    /// How often the power was cut so far. What hosts had open before is gone for them.
    pub fn power_cuts(&self) -> u64 {
        self.power.cuts
    }

    /// The volumes that the power cuts since the last call may have dropped acknowledged writes of.
    pub fn take_dropped(&mut self) -> Vec<u16> {
        std::mem::take(&mut self.power.dropped)
    }

    pub(super) fn cut_power(&mut self, now_ns: u64) {
        self.power.cuts += 1;
        self.log.add(now_ns, IncidentKind::PowerCut);
        self.fail_requests(now_ns);
        let mut dropped_sectors = 0;
        for number in 0..self.controllers.len() {
            let partner_keeps = self.controllers.partner(number).is_some_and(|partner| {
                let partner = &self.controllers[partner].availability;
                partner.works() && partner.battery_works()
            });
            let controller = &mut self.controllers[number];
            let had_power = controller.availability.works();
            if had_power {
                controller.fail(now_ns);
                self.power.stopped.push(number);
            }
            if !controller.availability.battery_works() {
                let is_gone = |line: &crate::cache::Line<P>| !(line.mirrored && partner_keeps);
                let dropped = &mut self.power.dropped;
                controller.cache.lose(is_gone, |extent| {
                    dropped_sectors += u64::from(extent.sectors);
                    dropped.push(extent.volume);
                });
            }
        }
        self.power.dropped.sort_unstable();
        self.power.dropped.dedup();
        if dropped_sectors > 0 {
            self.log
                .add(now_ns, IncidentKind::DataLost(dropped_sectors));
        }
        for volume in self.volumes.numbers() {
            self.volumes[volume].ownership.paused = true;
            self.volumes.end_move(volume);
        }
    }

    /// Ends every request of a host with an error.
    fn fail_requests(&mut self, now_ns: u64) {
        for id in self.requests.ids() {
            let request = &self.requests[id];
            let stage = request.route.stage;
            if matches!(stage, Stage::Free | Stage::Refused) {
                continue;
            }
            if stage == Stage::Mirroring {
                let server = usize::from(request.service.server);
                self.controllers[server].cache.unreserve(request.extent);
            }
            self.stop_serving(now_ns, id);
            self.requests.invalidate(id);
            let request = &mut self.requests[id];
            request.service.open = 0;
            request.result = Some(HostError::NoPath);
            self.end(now_ns, id);
        }
    }

    pub(super) fn restore_power(&mut self, now_ns: u64) {
        let stopped = std::mem::take(&mut self.power.stopped);
        if stopped.is_empty() {
            return;
        }
        self.log.add(now_ns, IncidentKind::PowerReturned);
        for number in stopped {
            self.restore_controller(now_ns, number);
        }
    }
}
