//! A host port: two serial lanes, since both directions carry at once.

use super::SerialStation;
use crate::SECTOR_BYTES;
use crate::host::HostOperation;
use crate::settings::{PortSettings, ns_of_us};

/// The lanes of a port, and what they have carried.
#[derive(Debug)]
pub(crate) struct Port {
    /// Commands and written data.
    pub inbound: SerialStation,
    pub outbound: SerialStation,
    ns_per_sector: f64,
    command_ns: u64,
    latency_ns: u64,
    /// Commands that came, by operation as [`HostOperation`] lists them.
    pub requests: [u64; 4],
    /// Sectors carried in and out.
    pub sectors: [u64; 2],
}

impl Port {
    pub fn new(settings: &PortSettings) -> Self {
        Self {
            inbound: SerialStation::default(),
            outbound: SerialStation::default(),
            ns_per_sector: SECTOR_BYTES as f64 * 1e3 / settings.rate_mb_per_s,
            command_ns: ns_of_us(settings.command_us),
            latency_ns: ns_of_us(settings.latency_us),
            requests: [0; 4],
            sectors: [0; 2],
        }
    }

    /// A command enters; says when it has arrived with its data.
    #[inline]
    pub fn enter(&mut self, now_ns: u64, operation: HostOperation, sectors: u32) -> u64 {
        self.requests[operation as usize] += 1;
        let carried = match operation {
            HostOperation::Write => sectors,
            _ => 0,
        };
        self.sectors[0] += u64::from(carried);
        let service_ns = self.command_ns + (f64::from(carried) * self.ns_per_sector) as u64;
        self.inbound.enter(now_ns, service_ns) + self.latency_ns
    }

    /// What was read leaves; says when the host has it.
    #[inline]
    pub fn send(&mut self, now_ns: u64, sectors: u32) -> u64 {
        self.sectors[1] += u64::from(sectors);
        self.outbound
            .enter(now_ns, (f64::from(sectors) * self.ns_per_sector) as u64)
    }

    /// The controller has failed: nothing on its way arrives.
    pub fn abort_all(&mut self, now_ns: u64) {
        self.inbound.abort_all(now_ns);
        self.outbound.abort_all(now_ns);
    }
}
