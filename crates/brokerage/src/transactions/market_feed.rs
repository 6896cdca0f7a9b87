//! Market feed: twenty ticker entries. Each is a database transaction of its own, which also
//! submits the pending orders whose price has come.

use super::batch::{Answer, Batch, Transaction, ask, values};
use super::market_order::MarketOrder;
use super::trade_order::statements::STEP;
use crate::error::DatabaseError;
use crate::kinds::{Status, TradeKind};
use crate::market::Instruction;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// One entry of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Symbol of the security.
    pub symbol: String,
    /// Price of the trade.
    pub price_cents: i64,
    /// Number of shares traded.
    pub quantity: i64,
    /// Timestamp of the entry.
    pub now_ms: i64,
}

/// The result of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    /// Orders to be sent to the market after the commit, by trade id.
    pub market_orders: Vec<MarketOrder>,
}

pub(super) static PRICE: Statement = Statement {
    name: "market_feed_price",
    sql: "UPDATE last_trade SET traded_at = $2, price_cents = $3, volume = volume + $4
WHERE symbol = $1",
    parameters: &[Type::Text(15), Type::Big, Type::Big, Type::Big],
};

// 3 is a stop-loss order, 4 a limit on a sale, 5 a limit on a purchase.
pub(super) static MET: Statement = Statement {
    name: "market_feed_met",
    sql: "SELECT trade_id, trade_type_id, quantity, bid_price_cents
FROM trade_request
WHERE symbol = $1 AND ((trade_type_id = 3 AND bid_price_cents >= $2)
 OR (trade_type_id = 4 AND bid_price_cents <= $2)
 OR (trade_type_id = 5 AND bid_price_cents >= $2))
ORDER BY trade_id",
    parameters: &[Type::Text(15), Type::Big],
};

pub(super) static SUBMIT: Statement = Statement {
    name: "market_feed_submit",
    sql: "UPDATE trade SET entered_at = $2, status_id = $3 WHERE id = $1",
    parameters: &[Type::Big, Type::Big, Type::Small],
};

pub(super) static FORGET: Statement = Statement {
    name: "market_feed_forget",
    sql: "DELETE FROM trade_request WHERE trade_id = $1",
    parameters: &[Type::Big],
};

pub(super) static WITH_MARKET: Statement = Statement {
    name: "market_feed_with_market",
    sql: "SELECT id, trade_type_id, quantity, bid_price_cents
FROM trade
WHERE symbol = $1 AND entered_at >= $2 AND status_id = $3 AND trade_type_id >= 3
ORDER BY id",
    parameters: &[Type::Text(15), Type::Big, Type::Small],
};

/// Runs the transaction of one entry.
///
/// # Errors
/// Those of the session. After [`DatabaseError::Unavailable`] the outcome of the commit is unknown:
/// [`sent_on`] finds the orders that were submitted.
pub async fn run(session: &mut dyn Session, input: &Input) -> Result<FeedEntry, DatabaseError> {
    let (symbol, price) = (input.symbol.as_str(), input.price_cents);
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    let mut batch = Batch::new();
    let parameters = values![symbol, input.now_ms, price, input.quantity];
    let change = batch.add(&PRICE, parameters);
    let met = batch.add(&MET, values![symbol, price]);
    let answers = transaction.run(batch).await?;
    if answers.of(change).changed() == 0 {
        return Err(answers.of(change).failed(format!("there is no {symbol}")));
    }
    let market_orders = orders(symbol, answers.of(met))?;
    let mut batch = Batch::new();
    let submitted = Status::Submitted.id();
    for order in &market_orders {
        batch.add(&SUBMIT, values![order.trade, input.now_ms, submitted]);
        batch.add(&FORGET, values![order.trade]);
        batch.add(&STEP, values![order.trade, submitted, input.now_ms]);
    }
    transaction.commit(batch).await?;
    Ok(FeedEntry { market_orders })
}

/// Orders in a security that were submitted at this time or later and have no result yet: when the
/// outcome of a commit is unknown they are sent to the market again, which has no effect on those
/// it knows.
///
/// # Errors
/// Those of the session.
pub async fn sent_on(
    session: &mut dyn Session,
    symbol: &str,
    since_ms: i64,
) -> Result<Vec<MarketOrder>, DatabaseError> {
    let mut batch = Batch::new();
    let parameters = values![symbol, since_ms, Status::Submitted.id()];
    batch.add(&WITH_MARKET, parameters);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    orders(symbol, answers.of(0))
}

fn orders(symbol: &str, answer: Answer<'_>) -> Result<Vec<MarketOrder>, DatabaseError> {
    answer.collect(|row| {
        let kind = row.integer(1)?;
        let unknown = || answer.failed(format!("there is no trade type {kind}"));
        Ok(MarketOrder {
            trade: row.integer(0)?,
            symbol: symbol.to_owned(),
            kind: TradeKind::of_id(kind).ok_or_else(unknown)?,
            quantity: row.integer(2)?,
            bid_cents: row.integer(3)?,
            instruction: Instruction::Execute,
        })
    })
}
