//! Controllers: host ports, the processor that every command passes, ownership of volumes.

mod port;
mod station;

pub use station::SerialCounters;

pub(crate) use port::Port;
pub(crate) use station::SerialStation;

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

/// Copies of everything dirty, on the link to the partner.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Copies {
    pub since_ns: u64,
    /// The partner's life that they are meant for.
    pub partner_life: u32,
}

const SECTORS_PER_MIB: f64 = 2048.0;

/// One controller.
#[derive(Debug)]
pub(crate) struct Controller<P> {
    /// Its host ports.
    pub ports: Vec<Port>,
    /// Its processor.
    pub processor: SerialStation,
    /// The direction of the link that leads to the partner.
    pub link: SerialStation,
    /// Its data cache.
    pub cache: DataCache<P>,
    /// Whether it works.
    pub works: bool,
    /// Whether it works again, but not before everything it had on its way has ended.
    pub returning: bool,
    /// Whether the partner may take its volumes over.
    pub takeover_due: bool,
    /// How often it has failed or come back: tells what belongs to an earlier life.
    pub life: u32,
    /// The copies of everything dirty that are on their way to a partner that is back, in the order
    /// in which the link carries them.
    pub copies: VecDeque<Copies>,
    /// Whether the cache would survive a loss of power.
    pub battery_works: bool,
    /// Reads and writes it has at the back end.
    pub operations_open: u32,
    /// Writers that wait until the cache has room for them.
    pub waiting_writers: VecDeque<Ticket>,
    /// Requests that wait until their sectors hold nothing the disks lack.
    pub waiting_clean: Vec<Ticket>,
    /// Flushes that wait, and when they came.
    pub flushes: Vec<(Ticket, u64)>,
    /// The destages under way.
    pub destages: Vec<u32>,
    /// The writes under way that go through the cache of volumes whose reads it holds.
    pub throughs: Vec<u32>,
    /// Whether the cache is above its low watermark since it was above the high one.
    pub under_pressure: bool,
    /// When the next look at ages and idleness is due.
    pub tick_at_ns: u64,
    /// When the last host request came.
    pub last_host_ns: u64,
    /// Host requests it works on.
    pub active: u64,
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
            works: true,
            returning: false,
            takeover_due: false,
            life: 0,
            copies: VecDeque::new(),
            battery_works: true,
            operations_open: 0,
            waiting_writers: VecDeque::new(),
            waiting_clean: Vec::new(),
            flushes: Vec::new(),
            destages: Vec::new(),
            throughs: Vec::new(),
            under_pressure: false,
            tick_at_ns: u64::MAX,
            last_host_ns: 0,
            active: 0,
            next_port: 0,
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

/// Processor times of commands, ns.
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
