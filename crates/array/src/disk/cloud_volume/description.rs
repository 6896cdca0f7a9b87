//! What a cloud volume is: the limits of its contract, and how long requests take.

use config::{optional, settings, within};

use super::budget::{Budget, Burst};
use crate::BrokenRule;
use crate::broken_rule::Checker;
use crate::disk::interface::capacity;

settings! {
    /// A volume of a cloud provider. Rates hold for reads and writes together.
    pub struct CloudVolumeDescription {
        /// Capacity; whole sectors are used.
        pub capacity_bytes: u64, as capacity();
        /// Requests per second that it always has.
        pub iops: f64, as within(1.0..=1e7);
        /// Requests per second while there are credits; without it there are no bursts.
        pub burst_iops: Option<f64> = None, as optional(within(1.0..=1e7));
        /// Requests above the base rate that are saved up at most. They are earned while fewer requests
        /// come than the base rate allows.
        pub burst_credits: f64 = 0.0, as within(0.0..=1e12);
        /// A request of more than this counts as several.
        pub counted_kib: u32 = 256, as within(1..=1 << 20);
        /// Rate of data that it always has.
        pub mb_per_s: f64, as within(0.1..=1e6);
        /// Rate of data while there are credits; without it there are no bursts.
        pub burst_mb_per_s: Option<f64> = None, as optional(within(0.1..=1e6));
        /// Data above the base rate that are saved up at most.
        pub burst_credit_mb: f64 = 0.0, as within(0.0..=1e12);
        /// Credits at the start, of the most that is kept.
        pub credits_at_start_percent: f64 = 100.0, as within(0.0..=100.0);
        /// Mean time of a read beside its data, while no limit holds it back.
        pub read_latency_us: f64, as within(1.0..=1e7);
        /// Mean time of a write beside its data.
        pub write_latency_us: f64, as within(1.0..=1e7);
        /// Standard deviation of these times as a share of their means; they are lognormal.
        pub latency_variation: f64 = 0.3, as within(0.0..=5.0);
        /// Rate at which the data of a request cross the network.
        pub network_mb_per_s: f64, as within(1.0..=1e6);
        /// Requests accepted at once.
        pub on_board_queue_depth: u32 = 1024, as within(1..=65_536);
    }
}

impl CloudVolumeDescription {
    /// Every rule this description breaks; paths start with `prefix`.
    pub(in crate::disk) fn check(&self, prefix: &str) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, prefix);
        let pairs = [
            ("burst_iops", self.burst_iops, self.iops, self.burst_credits),
            (
                "burst_mb_per_s",
                self.burst_mb_per_s,
                self.mb_per_s,
                self.burst_credit_mb,
            ),
        ];
        for (key, burst, base, credits) in pairs {
            checker.require(
                burst.is_none_or(|burst| burst > base),
                key,
                "The rate of a burst is above the rate that the volume always has.",
            );
            checker.require(
                burst.is_some() == (credits > 0.0),
                key,
                "Bursts have a rate and credits, or neither.",
            );
        }
        checker.finish()
    }

    /// Whether it may exceed its base rates for a while.
    #[must_use]
    pub fn has_bursts(&self) -> bool {
        self.burst_iops.is_some() || self.burst_mb_per_s.is_some()
    }

    pub(super) fn counted_bytes(&self) -> u64 {
        u64::from(self.counted_kib) << 10
    }

    pub(super) fn request_budget(&self) -> Budget {
        Budget::new(self.iops, self.burst(self.burst_iops, self.burst_credits))
    }

    pub(super) fn byte_budget(&self) -> Budget {
        let burst = self.burst_mb_per_s.map(|rate| rate * 1e6);
        let burst = self.burst(burst, self.burst_credit_mb * 1e6);
        Budget::new(self.mb_per_s * 1e6, burst)
    }

    fn burst(&self, per_s: Option<f64>, credits: f64) -> Option<Burst> {
        Some(Burst {
            per_s: per_s?,
            credits,
            share_at_start: self.credits_at_start_percent / 100.0,
        })
    }
}
