//! Host requests inside the array: the stations they pass on their way in and out.

use crate::cache::key_of;
use crate::controller::Ticket;
use crate::host::{HostCompletion, HostError, HostOperation, VolumeId};
use crate::payload::Payload;
use crate::settings::HostPaths;

use super::{Array, Event};

/// Where a request is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nowhere: the entry is not in use.
    #[default]
    Free,
    /// On the inbound lane of a port.
    Arriving,
    /// At the processor of a controller that does not own the volume.
    Forwarding,
    /// On the link to the owner.
    Crossing,
    /// At the door of a volume that nobody serves for the moment.
    Waiting,
    /// At the owner's processor.
    Serving,
    /// At the owner's processor once more: the cache does not hold what is asked for.
    Missing,
    /// In the cache or at the back end.
    Working,
    /// On the link to the owner's partner: a write that is mirrored.
    Mirroring,
    /// On the link back from the owner.
    Returning,
    /// On the outbound lane of a port.
    Sending,
    /// At the host, which sends it again when its time has come.
    Resending,
    /// At the host, which has no path to the array.
    Homeless,
    /// At the host: the array cannot take it.
    Refused,
}

/// A host request.
#[derive(Debug)]
pub(super) struct Flight<P> {
    pub tag: u64,
    pub volume: u16,
    pub operation: HostOperation,
    pub first_sector: u64,
    pub sectors: u32,
    pub payload: P,
    pub submitted_ns: u64,
    pub epoch: u32,
    pub stage: Stage,
    /// When it entered the station it is at.
    pub entered_ns: u64,
    /// The controller and port it came by.
    pub controller: u8,
    pub port: u8,
    /// The controller it is at now.
    pub at: u8,
    /// The controller that works on it, once one does.
    pub server: u8,
    /// Whether the server works on it.
    pub active: bool,
    /// Parts of it that are still to come from or go to the back end.
    pub open: u32,
    pub result: Option<HostError>,
    /// Whether a read found everything in the cache.
    pub missed: bool,
    /// Whether it continues a run of addresses.
    pub sequential: bool,
    /// When the path it came by broke, if it did: its answer will not arrive.
    pub path_lost_ns: Option<u64>,
    /// The partner's life when a mirrored write set out.
    pub mirror_life: u32,
    /// Where the first line was that is reserved for it.
    pub first_slot: u32,
}

/// A request that has arrived and is not served yet. Main memory takes about as long as an event,
/// and the event before the arrival may have been the submission.
#[derive(Debug, Clone, Copy)]
pub(super) struct Foreseen {
    volume: u16,
    first_sector: u64,
    /// Events to let pass before what was asked for at the submission is looked at.
    events: u8,
}

impl<P: Default> Default for Flight<P> {
    fn default() -> Self {
        Self {
            tag: 0,
            volume: 0,
            operation: HostOperation::Flush,
            first_sector: 0,
            sectors: 0,
            payload: P::default(),
            submitted_ns: 0,
            epoch: 0,
            stage: Stage::Free,
            entered_ns: 0,
            controller: 0,
            port: 0,
            at: 0,
            server: 0,
            active: false,
            open: 0,
            result: None,
            missed: false,
            sequential: false,
            path_lost_ns: None,
            mirror_life: 0,
            first_slot: 0,
        }
    }
}

impl<P: Payload> Array<P> {
    #[inline]
    pub(super) fn ticket(&self, id: u32) -> Ticket {
        Ticket {
            id,
            epoch: self.flights[id].epoch,
        }
    }

    /// Whether the request a ticket was written for is still the same.
    #[inline]
    pub(super) fn is_current(&self, ticket: Ticket) -> bool {
        self.flights[ticket.id].epoch == ticket.epoch
    }

    #[inline]
    pub(super) fn enter(&mut self, id: u32, stage: Stage, now_ns: u64, at: u8, until_ns: u64) {
        let flight = &mut self.flights[id];
        flight.stage = stage;
        flight.entered_ns = now_ns;
        flight.at = at;
        let ticket = Ticket {
            id,
            epoch: flight.epoch,
        };
        self.calendar.put(until_ns, Event::Step(ticket));
    }

    /// The host sends a request by one of its paths.
    pub(super) fn send(&mut self, now_ns: u64, id: u32) {
        let volume = usize::from(self.flights[id].volume);
        let Some(number) = self.path(volume) else {
            let submitted_ns = self.flights[id].submitted_ns;
            let give_up_ns = (submitted_ns + self.times.give_up_ns).max(now_ns);
            self.enter(id, Stage::Homeless, now_ns, 0, give_up_ns);
            return;
        };
        let flight = &self.flights[id];
        let (operation, sectors) = (flight.operation, flight.sectors);
        self.foresee(volume, flight.first_sector);
        let controller = &mut self.controllers[number];
        let port = controller.take_port();
        controller.last_host_ns = now_ns;
        let arrived_ns = controller.ports[port].enter(now_ns, operation, sectors);
        let flight = &mut self.flights[id];
        flight.controller = number as u8;
        flight.port = port as u8;
        flight.path_lost_ns = None;
        self.enter(id, Stage::Arriving, now_ns, number as u8, arrived_ns);
    }

    /// Has the processor fetch what a request will be looked up in by the time it is served.
    #[inline]
    fn foresee(&self, volume: usize, first_sector: u64) {
        let owner = usize::from(self.volumes[volume].owner);
        let line = first_sector >> self.line_sectors.trailing_zeros();
        let cache = &self.controllers[owner].cache;
        cache.foresee(key_of(volume as u16, line));
        let pool = usize::from(self.volumes[volume].pool);
        self.pools[pool].foresee(VolumeId(volume as u16), first_sector);
    }

    /// Called at every event: looks ahead for the request that arrived last when its time has come.
    #[inline]
    pub(super) fn look_ahead(&mut self) {
        if let Some(foreseen) = &mut self.foreseen {
            if foreseen.events > 0 {
                foreseen.events -= 1;
                return;
            }
            let foreseen = *foreseen;
            self.foreseen = None;
            self.ask_ahead(foreseen);
        }
    }

    /// What [`Array::foresee`] has asked for is there by now: has the processor fetch what that
    /// leads to.
    #[inline]
    fn ask_ahead(&self, foreseen: Foreseen) {
        let Foreseen {
            volume: number,
            first_sector,
            ..
        } = foreseen;
        let volume = &self.volumes[usize::from(number)];
        let line = first_sector >> self.line_sectors.trailing_zeros();
        let cache = &self.controllers[usize::from(volume.owner)].cache;
        cache.foresee_line(key_of(number, line));
        self.pools[usize::from(volume.pool)].foresee_slot(VolumeId(number), first_sector);
    }

    /// The controller that hosts send a volume's requests to.
    fn path(&mut self, volume: usize) -> Option<usize> {
        let owner = usize::from(self.volumes[volume].owner);
        let count = self.controllers.len();
        let first = match self.times.host_paths {
            HostPaths::Owner => owner,
            HostPaths::All => {
                self.next_path = (self.next_path + 1) % count;
                self.next_path
            }
        };
        (0..count)
            .map(|step| (first + step) % count)
            .find(|&number| self.controllers[number].works)
    }

    /// What a request was waiting for has come about.
    pub(super) fn step(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let (at, entered_ns) = (usize::from(flight.at), flight.entered_ns);
        match flight.stage {
            Stage::Arriving => {
                let port = usize::from(flight.port);
                self.controllers[at].ports[port]
                    .inbound
                    .leave(now_ns, entered_ns);
                self.arrived(now_ns, id);
            }
            Stage::Forwarding => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                let is_write = flight.operation == HostOperation::Write;
                let sectors = if is_write { flight.sectors } else { 0 };
                let crossed_ns = self.cross(now_ns, at, sectors);
                self.enter(id, Stage::Crossing, now_ns, at as u8, crossed_ns);
            }
            Stage::Crossing => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.knock(now_ns, id);
            }
            Stage::Serving => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                self.serve(now_ns, id);
            }
            Stage::Missing => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                self.flights[id].stage = Stage::Working;
                self.fetch_missing(now_ns, id);
            }
            Stage::Mirroring => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.flights[id].stage = Stage::Working;
                self.mirrored(now_ns, id);
            }
            Stage::Returning => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.answer(now_ns, id);
            }
            Stage::Sending => {
                let port = usize::from(flight.port);
                self.controllers[at].ports[port]
                    .outbound
                    .leave(now_ns, entered_ns);
                self.end(now_ns, id);
            }
            Stage::Resending => self.send(now_ns, id),
            Stage::Homeless => {
                self.flights[id].result = Some(HostError::NoPath);
                self.end(now_ns, id);
            }
            Stage::Refused => self.refuse(now_ns, id),
            Stage::Free | Stage::Waiting | Stage::Working => {
                panic!("nothing is due for a request that waits for others");
            }
        }
    }

    /// Time at which sectors have crossed the link that leads away from a controller.
    pub(super) fn cross(&mut self, now_ns: u64, from: usize, sectors: u32) -> u64 {
        let service_ns = self.times.link_transfer_ns
            + (f64::from(sectors) * self.times.link_ns_per_sector) as u64;
        self.controllers[from].link.enter(now_ns, service_ns)
    }

    /// A request has come in by a port.
    fn arrived(&mut self, now_ns: u64, id: u32) {
        let flight = &self.flights[id];
        let by = usize::from(flight.controller);
        let volume = &self.volumes[usize::from(flight.volume)];
        if usize::from(volume.owner) == by || volume.paused {
            self.knock(now_ns, id);
            return;
        }
        let forwarded_ns = self.controllers[by]
            .processor
            .enter(now_ns, self.times.forward_ns);
        self.enter(id, Stage::Forwarding, now_ns, by as u8, forwarded_ns);
    }

    /// A request asks for its volume.
    pub(super) fn knock(&mut self, now_ns: u64, id: u32) {
        let ticket = self.ticket(id);
        let flight = &mut self.flights[id];
        let number = usize::from(flight.volume);
        let volume = &mut self.volumes[number];
        if volume.paused {
            flight.stage = Stage::Waiting;
            flight.at = flight.controller;
            volume.waiting.push_back(ticket);
            return;
        }
        let owner = usize::from(volume.owner);
        let (operation, first_sector, sectors) =
            (flight.operation, flight.first_sector, flight.sectors);
        if operation != HostOperation::Flush {
            let foreseen = Foreseen {
                volume: number as u16,
                first_sector,
                events: 1,
            };
            if let Some(earlier) = self.foreseen.replace(foreseen) {
                self.ask_ahead(earlier);
            }
        }
        let service_ns = match self.times.service.fast_path_ns {
            Some(fast_ns) if self.takes_fast_path(number, operation, first_sector, sectors) => {
                fast_ns
            }
            _ => self.times.service.of(operation, sectors),
        };
        let mut served_ns = self.controllers[owner].processor.enter(now_ns, service_ns);
        if operation == HostOperation::Write {
            served_ns += self.volumes[number].write_latency_ns;
        }
        self.enter(id, Stage::Serving, now_ns, owner as u8, served_ns);
    }

    /// Whether a RAID card serves a request on its short path.
    #[inline]
    pub(super) fn takes_fast_path(
        &self,
        volume: usize,
        operation: HostOperation,
        first_sector: u64,
        sectors: u32,
    ) -> bool {
        let Some(fast_path) = &self.volumes[volume].fast_path else {
            return false;
        };
        let allowed = match operation {
            HostOperation::Read => true,
            HostOperation::Write => fast_path.writes,
            HostOperation::Flush | HostOperation::Trim => false,
        };
        let strip_sectors = fast_path.strip_sectors;
        let fits = first_sector % strip_sectors + u64::from(sectors) <= strip_sectors;
        allowed && fits && self.is_optimal(fast_path.group)
    }

    /// The owner begins to work on a request.
    fn serve(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        if self.volumes[usize::from(flight.volume)].paused
            || self.volumes[usize::from(flight.volume)].owner != flight.at
        {
            // The volume changes hands: the request follows it.
            self.knock(now_ns, id);
            return;
        }
        flight.server = flight.at;
        flight.active = true;
        flight.stage = Stage::Working;
        let operation = flight.operation;
        self.controllers[usize::from(flight.at)].active += 1;
        self.volumes[usize::from(flight.volume)].active += 1;
        match operation {
            HostOperation::Read => self.read(now_ns, id),
            HostOperation::Write => self.write(now_ns, id),
            HostOperation::Flush => self.flush(now_ns, id),
            HostOperation::Trim => self.trim(now_ns, id),
        }
    }

    /// The owner is done with a request.
    pub(super) fn finish(&mut self, now_ns: u64, id: u32, result: Option<HostError>) {
        let flight = &mut self.flights[id];
        debug_assert!(flight.active && flight.open == 0);
        if result.is_some() {
            flight.result = result;
        }
        let (server, by) = (flight.server, flight.controller);
        let sectors = self.answer_sectors(id);
        self.deactivate(now_ns, id);
        if server != by && self.controllers[usize::from(by)].works {
            let crossed_ns = self.cross(now_ns, usize::from(server), sectors);
            self.enter(id, Stage::Returning, now_ns, server, crossed_ns);
        } else {
            self.answer(now_ns, id);
        }
    }

    /// The server no longer works on a request.
    pub(super) fn deactivate(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        if !flight.active {
            return;
        }
        flight.active = false;
        let volume = usize::from(flight.volume);
        let controller = &mut self.controllers[usize::from(flight.server)];
        controller.active -= 1;
        controller.last_host_ns = now_ns;
        self.volumes[volume].active -= 1;
        if self.volumes[volume].moving_to.is_some() {
            self.moved.push(volume as u16);
        }
    }

    fn answer_sectors(&self, id: u32) -> u32 {
        let flight = &self.flights[id];
        let reads = flight.operation == HostOperation::Read && flight.result.is_none();
        if reads { flight.sectors } else { 0 }
    }

    /// The answer leaves by the port the request came by, if that is still there.
    fn answer(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let by = usize::from(flight.controller);
        if let Some(lost_ns) = flight.path_lost_ns {
            flight.result = None;
            flight.missed = false;
            let resend_ns = (lost_ns + self.times.path_switch_ns).max(now_ns);
            self.enter(id, Stage::Resending, now_ns, by as u8, resend_ns);
            return;
        }
        let port = usize::from(flight.port);
        let sectors = self.answer_sectors(id);
        if sectors == 0 {
            self.end(now_ns, id);
            return;
        }
        let sent_ns = self.controllers[by].ports[port].send(now_ns, sectors);
        self.enter(id, Stage::Sending, now_ns, by as u8, sent_ns);
    }

    /// The host has its answer.
    pub(super) fn end(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        let volume = &mut self.volumes[usize::from(flight.volume)];
        let response_ns = now_ns - flight.submitted_ns;
        volume.counters.inside.leave(now_ns, flight.submitted_ns);
        volume.counters.note(flight, response_ns);
        if flight.operation != HostOperation::Read || flight.result.is_some() {
            flight.payload = P::default();
        }
        self.complete(now_ns, id);
    }

    fn refuse(&mut self, now_ns: u64, id: u32) {
        self.flights[id].payload = P::default();
        self.complete(now_ns, id);
    }

    fn complete(&mut self, now_ns: u64, id: u32) {
        let flight = &mut self.flights[id];
        self.completed.push(HostCompletion {
            tag: flight.tag,
            submitted_ns: flight.submitted_ns,
            completed_ns: now_ns,
            result: flight.result.map_or(Ok(()), Err),
            payload: std::mem::take(&mut flight.payload),
        });
        self.release(id);
    }

    pub(super) fn release(&mut self, id: u32) {
        let flight = &mut self.flights[id];
        flight.epoch = flight.epoch.wrapping_add(1);
        flight.stage = Stage::Free;
        flight.payload = P::default();
        self.flights.release(id);
    }
}
