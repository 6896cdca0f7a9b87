//! The checks of the database before and after the load.

use super::loading;
use super::progress_note::ProgressNote;
use super::shard_link::ShardLink;
use crate::checks::unchanged::{self, Digests};
use crate::checks::{self, Baseline, CONSISTENCY_CHECKS, CheckReport, Rule};
use crate::database::seal::{self, Sealed};
use crate::database::{Database, TableDigest};
use crate::dataset::DataSet;
use crate::error::DatabaseError;
use crate::ledger::Closed;
use crate::ledger::compare::{self, Volumes};
use crate::ledger::compare_error::CompareError;
use crate::profile::CheckedRows;
use crate::schema::TABLES;
use crate::session::Session;
use measure::result::{AcknowledgedWork, ConsistencyCheck};

/// What is known of the database before the load.
#[derive(Debug)]
pub(super) struct Earlier {
    /// Digests of what the load leaves as it is, where all rows are to be checked.
    pub unchanged: Option<Vec<Option<TableDigest>>>,
    /// Counters and balances as the earlier run left them.
    pub sums: Baseline,
    /// Shares traded of each security.
    pub volumes: Volumes,
}

impl Earlier {
    /// Reads it; all rows only where they are given. Nothing may write meanwhile. Indexes of kept rows have been
    /// checked, and those of new ones were just made.
    pub fn note(
        session: &mut dyn Session,
        rows: Option<AllRows<'_>>,
    ) -> Result<Self, DatabaseError> {
        let sums = Baseline::note(session)?;
        // Before the rows, which take long: a session that does nothing for hours may be ended.
        let volumes = compare::volumes(session)?;
        let what = "reading all rows to compare them after the load";
        let unchanged = rows.map(|rows| rows.read(Some(sums.last_trade()), false, what));
        Ok(Self {
            unchanged: unchanged.transpose()?.map(|digests| digests.unchanged),
            sums,
            volumes,
        })
    }
}

/// All rows of a database, to be read for their digests.
pub(super) struct AllRows<'a> {
    pub database: &'a dyn Database,
    pub data_set: &'a DataSet,
    pub link: &'a ShardLink,
    /// Whether reading them ends when the stage is to end early.
    pub may_be_stopped: bool,
}

impl AllRows<'_> {
    /// Reads them as [`unchanged::read`] does, and says that it does `what`.
    pub fn read(
        &self,
        last_trade: Option<i64>,
        with_indexes: bool,
        what: &'static str,
    ) -> Result<Digests, DatabaseError> {
        let mut note = ProgressNote::new(self.link, what);
        unchanged::read(self.database, last_trade, with_indexes, &mut |done| {
            note.done(share_of_tables(self.database, self.data_set, done));
            match self.may_be_stopped && self.link.orders().is_abandoned() {
                true => Err(loading::stopped()),
                false => Ok(()),
            }
        })
    }
}

/// Runs the consistency checks over all rows, or over those of the run.
pub(super) fn consistency(
    session: &mut dyn Session,
    before: &Baseline,
    rows: CheckedRows,
    link: &ShardLink,
) -> Result<CheckReport, DatabaseError> {
    let mut note = ProgressNote::new(link, "consistency checks");
    let of = CONSISTENCY_CHECKS.len() as f64;
    let mut progress = |done: usize| note.done(done as f64 / of);
    match rows {
        CheckedRows::All => checks::check_all(session, &mut progress),
        CheckedRows::OfTheRun => checks::check_with_progress(session, before, &mut progress),
    }
}

/// Compares a closed ledger with the database, or says why there is none.
pub(super) fn acknowledged(
    ledger: &mut Result<Closed, String>,
    session: &mut dyn Session,
    before: &Volumes,
    data_set: DataSet,
    link: &ShardLink,
) -> Result<AcknowledgedWork, DatabaseError> {
    let not_compared = |why: String| AcknowledgedWork {
        not_compared: Some(why),
        ..AcknowledgedWork::default()
    };
    let closed = match ledger {
        Ok(closed) => closed,
        Err(why) => return Ok(not_compared(why.clone())),
    };
    let mut note = ProgressNote::new(link, "comparing acknowledged transactions");
    let mut progress = |done: u64, of: u64| note.done(done as f64 / of.max(1) as f64);
    let symbol = |security| data_set.symbol(security);
    match compare::compare(closed, session, before, symbol, &mut progress) {
        Ok(work) => Ok(work),
        Err(CompareError::Database(error)) => Err(error),
        Err(error @ CompareError::File(_)) => Ok(not_compared(error.to_string())),
    }
}

/// The result of every consistency check.
pub(super) fn results(report: &CheckReport) -> Vec<ConsistencyCheck> {
    let result = |(name, rule): &Rule| {
        let mut violations = report.violations.iter();
        let violation = violations.find(|violation| violation.check == *name);
        ConsistencyCheck {
            rule: (*rule).to_owned(),
            passed: violation.is_none(),
            found: violation.map_or_else(|| "ok".to_owned(), |found| found.message.clone()),
        }
    };
    CONSISTENCY_CHECKS.iter().map(result).collect()
}

/// Which rows the checks after the load cover.
pub(super) fn coverage(rows: CheckedRows) -> &'static str {
    match rows {
        CheckedRows::All => {
            "After the load, the consistency checks examined all rows and indexes, and rows that the load \
             leaves as they are were compared with those before it."
        }
        CheckedRows::OfTheRun => {
            "After the load, the consistency checks examined the rows of this run's trades only, as \
             asked for (brokerage.checked_rows): other rows were not examined."
        }
    }
}

/// What was found in a database that an earlier run has left.
#[derive(Debug, Default)]
pub(super) struct AtRest {
    /// Which rows were examined, in a sentence.
    pub coverage: Option<String>,
    /// Results of the consistency checks, if they were made.
    pub checks: Vec<ConsistencyCheck>,
    /// What is wrong; `None` if nothing is.
    pub found: Option<String>,
}

/// Examines all rows that an earlier run has left: whether they are as it left them, and where that
/// is not known or not so, with the consistency checks.
pub(super) fn at_rest(rows: Option<AllRows<'_>>) -> Result<AtRest, DatabaseError> {
    let Some(rows) = rows else {
        let coverage = "Before the load, rows were not examined, as asked for \
                        (brokerage.checked_rows).";
        return Ok(AtRest {
            coverage: Some(coverage.to_owned()),
            ..AtRest::default()
        });
    };
    let (database, link) = (rows.database, rows.link);
    let digests = rows.read(None, true, "comparing all rows with those of the last run")?;
    let sealed = seal::compare(database, &digests.all)?;
    let indexes = digests.damaged_indexes();
    if sealed == Sealed::Unchanged && indexes.is_none() {
        let tables = TABLES.len();
        return Ok(AtRest {
            coverage: Some(format!(
                "Before the load, all rows of all {tables} tables were those that passed the \
                 checks at the end of the run whose digests are stored in the database. An older \
                 copy of the whole database has its own."
            )),
            ..AtRest::default()
        });
    }
    let mut session = database.connect_to_check()?;
    let report = consistency(&mut *session, &Baseline::nothing(), CheckedRows::All, link)?;
    let violation = report.summary();
    let (coverage, changed) = match sealed {
        Sealed::Unknown(why) => (
            format!(
                "Before the load, the consistency checks examined all rows. Whether other contents \
                 of rows were changed since the last run is not known: {why}."
            ),
            None,
        ),
        Sealed::Changed(tables) => (
            "Before the load, all rows were compared with those of the last run.".to_owned(),
            Some(format!(
                "Rows were changed, lost or added after the last run on this database had ended: \
                 {}.",
                tables.join(", ")
            )),
        ),
        Sealed::Unchanged => (
            "Before the load, all rows were those that passed the checks at the end of the run whose \
             digests are stored in the database; indexes are damaged."
                .to_owned(),
            None,
        ),
    };
    let found: Vec<String> = changed
        .into_iter()
        .chain(indexes)
        .chain(violation)
        .collect();
    Ok(AtRest {
        coverage: Some(coverage),
        checks: results(&report),
        found: (!found.is_empty()).then(|| found.join(" ")),
    })
}

/// The share of the first tables in the estimated size of all.
fn share_of_tables(database: &dyn Database, data_set: &DataSet, tables: usize) -> f64 {
    let bytes = |tables: &[crate::schema::Table]| -> u64 {
        let tables = tables.iter();
        tables
            .map(|table| data_set.estimated_bytes(database.dialect(), table.name))
            .sum()
    };
    bytes(&TABLES[..tables]) as f64 / bytes(&TABLES).max(1) as f64
}
