//! Data maintenance: each round changes a few rows of one of twelve tables, in turn. The rows are read
//! back before the commit, so that a lost change is found.

pub(super) mod statements;

use super::batch::{Answer, Batch, Transaction, ask, values};
use crate::dataset::rates::COUNTRY_RATES;
use crate::dataset::trading_calendar;
use crate::error::DatabaseError;
use crate::session::{Call, Isolation, Session};
use crate::statement::Statement;
use crate::value::Value;
use statements as say;

/// Tables that are maintained in turn.
pub const TABLES: u64 = 12;

/// A round of maintenance.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    /// Changes an access code in the permissions of the account with this id.
    Permissions(i64),
    /// Changes the address of the customer with this id.
    AddressOfCustomer(i64),
    /// Changes the address of the company with this id.
    AddressOfCompany(i64),
    /// Changes the credit rating of the company with this id.
    Company(i64),
    /// Changes the second e-mail address of the customer with this id.
    Customer(i64),
    /// Changes the country tax rate of the customer with this id.
    TaxRateOfCustomer(i64),
    /// Changes the volume of every thirtieth day.
    DailyMarket {
        /// Symbol of the security.
        symbol: String,
        /// Which of the thirty days.
        day_of_thirty: i64,
        /// Difference added to the volume.
        more: i64,
    },
    /// Writes this timestamp into the description of every exchange.
    Exchanges(i64),
    /// Moves the quarters in the reports of the company with this id.
    Reports(i64),
    /// Moves the publication of news about the company with this id.
    News(i64),
    /// Moves the listing date of the security with this symbol.
    Security(String),
    /// Renames the tax rate with this id.
    TaxRate(String),
    /// Replaces a security on the watch list of the customer with this id.
    WatchList(i64),
}

/// The result of a round.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DataMaintenance {
    /// Number of rows changed.
    pub changed: u64,
    /// The new values, where they depend on the old ones.
    pub now: Vec<String>,
    /// The hash of what [`Input::query`] finds now.
    pub content: u32,
}

impl Input {
    /// A query for the rows that a round with this input changes. No other transaction changes what it
    /// finds.
    #[must_use]
    pub fn query(&self) -> Call {
        let (statement, parameters) = match self {
            Self::Permissions(account) => (&say::READ_PERMISSIONS, vec![(*account).into()]),
            Self::AddressOfCustomer(customer) => {
                (&say::READ_ADDRESS_OF_CUSTOMER, vec![(*customer).into()])
            }
            Self::AddressOfCompany(company) => {
                (&say::READ_ADDRESS_OF_COMPANY, vec![(*company).into()])
            }
            Self::Company(company) => (&say::READ_COMPANY, vec![(*company).into()]),
            Self::Customer(customer) => (&say::EMAIL, vec![(*customer).into()]),
            Self::TaxRateOfCustomer(customer) => (&say::TAX_RATES, vec![(*customer).into()]),
            Self::DailyMarket {
                symbol,
                day_of_thirty,
                ..
            } => (
                &say::READ_DAYS,
                values![symbol.as_str(), *day_of_thirty].to_vec(),
            ),
            Self::Exchanges(_) => (&say::EXCHANGES, Vec::new()),
            Self::Reports(company) => (&say::REPORTS, vec![(*company).into()]),
            Self::News(company) => (&say::READ_NEWS, vec![(*company).into()]),
            Self::Security(symbol) => (&say::READ_SECURITY, vec![symbol.as_str().into()]),
            Self::TaxRate(id) => (&say::TAX_NAME, vec![id.as_str().into()]),
            Self::WatchList(customer) => (&say::WATCHED, vec![(*customer).into()]),
        };
        Call {
            statement,
            parameters,
        }
    }
}

/// Runs a round.
///
/// # Errors
/// Those of the session.
pub async fn run(
    session: &mut dyn Session,
    input: &Input,
) -> Result<DataMaintenance, DatabaseError> {
    let number = |number: i64| vec![Value::from(number)];
    match input {
        Input::Permissions(account) => {
            at_once(session, input, &say::PERMISSIONS, number(*account)).await
        }
        Input::AddressOfCustomer(customer) => {
            at_once(session, input, &say::ADDRESS_OF_CUSTOMER, number(*customer)).await
        }
        Input::AddressOfCompany(company) => {
            at_once(session, input, &say::ADDRESS_OF_COMPANY, number(*company)).await
        }
        Input::Company(company) => at_once(session, input, &say::COMPANY, number(*company)).await,
        Input::DailyMarket {
            symbol,
            day_of_thirty,
            more,
        } => {
            let parameters = values![symbol.as_str(), *day_of_thirty, *more].to_vec();
            at_once(session, input, &say::DAYS, parameters).await
        }
        Input::News(company) => at_once(session, input, &say::NEWS, number(*company)).await,
        Input::Security(symbol) => {
            let parameters = values![symbol.as_str()].to_vec();
            at_once(session, input, &say::SECURITY, parameters).await
        }
        Input::Customer(_)
        | Input::TaxRateOfCustomer(_)
        | Input::Exchanges(_)
        | Input::Reports(_)
        | Input::TaxRate(_)
        | Input::WatchList(_) => after_reading(session, input).await,
    }
}

/// Runs a change that depends on nothing read before.
async fn at_once(
    session: &mut dyn Session,
    input: &Input,
    statement: &'static Statement,
    parameters: Vec<Value>,
) -> Result<DataMaintenance, DatabaseError> {
    let mut batch = Batch::new();
    batch.add_all(statement, parameters);
    let found = batch.add_call(input.query());
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    Ok(DataMaintenance {
        changed: answers.of(0).changed(),
        now: Vec::new(),
        content: answers.of(found).content(),
    })
}

/// What a round changes once it has read the rows.
#[derive(Default)]
struct Changes {
    calls: Vec<Call>,
    now: Vec<String>,
}

impl Changes {
    fn one(statement: &'static Statement, parameters: &[Value], now: String) -> Self {
        let mut changes = Self::default();
        changes.add(statement, parameters, now);
        changes
    }

    fn add(&mut self, statement: &'static Statement, parameters: &[Value], now: String) {
        self.calls.push(Call {
            statement,
            parameters: parameters.to_vec(),
        });
        self.now.push(now);
    }
}

/// Reads the rows, and changes them to what follows from that.
async fn after_reading(
    session: &mut dyn Session,
    input: &Input,
) -> Result<DataMaintenance, DatabaseError> {
    let mut transaction = Transaction::begin(session, Isolation::ReadCommitted)?;
    let mut batch = Batch::new();
    batch.add_call(input.query());
    let answers = transaction.run(batch).await?;
    let read = answers.of(0);
    let changes = match input {
        Input::Customer(customer) => email(read, *customer)?,
        Input::TaxRateOfCustomer(customer) => tax_rate_of(read, *customer)?,
        Input::Exchanges(now_ms) => exchanges(read, *now_ms)?,
        Input::Reports(company) => reports(read, *company)?,
        Input::TaxRate(id) => tax_name(read, id)?,
        Input::WatchList(customer) => {
            let watched = watched_in_the_middle(read, *customer)?;
            watch_list(&mut transaction, watched).await?
        }
        Input::Permissions(_)
        | Input::AddressOfCustomer(_)
        | Input::AddressOfCompany(_)
        | Input::Company(_)
        | Input::DailyMarket { .. }
        | Input::News(_)
        | Input::Security(_) => Changes::default(),
    };
    let mut batch = Batch::new();
    let calls: Vec<usize> = changes
        .calls
        .into_iter()
        .map(|call| batch.add_call(call))
        .collect();
    let found = batch.add_call(input.query());
    let answers = transaction.commit(batch).await?;
    let changed = calls.into_iter().map(|call| answers.of(call).changed());
    Ok(DataMaintenance {
        changed: changed.sum(),
        now: changes.now,
        content: answers.of(found).content(),
    })
}

/// Moves the address from one mail provider to the other and back.
fn email(read: Answer<'_>, customer: i64) -> Result<Changes, DatabaseError> {
    const PROVIDERS: [&str; 2] = ["letterbox.example", "pigeonhole.example"];
    let old = read.one()?.find_str(0)?.unwrap_or_default();
    let (person, provider) = old.split_once('@').unwrap_or((old, ""));
    let other = usize::from(provider == PROVIDERS[0]);
    // The column holds 50 characters.
    let person: String = person.chars().take(30).collect();
    let new = format!("{person}@{}", PROVIDERS[other]);
    let parameters = values![customer, new.as_str()];
    Ok(Changes::one(&say::CHANGE_EMAIL, &parameters, new))
}

/// Sets the next country's tax rate.
fn tax_rate_of(read: Answer<'_>, customer: i64) -> Result<Changes, DatabaseError> {
    let rates = read.collect(|row| row.text(0))?;
    let country = rates.iter().find_map(|rate| {
        let number = rate.strip_prefix('C')?.parse::<u32>().ok()?;
        Some((rate, number))
    });
    let Some((old, number)) = country else {
        let problem = format!("customer {customer} pays taxes in no country");
        return Err(read.failed(problem));
    };
    let new = format!("C{:03}", number % COUNTRY_RATES + 1);
    let parameters = values![customer, old.as_str(), new.as_str()];
    Ok(Changes::one(&say::CHANGE_TAX_RATE, &parameters, new))
}

/// Writes the time of its description into every exchange.
fn exchanges(read: Answer<'_>, now_ms: i64) -> Result<Changes, DatabaseError> {
    const MARK: &str = " (described anew at ";
    let mut changes = Changes::default();
    for row in read.all() {
        let old = row.text(1)?;
        let kept = old.find(MARK).map_or(old.as_str(), |mark| &old[..mark]);
        let kept: String = kept.chars().take(100).collect();
        let new = format!("{kept}{MARK}{now_ms})");
        let parameters = values![row.text(0)?, new.as_str()];
        changes.add(&say::CHANGE_EXCHANGE, &parameters, new);
    }
    Ok(changes)
}

/// Moves the quarters by a day, forwards and backwards in turn.
fn reports(read: Answer<'_>, company: i64) -> Result<Changes, DatabaseError> {
    let row = read.first()?;
    let (year, quarter) = (row.integer(0)?, row.integer(1)?);
    let report = (year - trading_calendar::quarter(0).0) * 4 + quarter - 1;
    let (_, _, first_day) = trading_calendar::quarter(u32::try_from(report).unwrap_or(0));
    let by_days = if row.integer(2)? == first_day { 1 } else { -1 };
    let parameters = values![company, by_days];
    let now = by_days.to_string();
    Ok(Changes::one(&say::CHANGE_REPORTS, &parameters, now))
}

/// Appends the word "rate" to the name, or removes it.
fn tax_name(read: Answer<'_>, id: &str) -> Result<Changes, DatabaseError> {
    const WORD: &str = " rate";
    let old = read.one()?.text(0)?;
    let new = match old.strip_suffix(WORD) {
        Some(without) => without.to_owned(),
        // The column holds 50 characters.
        None => old.chars().take(45).chain(WORD.chars()).collect(),
    };
    let parameters = values![id, new.as_str()];
    Ok(Changes::one(&say::CHANGE_TAX_NAME, &parameters, new))
}

/// The watch list of a customer, and the security in the middle of it.
fn watched_in_the_middle(read: Answer<'_>, customer: i64) -> Result<(i64, String), DatabaseError> {
    let mut watched = read.collect(|row| Ok((row.integer(0)?, row.text(1)?)))?;
    if watched.is_empty() {
        return Err(read.failed(format!("customer {customer} watches nothing")));
    }
    Ok(watched.swap_remove(watched.len() / 2))
}

/// Replaces the security by the next one that is not on the list.
async fn watch_list(
    transaction: &mut Transaction<'_>,
    (list, old): (i64, String),
) -> Result<Changes, DatabaseError> {
    let mut batch = Batch::new();
    // After the old one, or else from the beginning.
    batch.add(&say::NOT_WATCHED, values![list, old.as_str()]);
    batch.add(&say::NOT_WATCHED, values![list, ""]);
    let answers = transaction.run(batch).await?;
    let new = answers.of(0).find().or_else(|| answers.of(1).find());
    let Some(new) = new.map(|row| row.text(0)).transpose()? else {
        // The customer watches every security.
        return Ok(Changes::default());
    };
    let parameters = values![list, old.as_str(), new.as_str()];
    Ok(Changes::one(&say::CHANGE_WATCHED, &parameters, new))
}
