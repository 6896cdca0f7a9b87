//! Data maintenance: each round changes a few rows of another one of twelve tables.

pub(super) mod statements;

use super::batch::{Batch, Transaction, ask, values};
use super::output::output;
use crate::error::DatabaseError;
use crate::house::moments;
use crate::house::rates::COUNTRY_RATES;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use crate::value::Value;
use statements as say;

/// Tables that are maintained in turn.
pub const TABLES: u64 = 12;

/// A round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Who may do what on an account.
    Permissions {
        /// The account.
        account: i64,
    },
    /// Where a customer lives.
    AddressOfCustomer {
        /// The customer.
        customer: i64,
    },
    /// Where a company sits.
    AddressOfCompany {
        /// The company.
        company: i64,
    },
    /// How creditworthy a company is.
    Company {
        /// The company.
        company: i64,
    },
    /// The second e-mail address of a customer.
    Customer {
        /// The customer.
        customer: i64,
    },
    /// The country whose taxes a customer pays.
    TaxRateOfCustomer {
        /// The customer.
        customer: i64,
    },
    /// How many shares changed hands on every thirtieth day.
    DailyMarket {
        /// The security.
        symbol: String,
        /// Which of thirty days.
        day_of_thirty: i64,
        /// By how many it was more, or fewer.
        more: i64,
    },
    /// When the exchanges were described last.
    Exchanges {
        /// The moment.
        now_ms: i64,
    },
    /// When the quarters of a company begin.
    Reports {
        /// The company.
        company: i64,
    },
    /// When news about a company were published.
    News {
        /// The company.
        company: i64,
    },
    /// Since when a security has been at its exchange.
    Security {
        /// The security.
        symbol: String,
    },
    /// What a tax rate is called.
    TaxRate {
        /// Its id.
        id: String,
    },
    /// What a customer watches.
    WatchList {
        /// The customer.
        customer: i64,
    },
}

/// What came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataMaintenance {
    /// Rows changed.
    pub changed: u64,
    /// What stands in them now, where that had to be found out first.
    pub now: Vec<String>,
}

output!(DataMaintenance: changed, now);

/// Carries a round out.
///
/// # Errors
/// Those of the session.
pub async fn run(
    session: &mut dyn Session,
    input: &Input,
) -> Result<DataMaintenance, DatabaseError> {
    let number = |number: i64| vec![Value::from(number)];
    match input {
        Input::Permissions { account } => {
            at_once(session, &say::PERMISSIONS, number(*account)).await
        }
        Input::AddressOfCustomer { customer } => {
            at_once(session, &say::ADDRESS_OF_CUSTOMER, number(*customer)).await
        }
        Input::AddressOfCompany { company } => {
            at_once(session, &say::ADDRESS_OF_COMPANY, number(*company)).await
        }
        Input::Company { company } => at_once(session, &say::COMPANY, number(*company)).await,
        Input::Customer { customer } => email(session, *customer).await,
        Input::TaxRateOfCustomer { customer } => tax_rate_of(session, *customer).await,
        Input::DailyMarket {
            symbol,
            day_of_thirty,
            more,
        } => {
            let parameters = values![symbol.as_str(), *day_of_thirty, *more].to_vec();
            at_once(session, &say::DAYS, parameters).await
        }
        Input::Exchanges { now_ms } => exchanges(session, *now_ms).await,
        Input::Reports { company } => reports(session, *company).await,
        Input::News { company } => at_once(session, &say::NEWS, number(*company)).await,
        Input::Security { symbol } => {
            let parameters = values![symbol.as_str()].to_vec();
            at_once(session, &say::SECURITY, parameters).await
        }
        Input::TaxRate { id } => tax_name(session, id).await,
        Input::WatchList { customer } => watch_list(session, *customer).await,
    }
}

/// Carries out a statement that needs to know nothing before.
async fn at_once(
    session: &mut dyn Session,
    statement: &'static Statement,
    parameters: Vec<Value>,
) -> Result<DataMaintenance, DatabaseError> {
    let mut batch = Batch::new();
    batch.add_all(statement, parameters);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    Ok(DataMaintenance {
        changed: answers.of(0).changed(),
        now: Vec::new(),
    })
}

/// Changes what has been found out.
async fn change(
    mut transaction: Transaction<'_>,
    changes: Vec<(&'static Statement, Vec<Value>)>,
    now: Vec<String>,
) -> Result<DataMaintenance, DatabaseError> {
    let mut batch = Batch::new();
    let calls: Vec<usize> = changes
        .into_iter()
        .map(|(statement, parameters)| batch.add_all(statement, parameters))
        .collect();
    let answers = transaction.commit(batch).await?;
    let changed = calls.into_iter().map(|call| answers.of(call).changed());
    Ok(DataMaintenance {
        changed: changed.sum(),
        now,
    })
}

/// The address moves from one provider to another and back.
async fn email(session: &mut dyn Session, customer: i64) -> Result<DataMaintenance, DatabaseError> {
    const PROVIDERS: [&str; 2] = ["letterbox.example", "pigeonhole.example"];
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::EMAIL, values![customer]);
    let answers = transaction.run(batch).await?;
    let old = answers.of(0).one()?.find_str(0)?.unwrap_or_default();
    let (person, provider) = old.split_once('@').unwrap_or((old, ""));
    let other = usize::from(provider == PROVIDERS[0]);
    // The column has 50 places.
    let person: String = person.chars().take(30).collect();
    let new = format!("{person}@{}", PROVIDERS[other]);
    let changes = values![customer, new.as_str()].to_vec();
    change(transaction, vec![(&say::CHANGE_EMAIL, changes)], vec![new]).await
}

/// The country after the customer's.
async fn tax_rate_of(
    session: &mut dyn Session,
    customer: i64,
) -> Result<DataMaintenance, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::TAX_RATES, values![customer]);
    let answers = transaction.run(batch).await?;
    let rates = answers.of(0).collect(|row| row.text(0))?;
    let country = rates.iter().find_map(|rate| {
        let number = rate.strip_prefix('C')?.parse::<u32>().ok()?;
        Some((rate, number))
    });
    let Some((old, number)) = country else {
        let problem = format!("customer {customer} pays taxes in no country");
        return Err(answers.of(0).failed(problem));
    };
    let new = format!("C{:03}", number % COUNTRY_RATES + 1);
    let changes = values![customer, old.as_str(), new.as_str()].to_vec();
    change(
        transaction,
        vec![(&say::CHANGE_TAX_RATE, changes)],
        vec![new],
    )
    .await
}

/// Every exchange says when it was described last.
async fn exchanges(
    session: &mut dyn Session,
    now_ms: i64,
) -> Result<DataMaintenance, DatabaseError> {
    const MARK: &str = " (described anew at ";
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::EXCHANGES, []);
    let answers = transaction.run(batch).await?;
    let (mut changes, mut now) = (Vec::new(), Vec::new());
    for row in answers.of(0).all() {
        let old = row.text(1)?;
        let kept = old.find(MARK).map_or(old.as_str(), |mark| &old[..mark]);
        let kept: String = kept.chars().take(100).collect();
        let new = format!("{kept}{MARK}{now_ms})");
        let parameters = values![row.text(0)?, new.as_str()].to_vec();
        changes.push((&say::CHANGE_EXCHANGE, parameters));
        now.push(new);
    }
    change(transaction, changes, now).await
}

/// The quarters begin a day later, and the next time a day earlier.
async fn reports(
    session: &mut dyn Session,
    company: i64,
) -> Result<DataMaintenance, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::REPORTS, values![company]);
    let answers = transaction.run(batch).await?;
    let row = answers.of(0).first()?;
    let (year, quarter) = (row.integer(0)?, row.integer(1)?);
    let report = (year - moments::quarter(0).0) * 4 + quarter - 1;
    let (_, _, first_day) = moments::quarter(u32::try_from(report).unwrap_or(0));
    let by_days = if row.integer(2)? == first_day { 1 } else { -1 };
    let changes = values![company, by_days].to_vec();
    change(
        transaction,
        vec![(&say::CHANGE_REPORTS, changes)],
        vec![by_days.to_string()],
    )
    .await
}

/// The name ends with the word "rate", or does so no more.
async fn tax_name(session: &mut dyn Session, id: &str) -> Result<DataMaintenance, DatabaseError> {
    const WORD: &str = " rate";
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::TAX_NAME, values![id]);
    let answers = transaction.run(batch).await?;
    let old = answers.of(0).one()?.text(0)?;
    let new = match old.strip_suffix(WORD) {
        Some(without) => without.to_owned(),
        // The column has 50 places.
        None => old.chars().take(45).chain(WORD.chars()).collect(),
    };
    let changes = values![id, new.as_str()].to_vec();
    change(
        transaction,
        vec![(&say::CHANGE_TAX_NAME, changes)],
        vec![new],
    )
    .await
}

/// The security in the middle of the list gives way to the next one that is not on it.
async fn watch_list(
    session: &mut dyn Session,
    customer: i64,
) -> Result<DataMaintenance, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add(&say::WATCHED, values![customer]);
    let answers = transaction.run(batch).await?;
    let watched = answers
        .of(0)
        .collect(|row| Ok((row.integer(0)?, row.text(1)?)))?;
    let Some((list, old)) = watched.get(watched.len() / 2) else {
        let problem = format!("customer {customer} watches nothing");
        return Err(answers.of(0).failed(problem));
    };
    let mut batch = Batch::new();
    // Behind the old one, or else from the beginning.
    batch.add(&say::NOT_WATCHED, values![*list, old.as_str()]);
    batch.add(&say::NOT_WATCHED, values![*list, ""]);
    let answers = transaction.run(batch).await?;
    let new = answers.of(0).find().or_else(|| answers.of(1).find());
    let Some(new) = new.map(|row| row.text(0)).transpose()? else {
        // The customer watches everything there is.
        return change(transaction, Vec::new(), Vec::new()).await;
    };
    let changes = values![*list, old.as_str(), new.as_str()].to_vec();
    change(
        transaction,
        vec![(&say::CHANGE_WATCHED, changes)],
        vec![new],
    )
    .await
}
