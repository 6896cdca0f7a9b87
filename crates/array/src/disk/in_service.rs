//! Requests whose ends are known when they are submitted.

use super::{DiskCompletion, DiskCounters, DiskRequest, ServiceParts};
use crate::event_queue::EventQueue;
use crate::slab::Slab;

/// A request that is being served.
#[derive(Debug, Clone, Copy)]
pub(super) struct Service {
    pub(super) request: DiskRequest,
    pub(super) submitted_ns: u64,
    pub(super) started_ns: u64,
    pub(super) parts: ServiceParts,
}

/// What a disk serves, in the order of the ends; those that end together end in the order they came.
#[derive(Debug, Clone)]
pub(super) struct InService {
    services: Slab<Service>,
    /// The ends, by the numbers of the services.
    finishes: EventQueue<u32>,
}

impl InService {
    pub(super) fn new() -> Self {
        Self {
            services: Slab::new(),
            finishes: EventQueue::new(0),
        }
    }

    /// Takes in a request that ends at `finish_ns`.
    #[inline]
    pub(super) fn begin(&mut self, finish_ns: u64, service: Service) {
        let number = self.services.insert(service);
        self.finishes.schedule(finish_ns, number);
    }

    #[inline]
    pub(super) fn next_end_ns(&self) -> Option<u64> {
        self.finishes.next_ns()
    }

    /// Ends the request that ends now, and counts it.
    ///
    /// # Panics
    ///
    /// If `now_ns` is not what [`InService::next_end_ns`] says.
    #[inline]
    pub(super) fn end(&mut self, now_ns: u64, counters: &mut DiskCounters) -> DiskCompletion {
        let finish = self.finishes.pop_event();
        let Some((_, number)) = finish.filter(|&(finish_ns, _)| finish_ns == now_ns) else {
            panic!("no request of this disk completes at {now_ns} ns");
        };
        let Service {
            request,
            submitted_ns,
            started_ns,
            parts,
        } = self.services[number];
        self.services.release(number);
        counters.leave(now_ns, submitted_ns, started_ns, &request, parts);
        DiskCompletion {
            tag: request.tag,
            started_ns,
        }
    }
}
