//! A station of textbook queueing: `servers` equal servers, one queue, first come first served,
//! service times fixed or exponential. For tests and analytic checks.

use std::collections::VecDeque;

use config::{choice, settings, within};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::interface::assert_servable;
use super::interface::capacity;
use super::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};
use crate::BrokenRule;
use crate::broken_rule::Checker;
use crate::event_queue::EventQueue;

choice! {
    /// How service times are distributed.
    pub enum ServiceDistribution {
        /// Every request takes the mean.
        Fixed = "fixed",
        /// Exponential with the mean.
        Exponential = "exponential",
    }
}

settings! {
    /// A station of textbook queueing: equal servers, one queue, first come first served.
    pub struct IdealDescription {
        /// Capacity; whole sectors are used.
        pub capacity_bytes: u64, as capacity();
        /// Average service time, whatever the length of the request.
        pub service_us: f64, as within(0.001..=1e9);
        /// Fixed or exponential service times.
        pub distribution: ServiceDistribution;
        /// Servers that work at the same time.
        pub servers: u32 = 1, as within(1..=65_536);
        /// Requests accepted at once, those in service included.
        pub on_board_queue_depth: u32 = 1 << 16, as within(1..=1 << 20);
    }
}

impl IdealDescription {
    /// Every rule this description breaks; paths start with `prefix`.
    pub fn check(&self, prefix: &str) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, prefix);
        checker.require(
            self.on_board_queue_depth >= self.servers,
            "on_board_queue_depth",
            "The queue holds at least one request per server.",
        );
        checker.finish()
    }
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    request: DiskRequest,
    submitted_ns: u64,
}

#[derive(Debug, Clone, Copy)]
struct InService {
    waiting: Waiting,
    started_ns: u64,
}

/// The textbook station. See the module.
#[derive(Debug, Clone)]
pub struct IdealDisk {
    capacity_sectors: u64,
    service_ns: f64,
    distribution: ServiceDistribution,
    on_board_queue_depth: usize,
    random: Xoshiro256PlusPlus,
    waiting: VecDeque<Waiting>,
    in_service: Vec<InService>,
    free_slots: Vec<u32>,
    finishes: EventQueue<u32>,
    counters: DiskCounters,
}

impl IdealDisk {
    /// The station of a description that [`IdealDescription::check`] finds nothing wrong with.
    pub(crate) fn new(description: &IdealDescription, seed: u64) -> Self {
        let nothing = Waiting {
            request: DiskRequest {
                tag: 0,
                direction: crate::Direction::Read,
                first_sector: 0,
                sectors: 0,
            },
            submitted_ns: 0,
        };
        Self {
            capacity_sectors: description.capacity_bytes / crate::SECTOR_BYTES,
            service_ns: description.service_us * 1e3,
            distribution: description.distribution,
            on_board_queue_depth: description.on_board_queue_depth as usize,
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            waiting: VecDeque::new(),
            in_service: vec![
                InService {
                    waiting: nothing,
                    started_ns: 0
                };
                description.servers as usize
            ],
            free_slots: (0..description.servers).rev().collect(),
            finishes: EventQueue::new(0),
            counters: DiskCounters::default(),
        }
    }

    /// An unused station of the same make.
    pub(crate) fn another(&self, seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            waiting: VecDeque::new(),
            free_slots: (0..self.in_service.len() as u32).rev().collect(),
            finishes: EventQueue::new(0),
            counters: DiskCounters::default(),
            ..self.clone()
        }
    }

    fn draw_service_ns(&mut self) -> u64 {
        match self.distribution {
            ServiceDistribution::Fixed => self.service_ns.round() as u64,
            ServiceDistribution::Exponential => {
                let uniform: f64 = self.random.random();
                (-(1.0 - uniform).ln() * self.service_ns).round() as u64
            }
        }
    }

    fn start(&mut self, now_ns: u64, waiting: Waiting, slot: u32) {
        let finish_ns = now_ns + self.draw_service_ns();
        self.in_service[slot as usize] = InService {
            waiting,
            started_ns: now_ns,
        };
        self.finishes.schedule(finish_ns, slot);
    }
}

impl Disk for IdealDisk {
    fn capacity_sectors(&self) -> u64 {
        self.capacity_sectors
    }

    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_servable(self, &request);
        self.counters.arrive(now_ns);
        let waiting = Waiting {
            request,
            submitted_ns: now_ns,
        };
        match self.free_slots.pop() {
            Some(slot) => self.start(now_ns, waiting, slot),
            None => self.waiting.push_back(waiting),
        }
    }

    fn next_completion_ns(&self) -> Option<u64> {
        self.finishes.next_ns()
    }

    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        let finish = self.finishes.pop_event();
        let Some((_, slot)) = finish.filter(|&(finish_ns, _)| finish_ns == now_ns) else {
            panic!("no request of this disk completes at {now_ns} ns");
        };
        let InService {
            waiting: Waiting {
                request,
                submitted_ns,
            },
            started_ns,
        } = self.in_service[slot as usize];
        let parts = ServiceParts {
            transfer_ns: now_ns - started_ns,
            ..ServiceParts::default()
        };
        self.counters
            .leave(now_ns, submitted_ns, started_ns, &request, parts);
        match self.waiting.pop_front() {
            Some(next) => self.start(now_ns, next, slot),
            None => self.free_slots.push(slot),
        }
        DiskCompletion {
            tag: request.tag,
            started_ns,
        }
    }

    fn queued(&self) -> usize {
        self.counters.inside as usize
    }

    fn on_board_queue_depth(&self) -> usize {
        self.on_board_queue_depth
    }

    fn counters(&self) -> &DiskCounters {
        &self.counters
    }
}
