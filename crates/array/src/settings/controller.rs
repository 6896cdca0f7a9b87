//! Settings of ports, controllers and the link between controllers.

use config::{choice, optional, settings, within};

use crate::BrokenRule;
use crate::broken_rule::Checker;

settings! {
    /// Ports, controllers and what connects them. All controllers are alike.
    pub struct ControllerSettings {
        /// One controller, as a RAID card, or two partners of each other.
        pub count: u32, as within(1..=2);
        /// Host ports of each controller, those in use.
        pub ports_per_controller: u32, as within(1..=64);
        /// What each port carries.
        pub port: PortSettings;
        /// What a command costs the controller's CPU.
        pub service: ServiceSettings;
        /// The way between two controllers. Needed when there are two.
        pub link: Option<LinkSettings>;
        /// What happens when a controller fails.
        pub failover: FailoverSettings = FailoverSettings::default();
        /// By which controllers hosts send their requests.
        pub host_paths: HostPaths = HostPaths::Owner;
    }
}

settings! {
    /// A host port: a serial lane to the array and one back, since both directions carry at once.
    pub struct PortSettings {
        /// Payload rate of each direction. Line rate arithmetic: 8 Gb Fibre Channel 800, 16 Gb
        /// 1,600, 10 GbE about 1,150, 12 Gb SAS x4 about 4,400.
        pub rate_mb_per_s: f64, as within(1.0..=1e6);
        /// Time of the inbound lane for each command, whatever its size.
        pub command_us: f64 = 0.0, as within(0.0..=1e6), source "Unconfirmed.";
        /// Time that every request spends on its way and that no other request waits for: the
        /// host's driver and adapter, interrupts.
        pub latency_us: f64 = 0.0, as within(0.0..=1e6), source "Unconfirmed for every product.";
    }
}

settings! {
    /// CPU time of a controller, which serves commands one after the other. A command costs
    /// its fixed time plus its share by size. The fixed times are the controller's own limit: 5 us
    /// are 200,000 commands per second. All unconfirmed, inferred from published peaks.
    pub struct ServiceSettings {
        /// A read, whatever its size.
        pub read_us: f64, as within(0.0..=1e6);
        /// A write, whatever its size.
        pub write_us: f64, as within(0.0..=1e6);
        /// A flush or a trim.
        pub other_us: f64 = 0.0, as within(0.0..=1e6);
        /// A read's share by size.
        pub read_us_per_mib: f64 = 0.0, as within(0.0..=1e6);
        /// A write's share by size.
        pub write_us_per_mib: f64 = 0.0, as within(0.0..=1e6);
        /// What a read costs on top when the cache does not hold all of it.
        pub read_miss_us: f64 = 0.0, as within(0.0..=1e6);
        /// What a write that goes through to a group with parity spends in the firmware between the
        /// phases of its update; no other command waits for that.
        pub parity_write_us: f64 = 0.0, as within(0.0..=1e6), source "Unconfirmed.";
        /// Cost of a command that takes a RAID card's short path. Without this key there is none.
        /// The short path is open to requests of at most a chunk on a volume with `write_policy =
        /// "write-through"`, `direct_io` and no `read_ahead`, its drive set optimal: reads of any
        /// level, writes of RAID 0 (confirmed, vendor manuals).
        pub fast_path_us: Option<f64>, as optional(within(0.0..=1e6)),
            source "10 to 20 us are unconfirmed.";
    }
}

settings! {
    /// The link between two controllers: mirrored writes and requests that came to the wrong one.
    pub struct LinkSettings {
        /// Rate of each direction.
        pub rate_mb_per_s: f64, as within(1.0..=1e6), source "Unconfirmed.";
        /// Time of the link for each transfer, whatever its size.
        pub transfer_us: f64, as within(0.0..=1e6), source "Unconfirmed.";
        /// What a request costs the CPU of the controller it came to when the other one owns
        /// the volume.
        pub forward_us: f64 = 0.0, as within(0.0..=1e6), source "Unconfirmed.";
    }
}

settings! {
    /// What hosts and controllers do when a controller fails.
    pub struct FailoverSettings {
        /// From the failure until the partner serves the volumes.
        pub takeover_ms: f64 = 2_000.0, as within(0.0..=1e7), source "Unconfirmed.";
        /// From the failure until a host sends again what was on its way by the failed path.
        pub path_switch_ms: f64 = 1_000.0, as within(0.0..=1e7),
            source "Unconfirmed; multipath drivers take seconds by default.";
        /// How long a request waits for a controller to serve its volume before it fails.
        pub no_path_timeout_ms: f64 = 30_000.0, as within(0.0..=1e7), was "give_up_ms";
        /// Whether a controller without its partner goes on acknowledging writes from its cache,
        /// which then hold the only copy. If not, it writes through until the partner is back.
        pub write_back_alone: bool = false;
        /// Whether volumes return to a controller that works again. They do so once everything
        /// dirty of them is on disk; until then their writes go through.
        pub fail_back: bool = true;
    }
}

choice! {
    /// By which controllers hosts send their requests.
    pub enum HostPaths default Owner {
        /// By the ports of the controller that owns the volume, in turn.
        Owner = "owner",
        /// By the ports of all controllers, in turn.
        All = "all",
    }
}

impl ControllerSettings {
    pub(crate) fn check(&self, path: &str) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, path);
        checker.require(
            self.count < 2 || self.link.is_some(),
            "link",
            "Two controllers need a link; add the table with rate_mb_per_s and transfer_us.",
        );
        checker.finish()
    }
}
