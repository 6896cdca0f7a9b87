//! Limits of response times, of the mix and of rollbacks.

use crate::profile::setting::{Limit, Setting, SettingVisitor, Within};

/// `[brokerage.service_levels]`: what decides the verdict beside `[service_levels]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Limits {
    /// The time that 90 of 100 transactions of each kind must keep, in ms, as in
    /// [`OPERATION_LIMITS`].
    pub p90_ms: [f64; 10],
    /// How far the share of each kind may be from the mix, in points of percent.
    pub mix_tolerance_points: f64,
    /// How far the share of rollbacks among orders may be from what was asked for, in points.
    pub rollback_tolerance_points: f64,
}

/// Every transaction with the key and the default of its limit in ms.
pub const OPERATION_LIMITS: [(&str, &str, f64); 10] = [
    ("trade-status", "trade_status_p90", 1_000.0),
    ("market-watch", "market_watch_p90", 3_000.0),
    ("security-detail", "security_detail_p90", 3_000.0),
    ("customer-position", "customer_position_p90", 3_000.0),
    ("trade-order", "trade_order_p90", 2_000.0),
    ("trade-lookup", "trade_lookup_p90", 3_000.0),
    ("broker-volume", "broker_volume_p90", 3_000.0),
    ("trade-update", "trade_update_p90", 3_000.0),
    ("trade-result", "trade_result_p90", 2_000.0),
    ("market-feed", "market_feed_p90", 2_000.0),
];

impl Default for Limits {
    fn default() -> Self {
        Self {
            p90_ms: OPERATION_LIMITS.map(|(_, _, limit)| limit),
            mix_tolerance_points: 0.3,
            rollback_tolerance_points: 0.5,
        }
    }
}

impl Limits {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage.service_levels",
            "Limits of single transactions, beside those of the storage in [service_levels].",
        );
        for ((_, key, _), value) in OPERATION_LIMITS.into_iter().zip(&mut self.p90_ms) {
            v.setting(Setting {
                key,
                value: &mut Limit::millis(value),
                meaning: "Time that 90 of 100 of these transactions must keep.",
                source: "The published limit of this transaction, unconfirmed.",
            });
        }
        let tolerances = [
            (
                "mix_tolerance_points",
                &mut self.mix_tolerance_points,
                "How far the share of each of the ten kinds may be from the mix, in points of \
                 percent.",
                "0.1 is published for runs of two hours; orders under way spread short ones more.",
            ),
            (
                "rollback_tolerance_points",
                &mut self.rollback_tolerance_points,
                "How far the share of orders rolled back may be from the one asked for, in points \
                 of percent.",
                "Assumed.",
            ),
        ];
        for (key, value, meaning, source) in tolerances {
            v.setting(Setting {
                key,
                value: &mut Within(value, 0.0..=100.0),
                meaning,
                source,
            });
        }
    }
}
