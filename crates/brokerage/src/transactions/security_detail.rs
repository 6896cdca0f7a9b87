//! Security detail: everything about one security, its company and its prices. Read-only.

use super::batch::{Answer, Answers, Batch, ask, values};
use crate::error::DatabaseError;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;

/// The security, and the amount of detail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Input {
    /// Ticker symbol of the security.
    pub symbol: String,
    /// The first day, since 1970, of the daily prices.
    pub first_day: i64,
    /// Number of days of prices.
    pub days: i64,
    /// Whether news are read with their full text instead of headline and summary.
    pub with_news_text: bool,
}

/// The result of the queries.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct SecurityDetail<'a> {
    /// Security, company, exchange and the addresses of both: columns in the order of the query.
    pub texts: Vec<Option<&'a str>>,
    pub numbers: Vec<i64>,
    /// Three competitors, each with the industry.
    pub competitors: Vec<(&'a str, &'a str)>,
    /// The twenty latest quarterly reports, with all columns.
    pub reports: Vec<[i64; REPORT]>,
    /// Daily prices: day, close, high, low, volume.
    pub days: Vec<[i64; DAY]>,
    /// Price, opening price, volume.
    pub last_trade: Option<[i64; LAST]>,
    /// The two latest news items.
    pub news: Vec<News<'a>>,
}

/// A news item of a company.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs)] // The fields are columns and are named like them in `schema`.
pub struct News<'a> {
    pub at_ms: i64,
    pub source: &'a str,
    pub author: Option<&'a str>,
    /// The full text, or headline and summary.
    pub texts: Vec<&'a str>,
}

/// Columns of a report, of a day and of the last trade.
const REPORT: usize = 13;
const DAY: usize = 5;
const LAST: usize = 3;

const TEXTS: usize = 18;
const NUMBERS: usize = 15;

pub(super) static SECURITY: Statement = Statement {
    name: "security_detail_security",
    sql: "SELECT s.name, co.name, co.credit_rating, co.chief_executive, co.description,
 ca.line_1, ca.line_2, cz.town, cz.division, ca.zip_code, ca.country,
 e.name, e.description, ea.line_1, ea.line_2, ez.town, ez.division, ea.country,
 co.id, co.founded_day, e.security_count, e.open_minute, e.close_minute,
 s.shares_out, s.start_day, s.exchange_day, s.price_earnings_hundredths,
 s.high_52_weeks_cents, s.high_52_weeks_day, s.low_52_weeks_cents, s.low_52_weeks_day,
 s.dividend_cents, s.yield_hundredths
FROM security s
JOIN company co ON co.id = s.company_id
JOIN address ca ON ca.id = co.address_id
JOIN zip_code cz ON cz.code = ca.zip_code
JOIN exchange e ON e.id = s.exchange_id
JOIN address ea ON ea.id = e.address_id
JOIN zip_code ez ON ez.code = ea.zip_code
WHERE s.symbol = $1",
    parameters: &[Type::Text(15)],
};

pub(super) static COMPETITORS: Statement = Statement {
    name: "security_detail_competitors",
    sql: "SELECT other.name, i.name
FROM security s
JOIN company_competitor cc ON cc.company_id = s.company_id
JOIN company other ON other.id = cc.competitor_id
JOIN industry i ON i.id = cc.industry_id
WHERE s.symbol = $1
ORDER BY cc.competitor_id, cc.industry_id
LIMIT 3",
    parameters: &[Type::Text(15)],
};

pub(super) static REPORTS: Statement = Statement {
    name: "security_detail_reports",
    sql: "SELECT f.year, f.quarter, f.quarter_start_day, f.revenue_cents,
 f.net_earnings_cents, f.earnings_per_share_cents, f.diluted_earnings_per_share_cents,
 f.margin_hundredths, f.inventory_cents, f.assets_cents, f.liabilities_cents, f.shares_out,
 f.diluted_shares_out
FROM security s
JOIN financial f ON f.company_id = s.company_id
WHERE s.symbol = $1
ORDER BY f.year, f.quarter
LIMIT 20",
    parameters: &[Type::Text(15)],
};

pub(super) static DAYS: Statement = Statement {
    name: "security_detail_days",
    sql: "SELECT day, close_cents, high_cents, low_cents, volume
FROM daily_market
WHERE symbol = $1 AND day >= $2
ORDER BY day
LIMIT $3",
    parameters: &[Type::Text(15), Type::Integer, Type::Big],
};

pub(super) static LAST_TRADE: Statement = Statement {
    name: "security_detail_last_trade",
    sql: "SELECT price_cents, open_price_cents, volume FROM last_trade WHERE symbol = $1",
    parameters: &[Type::Text(15)],
};

pub(super) static NEWS: Statement = Statement {
    name: "security_detail_news",
    sql: "SELECT n.published_at, n.source, n.author, n.headline, n.summary
FROM security s
JOIN news_reference r ON r.company_id = s.company_id
JOIN news_item n ON n.id = r.news_item_id
WHERE s.symbol = $1
ORDER BY n.id
LIMIT 2",
    parameters: &[Type::Text(15)],
};

pub(super) static NEWS_TEXT: Statement = Statement {
    name: "security_detail_news_text",
    sql: "SELECT n.published_at, n.source, n.author, n.item
FROM security s
JOIN news_reference r ON r.company_id = s.company_id
JOIN news_item n ON n.id = r.news_item_id
WHERE s.symbol = $1
ORDER BY n.id
LIMIT 2",
    parameters: &[Type::Text(15)],
};

/// Runs the transaction.
///
/// # Errors
/// Those of the session.
pub async fn run<'a>(
    session: &'a mut dyn Session,
    input: &Input,
) -> Result<SecurityDetail<'a>, DatabaseError> {
    let symbol = input.symbol.as_str();
    let mut batch = Batch::new();
    batch.add(&SECURITY, values![symbol]);
    batch.add(&COMPETITORS, values![symbol]);
    batch.add(&REPORTS, values![symbol]);
    batch.add(&DAYS, values![symbol, input.first_day, input.days]);
    batch.add(&LAST_TRADE, values![symbol]);
    let news = if input.with_news_text {
        &NEWS_TEXT
    } else {
        &NEWS
    };
    batch.add(news, values![symbol]);
    let answers = ask(session, Isolation::ReadCommitted, batch).await?;
    detail(&answers, if input.with_news_text { 1 } else { 2 })
}

fn detail<'a>(
    answers: &Answers<'a>,
    news_texts: usize,
) -> Result<SecurityDetail<'a>, DatabaseError> {
    let security = answers.of(0).one()?;
    let texts: Result<Vec<_>, _> = (0..TEXTS).map(|at| security.find_str(at)).collect();
    let all: Result<Vec<_>, _> = (TEXTS..TEXTS + NUMBERS)
        .map(|at| security.integer(at))
        .collect();
    let news = answers.of(5).collect(|row| {
        let texts: Result<Vec<_>, _> = (3..3 + news_texts).map(|at| row.str(at)).collect();
        Ok(News {
            at_ms: row.integer(0)?,
            source: row.str(1)?,
            author: row.find_str(2)?,
            texts: texts?,
        })
    })?;
    Ok(SecurityDetail {
        texts: texts?,
        numbers: all?,
        competitors: answers
            .of(1)
            .collect(|row| Ok((row.str(0)?, row.str(1)?)))?,
        reports: numbers(answers.of(2))?,
        days: numbers(answers.of(3))?,
        last_trade: numbers(answers.of(4))?.pop(),
        news,
    })
}

/// Rows of integers only.
fn numbers<const N: usize>(answer: Answer<'_>) -> Result<Vec<[i64; N]>, DatabaseError> {
    answer.collect(|row| {
        let mut numbers = [0; N];
        for (column, number) in numbers.iter_mut().enumerate() {
            *number = row.integer(column)?;
        }
        Ok(numbers)
    })
}
