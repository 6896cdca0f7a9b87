//! Estimated size of every table in each database, known before any row is generated.

use super::DataSet;
use crate::schema::{TABLES, TableName};
use crate::statement::Dialect;

/// Bytes per row in PostgreSQL, SQLite and MariaDB, with its share of all indexes, after loading.
/// News items without their text. Tables of a few rows take whole pages.
///
/// Measured with PostgreSQL 15, SQLite 3.54 and MariaDB 10.11 by `examples/load_size.rs`: 4,000
/// customers, 10 days of trades.
const BYTES_PER_ROW: [(TableName, [f64; 3]); 33] = [
    (TableName::ZipCode, [92.3, 43.3, 142.3]),
    (TableName::Address, [108.0, 46.4, 109.2]),
    (TableName::StatusType, [100.0, 1638.4, 16384.0]),
    (TableName::TaxRate, [110.0, 76.8, 358.4]),
    (TableName::Sector, [150.0, 1365.3, 8192.0]),
    (TableName::Industry, [180.0, 240.9, 1124.4]),
    (TableName::Exchange, [250.0, 2048.0, 24576.0]),
    (TableName::TradeType, [100.0, 1638.4, 16384.0]),
    (TableName::Charge, [70.0, 546.1, 5461.3]),
    (TableName::CommissionRate, [110.0, 34.1, 477.9]),
    (TableName::Company, [285.0, 180.2, 344.1]),
    (TableName::CompanyCompetitor, [102.0, 16.4, 120.1]),
    (TableName::Security, [245.0, 125.6, 263.1]),
    (TableName::LastTrade, [108.0, 29.9, 101.7]),
    (TableName::DailyMarket, [139.7, 63.3, 114.0]),
    (TableName::Financial, [159.0, 79.5, 340.8]),
    (TableName::NewsItem, [300.0, 1450.0, 1300.0]),
    (TableName::NewsReference, [114.0, 26.6, 90.1]),
    (TableName::Customer, [288.0, 192.5, 2359.3]),
    (TableName::CustomerTaxRate, [105.0, 43.0, 86.0]),
    (TableName::Broker, [140.0, 409.6, 2867.2]),
    (TableName::CustomerAccount, [129.5, 55.3, 524.3]),
    (TableName::AccountPermission, [115.3, 45.6, 369.2]),
    (TableName::WatchList, [106.0, 24.6, 90.1]),
    (TableName::WatchItem, [76.0, 14.9, 94.3]),
    (TableName::Trade, [219.9, 99.5, 223.9]),
    (TableName::TradeHistory, [83.7, 19.0, 56.1]),
    (TableName::TradeRequest, [150.0, 60.0, 160.0]),
    (TableName::Settlement, [90.3, 27.7, 60.1]),
    (TableName::CashTransaction, [135.5, 76.3, 112.8]),
    (TableName::HoldingSummary, [84.0, 18.5, 102.8]),
    (TableName::Holding, [139.8, 57.4, 146.5]),
    (TableName::HoldingHistory, [104.7, 29.5, 95.9]),
];

/// Space that does not depend on the number of rows.
struct StorageFactors {
    /// Stored bytes per byte of a news text: PostgreSQL compresses it, MariaDB stores it in pages
    /// of its own.
    news_text: f64,
    /// System tables, and file space beyond the rows: MariaDB extends each file by up to 4 MiB at a
    /// time.
    catalog_bytes: u64,
}

const fn storage_factors(dialect: Dialect) -> StorageFactors {
    match dialect {
        Dialect::PostgreSql => StorageFactors {
            news_text: 0.46,
            catalog_bytes: 8_400_000,
        },
        Dialect::Sqlite => StorageFactors {
            news_text: 1.0,
            catalog_bytes: 100_000,
        },
        Dialect::MariaDb => StorageFactors {
            news_text: 1.6,
            catalog_bytes: 40_000_000,
        },
    }
}

impl DataSet {
    /// Estimated bytes of a table with its indexes.
    #[must_use]
    pub fn estimated_bytes(&self, dialect: Dialect, table: TableName) -> u64 {
        let (of, [in_postgres, in_sqlite, in_mariadb]) = BYTES_PER_ROW[table as usize];
        assert_eq!(of, table, "the sizes stand in the order of the tables");
        let mut bytes = match dialect {
            Dialect::PostgreSql => in_postgres,
            Dialect::Sqlite => in_sqlite,
            Dialect::MariaDb => in_mariadb,
        };
        if table == TableName::NewsItem {
            bytes += self.news_bytes_on_average() * storage_factors(dialect).news_text;
        }
        (self.rows(table) as f64 * bytes) as u64
    }

    /// Estimated bytes of the whole database.
    #[must_use]
    pub fn estimated_bytes_of_all(&self, dialect: Dialect) -> u64 {
        let tables = TABLES.iter();
        let bytes = tables.map(|table| self.estimated_bytes(dialect, table.name));
        storage_factors(dialect).catalog_bytes + bytes.sum::<u64>()
    }
}
