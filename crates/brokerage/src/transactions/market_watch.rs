//! Market watch: the change in value of a watch list, an account or an industry since a past day.
//! Read-only.

use super::batch::{Batch, ask, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// What is watched, and since when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// The securities whose value is summed up.
    pub of: Watched,
    /// The day, since 1970, whose closing prices are compared with the current ones.
    pub day: i64,
}

/// A choice of securities.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Watched {
    /// The watch list of a customer.
    Customer(i64),
    /// The holdings of an account.
    Account(i64),
    /// Securities of companies of an industry.
    Industry {
        /// Name of the industry.
        name: String,
        /// Id of the first company considered.
        first_company: i64,
        /// Id of the last company considered.
        last_company: i64,
    },
}

/// The result of the query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarketWatch {
    /// Number of securities with a price on that day.
    pub securities: i64,
    /// Value of all their shares on that day.
    pub then_cents: i64,
    /// Value of all their shares now.
    pub now_cents: i64,
    /// The rise in hundredths of a percent, rounded towards zero; 0 if there was no value.
    pub rise_hundredths: i64,
}

pub(super) static OF_CUSTOMER: Statement = Statement {
    name: "market_watch_customer",
    sql: "SELECT COUNT(*),
 CAST(COALESCE(SUM(s.shares_out * dm.close_cents), 0) AS @integer@),
 CAST(COALESCE(SUM(s.shares_out * lt.price_cents), 0) AS @integer@)
FROM watch_list wl
JOIN watch_item wi ON wi.watch_list_id = wl.id
JOIN security s ON s.symbol = wi.symbol
JOIN last_trade lt ON lt.symbol = wi.symbol
JOIN daily_market dm ON dm.day = $2 AND dm.symbol = wi.symbol
WHERE wl.customer_id = $1",
    parameters: &[Type::Big, Type::Integer],
};

pub(super) static OF_ACCOUNT: Statement = Statement {
    name: "market_watch_account",
    sql: "SELECT COUNT(*),
 CAST(COALESCE(SUM(s.shares_out * dm.close_cents), 0) AS @integer@),
 CAST(COALESCE(SUM(s.shares_out * lt.price_cents), 0) AS @integer@)
FROM holding_summary hs
JOIN security s ON s.symbol = hs.symbol
JOIN last_trade lt ON lt.symbol = hs.symbol
JOIN daily_market dm ON dm.day = $2 AND dm.symbol = hs.symbol
WHERE hs.account_id = $1",
    parameters: &[Type::Big, Type::Integer],
};

pub(super) static OF_INDUSTRY: Statement = Statement {
    name: "market_watch_industry",
    sql: "SELECT COUNT(*),
 CAST(COALESCE(SUM(s.shares_out * dm.close_cents), 0) AS @integer@),
 CAST(COALESCE(SUM(s.shares_out * lt.price_cents), 0) AS @integer@)
FROM industry i
JOIN company co ON co.industry_id = i.id
JOIN security s ON s.company_id = co.id
JOIN last_trade lt ON lt.symbol = s.symbol
JOIN daily_market dm ON dm.day = $4 AND dm.symbol = s.symbol
WHERE i.name = $1 AND co.id >= $2 AND co.id <= $3",
    parameters: &[Type::Text(50), Type::Big, Type::Big, Type::Integer],
};

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run(session: &mut dyn Session, input: &Input) -> Result<MarketWatch, DatabaseError> {
    let mut batch = Batch::new();
    match &input.of {
        Watched::Customer(customer) => batch.add(&OF_CUSTOMER, values![*customer, input.day]),
        Watched::Account(account) => batch.add(&OF_ACCOUNT, values![*account, input.day]),
        Watched::Industry {
            name,
            first_company,
            last_company,
        } => {
            let name = name.as_str();
            let parameters = values![name, *first_company, *last_company, input.day];
            batch.add(&OF_INDUSTRY, parameters)
        }
    };
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    let row = answers.of(0).one()?;
    let (then_cents, now_cents) = (row.integer(1)?, row.integer(2)?);
    Ok(MarketWatch {
        securities: row.integer(0)?,
        then_cents,
        now_cents,
        rise_hundredths: rise_hundredths(then_cents, now_cents),
    })
}

fn rise_hundredths(then_cents: i64, now_cents: i64) -> i64 {
    let rise = i128::from(now_cents - then_cents) * 10_000;
    rise.checked_div(i128::from(then_cents)).unwrap_or(0) as i64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rises_are_rounded_towards_zero() {
        assert_eq!(rise_hundredths(3_000, 2_000), -3_333);
        assert_eq!(rise_hundredths(3_000, 3_001), 3);
        assert_eq!(rise_hundredths(0, 0), 0);
        // All shares of the largest data set.
        assert_eq!(
            rise_hundredths(4_000_000_000_000_000_000, 4_400_000_000_000_000_000),
            1_000
        );
    }
}
