//! The exchange against a model that keeps the waiting orders in a list.

use super::*;
use crate::kinds::TradeKind;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};
use workload::random::SeededRng;

const SECURITIES: u32 = 40;

fn settings(ticker_per_second: f64) -> Settings {
    Settings {
        answer_delay_ms: 1_000.0,
        price_period_ms: 9_000,
        ticker_per_second,
        data_maintenance_every_ms: 60_000,
    }
}

/// A brokerage with its waiting orders.
struct Brokerage {
    exchange: Exchange,
    rng: SeededRng,
    waiting: BTreeMap<i64, Order>,
    submitted: BTreeSet<i64>,
    results: BTreeSet<i64>,
    answered: Vec<(i64, i64, i64)>,
    feeds: u64,
    rounds: u64,
    unsolicited_feeds: u64,
}

impl Brokerage {
    fn new(seed: u64, ticker_per_second: f64) -> Self {
        Self {
            exchange: Exchange::new(&settings(ticker_per_second), SECURITIES, seed, 0),
            rng: SeededRng::new(seed, 7),
            waiting: BTreeMap::new(),
            submitted: BTreeSet::new(),
            results: BTreeSet::new(),
            answered: Vec::new(),
            feeds: 0,
            rounds: 0,
            unsolicited_feeds: 0,
        }
    }

    /// Enters an order. Some limit orders reach the exchange only after they are in the database.
    fn order(&mut self, trade: i64, now_ms: i64, late: &mut Vec<Order>) {
        let kind = TradeKind::ALL[self.rng.below(5) as usize];
        let order = Order {
            trade,
            security: self.rng.below(u64::from(SECURITIES)) as u32,
            kind,
            quantity: 100,
            bid_cents: 2_000 + self.rng.below(1_001) as i64,
            instruction: if kind.is_market() {
                Instruction::Execute
            } else {
                Instruction::WaitForPrice
            },
        };
        self.submitted.insert(trade);
        if order.instruction == Instruction::WaitForPrice {
            self.waiting.insert(trade, order);
            if self.rng.happens(0.1) {
                late.push(order);
                return;
            }
        }
        self.exchange.submit(order, now_ms);
    }

    fn poll(&mut self, now_ms: i64) {
        for action in self.exchange.poll(now_ms) {
            match action {
                Action::TradeResult {
                    order,
                    price_cents,
                    due_ms,
                } => {
                    assert!(due_ms <= now_ms);
                    assert!(
                        order.kind == TradeKind::StopLoss
                            || order.kind.is_met(order.bid_cents, price_cents)
                    );
                    assert!(!self.waiting.contains_key(&order.trade));
                    assert!(self.results.insert(order.trade), "two results");
                    self.answered.push((order.trade, price_cents, due_ms));
                    assert!(self.exchange.result_committed(order.trade, now_ms));
                    assert!(!self.exchange.result_committed(order.trade, now_ms));
                }
                Action::MarketFeed { entries, .. } => {
                    self.feeds += 1;
                    self.feed(&entries, now_ms);
                }
                Action::Ticker { entries, .. } => {
                    self.unsolicited_feeds += 1;
                    self.feed(&entries, now_ms);
                }
                Action::DataMaintenance { round, due_ms } => {
                    assert_eq!(round, self.rounds);
                    self.rounds += 1;
                    assert_eq!(due_ms, self.rounds as i64 * 60_000);
                }
            }
        }
    }

    /// A feed submits every waiting order whose price has come.
    fn feed(&mut self, entries: &[TickerEntry], now_ms: i64) {
        assert_eq!(entries.len(), FEED_ENTRIES);
        for entry in entries {
            let met: Vec<i64> = self
                .waiting
                .values()
                .filter(|order| order.security == entry.security)
                .filter(|order| order.kind.is_met(order.bid_cents, entry.price_cents))
                .map(|order| order.trade)
                .collect();
            for trade in met {
                let order = self.waiting.remove(&trade).unwrap();
                let order = Order {
                    instruction: Instruction::Execute,
                    ..order
                };
                self.exchange.submit(order, now_ms);
                self.exchange.submit(order, now_ms);
            }
        }
    }
}

fn play(seed: u64, ticker_per_second: f64, steps: u32) -> Brokerage {
    let mut brokerage = Brokerage::new(seed, ticker_per_second);
    let mut late = Vec::new();
    let mut now_ms = 0;
    for trade in 0..i64::from(steps) {
        now_ms += brokerage.rng.below(60) as i64;
        brokerage.order(trade, now_ms, &mut late);
        if brokerage.rng.happens(0.3) {
            brokerage.poll(now_ms);
        }
        if late.len() > 5 {
            let order = late.remove(0);
            brokerage.exchange.submit(order, now_ms);
        }
    }
    for order in late {
        brokerage.exchange.submit(order, now_ms);
    }
    for _ in 0..200 {
        now_ms += 100;
        brokerage.poll(now_ms);
    }
    brokerage
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_order_ends_in_one_result_or_is_pending(seed in any::<u64>(), own in 0_u32..3) {
        let brokerage = play(seed, f64::from(own) * 100.0, 1_500);
        let done = brokerage.results.len();
        prop_assert!(done > 1_000, "{done}");
        prop_assert_eq!(done + brokerage.exchange.pending(), brokerage.submitted.len());
        prop_assert!(brokerage.results.is_subset(&brokerage.submitted));
        prop_assert_eq!(brokerage.feeds, done as u64 / 10);
        // With ticker batches of its own, everything has been executed but what the last feed,
        // which is not full, would trigger.
        if own > 0 {
            prop_assert!(brokerage.exchange.pending() < FEED_ENTRIES / 2);
            prop_assert!(brokerage.unsolicited_feeds > 100);
        }
    }
}

#[test]
fn the_same_seed_plays_the_same_market() {
    let actions = |seed| {
        let brokerage = play(seed, 0.0, 500);
        (brokerage.answered, brokerage.feeds)
    };
    assert_eq!(actions(3), actions(3));
    assert_ne!(actions(3), actions(4));
}

#[test]
fn answers_come_after_their_average_and_never_late() {
    let mut exchange = Exchange::new(&settings(0.0), SECURITIES, 6, 0);
    let orders = 50_000;
    for trade in 0..orders {
        let order = Order {
            trade,
            security: 1,
            kind: TradeKind::MarketBuy,
            quantity: 100,
            bid_cents: 2_500,
            instruction: Instruction::Execute,
        };
        exchange.submit(order, 0);
    }
    let due: Vec<i64> = exchange
        .poll(5_000)
        .into_iter()
        .map(|action| match action {
            Action::TradeResult { due_ms, .. } => due_ms,
            other => panic!("{other:?}"),
        })
        .collect();
    assert_eq!(due.len() as i64, orders);
    assert!(due.windows(2).all(|pair| pair[0] <= pair[1]));
    // Cutting an exponential at five times its mean leaves 0.9933 of the mean.
    let mean = due.iter().sum::<i64>() as f64 / due.len() as f64;
    assert!((mean / 993.0 - 1.0).abs() < 0.02, "{mean}");
}

#[test]
fn a_price_out_of_reach_is_waited_for_and_the_next_moment_is_known() {
    let mut exchange = Exchange::new(&settings(0.0), SECURITIES, 6, 1_000);
    let order = Order {
        trade: 9,
        security: 1,
        kind: TradeKind::LimitBuy,
        quantity: 100,
        bid_cents: 1_999,
        instruction: Instruction::WaitForPrice,
    };
    exchange.submit(order, 1_000);
    assert_eq!(exchange.next_due_ms(), 61_000);
    assert_eq!(exchange.poll(60_999), Vec::new());
    assert_eq!((exchange.pending(), exchange.watched()), (1, 1));
    assert!(!exchange.result_dropped(9));
    let due = Action::DataMaintenance {
        round: 0,
        due_ms: 61_000,
    };
    assert_eq!(exchange.poll(61_000), vec![due]);
}

#[test]
fn a_market_that_is_not_polled_drops_old_feeds() {
    let mut exchange = Exchange::new(&settings(1_000.0), SECURITIES, 6, 0);
    let feeds = exchange.poll(10_000).len();
    assert_eq!(feeds, 64);
    assert_eq!(exchange.dropped_feeds(), 500 - 64);
}
