//! A station of textbook queueing: `servers` equal servers, one queue, first come first served,
//! service times fixed or exponential. Tests and analytic checks stand on it.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use serde::Deserialize;

use super::description::check_capacity;
use super::request::assert_servable;
use super::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};
use crate::Complaint;

/// How service times are distributed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ServiceDistribution {
    /// Every request takes the mean.
    Fixed,
    /// Exponential with the mean.
    Exponential,
}

/// What an [`IdealDisk`] is made of.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct IdealDescription {
    /// Capacity, bytes; whole sectors are used.
    pub capacity_bytes: u64,
    /// Mean service time, microseconds, whatever the length of the request.
    pub service_us: f64,
    /// Fixed or exponential service times.
    pub distribution: ServiceDistribution,
    /// Servers that work at the same time.
    #[serde(default = "one")]
    pub servers: u32,
    /// Requests accepted at once, those in service included.
    #[serde(default = "default_on_board_queue_depth")]
    pub on_board_queue_depth: u32,
}

fn one() -> u32 {
    1
}

fn default_on_board_queue_depth() -> u32 {
    1 << 16
}

impl IdealDescription {
    /// Every rule this description breaks; paths start with `prefix`.
    pub fn check(&self, prefix: &str) -> Vec<Complaint> {
        let mut complaints = check_capacity(self.capacity_bytes, prefix);
        let mut complain = |key: &str, message: &str| {
            complaints.push(Complaint::new(format!("{prefix}.{key}"), message));
        };
        if !(0.001..=1e9).contains(&self.service_us) {
            complain(
                "service_us",
                "A service time lies between 0.001 us and 1000 s.",
            );
        }
        if !(1..=65_536).contains(&self.servers) {
            complain("servers", "There are between 1 and 65536 servers.");
        }
        if !(self.servers..=1 << 20).contains(&self.on_board_queue_depth) {
            complain(
                "on_board_queue_depth",
                "The queue holds at least one request per server and at most 1048576.",
            );
        }
        complaints
    }
}

#[derive(Debug, Clone, Copy)]
struct Waiting {
    request: DiskRequest,
    submitted_ns: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Finish {
    finish_ns: u64,
    sequence: u64,
    slot: u32,
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
    finishes: BinaryHeap<Reverse<Finish>>,
    sequence: u64,
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
            finishes: BinaryHeap::with_capacity(description.servers as usize),
            sequence: 0,
            counters: DiskCounters::default(),
        }
    }

    /// An unused station of the same make.
    pub(crate) fn another(&self, seed: u64) -> Self {
        Self {
            random: Xoshiro256PlusPlus::seed_from_u64(seed),
            waiting: VecDeque::new(),
            free_slots: (0..self.in_service.len() as u32).rev().collect(),
            finishes: BinaryHeap::with_capacity(self.in_service.len()),
            sequence: 0,
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
        self.finishes.push(Reverse(Finish {
            finish_ns,
            sequence: self.sequence,
            slot,
        }));
        self.sequence += 1;
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
        self.finishes.peek().map(|Reverse(finish)| finish.finish_ns)
    }

    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        let finish = self.finishes.pop().map(|Reverse(finish)| finish);
        let Some(finish) = finish.filter(|finish| finish.finish_ns == now_ns) else {
            panic!("no request of this disk completes at {now_ns} ns");
        };
        let InService {
            waiting: Waiting {
                request,
                submitted_ns,
            },
            started_ns,
        } = self.in_service[finish.slot as usize];
        let parts = ServiceParts {
            transfer_ns: now_ns - started_ns,
            ..ServiceParts::default()
        };
        self.counters
            .leave(now_ns, submitted_ns, started_ns, &request, parts);
        match self.waiting.pop_front() {
            Some(next) => self.start(now_ns, next, finish.slot),
            None => self.free_slots.push(finish.slot),
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
