//! Twenty past trades with settlement, cash and history, as trade lookup and trade update read
//! them.

use super::batch::{Answer, Batch, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::statement::Statement;
use crate::value::Value;
use std::borrow::Cow;

/// Most trades per transaction.
pub const TRADES: usize = 20;

/// A time window, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Window {
    /// Its first millisecond, since 1970.
    pub from_ms: i64,
    /// Its last millisecond, since 1970.
    pub until_ms: i64,
}

/// How the trades are chosen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Chosen {
    /// By ids, 1 to [`TRADES`].
    ById(Vec<i64>),
    /// The first of an account in a window.
    ByAccount(i64, Window),
    /// The first in a security in a window.
    BySymbol(String, Window),
}

/// A trade with its settlement and its cash.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct OldTrade<'a> {
    pub id: i64,
    pub account: i64,
    pub symbol: Cow<'a, str>,
    pub quantity: i64,
    pub kind: Cow<'a, str>,
    pub is_market: bool,
    pub is_cash: bool,
    pub at_ms: i64,
    pub bid_cents: i64,
    pub price_cents: Option<i64>,
    pub executor: Cow<'a, str>,
    pub settled_cents: Option<i64>,
    pub due_day: Option<i64>,
    pub cash_type: Option<Cow<'a, str>>,
    pub cash_cents: Option<i64>,
    pub cash_at_ms: Option<i64>,
    pub cash_name: Option<Cow<'a, str>>,
    /// Status and timestamp of each history row.
    pub history: Vec<(i64, i64)>,
}

/// The query for the trades of a source, with their settlement and cash; the last lines filter and
/// order.
macro_rules! trades {
    ($source:literal, $order:literal) => {
        concat!(
            "SELECT t.id, t.account_id, t.symbol, t.quantity, tt.name, tt.is_market,
 t.is_cash, t.entered_at, t.bid_price_cents, t.trade_price_cents, t.executor_name,
 se.amount_cents, se.due_day, se.cash_type, ct.amount_cents, ct.booked_at, ct.name
FROM ",
            $source,
            "
JOIN trade_type tt ON tt.id = t.trade_type_id
LEFT JOIN settlement se ON se.trade_id = t.id
LEFT JOIN cash_transaction ct ON ct.trade_id = t.id
",
            $order
        )
    };
}

/// The query for the history of the trades of a source; the last lines filter and order.
macro_rules! history {
    ($source:literal, $order:literal) => {
        concat!(
            "SELECT th.trade_id, th.status_id, th.changed_at
FROM ",
            $source,
            "
JOIN trade_history th ON th.trade_id = t.id
",
            $order,
            ", th.changed_at, th.status_id"
        )
    };
}

// A derived table finds the trades first, so that no database begins with another table. The end of
// the window is filtered afterwards: PostgreSQL would estimate that few trades lie between two
// parameters, and read all of them instead of the first twenty.
pub(super) static BY_ID: Statement = Statement {
    name: "old_trades_by_id",
    sql: trades!(
        "(SELECT * FROM trade WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
 $13, $14, $15, $16, $17, $18, $19, $20)) t",
        "ORDER BY t.id"
    ),
    parameters: &[Type::Big; TRADES],
};

pub(super) static HISTORY_BY_ID: Statement = Statement {
    name: "old_trades_history_by_id",
    sql: "SELECT trade_id, status_id, changed_at
FROM trade_history
WHERE trade_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12,
 $13, $14, $15, $16, $17, $18, $19, $20)
ORDER BY trade_id, changed_at, status_id",
    parameters: &[Type::Big; TRADES],
};

pub(super) static BY_ACCOUNT: Statement = Statement {
    name: "old_trades_by_account",
    sql: trades!(
        "(SELECT * FROM trade WHERE account_id = $1 AND entered_at >= $2
 ORDER BY entered_at, id LIMIT 20) t",
        "WHERE t.entered_at <= $3 ORDER BY t.entered_at, t.id"
    ),
    parameters: &[Type::Big, Type::Big, Type::Big],
};

pub(super) static HISTORY_BY_ACCOUNT: Statement = Statement {
    name: "old_trades_history_by_account",
    sql: history!(
        "(SELECT id, entered_at FROM trade WHERE account_id = $1 AND entered_at >= $2
 ORDER BY entered_at, id LIMIT 20) t",
        "WHERE t.entered_at <= $3 ORDER BY t.entered_at, t.id"
    ),
    parameters: &[Type::Big, Type::Big, Type::Big],
};

pub(super) static BY_SYMBOL: Statement = Statement {
    name: "old_trades_by_symbol",
    sql: trades!(
        "(SELECT * FROM trade WHERE symbol = $1 AND entered_at >= $2
 ORDER BY entered_at, id LIMIT 20) t",
        "WHERE t.entered_at <= $3 ORDER BY t.entered_at, t.id"
    ),
    parameters: &[Type::Text(15), Type::Big, Type::Big],
};

pub(super) static HISTORY_BY_SYMBOL: Statement = Statement {
    name: "old_trades_history_by_symbol",
    sql: history!(
        "(SELECT id, entered_at FROM trade WHERE symbol = $1 AND entered_at >= $2
 ORDER BY entered_at, id LIMIT 20) t",
        "WHERE t.entered_at <= $3 ORDER BY t.entered_at, t.id"
    ),
    parameters: &[Type::Text(15), Type::Big, Type::Big],
};

/// Exactly [`TRADES`] parameters for ids: the last id fills the rest.
///
/// # Panics
/// There is no id, or there are too many.
pub(super) fn id_parameters(ids: &[i64]) -> Vec<Value> {
    assert!((1..=TRADES).contains(&ids.len()), "{} ids", ids.len());
    let filled = ids.iter().chain(std::iter::repeat(&ids[ids.len() - 1]));
    filled.take(TRADES).map(|&id| Value::from(id)).collect()
}

/// Adds the queries for trades and their history.
pub(super) fn ask_for(batch: &mut Batch, chosen: &Chosen) -> (usize, usize) {
    match chosen {
        Chosen::ById(ids) => (
            batch.add_all(&BY_ID, id_parameters(ids)),
            batch.add_all(&HISTORY_BY_ID, id_parameters(ids)),
        ),
        Chosen::ByAccount(account, window) => {
            let parameters = values![*account, window.from_ms, window.until_ms];
            (
                batch.add(&BY_ACCOUNT, parameters.clone()),
                batch.add(&HISTORY_BY_ACCOUNT, parameters),
            )
        }
        Chosen::BySymbol(symbol, window) => {
            let parameters = values![symbol.as_str(), window.from_ms, window.until_ms];
            (
                batch.add(&BY_SYMBOL, parameters.clone()),
                batch.add(&HISTORY_BY_SYMBOL, parameters),
            )
        }
    }
}

impl OldTrade<'_> {
    /// The same with owned texts, which outlive the result sets.
    pub(super) fn into_owned(self) -> OldTrade<'static> {
        let own = |text: Cow<'_, str>| Cow::Owned(text.into_owned());
        OldTrade {
            symbol: own(self.symbol),
            kind: own(self.kind),
            executor: own(self.executor),
            cash_type: self.cash_type.map(own),
            cash_name: self.cash_name.map(own),
            ..self
        }
    }
}

/// The trades of both result sets, borrowing their texts.
pub(super) fn trades<'a>(
    trades: Answer<'a>,
    history: Answer<'a>,
) -> Result<Vec<OldTrade<'a>>, DatabaseError> {
    let mut trades = trades.collect(|row| {
        Ok(OldTrade {
            id: row.integer(0)?,
            account: row.integer(1)?,
            symbol: row.str(2)?.into(),
            quantity: row.integer(3)?,
            kind: row.str(4)?.into(),
            is_market: row.is(5)?,
            is_cash: row.is(6)?,
            at_ms: row.integer(7)?,
            bid_cents: row.integer(8)?,
            price_cents: row.find_integer(9)?,
            executor: row.str(10)?.into(),
            settled_cents: row.find_integer(11)?,
            due_day: row.find_integer(12)?,
            cash_type: row.find_str(13)?.map(Cow::from),
            cash_cents: row.find_integer(14)?,
            cash_at_ms: row.find_integer(15)?,
            cash_name: row.find_str(16)?.map(Cow::from),
            history: Vec::new(),
        })
    })?;
    // History rows come in the order of the trades.
    let mut of = 0;
    for row in history.all() {
        let id = row.integer(0)?;
        while trades.get(of).is_some_and(|trade| trade.id != id) {
            of += 1;
        }
        let Some(trade) = trades.get_mut(of) else {
            return Err(history.failed(format!("a step of trade {id}, which did not come")));
        };
        trade.history.push((row.integer(1)?, row.integer(2)?));
    }
    Ok(trades)
}
