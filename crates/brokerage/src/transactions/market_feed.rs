//! Market feed: twenty prices from the market. Each is a database transaction of its own, which
//! also sends on the waiting orders whose price has come.

use super::batch::{Answer, Batch, Transaction, ask, values};
use super::kinds::{Status, TradeKind};
use super::output::output;
use super::to_market::ToMarket;
use super::trade_order::statements::STEP;
use crate::error::DatabaseError;
use crate::market::Asks;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// One entry of a feed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The security.
    pub symbol: String,
    /// At what price it changed hands.
    pub price_cents: i64,
    /// How many shares.
    pub quantity: i64,
    /// The moment.
    pub now_ms: i64,
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FeedEntry {
    /// Orders that the market must carry out now that it is committed, by trade.
    pub to_market: Vec<ToMarket>,
}

output!(FeedEntry: to_market);

pub(super) static PRICE: Statement = Statement {
    name: "market_feed_price",
    sql: "UPDATE last_trade SET traded_at = $2, price_cents = $3, volume = volume + $4
WHERE symbol = $1",
    parameters: &[Type::Text(15), Type::Big, Type::Big, Type::Big],
    columns: &[],
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
    columns: &[Type::Big, Type::Small, Type::Integer, Type::Big],
};

pub(super) static SUBMIT: Statement = Statement {
    name: "market_feed_submit",
    sql: "UPDATE trade SET entered_at = $2, status_id = $3 WHERE id = $1",
    parameters: &[Type::Big, Type::Big, Type::Small],
    columns: &[],
};

pub(super) static FORGET: Statement = Statement {
    name: "market_feed_forget",
    sql: "DELETE FROM trade_request WHERE trade_id = $1",
    parameters: &[Type::Big],
    columns: &[],
};

pub(super) static WITH_MARKET: Statement = Statement {
    name: "market_feed_with_market",
    sql: "SELECT id, trade_type_id, quantity, bid_price_cents
FROM trade
WHERE symbol = $1 AND entered_at >= $2 AND status_id = $3 AND trade_type_id >= 3
ORDER BY id",
    parameters: &[Type::Text(15), Type::Big, Type::Small],
    columns: &[Type::Big, Type::Small, Type::Integer, Type::Big],
};

/// Carries one entry out.
///
/// # Errors
/// Those of the session. After [`DatabaseError::Unavailable`] orders may have been sent on in the
/// books all the same: [`sent_on`] names them.
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
    let to_market = orders(symbol, answers.of(met))?;
    let mut batch = Batch::new();
    let submitted = Status::Submitted.id();
    for order in &to_market {
        batch.add(&SUBMIT, values![order.trade, input.now_ms, submitted]);
        batch.add(&FORGET, values![order.trade]);
        batch.add(&STEP, values![order.trade, submitted, input.now_ms]);
    }
    transaction.commit(batch).await?;
    Ok(FeedEntry { to_market })
}

/// Waiting orders in a security that the books have sent on at a moment or later and whose results
/// they do not have: after a lost answer the market is told of them again, which does no harm.
///
/// # Errors
/// Those of the session.
pub async fn sent_on(
    session: &mut dyn Session,
    symbol: &str,
    since_ms: i64,
) -> Result<Vec<ToMarket>, DatabaseError> {
    let mut batch = Batch::new();
    let parameters = values![symbol, since_ms, Status::Submitted.id()];
    batch.add(&WITH_MARKET, parameters);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    orders(symbol, answers.of(0))
}

fn orders(symbol: &str, answer: Answer<'_>) -> Result<Vec<ToMarket>, DatabaseError> {
    answer.collect(|row| {
        let kind = row.integer(1)?;
        let unknown = || answer.failed(format!("there is no trade type {kind}"));
        Ok(ToMarket {
            trade: row.integer(0)?,
            symbol: symbol.to_owned(),
            kind: TradeKind::of_id(kind).ok_or_else(unknown)?,
            quantity: row.integer(2)?,
            bid_cents: row.integer(3)?,
            asks: Asks::ToExecute,
        })
    })
}
