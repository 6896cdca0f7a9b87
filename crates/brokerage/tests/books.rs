//! Books that are broken on purpose, each in one way, and what the check says about it.

#![allow(clippy::unwrap_used)] // Helpers of tests are no shipped code.

mod common;
mod house;

use brokerage::books::{self, Before};
use brokerage::database::Database;
use brokerage::database::sqlite::Sqlite;
use brokerage::error::DatabaseError;
use brokerage::house::House;
use brokerage::rehearsal::{self, Plan};
use brokerage::row::Answers;
use brokerage::session::{Answering, Call, Isolation, Session, Then};
use brokerage::statement::Statement;
use runtime::thread::complete;
use workload::profile::Brokerage;

/// A session within a transaction that stays open: whoever uses it thinks to commit.
struct Within<'a>(&'a mut dyn Session);

impl Session for Within<'_> {
    fn begin(&mut self, _: Isolation) -> Result<(), DatabaseError> {
        Ok(())
    }

    fn run<'session: 'answering, 'calls: 'answering, 'answering>(
        &'session mut self,
        calls: &'calls [Call],
        _: Then,
    ) -> Answering<'answering, &'session Answers> {
        self.0.run(calls, Then::GoOn)
    }

    fn rollback(&mut self) -> Answering<'_, ()> {
        Box::pin(async { Ok(()) })
    }

    fn abandon(&mut self) {}
}

/// A way to break the books.
struct Damage {
    statement: Statement,
    /// The invariants that it breaks.
    breaks: &'static [&'static str],
    /// A piece of the sentence.
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
        columns: &[],
    };
    Damage {
        statement,
        breaks,
        says,
    }
}

/// Trades of the run have higher ids than these.
const BUILT: &str = "115200";

static DAMAGES: [Damage; 18] = [
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
        "1 positions are of no shares",
    ),
    damage(
        "empty_lot",
        "INSERT INTO holding SELECT t.id, t.account_id, t.symbol, 0, 0, 0 FROM trade t
         WHERE t.id > 115200 AND NOT EXISTS (SELECT 1 FROM holding h WHERE h.trade_id = t.id)
         LIMIT 1",
        &["empty lots"],
        "1 lots are of no shares",
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
        "lots are not what their histories leave",
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
        "1 settlements are of trades that are not completed",
    ),
    damage(
        "cash_lost",
        "DELETE FROM cash_transaction WHERE trade_id =
         (SELECT MAX(trade_id) FROM cash_transaction)",
        &["cash of trades", "balances of accounts"],
        "1 trades for cash did not move what was settled",
    ),
    damage(
        "cash_of_nothing",
        "INSERT INTO cash_transaction SELECT MAX(id), 1, 0, 'nothing' FROM trade
         WHERE status_id = 4",
        &["trades of cash"],
        "1 cash transactions are of trades on margin or not completed",
    ),
    damage(
        "step_lost",
        "DELETE FROM trade_history WHERE status_id = 3 AND trade_id =
         (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["steps of trades"],
        "1 trades have a history that does not lead to their status",
    ),
    damage(
        "request_lost",
        "DELETE FROM trade_request WHERE trade_id = (SELECT MAX(trade_id) FROM trade_request)",
        &["requests of trades"],
        "1 orders wait for a price without a request",
    ),
    damage(
        "request_too_many",
        "INSERT INTO trade_request SELECT t.id, 5, t.symbol, t.quantity, t.bid_price_cents, 1
         FROM trade t WHERE t.id = (SELECT MAX(id) FROM trade WHERE status_id = 1)",
        &["trades of requests"],
        "1 requests are not those of orders that wait for a price",
    ),
    damage(
        "broker_counts",
        "UPDATE broker SET trade_count = trade_count + 1 WHERE id = 3",
        &["trades of brokers"],
        "1 brokers have counted other trades than there were, such as broker 3",
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
        "1 trades have the status 2, which none may have",
    ),
    damage(
        "trade_lost",
        "UPDATE trade SET status_id = 3 WHERE id = (SELECT MAX(id) FROM trade WHERE status_id = 1
         AND is_cash = 1)",
        &[
            "trades of settlements",
            "trades of cash",
            "steps of trades",
            "trades of brokers",
            "commissions of brokers",
        ],
        "brokers have counted other trades",
    ),
];

#[test]
fn what_is_broken_on_purpose_is_found_and_nothing_else() {
    let room = common::room();
    let sqlite = Sqlite::new(room.path(), 64 << 20, 1);
    let house = House::new(1_000, 2, 7);
    assert_eq!(house.built_trades().to_string(), BUILT);
    house::build(&sqlite, house);
    let mut session = sqlite.connect().unwrap();
    let before = Before::note(&mut *session).unwrap();
    let plan = Plan {
        house,
        brokerage: Brokerage::default(),
        market: house::market(),
        seed: 5,
        transactions: 1_200,
        step_ms: 50,
    };
    rehearsal::run(&mut *session, &plan).unwrap();
    assert_eq!(books::check(&mut *session, &before).unwrap().broken, []);
    let mut found: Vec<&str> = Vec::new();
    for damage in &DAMAGES {
        session.begin(Isolation::Serializable).unwrap();
        let call = Call {
            statement: &damage.statement,
            parameters: Vec::new(),
        };
        let answers = complete(session.run(&[call], Then::GoOn)).unwrap();
        let changed = answers.of(0).changed;
        let checked = books::check(&mut Within(&mut *session), &before).unwrap();
        complete(session.rollback()).unwrap();
        let broken: Vec<&str> = checked.broken.iter().map(|one| one.invariant).collect();
        let name = damage.statement.name;
        assert_eq!(changed, 1, "{name} breaks one thing");
        assert_eq!(broken, damage.breaks, "{name}: {:?}", checked.broken);
        let mut sentences = checked.broken.iter().map(|one| &one.sentence);
        assert!(
            sentences.any(|one| one.contains(damage.says)),
            "{name}: {:?}",
            checked.broken
        );
        found.extend(broken);
    }
    // Every invariant has been broken once.
    found.sort_unstable();
    found.dedup();
    assert_eq!(found.len(), 12 + 1 + 3);
    assert_eq!(books::check(&mut *session, &before).unwrap().broken, []);
}
