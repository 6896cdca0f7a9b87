//! The tables and indexes of the page-level simulation.
//!
//! Rows per customer are counted from what open implementations of the workload agree on: five
//! accounts per customer, 57.6 trades per customer and trading day, and so on. Bytes per row are
//! the widths of the columns with their average lengths and ten bytes of row header; no source
//! prints them, so they are assumed. Together they make about 10 MB per customer with pages 90 %
//! full, where 8 to 9 are reported.

/// A table in the order of its key, or an index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs)] // The names are those of the published description.
pub enum Table {
    Trade,
    TradeByAccount,
    TradeBySymbol,
    TradeHistory,
    Settlement,
    CashTransaction,
    HoldingHistory,
    HoldingHistoryByTrade,
    Holding,
    HoldingSummary,
    Customer,
    CustomerByTaxId,
    CustomerAccount,
    AccountPermission,
    CustomerTaxrate,
    WatchList,
    WatchItem,
    Broker,
    Company,
    CompanyByName,
    CompanyCompetitor,
    Security,
    SecurityByCompany,
    LastTrade,
    DailyMarket,
    DailyMarketBySymbol,
    Financial,
    NewsReference,
    NewsItem,
    NewsText,
    Address,
    TradeRequest,
    /// All tables of fixed size as one: rates, types, exchanges, sectors, industries, places.
    Fixed,
}

/// What the number of rows depends on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Rows {
    /// This many rows per customer.
    PerCustomer(f64),
    /// Rows per initial trade.
    PerTrade(f64),
    /// A fixed number of rows.
    Always(u64),
}

/// Where new rows go.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Placement {
    /// After all others, in key order.
    Ascending,
    /// Between others, or there are none.
    Scattered,
}

/// A table or index.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Kind {
    /// Its name, which is also its index in [`TABLES`].
    pub table: Table,
    /// What its number of rows depends on.
    pub rows: Rows,
    /// Mean bytes per row, with the row's header.
    pub row_bytes: u32,
    /// Bytes per entry of inner pages.
    pub entry_bytes: u32,
    /// Where new rows go.
    pub order: Placement,
}

const fn kind(table: Table, rows: Rows, row_bytes: u32, key_bytes: u32, order: Placement) -> Kind {
    Kind {
        table,
        rows,
        row_bytes,
        // An entry has a child's page number and a header besides the key.
        entry_bytes: key_bytes + 9,
        order,
    }
}

/// Mean accounts per customer: 20, 60 and 20 % of the customers have 1 to 4, 2 to 8 and 5 to 10.
pub const ACCOUNTS: u64 = 5;
/// Securities per 1,000 customers.
pub const SECURITIES: f64 = 685.0;
/// Companies per 1,000 customers.
pub const COMPANIES: f64 = 500.0;
/// Days of daily prices: five years of 261.
pub const MARKET_DAYS: u64 = 1_305;
/// Mean rows of a watch list.
pub const WATCHED: u64 = 100;
/// Mean securities per account.
pub const HELD: u64 = 10;
/// Mean rows of holdings per account.
pub const HOLDINGS: u64 = 177;
/// Number of customers per broker.
pub const CUSTOMERS_OF_BROKER: u64 = 100;
/// Quarterly reports per company.
pub const QUARTERS: u64 = 20;
/// Trades per customer and trading day of eight hours: one per second and 500 customers.
pub const TRADES_PER_DAY: f64 = 8.0 * 3600.0 / 500.0;
/// Mean bytes of the text of a news item; the maximum is 100,000.
pub const NEWS_BYTES: u64 = 50_000;

/// Every table and index.
pub const TABLES: [Kind; 33] = {
    use Placement::{Ascending, Scattered};
    use Rows::{Always, PerCustomer, PerTrade};
    use Table as T;
    [
        kind(T::Trade, PerTrade(1.0), 126, 8, Ascending),
        kind(T::TradeByAccount, PerTrade(1.0), 35, 24, Scattered),
        kind(T::TradeBySymbol, PerTrade(1.0), 42, 31, Scattered),
        kind(T::TradeHistory, PerTrade(2.4), 31, 12, Ascending),
        kind(T::Settlement, PerTrade(1.0), 58, 8, Ascending),
        kind(T::CashTransaction, PerTrade(0.92), 88, 8, Ascending),
        kind(T::HoldingHistory, PerTrade(1.34), 34, 16, Scattered),
        kind(T::HoldingHistoryByTrade, PerTrade(1.34), 27, 16, Ascending),
        kind(T::Holding, PerCustomer(885.0), 58, 39, Scattered),
        kind(T::HoldingSummary, PerCustomer(50.0), 37, 23, Scattered),
        kind(T::Customer, PerCustomer(1.0), 280, 8, Scattered),
        kind(T::CustomerByTaxId, PerCustomer(1.0), 35, 22, Scattered),
        kind(T::CustomerAccount, PerCustomer(5.0), 92, 8, Scattered),
        kind(T::AccountPermission, PerCustomer(7.1), 75, 28, Scattered),
        kind(T::CustomerTaxrate, PerCustomer(2.0), 25, 12, Scattered),
        kind(T::WatchList, PerCustomer(1.0), 27, 8, Scattered),
        kind(T::WatchItem, PerCustomer(100.0), 30, 23, Scattered),
        kind(T::Broker, PerCustomer(0.01), 100, 8, Scattered),
        kind(T::Company, PerCustomer(0.5), 320, 8, Scattered),
        kind(T::CompanyByName, PerCustomer(0.5), 65, 52, Scattered),
        kind(T::CompanyCompetitor, PerCustomer(1.5), 29, 18, Scattered),
        kind(T::Security, PerCustomer(0.685), 225, 15, Scattered),
        kind(T::SecurityByCompany, PerCustomer(0.685), 40, 23, Scattered),
        kind(T::LastTrade, PerCustomer(0.685), 57, 15, Scattered),
        kind(T::DailyMarket, PerCustomer(893.925), 58, 18, Scattered),
        kind(
            T::DailyMarketBySymbol,
            PerCustomer(893.925),
            36,
            18,
            Scattered,
        ),
        kind(T::Financial, PerCustomer(10.0), 112, 14, Scattered),
        kind(T::NewsReference, PerCustomer(1.0), 27, 16, Scattered),
        kind(T::NewsItem, PerCustomer(1.0), 330, 8, Scattered),
        kind(T::NewsText, PerCustomer(7.0), 7_400, 12, Scattered),
        kind(T::Address, PerCustomer(1.5), 90, 8, Scattered),
        kind(T::TradeRequest, PerCustomer(0.1), 62, 8, Scattered),
        kind(T::Fixed, Always(15_600), 60, 12, Scattered),
    ]
};

impl Kind {
    /// Initial rows at a scale.
    #[must_use]
    pub fn rows(&self, customers: u64, trade_days: u32) -> u64 {
        let rows = match self.rows {
            Rows::PerCustomer(rows) => customers as f64 * rows,
            Rows::PerTrade(rows) => trades(customers, trade_days) as f64 * rows,
            Rows::Always(rows) => rows as f64,
        };
        (rows.round() as u64).max(1)
    }
}

/// Initial trades at a scale.
#[must_use]
pub fn trades(customers: u64, trade_days: u32) -> u64 {
    (customers as f64 * f64::from(trade_days) * TRADES_PER_DAY).round() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_table_stands_at_its_number() {
        for (number, kind) in TABLES.iter().enumerate() {
            assert_eq!(kind.table as usize, number, "{kind:?}");
        }
    }

    #[test]
    fn rows_follow_the_published_scale() {
        let rows = |table: Table| TABLES[table as usize].rows(5_000, 300);
        assert_eq!(rows(Table::Trade), 5_000 * 17_280);
        assert_eq!(rows(Table::CustomerAccount), 25_000);
        assert_eq!(rows(Table::Security), 3_425);
        assert_eq!(rows(Table::Broker), 50);
        let days = rows(Table::DailyMarket) / rows(Table::Security);
        assert_eq!(days, MARKET_DAYS);
    }
}
