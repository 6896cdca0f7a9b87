//! The names of all tables, each after those that it refers to.

use strum::IntoStaticStr;

/// Every table, in the order in which they can be filled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
#[allow(missing_docs)] // Each is named like its table in SQL.
pub enum TableName {
    ZipCode,
    Address,
    StatusType,
    TaxRate,
    Sector,
    Industry,
    Exchange,
    TradeType,
    Charge,
    CommissionRate,
    Company,
    CompanyCompetitor,
    Security,
    LastTrade,
    DailyMarket,
    Financial,
    NewsItem,
    NewsReference,
    Customer,
    CustomerTaxRate,
    Broker,
    CustomerAccount,
    AccountPermission,
    WatchList,
    WatchItem,
    Trade,
    TradeHistory,
    TradeRequest,
    Settlement,
    CashTransaction,
    HoldingSummary,
    Holding,
    HoldingHistory,
}

impl TableName {
    /// Its name in SQL.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.into()
    }
}
