//! Trade status: the 50 latest trades of an account. Read-only.

use super::batch::{Batch, ask, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// The account whose trades are read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Id of the account.
    pub account: i64,
}

/// The result of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct TradeStatus<'a> {
    pub customer_last_name: &'a str,
    pub customer_first_name: &'a str,
    pub broker_name: &'a str,
    /// Its trades, the latest first.
    pub trades: Vec<Trade<'a>>,
}

/// A trade of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct Trade<'a> {
    pub id: i64,
    pub at_ms: i64,
    pub status: &'a str,
    pub kind: &'a str,
    pub symbol: &'a str,
    pub quantity: i64,
    pub executor: &'a str,
    pub charge_cents: i64,
    pub security: &'a str,
    pub exchange: &'a str,
}

pub(super) static OWNER: Statement = Statement {
    name: "trade_status_owner",
    sql: "SELECT c.last_name, c.first_name, b.name
FROM customer_account ca
JOIN customer c ON c.id = ca.customer_id
JOIN broker b ON b.id = ca.broker_id
WHERE ca.id = $1",
    parameters: &[Type::Big],
};

// The latest trades are found first, so that no database joins the rest.
pub(super) static TRADES: Statement = Statement {
    name: "trade_status_trades",
    sql: "SELECT t.id, t.entered_at, st.name, tt.name, t.symbol, t.quantity,
 t.executor_name, t.charge_cents, s.name, e.name
FROM (SELECT id, entered_at, status_id, trade_type_id, symbol, quantity, executor_name,
  charge_cents FROM trade WHERE account_id = $1
 ORDER BY entered_at DESC, id DESC LIMIT 50) t
JOIN status_type st ON st.id = t.status_id
JOIN trade_type tt ON tt.id = t.trade_type_id
JOIN security s ON s.symbol = t.symbol
JOIN exchange e ON e.id = s.exchange_id
ORDER BY t.entered_at DESC, t.id DESC",
    parameters: &[Type::Big],
};

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run<'a>(
    session: &'a mut dyn Session,
    input: &Input,
) -> Result<TradeStatus<'a>, DatabaseError> {
    let mut batch = Batch::new();
    let owner = batch.add(&OWNER, values![input.account]);
    let trades = batch.add(&TRADES, values![input.account]);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    let owner = answers.of(owner).one()?;
    let trades = answers.of(trades).collect(|row| {
        Ok(Trade {
            id: row.integer(0)?,
            at_ms: row.integer(1)?,
            status: row.str(2)?,
            kind: row.str(3)?,
            symbol: row.str(4)?,
            quantity: row.integer(5)?,
            executor: row.str(6)?,
            charge_cents: row.integer(7)?,
            security: row.str(8)?,
            exchange: row.str(9)?,
        })
    })?;
    Ok(TradeStatus {
        customer_last_name: owner.str(0)?,
        customer_first_name: owner.str(1)?,
        broker_name: owner.str(2)?,
        trades,
    })
}
