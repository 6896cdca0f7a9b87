//! The ticker tape: prices of results, of triggered orders and of other brokerages' trades.

use super::order::Order;
use super::price_wave::PriceWave;
use std::collections::VecDeque;
use workload::random::SeededRng;

/// Entries of a market feed, each a database transaction.
pub const FEED_ENTRIES: usize = 20;

/// Quantity of an entry that triggers a waiting order.
const TRIGGER_QUANTITY: i64 = 375;
/// Quantities of entries that stand for trades of other brokerages.
const OTHER_QUANTITIES: [i64; 2] = [325, 425];

/// A ticker entry: a trade of a security.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TickerEntry {
    /// The security, by number from 0.
    pub security: u32,
    /// The price of the trade.
    pub price_cents: i64,
    /// Number of shares traded.
    pub quantity: i64,
}

/// The ticker tape: entries not yet sent as a feed.
#[derive(Debug)]
pub(super) struct TickerTape {
    entries: VecDeque<TickerEntry>,
    /// Entries of waiting orders whose price has come, in that order. They are sent before any
    /// random ones.
    triggered: VecDeque<TickerEntry>,
    rng: SeededRng,
    securities: u32,
    wave: PriceWave,
}

impl TickerTape {
    pub(super) fn new(securities: u32, wave: PriceWave, rng: SeededRng) -> Self {
        assert!(securities > 0, "a market needs something to trade");
        Self {
            entries: VecDeque::new(),
            triggered: VecDeque::new(),
            rng,
            securities,
            wave,
        }
    }

    /// The price of a waiting order came at `at_ms`. The entry has that price, so that the order is
    /// found met however late the entry is processed.
    pub(super) fn trigger(&mut self, order: &Order, at_ms: i64) {
        self.triggered.push_back(TickerEntry {
            security: order.security,
            price_cents: self.wave.price_cents(order.security, at_ms),
            quantity: TRIGGER_QUANTITY,
        });
    }

    /// Adds the entry of a result, and another one.
    pub(super) fn result(&mut self, entry: TickerEntry, now_ms: i64) {
        self.entries.push_back(entry);
        let filler = self.filler(now_ms);
        self.entries.push_back(filler);
    }

    /// A triggering entry, or else one of another brokerage.
    fn filler(&mut self, now_ms: i64) -> TickerEntry {
        let triggered = self.triggered.pop_front();
        triggered.unwrap_or_else(|| self.random_entry(now_ms))
    }

    fn random_entry(&mut self, now_ms: i64) -> TickerEntry {
        let security = self.rng.below(u64::from(self.securities)) as u32;
        TickerEntry {
            security,
            price_cents: self.wave.price_cents(security, now_ms),
            quantity: OTHER_QUANTITIES[self.rng.below(2) as usize],
        }
    }

    /// Whether a feed is full.
    pub(super) fn is_full(&self) -> bool {
        self.entries.len() >= FEED_ENTRIES
    }

    /// The feed that results have filled.
    pub(super) fn take_feed(&mut self) -> Option<Vec<TickerEntry>> {
        let full = self.is_full();
        full.then(|| self.entries.drain(..FEED_ENTRIES).collect())
    }

    /// A feed that no result has caused: every second entry may be a triggering one.
    pub(super) fn unsolicited_feed(&mut self, now_ms: i64) -> Vec<TickerEntry> {
        let mut feed = Vec::with_capacity(FEED_ENTRIES);
        while feed.len() < FEED_ENTRIES {
            feed.push(self.random_entry(now_ms));
            feed.push(self.filler(now_ms));
        }
        feed
    }
}
