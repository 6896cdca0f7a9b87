//! The exchange: the closed loop between orders and their results.

use super::order::{Instruction, Order};
use super::price_wave::PriceWave;
use super::ticker::{FEED_ENTRIES, TickerEntry, TickerTape};
use crate::kinds::TradeKind;
use crate::profile::Market;
use std::collections::{BTreeMap, HashMap, HashSet};
use workload::random::SeededRng;

/// Most ticker batches due at once; older ones are dropped.
const MAX_OWN_FEEDS_DUE: usize = 64;

/// The random delay until an order is executed, as a multiple of the mean: exponentially
/// distributed, 5 at most.
pub(crate) fn execution_delay(rng: &mut SeededRng) -> f64 {
    rng.exponential().min(5.0)
}

/// Delays and periods of the exchange.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Mean execution delay of an order.
    pub answer_delay_ms: f64,
    /// Period of the price wave.
    pub price_period_ms: u64,
    /// Ticker entries per second that no trade result has caused; 0 for none.
    pub ticker_per_second: f64,
    /// Interval of data maintenance.
    pub data_maintenance_every_ms: i64,
}

impl From<&Market> for Settings {
    fn from(market: &Market) -> Self {
        Self {
            answer_delay_ms: market.execution_delay.0 as f64 / 1e6,
            price_period_ms: market.price_period.0 / 1_000_000,
            // Only the page-level simulation has these.
            ticker_per_second: 0.0,
            data_maintenance_every_ms: (market.data_maintenance_interval.0 / 1_000_000).max(1)
                as i64,
        }
    }
}

/// An action that is due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An order has been executed: the brokerage records the result.
    TradeResult {
        /// The order that was executed.
        order: Order,
        /// The price of the execution.
        price_cents: i64,
        /// When it was due.
        due_ms: i64,
    },
    /// A full batch of ticker entries, of ten results and ten others: [`FEED_ENTRIES`].
    MarketFeed {
        /// The entries, in order.
        entries: Vec<TickerEntry>,
        /// When the batch became full.
        due_ms: i64,
    },
    /// A batch of ticker entries that no result has caused.
    Ticker {
        /// The entries, in order.
        entries: Vec<TickerEntry>,
        /// When it was due.
        due_ms: i64,
    },
    /// A round of data maintenance, counted from 0.
    DataMaintenance {
        /// Number of the round.
        round: u64,
        /// When it was due.
        due_ms: i64,
    },
}

/// The state of an order.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// Waiting for its price, under this key.
    Watched((i64, u64)),
    /// Its price has come; the brokerage has not submitted it yet.
    Triggered,
    /// Submitted; the exchange has set the time of its result.
    Answered,
    /// Its result is being booked.
    Due { price_cents: i64 },
}

/// The exchange. It has no clock: timestamps are milliseconds of the caller's clock. When that goes
/// back a little, as among threads, nothing becomes due.
#[derive(Debug)]
pub struct Exchange {
    wave: PriceWave,
    answer_delay_ms: f64,
    rng: SeededRng,
    tape: TickerTape,
    /// All orders by trade; never iterated over.
    orders: HashMap<i64, (Order, Place)>,
    /// Limit orders that were submitted before they were registered as waiting.
    early: HashSet<i64>,
    /// Waiting trades by the time at which their price comes, and the order of arrival.
    watched: BTreeMap<(i64, u64), i64>,
    /// Submitted trades by the time of their result, and the order of arrival.
    answers: BTreeMap<(i64, u64), i64>,
    entered: u64,
    unsolicited_feeds: UnsolicitedFeeds,
    maintenance_every_ms: i64,
    next_maintenance_ms: i64,
    maintenance_rounds: u64,
}

/// Ticker batches that no result has caused.
#[derive(Debug)]
struct UnsolicitedFeeds {
    start_ms: i64,
    every_ms: Option<f64>,
    next: u64,
    dropped: u64,
}

impl UnsolicitedFeeds {
    fn due_ms(&self, number: u64) -> Option<i64> {
        let every_ms = self.every_ms?;
        Some(self.start_ms + ((number + 1) as f64 * every_ms) as i64)
    }

    /// The due times up to now.
    fn due(&mut self, now_ms: i64) -> Vec<i64> {
        let mut due = Vec::new();
        while let Some(at_ms) = self.due_ms(self.next).filter(|&at_ms| at_ms <= now_ms) {
            due.push(at_ms);
            self.next += 1;
        }
        let dropped = due.len().saturating_sub(MAX_OWN_FEEDS_DUE);
        self.dropped += dropped as u64;
        due.split_off(dropped)
    }
}

impl Exchange {
    /// An exchange for this many securities, from a time on.
    #[must_use]
    pub fn new(settings: &Settings, securities: u32, seed: u64, start_ms: i64) -> Self {
        assert!(settings.data_maintenance_every_ms > 0);
        let wave = PriceWave::new(settings.price_period_ms);
        let per_second = settings.ticker_per_second;
        let every_ms = (per_second > 0.0).then(|| FEED_ENTRIES as f64 / per_second * 1e3);
        Self {
            wave,
            answer_delay_ms: settings.answer_delay_ms,
            rng: SeededRng::new(seed, 0),
            tape: TickerTape::new(securities, wave, SeededRng::new(seed, 1)),
            orders: HashMap::new(),
            early: HashSet::new(),
            watched: BTreeMap::new(),
            answers: BTreeMap::new(),
            entered: 0,
            unsolicited_feeds: UnsolicitedFeeds {
                start_ms,
                every_ms,
                next: 0,
                dropped: 0,
            },
            maintenance_every_ms: settings.data_maintenance_every_ms,
            next_maintenance_ms: start_ms + settings.data_maintenance_every_ms,
            maintenance_rounds: 0,
        }
    }

    /// Takes an order whose transaction has been committed. An order sent twice counts once, so it
    /// may be sent again when the outcome of a commit is unknown.
    pub fn submit(&mut self, order: Order, now_ms: i64) {
        match order.instruction {
            Instruction::WaitForPrice => self.watch(order, now_ms),
            Instruction::Execute => self.execute(order, now_ms),
        }
    }

    fn watch(&mut self, order: Order, now_ms: i64) {
        if self.early.remove(&order.trade) || self.orders.contains_key(&order.trade) {
            return;
        }
        let (security, cents) = (order.security, order.bid_cents);
        let comes_ms = match order.kind {
            TradeKind::MarketBuy | TradeKind::MarketSell => Some(now_ms),
            TradeKind::LimitSell => self.wave.first_at_or_above(security, cents, now_ms),
            TradeKind::StopLoss | TradeKind::LimitBuy => {
                self.wave.first_at_or_below(security, cents, now_ms)
            }
        };
        // A price that never comes is waited for all the same.
        let key = (comes_ms.unwrap_or(i64::MAX), self.number());
        self.watched.insert(key, order.trade);
        self.orders
            .insert(order.trade, (order, Place::Watched(key)));
    }

    fn execute(&mut self, order: Order, now_ms: i64) {
        match self.orders.get(&order.trade) {
            Some((_, Place::Watched(key))) => {
                self.watched.remove(key);
            }
            Some((_, Place::Triggered)) => {}
            Some((_, Place::Answered | Place::Due { .. })) => return,
            None => {
                if !order.kind.is_market() && !self.early.insert(order.trade) {
                    return;
                }
            }
        }
        let times = execution_delay(&mut self.rng);
        let due_ms = now_ms + (times * self.answer_delay_ms) as i64;
        let key = (due_ms, self.number());
        self.answers.insert(key, order.trade);
        self.orders.insert(order.trade, (order, Place::Answered));
    }

    fn number(&mut self) -> u64 {
        self.entered += 1;
        self.entered
    }

    /// The result was booked: its price goes on the ticker tape, with another entry. False, without
    /// effect, if no such result was due.
    pub fn result_committed(&mut self, trade: i64, now_ms: i64) -> bool {
        let Some(&(order, Place::Due { price_cents })) = self.orders.get(&trade) else {
            return false;
        };
        self.orders.remove(&trade);
        self.trigger_up_to(now_ms);
        let entry = TickerEntry {
            security: order.security,
            price_cents,
            quantity: order.quantity,
        };
        self.tape.result(entry, now_ms);
        true
    }

    /// The result cannot be booked: the trade does not exist, or was cancelled. False if no such
    /// result was due.
    pub fn result_dropped(&mut self, trade: i64) -> bool {
        let is_due = matches!(self.orders.get(&trade), Some((_, Place::Due { .. })));
        if is_due {
            self.orders.remove(&trade);
        }
        is_due
    }

    /// Puts the waiting orders whose price has come on the ticker tape.
    fn trigger_up_to(&mut self, now_ms: i64) {
        while let Some(entry) = self.watched.first_entry() {
            let comes_ms = entry.key().0;
            if comes_ms > now_ms {
                return;
            }
            let trade = entry.remove();
            if let Some((order, place)) = self.orders.get_mut(&trade) {
                *place = Place::Triggered;
                self.tape.trigger(order, comes_ms);
            }
        }
    }

    /// Everything that is due, results first, each in the order of time.
    pub fn poll(&mut self, now_ms: i64) -> Vec<Action> {
        let mut actions = Vec::new();
        while let Some(entry) = self.answers.first_entry() {
            let due_ms = entry.key().0;
            if due_ms > now_ms {
                break;
            }
            let trade = entry.remove();
            actions.extend(self.answer(trade, due_ms));
        }
        self.trigger_up_to(now_ms);
        while let Some(entries) = self.tape.take_feed() {
            actions.push(Action::MarketFeed {
                entries,
                due_ms: now_ms,
            });
        }
        for due_ms in self.unsolicited_feeds.due(now_ms) {
            let entries = self.tape.unsolicited_feed(due_ms);
            actions.push(Action::Ticker { entries, due_ms });
        }
        while self.next_maintenance_ms <= now_ms {
            actions.push(Action::DataMaintenance {
                round: self.maintenance_rounds,
                due_ms: self.next_maintenance_ms,
            });
            self.maintenance_rounds += 1;
            self.next_maintenance_ms += self.maintenance_every_ms;
        }
        actions
    }

    fn answer(&mut self, trade: i64, due_ms: i64) -> Option<Action> {
        let (order, place) = self.orders.get_mut(&trade)?;
        let market_cents = self.wave.price_cents(order.security, due_ms);
        // A limit order is executed at its limit or better; a stop order at the market price.
        let price_cents = match order.kind {
            TradeKind::LimitSell => market_cents.max(order.bid_cents),
            TradeKind::LimitBuy => market_cents.min(order.bid_cents),
            TradeKind::MarketBuy | TradeKind::MarketSell | TradeKind::StopLoss => market_cents,
        };
        *place = Place::Due { price_cents };
        Some(Action::TradeResult {
            order: *order,
            price_cents,
            due_ms,
        })
    }

    /// When [`poll`](Self::poll) has something next, if nothing is submitted and no result is
    /// committed before.
    #[must_use]
    pub fn next_due_ms(&self) -> i64 {
        if self.tape.is_full() {
            return i64::MIN;
        }
        let answer = self.answers.keys().next().map(|key| key.0);
        let own = self.unsolicited_feeds.due_ms(self.unsolicited_feeds.next);
        let first = answer.into_iter().chain(own);
        first.fold(self.next_maintenance_ms, i64::min)
    }

    /// Number of orders whose result has not been committed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.orders.len()
    }

    /// Number of orders that wait for their price.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.watched.len()
    }

    /// Ticker batches dropped because nobody polled in time.
    #[must_use]
    pub fn dropped_feeds(&self) -> u64 {
        self.unsolicited_feeds.dropped
    }

    /// The price of a security at a moment.
    #[must_use]
    pub fn price_cents(&self, security: u32, at_ms: i64) -> i64 {
        self.wave.price_cents(security, at_ms)
    }
}
