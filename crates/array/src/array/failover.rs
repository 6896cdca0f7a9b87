//! Controllers and batteries that fail and come back, and volumes that move between controllers.

use crate::cache::Line;
use crate::controller::{Copies, Ticket};
use crate::group::{GroupId, GroupView, RebuildView};
use crate::host::HostOperation;
use crate::payload::Payload;

use super::requests::Stage;
use super::{Array, Event, Fault};
use crate::incident::{Incident, IncidentKind};

impl<P: Payload> Array<P> {
    /// Something breaks or is repaired.
    pub(super) fn fault(&mut self, now_ns: u64, fault: Fault) {
        let exists = |number: u32| (number as usize) < self.controllers.len();
        match fault {
            Fault::FailDisk(disk) => self.storage.fail_disk(now_ns, disk),
            Fault::SlowDisk { disk, factor } => {
                self.storage.slow_disk(now_ns, disk, factor.max(1));
            }
            Fault::ReplaceDisk(disk) => self.storage.replace_disk(now_ns, disk),
            Fault::DamageSectors {
                disk,
                places,
                damage,
            } => {
                self.storage.damage_sectors(now_ns, disk, places, damage);
            }
            Fault::SpendCredits(disk) => self.storage.spend_credits(now_ns, disk),
            Fault::FailController(number) if exists(number) => {
                self.fail_controller(now_ns, number as usize);
            }
            Fault::RestoreController(number) if exists(number) => {
                self.restore_controller(now_ns, number as usize);
            }
            Fault::LoseCacheBattery(number) if exists(number) => {
                self.lose_battery(now_ns, number as usize);
            }
            Fault::RestoreCacheBattery(number) if exists(number) => {
                let controller = &mut self.controllers[number as usize];
                controller.availability.set_battery(true);
                let kind = IncidentKind::CacheBatteryReturned(number);
                self.log.add(now_ns, kind);
            }
            Fault::FillGroup(group) => {
                if self.storage.fill_group(group, true) {
                    self.log.add(now_ns, IncidentKind::GroupFilled(group));
                }
            }
            Fault::EmptyGroup(group) => {
                if self.storage.fill_group(group, false) {
                    self.log.add(now_ns, IncidentKind::GroupEmptied(group));
                }
            }
            Fault::CutPower => self.cut_power(now_ns),
            Fault::RestorePower => self.restore_power(now_ns),
            Fault::FailController(_)
            | Fault::RestoreController(_)
            | Fault::LoseCacheBattery(_)
            | Fault::RestoreCacheBattery(_) => {}
        }
    }

    /// Hands over what broke and was repaired since the last call, in the order of time.
    pub fn take_incidents(&mut self) -> Vec<Incident> {
        let mut incidents = self.storage.take_incidents();
        incidents.append(&mut self.log.take());
        incidents.sort_by_key(|incident| incident.at_ns);
        incidents
    }

    /// The rebuilds in progress, in the order in which they began.
    pub fn rebuilds(&self) -> impl Iterator<Item = RebuildView> + '_ {
        self.storage.rebuilds()
    }

    /// What the group of a number is; numbers come from [`IncidentKind::GroupChanged`].
    pub fn group(&self, group: GroupId) -> GroupView<'_> {
        self.storage.group(group)
    }

    /// All groups, in the order of their numbers.
    pub fn groups(&self) -> impl Iterator<Item = GroupView<'_>> {
        self.storage.groups()
    }

    fn lose_battery(&mut self, now_ns: u64, number: usize) {
        let kind = IncidentKind::CacheBatteryFailed(number as u32);
        self.log.add(now_ns, kind);
        let availability = &mut self.controllers[number].availability;
        availability.set_battery(false);
        if !availability.works() {
            // Only the battery kept what the partner has no copy of.
            self.lose_contents(number, |line| !line.mirrored);
            return;
        }
        self.wake_writers(now_ns, number);
        self.destage(now_ns, number);
    }

    fn fail_controller(&mut self, now_ns: u64, number: usize) {
        let controller = &mut self.controllers[number];
        if !controller.availability.works() {
            return;
        }
        let kind = IncidentKind::ControllerFailed(number as u32);
        self.log.add(now_ns, kind);
        controller.fail(now_ns);
        for id in self.requests.ids() {
            self.lose_path(now_ns, id, number);
        }
        for volume in self.volumes.numbers() {
            let ownership = &mut self.volumes[volume].ownership;
            if usize::from(ownership.owner) == number {
                ownership.paused = true;
                self.volumes.end_move(volume);
            } else if ownership.moving_to() == Some(number as u8) {
                self.volumes.end_move(volume);
                self.resume_volume(now_ns, volume);
            }
        }
        if !self.controllers[number].availability.battery_works() {
            self.lose_contents(number, |line| !line.mirrored);
        }
        if let Some(partner) = self.controllers.partner(number) {
            self.lose_copies(now_ns, partner);
            if self.controllers[partner].availability.works() {
                self.schedule_takeover(now_ns, number);
            }
        }
    }

    /// Lets the partner of a failed controller take over once the time for that has passed.
    fn schedule_takeover(&mut self, now_ns: u64, failed: usize) {
        let generation = self.controllers[failed].availability.generation();
        let due_ns = now_ns + self.rules.failover.takeover_ns;
        self.events
            .schedule(due_ns, Event::Takeover(failed as u8, generation));
    }

    /// The copies that a controller's failed partner held are gone.
    fn lose_copies(&mut self, now_ns: u64, number: usize) {
        let controller = &mut self.controllers[number];
        controller.cache.set_mirrored(false);
        if !controller.availability.works() {
            // Both are down; without a battery nothing is left of what only copies kept.
            if !controller.availability.battery_works() {
                self.lose_contents(number, |_| true);
            }
            return;
        }
        self.wake_writers(now_ns, number);
        self.destage(now_ns, number);
    }

    /// A request was with a failed controller, or its answer would leave by it.
    fn lose_path(&mut self, now_ns: u64, id: u32, failed: usize) {
        let request = &mut self.requests[id];
        let route = &mut request.route;
        if route.stage.is_at_host() {
            return;
        }
        if usize::from(route.at) != failed {
            if usize::from(route.controller) == failed {
                route.path_lost_ns = Some(now_ns);
            }
            return;
        }
        if route.stage == Stage::Mirroring {
            let server = usize::from(request.service.server);
            self.controllers[server].cache.unreserve(request.extent);
        }
        self.stop_serving(now_ns, id);
        self.requests.invalidate(id);
        let request = &mut self.requests[id];
        request.service.open = 0;
        request.result = None;
        if request.operation != HostOperation::Write {
            request.payload = P::default();
        }
        let resend_ns = now_ns + self.rules.failover.path_switch_ns;
        self.enter(id, Stage::Resending, now_ns, failed, resend_ns);
    }

    /// Everything that a controller had at the back end has ended: what waited for that happens.
    pub(super) fn back_end_is_quiet(&mut self, now_ns: u64, number: usize) {
        let availability = &self.controllers[number].availability;
        if availability.is_returning() {
            self.return_to_service(now_ns, number);
        } else if availability.is_takeover_due() {
            self.take_over(now_ns, number);
        }
    }

    /// The time has come for the partner of a failed controller to take its volumes over.
    pub(super) fn takeover(&mut self, now_ns: u64, number: usize, generation: u32) {
        let failed = &mut self.controllers[number];
        if failed.availability.allow_takeover(generation) && failed.load.operations() == 0 {
            self.back_end_is_quiet(now_ns, number);
        }
    }

    fn take_over(&mut self, now_ns: u64, failed: usize) {
        self.controllers[failed].availability.end_takeover();
        let partner = 1 - failed;
        if !self.controllers[partner].availability.serves() {
            return;
        }
        let kind = IncidentKind::ControllerTookOver(partner as u32);
        self.log.add(now_ns, kind);
        // The partner goes on with what it has copies of.
        self.lose_contents(failed, |line| !line.mirrored);
        let (from, to) = self.controllers.pair(failed, partner);
        from.cache.hand_over(now_ns, &mut to.cache, |volume| {
            self.volumes[volume].policy.lines_per_unit
        });
        for number in self.volumes.numbers() {
            let volume = &mut self.volumes[number];
            if volume.owner() == failed {
                volume.ownership.owner = partner as u8;
                self.storage.fail_over(volume.pool);
                self.resume_volume(now_ns, number);
            }
        }
        self.destage(now_ns, partner);
    }

    /// Loses the dirty lines of a cache that `is_gone` names.
    fn lose_contents(&mut self, number: usize, is_gone: impl Fn(&Line<P>) -> bool) {
        let lost_before = self.lost.ever_lost();
        let cache = &mut self.controllers[number].cache;
        cache.lose(is_gone, |extent| self.lost.insert(extent));
        let lost = self.lost.ever_lost() - lost_before;
        if lost > 0 {
            self.log.add(self.now_ns, IncidentKind::DataLost(lost));
        }
    }

    pub(super) fn restore_controller(&mut self, now_ns: u64, number: usize) {
        let controller = &mut self.controllers[number];
        if controller.availability.works() {
            return;
        }
        controller.availability.restore();
        if controller.load.operations() == 0 {
            self.back_end_is_quiet(now_ns, number);
        }
    }

    /// A controller that works again has nothing left from before its failure: it serves.
    fn return_to_service(&mut self, now_ns: u64, number: usize) {
        let kind = IncidentKind::ControllerReturned(number as u32);
        self.log.add(now_ns, kind);
        let controller = &mut self.controllers[number];
        controller.availability.return_to_service();
        controller.cache.drop_clean();
        for index in self.volumes.numbers() {
            let volume = &self.volumes[index];
            let ownership = &volume.ownership;
            if volume.owner() == number {
                self.storage.fail_over(volume.pool);
                self.resume_volume(now_ns, index);
            } else if self.rules.failover.fail_back
                && usize::from(ownership.preferred_owner) == number
                && ownership.moving_to().is_none()
            {
                self.volumes.begin_move(index, number as u8);
            }
        }
        if let Some(partner) = self.controllers.partner(number) {
            if self.controllers[partner].availability.works() {
                self.mirror_again(now_ns, partner);
                self.mirror_again(now_ns, number);
                self.wake_writers(now_ns, partner);
            } else {
                self.schedule_takeover(now_ns, partner);
            }
            self.destage(now_ns, partner);
        }
        self.destage(now_ns, number);
        self.retry_without_path(now_ns);
    }

    /// Copies to a partner that is back what it has no copy of.
    fn mirror_again(&mut self, now_ns: u64, from: usize) {
        let partner_generation = self.controllers[1 - from].availability.generation();
        let controller = &self.controllers[from];
        let lines = controller.cache.unwritten_lines();
        let mut copies = controller.copies.iter();
        let under_way = copies.any(|each| each.partner_generation == partner_generation);
        if !self.rules.cache.mirrors || lines == 0 || under_way {
            return;
        }
        let sectors = lines * u64::from(self.rules.cache.line_sectors);
        let sectors = sectors.min(u64::from(u32::MAX)) as u32;
        let crossed_ns = self.controllers.send_over_link(now_ns, from, sectors);
        let controller = &mut self.controllers[from];
        controller.copies.push_back(Copies {
            since_ns: now_ns,
            partner_generation,
        });
        let generation = controller.availability.generation();
        self.events
            .schedule(crossed_ns, Event::Copied(from as u8, generation));
    }

    /// The copies that a controller of that generation sent have crossed the link: the partner has
    /// everything again, unless it has failed meanwhile.
    pub(super) fn copied(&mut self, now_ns: u64, from: usize, generation: u32) {
        let partner_generation = self.controllers[1 - from].availability.generation();
        let controller = &mut self.controllers[from];
        if controller.availability.generation() != generation {
            return;
        }
        let Some(copies) = controller.copies.pop_front() else {
            return;
        };
        controller.link.leave(now_ns, copies.since_ns);
        if partner_generation == copies.partner_generation {
            controller.cache.set_mirrored(true);
        }
    }

    /// Hosts that had no path try again.
    fn retry_without_path(&mut self, now_ns: u64) {
        for id in self.requests.ids() {
            if self.requests[id].route.stage == Stage::NoPath {
                self.requests.invalidate(id);
                self.send(now_ns, id);
            }
        }
    }

    /// A volume has an owner that serves it: the requests that waited go on.
    fn resume_volume(&mut self, now_ns: u64, volume: u16) {
        let ownership = &mut self.volumes[volume].ownership;
        ownership.paused = false;
        let waiting: Vec<Ticket> = ownership.waiting.drain(..).collect();
        for ticket in waiting {
            if let Some(id) = self.current(ticket) {
                self.reach_volume(now_ns, id);
            }
        }
    }

    /// A volume returns to its preferred owner, as far as that is possible now: first everything
    /// dirty goes to disk, then nobody may use it, then it has its new owner.
    pub(super) fn continue_move(&mut self, now_ns: u64, number: u16) {
        let volume = &mut self.volumes[number];
        let Some(target) = volume.ownership.moving_to() else {
            return;
        };
        let owner = volume.owner();
        if self.controllers[owner].cache.has_unwritten_of(number) {
            self.destage(now_ns, owner);
            return;
        }
        volume.ownership.paused = true;
        if volume.requests > 0 || volume.operations > 0 {
            return;
        }
        self.controllers[owner].cache.purge(number);
        volume.ownership.owner = target;
        self.storage.fail_over(volume.pool);
        self.volumes.end_move(number);
        self.resume_volume(now_ns, number);
    }
}
