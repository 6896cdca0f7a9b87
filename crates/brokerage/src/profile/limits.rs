//! Limits of response times, of the mix and of rollbacks.

use config::{limit_ms, settings, within};

const PUBLISHED: &str = "The published limit of this transaction, unconfirmed.";

settings! {
    /// Limits of single transactions, beside those of the storage in [service_levels].
    pub struct Limits {
        /// Highest 90th percentile of the service time of trade-status transactions.
        pub trade_status_p90_ms: f64 = 1_000.0, as limit_ms(), key "trade_status_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of market-watch transactions.
        pub market_watch_p90_ms: f64 = 3_000.0, as limit_ms(), key "market_watch_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of security-detail transactions.
        pub security_detail_p90_ms: f64 = 3_000.0, as limit_ms(), key "security_detail_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of customer-position transactions.
        pub customer_position_p90_ms: f64 = 3_000.0, as limit_ms(), key "customer_position_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of trade-order transactions.
        pub trade_order_p90_ms: f64 = 2_000.0, as limit_ms(), key "trade_order_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of trade-lookup transactions.
        pub trade_lookup_p90_ms: f64 = 3_000.0, as limit_ms(), key "trade_lookup_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of broker-volume transactions.
        pub broker_volume_p90_ms: f64 = 3_000.0, as limit_ms(), key "broker_volume_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of trade-update transactions.
        pub trade_update_p90_ms: f64 = 3_000.0, as limit_ms(), key "trade_update_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of trade-result transactions.
        pub trade_result_p90_ms: f64 = 2_000.0, as limit_ms(), key "trade_result_p90", source PUBLISHED;
        /// Highest 90th percentile of the service time of market-feed transactions.
        pub market_feed_p90_ms: f64 = 2_000.0, as limit_ms(), key "market_feed_p90", source PUBLISHED;
        /// How far the share of each of the ten kinds may be from the mix, in points of percent.
        pub mix_tolerance_points: f64 = 0.3,
            as within(0.0..=100.0),
            source "0.1 is published for runs of two hours; orders under way spread short ones \
                more.";
        /// Share of other processes in the requests of the volume, in percent, above which a run on a
        /// real database is inconclusive. Only traced requests show it (as root).
        pub other_io_percent: f64 = 10.0, as within(0.0..=100.0), source "Assumed.";
        /// How far the share of orders rolled back may be from the one asked for, in points of
        /// percent.
        pub rollback_tolerance_points: f64 = 0.5, as within(0.0..=100.0), source "Assumed.";
    }
}

impl Limits {
    /// The names of the transactions with the time that 90 of 100 of each must keep, in ms.
    #[must_use]
    pub fn p90_ms(&self) -> [(&'static str, f64); 10] {
        [
            ("trade-status", self.trade_status_p90_ms),
            ("market-watch", self.market_watch_p90_ms),
            ("security-detail", self.security_detail_p90_ms),
            ("customer-position", self.customer_position_p90_ms),
            ("trade-order", self.trade_order_p90_ms),
            ("trade-lookup", self.trade_lookup_p90_ms),
            ("broker-volume", self.broker_volume_p90_ms),
            ("trade-update", self.trade_update_p90_ms),
            ("trade-result", self.trade_result_p90_ms),
            ("market-feed", self.market_feed_p90_ms),
        ]
    }
}
