//! The names of all tables, each after those that it refers to.

macro_rules! tables {
    ($($name:ident $sql:literal,)*) => {
        /// Every table, in the order in which they can be filled.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[allow(missing_docs)] // Each is named like its table in SQL.
        pub enum TableName {
            $($name),*
        }

        impl TableName {
            /// Its name in SQL.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$name => $sql),*
                }
            }
        }
    };
}

tables! {
    ZipCode "zip_code",
    Address "address",
    StatusType "status_type",
    TaxRate "tax_rate",
    Sector "sector",
    Industry "industry",
    Exchange "exchange",
    TradeType "trade_type",
    Charge "charge",
    CommissionRate "commission_rate",
    Company "company",
    CompanyCompetitor "company_competitor",
    Security "security",
    LastTrade "last_trade",
    DailyMarket "daily_market",
    Financial "financial",
    NewsItem "news_item",
    NewsReference "news_reference",
    Customer "customer",
    CustomerTaxRate "customer_tax_rate",
    Broker "broker",
    CustomerAccount "customer_account",
    AccountPermission "account_permission",
    WatchList "watch_list",
    WatchItem "watch_item",
    Trade "trade",
    TradeHistory "trade_history",
    TradeRequest "trade_request",
    Settlement "settlement",
    CashTransaction "cash_transaction",
    HoldingSummary "holding_summary",
    Holding "holding",
    HoldingHistory "holding_history",
}
