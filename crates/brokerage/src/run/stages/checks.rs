//! What is checked before and after the load.

use super::super::context::failure;
use super::super::final_checks::{self, AllRows};
use super::super::lost_server::{repeat_after_outages, wait_for_server};
use super::{BrokerageRun, at_start};
use crate::checks::unchanged::{self, Digests};
use crate::database::seal;
use crate::error::DatabaseError;
use crate::ledger::compare;
use crate::parallel::lock;
use crate::profile::CheckedRows;
use crate::session::Session;
use workload::failure::{Failure, FailureKind};

impl BrokerageRun {
    /// Checks the rows that an earlier run has left.
    pub(super) fn check_at_rest(&self) -> Result<(), Failure> {
        let of = |error: DatabaseError| at_start(&error, "checking the kept database");
        let examine = |(): &mut ()| final_checks::at_rest(self.all_rows(true));
        let examined = self.repeat("the kept data were checked", drop, examine);
        let at_rest = examined.map_err(of)?;
        let mut findings = lock(&self.findings);
        findings.coverage.extend(at_rest.coverage);
        findings.consistency_checks = at_rest.checks;
        at_rest
            .found
            .map_or(Ok(()), |found| Err(inconsistent(found)))
    }

    /// Seals the rows of a database that was built to be kept.
    pub(super) fn seal(&self) -> Result<(), DatabaseError> {
        let what = "reading all rows for the next run to compare";
        let read = self.all_rows(false).map(|rows| rows.read(None, true, what));
        let Some(digests) = read.transpose()? else {
            return Ok(());
        };
        match digests.damaged_indexes() {
            Some(damaged) => Err(DatabaseError::Damaged(damaged)),
            None => seal::write(&*self.database, &digests.all),
        }
    }

    /// All rows, where they are to be checked.
    pub(super) fn all_rows(&self, may_be_stopped: bool) -> Option<AllRows<'_>> {
        let is_wanted = self.parameters.brokerage.checked_rows == CheckedRows::All;
        is_wanted.then_some(AllRows {
            database: &*self.database,
            data_set: &self.data_set,
            link: &self.link,
            may_be_stopped,
        })
    }

    /// Compares the ledger with the database and runs the consistency checks: all of them again
    /// when the server goes down meanwhile.
    pub(super) fn check_database(&self) -> Result<(), Failure> {
        let of = |error: &DatabaseError| failure(error, "checking consistency");
        let Some(before) = lock(&self.before).take() else {
            return Ok(());
        };
        let (link, rows) = (&*self.link, self.parameters.brokerage.checked_rows);
        let mut ledger = self.ledger.close();
        let mut check = |session: &mut Box<dyn Session>| {
            let (session, volumes) = (&mut **session, &before.volumes);
            let work =
                final_checks::acknowledged(&mut ledger, session, volumes, self.data_set, link)?;
            let lost = compare::summary(&work);
            lock(&self.findings).acknowledged = Some(work);
            let report = final_checks::consistency(session, &before.sums, rows, link)?;
            let what = "comparing rows that the load leaves as they are";
            let read = self
                .all_rows(false)
                .map(|rows| rows.read(Some(before.sums.last_trade()), true, what));
            let digests = read.transpose()?;
            let pairs = before.unchanged.as_ref().zip(digests.as_ref());
            let changed =
                pairs.and_then(|(before, after)| unchanged::compare(before, &after.unchanged));
            let indexes = digests.as_ref().and_then(Digests::damaged_indexes);
            let found = [lost, report.summary(), changed, indexes];
            Ok((found, report, digests))
        };
        let checked = self.repeat("the data were checked", |session| session, &mut check);
        let (found, report, digests) = checked.map_err(|error| of(&error))?;
        {
            let mut findings = lock(&self.findings);
            findings.consistency_checks = final_checks::results(&report);
            findings
                .coverage
                .push(final_checks::coverage(rows).to_owned());
        }
        let found: Vec<String> = found.into_iter().flatten().collect();
        if !found.is_empty() {
            return Err(inconsistent(found.join(" ")));
        }
        if self.parameters.keeps
            && let Some(digests) = digests
            && let Err(error) = seal::write(&*self.database, &digests.all)
        {
            self.link.note(format!(
                "The digests of all rows could not be kept, so the next run does not know whether \
                 rows were changed in between: {error}"
            ));
        }
        Ok(())
    }

    /// Works on the database when its server answers, again from the start when it goes down meanwhile.
    pub(super) fn repeat<S, T>(
        &self,
        doing: &str,
        begin: impl Fn(Box<dyn Session>) -> S,
        work: impl FnMut(&mut S) -> Result<T, DatabaseError>,
    ) -> Result<T, DatabaseError> {
        let (link, revive) = (&*self.link, &*self.parameters.revive);
        repeat_after_outages(
            || wait_for_server(&*self.database, revive, link).map(&begin),
            work,
            |why| {
                lock(&self.findings).warnings.push(format!(
                    "The database server went down while {doing}, which began again when it was back: \
                     {why}."
                ));
            },
        )
    }
}

fn inconsistent(error: String) -> Failure {
    Failure::new(
        FailureKind::Inconsistent,
        "the brokerage database",
        "checking consistency",
        error,
    )
}
