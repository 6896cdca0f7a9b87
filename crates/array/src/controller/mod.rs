//! Controllers: host ports, the processor that every command passes, ownership of volumes.

#![allow(dead_code)] // Users of all of it follow.

mod port;
mod station;

pub use station::StationCounters;

pub(crate) use port::Port;
pub(crate) use station::SerialStation;

use crate::host::HostOperation;
use crate::settings::{ControllerSettings, ServiceSettings, ns_of_us};

const SECTORS_PER_MIB: f64 = 2048.0;

/// One controller.
#[derive(Debug)]
pub(crate) struct Controller {
    /// Its host ports.
    pub ports: Vec<Port>,
    /// Its processor.
    pub processor: SerialStation,
    /// Whether it works.
    pub works: bool,
    next_port: usize,
}

impl Controller {
    pub fn new(settings: &ControllerSettings) -> Self {
        Self {
            ports: (0..settings.ports_per_controller)
                .map(|_| Port::new(&settings.port))
                .collect(),
            processor: SerialStation::default(),
            works: true,
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
