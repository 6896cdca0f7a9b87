//! Settings of ports, controllers and the link between controllers.

use serde::Deserialize;

use super::Checker;
use crate::Complaint;

/// The controllers of an array; all are alike.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ControllerSettings {
    /// How many there are: one (a RAID card) or two (partners of each other).
    pub count: u32,
    /// Host ports of each controller.
    pub ports_per_controller: u32,
    /// What each port carries.
    pub port: PortSettings,
    /// What a command costs the controller's processor.
    pub service: ServiceSettings,
    /// The way between two controllers. Needed when there are two.
    pub link: Option<LinkSettings>,
    /// What happens when a controller fails.
    #[serde(default)]
    pub failover: FailoverSettings,
    /// By which controllers hosts send their requests.
    #[serde(default)]
    pub host_paths: HostPaths,
}

/// A host port: a serial lane to the array and one back, since both directions carry at once.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PortSettings {
    /// Payload rate of each direction, 10^6 bytes per second. Line rate arithmetic: 8 Gb Fibre
    /// Channel 800, 16 Gb 1,600, 10 GbE about 1,150, 12 Gb SAS x4 about 4,400.
    pub rate_mb_per_s: f64,
    /// Time of the inbound lane for each command, whatever its size, us. Unconfirmed.
    #[serde(default)]
    pub command_us: f64,
    /// Time that every request spends on its way and that no other request waits for, us: the
    /// host's driver and adapter, interrupts. Unconfirmed for every product.
    #[serde(default)]
    pub latency_us: f64,
}

/// Processor time of a controller, which serves commands one after the other.
///
/// A command costs its fixed time plus its share by size. The fixed times are the controller's own
/// limit: 5 us are 200,000 commands per second. All unconfirmed, inferred from published peaks.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServiceSettings {
    /// A read, us.
    pub read_us: f64,
    /// A write, us.
    pub write_us: f64,
    /// A flush or a trim, us.
    #[serde(default)]
    pub other_us: f64,
    /// A read's share by size, us per MiB.
    #[serde(default)]
    pub read_us_per_mib: f64,
    /// A write's share by size, us per MiB.
    #[serde(default)]
    pub write_us_per_mib: f64,
    /// What a read costs on top when the cache does not hold all of it, us.
    #[serde(default)]
    pub read_miss_us: f64,
    /// What a write that goes through to a group with parity spends in the firmware between the
    /// phases of its update, us; no other command waits for that. Unconfirmed.
    #[serde(default)]
    pub parity_write_us: f64,
    /// Cost of a command that takes a RAID card's short path, us. Without this key there is none.
    /// The short path is open to requests of at most a strip on a volume with write-through and
    /// without read-ahead and read cache, its drive set optimal: reads of any level, writes of
    /// RAID 0 [C: vendor manuals]. The time (10 to 20 us) is unconfirmed.
    pub fast_path_us: Option<f64>,
}

/// The link between two controllers: mirrored writes and requests that came to the wrong one.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSettings {
    /// Rate of each direction, 10^6 bytes per second. Unconfirmed.
    pub rate_mb_per_s: f64,
    /// Time of the link for each transfer, whatever its size, us. Unconfirmed.
    pub transfer_us: f64,
    /// What a request costs the processor of the controller it came to when the other one owns the
    /// volume, us. Unconfirmed.
    #[serde(default)]
    pub forward_us: f64,
}

/// What hosts and controllers do when a controller fails.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FailoverSettings {
    /// From the failure until the partner serves the volumes, ms. Unconfirmed.
    pub takeover_ms: f64,
    /// From the failure until a host sends again what was on its way by the failed path, ms.
    /// Unconfirmed; multipath drivers take seconds by default.
    pub path_switch_ms: f64,
    /// How long a request waits for a controller to serve its volume before it fails, ms.
    pub give_up_ms: f64,
    /// Whether a controller without its partner goes on acknowledging writes from its cache, which
    /// then hold the only copy. If not, it writes through until the partner is back.
    pub write_back_alone: bool,
    /// Whether volumes return to a controller that works again. They do so once everything dirty of
    /// them is on disk; until then their writes go through.
    pub fail_back: bool,
}

impl Default for FailoverSettings {
    fn default() -> Self {
        Self {
            takeover_ms: 2_000.0,
            path_switch_ms: 1_000.0,
            give_up_ms: 30_000.0,
            write_back_alone: false,
            fail_back: true,
        }
    }
}

/// By which controllers hosts send their requests.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HostPaths {
    /// By the ports of the controller that owns the volume, in turn.
    #[default]
    Owner,
    /// By the ports of all controllers, in turn.
    All,
}

impl ControllerSettings {
    pub(crate) fn check(&self, path: &str) -> Vec<Complaint> {
        let mut checker = Checker::new(path);
        checker.demand(
            (1..=2).contains(&self.count),
            "count",
            "An array has one controller or two.",
        );
        checker.demand(
            (1..=64).contains(&self.ports_per_controller),
            "ports_per_controller",
            "A controller has from 1 to 64 ports.",
        );
        checker.demand_within(self.port.rate_mb_per_s, 1.0, 1e6, "port.rate_mb_per_s");
        checker.demand_within(self.port.command_us, 0.0, 1e6, "port.command_us");
        checker.demand_within(self.port.latency_us, 0.0, 1e6, "port.latency_us");
        checker.demand(
            self.count < 2 || self.link.is_some(),
            "link",
            "Two controllers need a link; add the table with rate_mb_per_s and transfer_us.",
        );
        if let Some(link) = &self.link {
            checker.demand_within(link.rate_mb_per_s, 1.0, 1e6, "link.rate_mb_per_s");
            checker.demand_within(link.transfer_us, 0.0, 1e6, "link.transfer_us");
            checker.demand_within(link.forward_us, 0.0, 1e6, "link.forward_us");
        }
        let service = &self.service;
        for (key, value_us) in [
            ("service.read_us", service.read_us),
            ("service.write_us", service.write_us),
            ("service.other_us", service.other_us),
            ("service.read_us_per_mib", service.read_us_per_mib),
            ("service.write_us_per_mib", service.write_us_per_mib),
            ("service.read_miss_us", service.read_miss_us),
            ("service.parity_write_us", service.parity_write_us),
            ("service.fast_path_us", service.fast_path_us.unwrap_or(0.0)),
        ] {
            checker.demand_within(value_us, 0.0, 1e6, key);
        }
        let failover = &self.failover;
        for (key, value_ms) in [
            ("failover.takeover_ms", failover.takeover_ms),
            ("failover.path_switch_ms", failover.path_switch_ms),
            ("failover.give_up_ms", failover.give_up_ms),
        ] {
            checker.demand_within(value_ms, 0.0, 1e7, key);
        }
        checker.finish()
    }
}
