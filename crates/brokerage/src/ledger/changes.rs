//! Compares rows that trade updates and data maintenance have changed with the last acknowledged change of
//! each.
//!
//! Of two changes of the same row that overlapped in time it is not known which was the last, so either is
//! right; after a commit that was not answered, anything is. The rows of trade updates are compared in
//! parts that fit into a table of fixed size, for each of which the file is read once.

use super::compare_error::CompareError;
use super::records::{self, Kind, RecordFile};
use crate::error::DatabaseError;
use crate::session::{Call, Isolation, Session};
use crate::statement::Statement;
use crate::transactions::batch::{Batch, ask};
use crate::transactions::trade_update::{self, Column, TRADES};
use crate::value::Value;
use measure::result::AcknowledgedWork;
use runtime::thread::complete;
use rustc_hash::FxHashMap;
use std::collections::BTreeMap;
use std::io;

/// Rows in the table, some 150 bytes each.
const TABLE_ROWS: u64 = 1 << 19;
/// Rows fetched at once.
const AT_ONCE: usize = 50 * TRADES;
/// Lost changes that are described.
const EXAMPLES: usize = 5;

/// The last acknowledged change of a row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct LastChange {
    /// When the change that began last did so.
    last_begun_ms: u32,
    /// What the changes have written that may be the last, and when each was acknowledged.
    written: Vec<(u32, u32)>,
    is_unknown: bool,
}

impl LastChange {
    /// A change was acknowledged that had written this hash. Changes are added in the order in which they
    /// were acknowledged.
    fn add(&mut self, content: u32, begun_ms: u32, acknowledged_ms: u32) {
        let begun_ms = self.last_begun_ms.max(begun_ms);
        self.last_begun_ms = begun_ms;
        // A change that was acknowledged before another one began is not the last.
        self.written.retain(|(_, ended_ms)| *ended_ms >= begun_ms);
        self.written.push((content, acknowledged_ms));
    }

    /// Whether it is known what was written.
    fn is_known(&self) -> bool {
        !self.is_unknown && !self.written.is_empty()
    }

    /// When a change was acknowledged that is lost, if this hash was found.
    fn lost(&self, found: Option<u32>) -> Option<u32> {
        let is_there = self.written.iter().any(|(one, _)| Some(*one) == found);
        let last = self.written.last().filter(|_| self.is_known() && !is_there);
        last.map(|(_, acknowledged_ms)| *acknowledged_ms)
    }
}

/// What data maintenance has changed: by the query that finds it.
#[derive(Debug, Default)]
pub(crate) struct Maintained(
    BTreeMap<(&'static str, Vec<Value>), (&'static Statement, LastChange)>,
);

impl Maintained {
    pub(super) fn add(&mut self, query: Call, content: u32, begun_ms: u32, acknowledged_ms: u32) {
        self.of(query).add(content, begun_ms, acknowledged_ms);
    }

    pub(super) fn add_unknown(&mut self, query: Call) {
        self.of(query).is_unknown = true;
    }

    fn of(&mut self, query: Call) -> &mut LastChange {
        let key = (query.statement.name, query.parameters);
        let entry = self.0.entry(key);
        &mut entry.or_insert((query.statement, LastChange::default())).1
    }
}

/// Compares what trade updates have changed, of which the file has this many rows.
///
/// # Errors
/// The database or the file failed.
pub(super) fn compare_updates(
    file: &mut RecordFile,
    updated_rows: u64,
    session: &mut dyn Session,
    work: &mut AcknowledgedWork,
) -> Result<(), CompareError> {
    compare_updates_in_parts(file, updated_rows.div_ceil(TABLE_ROWS), session, work)
}

fn compare_updates_in_parts(
    file: &mut RecordFile,
    parts: u64,
    session: &mut dyn Session,
    work: &mut AcknowledgedWork,
) -> Result<(), CompareError> {
    for part in 0..parts {
        let rows = rows_of_part(file, part as i64, parts as i64)?;
        let mut keys: Vec<(Column, i64)> = rows.keys().copied().collect();
        keys.sort_unstable();
        let of_columns = keys.chunk_by(|one, other| one.0 == other.0);
        for keys in of_columns.flat_map(|keys| keys.chunks(AT_ONCE)) {
            let found = read(session, keys)?;
            for key in keys {
                let (row, (column, trade)) = (&rows[key], key);
                work.updated_rows += u64::from(row.is_known());
                if let Some(at_ms) = row.lost(found.get(trade).copied()) {
                    work.lost_updates += 1;
                    describe(
                        work,
                        at_ms,
                        &format!("of the {} of trade {trade}", name(*column)),
                    );
                }
            }
        }
    }
    Ok(())
}

/// The rows whose trade falls into a part, with the last change of each.
fn rows_of_part(
    file: &mut RecordFile,
    part: i64,
    parts: i64,
) -> io::Result<FxHashMap<(Column, i64), LastChange>> {
    let mut rows: FxHashMap<(Column, i64), LastChange> = FxHashMap::default();
    let mut begun_ms = None;
    file.read(|record| {
        match record.kind {
            Kind::Updated => begun_ms = Some(record.time_ms),
            Kind::UpdateUnknown => begun_ms = None,
            _ => {}
        }
        let column = record.kind.column();
        if let Some(column) = column.filter(|_| record.trade.rem_euclid(parts) == part) {
            let row = rows.entry((column, record.trade)).or_default();
            match begun_ms {
                Some(begun_ms) => row.add(record.content, begun_ms, record.time_ms),
                None => row.is_unknown = true,
            }
        }
    })?;
    Ok(rows)
}

/// The hashes of what the database has of rows of one column, by trade.
fn read(
    session: &mut dyn Session,
    keys: &[(Column, i64)],
) -> Result<FxHashMap<i64, u32>, DatabaseError> {
    let mut batch = Batch::new();
    let mut calls = 0;
    for keys in keys.chunks(TRADES) {
        let trades: Vec<i64> = keys.iter().map(|(_, trade)| *trade).collect();
        calls = keys[0].0.ask_for(&mut batch, &trades) + 1;
    }
    let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
    let mut found = FxHashMap::default();
    for call in 0..calls {
        let rows = trade_update::values(answers.of(call))?;
        found.extend(
            rows.iter()
                .map(|(trade, text)| (*trade, records::text_content(text))),
        );
    }
    Ok(found)
}

fn name(column: Column) -> &'static str {
    match column {
        Column::Executor => "executor",
        Column::CashType => "cash type",
        Column::CashName => "cash transaction",
    }
}

/// Compares what data maintenance has changed.
///
/// # Errors
/// The database failed.
pub(super) fn compare_maintenance(
    maintained: &Maintained,
    session: &mut dyn Session,
    work: &mut AcknowledgedWork,
) -> Result<(), DatabaseError> {
    for ((name, parameters), (statement, last)) in &maintained.0 {
        let mut batch = Batch::new();
        batch.add_all(statement, parameters.clone());
        let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
        work.maintained += u64::from(last.is_known());
        if let Some(at_ms) = last.lost(Some(answers.of(0).content())) {
            work.lost_maintenance += 1;
            let table = name.trim_start_matches("maintain_");
            let table = table.trim_start_matches("read_").replace('_', " ");
            let key = parameters.iter().map(|value| match value {
                Value::Text(text) => text.clone(),
                Value::Integer(number) => number.to_string(),
                Value::Null => "null".to_owned(),
            });
            let of: Vec<String> = std::iter::once(table).chain(key).collect();
            describe(
                work,
                at_ms,
                &format!("by data maintenance ({})", of.join(", ")),
            );
        }
    }
    Ok(())
}

fn describe(work: &mut AcknowledgedWork, at_ms: u32, what: &str) {
    if work.first.len() < EXAMPLES {
        let at_s = f64::from(at_ms) / 1e3;
        work.first.push(format!(
            "the change {what}, acknowledged {at_s:.3} s after the start, is not there"
        ));
    }
}

#[cfg(test)]
mod tests;
