//! The outcome of a commit whose answer was lost can be found, and a retry does no harm; data
//! maintenance changes what it is about.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use crate::data_set;
use brokerage::checks::{self, Baseline};
use brokerage::database::Database;
use brokerage::database::sqlite::Sqlite;
use brokerage::dataset::DataSet;
use brokerage::kinds::{Status, TradeKind};
use brokerage::market::Instruction;
use brokerage::profile::Orders;
use brokerage::run::recovery;
use brokerage::session::Session;
use brokerage::transactions::trade_order::{self, Executor, Outcome, TradeOrder};
use brokerage::transactions::trade_result::{self, TradeResult};
use brokerage::transactions::{Inputs, clean_up, data_maintenance, market_feed};
use runtime::thread::complete;

struct ActionQueue {
    session: Box<dyn Session>,
    data_set: DataSet,
    inputs: Inputs,
    next_trade: i64,
    now_ms: i64,
}

impl ActionQueue {
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

    /// What a run finds when the commit of an order was not answered.
    fn was_entered(&mut self, trade: i64) -> bool {
        let found = complete(recovery::entered(&mut *self.session, trade));
        found.unwrap().is_some()
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
        assert_eq!(
            done.market_orders.unwrap().instruction,
            Instruction::Execute
        );
        assert!(self.was_entered(entered.trade));
        // The same id again is refused, and the session goes on.
        complete(trade_order::run(&mut *self.session, &entered)).unwrap_err();
        let mut rolled_back = self.order(TradeKind::MarketSell, 0);
        rolled_back.rolls_back = true;
        let done = self.enter(&rolled_back);
        assert_eq!(
            (done.outcome, done.market_orders),
            (Outcome::RolledBack, None)
        );
        assert!(!self.was_entered(rolled_back.trade));
        let mut stranger = self.order(TradeKind::MarketSell, 0);
        stranger.executor = Some(Executor {
            tax_id: "nobody".to_owned(),
            last_name: "No".to_owned(),
            first_name: "Body".to_owned(),
        });
        let done = self.enter(&stranger);
        assert_eq!(
            (done.outcome, done.market_orders),
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
        let sent = self.enter(&waits).market_orders.unwrap();
        assert_eq!(sent.instruction, Instruction::WaitForPrice);
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
        assert_eq!(high.market_orders, []);
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
        assert_eq!(met.market_orders.len(), 1);
        assert_eq!(met.market_orders[0].trade, waits.trade);
        assert_eq!(met.market_orders[0].instruction, Instruction::Execute);
        let sent_on = complete(market_feed::sent_on(
            &mut *self.session,
            &waits.symbol,
            since_ms,
        ))
        .unwrap();
        assert_eq!(sent_on, met.market_orders);
        let again = complete(market_feed::run(
            &mut *self.session,
            &price(2_500, since_ms),
        ))
        .unwrap();
        assert_eq!(again.market_orders, []);
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

    fn open_orders_are_cancelled(&mut self) {
        let waits = self.order(TradeKind::StopLoss, 2_100);
        self.enter(&waits);
        let market = self.order(TradeKind::MarketBuy, 0);
        self.enter(&market);
        let input = clean_up::Input {
            after_trade: self.data_set.built_trades() as i64,
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

    /// Three rounds of all tables: each round changes what it is about.
    fn maintenance_changes_rows(&mut self) {
        for round in 0..36 {
            let input = self.inputs.data_maintenance(round, self.now_ms);
            let done = complete(data_maintenance::run(&mut *self.session, &input)).unwrap();
            let expected = match input {
                data_maintenance::Input::Permissions(_) => 1..=3,
                // One day of thirty in 18 weeks, Monday to Friday.
                data_maintenance::Input::DailyMarket { .. } => 2..=4,
                data_maintenance::Input::Exchanges(_) => 4..=4,
                data_maintenance::Input::Reports(_) => 20..=20,
                _ => 1..=1,
            };
            assert!(expected.contains(&done.changed), "{input:?} {done:?}");
        }
        // What moved forwards moves back.
        let reports = data_maintenance::Input::Reports(1);
        let mut run = || complete(data_maintenance::run(&mut *self.session, &reports)).unwrap();
        let days = [run().now, run().now, run().now].concat();
        assert!(
            days == ["1", "-1", "1"] || days == ["-1", "1", "-1"],
            "{days:?}"
        );
    }
}

#[test]
fn the_outcome_of_an_unanswered_commit_can_be_found() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 1);
    let data_set = DataSet::new(1_000, 1, 3);
    data_set::build(&sqlite, data_set);
    let mut session = sqlite.connect().unwrap();
    let before = Baseline::note(&mut *session).unwrap();
    let mut desk = ActionQueue {
        session,
        data_set,
        inputs: Inputs::new(data_set, &Orders::default(), 1, 1),
        next_trade: before.last_trade(),
        now_ms: data_set.opening_ms(),
    };
    for _ in 0..5 {
        desk.orders_are_known_or_not();
        desk.waiting_orders_are_sent_on_once();
        desk.open_orders_are_cancelled();
    }
    desk.maintenance_changes_rows();
    let checked = checks::check(&mut *desk.session, &before).unwrap();
    assert_eq!(checked.violations, []);
    assert_eq!((checked.completed, checked.cancelled), (10, 10));
    assert_eq!((checked.pending, checked.submitted), (0, 0));
}
