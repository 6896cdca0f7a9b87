//! Host requests in flight: what each asks for, where it is, and what is still to come for it.

use std::ops::{Index, IndexMut};

use crate::controller::Ticket;
use crate::host::{HostCompletion, HostError, HostOperation, HostRequest};
use crate::io::VolumeExtent;
use crate::payload::Payload;
use crate::slab::Slab;

/// Where a request is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Stage {
    /// Nowhere: the entry is not in use.
    #[default]
    Free,
    /// On the inbound lane of a port.
    Arriving,
    /// At the CPU of a controller that does not own the volume.
    Forwarding,
    /// On the link to the owner.
    Crossing,
    /// Before a volume that no controller serves for the moment.
    Waiting,
    /// At the owner's CPU.
    Serving,
    /// At the owner's CPU once more: the cache does not hold what is asked for.
    Missing,
    /// In the cache or at the back end.
    Working,
    /// On the link to the owner's failover partner: a write that is mirrored.
    Mirroring,
    /// On the link back from the owner.
    Returning,
    /// On the outbound lane of a port.
    Sending,
    /// At the host, which sends it again when its time has come.
    Resending,
    /// At the host, which has no path to the array.
    NoPath,
    /// At the host: the array cannot take it.
    Refused,
}

impl Stage {
    /// Whether the request is at the host.
    pub fn is_at_host(self) -> bool {
        matches!(
            self,
            Self::Free | Self::Resending | Self::NoPath | Self::Refused
        )
    }
}

/// Where a request is, and the way it came.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Route {
    pub stage: Stage,
    /// When it entered the station it is at.
    pub entered_ns: u64,
    /// The controller and port it came by.
    pub controller: u8,
    pub port: u8,
    /// The controller it is at now.
    pub at: u8,
    /// When the path it came by broke, if it did: its answer will not arrive.
    pub path_lost_ns: Option<u64>,
}

/// What the controller that serves a request does for it.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Service {
    /// Number of that controller.
    pub server: u8,
    /// Whether it works on the request.
    pub active: bool,
    /// Parts that are still to come from or go to the back end.
    pub open: u32,
    /// Whether a read did not find everything in the cache.
    pub missed: bool,
    /// Whether it continues a run of addresses.
    pub sequential: bool,
    /// The generation of the failover partner when a mirrored write was sent to it.
    pub partner_generation: u32,
    /// Where the first cache line was that is reserved for it.
    pub first_slot: u32,
}

/// A host request from its arrival to its completion.
#[derive(Debug)]
pub(super) struct Request<P> {
    pub tag: u64,
    pub operation: HostOperation,
    pub extent: VolumeExtent,
    pub payload: P,
    pub submitted_ns: u64,
    pub route: Route,
    pub service: Service,
    pub result: Option<HostError>,
    /// Changes when what was begun for the request is void.
    epoch: u32,
}

impl<P: Default> Default for Request<P> {
    fn default() -> Self {
        Self {
            tag: 0,
            operation: HostOperation::Flush,
            extent: VolumeExtent {
                volume: 0,
                first_sector: 0,
                sectors: 0,
            },
            payload: P::default(),
            submitted_ns: 0,
            route: Route::default(),
            service: Service::default(),
            result: None,
            epoch: 0,
        }
    }
}

impl<P> Request<P> {
    /// Whether it has not ended.
    pub fn is_in_use(&self) -> bool {
        self.route.stage != Stage::Free
    }

    /// Sectors that the answer carries to the host.
    pub fn answer_sectors(&self) -> u32 {
        let reads = self.operation == HostOperation::Read && self.result.is_none();
        if reads { self.extent.sectors } else { 0 }
    }
}

/// All host requests in flight, indexed by their number, and the completions nobody has fetched.
#[derive(Debug)]
pub(super) struct Requests<P> {
    entries: Slab<Request<P>>,
    completed: Vec<HostCompletion<P>>,
}

impl<P> Index<u32> for Requests<P> {
    type Output = Request<P>;

    #[inline]
    fn index(&self, id: u32) -> &Request<P> {
        &self.entries[id]
    }
}

impl<P> IndexMut<u32> for Requests<P> {
    #[inline]
    fn index_mut(&mut self, id: u32) -> &mut Request<P> {
        &mut self.entries[id]
    }
}

impl<P: Payload> Requests<P> {
    pub fn new() -> Self {
        Self {
            entries: Slab::new(),
            completed: Vec::new(),
        }
    }

    /// Takes a request in, and gives its number.
    pub fn begin(&mut self, now_ns: u64, request: HostRequest<P>) -> u32 {
        let id = self.entries.take();
        let epoch = self.entries[id].epoch;
        debug_assert_eq!(self.entries[id].route.stage, Stage::Free);
        self.entries[id] = Request {
            tag: request.tag,
            operation: request.operation,
            extent: VolumeExtent {
                volume: request.volume.0,
                first_sector: request.first_sector,
                sectors: request.sectors,
            },
            payload: request.payload,
            submitted_ns: now_ns,
            epoch,
            ..Request::default()
        };
        id
    }

    /// Numbers given out so far, those of requests that have ended included.
    pub fn ids(&self) -> std::ops::Range<u32> {
        0..self.entries.len()
    }

    /// A request as it is now.
    #[inline]
    pub fn ticket(&self, id: u32) -> Ticket {
        Ticket {
            id,
            epoch: self.entries[id].epoch,
        }
    }

    /// Whether the request a ticket was made of is still the same.
    #[inline]
    pub fn is_current(&self, ticket: Ticket) -> bool {
        self.entries[ticket.id].epoch == ticket.epoch
    }

    /// Makes every ticket of a request void.
    pub fn invalidate(&mut self, id: u32) {
        let request = &mut self.entries[id];
        request.epoch = request.epoch.wrapping_add(1);
    }

    /// The host has the answer to a request, as its result and payload say.
    pub fn complete(&mut self, now_ns: u64, id: u32) {
        let request = &mut self.entries[id];
        debug_assert!(request.route.stage != Stage::Free, "a request ends once");
        debug_assert!(!request.service.active, "no controller works on it");
        self.completed.push(HostCompletion {
            tag: request.tag,
            submitted_ns: request.submitted_ns,
            completed_ns: now_ns,
            result: request.result.map_or(Ok(()), Err),
            payload: std::mem::take(&mut request.payload),
        });
        request.route.stage = Stage::Free;
        self.invalidate(id);
        self.entries.release(id);
    }

    /// Whether there are completions nobody has fetched.
    #[inline]
    pub fn has_completed(&self) -> bool {
        !self.completed.is_empty()
    }

    /// Moves all completions to `completed`.
    pub fn take_completed(&mut self, completed: &mut Vec<HostCompletion<P>>) {
        completed.append(&mut self.completed);
    }

    pub fn in_flight(&self) -> usize {
        self.entries.in_use()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::VolumeId;

    #[test]
    fn tickets_are_void_once_a_request_is_sent_again_or_ends() {
        let mut requests = Requests::<()>::new();
        let read = HostRequest {
            tag: 5,
            volume: VolumeId(1),
            operation: HostOperation::Read,
            first_sector: 8,
            sectors: 2,
            payload: (),
        };
        let id = requests.begin(10, read.clone());
        requests[id].route.stage = Stage::Arriving;
        let first = requests.ticket(id);
        assert!(requests.is_current(first));
        requests.invalidate(id);
        assert!(!requests.is_current(first));
        let second = requests.ticket(id);
        requests.complete(30, id);
        assert!(!requests.is_current(second));
        assert_eq!(requests.in_flight(), 0);
        let mut completed = Vec::new();
        requests.take_completed(&mut completed);
        assert_eq!((completed[0].tag, completed[0].completed_ns), (5, 30));
        assert!(!requests.has_completed());
        let again = requests.begin(40, read);
        assert_eq!(again, id, "numbers are used again");
        assert!(!requests.is_current(second));
    }
}
