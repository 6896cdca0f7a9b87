//! Trade result: the market has executed an order, and its result is booked: holdings, tax,
//! commission, settlement, cash and the broker's counters, all in one serializable transaction.

pub(super) mod statements;

use super::batch::{Batch, Row, Transaction, values};
use super::lots::{self, Closing, Lot};
use super::trade_order::statements::STEP;
use crate::dataset::rates::{cash_type, commission_cents, settlement_cents, tax_cents};
use crate::dataset::trading_calendar::DAY_MS;
use crate::error::DatabaseError;
use crate::kinds::Status;
use crate::session::{Isolation, Session};
use statements as say;

/// Days from a trade to its settlement.
pub(crate) const SETTLED_AFTER_DAYS: i64 = 2;

/// The result of an execution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Id of the trade.
    pub trade: i64,
    /// The price of the execution.
    pub price_cents: i64,
    /// Timestamp of the booking.
    pub now_ms: i64,
}

/// How the transaction ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum TradeResult {
    /// The result is booked.
    Booked(Booked),
    /// It was booked already: the commit of an earlier attempt succeeded without an answer.
    BookedBefore,
    /// The trade is not submitted but has this status. Nothing was changed.
    NotSubmitted {
        /// The status found, a number of `status_type`.
        status: i64,
    },
    /// There is no such trade, though it was sent to the market after its commit.
    Missing,
}

/// What booking the result of a trade has changed.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct Booked {
    pub account: i64,
    pub customer: i64,
    pub broker: i64,
    pub symbol: String,
    pub security: String,
    pub kind: String,
    pub is_cash: bool,
    /// Shares of the security in the account afterwards.
    pub held: i64,
    pub bought_cents: i64,
    pub sold_cents: i64,
    pub tax_cents: i64,
    pub charge_cents: i64,
    pub commission_cents: i64,
    pub settled_cents: i64,
    /// The account's balance afterwards.
    pub balance_cents: i64,
    /// Lots that were closed or reduced, with their remaining shares.
    pub lots: Vec<(i64, i64)>,
}

/// The trade as read.
struct Trade {
    booked: Booked,
    quantity: i64,
    is_sell: bool,
    /// Shares of the security in the account before the trade.
    held: i64,
    closing: Closing,
}

/// Runs the transaction: one batch of queries, one of changes. It may be repeated after any error:
/// a result is booked only once.
///
/// # Errors
/// Those of the session.
pub async fn run(session: &mut dyn Session, input: &Input) -> Result<TradeResult, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::Serializable)?;
    let mut batch = Batch::new();
    let trade = batch.add(&say::TRADE, values![input.trade]);
    let lots = batch.add(&say::LOTS, values![input.trade]);
    let rates = batch.add(&say::TAX_RATES, values![input.trade]);
    let answers = transaction.run(batch).await?;
    let Some(row) = answers.of(trade).find() else {
        transaction.roll_back().await?;
        return Ok(TradeResult::Missing);
    };
    let status = row.integer(3)?;
    if status != Status::Submitted.id() {
        transaction.roll_back().await?;
        return Ok(if status == Status::Completed.id() {
            TradeResult::BookedBefore
        } else {
            TradeResult::NotSubmitted { status }
        });
    }
    let lots = lots::of_answer(answers.of(lots))?;
    let rates = answers.of(rates).one()?.integer(0)?;
    let Trade {
        mut booked,
        quantity,
        is_sell,
        held,
        closing,
    } = calculate(input, row, &lots, rates)?;
    let mut batch = Batch::new();
    change_holdings(&mut batch, input, &booked, held, &closing);
    complete(&mut batch, input, &booked, quantity);
    let balance = batch.add(&say::BALANCE, values![booked.account]);
    // The broker's row is the most contended one: it is locked last.
    batch.add(
        &say::BROKER,
        values![booked.broker, booked.commission_cents],
    );
    assert_eq!(
        booked.held - held,
        if is_sell { -quantity } else { quantity }
    );
    let answers = transaction.commit(batch).await?;
    booked.balance_cents = answers.of(balance).one()?.integer(0)?;
    Ok(TradeResult::Booked(booked))
}

fn calculate(
    input: &Input,
    row: Row<'_>,
    lots: &[Lot],
    rates_per_100000: i64,
) -> Result<Trade, DatabaseError> {
    let (quantity, price_cents) = (row.integer(2)?, input.price_cents);
    let (is_lifo, is_sell) = (row.is(5)?, row.is(8)?);
    let (charge, held) = (row.integer(6)?, row.integer(13)?);
    let closing = lots::close(lots, is_sell, is_lifo, quantity, price_cents);
    let tax_status = row.integer(11)?;
    let tax = if tax_status == 0 {
        0
    } else {
        tax_cents(rates_per_100000, closing.gain_cents())
    };
    let commission = commission_cents(row.integer(14)?, quantity, price_cents);
    let kept_back = if tax_status == 1 { tax } else { 0 };
    let worth = quantity * price_cents;
    let left = |change: &lots::LotChange| (change.holding, change.after);
    let booked = Booked {
        account: row.integer(0)?,
        customer: row.integer(10)?,
        broker: row.integer(9)?,
        symbol: row.text(1)?,
        security: row.text(12)?,
        kind: row.text(7)?,
        is_cash: row.is(4)?,
        held: held + if is_sell { -quantity } else { quantity },
        bought_cents: closing.bought_cents,
        sold_cents: closing.sold_cents,
        tax_cents: tax,
        charge_cents: charge,
        commission_cents: commission,
        settled_cents: settlement_cents(is_sell, worth, charge + commission, kept_back),
        balance_cents: 0,
        lots: closing.changes.iter().map(left).collect(),
    };
    Ok(Trade {
        booked,
        quantity,
        is_sell,
        held,
        closing,
    })
}

/// Changes the lots, their history and their sum. The sum's row must exist as long as a lot does.
fn change_holdings(
    batch: &mut Batch,
    input: &Input,
    booked: &Booked,
    held: i64,
    closing: &Closing,
) {
    let (account, symbol) = (booked.account, booked.symbol.as_str());
    if booked.held != 0 {
        let summary = if held == 0 {
            &say::SUMMARY_BEGINS
        } else {
            &say::SUMMARY_CHANGES
        };
        batch.add(summary, values![account, symbol, booked.held]);
    }
    for change in &closing.changes {
        if change.after == 0 {
            batch.add(&say::LOT_ENDS, values![change.holding]);
        } else {
            batch.add(&say::LOT_CHANGES, values![change.holding, change.after]);
        }
        batch.add(
            &say::LOT_HISTORY,
            values![change.holding, input.trade, change.before, change.after],
        );
    }
    if closing.opened != 0 {
        let (trade, opened) = (input.trade, closing.opened);
        batch.add(
            &say::LOT_BEGINS,
            values![
                trade,
                account,
                symbol,
                input.now_ms,
                input.price_cents,
                opened
            ],
        );
        batch.add(&say::LOT_HISTORY, values![trade, trade, 0, opened]);
    }
    if booked.held == 0 && held != 0 {
        batch.add(&say::SUMMARY_ENDS, values![account, symbol]);
    }
}

/// Completes the trade and settles it.
fn complete(batch: &mut Batch, input: &Input, booked: &Booked, quantity: i64) {
    let (trade, now_ms) = (input.trade, input.now_ms);
    let completed = Status::Completed.id();
    batch.add(
        &say::COMPLETE,
        values![
            trade,
            now_ms,
            completed,
            input.price_cents,
            booked.commission_cents,
            booked.tax_cents
        ],
    );
    batch.add(&STEP, values![trade, completed, now_ms]);
    let due_day = now_ms.div_euclid(DAY_MS) + SETTLED_AFTER_DAYS;
    let amount = booked.settled_cents;
    batch.add(
        &say::SETTLE,
        values![trade, cash_type(booked.is_cash), due_day, amount],
    );
    if booked.is_cash {
        batch.add(&say::PAY, values![booked.account, amount]);
        let name = format!("{} {quantity} shares of {}", booked.kind, booked.security);
        batch.add(&say::CASH, values![trade, now_ms, amount, name]);
    }
}
