//! Settings of the whole array, in nanoseconds, sectors and lines.

use crate::SECTOR_BYTES;
use crate::controller::ServiceTimes;
use crate::settings::{ArraySettings, FlushPolicy, ns_of_ms, ns_of_us};

/// Settings of the whole array.
#[derive(Debug)]
pub(super) struct Rules {
    pub service: ServiceTimes,
    /// What a command costs at a controller that passes it on to the volume's owner.
    pub forward_ns: u64,
    pub failover: FailoverRules,
    pub cache: CacheRules,
    pub destage: DestageRules,
}

/// How controllers and hosts react to failures.
#[derive(Debug)]
pub(super) struct FailoverRules {
    /// From the failure of a controller until its partner has taken over.
    pub takeover_ns: u64,
    /// Until a host sends a request by another path.
    pub path_switch_ns: u64,
    /// Until a host without a path gives a request up.
    pub give_up_ns: u64,
    /// Whether volumes return to their preferred owner.
    pub fail_back: bool,
}

/// What goes into the data cache, and when a write in it is acknowledged.
#[derive(Debug)]
pub(super) struct CacheRules {
    /// Whether writes are copied to the failover partner.
    pub mirrors: bool,
    /// Whether writes are cached while there is no failover partner.
    pub write_back_alone: bool,
    /// Whether what is read or written through stays in the cache.
    pub holds_reads: bool,
    /// Whether writes are cached while the battery does not work.
    pub write_back_without_battery: bool,
    pub flush_policy: FlushPolicy,
    pub line_sectors: u32,
    pub read_ahead_piece_sectors: u32,
    pub dirty_limit_lines: u64,
}

impl CacheRules {
    /// Whether a write may be acknowledged from a cache whose battery works or not.
    #[inline]
    pub fn may_write_back_with(&self, battery_works: bool) -> bool {
        battery_works || self.write_back_without_battery
    }

    /// Whether a flush need not wait for the disks, with a battery that works or not.
    #[inline]
    pub fn is_flushed_at_once(&self, battery_works: bool) -> bool {
        match self.flush_policy {
            FlushPolicy::Protected => battery_works,
            FlushPolicy::Disks => false,
            FlushPolicy::Ignored => true,
        }
    }

    /// Whether an acknowledged write is safe enough with as many copies as there can be.
    #[inline]
    pub fn may_write_back(&self, partner_works: bool) -> bool {
        !self.mirrors || partner_works || self.write_back_alone
    }
}

/// When dirty lines go to disk.
#[derive(Debug)]
pub(super) struct DestageRules {
    pub high_watermark_lines: u64,
    pub low_watermark_lines: u64,
    pub in_flight_max: usize,
    /// The age from which a line goes to disk.
    pub age_ns: u64,
    /// The time without host requests after which everything goes to disk; 0: never.
    pub idle_ns: u64,
}

impl Rules {
    pub fn new(settings: &ArraySettings) -> Self {
        let controllers = &settings.controllers;
        let failover = &controllers.failover;
        let link = controllers.link.as_ref();
        let cache = &settings.cache;
        let destage = &cache.destage;
        let dirty_limit_lines = cache.dirty_limit_lines();
        let share = |percent: f64| (dirty_limit_lines as f64 * percent / 100.0) as u64;
        let piece_bytes = u64::from(cache.read_ahead.min_window_kib) * 1024;
        Self {
            service: ServiceTimes::new(&controllers.service),
            forward_ns: link.map_or(0, |link| ns_of_us(link.forward_us)),
            failover: FailoverRules {
                takeover_ns: ns_of_ms(failover.takeover_ms),
                path_switch_ns: ns_of_ms(failover.path_switch_ms),
                give_up_ns: ns_of_ms(failover.no_path_timeout_ms),
                fail_back: failover.fail_back,
            },
            cache: CacheRules {
                mirrors: cache.mirror,
                write_back_alone: failover.write_back_alone,
                holds_reads: cache.cache_reads,
                write_back_without_battery: cache.write_back_without_battery,
                flush_policy: cache.flush,
                line_sectors: cache.line_sectors(),
                read_ahead_piece_sectors: (piece_bytes / SECTOR_BYTES) as u32,
                dirty_limit_lines,
            },
            destage: DestageRules {
                high_watermark_lines: share(destage.high_watermark_percent).max(1),
                low_watermark_lines: share(destage.low_watermark_percent),
                in_flight_max: destage.in_flight as usize,
                age_ns: ns_of_ms(destage.age_ms),
                idle_ns: ns_of_ms(destage.idle_ms),
            },
        }
    }
}
