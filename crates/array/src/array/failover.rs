//! Controllers and batteries that fail and come back, and volumes that change hands.

use crate::cache::{Line, PutWrite, for_runs, number_of, volume_of};
use crate::controller::{Copies, Ticket};
use crate::disk::DiskModel;
use crate::group::{GroupId, GroupView, RebuildView, StationId};
use crate::host::HostOperation;
use crate::payload::Payload;

use super::flight::Stage;
use super::{Array, Event, Fault};
use crate::incident::{Incident, IncidentKind};

impl<P: Payload> Array<P> {
    /// Something breaks or is repaired.
    pub(super) fn fault(&mut self, now_ns: u64, fault: Fault) {
        let controllers = self.controllers.len() as u32;
        let stations = self.backend.stations().len() as u32;
        match fault {
            Fault::FailDisk(disk) if disk < stations => {
                self.backend.fail_disk(now_ns, StationId(disk as u16));
            }
            Fault::ReplaceDisk(disk) if disk < stations => {
                self.seed = self.seed.wrapping_add(1);
                let made = DiskModel::new(&self.disks[disk as usize], self.seed);
                // A disk of the same make was built before, and it fits.
                if let Ok(made) = made {
                    let station = StationId(disk as u16);
                    let replaced = self.backend.replace_disk(now_ns, station, made);
                    assert!(replaced.is_ok(), "a disk of the same make fits");
                }
            }
            Fault::FailController(number) if number < controllers => {
                self.fail_controller(now_ns, number as usize);
            }
            Fault::RestoreController(number) if number < controllers => {
                self.restore_controller(now_ns, number as usize);
            }
            Fault::LoseCacheBattery(number) if number < controllers => {
                self.lose_battery(now_ns, number as usize);
            }
            Fault::RestoreCacheBattery(number) if number < controllers => {
                self.controllers[number as usize].battery_works = true;
                self.happened(now_ns, IncidentKind::CacheBatteryReturned(number));
            }
            _ => {}
        }
    }

    /// Hands over what broke and was repaired since the last call, in the order of time.
    pub fn take_incidents(&mut self) -> Vec<Incident> {
        let mut incidents = self.backend.take_incidents();
        incidents.append(&mut self.incidents);
        incidents.sort_by_key(|incident| incident.at_ns);
        incidents
    }

    /// The rebuilds in progress, in the order in which they began.
    pub fn rebuilds(&self) -> impl Iterator<Item = RebuildView> + '_ {
        self.backend.rebuilds()
    }

    /// What the group of a number is; numbers come from [`IncidentKind::GroupChanged`].
    pub fn group(&self, group: GroupId) -> GroupView<'_> {
        self.backend.group(group)
    }

    fn happened(&mut self, at_ns: u64, kind: IncidentKind) {
        self.incidents.push(Incident { at_ns, kind });
    }

    fn lose_battery(&mut self, now_ns: u64, number: usize) {
        self.happened(now_ns, IncidentKind::CacheBatteryFailed(number as u32));
        self.controllers[number].battery_works = false;
        let controller = &self.controllers[number];
        if !controller.works {
            // Nothing but the battery kept what the partner has no copy of.
            self.forget_unless_mirrored(number);
            return;
        }
        self.wake_writers(now_ns, number);
        self.destage(now_ns, number);
    }

    fn fail_controller(&mut self, now_ns: u64, number: usize) {
        let controller = &mut self.controllers[number];
        if !controller.works {
            return;
        }
        self.incidents.push(Incident {
            at_ns: now_ns,
            kind: IncidentKind::ControllerFailed(number as u32),
        });
        controller.works = false;
        controller.returning = false;
        controller.life += 1;
        controller.processor.abort_all(now_ns);
        controller.link.abort_all(now_ns);
        controller.copies.clear();
        for port in &mut controller.ports {
            port.abort_all(now_ns);
        }
        controller.waiting_writers.clear();
        controller.waiting_clean.clear();
        controller.flushes.clear();
        for id in 0..self.flights.len() {
            self.lose_path(now_ns, id, number);
        }
        let life = self.controllers[number].life;
        for volume in 0..self.volumes.len() {
            if usize::from(self.volumes[volume].owner) == number {
                self.volumes[volume].paused = true;
                self.stop_move(volume);
            } else if self.volumes[volume].moving_to == Some(number as u8) {
                self.stop_move(volume);
                self.unpause(now_ns, volume);
            }
        }
        if !self.controllers[number].battery_works {
            self.forget_unless_mirrored(number);
        }
        if self.controllers.len() == 2 {
            self.partner_lost(now_ns, 1 - number);
            if self.controllers[1 - number].works {
                let due_ns = now_ns + self.times.takeover_ns;
                self.calendar
                    .put(due_ns, Event::Takeover(number as u8, life));
            }
        }
    }

    /// The copies a controller's partner held are gone.
    fn partner_lost(&mut self, now_ns: u64, number: usize) {
        let cache = &mut self.controllers[number].cache;
        let slots: Vec<u32> = cache.slots().collect();
        for slot in slots {
            cache.line_mut(slot).mirrored = false;
        }
        if !self.controllers[number].works {
            // Both are down; without a battery nothing is left of what only copies kept.
            if !self.controllers[number].battery_works {
                self.lose_contents(number, |_| true);
            }
            return;
        }
        self.wake_writers(now_ns, number);
        self.destage(now_ns, number);
    }

    /// A request was with a failed controller, or its answer would leave by it.
    fn lose_path(&mut self, now_ns: u64, id: u32, failed: usize) {
        let flight = &self.flights[id];
        let at_host = matches!(
            flight.stage,
            Stage::Free | Stage::Resending | Stage::Homeless | Stage::Refused
        );
        if at_host {
            return;
        }
        if usize::from(flight.at) != failed {
            if usize::from(flight.controller) == failed {
                self.flights[id].path_lost_ns = Some(now_ns);
            }
            return;
        }
        if flight.stage == Stage::Mirroring {
            self.unreserve(id);
        }
        self.deactivate(now_ns, id);
        let flight = &mut self.flights[id];
        flight.epoch = flight.epoch.wrapping_add(1);
        flight.open = 0;
        flight.result = None;
        if flight.operation != HostOperation::Write {
            flight.payload = P::default();
        }
        let resend_ns = now_ns + self.times.path_switch_ns;
        self.enter(id, Stage::Resending, now_ns, failed as u8, resend_ns);
    }

    /// Everything that a controller had on its way has ended: what waited for that happens.
    pub(super) fn resume(&mut self, now_ns: u64, number: usize) {
        if self.controllers[number].operations_open > 0 {
            return;
        }
        if self.controllers[number].returning {
            self.come_back(now_ns, number);
        } else if self.controllers[number].takeover_due && !self.controllers[number].works {
            self.take_over(now_ns, number);
        }
    }

    /// The time has come for the partner of a failed controller to take its volumes over.
    pub(super) fn takeover(&mut self, now_ns: u64, number: usize, life: u32) {
        let failed = &mut self.controllers[number];
        if failed.works || failed.life != life {
            return;
        }
        failed.takeover_due = true;
        self.resume(now_ns, number);
    }

    fn take_over(&mut self, now_ns: u64, number: usize) {
        let partner = 1 - number;
        self.controllers[number].takeover_due = false;
        if !self.controllers[partner].works || self.controllers[partner].returning {
            return;
        }
        self.happened(now_ns, IncidentKind::ControllerTookOver(partner as u32));
        self.hand_over_contents(now_ns, number, partner);
        for volume in 0..self.volumes.len() {
            if usize::from(self.volumes[volume].owner) == number {
                self.volumes[volume].owner = partner as u8;
                let pool = usize::from(self.volumes[volume].pool);
                self.pools[pool].fail_over();
                self.unpause(now_ns, volume);
            }
        }
        self.destage(now_ns, partner);
    }

    /// The partner goes on with the mirrored part of a failed controller's cache.
    fn hand_over_contents(&mut self, now_ns: u64, from: usize, to: usize) {
        self.lose_contents(from, |line| !line.mirrored);
        let slots: Vec<u32> = self.controllers[from].cache.slots().collect();
        for slot in slots {
            let cache = &mut self.controllers[from].cache;
            let line = cache.line_mut(slot);
            let (key, dirty) = (line.key, line.dirty);
            if dirty == 0 {
                continue;
            }
            let contents = line.contents.clone();
            let unit = self.unit_of(key);
            let write = PutWrite {
                now_ns,
                unit,
                mirrored: false,
                sequential: false,
            };
            let target = &mut self.controllers[to].cache;
            let found = target.find(key);
            let target_slot = found.unwrap_or_else(|| target.allocate_beyond(key));
            for_runs(dirty, |first, sectors| {
                let part = crate::cache::LinePart {
                    key,
                    within: first,
                    offset: first,
                    sectors,
                };
                target.put(write, target_slot, part, &contents);
            });
            self.controllers[from].cache.drop_dirty(slot, dirty);
        }
        self.controllers[from].cache.drop_clean();
    }

    /// What only a failed controller held and nothing keeps is gone.
    fn forget_unless_mirrored(&mut self, number: usize) {
        self.lose_contents(number, |line| !line.mirrored);
    }

    /// Loses the lines that `gone` names, and says so to whoever reads them.
    fn lose_contents(&mut self, number: usize, gone: impl Fn(&Line<P>) -> bool) {
        let lost_before = self.lost.counted;
        let slots: Vec<u32> = self.controllers[number].cache.slots().collect();
        for slot in slots {
            let cache = &mut self.controllers[number].cache;
            let line = cache.line_mut(slot);
            if line.dirty == 0 || !gone(line) {
                continue;
            }
            let (key, dirty) = (line.key, line.dirty);
            let start = number_of(key) * u64::from(self.line_sectors);
            let lost = &mut self.lost;
            for_runs(dirty, |first, sectors| {
                lost.insert(volume_of(key), start + u64::from(first), u64::from(sectors));
            });
            let cache = &mut self.controllers[number].cache;
            cache.drop_dirty(slot, dirty);
            cache.line_mut(slot).forget(dirty);
        }
        let lost = self.lost.counted - lost_before;
        if lost > 0 {
            self.happened(self.now_ns, IncidentKind::DataLost(lost));
        }
    }

    fn restore_controller(&mut self, now_ns: u64, number: usize) {
        let controller = &mut self.controllers[number];
        if controller.works {
            return;
        }
        controller.works = true;
        controller.returning = true;
        controller.life += 1;
        controller.takeover_due = false;
        self.resume(now_ns, number);
    }

    fn come_back(&mut self, now_ns: u64, number: usize) {
        self.happened(now_ns, IncidentKind::ControllerReturned(number as u32));
        let controller = &mut self.controllers[number];
        controller.returning = false;
        controller.cache.drop_clean();
        for volume in 0..self.volumes.len() {
            if usize::from(self.volumes[volume].owner) == number {
                let pool = usize::from(self.volumes[volume].pool);
                self.pools[pool].fail_over();
                self.unpause(now_ns, volume);
            } else if self.times.fail_back
                && usize::from(self.volumes[volume].preferred_owner) == number
                && self.volumes[volume].moving_to.is_none()
            {
                self.volumes[volume].moving_to = Some(number as u8);
                self.moves_under_way += 1;
                self.moved.push(volume as u16);
            }
        }
        if self.controllers.len() == 2 {
            let partner = 1 - number;
            if self.controllers[partner].works {
                self.copy_anew(now_ns, partner);
                self.copy_anew(now_ns, number);
                self.wake_writers(now_ns, partner);
            } else {
                let life = self.controllers[partner].life;
                let due_ns = now_ns + self.times.takeover_ns;
                self.calendar
                    .put(due_ns, Event::Takeover(partner as u8, life));
            }
            self.destage(now_ns, partner);
        }
        self.destage(now_ns, number);
        self.call_homeless(now_ns);
    }

    /// Copies to a partner that is back what it has no copy of.
    fn copy_anew(&mut self, now_ns: u64, from: usize) {
        let lines = self.controllers[from].cache.unwritten_lines;
        let partner_life = self.controllers[1 - from].life;
        let copies = &self.controllers[from].copies;
        let under_way = copies.iter().any(|each| each.partner_life == partner_life);
        if !self.mirrors || lines == 0 || under_way {
            return;
        }
        let sectors = (lines * u64::from(self.line_sectors)).min(u64::from(u32::MAX)) as u32;
        let crossed_ns = self.cross(now_ns, from, sectors);
        let controller = &mut self.controllers[from];
        controller.copies.push_back(Copies {
            since_ns: now_ns,
            partner_life,
        });
        let life = controller.life;
        self.calendar
            .put(crossed_ns, Event::Copied(from as u8, life));
    }

    /// The copies that a controller sent in that life of it have crossed the link: the partner has
    /// everything again, unless it has failed meanwhile.
    pub(super) fn copied(&mut self, now_ns: u64, from: usize, life: u32) {
        let partner_life = self.controllers[1 - from].life;
        let controller = &mut self.controllers[from];
        if controller.life != life {
            return;
        }
        let Some(copies) = controller.copies.pop_front() else {
            return;
        };
        controller.link.leave(now_ns, copies.since_ns);
        if partner_life != copies.partner_life {
            return;
        }
        let slots: Vec<u32> = controller.cache.slots().collect();
        for slot in slots {
            controller.cache.line_mut(slot).mirrored = true;
        }
    }

    /// Hosts that had no path try again.
    fn call_homeless(&mut self, now_ns: u64) {
        for id in 0..self.flights.len() {
            let flight = &mut self.flights[id];
            if flight.stage == Stage::Homeless {
                flight.epoch = flight.epoch.wrapping_add(1);
                self.send(now_ns, id);
            }
        }
    }

    fn unpause(&mut self, now_ns: u64, volume: usize) {
        self.volumes[volume].paused = false;
        let waiting: Vec<Ticket> = self.volumes[volume].waiting.drain(..).collect();
        for ticket in waiting {
            if self.is_current(ticket) {
                self.knock(now_ns, ticket.id);
            }
        }
    }

    fn stop_move(&mut self, volume: usize) {
        if self.volumes[volume].moving_to.take().is_some() {
            self.moves_under_way -= 1;
        }
    }

    /// A volume returns to its preferred owner, as far as that is possible now: first everything
    /// dirty goes to disk, then nobody may use it, then it changes hands.
    pub(super) fn move_on(&mut self, now_ns: u64, number: usize) {
        let volume = &self.volumes[number];
        let Some(target) = volume.moving_to else {
            return;
        };
        let owner = usize::from(volume.owner);
        if self.controllers[owner].cache.unwritten_by_volume[number] > 0 {
            self.destage(now_ns, owner);
            return;
        }
        self.volumes[number].paused = true;
        let volume = &self.volumes[number];
        if volume.active > 0 || volume.operations_open > 0 {
            return;
        }
        self.controllers[owner].cache.purge(number as u16);
        self.volumes[number].owner = target;
        self.stop_move(number);
        let pool = usize::from(self.volumes[number].pool);
        self.pools[pool].fail_over();
        self.unpause(now_ns, number);
    }
}
