//! Data that is damaged on purpose, each in one way, and what the checks find.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

use crate::common;
use crate::data_set;
use crate::deterministic::run::{Plan, run};
use brokerage::checks::{self, Baseline};
use brokerage::database::Database;
use brokerage::database::sqlite::Sqlite;
use brokerage::dataset::DataSet;
use brokerage::error::DatabaseError;
use brokerage::profile::Brokerage;
use brokerage::row::Answers;
use brokerage::session::{AfterBatch, Answering, Call, Isolation, Session};
use brokerage::statement::Statement;
use runtime::thread::complete;

/// A session within a transaction that stays open, although its user commits.
struct Within<'a>(&'a mut dyn Session);

impl Session for Within<'_> {
    fn begin(&mut self, _: Isolation) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        _: AfterBatch,
    ) -> Answering<'answering, &'session Answers> {
        self.0.run(calls, AfterBatch::Continue)
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn abandon(&mut self) {}
}

/// A way to damage the data.
struct Damage {
    statement: Statement,
    /// The checks that fail.
    breaks: &'static [&'static str],
    /// A piece of the message.
    says: &'static str,
}

const fn damage(
    name: &'static str,
    sql: &'static str,
    breaks: &'static [&'static str],
    says: &'static str,
) -> Damage {
    let statement = Statement {
        name,
        sql,
        parameters: &[],
    };
    Damage {
        statement,
        breaks,
        says,
    }
}

/// Trades of the run have higher ids than these.
const BUILT: &str = "115200";

static DAMAGES: [Damage; 30] = [
    damage(
        "share_too_many",
        "UPDATE holding SET quantity = quantity + 1
         WHERE trade_id = (SELECT MAX(trade_id) FROM holding)",
        &["positions", "histories of lots"],
        "1 positions are not the sum of their lots",
    ),
    damage(
        "position_lost",
        "UPDATE holding_summary SET quantity = quantity + 7 WHERE (account_id, symbol) =
         (SELECT account_id, symbol FROM holding WHERE trade_id > 115200 LIMIT 1)",
        &["positions"],
        "positions are not the sum",
    ),
    damage(
        "empty_position",
        "INSERT INTO holding_summary SELECT t.account_id, t.symbol, 0 FROM trade t
         WHERE t.id > 115200 AND NOT EXISTS (SELECT 1 FROM holding_summary hs
         WHERE hs.account_id = t.account_id AND hs.symbol = t.symbol) LIMIT 1",
        &["empty positions"],
        "1 positions have no shares",
    ),
    damage(
        "empty_lot",
        "INSERT INTO holding SELECT t.id, t.account_id, t.symbol, 0, 0, 0 FROM trade t
         WHERE t.id > 115200 AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.trade_id = t.id)
         LIMIT 1",
        &["empty lots", "trades of lots"],
        "1 lots have no shares",
    ),
    damage(
        "history_of_lot_lost",
        "DELETE FROM holding_history WHERE holding_trade_id = trade_id AND trade_id =
         (SELECT MAX(trade_id) FROM holding)",
        &["shares of trades"],
        "1 completed trades did not change as many shares",
    ),
    damage(
        "history_of_lot_wrong",
        "UPDATE holding_history SET after_quantity = after_quantity + 5
         WHERE holding_trade_id = trade_id AND trade_id = (SELECT MAX(trade_id) FROM holding)",
        &["histories of lots", "shares of trades"],
        "lots differ from the sum of their history",
    ),
    damage(
        "settlement_lost",
        "DELETE FROM settlement WHERE trade_id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1 AND is_cash = 0)",
        &["settlements of trades"],
        "1 completed trades have no settlement",
    ),
    damage(
        "settlement_too_many",
        "INSERT INTO settlement SELECT MAX(id), 'Cash', 1, 1 FROM trade WHERE status_id = 4",
        &["trades of settlements"],
        "1 settlements belong to trades that are not completed",
    ),
    damage(
        "cash_lost",
        "DELETE FROM cash_transaction WHERE trade_id =
         (SELECT MAX(trade_id) FROM cash_transaction)",
        &["cash of trades", "balances of accounts"],
        "1 cash trades did not move the settled amount",
    ),
    damage(
        "cash_of_nothing",
        "INSERT INTO cash_transaction SELECT MAX(id), 1, 0, 'nothing' FROM trade
         WHERE status_id = 4",
        &["trades of cash"],
        "1 cash transactions belong to trades that are on margin or not completed",
    ),
    damage(
        "step_lost",
        "DELETE FROM trade_history WHERE status_id = 3 AND trade_id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["steps of trades"],
        "1 trades have a history that does not match their status",
    ),
    damage(
        "request_lost",
        "DELETE FROM trade_request WHERE trade_id = (SELECT MAX(trade_id) FROM trade_request)",
        &["requests of trades"],
        "1 pending orders have no request",
    ),
    damage(
        "request_too_many",
        "INSERT INTO trade_request SELECT t.id, 5, t.symbol, t.quantity, t.bid_price_cents, 1
         FROM trade t WHERE t.id = (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["trades of requests"],
        "1 requests do not belong to pending orders",
    ),
    damage(
        "broker_counts",
        "UPDATE broker SET trade_count = trade_count + 1 WHERE id = 3",
        &["trades of brokers"],
        "1 brokers have a wrong trade count, such as broker 3",
    ),
    damage(
        "broker_earns",
        "UPDATE broker SET commission_cents = commission_cents - 1 WHERE id = 4",
        &["commissions of brokers"],
        "such as broker 4",
    ),
    damage(
        "balance_moves",
        "UPDATE customer_account SET balance_cents = balance_cents + 12 WHERE id = 1",
        &["balances of accounts"],
        "such as account 1: 12 cents more",
    ),
    damage(
        "state_of_none",
        "UPDATE trade SET status_id = 2 WHERE id = (SELECT MAX(id) FROM trade WHERE status_id = 4)",
        &["steps of trades", "trades of requests", "states"],
        "1 trades have the invalid status 2",
    ),
    damage(
        "trade_lost",
        "UPDATE trade SET status_id = 3 WHERE id = (SELECT MAX(id) FROM trade WHERE status_id = 1
         AND is_cash = 1)",
        &[
            "trades of settlements",
            "trades of cash",
            "steps of trades",
            "times of trades",
            "trades of brokers",
            "commissions of brokers",
        ],
        "brokers have a wrong trade count",
    ),
    damage(
        "price_doubled",
        "UPDATE trade SET trade_price_cents = trade_price_cents * 2 WHERE id =
         (SELECT MAX(t.id) FROM trade t WHERE t.status_id = 1 AND t.trade_type_id = 1
         AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.trade_id = t.id))",
        &["costs of trades", "amounts of settlements"],
        "1 settlements are not the value of their trade",
    ),
    damage(
        "price_beyond_all_bounds",
        "UPDATE trade SET trade_price_cents = 9000000000000000000 WHERE id =
         (SELECT MAX(t.id) FROM trade t WHERE t.status_id = 1 AND t.trade_type_id = 1
         AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.trade_id = t.id))",
        &["costs of trades", "amounts of settlements"],
        "1 trades have a price, charge or commission",
    ),
    damage(
        "charge_changed",
        "UPDATE trade SET charge_cents = charge_cents + 1 WHERE id =
         (SELECT MAX(id) FROM trade WHERE status_id = 4)",
        &["costs of trades"],
        "1 trades have a price, charge or commission",
    ),
    damage(
        "limit_passed",
        "UPDATE trade SET bid_price_cents = trade_price_cents - 1 WHERE id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1 AND trade_type_id = 5)",
        &["costs of trades"],
        "1 trades have a price, charge or commission",
    ),
    damage(
        "margin_settled_wrongly",
        "UPDATE settlement SET amount_cents = amount_cents + 1 WHERE trade_id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1 AND is_cash = 0)",
        &["amounts of settlements"],
        "1 settlements are not the value of their trade",
    ),
    damage(
        "tax_changed",
        "UPDATE trade SET tax_cents = tax_cents + 1 WHERE id = (SELECT MAX(t.id) FROM trade t
         JOIN customer_account ca ON ca.id = t.account_id
         WHERE t.status_id = 1 AND ca.tax_status = 1)",
        &["amounts of settlements"],
        "1 settlements are not the value of their trade",
    ),
    damage(
        "trade_earlier",
        "UPDATE trade SET entered_at = entered_at - 1 WHERE id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["times of trades"],
        "1 trades have times that contradict each other",
    ),
    damage(
        "submitted_after_its_end",
        "UPDATE trade_history SET changed_at = changed_at + 86400000 WHERE status_id = 3
         AND trade_id = (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["times of trades"],
        "1 trades have times that contradict each other",
    ),
    damage(
        "cash_booked_later",
        "UPDATE cash_transaction SET booked_at = booked_at + 1 WHERE trade_id =
         (SELECT MAX(trade_id) FROM cash_transaction)",
        &["times of trades"],
        "1 trades have times that contradict each other",
    ),
    damage(
        "settled_a_day_later",
        "UPDATE settlement SET due_day = due_day + 1 WHERE trade_id =
         (SELECT MAX(trade_id) FROM settlement)",
        &["times of trades"],
        "1 trades have times that contradict each other",
    ),
    damage(
        "change_of_a_lot_moved",
        "UPDATE holding_history SET before_quantity = before_quantity + 3,
         after_quantity = after_quantity + 3
         WHERE holding_trade_id <> trade_id AND (holding_trade_id, trade_id) =
         (SELECT holding_trade_id, trade_id FROM holding_history
         WHERE holding_trade_id <> trade_id AND after_quantity = 0
         ORDER BY trade_id DESC LIMIT 1)",
        &["changes of lots"],
        "1 changes of lots do not begin where another one has ended",
    ),
    damage(
        "lot_cheaper",
        "UPDATE holding SET price_cents = price_cents - 1
         WHERE trade_id = (SELECT MAX(trade_id) FROM holding)",
        &["trades of lots"],
        "1 lots differ from the trades that opened them",
    ),
];

#[test]
fn what_is_broken_on_purpose_is_found_and_nothing_else() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 1);
    let data_set = DataSet::new(1_000, 2, 7);
    assert_eq!(data_set.built_trades().to_string(), BUILT);
    data_set::build(&sqlite, data_set);
    let mut session = sqlite.connect().unwrap();
    let before = Baseline::note(&mut *session).unwrap();
    let plan = Plan {
        data_set,
        brokerage: Brokerage::default(),
        market: data_set::market(),
        seed: 5,
        transactions: 1_200,
        step_ms: 50,
    };
    run(&mut *session, &plan).unwrap();
    assert_eq!(
        checks::check(&mut *session, &before).unwrap().violations,
        []
    );
    let mut found: Vec<&str> = Vec::new();
    for damage in &DAMAGES {
        session.begin(Isolation::Serializable).unwrap();
        let call = Call {
            statement: &damage.statement,
            parameters: Vec::new(),
        };
        let answers = complete(session.run(&[call], AfterBatch::Continue)).unwrap();
        let changed = answers.of(0).changed;
        let checked = checks::check(&mut Within(&mut *session), &before).unwrap();
        complete(session.rollback()).unwrap();
        let failed: Vec<&str> = checked.violations.iter().map(|one| one.check).collect();
        let name = damage.statement.name;
        assert_eq!(changed, 1, "{name} breaks one thing");
        assert_eq!(failed, damage.breaks, "{name}: {:?}", checked.violations);
        let mut sentences = checked.violations.iter().map(|one| &one.message);
        assert!(
            sentences.any(|one| one.contains(damage.says)),
            "{name}: {:?}",
            checked.violations
        );
        found.extend(failed);
    }
    // Every check has failed once.
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 17 + 1 + 3);
    assert_eq!(
        checks::check(&mut *session, &before).unwrap().violations,
        []
    );
}
