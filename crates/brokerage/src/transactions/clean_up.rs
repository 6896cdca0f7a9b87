//! Clean-up before a run: orders that an earlier run has left open are given up.

use super::batch::{Batch, ask, values};
use super::output::output;
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use runtime::thread::complete;

/// What is given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Trades of higher ids only: those of the initial books are all completed.
    pub after_trade: i64,
    /// The moment.
    pub now_ms: i64,
}

/// What was given up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CleanUp {
    /// Trades that waited for a price or were with the market.
    pub cancelled: u64,
    /// Requests removed.
    pub requests: u64,
}

output!(CleanUp: cancelled, requests);

// 3 is submitted, 4 pending, 5 cancelled.
pub(super) static STEPS: Statement = Statement {
    name: "clean_up_steps",
    sql: "INSERT INTO trade_history (trade_id, status_id, changed_at)
SELECT id, 5, $2 FROM trade WHERE id > $1 AND status_id IN (3, 4)",
    parameters: &[Type::Big, Type::Big],
    columns: &[],
};

pub(super) static REQUESTS: Statement = Statement {
    name: "clean_up_requests",
    sql: "DELETE FROM trade_request",
    parameters: &[],
    columns: &[],
};

pub(super) static TRADES: Statement = Statement {
    name: "clean_up_trades",
    sql: "UPDATE trade SET status_id = 5, entered_at = $2 WHERE id > $1 AND status_id IN (3, 4)",
    parameters: &[Type::Big, Type::Big],
    columns: &[],
};

/// The highest id of a trade: new ones begin behind it.
pub(super) static LAST_TRADE: Statement = Statement {
    name: "clean_up_last_trade",
    sql: "SELECT COALESCE(MAX(id), 0) FROM trade",
    parameters: &[],
    columns: &[Type::Big],
};

/// The latest moment at which a trade changed.
pub(super) static LAST_MOMENT: Statement = Statement {
    name: "clean_up_last_moment",
    sql: "SELECT COALESCE(MAX(entered_at), 0) FROM trade WHERE id > $1",
    parameters: &[Type::Big],
    columns: &[Type::Big],
};

/// Carries it out.
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

/// The highest id of a trade in the books, 0 if there is none: new trades have higher ones.
///
/// # Errors
/// Those of the session.
pub fn last_trade(session: &mut dyn Session) -> Result<i64, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(&LAST_TRADE, []);
    let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
    answers.of(0).one()?.integer(0)
}

/// The latest moment of a trade with a higher id than this, 0 if there is none: the clock of the
/// next run goes on from there.
///
/// # Errors
/// Those of the session.
pub fn last_moment(session: &mut dyn Session, after_trade: i64) -> Result<i64, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(&LAST_MOMENT, values![after_trade]);
    let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
    answers.of(0).one()?.integer(0)
}
