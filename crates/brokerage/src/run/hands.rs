//! The market's hands: they book results, carry prices into the books, and look after old data.

use super::attempt::Seat;
use super::floor::Floor;
use super::line::lock;
use crate::market::{Action, Order, TickerEntry};
use crate::session::Session;
use crate::transactions::{Inputs, data_maintenance, market_feed, trade_result};
use runtime::thread::pause;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Mutex;
use std::task::{Poll, Waker};
use std::thread;
use std::time::Duration;
use workload::brokerage::kinds::Operation;
use workload::random::Dice;

/// How often the hand that watches looks at the exchange, at most and at least: the exchange takes
/// a second for its answers, so some milliseconds more are not seen.
const LOOK_MS: std::ops::RangeInclusive<i64> = 10..=20;
/// Streams of the seed for the hands.
const STREAM: u64 = 1 << 33;

/// Where hands find what to do. One of those without work watches the exchange; the others wait
/// until it calls them, so that many hands cost no more than one while there is little to do.
#[derive(Debug, Default)]
pub struct Desk(Mutex<Due>);

#[derive(Debug, Default)]
struct Due {
    /// What is due and nobody has taken yet.
    actions: VecDeque<Action>,
    is_watched: bool,
    /// Hands that wait to be called. While there are any, one watches or is on its way to.
    waiting: VecDeque<(u32, Waker)>,
}

/// What a hand does next.
enum Turn {
    CarryOut(Action),
    /// Watch the exchange, and look again after so long.
    Watch(Duration),
    /// Wait to be called.
    Wait,
}

/// How many hands keep up with so many users: results take some times as long as what users do
/// on average, and feeds are twenty transactions each.
#[must_use]
pub fn number_of(users: u32) -> u32 {
    (users * 3 / 4).max(4)
}

/// One hand, until the floor closes.
pub async fn work(floor: &Floor, desk: &Desk, number: u32, seed: u64) {
    let stream = STREAM + u64::from(number);
    let mut hand = Hand {
        floor,
        seat: Seat::new(floor, Dice::new(seed, stream)),
        inputs: floor.inputs(stream),
    };
    while let Some(action) = desk.next(floor, number).await {
        hand.carry_out(&action).await;
    }
}

impl Desk {
    /// The next thing to do, waiting for one; `None` when the floor closes.
    async fn next(&self, floor: &Floor, hand: u32) -> Option<Action> {
        while floor.is_open() {
            match self.turn(floor) {
                Turn::CarryOut(action) => return Some(action),
                Turn::Watch(rest) => {
                    let watch = Watch(self);
                    pause(rest).await;
                    drop(watch);
                }
                Turn::Wait => self.called(floor, hand).await,
            }
        }
        lock(&self.0).call(usize::MAX);
        None
    }

    fn turn(&self, floor: &Floor) -> Turn {
        let mut due = lock(&self.0);
        if let Some(action) = due.actions.pop_front() {
            return Turn::CarryOut(action);
        }
        if due.is_watched {
            return Turn::Wait;
        }
        let rest = due.look(floor);
        let Some(action) = due.actions.pop_front() else {
            due.is_watched = true;
            return Turn::Watch(rest);
        };
        // One for each of the others, and one to watch in our place.
        let hands = due.actions.len() + 1;
        due.call(hands);
        Turn::CarryOut(action)
    }

    /// Waits to be called, or for a reason not to wait.
    async fn called(&self, floor: &Floor, hand: u32) {
        let mut was_waiting = false;
        poll_fn(|context| {
            let mut due = lock(&self.0);
            let place = due.waiting.iter().position(|(number, _)| *number == hand);
            let is_called = was_waiting && place.is_none();
            let nobody_calls = !due.is_watched || !floor.is_open();
            if is_called || nobody_calls || !due.actions.is_empty() {
                due.waiting.retain(|(number, _)| *number != hand);
                return Poll::Ready(());
            }
            let waker = context.waker().clone();
            match place {
                Some(place) => due.waiting[place].1 = waker,
                None => due.waiting.push_back((hand, waker)),
            }
            was_waiting = true;
            Poll::Pending
        })
        .await;
    }
}

/// A hand's watch over the exchange, which ends however the hand does.
struct Watch<'a>(&'a Desk);

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        let mut due = lock(&self.0.0);
        due.is_watched = false;
        if thread::panicking() {
            due.call(usize::MAX);
        }
    }
}

impl Due {
    /// Takes what is due at the exchange. Gives how long to wait before looking again.
    fn look(&mut self, floor: &Floor) -> Duration {
        let mut exchange = lock(&floor.exchange);
        let now_ms = floor.now_ms();
        self.actions.extend(exchange.poll(now_ms));
        let rest_ms = exchange.next_due_ms().saturating_sub(now_ms);
        let rest_ms = rest_ms.clamp(*LOOK_MS.start(), *LOOK_MS.end());
        Duration::from_millis(rest_ms.unsigned_abs())
    }

    /// Calls so many of those who wait, those who have waited longest first.
    fn call(&mut self, hands: usize) {
        let hands = hands.min(self.waiting.len());
        for (_, waker) in self.waiting.drain(..hands) {
            waker.wake();
        }
    }
}

struct Hand<'a> {
    floor: &'a Floor,
    seat: Seat<'a>,
    inputs: Inputs,
}

impl Hand<'_> {
    async fn carry_out(&mut self, action: &Action) {
        match action {
            Action::TradeResult {
                order, price_cents, ..
            } => self.book(order, *price_cents).await,
            Action::MarketFeed { entries, .. } => self.feed(entries, Operation::MarketFeed).await,
            Action::Ticker { entries, .. } => self.feed(entries, Operation::Ticker).await,
            Action::DataMaintenance { round, .. } => self.maintain(*round).await,
        }
    }

    async fn book(&mut self, order: &Order, price_cents: i64) {
        let (floor, begun_ns) = (self.floor, self.floor.line.now_ns());
        let input = trade_result::Input {
            trade: order.trade,
            price_cents,
            now_ms: floor.now_ms(),
        };
        let run = async |session: &mut dyn Session, _| trade_result::run(session, &input).await;
        let Some(result) = self.seat.attempt(Operation::TradeResult, run).await else {
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
    async fn feed(&mut self, entries: &[TickerEntry], operation: Operation) {
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
            let run = async |session: &mut dyn Session, is_in_doubt| {
                let mut orders = market_feed::run(session, &input).await?.to_market;
                if is_in_doubt {
                    let sent_on = market_feed::sent_on(session, &input.symbol, input.now_ms);
                    orders.extend(sent_on.await?);
                }
                Ok(orders)
            };
            let Some(orders) = self.seat.attempt(Operation::FeedEntry, run).await else {
                return;
            };
            floor.submit(&orders);
            floor.count(Operation::FeedEntry, begun_ns, None);
        }
        floor.count(operation, feed_begun_ns, None);
    }

    async fn maintain(&mut self, round: u64) {
        let (floor, begun_ns) = (self.floor, self.floor.line.now_ns());
        let input = self.inputs.data_maintenance(round, floor.now_ms());
        let run = async |session: &mut dyn Session, _| data_maintenance::run(session, &input).await;
        let done = self.seat.attempt(Operation::DataMaintenance, run).await;
        if done.is_some() {
            floor.count(Operation::DataMaintenance, begun_ns, None);
        }
    }
}
