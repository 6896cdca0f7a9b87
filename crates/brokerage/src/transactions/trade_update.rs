//! Trade update: past trades as in a lookup, with up to twenty of their rows changed. The next
//! update changes them back.

use super::batch::{Answer, Batch, Transaction};
use super::old_trades::{self, Chosen, OldTrade, TRADES, id_parameters};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// Which trades. Those chosen by id have the name of their executor changed, those of an account
/// the cash type of their settlement, those in a security the name of their cash transaction.
pub type Input = Chosen;

/// The result of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TradeUpdate {
    /// The trades before the change.
    pub trades: Vec<OldTrade<'static>>,
    /// Number of rows changed.
    pub corrected: u64,
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

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run(session: &mut dyn Session, input: &Input) -> Result<TradeUpdate, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    let mut batch = Batch::new();
    let (trades, history) = old_trades::ask_for(&mut batch, input);
    let correction = match input {
        Chosen::ById(ids) => {
            // The ids are known: everything goes in one round trip.
            let change = batch.add_all(&EXECUTORS, id_parameters(ids));
            let answers = transaction.commit(batch).await?;
            let trades = owned(answers.of(trades), answers.of(history))?;
            let corrected = answers.of(change).changed();
            return Ok(TradeUpdate { trades, corrected });
        }
        Chosen::ByAccount(..) => &CASH_TYPES,
        Chosen::BySymbol(..) => &CASH_NAMES,
    };
    let answers = transaction.run(batch).await?;
    let trades = owned(answers.of(trades), answers.of(history))?;
    let mut ids: Vec<i64> = trades.iter().map(|trade| trade.id).collect();
    if matches!(input, Chosen::BySymbol(..)) {
        // Purchases on margin move no cash.
        let has_cash = |trade: &&OldTrade<'_>| trade.cash_name.is_some();
        ids = trades.iter().filter(has_cash).map(|one| one.id).collect();
    }
    // Rows are locked in the order of their ids, so that two updates do not deadlock.
    ids.sort_unstable();
    let mut batch = Batch::new();
    let change = (!ids.is_empty()).then(|| batch.add_all(correction, id_parameters(&ids)));
    let answers = transaction.commit(batch).await?;
    let corrected = change.map_or(0, |change| answers.of(change).changed());
    Ok(TradeUpdate { trades, corrected })
}

/// The trades that were read, which outlive the result sets: another batch follows.
fn owned(trades: Answer<'_>, history: Answer<'_>) -> Result<Vec<OldTrade<'static>>, DatabaseError> {
    let trades = old_trades::trades(trades, history)?;
    Ok(trades.into_iter().map(OldTrade::into_owned).collect())
}
