//! The ticker tape: prices that results, waiting orders and the market itself put on it.

use super::order::Order;
use super::wave::Wave;
use std::collections::VecDeque;
use workload::random::Dice;

/// Entries of a feed.
pub const FEED_ENTRIES: usize = workload::brokerage::kinds::FEED_ENTRIES as usize;

/// Shares that an entry names which says that a waiting order's price has come.
const TRIGGER_QUANTITY: i64 = 375;
/// Shares that entries name which stand for trades of other houses.
const OTHER_QUANTITIES: [i64; 2] = [325, 425];

/// One entry of a feed: a security has changed hands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct TickerEntry {
    /// The security, by number from 0.
    pub security: u32,
    /// At what price.
    pub price_cents: i64,
    /// How many shares.
    pub quantity: i64,
}

/// The tape.
#[derive(Debug)]
pub(super) struct Tape {
    entries: VecDeque<TickerEntry>,
    /// Entries of waiting orders whose price has come, in the order in which it came. They leave
    /// before anything made up.
    triggered: VecDeque<TickerEntry>,
    dice: Dice,
    securities: u32,
    wave: Wave,
}

impl Tape {
    pub(super) fn new(securities: u32, wave: Wave, dice: Dice) -> Self {
        assert!(securities > 0, "a market needs something to trade");
        Self {
            entries: VecDeque::new(),
            triggered: VecDeque::new(),
            dice,
            securities,
            wave,
        }
    }

    /// The price of a waiting order came at `at_ms`. The entry says that price, so that the books
    /// find the order met however late the entry is.
    pub(super) fn trigger(&mut self, order: &Order, at_ms: i64) {
        self.triggered.push_back(TickerEntry {
            security: order.security,
            price_cents: self.wave.price_cents(order.security, at_ms),
            quantity: TRIGGER_QUANTITY,
        });
    }

    /// A result: its own entry, and one beside it.
    pub(super) fn result(&mut self, entry: TickerEntry, now_ms: i64) {
        self.entries.push_back(entry);
        let beside = self.beside(now_ms);
        self.entries.push_back(beside);
    }

    /// A triggered entry, or else one of another house.
    fn beside(&mut self, now_ms: i64) -> TickerEntry {
        let triggered = self.triggered.pop_front();
        triggered.unwrap_or_else(|| self.made_up(now_ms))
    }

    fn made_up(&mut self, now_ms: i64) -> TickerEntry {
        let security = self.dice.below(u64::from(self.securities)) as u32;
        TickerEntry {
            security,
            price_cents: self.wave.price_cents(security, now_ms),
            quantity: OTHER_QUANTITIES[self.dice.below(2) as usize],
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

    /// A feed that no result has caused: each second entry makes room for a triggered one.
    pub(super) fn own_feed(&mut self, now_ms: i64) -> Vec<TickerEntry> {
        let mut feed = Vec::with_capacity(FEED_ENTRIES);
        while feed.len() < FEED_ENTRIES {
            feed.push(self.made_up(now_ms));
            feed.push(self.beside(now_ms));
        }
        feed
    }
}
