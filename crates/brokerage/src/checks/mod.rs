//! Consistency checks: what must hold in the database after any run, however it ended.
//!
//! - [`check_all`] examines all rows, whoever wrote them, and compares counters and balances with
//!   the sums of all trades.
//! - [`Baseline`] records counters and balances before a run; [`check`] examines only what the run
//!   has changed, which is less work where the database is large.
//! - `queries`: one SQL query per check, which finds violations.
//! - `relations`: such queries about what trades are worth and when they happened.
//! - `rules`: the name of each check, and its rule in a sentence.
//! - `sums`: counters and balances.
//! - [`unchanged`]: rows that the load leaves as they are.

mod queries;
mod relations;
mod rules;
mod sums;
pub mod unchanged;

pub use rules::{CONSISTENCY_CHECKS, Rule};
pub use sums::Baseline;

use crate::error::DatabaseError;
use crate::kinds::Status;
use crate::session::{Isolation, Session};
use crate::statement::Statement;
use crate::transactions::batch::{Answers, Batch, Transaction, ask, values};
use queries::CheckQuery;
use runtime::thread::complete;

/// A consistency check that failed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// Name of the check, such as `positions`.
    pub check: &'static str,
    /// Number of rows that violate it.
    pub count: u64,
    /// A sentence with the count and one example.
    pub message: String,
}

/// The result of all consistency checks.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CheckReport {
    /// The checks that failed; empty if all passed.
    pub violations: Vec<Violation>,
    /// Completed trades among those examined.
    pub completed: u64,
    /// Trades that wait for their price.
    pub pending: u64,
    /// Trades submitted to the market and not yet executed.
    pub submitted: u64,
    /// Trades that were cancelled, by clean-up before a run.
    pub cancelled: u64,
}

impl CheckReport {
    /// Whether every check passed.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.violations.is_empty()
    }

    /// The first check that failed, what was found, and how many others failed; `None` if all
    /// passed.
    #[must_use]
    pub fn summary(&self) -> Option<String> {
        let first = self.violations.first()?;
        let rule = rules::rule_of(first.check).trim_end_matches('.');
        let others = match self.violations.len() - 1 {
            0 => String::new(),
            1 => " One more check failed.".to_owned(),
            more => format!(" {more} more checks failed."),
        };
        let found = &first.message;
        Some(format!(
            "The consistency check \"{rule}\" failed: {found}{others}"
        ))
    }
}

/// Checks what a run has changed since `before`, and its counters and balances. Nothing else may
/// write meanwhile.
///
/// # Errors
/// Those of the session. A violation is not an error.
pub fn check(session: &mut dyn Session, before: &Baseline) -> Result<CheckReport, DatabaseError> {
    check_with_progress(session, before, &mut |_| {})
}

/// As [`check`]; calls `progress` before each of the [`CONSISTENCY_CHECKS`] with the number already
/// done, because they take minutes on a large database.
///
/// # Errors
/// Those of [`check`].
pub fn check_with_progress(
    session: &mut dyn Session,
    before: &Baseline,
    report: &mut dyn FnMut(usize),
) -> Result<CheckReport, DatabaseError> {
    let mut checked = check_after(session, before.last_trade(), report)?;
    report(made_by_queries().count());
    checked.violations.extend(before.compare(session)?);
    Ok(checked)
}

/// Checks all rows; calls `progress` as [`check_with_progress`] does.
///
/// # Errors
/// Those of the session. A violation is not an error.
pub fn check_all(
    session: &mut dyn Session,
    progress: &mut dyn FnMut(usize),
) -> Result<CheckReport, DatabaseError> {
    check_with_progress(session, &Baseline::nothing(), progress)
}

/// The checks that are made by a query each.
fn made_by_queries() -> impl Iterator<Item = &'static CheckQuery> {
    queries::CHECKS.iter().chain(&relations::CHECKS)
}

fn check_after(
    session: &mut dyn Session,
    after_trade: i64,
    report: &mut dyn FnMut(usize),
) -> Result<CheckReport, DatabaseError> {
    let mut checked = CheckReport::default();
    let mut transaction = Transaction::begin(session, Isolation::RepeatableRead)?;
    for (done, check) in made_by_queries().enumerate() {
        report(done);
        let mut batch = Batch::new();
        batch.add(&check.query, values![after_trade]);
        let answers = complete(transaction.run(batch))?;
        checked.violations.extend(violations(check, &answers)?);
    }
    let mut batch = Batch::new();
    batch.add(&queries::STATES, values![after_trade]);
    for row in complete(transaction.commit(batch))?.of(0).all() {
        let (status, trades) = (row.integer(0)?, row.integer(1)? as u64);
        match status {
            status if status == Status::Completed.id() => checked.completed = trades,
            status if status == Status::Pending.id() => checked.pending = trades,
            status if status == Status::Submitted.id() => checked.submitted = trades,
            status if status == Status::Cancelled.id() => checked.cancelled = trades,
            other => checked.violations.push(Violation {
                check: "states",
                count: trades,
                message: format!("{trades} trades have the invalid status {other}."),
            }),
        }
    }
    Ok(checked)
}

fn violations(
    check: &CheckQuery,
    answers: &Answers<'_>,
) -> Result<Option<Violation>, DatabaseError> {
    let Some(row) = answers.of(0).find() else {
        return Ok(None);
    };
    let (of, about) = (row.integer(0)?, row.text(1)?);
    let count = row.integer(4)? as u64;
    let message = (check.message)(&queries::Example {
        count,
        of,
        about: &about,
        found: row.integer(2)?,
        expected: row.integer(3)?,
    });
    Ok(Some(Violation {
        check: check.name,
        count,
        message,
    }))
}

/// Every statement of the checks, so that tests can prepare each on every database.
#[must_use]
pub fn statements() -> Vec<&'static Statement> {
    let questions = made_by_queries().map(|check| &check.query);
    questions
        .chain([&queries::STATES])
        .chain(sums::statements())
        .collect()
}

/// One page of trades per broker, or of cash per account, since a trade.
fn rows<'a>(
    session: &'a mut dyn Session,
    statement: &'static Statement,
    after: i64,
) -> Result<Answers<'a>, DatabaseError> {
    let mut batch = Batch::new();
    batch.add(statement, values![after]);
    complete(ask(session, Isolation::RepeatableRead, batch))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_summary_names_the_rule_and_how_many_others_are_violated() {
        let mut checked = CheckReport::default();
        assert_eq!(checked.summary(), None);
        let violations = |check| Violation {
            check,
            count: 1,
            message: "Something is wrong.".to_owned(),
        };
        checked.violations = vec![violations("positions")];
        assert_eq!(
            checked.summary().unwrap(),
            "The consistency check \"Every position is the sum of its lots\" failed: Something is \
             wrong."
        );
        checked.violations.push(violations("states"));
        let summary = checked.summary().unwrap();
        assert!(summary.ends_with("One more check failed."));
    }
}
