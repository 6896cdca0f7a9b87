//! Companies, their securities and their news.

use super::names::TableName;
use super::table::{
    Class, Table, Type, big, column, index, integer, or_null, refers, small, text, unique,
};

pub(super) const COMPANY: Table = Table {
    name: TableName::Company,
    class: Class::Scaling,
    columns: &[
        big("id"),
        small("status_id"),
        text("name", 60),
        text("industry_id", 2),
        text("credit_rating", 4),
        text("chief_executive", 46),
        big("address_id"),
        text("description", 150),
        integer("founded_day"),
    ],
    primary_key: &["id"],
    references: &[
        refers(&["status_id"], TableName::StatusType),
        refers(&["industry_id"], TableName::Industry),
        refers(&["address_id"], TableName::Address),
    ],
    indexes: &[unique(&["name"]), index(&["industry_id"])],
};

pub(super) const COMPANY_COMPETITOR: Table = Table {
    name: TableName::CompanyCompetitor,
    class: Class::Scaling,
    columns: &[
        big("company_id"),
        big("competitor_id"),
        text("industry_id", 2),
    ],
    primary_key: &["company_id", "competitor_id", "industry_id"],
    references: &[
        refers(&["company_id"], TableName::Company),
        refers(&["competitor_id"], TableName::Company),
        refers(&["industry_id"], TableName::Industry),
    ],
    indexes: &[],
};

pub(super) const SECURITY: Table = Table {
    name: TableName::Security,
    class: Class::Scaling,
    columns: &[
        text("symbol", 15),
        text("issue", 6),
        small("status_id"),
        text("name", 70),
        text("exchange_id", 6),
        big("company_id"),
        big("shares_out"),
        integer("start_day"),
        integer("exchange_day"),
        integer("price_earnings_hundredths"),
        big("high_52_weeks_cents"),
        integer("high_52_weeks_day"),
        big("low_52_weeks_cents"),
        integer("low_52_weeks_day"),
        big("dividend_cents"),
        integer("yield_hundredths"),
    ],
    primary_key: &["symbol"],
    references: &[
        refers(&["status_id"], TableName::StatusType),
        refers(&["exchange_id"], TableName::Exchange),
        refers(&["company_id"], TableName::Company),
    ],
    indexes: &[index(&["company_id", "issue"])],
};

pub(super) const LAST_TRADE: Table = Table {
    name: TableName::LastTrade,
    class: Class::Scaling,
    columns: &[
        text("symbol", 15),
        big("traded_at"),
        big("price_cents"),
        big("open_price_cents"),
        big("volume"),
    ],
    primary_key: &["symbol"],
    references: &[refers(&["symbol"], TableName::Security)],
    indexes: &[],
};

pub(super) const DAILY_MARKET: Table = Table {
    name: TableName::DailyMarket,
    class: Class::Scaling,
    columns: &[
        integer("day"),
        text("symbol", 15),
        big("close_cents"),
        big("high_cents"),
        big("low_cents"),
        big("volume"),
    ],
    primary_key: &["day", "symbol"],
    references: &[refers(&["symbol"], TableName::Security)],
    indexes: &[index(&["symbol", "day"])],
};

pub(super) const FINANCIAL: Table = Table {
    name: TableName::Financial,
    class: Class::Scaling,
    columns: &[
        big("company_id"),
        small("year"),
        small("quarter"),
        integer("quarter_start_day"),
        big("revenue_cents"),
        big("net_earnings_cents"),
        big("earnings_per_share_cents"),
        big("diluted_earnings_per_share_cents"),
        integer("margin_hundredths"),
        big("inventory_cents"),
        big("assets_cents"),
        big("liabilities_cents"),
        big("shares_out"),
        big("diluted_shares_out"),
    ],
    primary_key: &["company_id", "year", "quarter"],
    references: &[refers(&["company_id"], TableName::Company)],
    indexes: &[],
};

pub(super) const NEWS_ITEM: Table = Table {
    name: TableName::NewsItem,
    class: Class::Scaling,
    columns: &[
        big("id"),
        text("headline", 80),
        text("summary", 255),
        column("item", Type::Long),
        big("published_at"),
        text("source", 30),
        or_null(text("author", 30)),
    ],
    primary_key: &["id"],
    references: &[],
    indexes: &[],
};

pub(super) const NEWS_REFERENCE: Table = Table {
    name: TableName::NewsReference,
    class: Class::Scaling,
    columns: &[big("news_item_id"), big("company_id")],
    primary_key: &["news_item_id", "company_id"],
    references: &[
        refers(&["news_item_id"], TableName::NewsItem),
        refers(&["company_id"], TableName::Company),
    ],
    indexes: &[index(&["company_id"])],
};
