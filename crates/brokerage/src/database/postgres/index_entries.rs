//! Whether each index has as many entries as its table has rows.
//!
//! An index that lost writes answers queries with too few rows, and nothing in the table shows it. The
//! entries are counted by a scan that the planner can only make with that index: in its order, where
//! neither a sort nor another scan is allowed.

use super::connection::Connection;
use crate::database::interface::index_finding;
use crate::database::text_rows::first_text;
use crate::error::DatabaseError;
use crate::schema::Table;

/// A planner left with scans of indexes.
const ONLY_INDEXES: &str = "SET enable_seqscan = off; SET enable_bitmapscan = off; SET enable_sort = off; \
     SET enable_hashagg = off; SET max_parallel_workers_per_gather = 0";

/// What is wrong with the indexes of a table that has so many rows. An index that the planner does not use
/// even so is left out.
pub(super) fn check(
    connection: &mut Connection,
    table: &Table,
    rows: u64,
) -> Result<Vec<String>, DatabaseError> {
    connection.ask(ONLY_INDEXES)?;
    let primary = (format!("{}_pkey", table.name.name()), table.primary_key);
    let others = table.indexes.iter();
    let others = others.map(|index| (table.index_name(index.columns), index.columns));
    let mut found = Vec::new();
    for (index, columns) in std::iter::once(primary).chain(others) {
        let columns = columns.join(", ");
        let scan = format!(
            "SELECT count(*) FROM (SELECT {columns} FROM {} ORDER BY {columns} OFFSET 0) entries",
            table.name.name()
        );
        let plan = connection.ask(&format!("EXPLAIN {scan}"))?;
        let uses_it = plan.iter().flatten().flatten();
        let uses_it = uses_it.map(String::as_str).any(|line| uses(line, &index));
        if !uses_it {
            continue;
        }
        let counted = connection.ask(&scan)?;
        let entries = first_text(&counted).and_then(|text| text.parse().ok());
        found.extend(entries.and_then(|entries| index_finding(&index, entries, rows)));
    }
    Ok(found)
}

/// Whether a line of a plan is a scan of this index.
fn uses(line: &str, index: &str) -> bool {
    let (_, scan) = line.split_once(" using ").unwrap_or_default();
    scan.split(' ').next() == Some(index)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_index_is_known_by_its_whole_name() {
        let line =
            "  ->  Index Only Scan using trade_pkey on trade  (cost=0.42..2.95 rows=99 width=8)";
        assert!(uses(line, "trade_pkey"));
        assert!(!uses(line, "trade"));
        assert!(!uses("Seq Scan on trade", "trade_pkey"));
    }
}
