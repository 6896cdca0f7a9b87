//! Which acknowledged transactions of a run its databases still have.
//!
//! For each database the log is read before anything is changed, then the database is recovered as by
//! any opening, then the pages are compared with the log, and every page and every tree is checked. What
//! cannot be recovered is lost, whatever the log says.

use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use edb::audit::{
    AcknowledgedCommit, AuditedLog, CommitState, Lineage, Opening, StalePage, commits_on, read_log,
    stale_pages,
};
use edb::cache::PageProblem;
use edb::check::{CheckError, CheckReport, check};
use edb::log::LogError;
use edb::position::LogPosition;
use edb::{Database, EngineError, EngineSettings};
use execution::Error;
use execution::audit::{AuditReport, AuditSource, AuditedRun, MOST_EXAMPLES, transactions};
use execution::storage_run::{OpenedPlace, Places, own, wall_clock};
use measure::display::number::counted;
use measure::units::{self, count_of};
use runtime::trace::NoObserver;
use runtime::{AnyDirectory, Directory, Handle, IoError, IoFailure};
use witness::{Record, Sender};
use workload::Profile;
use workload::failure::Failure;

use crate::acknowledged::{Acknowledged, OnAcknowledged};
use crate::edb_host::{engine_settings, file_name};
use crate::profile::MailProfile;

/// The kind of records that stand for durable commits.
const COMMIT: u8 = 1;

/// Reports what databases acknowledge to a witness.
pub fn reporting_to(witness: Sender) -> OnAcknowledged {
    Rc::new(move |database, acknowledged| {
        let database = database as u16;
        witness.send(match acknowledged {
            Acknowledged::Opening(opening) => {
                Record::fact(database, opening.at_s, opening.from.0, opening.hash())
            }
            Acknowledged::Commit(commit) => Record {
                kind: COMMIT,
                database,
                time_ms: 0,
                position: commit.position.0,
                hash: commit.hash,
            },
        });
    })
}

/// What the witness has of one database.
#[derive(Default)]
struct Witnessed {
    opening: Option<Opening>,
    /// In the order of their positions, each with the time at which it was acknowledged.
    commits: Vec<(AcknowledgedCommit, u32)>,
}

/// The records of a run, by database.
fn by_database(records: &[Record]) -> BTreeMap<usize, Witnessed> {
    let mut all: BTreeMap<usize, Witnessed> = BTreeMap::new();
    for record in records {
        let of = all.entry(usize::from(record.database)).or_default();
        if record.is_transaction() {
            let commit = AcknowledgedCommit {
                position: LogPosition(record.position),
                hash: record.hash,
            };
            of.commits.push((commit, record.time_ms));
        } else {
            let (at_s, position) = (record.time_ms, record.position);
            of.opening = Some(Opening::from_numbers(at_s, position, record.hash));
        }
    }
    all.values_mut().for_each(|of| of.commits.sort_unstable());
    all
}

/// Recovers the databases of a run and looks for the transactions that the witness has.
///
/// # Errors
/// When the databases are in use, are not there, or cannot be read.
pub fn audit(
    run: &AuditedRun,
    profile: &dyn Profile,
    doing: &mut dyn FnMut(&str),
) -> Result<AuditReport, Error> {
    let mail: &MailProfile = own(profile)?;
    let AuditSource::Witness { records, .. } = &run.source else {
        return Err(Error::usage(
            "A mail run keeps no ledger of its own: only its witness knows what it acknowledged.",
            "Name the witness with --witness and --secret-file, as the run did. A run without one \
             cannot be audited.",
        ));
    };
    let claim = run.claim(profile, doing)?;
    let places = Places::of(&claim, false);
    let witnessed = by_database(records);
    let mut tally = Tally {
        report: AuditReport {
            acknowledged: transactions(records),
            ..AuditReport::default()
        },
        ..Tally::default()
    };
    let databases = claim.layout().databases.len();
    for number in 0..databases {
        let Some(of) = witnessed.get(&number) else {
            continue;
        };
        let name = file_name(number);
        let failed = |failure: Failure| unreadable(&failure.to_string());
        let runtime = wall_clock(profile.run().io_driver).map_err(failed)?;
        let place = places.open(&runtime, number).map_err(failed)?;
        let Some(opening) = of.opening else {
            tally.undecided(of, &name, "the witness does not know when it was opened");
            continue;
        };
        doing(&format!("reading the log of {name}"));
        let handle = runtime.handle();
        let audited = Audited {
            handle: handle.clone(),
            name: name.clone(),
            place,
            settings: recovery_settings(mail),
        };
        let commits: Vec<AcknowledgedCommit> = of.commits.iter().map(|one| one.0).collect();
        doing(&format!(
            "recovering {name}, comparing its pages with the log and checking all of them"
        ));
        let found = runtime.block_on(async move { audited.examine(&opening, &commits).await });
        tally.add(
            of,
            &name,
            &found.map_err(|error| unreadable(&error.to_string()))?,
        );
    }
    let unknown = witnessed
        .range(databases..)
        .map(|(_, of)| of.commits.len() as u64);
    tally.report.undecided += unknown.sum::<u64>();
    Ok(tally.finish())
}

/// The engine's settings of the run, without what would remove the log that is being looked into.
fn recovery_settings(profile: &MailProfile) -> EngineSettings {
    let mut settings = engine_settings(profile);
    settings.engine.circular_logging = false;
    settings.maintenance.enabled = false;
    settings.log_replication_readers = 0;
    settings
}

fn unreadable(why: &str) -> Error {
    Error::integrity(
        format!("The databases cannot be audited: {}", units::sentence(&why)),
        "Check the storage ('dmesg' shows I/O errors), then start the audit again.",
    )
}

/// A database that is being looked into.
struct Audited {
    handle: Handle,
    name: String,
    place: OpenedPlace,
    settings: EngineSettings,
}

/// What was found out of a database.
struct Found {
    log: AuditedLog,
    /// Why it cannot be recovered, if so.
    unrecoverable: Option<String>,
    /// Pages that lack changes.
    stale: Vec<StalePage>,
    /// Commits that had changed such a page.
    on_stale: BTreeSet<LogPosition>,
    /// What a check of every page and every tree found, where the database could be recovered.
    checked: Option<CheckReport>,
}

impl Audited {
    async fn examine(
        self,
        opening: &Opening,
        commits: &[AcknowledgedCommit],
    ) -> Result<Found, EngineError> {
        let OpenedPlace { data, log } = &self.place;
        let place = (data, self.name.as_str());
        let read = read_log(
            &self.handle,
            place,
            log,
            opening,
            commits,
            Rc::new(NoObserver),
        );
        let (log, unrecoverable) = match read.await {
            Ok(log) => (log, None),
            Err(error) => (AuditedLog::unread(commits.len()), Some(as_loss(error)?)),
        };
        let mut found = Found {
            unrecoverable,
            stale: Vec::new(),
            on_stale: BTreeSet::new(),
            checked: None,
            log,
        };
        if found.log.lineage != Lineage::Same || found.unrecoverable.is_some() {
            return Ok(found);
        }
        match self.recover_and_compare(&mut found).await.map_err(as_loss) {
            Ok(()) => Ok(found),
            Err(Ok(reason)) => {
                found.unrecoverable = Some(reason);
                Ok(found)
            }
            Err(Err(error)) => Err(error),
        }
    }

    async fn recover_and_compare(&self, found: &mut Found) -> Result<(), EngineError> {
        let OpenedPlace { data, log } = &self.place;
        if !found.log.is_closed {
            let observer = Rc::new(NoObserver);
            let settings = self.settings;
            let opened = Database::open(&self.handle, data, &self.name, log, settings, observer);
            let (database, _) = opened.await?;
            database.close().await?;
        }
        let file: <AnyDirectory as Directory>::File = data.open(&self.name).await?;
        found.stale = stale_pages(&file, &found.log.versions).await?;
        if !found.stale.is_empty() {
            let observer = Rc::new(NoObserver);
            let on = commits_on(&self.handle, log, &found.stale, observer).await?;
            found.on_stale = on.into_iter().collect();
        }
        let checked = check(&file, |_, _| ()).await;
        found.checked = Some(checked.map_err(|error| match error {
            CheckError::Io(error) => EngineError::Io(error),
            error => EngineError::NotADatabase {
                file: self.name.clone(),
                reason: error.to_string(),
            },
        })?);
        Ok(())
    }
}

/// Why a database cannot be recovered; the error itself if it says nothing about what is stored.
fn as_loss(error: EngineError) -> Result<String, EngineError> {
    let failure = Failure::of_engine(&error, "", "");
    let is_damage = failure.class().is_some() && !failure.is_failed_request();
    let is_gone = |error: &IoError| {
        let gone = [IoFailure::NotFound, IoFailure::PastEnd];
        gone.contains(&error.failure)
    };
    // Files that are shorter than they were, or not there, are lost as much as damaged ones.
    let is_missing = match &error {
        EngineError::Io(error) | EngineError::Log(LogError::Io(error)) => is_gone(error),
        EngineError::Page(error) => {
            matches!(&error.problem, PageProblem::Io(error) if is_gone(error))
        }
        _ => false,
    };
    match is_damage || is_missing {
        true => Ok(error.to_string()),
        false => Err(error),
    }
}

/// Adds up what was found in all databases.
#[derive(Default)]
struct Tally {
    report: AuditReport,
    in_log: u64,
    before_log: u64,
    compared_pages: u64,
    checked_pages: u64,
}

impl Tally {
    fn undecided(&mut self, of: &Witnessed, name: &str, why: &str) {
        self.report.undecided += of.commits.len() as u64;
        self.report.findings.push(format!("{name}: {why}."));
    }

    fn add(&mut self, of: &Witnessed, name: &str, found: &Found) {
        match found.log.lineage {
            Lineage::Same => {}
            Lineage::OpenedAgain => {
                return self.undecided(
                    of,
                    name,
                    "it was opened again after the run, by another run, by 'proofload edb recover' \
                     or by an earlier audit, so what its log held when power failed is not known \
                     any more",
                );
            }
            Lineage::Other => {
                return self.undecided(of, name, "it is another database than that of the run");
            }
            Lineage::Earlier => {
                self.report.findings.push(format!(
                    "{name}: it is in a state from before the run opened it: the storage lost \
                     everything since, or an older copy was put in its place."
                ));
            }
        }
        if let Some(problem) = &found.log.problem {
            self.report
                .findings
                .push(format!("{name}: {}", units::sentence(problem)));
        }
        if let Some(reason) = &found.unrecoverable {
            let text = format!(
                "{name}: {} None of its transactions can be read.",
                units::end_sentence(units::sentence(reason))
            );
            self.report.findings.push(text);
        }
        self.stale(name, &found.stale);
        if let Some(checked) = &found.checked {
            self.checked(name, checked);
        }
        let mut others = Vec::new();
        let mut unknown = 0;
        for ((commit, time_ms), state) in of.commits.iter().zip(&found.log.states) {
            let why = match state {
                CommitState::Lost if found.log.lineage == Lineage::Earlier => "",
                CommitState::Lost => ": the log does not have it",
                _ if found.unrecoverable.is_some() => ": the database cannot be recovered",
                _ if found.on_stale.contains(&commit.position) => ": a page lacks its change",
                CommitState::InLog => {
                    self.in_log += 1;
                    continue;
                }
                CommitState::BeforeLog => {
                    self.before_log += 1;
                    continue;
                }
                CommitState::Unknown => {
                    unknown += 1;
                    continue;
                }
            };
            self.report.lost += 1;
            let at_s = f64::from(*time_ms) / 1e3;
            let position = commit.position;
            let describe = || {
                format!(
                    "{name}: the commit at {position}, acknowledged {at_s:.3} s after the start{why}"
                )
            };
            // Those that the log does not have come first: they say where the loss begins.
            match state {
                CommitState::Lost => self.report.add_example(describe),
                _ if others.len() < MOST_EXAMPLES => others.push(describe()),
                _ => {}
            }
        }
        for other in others {
            self.report.add_example(|| other);
        }
        if unknown > 0 {
            self.report.undecided += unknown;
            self.report.findings.push(format!(
                "{name}: it has no checkpoint file that can be read, so of {} before the oldest log file it is not \
                 known whether their log was used again or is lost.",
                counted(unknown, "commit")
            ));
        }
        if found.unrecoverable.is_none() && found.log.lineage == Lineage::Same {
            self.compared_pages += found.log.versions.pages();
        }
    }

    fn stale(&mut self, name: &str, stale: &[StalePage]) {
        let Some(first) = stale.first() else { return };
        let (pages, page) = (counted(stale.len() as u64, "page"), first.page);
        let verb = if stale.len() == 1 { "lacks" } else { "lack" };
        self.report.findings.push(format!(
            "{name}: {pages} {verb} changes that the log has; page {page}: {}. Transactions whose \
             rows had been moved to these pages by others may be lost beside those counted.",
            first.problem
        ));
        // A change that no acknowledged transaction has made is a loss all the same.
        self.report.damaged = true;
    }

    /// What the check found that the log has no changes of is a loss of the storage, too, of which nobody can say
    /// whose rows it held.
    fn checked(&mut self, name: &str, checked: &CheckReport) {
        self.checked_pages += checked.file_pages;
        let Some(first) = checked.findings.first() else {
            return;
        };
        let findings = checked.findings.len() as u64 + checked.further_findings;
        self.report.findings.push(format!(
            "{name}: a check of every page and tree has {}, the first: {} Transactions whose rows were there may be \
             lost beside those counted; 'proofload edb check' lists them all.",
            counted(findings, "finding"),
            units::end_sentence(units::sentence(&first.to_string()))
        ));
        self.report.damaged = true;
    }

    fn finish(mut self) -> AuditReport {
        let basis = &mut self.report.basis;
        if self.in_log > 0 {
            basis.push(format!(
                "{} by their records in the log, which the recovery has applied.",
                count_of(self.in_log)
            ));
        }
        if self.before_log > 0 {
            basis.push(format!(
                "{} by the checkpoint, which lies behind them: the log that had them was used again \
                 (engine.circular_logging), so that pages which only they have changed are not \
                 compared.",
                count_of(self.before_log)
            ));
        }
        if self.compared_pages > 0 {
            basis.push(format!(
                "{} that the log has changes of were read back and compared with it.",
                counted(self.compared_pages, "page")
            ));
        }
        if self.checked_pages > 0 && !self.report.damaged {
            basis.push(format!(
                "{} were read, and every tree is whole. An older state of a page that the log has no changes of any \
                 more, and that fits its tree, is not noticed.",
                counted(self.checked_pages, "page")
            ));
        }
        self.report
    }
}
