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

use super::in_service::{InService, Service};
use super::interface::assert_servable;
use super::lognormal::LognormalFactors;
use super::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};
use crate::{Direction, SECTOR_BYTES};
use budget::Budget;

/// A cloud volume. See the module.
#[derive(Debug, Clone)]
pub struct CloudVolume {
    description: Arc<CloudVolumeDescription>,
    factors: LognormalFactors,
    random: Xoshiro256PlusPlus,
    requests: Budget,
    bytes: Budget,
    in_service: InService,
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
            in_service: InService::new(),
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

    /// Has no credits for bursts left.
    pub(crate) fn spend_credits(&mut self, now_ns: u64) {
        self.requests.spend(now_ns as f64);
        self.bytes.spend(now_ns as f64);
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
        let service = Service {
            request,
            submitted_ns: now_ns,
            started_ns,
            parts,
        };
        let finish_ns = started_ns + parts.total_ns();
        self.in_service.begin(finish_ns, service);
    }

    fn next_completion_ns(&self) -> Option<u64> {
        self.in_service.next_end_ns()
    }

    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        self.in_service.end(now_ns, &mut self.counters)
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
