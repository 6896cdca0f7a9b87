//! What users do, what they order, and the exchange that answers.

use super::DESCRIBED;
use crate::profile::quantity::TimeSpan;
use crate::profile::setting::{Setting, SettingVisitor, Within};

/// `[brokerage.mix]`: shares of the transactions that users begin. Trade results and market feeds
/// follow from the orders.
#[derive(Clone, Debug, PartialEq)]
#[allow(missing_docs)] // Each field is a transaction, described at its setting.
pub struct Mix {
    pub trade_status_percent: f64,
    pub market_watch_percent: f64,
    pub security_detail_percent: f64,
    pub customer_position_percent: f64,
    pub trade_order_percent: f64,
    pub trade_lookup_percent: f64,
    pub broker_volume_percent: f64,
    pub trade_update_percent: f64,
}

/// `[brokerage.orders]`: what orders are like.
#[derive(Clone, Debug, PartialEq)]
pub struct Orders {
    /// Orders at the price of the market; the others wait for a price.
    pub market_percent: f64,
    /// Orders bought with borrowed money.
    pub margin_percent: f64,
    /// Orders that are entered and taken back on purpose.
    pub rollback_percent: f64,
}

/// `[brokerage.market]`: the exchange.
#[derive(Clone, Debug, PartialEq)]
pub struct Market {
    /// Average time until the exchange answers an order that can be carried out.
    pub answer_delay: TimeSpan,
    /// Time in which every price rises and falls once.
    pub price_period: TimeSpan,
    /// Time between two rounds of data maintenance.
    pub data_maintenance_every: TimeSpan,
}

impl Mix {
    /// The names of the transactions that users begin, with their shares in percent of all ten.
    #[must_use]
    pub fn shares(&self) -> [(&'static str, f64); 8] {
        [
            ("trade-status", self.trade_status_percent),
            ("market-watch", self.market_watch_percent),
            ("security-detail", self.security_detail_percent),
            ("customer-position", self.customer_position_percent),
            ("trade-order", self.trade_order_percent),
            ("trade-lookup", self.trade_lookup_percent),
            ("broker-volume", self.broker_volume_percent),
            ("trade-update", self.trade_update_percent),
        ]
    }
}

impl Default for Mix {
    fn default() -> Self {
        Self {
            trade_status_percent: 19.0,
            market_watch_percent: 18.0,
            security_detail_percent: 14.0,
            customer_position_percent: 13.0,
            trade_order_percent: 10.1,
            trade_lookup_percent: 8.0,
            broker_volume_percent: 4.9,
            trade_update_percent: 2.0,
        }
    }
}

impl Default for Orders {
    fn default() -> Self {
        Self {
            market_percent: 60.0,
            margin_percent: 8.0,
            rollback_percent: 100.0 / 101.0,
        }
    }
}

impl Default for Market {
    fn default() -> Self {
        Self {
            answer_delay: TimeSpan::seconds(1),
            price_period: TimeSpan::seconds(900),
            data_maintenance_every: TimeSpan::seconds(60),
        }
    }
}

fn share(v: &mut dyn SettingVisitor, key: &'static str, value: &mut f64, meaning: &'static str) {
    v.setting(Setting {
        key,
        value: &mut Within(value, 0.0..=100.0),
        meaning,
        source: DESCRIBED,
    });
}

impl Mix {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage.mix",
            "The transactions that users begin, as percent of all ten kinds. Trade results follow \
             from the orders, and one market feed from ten results, so these add up to 89. The mix \
             is dealt from a shuffled deck, so that it holds exactly.",
        );
        share(
            v,
            "trade_status_percent",
            &mut self.trade_status_percent,
            "Looks at the 50 latest trades of an account.",
        );
        share(
            v,
            "market_watch_percent",
            &mut self.market_watch_percent,
            "Adds up how the securities of a watch list, an account or an industry have done.",
        );
        share(
            v,
            "security_detail_percent",
            &mut self.security_detail_percent,
            "Reads all about one security, its company and its prices.",
        );
        share(
            v,
            "customer_position_percent",
            &mut self.customer_position_percent,
            "Values the accounts of a customer; half of them with the ten latest trades of one.",
        );
        share(
            v,
            "trade_order_percent",
            &mut self.trade_order_percent,
            "Enters an order.",
        );
        share(
            v,
            "trade_lookup_percent",
            &mut self.trade_lookup_percent,
            "Reads 20 old trades with everything about them.",
        );
        share(
            v,
            "broker_volume_percent",
            &mut self.broker_volume_percent,
            "Adds up the pending orders of 20 to 40 brokers in one sector.",
        );
        share(
            v,
            "trade_update_percent",
            &mut self.trade_update_percent,
            "Reads 20 old trades and corrects them.",
        );
    }
}

impl Orders {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section("brokerage.orders", "What the orders of customers are like.");
        share(
            v,
            "market_percent",
            &mut self.market_percent,
            "Orders at the price of the market. The others wait until the price is right.",
        );
        share(
            v,
            "margin_percent",
            &mut self.margin_percent,
            "Orders bought with borrowed money, which asks for the worth of the account.",
        );
        share(
            v,
            "rollback_percent",
            &mut self.rollback_percent,
            "Orders that are entered and rolled back on purpose: one in 101.",
        );
    }
}

impl Market {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "brokerage.market",
            "The exchange, and what the house does by the clock.",
        );
        v.setting(Setting {
            key: "answer_delay",
            value: &mut Within(
                &mut self.answer_delay,
                TimeSpan::millis(1)..=TimeSpan::seconds(60),
            ),
            meaning: "Average time until the exchange answers an order that can be carried out, \
                      exponentially spread and five times as long at most.",
            source: DESCRIBED,
        });
        v.setting(Setting {
            key: "price_period",
            value: &mut Within(
                &mut self.price_period,
                TimeSpan::seconds(1)..=TimeSpan::seconds(86_400),
            ),
            meaning: "Time in which every price rises and falls once; orders that wait for a price \
                      wait up to so long.",
            source: DESCRIBED,
        });
        v.setting(Setting {
            key: "data_maintenance_every",
            value: &mut Within(
                &mut self.data_maintenance_every,
                TimeSpan::seconds(1)..=TimeSpan::seconds(86_400),
            ),
            meaning: "Time between two rounds of data maintenance, each on another of twelve tables.",
            source: DESCRIBED,
        });
    }
}
