//! What the load leaves as it is: the rows that were there before it, without the columns that
//! transactions change.
//!
//! Consistency checks see contradictions between rows, and the ledger sees what was acknowledged. A row that
//! no transaction touches and no other row repeats, such as a name or a price of last year, is seen
//! by neither: it must be the same after the load as before.

use crate::database::{Database, TableDigest, TablePart};
use crate::error::DatabaseError;
use crate::schema::{TABLES, Table, TableName};

/// The digests of all tables, in their order.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digests {
    /// Of all rows.
    pub all: Vec<TableDigest>,
    /// Of what the load leaves as it is; `None` for a table of which it leaves nothing, or where it was not asked for.
    pub unchanged: Vec<Option<TableDigest>>,
    /// What is wrong with indexes, in parts of a sentence.
    pub indexes: Vec<String>,
}

impl Digests {
    /// What is wrong with indexes, in a sentence; `None` if nothing is.
    #[must_use]
    pub fn damaged_indexes(&self) -> Option<String> {
        let found = &self.indexes;
        (!found.is_empty()).then(|| {
            format!(
                "Indexes do not have the rows of their tables: {}.",
                found.join(", ")
            )
        })
    }
}

/// Reads all rows, and all indexes if that is wanted. What the load leaves as it is has a digest where `last_trade` is
/// known: trades up to it were there before the load, and all of them completed or cancelled. `progress` is called with the number of tables done; its error ends the reading.
///
/// # Errors
/// Those of the database and of `progress`.
pub fn read(
    database: &dyn Database,
    last_trade: Option<i64>,
    with_indexes: bool,
    progress: &mut dyn FnMut(usize) -> Result<(), DatabaseError>,
) -> Result<Digests, DatabaseError> {
    let mut digests = Digests {
        all: Vec::new(),
        unchanged: Vec::new(),
        indexes: Vec::new(),
    };
    for (done, table) in TABLES.iter().enumerate() {
        progress(done)?;
        let part = last_trade.and_then(|last_trade| part(table, last_trade));
        let found = database.digests(table, part.as_ref())?;
        if with_indexes {
            let checked = database.check_indexes(table, found.all.rows)?;
            digests.indexes.extend(checked);
        }
        digests.all.push(found.all);
        digests.unchanged.push(found.part);
    }
    Ok(digests)
}

/// What became of the rows that the load leaves as they are, in a sentence; `None` if they are the same.
#[must_use]
pub fn compare(before: &[Option<TableDigest>], after: &[Option<TableDigest>]) -> Option<String> {
    let pairs = TABLES.iter().zip(before.iter().zip(after));
    let changed: Vec<String> = pairs
        .filter_map(|(table, (before, after))| {
            let (before, after) = (before.as_ref()?, after.as_ref()?);
            (before != after).then(|| after.difference(table.name.name(), before.rows))
        })
        .collect();
    (!changed.is_empty()).then(|| {
        format!(
            "Rows that the load leaves as they are were changed, lost or added during the run: {}.",
            changed.join(", ")
        )
    })
}

/// The part of a table that the load leaves as it is. Of trades and what belongs to them that is what was
/// there before: orders that are open then are those of an earlier run, and are cancelled before the
/// load.
fn part(table: &'static Table, last_trade: i64) -> Option<TablePart> {
    use TableName::{
        CashTransaction, Holding, HoldingHistory, HoldingSummary, Settlement, Trade, TradeHistory,
        TradeRequest,
    };
    let up_to = match table.name {
        TradeRequest | HoldingSummary | Holding => return None,
        Trade => Some(("id", last_trade)),
        TradeHistory | Settlement | CashTransaction | HoldingHistory => {
            Some(("trade_id", last_trade))
        }
        _ => None,
    };
    let changed = changed_columns(table.name);
    let columns = table.columns.iter();
    let columns = columns.filter(|column| !changed.contains(&column.name));
    Some(TablePart {
        columns: columns.collect(),
        up_to,
    })
}

/// The columns that transactions change in rows that are there: market feeds and trade results, trade updates,
/// data maintenance.
fn changed_columns(table: TableName) -> &'static [&'static str] {
    match table {
        TableName::LastTrade => &["traded_at", "price_cents", "volume"],
        TableName::Broker => &["trade_count", "commission_cents"],
        TableName::CustomerAccount => &["balance_cents"],
        TableName::Trade => &["executor_name"],
        TableName::Settlement => &["cash_type"],
        TableName::CashTransaction | TableName::TaxRate => &["name"],
        TableName::AccountPermission => &["access"],
        TableName::Address => &["line_2"],
        TableName::Company => &["credit_rating"],
        TableName::Customer => &["email_2"],
        TableName::CustomerTaxRate => &["tax_rate_id"],
        TableName::DailyMarket => &["volume"],
        TableName::Exchange => &["description"],
        TableName::Financial => &["quarter_start_day"],
        TableName::NewsItem => &["published_at"],
        TableName::Security => &["exchange_day"],
        TableName::WatchItem => &["symbol"],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_columns_that_are_changed_are_those_of_their_tables() {
        for table in &TABLES {
            let names: Vec<&str> = table.columns.iter().map(|column| column.name).collect();
            for column in changed_columns(table.name) {
                assert!(names.contains(column), "{} {column}", table.name.name());
            }
        }
    }

    #[test]
    fn tables_whose_rows_come_and_go_are_not_compared() {
        let digest = |rows, hash: &str| {
            Some(TableDigest {
                rows,
                hash: hash.to_owned(),
            })
        };
        let of = |first, second| vec![None, first, second];
        let before = of(digest(7, "1"), digest(5, "2"));
        assert_eq!(compare(&before, &before), None);
        let after = of(digest(7, "3"), digest(4, "2"));
        let found = compare(&before, &after).unwrap();
        assert!(found.ends_with(
            "during the run: address (contents of rows), status_type (4 rows, and 5 before)."
        ));
        assert_eq!(compare(&before, &of(None, digest(5, "2"))), None);
    }
}
