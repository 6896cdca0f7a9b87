//! The simulated exchange: execution delays, pending orders and market feeds.

use super::orders::Order;
use crate::market::{FEED_ENTRIES, execution_delay};
use std::collections::{BTreeMap, VecDeque};
use workload::random::SeededRng;

/// One entry of a feed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The security, counted from 0.
    pub security: u64,
    /// The pending order that it triggers.
    pub triggers: Option<Order>,
}

/// The simulated exchange of one database.
#[derive(Debug)]
pub struct Exchange {
    answer_ns: f64,
    period_ns: u64,
    securities: u64,
    rng: SeededRng,
    /// Pending orders, by the time at which their price comes and the order of arrival.
    waiting: BTreeMap<(u64, u64), Order>,
    entered: u64,
    /// Securities of the next feed.
    tape: VecDeque<u64>,
}

impl Exchange {
    /// An exchange for this many securities.
    #[must_use]
    pub fn new(answer_ns: u64, period_ns: u64, securities: u64, rng: SeededRng) -> Self {
        Self {
            answer_ns: answer_ns as f64,
            period_ns,
            securities,
            rng,
            waiting: BTreeMap::new(),
            entered: 0,
            tape: VecDeque::new(),
        }
    }

    /// The random delay until a market order is executed.
    pub fn answer_delay_ns(&mut self) -> u64 {
        (execution_delay(&mut self.rng) * self.answer_ns) as u64
    }

    /// Takes an order that waits for its price. Prices rise and fall evenly and limits are uniform,
    /// so the time until then is uniform within a period.
    pub fn wait_for_price(&mut self, now_ns: u64, order: Order) {
        let at_ns = now_ns + self.rng.below(self.period_ns.max(1));
        self.entered += 1;
        self.waiting.insert((at_ns, self.entered), order);
    }

    /// Number of pending orders.
    #[must_use]
    pub fn waiting(&self) -> usize {
        self.waiting.len()
    }

    /// Adds the entry of a result, and another one. True when a feed is full.
    pub fn add_result(&mut self, security: u64) -> bool {
        let other = self.rng.below(self.securities);
        self.tape.extend([security, other]);
        self.tape.len() >= FEED_ENTRIES
    }

    /// Takes the feed that results have filled.
    pub fn feed(&mut self, now_ns: u64) -> Vec<Entry> {
        let full = self.tape.len().min(FEED_ENTRIES);
        let securities: Vec<u64> = self.tape.drain(..full).collect();
        self.entries(now_ns, &securities)
    }

    /// A feed that no result has caused.
    pub fn unsolicited_feed(&mut self, now_ns: u64) -> Vec<Entry> {
        let draw = |_| self.rng.below(self.securities);
        let securities: Vec<u64> = (0..FEED_ENTRIES).map(draw).collect();
        self.entries(now_ns, &securities)
    }

    /// Entries of these securities. Every second one may trigger a pending order instead.
    fn entries(&mut self, now_ns: u64, securities: &[u64]) -> Vec<Entry> {
        let mut entries = Vec::with_capacity(securities.len());
        for (number, &security) in securities.iter().enumerate() {
            let due = self.waiting.first_entry();
            let due = due.filter(|entry| number % 2 == 1 && entry.key().0 <= now_ns);
            let triggers = due.map(std::collections::btree_map::OccupiedEntry::remove);
            entries.push(Entry {
                security: triggers.map_or(security, |order| order.security),
                triggers,
            });
        }
        entries
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn order(security: u64) -> Order {
        Order {
            account: 1,
            security,
            is_sell: false,
            is_limit: true,
            trade: 0,
        }
    }

    #[test]
    fn ten_results_fill_one_feed_and_due_orders_leave_once() {
        let mut exchange = Exchange::new(1_000, 900, 50, SeededRng::new(5, 0));
        (0..4).for_each(|number| exchange.wait_for_price(0, order(100 + number)));
        let mut full = 0;
        for _ in 0..20 {
            full += usize::from(exchange.add_result(7));
            if full == 1 && exchange.tape.len() == 20 {
                let feed = exchange.feed(900);
                assert_eq!(feed.len(), 20);
                let triggered = feed.iter().filter(|entry| entry.triggers.is_some()).count();
                assert_eq!((triggered, exchange.waiting()), (4, 0));
            }
        }
        assert_eq!(full, 2);
        assert!(
            exchange
                .feed(900)
                .iter()
                .all(|entry| entry.triggers.is_none())
        );
    }

    #[test]
    fn answers_come_after_their_average_and_never_late() {
        let mut exchange = Exchange::new(1_000_000, 1, 50, SeededRng::new(6, 0));
        let delays: Vec<u64> = (0..100_000).map(|_| exchange.answer_delay_ns()).collect();
        let mean = delays.iter().sum::<u64>() as f64 / delays.len() as f64;
        assert!((mean / 0.993e6 - 1.0).abs() < 0.02, "{mean}");
        assert!(delays.iter().all(|&delay| delay <= 5_000_000));
    }
}
