//! What is in doubt after a lost answer can be found out, and trying again does no harm; maintenance
//! changes what it is about.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

mod common;
mod house;

use brokerage::books::{self, Before};
use brokerage::database::Database;
use brokerage::database::sqlite::Sqlite;
use brokerage::house::House;
use brokerage::market::Asks;
use brokerage::session::Session;
use brokerage::transactions::kinds::{Status, TradeKind};
use brokerage::transactions::trade_order::{self, Executor, Outcome, TradeOrder};
use brokerage::transactions::trade_result::{self, TradeResult};
use brokerage::transactions::{Inputs, clean_up, data_maintenance, market_feed};
use runtime::thread::complete;
use workload::profile::brokerage::Orders;

struct Desk {
    session: Box<dyn Session>,
    house: House,
    inputs: Inputs,
    next_trade: i64,
    now_ms: i64,
}

impl Desk {
    /// An order of a kind, as the owner gives it.
    fn order(&mut self, kind: TradeKind, limit_cents: i64) -> trade_order::Input {
        self.next_trade += 1;
        self.now_ms += 1_000;
        let drawn = self.inputs.trade_order(self.next_trade, self.now_ms);
        trade_order::Input {
            kind,
            limit_cents,
            executor: None,
            is_margin: false,
            rolls_back: false,
            ..drawn
        }
    }

    fn enter(&mut self, input: &trade_order::Input) -> TradeOrder {
        complete(trade_order::run(&mut *self.session, input)).unwrap()
    }

    fn was_entered(&mut self, trade: i64) -> bool {
        complete(trade_order::was_entered(&mut *self.session, trade)).unwrap()
    }

    fn result(&mut self, trade: i64) -> TradeResult {
        let input = trade_result::Input {
            trade,
            price_cents: 2_345,
            now_ms: self.now_ms,
        };
        complete(trade_result::run(&mut *self.session, &input)).unwrap()
    }

    fn orders_are_known_or_not(&mut self) {
        let entered = self.order(TradeKind::MarketBuy, 0);
        let done = self.enter(&entered);
        assert_eq!(done.outcome, Outcome::Entered);
        assert_eq!(done.to_market.unwrap().asks, Asks::ToExecute);
        assert!(self.was_entered(entered.trade));
        // The same id again is refused, and the session goes on.
        complete(trade_order::run(&mut *self.session, &entered)).unwrap_err();
        let mut rolled_back = self.order(TradeKind::MarketSell, 0);
        rolled_back.rolls_back = true;
        let done = self.enter(&rolled_back);
        assert_eq!((done.outcome, done.to_market), (Outcome::RolledBack, None));
        assert!(!self.was_entered(rolled_back.trade));
        let mut stranger = self.order(TradeKind::MarketSell, 0);
        stranger.executor = Some(Executor {
            tax_id: "nobody".to_owned(),
            last_name: "No".to_owned(),
            first_name: "Body".to_owned(),
        });
        let done = self.enter(&stranger);
        assert_eq!(
            (done.outcome, done.to_market),
            (Outcome::NotPermitted, None)
        );
        assert!(!self.was_entered(stranger.trade));
        let booked = self.result(entered.trade);
        assert!(matches!(booked, TradeResult::Booked(_)), "{booked:?}");
        assert_eq!(self.result(entered.trade), TradeResult::BookedBefore);
        assert_eq!(self.result(rolled_back.trade), TradeResult::Missing);
    }

    fn waiting_orders_are_sent_on_once(&mut self) {
        let waits = self.order(TradeKind::LimitBuy, 2_500);
        let sent = self.enter(&waits).to_market.unwrap();
        assert_eq!(sent.asks, Asks::ToWatch);
        let status = Status::Pending.id();
        assert_eq!(
            self.result(waits.trade),
            TradeResult::NotSubmitted { status }
        );
        let price = |price_cents, now_ms| market_feed::Input {
            symbol: waits.symbol.clone(),
            price_cents,
            quantity: 100,
            now_ms,
        };
        let since_ms = self.now_ms;
        let high = complete(market_feed::run(
            &mut *self.session,
            &price(2_501, since_ms),
        ))
        .unwrap();
        assert_eq!(high.to_market, []);
        let sent_on = complete(market_feed::sent_on(
            &mut *self.session,
            &waits.symbol,
            since_ms,
        ))
        .unwrap();
        assert_eq!(sent_on, []);
        let met = complete(market_feed::run(
            &mut *self.session,
            &price(2_500, since_ms),
        ))
        .unwrap();
        assert_eq!(met.to_market.len(), 1);
        assert_eq!(met.to_market[0].trade, waits.trade);
        assert_eq!(met.to_market[0].asks, Asks::ToExecute);
        let sent_on = complete(market_feed::sent_on(
            &mut *self.session,
            &waits.symbol,
            since_ms,
        ))
        .unwrap();
        assert_eq!(sent_on, met.to_market);
        let again = complete(market_feed::run(
            &mut *self.session,
            &price(2_500, since_ms),
        ))
        .unwrap();
        assert_eq!(again.to_market, []);
        assert!(matches!(self.result(waits.trade), TradeResult::Booked(_)));
        let sent_on = complete(market_feed::sent_on(
            &mut *self.session,
            &waits.symbol,
            since_ms,
        ))
        .unwrap();
        assert_eq!(sent_on, []);
        // There is no such security.
        let unknown = market_feed::Input {
            symbol: "NONE".to_owned(),
            ..price(2_500, since_ms)
        };
        complete(market_feed::run(&mut *self.session, &unknown)).unwrap_err();
    }

    fn what_is_left_open_is_given_up(&mut self) {
        let waits = self.order(TradeKind::StopLoss, 2_100);
        self.enter(&waits);
        let market = self.order(TradeKind::MarketBuy, 0);
        self.enter(&market);
        let input = clean_up::Input {
            after_trade: self.house.built_trades() as i64,
            now_ms: self.now_ms + 1,
        };
        let cleaned = clean_up::run(&mut *self.session, &input).unwrap();
        assert_eq!((cleaned.cancelled, cleaned.requests), (2, 1));
        let status = Status::Cancelled.id();
        assert_eq!(
            self.result(market.trade),
            TradeResult::NotSubmitted { status }
        );
        let last = clean_up::last_moment(&mut *self.session, input.after_trade).unwrap();
        assert_eq!(last, input.now_ms);
        let last = clean_up::last_trade(&mut *self.session).unwrap();
        assert_eq!(last, market.trade);
    }

    /// Three times round all tables: each round changes what it is about.
    fn maintenance_changes_rows(&mut self) {
        for round in 0..36 {
            let input = self.inputs.data_maintenance(round, self.now_ms);
            let done = complete(data_maintenance::run(&mut *self.session, &input)).unwrap();
            let expected = match input {
                data_maintenance::Input::Permissions { .. } => 1..=3,
                // One day of thirty in 18 weeks, Monday to Friday.
                data_maintenance::Input::DailyMarket { .. } => 2..=4,
                data_maintenance::Input::Exchanges { .. } => 4..=4,
                data_maintenance::Input::Reports { .. } => 20..=20,
                _ => 1..=1,
            };
            assert!(expected.contains(&done.changed), "{input:?} {done:?}");
        }
        // What moved forth moves back.
        let reports = data_maintenance::Input::Reports { company: 1 };
        let mut run = || complete(data_maintenance::run(&mut *self.session, &reports)).unwrap();
        let days = [run().now, run().now, run().now].concat();
        assert!(
            days == ["1", "-1", "1"] || days == ["-1", "1", "-1"],
            "{days:?}"
        );
    }
}

#[test]
fn what_is_in_doubt_can_be_found_out() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 1);
    let house = House::new(1_000, 1, 3);
    house::build(&sqlite, house);
    let mut session = sqlite.connect().unwrap();
    let before = Before::note(&mut *session).unwrap();
    let mut desk = Desk {
        session,
        house,
        inputs: Inputs::new(house, &Orders::default(), 1, 1),
        next_trade: before.last_trade(),
        now_ms: house.opening_ms(),
    };
    for _ in 0..5 {
        desk.orders_are_known_or_not();
        desk.waiting_orders_are_sent_on_once();
        desk.what_is_left_open_is_given_up();
    }
    desk.maintenance_changes_rows();
    let checked = books::check(&mut *desk.session, &before).unwrap();
    assert_eq!(checked.broken, []);
    assert_eq!((checked.completed, checked.cancelled), (10, 10));
    assert_eq!((checked.pending, checked.submitted), (0, 0));
}
