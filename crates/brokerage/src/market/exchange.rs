//! The exchange: the closed loop between the house's orders and their results.

use super::order::{Asks, Order};
use super::tape::{FEED_ENTRIES, Tape, TickerEntry};
use super::wave::Wave;
use crate::transactions::kinds::TradeKind;
use std::collections::{BTreeMap, HashMap, HashSet};
use workload::profile::brokerage::Market;
use workload::random::Dice;

/// The longest answer, in average ones.
const LONGEST_ANSWER: f64 = 5.0;
/// Feeds of its own that the exchange has due at once at most: what is older is left out.
const OWN_FEEDS_AT_ONCE: usize = 64;

/// How the exchange works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// Average time until an order is carried out.
    pub answer_delay_ms: f64,
    /// Time in which every price rises and falls once.
    pub price_period_ms: u64,
    /// Prices per second that no result has caused; 0 for none.
    pub ticker_per_second: f64,
    /// Time between two rounds of data maintenance.
    pub data_maintenance_every_ms: i64,
}

impl From<&Market> for Settings {
    fn from(market: &Market) -> Self {
        Self {
            answer_delay_ms: market.answer_delay.0 as f64 / 1e6,
            price_period_ms: market.price_period.0 / 1_000_000,
            // The model's own; results and what is made up beside them are all there is here.
            ticker_per_second: 0.0,
            data_maintenance_every_ms: (market.data_maintenance_every.0 / 1_000_000).max(1) as i64,
        }
    }
}

/// What has become due.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// An order has been carried out: the house shall book it.
    TradeResult {
        /// The order.
        order: Order,
        /// At what price.
        price_cents: i64,
        /// When.
        due_ms: i64,
    },
    /// The prices of ten results, with ten others: [`FEED_ENTRIES`] of them.
    MarketFeed {
        /// In order.
        entries: Vec<TickerEntry>,
        /// When it became full.
        due_ms: i64,
    },
    /// Prices that the exchange sends of its own accord.
    Ticker {
        /// In order.
        entries: Vec<TickerEntry>,
        /// When.
        due_ms: i64,
    },
    /// A round of data maintenance, counted from 0.
    DataMaintenance {
        /// Which one.
        round: u64,
        /// When.
        due_ms: i64,
    },
}

/// Where an order is.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// It waits for its price, under this key.
    Watched((i64, u64)),
    /// Its price has come; the books have not said so yet.
    Triggered,
    /// It is being carried out.
    Answered,
    /// Its result is with the house.
    Due { price_cents: i64 },
}

/// The exchange. It has no clock: moments are milliseconds of the caller's clock. When they go back a
/// little, as among threads, nothing becomes due.
#[derive(Debug)]
pub struct Exchange {
    wave: Wave,
    answer_delay_ms: f64,
    dice: Dice,
    tape: Tape,
    /// Everything that it knows, by trade; never walked through.
    orders: HashMap<i64, (Order, Place)>,
    /// Orders that the books have called met before anybody asked to watch them.
    early: HashSet<i64>,
    /// Trades by the moment at which their price comes, and the order in which they came.
    watched: BTreeMap<(i64, u64), i64>,
    /// Trades by the moment of their answer, and the order in which they came.
    answers: BTreeMap<(i64, u64), i64>,
    entered: u64,
    own_feeds: OwnFeeds,
    maintenance_every_ms: i64,
    next_maintenance_ms: i64,
    maintenance_rounds: u64,
}

/// The feeds that the exchange sends of its own accord.
#[derive(Debug)]
struct OwnFeeds {
    start_ms: i64,
    every_ms: Option<f64>,
    next: u64,
    left_out: u64,
}

impl OwnFeeds {
    fn due_ms(&self, number: u64) -> Option<i64> {
        let every_ms = self.every_ms?;
        Some(self.start_ms + ((number + 1) as f64 * every_ms) as i64)
    }

    /// The moments of those due.
    fn due(&mut self, now_ms: i64) -> Vec<i64> {
        let mut due = Vec::new();
        while let Some(at_ms) = self.due_ms(self.next).filter(|&at_ms| at_ms <= now_ms) {
            due.push(at_ms);
            self.next += 1;
        }
        let left_out = due.len().saturating_sub(OWN_FEEDS_AT_ONCE);
        self.left_out += left_out as u64;
        due.split_off(left_out)
    }
}

impl Exchange {
    /// An exchange that trades so many securities, from a moment on.
    #[must_use]
    pub fn new(settings: &Settings, securities: u32, seed: u64, start_ms: i64) -> Self {
        assert!(settings.data_maintenance_every_ms > 0);
        let wave = Wave::new(settings.price_period_ms);
        let per_second = settings.ticker_per_second;
        let every_ms = (per_second > 0.0).then(|| FEED_ENTRIES as f64 / per_second * 1e3);
        Self {
            wave,
            answer_delay_ms: settings.answer_delay_ms,
            dice: Dice::new(seed, 0),
            tape: Tape::new(securities, wave, Dice::new(seed, 1)),
            orders: HashMap::new(),
            early: HashSet::new(),
            watched: BTreeMap::new(),
            answers: BTreeMap::new(),
            entered: 0,
            own_feeds: OwnFeeds {
                start_ms,
                every_ms,
                next: 0,
                left_out: 0,
            },
            maintenance_every_ms: settings.data_maintenance_every_ms,
            next_maintenance_ms: start_ms + settings.data_maintenance_every_ms,
            maintenance_rounds: 0,
        }
    }

    /// The house sends an order, after its transaction has been committed. An order sent twice
    /// counts once, so what a lost answer leaves in doubt may be sent again.
    pub fn submit(&mut self, order: Order, now_ms: i64) {
        match order.asks {
            Asks::ToWatch => self.watch(order, now_ms),
            Asks::ToExecute => self.execute(order, now_ms),
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
        // A price that never comes is watched for all the same.
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
        let times = self.dice.exponential().min(LONGEST_ANSWER);
        let due_ms = now_ms + (times * self.answer_delay_ms) as i64;
        let key = (due_ms, self.number());
        self.answers.insert(key, order.trade);
        self.orders.insert(order.trade, (order, Place::Answered));
    }

    fn number(&mut self) -> u64 {
        self.entered += 1;
        self.entered
    }

    /// The house has booked a result: its price goes on the tape, with another one beside it. False
    /// if no such result was due; nothing happens then.
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

    /// The house cannot book a result, now or ever: the books do not know the trade, or it was given
    /// up. False if no such result was due.
    pub fn result_abandoned(&mut self, trade: i64) -> bool {
        let is_due = matches!(self.orders.get(&trade), Some((_, Place::Due { .. })));
        if is_due {
            self.orders.remove(&trade);
        }
        is_due
    }

    /// Puts the waiting orders on the tape whose price has come.
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

    /// Everything that has become due, results first, each in the order of its time.
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
        for due_ms in self.own_feeds.due(now_ms) {
            let entries = self.tape.own_feed(due_ms);
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
        // A limit order gets its limit or better; a stop order gets what there is.
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

    /// The moment at which [`poll`](Self::poll) has something next, if nothing is submitted and no
    /// result is committed before.
    #[must_use]
    pub fn next_due_ms(&self) -> i64 {
        if self.tape.is_full() {
            return i64::MIN;
        }
        let answer = self.answers.keys().next().map(|key| key.0);
        let own = self.own_feeds.due_ms(self.own_feeds.next);
        let first = answer.into_iter().chain(own);
        first.fold(self.next_maintenance_ms, i64::min)
    }

    /// Orders that were submitted and whose result has not been committed.
    #[must_use]
    pub fn pending(&self) -> usize {
        self.orders.len()
    }

    /// Those of them that wait for their price.
    #[must_use]
    pub fn watched(&self) -> usize {
        self.watched.len()
    }

    /// Feeds of its own that were left out because nobody asked for them in time.
    #[must_use]
    pub fn feeds_left_out(&self) -> u64 {
        self.own_feeds.left_out
    }

    /// The price of a security at a moment.
    #[must_use]
    pub fn price_cents(&self, security: u32, at_ms: i64) -> i64 {
        self.wave.price_cents(security, at_ms)
    }
}
