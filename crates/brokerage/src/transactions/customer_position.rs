//! Customer position: the value of a customer's accounts, and half of the time the ten latest
//! trades of one of them. Read-only.

use super::batch::{Answer, Batch, ask, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// The customer and the account.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The customer whose position is read.
    pub customer: CustomerKey,
    /// The account whose latest trades are read, if any.
    pub history_of: Option<i64>,
}

/// How the customer is identified.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CustomerKey {
    /// The customer with this id.
    Id(i64),
    /// The customer with this tax id, to be looked up first.
    TaxId(String),
}

/// The result of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct CustomerPosition<'a> {
    pub id: i64,
    pub tax_id: &'a str,
    pub status: i64,
    pub last_name: &'a str,
    pub first_name: &'a str,
    pub middle_name: Option<&'a str>,
    pub gender: Option<&'a str>,
    pub tier: i64,
    pub birth_day: i64,
    pub address: i64,
    /// Country, area, local number and extension of three phones.
    pub phones: Vec<Option<&'a str>>,
    pub emails: Vec<Option<&'a str>>,
    /// At most ten, by ascending value.
    pub accounts: Vec<Account>,
    /// History of the ten latest trades, the latest first.
    pub history: Vec<Step<'a>>,
}

/// An account with its value.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct Account {
    pub id: i64,
    pub balance_cents: i64,
    /// Value of its holdings.
    pub assets_cents: i64,
}

/// A history row of a trade.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct Step<'a> {
    pub trade: i64,
    pub symbol: &'a str,
    pub quantity: i64,
    pub status: &'a str,
    pub at_ms: i64,
}

/// The query for a customer; the last line selects it.
macro_rules! customer {
    ($who:literal) => {
        concat!(
            "SELECT id, tax_id, status_id, last_name, first_name, middle_name, gender, tier,
 birth_day, address_id,
 phone_1_country, phone_1_area, phone_1_local, phone_1_extension,
 phone_2_country, phone_2_area, phone_2_local, phone_2_extension,
 phone_3_country, phone_3_area, phone_3_local, phone_3_extension, email_1, email_2
FROM customer
WHERE ",
            $who
        )
    };
}

/// The query for the accounts of a customer; the last line but two selects it.
macro_rules! accounts {
    ($who:literal) => {
        concat!(
            "SELECT ca.id, ca.balance_cents,
 CAST(COALESCE(SUM(hs.quantity * lt.price_cents), 0) AS @integer@) AS assets
FROM customer c
JOIN customer_account ca ON ca.customer_id = c.id
LEFT JOIN holding_summary hs ON hs.account_id = ca.id
LEFT JOIN last_trade lt ON lt.symbol = hs.symbol
WHERE ",
            $who,
            "
GROUP BY ca.id, ca.balance_cents
ORDER BY assets, ca.id
LIMIT 10"
        )
    };
}

pub(super) static CUSTOMER_BY_ID: Statement = Statement {
    name: "customer_position_customer_by_id",
    sql: customer!("id = $1"),
    parameters: &[Type::Big],
};

pub(super) static CUSTOMER_BY_TAX_ID: Statement = Statement {
    name: "customer_position_customer_by_tax_id",
    sql: customer!("tax_id = $1"),
    parameters: &[Type::Text(20)],
};

pub(super) static ACCOUNTS_BY_ID: Statement = Statement {
    name: "customer_position_accounts_by_id",
    sql: accounts!("c.id = $1"),
    parameters: &[Type::Big],
};

pub(super) static ACCOUNTS_BY_TAX_ID: Statement = Statement {
    name: "customer_position_accounts_by_tax_id",
    sql: accounts!("c.tax_id = $1"),
    parameters: &[Type::Text(20)],
};

pub(super) static HISTORY: Statement = Statement {
    name: "customer_position_history",
    sql: "SELECT t.id, t.symbol, t.quantity, st.name, th.changed_at
FROM (SELECT id, symbol, quantity, entered_at FROM trade WHERE account_id = $1
 ORDER BY entered_at DESC, id DESC LIMIT 10) t
JOIN trade_history th ON th.trade_id = t.id
JOIN status_type st ON st.id = th.status_id
ORDER BY t.entered_at DESC, t.id DESC, th.changed_at DESC, th.status_id
LIMIT 30",
    parameters: &[Type::Big],
};

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run<'a>(
    session: &'a mut dyn Session,
    input: &Input,
) -> Result<CustomerPosition<'a>, DatabaseError> {
    let mut batch = Batch::new();
    match &input.customer {
        CustomerKey::Id(id) => {
            batch.add(&CUSTOMER_BY_ID, values![*id]);
            batch.add(&ACCOUNTS_BY_ID, values![*id]);
        }
        CustomerKey::TaxId(tax_id) => {
            batch.add(&CUSTOMER_BY_TAX_ID, values![tax_id.as_str()]);
            batch.add(&ACCOUNTS_BY_TAX_ID, values![tax_id.as_str()]);
        }
    }
    let history = input
        .history_of
        .map(|account| batch.add(&HISTORY, values![account]));
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    let mut position = customer(answers.of(0))?;
    position.accounts = answers.of(1).collect(|row| {
        Ok(Account {
            id: row.integer(0)?,
            balance_cents: row.integer(1)?,
            assets_cents: row.integer(2)?,
        })
    })?;
    if let Some(history) = history {
        position.history = answers.of(history).collect(|row| {
            Ok(Step {
                trade: row.integer(0)?,
                symbol: row.str(1)?,
                quantity: row.integer(2)?,
                status: row.str(3)?,
                at_ms: row.integer(4)?,
            })
        })?;
    }
    Ok(position)
}

fn customer(answer: Answer<'_>) -> Result<CustomerPosition<'_>, DatabaseError> {
    let row = answer.one()?;
    let texts = |columns: std::ops::Range<usize>| -> Result<Vec<_>, DatabaseError> {
        columns.map(|column| row.find_str(column)).collect()
    };
    Ok(CustomerPosition {
        id: row.integer(0)?,
        tax_id: row.str(1)?,
        status: row.integer(2)?,
        last_name: row.str(3)?,
        first_name: row.str(4)?,
        middle_name: row.find_str(5)?,
        gender: row.find_str(6)?,
        tier: row.integer(7)?,
        birth_day: row.integer(8)?,
        address: row.integer(9)?,
        phones: texts(10..22)?,
        emails: texts(22..24)?,
        accounts: Vec::new(),
        history: Vec::new(),
    })
}
