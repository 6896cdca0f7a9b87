//! The market's hands: they book results, carry prices into the books, and look after old data.

use super::attempt::Seat;
use super::floor::Floor;
use super::line::lock;
use crate::market::{Action, Order, TickerEntry};
use crate::transactions::{Inputs, data_maintenance, market_feed, trade_result};
use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;
use workload::brokerage::kinds::Operation;
use workload::random::Dice;

/// How often the hand that watches looks at the exchange, at most and at least: the exchange takes
/// a second for its answers, so some milliseconds more are not seen.
const LOOK_MS: std::ops::RangeInclusive<i64> = 10..=20;
/// How often a hand that waits to be called looks whether the floor is still open. It is called
/// when the floor closes, too.
const LONGEST_WAIT: Duration = Duration::from_secs(1);
/// Streams of the seed for the hands.
const STREAM: u64 = 1 << 33;

/// Where hands find what to do. One of those without work watches the exchange; the others wait
/// until it calls them, so that many hands cost no more than one while there is little to do.
#[derive(Debug, Default)]
pub struct Desk {
    due: Mutex<Due>,
    called: Condvar,
}

#[derive(Debug, Default)]
struct Due {
    /// What is due and nobody has taken yet.
    actions: VecDeque<Action>,
    is_watched: bool,
}

/// How many hands keep up with so many users: results take some times as long as what users do
/// on average, and feeds are twenty transactions each.
#[must_use]
pub fn number_of(users: u32) -> u32 {
    (users * 3 / 4).max(4)
}

/// One hand, until the floor closes.
pub fn work(floor: &Floor, desk: &Desk, number: u32, seed: u64) {
    let stream = STREAM + u64::from(number);
    let mut hand = Hand {
        floor,
        seat: Seat::new(floor, Dice::new(seed, stream)),
        inputs: floor.inputs(stream),
    };
    while let Some(action) = desk.next(floor) {
        hand.carry_out(&action);
    }
}

impl Desk {
    /// The next thing to do, waiting for one; `None` when the floor closes.
    fn next(&self, floor: &Floor) -> Option<Action> {
        let mut due = lock(&self.due);
        while floor.is_open() {
            if let Some(action) = due.actions.pop_front() {
                return Some(action);
            }
            if due.is_watched {
                let waited = self.called.wait_timeout(due, LONGEST_WAIT);
                due = waited.unwrap_or_else(PoisonError::into_inner).0;
                continue;
            }
            let Err(rest) = due.look(floor) else {
                // One for each action but ours, and one to watch in our place.
                (0..due.actions.len()).for_each(|_| self.called.notify_one());
                continue;
            };
            due.is_watched = true;
            drop(due);
            thread::sleep(rest);
            due = lock(&self.due);
            due.is_watched = false;
        }
        self.called.notify_all();
        None
    }
}

impl Due {
    /// Takes what is due at the exchange, or says how long to wait for something.
    fn look(&mut self, floor: &Floor) -> Result<(), Duration> {
        let mut exchange = lock(&floor.exchange);
        let now_ms = floor.now_ms();
        self.actions.extend(exchange.poll(now_ms));
        if !self.actions.is_empty() {
            return Ok(());
        }
        let rest_ms = exchange.next_due_ms().saturating_sub(now_ms);
        let rest_ms = rest_ms.clamp(*LOOK_MS.start(), *LOOK_MS.end());
        Err(Duration::from_millis(rest_ms.unsigned_abs()))
    }
}

struct Hand<'a> {
    floor: &'a Floor,
    seat: Seat<'a>,
    inputs: Inputs,
}

impl Hand<'_> {
    fn carry_out(&mut self, action: &Action) {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => self.book(order, *price_cents),
            Action::MarketFeed { entries, .. } => self.feed(entries, Operation::MarketFeed),
            Action::Ticker { entries, .. } => self.feed(entries, Operation::Ticker),
            Action::DataMaintenance { round, .. } => self.maintain(*round),
        }
    }

    fn book(&mut self, order: &Order, price_cents: i64) {
        let (floor, begun_ns) = (self.floor, self.floor.line.now_ns());
        let input = trade_result::Input {
            trade: order.trade,
            price_cents,
            now_ms: floor.now_ms(),
        };
        let run = |session: &mut dyn crate::session::Session, _| trade_result::run(session, &input);
        let Some(result) = self.seat.attempt(Operation::TradeResult, run) else {
            return;
        };
        use trade_result::TradeResult;
        match result {
            TradeResult::Booked(_) | TradeResult::BookedBefore => {
                floor.count(Operation::TradeResult, begun_ns, None);
                lock(&floor.exchange).result_committed(order.trade, floor.now_ms());
            }
            TradeResult::NotSubmitted { .. } | TradeResult::Missing => {
                lock(&floor.exchange).result_abandoned(order.trade);
                floor
                    .line
                    .counts()
                    .operation_failed(super::line::FIRST, Operation::TradeResult as usize);
            }
        }
    }

    /// Each entry of a feed is a transaction of its own.
    fn feed(&mut self, entries: &[TickerEntry], operation: Operation) {
        let floor = self.floor;
        let feed_begun_ns = floor.line.now_ns();
        for entry in entries {
            let begun_ns = floor.line.now_ns();
            let input = market_feed::Input {
                symbol: floor.house.symbol(entry.security).to_string(),
                price_cents: entry.price_cents,
                quantity: entry.quantity,
                now_ms: floor.now_ms(),
            };
            let run = |session: &mut dyn crate::session::Session, is_in_doubt| {
                let mut orders = market_feed::run(session, &input)?.to_market;
                if is_in_doubt {
                    let sent_on = market_feed::sent_on(session, &input.symbol, input.now_ms)?;
                    orders.extend(sent_on);
                }
                Ok(orders)
            };
            let Some(orders) = self.seat.attempt(Operation::FeedEntry, run) else {
                return;
            };
            floor.submit(&orders);
            floor.count(Operation::FeedEntry, begun_ns, None);
        }
        floor.count(operation, feed_begun_ns, None);
    }

    fn maintain(&mut self, round: u64) {
        let (floor, begun_ns) = (self.floor, self.floor.line.now_ns());
        let input = self.inputs.data_maintenance(round, floor.now_ms());
        let run =
            |session: &mut dyn crate::session::Session, _| data_maintenance::run(session, &input);
        if self.seat.attempt(Operation::DataMaintenance, run).is_some() {
            floor.count(Operation::DataMaintenance, begun_ns, None);
        }
    }
}
