//! Times that are settings of the whole array, in nanoseconds.

use crate::settings::HostPaths;
use crate::{SECTOR_BYTES, settings};

/// Time of a sector on a lane of so many 10^6 bytes per second, ns.
pub(super) fn ns_per_sector(rate_mb_per_s: f64) -> f64 {
    SECTOR_BYTES as f64 * 1e3 / rate_mb_per_s
}

/// Times that are settings of the whole array.
#[derive(Debug, Clone)]
pub(super) struct Times {
    pub service: crate::controller::ServiceTimes,
    pub forward_ns: u64,
    pub link_transfer_ns: u64,
    pub link_ns_per_sector: f64,
    pub takeover_ns: u64,
    pub path_switch_ns: u64,
    pub give_up_ns: u64,
    pub host_paths: HostPaths,
    pub write_back_alone: bool,
    pub fail_back: bool,
    pub age_ns: u64,
    pub idle_ns: u64,
}

impl Times {
    pub fn new(settings: &settings::ArraySettings) -> Self {
        use crate::settings::{ns_of_ms, ns_of_us};
        let controllers = &settings.controllers;
        let failover = &controllers.failover;
        let link = controllers.link.as_ref();
        Self {
            service: crate::controller::ServiceTimes::new(&controllers.service),
            forward_ns: link.map_or(0, |link| ns_of_us(link.forward_us)),
            link_transfer_ns: link.map_or(0, |link| ns_of_us(link.transfer_us)),
            link_ns_per_sector: link.map_or(0.0, |link| ns_per_sector(link.rate_mb_per_s)),
            takeover_ns: ns_of_ms(failover.takeover_ms),
            path_switch_ns: ns_of_ms(failover.path_switch_ms),
            give_up_ns: ns_of_ms(failover.give_up_ms),
            host_paths: controllers.host_paths,
            write_back_alone: failover.write_back_alone,
            fail_back: failover.fail_back,
            age_ns: ns_of_ms(settings.cache.destage.age_ms),
            idle_ns: ns_of_ms(settings.cache.destage.idle_ms),
        }
    }
}
