//! Compares the ledger with the database.
//!
//! The trades of the run are compared in order of their ids: a part of the ledger that fits into a
//! table of fixed size, then the next one, for each of which the file is read once.

use super::changes::{compare_maintenance, compare_updates};
use super::compare_error::CompareError;
use super::difference::Difference;
use super::parts::{Part, parts};
use super::records::{self, Kind, Record};
use super::{Closed, Shares};
use crate::error::DatabaseError;
use crate::kinds::Status;
use crate::schema::Type;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use crate::transactions::batch::{Batch, Row, ask, values};
use measure::result::AcknowledgedWork;
use measure::units::{self, count_of};
use runtime::thread::complete;
use std::collections::BTreeMap;

/// Trades in the table: 64 MiB of 4 bytes each.
const TABLE_TRADES: u64 = 1 << 24;
/// Rows fetched per query.
const AT_ONCE: usize = 10_000;
/// Differences that are described.
const EXAMPLES: usize = 5;

/// Bits of an entry of the table above the content.
const CONTENT: u32 = (1 << 24) - 1;
const ENTERED: u32 = 1 << 24;
const SUBMITTED: u32 = 1 << 25;
const BOOKED: u32 = 1 << 26;
const ORDER_UNKNOWN: u32 = 1 << 27;
const RESULT_UNKNOWN: u32 = 1 << 28;
/// The price of the result is in the entry.
const HAS_CONTENT: u32 = 1 << 29;
/// The same was acknowledged twice.
const TWICE: u32 = 1 << 30;
/// It was submitted by a market feed, which is a transaction of its own.
const FED: u32 = 1 << 31;

static TRADES: Statement = Statement {
    name: "ledger_trades",
    sql: "SELECT t.id, t.status_id, COALESCE(t.trade_price_cents, 0),
 CAST(CASE WHEN s.trade_id IS NULL THEN 0 ELSE 1 END AS @integer@)
FROM trade t
LEFT JOIN settlement s ON s.trade_id = t.id
WHERE t.id >= $1 AND t.id <= $2
ORDER BY t.id
LIMIT 10000",
    parameters: &[Type::Big, Type::Big],
};

static VOLUMES: Statement = Statement {
    name: "ledger_volumes",
    sql: "SELECT symbol, volume FROM last_trade WHERE symbol > $1 ORDER BY symbol LIMIT 10000",
    parameters: &[Type::Text(15)],
};

/// Shares traded of each security, by symbol.
pub type Volumes = BTreeMap<String, i64>;

/// Reads how many shares of each security were traded.
///
/// # Errors
/// Those of the session.
pub fn volumes(session: &mut dyn Session) -> Result<Volumes, DatabaseError> {
    let mut all = Volumes::new();
    loop {
        let after = all.last_key_value().map_or("", |last| last.0.as_str());
        let mut batch = Batch::new();
        batch.add(&VOLUMES, values![after]);
        let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
        let rows = answers
            .of(0)
            .collect(|row| Ok((row.text(0)?, row.integer(1)?)))?;
        let is_last = rows.len() < AT_ONCE;
        all.extend(rows);
        if is_last {
            return Ok(all);
        }
    }
}

/// Compares the ledger with the database: the trades of the run, the shares traded, and the rows that
/// trade updates and data maintenance have changed. Nothing else may write meanwhile. `before` are the
/// volumes before the run, `symbol` names a security, and `progress` is called with the trades
/// compared so far and those in the ledger.
///
/// # Errors
/// The database or the file failed.
pub fn compare(
    closed: &mut Closed,
    session: &mut dyn Session,
    before: &Volumes,
    symbol: impl Fn(u32) -> String,
    progress: &mut dyn FnMut(u64, u64),
) -> Result<AcknowledgedWork, CompareError> {
    compare_in_parts(closed, session, before, symbol, progress, TABLE_TRADES)
}

/// Compares a ledger that may lack the last acknowledged work, as that of a witness or of a run that was
/// killed: what the database has beyond it is right, and shares traded are not compared. Nothing else may write meanwhile.
///
/// # Errors
/// The database or the file failed.
pub fn compare_incomplete(
    closed: &mut Closed,
    session: &mut dyn Session,
) -> Result<AcknowledgedWork, CompareError> {
    let mut comparison = Comparison {
        is_incomplete: true,
        ..Comparison::default()
    };
    compare_trades(
        closed,
        session,
        &mut comparison,
        &mut |_, _| {},
        TABLE_TRADES,
    )?;
    comparison.describe(closed)?;
    Ok(comparison.work)
}

fn compare_in_parts(
    closed: &mut Closed,
    session: &mut dyn Session,
    before: &Volumes,
    symbol: impl Fn(u32) -> String,
    progress: &mut dyn FnMut(u64, u64),
    table_trades: u64,
) -> Result<AcknowledgedWork, CompareError> {
    let mut comparison = Comparison::default();
    compare_trades(closed, session, &mut comparison, progress, table_trades)?;
    compare_volumes(
        &closed.shares,
        before,
        &volumes(session)?,
        symbol,
        &mut comparison,
    );
    let work = &mut comparison.work;
    compare_updates(&mut closed.file, closed.updated_rows, session, work)?;
    compare_maintenance(&closed.maintained, session, work)?;
    comparison.describe(closed)?;
    Ok(comparison.work)
}

fn compare_trades(
    closed: &mut Closed,
    session: &mut dyn Session,
    comparison: &mut Comparison,
    progress: &mut dyn FnMut(u64, u64),
    table_trades: u64,
) -> Result<(), CompareError> {
    let parts = parts(closed.base, &closed.ranges, table_trades);
    let in_all: u64 = parts.iter().map(Part::trades).sum();
    let mut done = 0;
    for part in &parts {
        let mut table = vec![0; part.trades() as usize];
        closed.file.read(|record| {
            let is_of_trade = record.kind.is_of_trade();
            if let Some(place) = part.place(record.trade).filter(|_| is_of_trade) {
                comparison.work.count(&record);
                table[place] = noted(table[place], &record);
            }
        })?;
        compare_part(part, &table, session, comparison, &mut |trades| {
            progress(done + trades, in_all);
        })?;
        done += part.trades();
    }
    Ok(())
}

/// What is wrong, in a sentence or two; `None` if all acknowledged work is there, once.
#[must_use]
pub fn summary(work: &AcknowledgedWork) -> Option<String> {
    let acknowledged = |count: u64, of: u64, noun: &str, what: &str| {
        (count > 0).then(|| format!("{} of {} {what}", count_of(count), units::count(of, noun)))
    };
    let there = |count: u64, what: &str| (count > 0).then(|| format!("{} {what}", count_of(count)));
    let gone = "are not in the database";
    let found: Vec<String> = [
        acknowledged(
            work.lost_results,
            work.results,
            "acknowledged trade result",
            gone,
        ),
        acknowledged(work.lost_orders, work.orders, "acknowledged order", gone),
        acknowledged(
            work.lost_submissions,
            work.orders + work.submissions,
            "acknowledged submission",
            gone,
        ),
        acknowledged(
            work.changed_results,
            work.results,
            "acknowledged trade result",
            "have another price in the database",
        ),
        acknowledged(
            work.lost_updates,
            work.updated_rows,
            "updated row",
            "do not hold what the last acknowledged trade update wrote",
        ),
        acknowledged(
            work.lost_maintenance,
            work.maintained,
            "acknowledged maintenance change",
            gone,
        ),
        there(
            work.acknowledged_twice,
            "trades had the same work acknowledged twice, so it was lost in between",
        ),
        there(
            work.securities_differing,
            "securities have another number of shares traded than the acknowledged market feeds \
             added",
        ),
        there(
            work.unexpected_orders,
            "orders in the database were never acknowledged, so work was done twice or by another \
             program",
        ),
        there(
            work.unexpected_results,
            "results in the database were never acknowledged, so work was done twice or by \
             another program",
        ),
    ]
    .into_iter()
    .flatten()
    .collect();
    let first = match work.first.as_slice() {
        [] => String::new(),
        first => format!(" The first: {}.", first.join("; ")),
    };
    (!found.is_empty()).then(|| format!("{}.{first}", found.join("; ")))
}

trait Count {
    fn count(&mut self, record: &Record);
}

impl Count for AcknowledgedWork {
    fn count(&mut self, record: &Record) {
        match record.kind {
            Kind::EnteredPending | Kind::EnteredSubmitted => self.orders += 1,
            Kind::Submitted => self.submissions += 1,
            Kind::Booked | Kind::FoundBooked => self.results += 1,
            Kind::OrderUnknown | Kind::ResultUnknown => self.unknown_outcomes += 1,
            // Compared by themselves.
            _ => {}
        }
    }
}

/// An entry of the table after another record.
fn noted(entry: u32, record: &Record) -> u32 {
    let twice = |bit: u32| if entry & bit == 0 { bit } else { bit | TWICE };
    entry
        | match record.kind {
            Kind::EnteredPending => twice(ENTERED),
            Kind::EnteredSubmitted => twice(ENTERED) | SUBMITTED,
            Kind::Submitted => twice(SUBMITTED) | FED,
            Kind::Booked if entry & HAS_CONTENT != 0 => twice(BOOKED),
            Kind::Booked => twice(BOOKED) | HAS_CONTENT | record.content,
            Kind::FoundBooked => BOOKED,
            Kind::OrderUnknown => ORDER_UNKNOWN,
            Kind::ResultUnknown => RESULT_UNKNOWN,
            // Rows of trade updates are in no table of trades.
            _ => 0,
        }
}

#[derive(Debug, Default)]
struct Comparison {
    work: AcknowledgedWork,
    /// Whether the database may rightly have more than the ledger.
    is_incomplete: bool,
    /// The first differences, and the time of the record of each.
    examples: Vec<(Difference, i64, Option<u32>)>,
}

impl Comparison {
    fn add(&mut self, difference: Difference, trade: i64) {
        if self.is_incomplete && difference.is_surplus() {
            return;
        }
        let work = &mut self.work;
        *match difference {
            Difference::OrderLost => &mut work.lost_orders,
            Difference::SubmissionLost => &mut work.lost_submissions,
            Difference::ResultLost => &mut work.lost_results,
            Difference::ResultChanged => &mut work.changed_results,
            Difference::Twice => &mut work.acknowledged_twice,
            Difference::OrderUnexpected => &mut work.unexpected_orders,
            Difference::ResultUnexpected => &mut work.unexpected_results,
        } += 1;
        if self.examples.len() < EXAMPLES {
            self.examples.push((difference, trade, None));
        }
    }

    /// Finds when the examples were acknowledged, and describes them.
    fn describe(&mut self, closed: &mut Closed) -> Result<(), CompareError> {
        if self.examples.is_empty() {
            return Ok(());
        }
        let examples = &mut self.examples;
        closed.file.read(|record| {
            for (difference, trade, time_ms) in examples.iter_mut() {
                if *trade == record.trade && difference.is_of(&record) {
                    *time_ms = Some(record.time_ms);
                }
            }
        })?;
        let described = self.examples.iter().map(|(difference, trade, time_ms)| {
            let at = time_ms.map_or(String::new(), |time_ms| {
                format!("{:.3} s after the start", f64::from(time_ms) / 1e3)
            });
            difference.describe(*trade, &at)
        });
        self.work.first.splice(0..0, described);
        Ok(())
    }
}

fn compare_part(
    part: &Part,
    table: &[u32],
    session: &mut dyn Session,
    comparison: &mut Comparison,
    progress: &mut dyn FnMut(u64),
) -> Result<(), DatabaseError> {
    let mut expected = expected(part, table).peekable();
    let (mut from, mut compared) = (part.first, 0);
    loop {
        let mut batch = Batch::new();
        batch.add(&TRADES, values![from, part.last]);
        let answers = complete(ask(session, Isolation::ReadCommitted, batch))?;
        let rows = answers.of(0).collect(Found::read)?;
        for found in &rows {
            while let Some((trade, entry)) = expected.next_if(|(trade, _)| *trade < found.trade) {
                missing(trade, entry, comparison);
            }
            let entry = expected.next_if(|(trade, _)| *trade == found.trade);
            check(found, entry.map_or(0, |(_, entry)| entry), comparison);
        }
        compared += rows.len() as u64;
        progress(compared);
        match rows.last() {
            Some(last) if rows.len() == AT_ONCE && last.trade < part.last => from = last.trade + 1,
            _ => break,
        }
    }
    expected.for_each(|(trade, entry)| missing(trade, entry, comparison));
    Ok(())
}

/// The trades of a part that the ledger has, with their entries.
fn expected<'a>(part: &'a Part, table: &'a [u32]) -> impl Iterator<Item = (i64, u32)> + 'a {
    let ids = part
        .windows
        .iter()
        .flat_map(|window| (0..window.trades as i64).map(|number| window.first + number));
    ids.zip(table.iter().copied())
        .filter(|(_, entry)| *entry != 0)
}

/// A trade in the database.
#[derive(Debug)]
struct Found {
    trade: i64,
    status: i64,
    price_cents: i64,
    is_settled: bool,
}

impl Found {
    fn read(row: Row<'_>) -> Result<Self, DatabaseError> {
        Ok(Self {
            trade: row.integer(0)?,
            status: row.integer(1)?,
            price_cents: row.integer(2)?,
            is_settled: row.is(3)?,
        })
    }
}

/// A trade that the ledger has and the database has not.
fn missing(trade: i64, entry: u32, comparison: &mut Comparison) {
    if entry & ENTERED != 0 {
        comparison.add(Difference::OrderLost, trade);
    }
    if entry & FED != 0 {
        comparison.add(Difference::SubmissionLost, trade);
    }
    if entry & BOOKED != 0 {
        comparison.add(Difference::ResultLost, trade);
    }
}

/// A trade that the database has.
fn check(found: &Found, entry: u32, comparison: &mut Comparison) {
    let has = |bits: u32| entry & bits != 0;
    let trade = found.trade;
    let is_completed = found.status == Status::Completed.id() && found.is_settled;
    if !has(ENTERED | ORDER_UNKNOWN) {
        comparison.add(Difference::OrderUnexpected, trade);
    }
    if has(BOOKED) {
        if !is_completed {
            comparison.add(Difference::ResultLost, trade);
        } else if has(HAS_CONTENT) && records::content(found.price_cents) != entry & CONTENT {
            comparison.add(Difference::ResultChanged, trade);
        }
    } else if is_completed && has(ENTERED | ORDER_UNKNOWN) && !has(RESULT_UNKNOWN) {
        comparison.add(Difference::ResultUnexpected, trade);
    } else if has(SUBMITTED)
        && found.status != Status::Submitted.id()
        && found.status != Status::Completed.id()
    {
        comparison.add(Difference::SubmissionLost, trade);
    }
    if has(TWICE) {
        comparison.add(Difference::Twice, trade);
    }
}

/// Compares how many shares were traded with those that market feeds have added.
fn compare_volumes(
    shares: &BTreeMap<u32, Shares>,
    before: &Volumes,
    after: &Volumes,
    symbol: impl Fn(u32) -> String,
    comparison: &mut Comparison,
) {
    let noted: BTreeMap<String, Shares> = shares
        .iter()
        .map(|(security, shares)| (symbol(*security), *shares))
        .collect();
    let work = &mut comparison.work;
    for (symbol, before) in before {
        let noted = noted.get(symbol).copied().unwrap_or_default();
        let added = after.get(symbol).copied().unwrap_or(0) - before;
        work.feed_shares += noted.acknowledged.unsigned_abs();
        let lost = added < noted.acknowledged;
        let doubled = added > noted.acknowledged + noted.uncertain;
        if !lost && !doubled {
            continue;
        }
        work.securities_differing += 1;
        if work.securities_differing == 1 {
            work.first.push(format!(
                "market feeds added {added} shares of {symbol}, and {} were acknowledged",
                noted.acknowledged
            ));
        }
    }
}

#[cfg(test)]
mod tests;
