//! Finds the outcome of an order whose commit was not answered.

use crate::error::DatabaseError;
use crate::kinds::{Status, TradeKind};
use crate::market::Instruction;
use crate::schema::Type;
use crate::session::{AfterBatch, Call, Isolation, Session};
use crate::statement::Statement;
use crate::transactions::MarketOrder;
use crate::value::Value;

static ENTERED: Statement = Statement {
    name: "recovery_entered",
    sql: "SELECT symbol, trade_type_id, quantity, bid_price_cents, status_id \
          FROM trade WHERE id = $1",
    parameters: &[Type::Big],
};

/// The order to be sent to the market, if the trade with this id exists.
///
/// # Errors
/// Those of the session.
pub async fn entered(
    session: &mut dyn Session,
    trade: i64,
) -> Result<Option<MarketOrder>, DatabaseError> {
    let call = Call {
        statement: &ENTERED,
        parameters: vec![Value::Integer(trade)],
    };
    session.begin(Isolation::ReadCommitted)?;
    let calls = [call];
    let answers = session.run(&calls, AfterBatch::Commit).await?;
    let rows = answers.of(0);
    if rows.count() == 0 {
        return Ok(None);
    }
    let number = |column| rows.integer(0, column).unwrap_or(0);
    let instruction = if number(4) == Status::Pending.id() {
        Instruction::WaitForPrice
    } else {
        Instruction::Execute
    };
    Ok(TradeKind::of_id(number(1)).map(|kind| MarketOrder {
        trade,
        symbol: rows.text(0, 0).unwrap_or_default().to_owned(),
        kind,
        quantity: number(2),
        bid_cents: number(3),
        instruction,
    }))
}
