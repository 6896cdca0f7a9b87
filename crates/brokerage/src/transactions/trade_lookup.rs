//! Trade lookup: past trades with settlement, cash and history, found in one of four ways.
//! Read-only.

use super::batch::{Batch, ask, values};
use super::old_trades::{self, Chosen, OldTrade};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// What is looked up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Up to twenty trades.
    Trades(Chosen),
    /// The first trade of an account from a time on, and the history of its lots.
    FirstTrade {
        /// Id of the account.
        account: i64,
        /// The earliest timestamp, in milliseconds since 1970.
        from_ms: i64,
    },
}

/// The result of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TradeLookup<'a> {
    /// Up to twenty trades.
    Trades(Vec<OldTrade<'a>>),
    /// The history of the lots of one trade.
    FirstTrade {
        /// The trade, if there is one.
        trade: Option<i64>,
        /// At most twenty changes.
        holdings: Vec<HoldingStep>,
    },
}

/// A change of a lot.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct HoldingStep {
    pub holding: i64,
    pub trade: i64,
    pub before: i64,
    pub after: i64,
}

pub(super) static FIRST: Statement = Statement {
    name: "trade_lookup_first",
    sql: "SELECT id FROM trade WHERE account_id = $1 AND entered_at >= $2
ORDER BY entered_at, id LIMIT 1",
    parameters: &[Type::Big, Type::Big],
};

pub(super) static HOLDINGS_OF_FIRST: Statement = Statement {
    name: "trade_lookup_holdings_of_first",
    sql: "SELECT hh.holding_trade_id, hh.trade_id, hh.before_quantity, hh.after_quantity
FROM (SELECT id FROM trade WHERE account_id = $1 AND entered_at >= $2
 ORDER BY entered_at, id LIMIT 1) t
JOIN holding_history touched ON touched.trade_id = t.id
JOIN holding_history hh ON hh.holding_trade_id = touched.holding_trade_id
ORDER BY hh.holding_trade_id, hh.trade_id
LIMIT 20",
    parameters: &[Type::Big, Type::Big],
};

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run<'a>(
    session: &'a mut dyn Session,
    input: &Input,
) -> Result<TradeLookup<'a>, DatabaseError> {
    let mut batch = Batch::new();
    match input {
        Input::Trades(chosen) => {
            let (trades, history) = old_trades::ask_for(&mut batch, chosen);
            let answers = ask(session, Isolation::ReadCommitted, batch).await?;
            let trades = old_trades::trades(answers.of(trades), answers.of(history))?;
            Ok(TradeLookup::Trades(trades))
        }
        Input::FirstTrade { account, from_ms } => {
            let first = batch.add(&FIRST, values![*account, *from_ms]);
            let holdings = batch.add(&HOLDINGS_OF_FIRST, values![*account, *from_ms]);
            let answers = ask(session, Isolation::ReadCommitted, batch).await?;
            let trade = answers.of(first).find().map(|row| row.integer(0));
            let holdings = answers.of(holdings).collect(|row| {
                Ok(HoldingStep {
                    holding: row.integer(0)?,
                    trade: row.integer(1)?,
                    before: row.integer(2)?,
                    after: row.integer(3)?,
                })
            })?;
            Ok(TradeLookup::FirstTrade {
                trade: trade.transpose()?,
                holdings,
            })
        }
    }
}
