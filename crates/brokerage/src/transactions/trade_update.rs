//! Trade update: past trades as in a lookup, with up to twenty of their rows changed. The next
//! update changes them back. The changed values are read back before the commit, so that a lost
//! update is found.

use super::batch::{Answer, Batch, Transaction};
pub(crate) use super::old_trades::TRADES;
use super::old_trades::{self, Chosen, OldTrade, id_parameters};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// Which trades. Those chosen by id have the name of their executor changed, those of an account
/// the cash type of their settlement, those in a security the name of their cash transaction.
pub type Input = Chosen;

/// The column that is changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Column {
    /// The name of the executor of a trade.
    Executor,
    /// The cash type of a settlement.
    CashType,
    /// The name of a cash transaction.
    CashName,
}

impl Column {
    /// The column that an update of trades chosen in this way changes.
    fn of(input: &Input) -> Self {
        match input {
            Chosen::ById(_) => Self::Executor,
            Chosen::ByAccount(..) => Self::CashType,
            Chosen::BySymbol(..) => Self::CashName,
        }
    }

    fn change(self) -> &'static Statement {
        match self {
            Self::Executor => &EXECUTORS,
            Self::CashType => &CASH_TYPES,
            Self::CashName => &CASH_NAMES,
        }
    }

    /// Adds a query for what the column holds of these trades: id and text of each row.
    pub(crate) fn ask_for(self, batch: &mut Batch, ids: &[i64]) -> usize {
        let statement = match self {
            Self::Executor => &READ_EXECUTORS,
            Self::CashType => &READ_CASH_TYPES,
            Self::CashName => &READ_CASH_NAMES,
        };
        batch.add_all(statement, id_parameters(ids))
    }
}

/// The result of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TradeUpdate {
    /// The trades before the change.
    pub trades: Vec<OldTrade<'static>>,
    /// Number of rows changed.
    pub corrected: u64,
    /// The column that was changed.
    pub column: Column,
    /// What it holds now, by trade.
    pub now: Vec<(i64, String)>,
}

// REPLACE is case-sensitive in every database, LIKE is not.
pub(super) static EXECUTORS: Statement = Statement {
    name: "trade_update_executors",
    sql: "UPDATE trade SET executor_name =
 CASE WHEN REPLACE(executor_name, ' X ', ' ') <> executor_name
 THEN REPLACE(executor_name, ' X ', ' ')
 ELSE REPLACE(executor_name, ' ', ' X ') END
WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
 $19, $20)",
    parameters: &[Type::Big; TRADES],
};

pub(super) static CASH_TYPES: Statement = Statement {
    name: "trade_update_cash_types",
    sql: "UPDATE settlement SET cash_type =
 CASE cash_type WHEN 'Cash Account' THEN 'Cash' WHEN 'Cash' THEN 'Cash Account'
 WHEN 'Margin' THEN 'Margin Account' ELSE 'Margin' END
WHERE trade_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
 $18, $19, $20)",
    parameters: &[Type::Big; TRADES],
};

pub(super) static CASH_NAMES: Statement = Statement {
    name: "trade_update_cash_names",
    sql: "UPDATE cash_transaction SET name =
 CASE WHEN REPLACE(name, ' shares of ', ' Shares of ') <> name
 THEN REPLACE(name, ' shares of ', ' Shares of ')
 ELSE REPLACE(name, ' Shares of ', ' shares of ') END
WHERE trade_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
 $18, $19, $20)",
    parameters: &[Type::Big; TRADES],
};

pub(super) static READ_EXECUTORS: Statement = Statement {
    name: "trade_update_read_executors",
    sql: "SELECT id, executor_name FROM trade
WHERE id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18,
 $19, $20)
ORDER BY id",
    parameters: &[Type::Big; TRADES],
};

pub(super) static READ_CASH_TYPES: Statement = Statement {
    name: "trade_update_read_cash_types",
    sql: "SELECT trade_id, cash_type FROM settlement
WHERE trade_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
 $18, $19, $20)
ORDER BY trade_id",
    parameters: &[Type::Big; TRADES],
};

pub(super) static READ_CASH_NAMES: Statement = Statement {
    name: "trade_update_read_cash_names",
    sql: "SELECT trade_id, name FROM cash_transaction
WHERE trade_id IN ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17,
 $18, $19, $20)
ORDER BY trade_id",
    parameters: &[Type::Big; TRADES],
};

/// Runs the transaction. `before_commit` is called with the trades whose rows the commit changes: if that
/// is not answered, they may be changed or not.
///
/// # Errors
/// Those of the session.
pub async fn run(
    session: &mut dyn Session,
    input: &Input,
    before_commit: &mut dyn FnMut(Column, &[i64]),
) -> Result<TradeUpdate, DatabaseError> {
    let column = Column::of(input);
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    let mut batch = Batch::new();
    let (trades, history) = old_trades::ask_for(&mut batch, input);
    if let Chosen::ById(ids) = input {
        // The ids are known: everything goes in one round trip.
        let change = batch.add_all(column.change(), id_parameters(ids));
        let now = column.ask_for(&mut batch, ids);
        before_commit(column, ids);
        let answers = transaction.commit(batch).await?;
        return Ok(TradeUpdate {
            trades: owned(answers.of(trades), answers.of(history))?,
            corrected: answers.of(change).changed(),
            column,
            now: values(answers.of(now))?,
        });
    }
    let answers = transaction.run(batch).await?;
    let trades = owned(answers.of(trades), answers.of(history))?;
    let mut ids: Vec<i64> = trades.iter().map(|trade| trade.id).collect();
    if column == Column::CashName {
        // Purchases on margin move no cash.
        let has_cash = |trade: &&OldTrade<'_>| trade.cash_name.is_some();
        ids = trades.iter().filter(has_cash).map(|one| one.id).collect();
    }
    // Rows are locked in the order of their ids, so that two updates do not deadlock.
    ids.sort_unstable();
    let mut batch = Batch::new();
    let calls = (!ids.is_empty()).then(|| {
        let change = batch.add_all(column.change(), id_parameters(&ids));
        (change, column.ask_for(&mut batch, &ids))
    });
    before_commit(column, &ids);
    let answers = transaction.commit(batch).await?;
    let (corrected, now) = match calls {
        Some((change, now)) => (answers.of(change).changed(), values(answers.of(now))?),
        None => (0, Vec::new()),
    };
    Ok(TradeUpdate {
        trades,
        corrected,
        column,
        now,
    })
}

/// Id and text of each row.
pub(crate) fn values(answer: Answer<'_>) -> Result<Vec<(i64, String)>, DatabaseError> {
    answer.collect(|row| Ok((row.integer(0)?, row.text(1)?)))
}

/// The trades that were read, which outlive the result sets: another batch follows.
fn owned(trades: Answer<'_>, history: Answer<'_>) -> Result<Vec<OldTrade<'static>>, DatabaseError> {
    let trades = old_trades::trades(trades, history)?;
    Ok(trades.into_iter().map(OldTrade::into_owned).collect())
}
