//! Controllers: host ports, the CPU that every command passes, ownership of volumes.

mod availability;
mod port;
mod station;
mod waiting;

pub use station::SerialCounters;

pub(crate) use availability::Availability;
pub(crate) use port::Port;
pub(crate) use station::SerialStation;
pub(crate) use waiting::{Destaging, Load, Waiting};

use std::collections::VecDeque;

use crate::cache::DataCache;
use crate::host::HostOperation;
use crate::payload::Payload;
use crate::settings::{CacheSettings, ControllerSettings, ServiceSettings, ns_of_us};

/// A host request by its number, as long as it is the one meant: a request that is sent again over
/// another path gets a new epoch, which voids what was set in motion for the earlier one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ticket {
    pub id: u32,
    pub epoch: u32,
}

/// Copies of everything dirty, on the link to the failover partner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copies {
    pub since_ns: u64,
    /// The partner's [`Availability::generation`] when they were sent.
    pub partner_generation: u32,
}

const SECTORS_PER_MIB: f64 = 2048.0;

/// A controller: the stations that requests pass, its cache, and what it works on.
#[derive(Debug)]
pub(crate) struct Controller<P> {
    pub ports: Vec<Port>,
    pub processor: SerialStation,
    /// The direction of the link that leads to the failover partner.
    pub link: SerialStation,
    pub cache: DataCache<P>,
    pub availability: Availability,
    /// Host requests that wait for something of the cache.
    pub waiting: Waiting,
    /// What it works on.
    pub load: Load,
    pub destaging: Destaging,
    /// The copies of everything dirty that are on their way to a partner that is back, in the order
    /// in which the link carries them.
    pub copies: VecDeque<Copies>,
    next_port: usize,
}

impl<P: Payload> Controller<P> {
    pub fn new(settings: &ControllerSettings, cache: &CacheSettings, volumes: usize) -> Self {
        Self {
            ports: (0..settings.ports_per_controller)
                .map(|_| Port::new(&settings.port))
                .collect(),
            processor: SerialStation::default(),
            link: SerialStation::default(),
            cache: DataCache::new(cache.lines(), cache.line_sectors(), volumes),
            availability: Availability::default(),
            waiting: Waiting::default(),
            load: Load::default(),
            destaging: Destaging::default(),
            copies: VecDeque::new(),
            next_port: 0,
        }
    }

    /// It fails: nothing in it or on its way through it arrives.
    pub fn fail(&mut self, now_ns: u64) {
        self.availability.fail();
        self.processor.abort_all(now_ns);
        self.link.abort_all(now_ns);
        self.copies.clear();
        for port in &mut self.ports {
            port.abort_all(now_ns);
        }
        self.waiting.clear();
    }

    /// Little's law at its ports, its CPU and its link, and that its cache is consistent.
    ///
    /// # Panics
    ///
    /// If a check fails.
    pub fn check_invariants(&self, now_ns: u64) {
        self.processor.check_invariants(now_ns);
        self.link.check_invariants(now_ns);
        self.cache.check_invariants();
        for port in &self.ports {
            port.inbound.check_invariants(now_ns);
            port.outbound.check_invariants(now_ns);
        }
    }

    /// The port the next request comes by: all in turn.
    #[inline]
    pub fn take_port(&mut self) -> usize {
        let port = self.next_port;
        self.next_port = if port + 1 == self.ports.len() {
            0
        } else {
            port + 1
        };
        port
    }
}

/// CPU times of commands, ns.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ServiceTimes {
    read_ns: f64,
    write_ns: f64,
    other_ns: f64,
    read_ns_per_sector: f64,
    write_ns_per_sector: f64,
    pub read_miss_ns: u64,
    pub fast_path_ns: Option<u64>,
}

impl ServiceTimes {
    pub fn new(settings: &ServiceSettings) -> Self {
        let per_sector = |us_per_mib: f64| us_per_mib * 1e3 / SECTORS_PER_MIB;
        Self {
            read_ns: settings.read_us * 1e3,
            write_ns: settings.write_us * 1e3,
            other_ns: settings.other_us * 1e3,
            read_ns_per_sector: per_sector(settings.read_us_per_mib),
            write_ns_per_sector: per_sector(settings.write_us_per_mib),
            read_miss_ns: ns_of_us(settings.read_miss_us),
            fast_path_ns: settings.fast_path_us.map(ns_of_us),
        }
    }

    /// What a command costs.
    #[inline]
    pub fn of(&self, operation: HostOperation, sectors: u32) -> u64 {
        let sectors = f64::from(sectors);
        let cost_ns = match operation {
            HostOperation::Read => self.read_ns + sectors * self.read_ns_per_sector,
            HostOperation::Write => self.write_ns + sectors * self.write_ns_per_sector,
            HostOperation::Flush | HostOperation::Trim => self.other_ns,
        };
        cost_ns as u64
    }
}
