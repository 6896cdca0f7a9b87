//! Trade order: a customer, or a permitted person, orders shares. Costs and gain are estimated,
//! then the order is entered, or rolled back intentionally.

pub(super) mod statements;

use super::batch::{Answers, Batch, Transaction, values};
use super::lots::{self, Closing, Lot};
use super::market_order::MarketOrder;
use crate::dataset::rates::{commission_cents, tax_cents};
use crate::error::DatabaseError;
use crate::kinds::{Status, TradeKind};
use crate::market::Instruction;
use crate::session::{Isolation, Session};
use statements as say;

/// An order to be entered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The id of the new trade, unique.
    pub trade: i64,
    /// The account that buys or sells.
    pub account: i64,
    /// Who orders; `None` for the owner of the account.
    pub executor: Option<Executor>,
    /// Symbol of the security.
    pub symbol: String,
    /// Company and issue, if the security is identified by them instead of by its symbol.
    pub by_company: Option<(String, String)>,
    /// Trade type: side, and market or limit.
    pub kind: TradeKind,
    /// Number of shares to trade.
    pub quantity: i64,
    /// The limit; without effect on market orders.
    pub limit_cents: i64,
    /// Whether it is paid on margin.
    pub is_margin: bool,
    /// Whether the latest lots are closed first.
    pub is_lifo: bool,
    /// Whether the order is rolled back intentionally.
    pub rolls_back: bool,
    /// Timestamp of the order.
    pub now_ms: i64,
}

/// The person who enters an order in place of the owner of the account.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct Executor {
    pub tax_id: String,
    pub last_name: String,
    pub first_name: String,
}

/// How the transaction ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// The order was entered and committed.
    Entered,
    /// Entered and rolled back intentionally.
    RolledBack,
    /// The person has no permission: nothing was entered.
    NotPermitted,
}

/// The result of the transaction.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // Columns, named like them in `schema`, and estimates from them.
pub struct TradeOrder {
    pub outcome: Outcome,
    pub trade: i64,
    pub account_name: String,
    pub broker: i64,
    pub broker_name: String,
    pub customer: i64,
    pub executor: String,
    pub access: Option<String>,
    pub company: String,
    pub security: String,
    pub symbol: String,
    pub status: i64,
    pub market_cents: i64,
    pub asked_cents: i64,
    /// Purchase value of the shares that the order would close.
    pub bought_cents: i64,
    /// Value of these shares when sold.
    pub sold_cents: i64,
    /// The tax on the gain.
    pub tax_cents: i64,
    pub charge_cents: i64,
    pub commission_cents: i64,
    /// Balance and holdings of the account, for orders on margin.
    pub assets_cents: Option<i64>,
    /// The order to be sent to the market now.
    pub market_orders: Option<MarketOrder>,
}

/// Numbers of the result sets of the first batch.
struct Questions {
    account: usize,
    permission: Option<usize>,
    security: usize,
    kind: usize,
    summary: usize,
    lots: usize,
    tax_rates: usize,
    commission: usize,
    charge: usize,
    assets: Option<usize>,
}

fn questions(input: &Input, batch: &mut Batch) -> Questions {
    let (account, symbol) = (input.account, input.symbol.as_str());
    let kind = input.kind.id();
    Questions {
        account: batch.add(&say::ACCOUNT, values![account]),
        permission: input.executor.as_ref().map(|executor| {
            let parameters = values![
                account,
                executor.tax_id.as_str(),
                executor.last_name.as_str(),
                executor.first_name.as_str(),
            ];
            batch.add(&say::PERMISSION, parameters)
        }),
        security: match &input.by_company {
            Some((company, issue)) => {
                let parameters = values![company.as_str(), issue.as_str()];
                batch.add(&say::SECURITY_BY_COMPANY, parameters)
            }
            None => batch.add(&say::SECURITY_BY_SYMBOL, values![symbol]),
        },
        kind: batch.add(&say::KIND, values![kind]),
        summary: batch.add(&say::SUMMARY, values![account, symbol]),
        lots: batch.add(&say::LOTS, values![account, symbol]),
        tax_rates: batch.add(&say::TAX_RATES, values![account]),
        commission: batch.add(
            &say::COMMISSION,
            values![account, symbol, kind, input.quantity],
        ),
        charge: batch.add(&say::CHARGE, values![account, kind]),
        assets: input
            .is_margin
            .then(|| batch.add(&say::ASSETS, values![account])),
    }
}

/// Runs the transaction: one batch of queries, one of changes.
///
/// # Errors
/// Those of the session. After [`DatabaseError::Unavailable`] the outcome of the commit is unknown;
/// a run then looks for the trade by its id.
pub async fn run(session: &mut dyn Session, input: &Input) -> Result<TradeOrder, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    let mut batch = Batch::new();
    let questions = questions(input, &mut batch);
    let answers = transaction.run(batch).await?;
    let mut order = estimate(input, &questions, &answers)?;
    if order.outcome == Outcome::NotPermitted {
        transaction.roll_back().await?;
        return Ok(order);
    }
    let batch = changes(input, &order);
    if input.rolls_back {
        order.outcome = Outcome::RolledBack;
        transaction.run(batch).await?;
        transaction.roll_back().await?;
        return Ok(order);
    }
    transaction.commit(batch).await?;
    order.market_orders = Some(MarketOrder {
        trade: input.trade,
        symbol: order.symbol.clone(),
        kind: input.kind,
        quantity: input.quantity,
        bid_cents: order.asked_cents,
        instruction: if input.kind.is_market() {
            Instruction::Execute
        } else {
            Instruction::WaitForPrice
        },
    });
    Ok(order)
}

/// Estimates costs and gain of the order.
fn estimate(
    input: &Input,
    questions: &Questions,
    answers: &Answers,
) -> Result<TradeOrder, DatabaseError> {
    let account = answers.of(questions.account).one()?;
    let security = answers.of(questions.security).one()?;
    let kind = answers.of(questions.kind).one()?;
    let market_cents = security.integer(4)?;
    let (is_sell, is_market) = (kind.is(1)?, kind.is(2)?);
    let asked_cents = if is_market {
        market_cents
    } else {
        input.limit_cents
    };
    let closing = closing(input, questions, answers, is_sell, asked_cents)?;
    let rates = answers.of(questions.tax_rates).one()?.integer(0)?;
    let is_taxed = account.integer(3)? != 0;
    let rate = answers.of(questions.commission).one()?.integer(0)?;
    let access = match questions.permission {
        Some(call) => answers.of(call).find().map(|row| row.text(0)).transpose()?,
        None => None,
    };
    let assets_cents = match questions.assets {
        Some(call) => Some(answers.of(call).one()?.integer(0)? + account.integer(4)?),
        None => None,
    };
    let is_permitted = input.executor.is_none() || access.is_some();
    let status = if is_market {
        Status::Submitted
    } else {
        Status::Pending
    };
    let executor = match &input.executor {
        Some(other) => format!("{} {}", other.first_name, other.last_name),
        None => format!("{} {}", account.text(6)?, account.text(5)?),
    };
    Ok(TradeOrder {
        outcome: if is_permitted {
            Outcome::Entered
        } else {
            Outcome::NotPermitted
        },
        trade: input.trade,
        account_name: account.text(0)?,
        broker: account.integer(1)?,
        broker_name: account.text(9)?,
        customer: account.integer(2)?,
        executor,
        access,
        company: security.text(3)?,
        security: security.text(1)?,
        symbol: security.text(0)?,
        status: status.id(),
        market_cents,
        asked_cents,
        bought_cents: closing.bought_cents,
        sold_cents: closing.sold_cents,
        tax_cents: if is_taxed {
            tax_cents(rates, closing.gain_cents())
        } else {
            0
        },
        charge_cents: answers.of(questions.charge).one()?.integer(0)?,
        commission_cents: commission_cents(rate, input.quantity, asked_cents),
        assets_cents,
        market_orders: None,
    })
}

/// Which lots the order would close.
fn closing(
    input: &Input,
    questions: &Questions,
    answers: &Answers,
    is_sell: bool,
    asked_cents: i64,
) -> Result<Closing, DatabaseError> {
    let summary = answers.of(questions.summary);
    let held = summary.find().map(|row| row.integer(0)).transpose()?;
    let lots = lots::of_answer(answers.of(questions.lots))?;
    let sum: i64 = lots.iter().map(|lot: &Lot| lot.quantity).sum();
    let held = held.unwrap_or(0);
    if sum != held {
        let (account, symbol) = (input.account, &input.symbol);
        return Err(summary.failed(format!(
            "account {account} holds {held} shares of {symbol}, its lots add up to {sum}"
        )));
    }
    let (is_lifo, quantity) = (input.is_lifo, input.quantity);
    Ok(lots::close(&lots, is_sell, is_lifo, quantity, asked_cents))
}

fn changes(input: &Input, order: &TradeOrder) -> Batch {
    let mut batch = Batch::new();
    let (trade, symbol) = (input.trade, order.symbol.as_str());
    let kind = input.kind.id();
    batch.add(
        &say::ENTER,
        values![
            trade,
            input.now_ms,
            order.status,
            kind,
            i64::from(!input.is_margin),
            symbol,
            input.quantity,
            order.asked_cents,
            input.account,
            order.executor.as_str(),
            order.charge_cents,
            order.commission_cents,
            i64::from(input.is_lifo),
        ],
    );
    batch.add(&say::STEP, values![trade, order.status, input.now_ms]);
    if order.status == Status::Pending.id() {
        batch.add(
            &say::REQUEST,
            values![
                trade,
                kind,
                symbol,
                input.quantity,
                order.asked_cents,
                order.broker
            ],
        );
    }
    batch
}
