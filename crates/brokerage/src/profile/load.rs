//! What users do, what they order, and the exchange that answers.

use super::DESCRIBED;
use config::{TimeSpan, settings, within};

settings! {
    /// The transactions that users begin, as percent of all ten kinds. Trade results follow from
    /// the orders, and one market feed from ten results, so these add up to 89. The mix is dealt
    /// from a shuffled deck, so that it holds exactly.
    pub struct Mix {
        /// Looks at the 50 latest trades of an account.
        pub trade_status_percent: f64 = 19.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Adds up how the securities of a watch list, an account or an industry have done.
        pub market_watch_percent: f64 = 18.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Reads all about one security, its company and its prices.
        pub security_detail_percent: f64 = 14.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Values the accounts of a customer; half of them with the ten latest trades of one.
        pub customer_position_percent: f64 = 13.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Enters an order of a customer, to buy or to sell.
        pub trade_order_percent: f64 = 10.1,
            as within(0.0..=100.0), source DESCRIBED;
        /// Reads 20 old trades with everything about them.
        pub trade_lookup_percent: f64 = 8.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Adds up the pending orders of 20 to 40 brokers in one sector.
        pub broker_volume_percent: f64 = 4.9,
            as within(0.0..=100.0), source DESCRIBED;
        /// Reads 20 old trades and corrects them.
        pub trade_update_percent: f64 = 2.0,
            as within(0.0..=100.0), source DESCRIBED;
    }
}

settings! {
    /// What the orders of customers are like.
    pub struct Orders {
        /// Orders at the price of the market. The others wait until the price is right.
        pub market_percent: f64 = 60.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Orders bought with borrowed money, which asks for the worth of the account.
        pub margin_percent: f64 = 8.0,
            as within(0.0..=100.0), source DESCRIBED;
        /// Orders that are entered and rolled back on purpose: one in 101.
        pub rollback_percent: f64 = 100.0 / 101.0,
            as within(0.0..=100.0), source DESCRIBED;
    }
}

settings! {
    /// The exchange, and what the brokerage does by the clock.
    pub struct Market {
        /// Average time until the exchange answers an order that can be carried out, exponentially
        /// spread and five times as long at most.
        pub execution_delay: TimeSpan = TimeSpan::seconds(1),
            as within(TimeSpan::millis(1)..=TimeSpan::seconds(60)), was "answer_delay", source DESCRIBED;
        /// Time in which every price rises and falls once; orders that wait for a price wait up to
        /// so long.
        pub price_period: TimeSpan = TimeSpan::seconds(900),
            as within(TimeSpan::seconds(1)..=TimeSpan::seconds(86_400)), source DESCRIBED;
        /// Time between two rounds of data maintenance, each on another of twelve tables.
        pub data_maintenance_interval: TimeSpan = TimeSpan::seconds(60),
            as within(TimeSpan::seconds(1)..=TimeSpan::seconds(86_400)), was "data_maintenance_every", source DESCRIBED;
    }
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
