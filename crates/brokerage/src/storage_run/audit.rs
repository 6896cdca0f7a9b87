//! Which acknowledged transactions of a run its database still has, after a power cut or a kill.
//!
//! The database recovers by itself when it is opened. Then the ledger that the witness has kept, or that
//! which the driver has left in the results directory, is compared with the trades, as at the end of a
//! run.

use execution::audit::{AuditReport, AuditSource, AuditedRun, transactions};
use execution::storage_run::own;
use execution::{Error, RunOptions};
use measure::display::number::counted;
use measure::result::AcknowledgedWork;
use measure::units;
use std::path::{Path, PathBuf};
use storage::Claim;
use witness::RunId;
use workload::Profile;

use super::existing::locked;
use super::server::{self, Opened, Watched};
use super::size;
use super::wanted::{survey, wanted_database};
use crate::checks;
use crate::database::{RunMark, State};
use crate::error::DatabaseError;
use crate::ledger::compare::compare_incomplete;
use crate::ledger::compare_error::CompareError;
use crate::ledger::kept::{KeptError, KeptLedger};
use crate::ledger::{Closed, LEDGER_FILE, Ledger};
use crate::profile::BrokerageProfile;
use crate::transactions::clean_up;

/// What the answer covers, as the ledger has it.
const COVERAGE: &str = "Trade updates, data maintenance and market feeds that submitted no order leave \
                        no identifiers in the database and are not among them.";

/// What is known of the acknowledged transactions of a run.
struct Known {
    run: RunId,
    acknowledged: u64,
    ledger: Closed,
    /// What else is to be said of it, in sentences.
    basis: Vec<String>,
    findings: Vec<String>,
}

impl Known {
    /// Reads what is known; `Err` within is the report of a run of which nothing is.
    fn of(run: &AuditedRun) -> Result<Result<Self, AuditReport>, Error> {
        match &run.source {
            AuditSource::Witness { run, records } => Ok(Ok(Self {
                run: *run,
                acknowledged: transactions(records),
                ledger: Ledger::of_witness(records).map_err(|error| file_failed(&error))?,
                basis: Vec::new(),
                findings: Vec::new(),
            })),
            AuditSource::RunDirectory(directory) => match KeptLedger::read(directory) {
                Ok(kept) => Ok(Ok(Self::kept(kept, directory))),
                Err(error @ KeptError::NoHeader(_)) => Ok(Err(AuditReport {
                    findings: vec![format!(
                        "{}: the run had not begun its load, or the file was damaged since.",
                        units::sentence(&error)
                    )],
                    ..AuditReport::default()
                })),
                Err(error) => Err(Error::usage(
                    format!("{}.", units::sentence(&error)),
                    format!(
                        "Name the results directory of the run: {LEDGER_FILE} in it has what the \
                         database acknowledged."
                    ),
                )),
            },
        }
    }

    fn kept(kept: KeptLedger, directory: &Path) -> Self {
        let file = directory.join(LEDGER_FILE);
        let file = file.display();
        let last_s = f64::from(kept.last_ms) / 1e3;
        let basis = format!(
            "The acknowledged transactions are those in {file} on this machine, the last of them \
             acknowledged {last_s:.3} s after the start of the run. The run writes that file each \
             second, and makes it durable at its end: of a run that was killed the transactions since \
             the last write are not in it, and a power cut of this machine may have taken more of them."
        );
        let finding = (kept.invalid_bytes > 0).then(|| {
            format!(
                "{file} has {} after its last valid block, which were not used.",
                units::count(kept.invalid_bytes, "byte")
            )
        });
        Self {
            run: kept.run,
            acknowledged: kept.acknowledged,
            ledger: kept.closed,
            basis: vec![basis],
            findings: finding.into_iter().collect(),
        }
    }
}

/// Opens the database of a run and looks for the transactions that it has acknowledged.
///
/// # Errors
/// When it is in use, is not there, or does not answer.
pub(crate) fn audit(
    run: &AuditedRun,
    profile: &dyn Profile,
    doing: &mut dyn FnMut(&str),
) -> Result<AuditReport, Error> {
    let brokerage: &BrokerageProfile = own(profile)?;
    let options = RunOptions {
        on: run.on.clone(),
        log_on: run.log_on.clone(),
        database: run.database.clone(),
        reuse: true,
        ..RunOptions::default()
    };
    if options.on.is_empty() && options.database.is_none() {
        return Err(Error::usage(
            "The run worked on an existing database server.",
            "Name it with --database, as the run did.",
        ));
    }
    let known = match Known::of(run)? {
        Ok(known) => known,
        Err(report) => return Ok(report),
    };
    let target = wanted_database(&options)?;
    let layout = survey(&options, brokerage, &target)?;
    let dialect = server::dialect(&target, layout.as_ref());
    let sized_database = size::sized_database(brokerage, dialect)?;
    let claim = layout
        .map(|layout| Claim::reuse(layout, profile.workload()))
        .transpose()?;
    let watched = Watched {
        data: options.on.first().map(PathBuf::as_path),
        log: options.log_on.first().map(PathBuf::as_path),
    };
    doing("opening the database, which recovers it");
    let layout = claim.as_ref().map(Claim::layout);
    let opened = server::open(
        brokerage,
        &sized_database,
        &target,
        watched,
        layout,
        &mut |text| doing(text),
    )?;
    let found = examine(known, &opened, doing);
    // It is kept in any case.
    let _ = opened.close(false);
    found
}

fn examine(
    mut known: Known,
    opened: &Opened,
    doing: &mut dyn FnMut(&str),
) -> Result<AuditReport, Error> {
    let database = &*opened.database;
    let state = database.state().map_err(|error| refused(&error))?;
    let mut report = AuditReport {
        acknowledged: known.acknowledged,
        findings: known.findings,
        ..AuditReport::default()
    };
    if !matches!(state, State::Ready(_)) {
        report.lost = report.acknowledged;
        let place = opened.describe();
        report.findings.push(format!(
            "There is no complete brokerage in {place}: the storage lost it, or it was removed."
        ));
        return Ok(report);
    }
    let _run_lock = locked(opened)?;
    let mut session = database
        .connect_to_check()
        .map_err(|error| refused(&error))?;
    let last_trade = clean_up::last_trade(&mut *session).map_err(|error| refused(&error))?;
    let mark = RunMark::read(database).map_err(|error| refused(&error))?;
    if let Some(why) = undecidable(known.run, mark, known.ledger.base, last_trade) {
        report.undecided = report.acknowledged;
        report.findings.push(why.to_owned());
        return Ok(report);
    }
    if mark.is_none_or(|mark| mark.run != known.run) {
        report.findings.push(
            "The database is in a state from before the run: the storage lost everything since, or \
             an older copy was put in its place."
                .to_owned(),
        );
    }
    doing("comparing acknowledged transactions with the database");
    let work =
        compare_incomplete(&mut known.ledger, &mut *session).map_err(|error| match error {
            CompareError::Database(error) => refused(&error),
            CompareError::File(error) => file_failed(&error),
        })?;
    add(&mut report, work);
    report.basis.extend(known.basis);
    doing("checking the consistency of all rows");
    let checked = checks::check_all(&mut *session, &mut |_| ());
    match checked.map_err(|error| refused(&error))?.summary() {
        None => report.basis.push(
            "The consistency checks examined all rows and found no contradiction. Contents that no other row \
             repeats were not compared with anything."
                .to_owned(),
        ),
        // What belongs to an acknowledged transaction is gone, or what was there before it.
        Some(found) => {
            report.damaged = true;
            report.findings.push(found);
        }
    }
    Ok(report)
}

/// An error of the database: damage is what an audit looks for.
fn refused(error: &DatabaseError) -> Error {
    match error {
        DatabaseError::Damaged(_) => Error::integrity(
            format!("{}.", units::sentence(error)),
            "Acknowledged transactions on it may be lost. The server's log and 'dmesg' say more.",
        ),
        _ => server::refusal(error),
    }
}

/// Why nothing can be said of a database with this mark, if so.
fn undecidable(
    run: RunId,
    mark: Option<RunMark>,
    base: i64,
    last_trade: i64,
) -> Option<&'static str> {
    match mark {
        Some(mark) if mark.run == run => None,
        Some(mark) if mark.base >= base => Some(
            "Another run has worked on the database after this one, so what this one left is not known \
             any more.",
        ),
        None if last_trade > base => {
            Some("The database holds trades of another run, so it is not as this run left it.")
        }
        Some(_) | None => None,
    }
}

fn add(report: &mut AuditReport, work: AcknowledgedWork) {
    report.lost =
        work.lost_orders + work.lost_submissions + work.lost_results + work.changed_results;
    if work.acknowledged_twice > 0 {
        report.damaged = true;
        report.findings.push(format!(
            "Work on {} was acknowledged twice, so it was lost in between.",
            counted(work.acknowledged_twice, "trade")
        ));
    }
    report.basis.push(format!(
        "{}, {} and {} were compared with the rows of their trades. {COVERAGE}",
        counted(work.orders, "order"),
        counted(work.submissions, "submission"),
        counted(work.results, "result")
    ));
    report.examples = work.first;
}

fn file_failed(error: &std::io::Error) -> Error {
    Error::environment(
        format!("The records cannot be kept for the comparison: {error}."),
        format!(
            "Make room in {}.",
            units::sentence(&std::env::temp_dir().display())
        ),
    )
}
