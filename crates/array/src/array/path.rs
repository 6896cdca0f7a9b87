//! The path of a host request: ports, CPUs and the link on its way in and out.

use crate::controller::Ticket;
use crate::host::{HostError, HostOperation};
use crate::io::VolumeExtent;
use crate::payload::Payload;

use super::requests::Stage;
use super::{Array, Event};

impl<P: Payload> Array<P> {
    /// Puts a request into a station that it leaves at `until_ns`.
    #[inline]
    pub(super) fn enter(&mut self, id: u32, stage: Stage, now_ns: u64, at: usize, until_ns: u64) {
        let route = &mut self.requests[id].route;
        route.stage = stage;
        route.entered_ns = now_ns;
        route.at = at as u8;
        let ticket = self.requests.ticket(id);
        self.events.schedule(until_ns, Event::Step(ticket));
    }

    /// The host sends a request by one of its paths.
    pub(super) fn send(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let (operation, extent) = (request.operation, request.extent);
        let owner = self.volumes[extent.volume].owner();
        let Some(number) = self.controllers.next_path(owner) else {
            let give_up_ns = request.submitted_ns + self.rules.failover.give_up_ns;
            self.enter(id, Stage::NoPath, now_ns, 0, give_up_ns.max(now_ns));
            return;
        };
        self.prefetch(extent);
        let controller = &mut self.controllers[number];
        let port = controller.take_port();
        controller.load.note_arrival(now_ns);
        let arrived_ns = controller.ports[port].enter(now_ns, operation, extent.sectors);
        let route = &mut self.requests[id].route;
        route.controller = number as u8;
        route.port = port as u8;
        route.path_lost_ns = None;
        self.enter(id, Stage::Arriving, now_ns, number, arrived_ns);
    }

    /// A request leaves the station it is at.
    pub(super) fn step(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let (operation, sectors) = (request.operation, request.extent.sectors);
        let route = request.route;
        let (at, port) = (usize::from(route.at), usize::from(route.port));
        let entered_ns = route.entered_ns;
        match route.stage {
            Stage::Arriving => {
                let port = &mut self.controllers[at].ports[port];
                port.inbound.leave(now_ns, entered_ns);
                self.arrived(now_ns, id);
            }
            Stage::Forwarding => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                let is_write = operation == HostOperation::Write;
                let carried = if is_write { sectors } else { 0 };
                let crossed_ns = self.controllers.send_over_link(now_ns, at, carried);
                self.enter(id, Stage::Crossing, now_ns, at, crossed_ns);
            }
            Stage::Crossing => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.reach_volume(now_ns, id);
            }
            Stage::Serving => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                self.serve(now_ns, id);
            }
            Stage::Missing => {
                self.controllers[at].processor.leave(now_ns, entered_ns);
                self.requests[id].route.stage = Stage::Working;
                self.fetch_missing(now_ns, id);
            }
            Stage::Mirroring => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.requests[id].route.stage = Stage::Working;
                self.mirrored(now_ns, id);
            }
            Stage::Returning => {
                self.controllers[at].link.leave(now_ns, entered_ns);
                self.answer(now_ns, id);
            }
            Stage::Sending => {
                let port = &mut self.controllers[at].ports[port];
                port.outbound.leave(now_ns, entered_ns);
                self.end(now_ns, id);
            }
            Stage::Resending => self.send(now_ns, id),
            Stage::NoPath => {
                self.requests[id].result = Some(HostError::NoPath);
                self.end(now_ns, id);
            }
            Stage::Refused => {
                self.requests[id].payload = P::default();
                self.requests.complete(now_ns, id);
            }
            Stage::Free | Stage::Waiting | Stage::Working => {
                unreachable!("nothing is due for a request that waits for others");
            }
        }
    }

    /// A request has come in by a port.
    fn arrived(&mut self, now_ns: u64, id: u32) {
        let request = &self.requests[id];
        let by = usize::from(request.route.controller);
        let volume = &self.volumes[request.extent.volume];
        if volume.owner() == by || volume.ownership.paused {
            self.reach_volume(now_ns, id);
            return;
        }
        let processor = &mut self.controllers[by].processor;
        let forwarded_ns = processor.enter(now_ns, self.rules.forward_ns);
        self.enter(id, Stage::Forwarding, now_ns, by, forwarded_ns);
    }

    /// A request has reached the owner of its volume, or waits until there is one.
    pub(super) fn reach_volume(&mut self, now_ns: u64, id: u32) {
        let ticket = self.requests.ticket(id);
        let request = &mut self.requests[id];
        let (operation, extent) = (request.operation, request.extent);
        let volume = &mut self.volumes[extent.volume];
        if volume.ownership.paused {
            request.route.stage = Stage::Waiting;
            request.route.at = request.route.controller;
            volume.ownership.waiting.push_back(ticket);
            return;
        }
        let owner = volume.owner();
        let write_latency_ns = volume.policy.write_latency_ns;
        if operation != HostOperation::Flush {
            self.note_arrival(extent);
        }
        let service_ns = match self.rules.service.fast_path_ns {
            Some(fast_ns) if self.takes_fast_path(operation, extent) => fast_ns,
            _ => self.rules.service.of(operation, extent.sectors),
        };
        let processor = &mut self.controllers[owner].processor;
        let mut served_ns = processor.enter(now_ns, service_ns);
        if operation == HostOperation::Write {
            served_ns += write_latency_ns;
        }
        self.enter(id, Stage::Serving, now_ns, owner, served_ns);
    }

    /// Whether a RAID card serves a request on its short path.
    #[inline]
    pub(super) fn takes_fast_path(&self, operation: HostOperation, extent: VolumeExtent) -> bool {
        let fast_path = &self.volumes[extent.volume].policy.fast_path;
        fast_path.is_some_and(|fast_path| {
            fast_path.admits(operation, extent) && self.storage.is_healthy(fast_path.group)
        })
    }

    /// The owner begins to work on a request.
    fn serve(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        let (operation, at) = (request.operation, request.route.at);
        let volume = &mut self.volumes[request.extent.volume];
        if volume.ownership.paused || volume.ownership.owner != at {
            // The volume moves to another controller: the request follows it.
            self.reach_volume(now_ns, id);
            return;
        }
        request.service.server = at;
        request.service.active = true;
        request.route.stage = Stage::Working;
        volume.requests += 1;
        self.controllers[usize::from(at)].load.begin_request();
        match operation {
            HostOperation::Read => self.read(now_ns, id),
            HostOperation::Write => self.write(now_ns, id),
            HostOperation::Flush => self.flush(now_ns, id),
            HostOperation::Trim => self.trim(now_ns, id),
        }
    }

    /// A part of a request has come to its end.
    pub(super) fn part_ended(&mut self, now_ns: u64, id: u32) {
        let service = &mut self.requests[id].service;
        service.open -= 1;
        if service.open == 0 {
            self.finish(now_ns, id, None);
        }
    }

    /// The owner is done with a request.
    pub(super) fn finish(&mut self, now_ns: u64, id: u32, error: Option<HostError>) {
        let request = &mut self.requests[id];
        debug_assert!(request.service.active && request.service.open == 0);
        request.result = error.or(request.result);
        let server = usize::from(request.service.server);
        let by = usize::from(request.route.controller);
        let sectors = request.answer_sectors();
        self.stop_serving(now_ns, id);
        if server != by && self.controllers[by].availability.works() {
            let crossed_ns = self.controllers.send_over_link(now_ns, server, sectors);
            self.enter(id, Stage::Returning, now_ns, server, crossed_ns);
        } else {
            self.answer(now_ns, id);
        }
    }

    /// The server no longer works on a request.
    pub(super) fn stop_serving(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        if !std::mem::take(&mut request.service.active) {
            return;
        }
        let (server, volume) = (usize::from(request.service.server), request.extent.volume);
        self.controllers[server].load.end_request(now_ns);
        self.volumes[volume].requests -= 1;
        self.volumes.note_progress(volume);
    }

    /// The answer leaves by the port the request came by, if that is still there.
    fn answer(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        let route = request.route;
        let by = usize::from(route.controller);
        if let Some(lost_ns) = route.path_lost_ns {
            request.result = None;
            request.service.missed = false;
            let resend_ns = lost_ns + self.rules.failover.path_switch_ns;
            self.enter(id, Stage::Resending, now_ns, by, resend_ns.max(now_ns));
            return;
        }
        let sectors = request.answer_sectors();
        if sectors == 0 {
            self.end(now_ns, id);
            return;
        }
        let port = &mut self.controllers[by].ports[usize::from(route.port)];
        let sent_ns = port.send(now_ns, sectors);
        self.enter(id, Stage::Sending, now_ns, by, sent_ns);
    }

    /// The host has its answer.
    pub(super) fn end(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.requests[id];
        let counting = &mut self.volumes[request.extent.volume].counting;
        counting.inside.leave(now_ns, request.submitted_ns);
        counting.note(request, now_ns - request.submitted_ns);
        if request.operation != HostOperation::Read || request.result.is_some() {
            request.payload = P::default();
        }
        self.requests.complete(now_ns, id);
    }

    /// The request of a ticket, unless it has been sent again or has ended.
    pub(super) fn current(&self, ticket: Ticket) -> Option<u32> {
        self.requests.is_current(ticket).then_some(ticket.id)
    }
}
