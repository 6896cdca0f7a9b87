//! All tables, each after those that it refers to.

use super::names::TableName;
use super::table::Table;
use super::{customers, market, places_and_rates, trades};

/// Every table, indexed by [`TableName`]: each comes after those that it refers to.
pub const TABLES: [Table; 33] = [
    places_and_rates::ZIP_CODE,
    places_and_rates::ADDRESS,
    places_and_rates::STATUS_TYPE,
    places_and_rates::TAX_RATE,
    places_and_rates::SECTOR,
    places_and_rates::INDUSTRY,
    places_and_rates::EXCHANGE,
    places_and_rates::TRADE_TYPE,
    places_and_rates::CHARGE,
    places_and_rates::COMMISSION_RATE,
    market::COMPANY,
    market::COMPANY_COMPETITOR,
    market::SECURITY,
    market::LAST_TRADE,
    market::DAILY_MARKET,
    market::FINANCIAL,
    market::NEWS_ITEM,
    market::NEWS_REFERENCE,
    customers::CUSTOMER,
    customers::CUSTOMER_TAX_RATE,
    customers::BROKER,
    customers::CUSTOMER_ACCOUNT,
    customers::ACCOUNT_PERMISSION,
    customers::WATCH_LIST,
    customers::WATCH_ITEM,
    trades::TRADE,
    trades::TRADE_HISTORY,
    trades::TRADE_REQUEST,
    trades::SETTLEMENT,
    trades::CASH_TRANSACTION,
    trades::HOLDING_SUMMARY,
    trades::HOLDING,
    trades::HOLDING_HISTORY,
];

impl TableName {
    /// The definition of this table.
    #[must_use]
    pub fn table(self) -> &'static Table {
        &TABLES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_table_stands_at_its_name_and_after_those_it_refers_to() {
        let mut names = HashSet::new();
        for (number, table) in TABLES.iter().enumerate() {
            assert_eq!(table.name as usize, number);
            assert!(names.insert(table.name.name()));
            for reference in table.references {
                assert!((reference.table as usize) < number, "{}", table.name.name());
                let key = reference.table.table().primary_key;
                assert_eq!(key.len(), reference.columns.len());
            }
        }
    }

    #[test]
    fn keys_and_indexes_name_columns_of_their_table() {
        for table in &TABLES {
            let columns: HashSet<_> = table.columns.iter().map(|column| column.name).collect();
            assert_eq!(columns.len(), table.columns.len());
            let references = table.references.iter().flat_map(|one| one.columns);
            let indexes = table.indexes.iter().flat_map(|one| one.columns);
            for column in table.primary_key.iter().chain(references).chain(indexes) {
                assert!(columns.contains(column), "{} {column}", table.name.name());
            }
        }
    }
}
