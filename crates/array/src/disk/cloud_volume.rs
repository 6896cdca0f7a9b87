//! A volume of a cloud provider: storage behind a network, whose rates are limited by contract.
//!
//! Any number of requests are served side by side, each in a time drawn from a distribution. Before
//! that each waits for its turn in two budgets, one of requests and one of bytes per second
//! ([`budget`]). Which limit holds, how credits for bursts are earned, and how requests are counted is
//! what providers document; how long a request takes is not.

mod budget;
mod description;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use rand::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

pub use description::CloudVolumeDescription;

use super::interface::assert_servable;
use super::lognormal::LognormalFactors;
use super::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};
use crate::event_queue::EventQueue;
use crate::{Direction, SECTOR_BYTES};
use budget::Budget;

#[derive(Debug, Clone, Copy)]
struct InService {
    request: DiskRequest,
    submitted_ns: u64,
    started_ns: u64,
    parts: ServiceParts,
}

/// A cloud volume. See the module.
#[derive(Debug, Clone)]
pub struct CloudVolume {
    description: Arc<CloudVolumeDescription>,
    factors: LognormalFactors,
    random: Xoshiro256PlusPlus,
    requests: Budget,
    bytes: Budget,
    in_service: Vec<InService>,
    free_slots: Vec<u32>,
    finishes: EventQueue<u32>,
    counters: DiskCounters,
}

impl CloudVolume {
    /// The volume of a description that [`CloudVolumeDescription::check`] finds nothing wrong with.
    pub(crate) fn new(description: &CloudVolumeDescription, seed: u64) -> Self {
        let factors = LognormalFactors::new(description.latency_variation);
        Self::unused(Arc::new(description.clone()), factors, seed)
    }

    /// An unused volume of the same kind.
    pub(crate) fn another(&self, seed: u64) -> Self {
        Self::unused(Arc::clone(&self.description), self.factors.clone(), seed)
    }

    fn unused(
        description: Arc<CloudVolumeDescription>,
        factors: LognormalFactors,
        seed: u64,
    ) -> Self {
        Self {
            requests: description.request_budget(),
            bytes: description.byte_budget(),
            factors,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            in_service: Vec::new(),
            free_slots: Vec::new(),
            finishes: EventQueue::new(0),
            counters: DiskCounters::default(),
            description,
        }
    }

    /// When the budgets let a request of so many bytes begin.
    fn allowed_ns(&mut self, now_ns: u64, bytes: u64) -> u64 {
        let counted = bytes.div_ceil(self.description.counted_bytes());
        let by_requests_ns = self.requests.take(now_ns as f64, counted as f64);
        let by_bytes_ns = self.bytes.take(now_ns as f64, bytes as f64);
        (by_requests_ns.max(by_bytes_ns) as u64).max(now_ns)
    }

    /// How long a request takes once it has begun.
    fn parts(&mut self, direction: Direction, bytes: u64) -> ServiceParts {
        let mean_us = match direction {
            Direction::Read => self.description.read_latency_us,
            Direction::Write => self.description.write_latency_us,
        };
        let factor = self.factors.draw(self.random.next_u64());
        ServiceParts {
            overhead_ns: (mean_us * 1e3 * factor) as u64,
            transfer_ns: (bytes as f64 * 1e3 / self.description.network_mb_per_s) as u64,
            ..ServiceParts::default()
        }
    }
}

impl Disk for CloudVolume {
    fn capacity_sectors(&self) -> u64 {
        self.description.capacity_bytes / SECTOR_BYTES
    }

    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_servable(self, &request);
        self.counters.arrive(now_ns);
        let bytes = u64::from(request.sectors) * SECTOR_BYTES;
        let started_ns = self.allowed_ns(now_ns, bytes);
        let parts = self.parts(request.direction, bytes);
        let service = InService {
            request,
            submitted_ns: now_ns,
            started_ns,
            parts,
        };
        let slot = self.free_slots.pop().unwrap_or_else(|| {
            self.in_service.push(service);
            (self.in_service.len() - 1) as u32
        });
        self.in_service[slot as usize] = service;
        self.finishes.schedule(started_ns + parts.total_ns(), slot);
    }

    fn next_completion_ns(&self) -> Option<u64> {
        self.finishes.next_ns()
    }

    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        let finish = self.finishes.pop_event();
        let Some((_, slot)) = finish.filter(|&(finish_ns, _)| finish_ns == now_ns) else {
            panic!("no request of this volume completes at {now_ns} ns");
        };
        let InService {
            request,
            submitted_ns,
            started_ns,
            parts,
        } = self.in_service[slot as usize];
        self.free_slots.push(slot);
        self.counters
            .leave(now_ns, submitted_ns, started_ns, &request, parts);
        DiskCompletion {
            tag: request.tag,
            started_ns,
        }
    }

    fn queued(&self) -> usize {
        self.counters.inside as usize
    }

    fn on_board_queue_depth(&self) -> usize {
        self.description.on_board_queue_depth as usize
    }

    fn counters(&self) -> &DiskCounters {
        &self.counters
    }
}
