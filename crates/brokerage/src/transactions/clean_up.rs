//! Clean-up before a run: cancels the orders that an earlier run left open.

use super::batch::{Batch, ask, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use runtime::thread::complete;

/// Which orders are cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Only trades with higher ids: the initial ones are all completed.
    pub after_trade: i64,
    /// Timestamp of the cancellation.
    pub now_ms: i64,
}

/// Counts of what was cancelled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanUp {
    /// Trades that were pending or submitted.
    pub cancelled: u64,
    /// Rows deleted from `trade_request`.
    pub requests: u64,
}

// 3 is submitted, 4 pending, 5 cancelled.
pub(super) static STEPS: Statement = Statement {
    name: "clean_up_steps",
    sql: "INSERT INTO trade_history (trade_id, status_id, changed_at)
SELECT id, 5, $2 FROM trade WHERE id > $1 AND status_id IN (3, 4)",
    parameters: &[Type::Big, Type::Big],
};

pub(super) static REQUESTS: Statement = Statement {
    name: "clean_up_requests",
    sql: "DELETE FROM trade_request",
    parameters: &[],
};

pub(super) static TRADES: Statement = Statement {
    name: "clean_up_trades",
    sql: "UPDATE trade SET status_id = 5, entered_at = $2 WHERE id > $1 AND status_id IN (3, 4)",
    parameters: &[Type::Big, Type::Big],
};

/// The highest id of a trade: new ones follow.
pub(super) static LAST_TRADE: Statement = Statement {
    name: "clean_up_last_trade",
    sql: "SELECT COALESCE(MAX(id), 0) FROM trade",
    parameters: &[],
};

/// The latest timestamp of a trade's history.
pub(super) static LAST_MOMENT: Statement = Statement {
    name: "clean_up_last_moment",
    sql: "SELECT COALESCE(MAX(entered_at), 0) FROM trade WHERE id > $1",
    parameters: &[Type::Big],
};

/// Runs the clean-up.
///
/// # Errors
/// Those of the session.
pub fn run(session: &mut dyn Session, input: &Input) -> Result<CleanUp, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(&STEPS, values![input.after_trade, input.now_ms]);
    let requests = batch.add(&REQUESTS, []);
    let trades = batch.add(&TRADES, values![input.after_trade, input.now_ms]);
    let answers = complete(ask(session, Isolation::RepeatableRead, batch))?;
    Ok(CleanUp {
        cancelled: answers.of(trades).changed(),
        requests: answers.of(requests).changed(),
    })
}

/// The highest id of a trade, 0 if there is none: new trades have higher ones.
///
/// # Errors
/// Those of the session.
pub fn last_trade(session: &mut dyn Session) -> Result<i64, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(&LAST_TRADE, []);
    let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
    answers.of(0).one()?.integer(0)
}

/// The latest timestamp of a trade with a higher id than this, 0 if there is none: the market clock
/// of the next run continues from there.
///
/// # Errors
/// Those of the session.
pub fn last_moment(session: &mut dyn Session, after_trade: i64) -> Result<i64, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(&LAST_MOMENT, values![after_trade]);
    let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
    answers.of(0).one()?.integer(0)
}
