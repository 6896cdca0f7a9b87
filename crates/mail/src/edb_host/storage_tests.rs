//! Backup and soft recovery of the databases of a shard.

use super::{EdbHost, engine_settings, file_name};
use crate::edb_store::EdbStore;
use crate::session::MailDatabase;
use crate::state_file::{Condition, DatabaseState};
use config::ByteSize;
use edb::check::{CheckError, check};
use edb::database::{BackupReads, DatabaseCopy};
use edb::{Database, EngineError, EngineSettings, RecoveryReport};
use measure::result::IntegrityClass;
use measure::sample::Recorder;
use measure::units::{count, end_sentence};
use runtime::trace::NoObserver;
use runtime::{Directory, IoError, IoObserver};
use std::cell::RefCell;
use std::rc::Rc;
use workload::controller::host::{
    BackupReport, CopyReport, OnStep, OpenedDatabase, Progress, ReopenedTo, ReplayReport,
};
use workload::failure::{Failure, FailureKind};

/// What is being done, for messages.
const BACKING_UP: &str = "backing up the database";
/// The same of its copy.
const CHECKING: &str = "checking the copy";

/// A database as sessions use it.
type Open<D> = MailDatabase<EdbStore<D>>;

impl<D: Directory> EdbHost<D> {
    /// As [`workload::controller::host::DatabaseHost::back_up`].
    pub(super) async fn read_all(
        &self,
        database: usize,
        open: &Open<D>,
        progress: Progress,
    ) -> Result<BackupReport, Failure> {
        let engine = open.store().database();
        let settings = &self.plan.profile.backup;
        let reads = BackupReads {
            pages: settings.pages_per_read,
            outstanding: settings.reads_outstanding,
        };
        let page_bytes = self.plan.profile.engine.page_size.bytes();
        let mut copy = match self.copies.get(&database) {
            Some(places) => {
                let name = file_name(database);
                let to = (&places.data, &places.log);
                let copy = DatabaseCopy::create(to, &name, page_bytes as usize);
                Some(copy.await.map_err(|error| failed(&error))?)
            }
            None => None,
        };
        let pass = engine.back_up(reads, copy.as_mut(), |bytes| progress(bytes));
        let pass = pass.await.map_err(|error| failed(&error))?;
        if let Some(copy) = copy.filter(|_| !pass.stopped) {
            self.copied.borrow_mut().insert(database, copy);
        }
        Ok(BackupReport {
            pages: pass.pages,
            bytes: pass.bytes,
            size_bytes: engine.page_bytes(),
            seconds: pass.seconds,
            bad_pages: pass.bad_pages,
        })
    }

    /// As [`workload::controller::host::DatabaseHost::complete_copy`].
    pub(super) async fn complete(&self, database: usize, open: &Open<D>) -> Result<(), Failure> {
        let Some(mut copy) = self.copied.borrow_mut().remove(&database) else {
            return Ok(());
        };
        let completed = open.store().database().complete_copy(&mut copy).await;
        completed.map_err(|error| Failure::of_engine(&error, &copy.name(), BACKING_UP))?;
        let active = &self.place(database).data;
        self.mark_copy(database, active, Condition::Copying).await?;
        self.copied.borrow_mut().insert(database, copy);
        Ok(())
    }

    /// Gives a copy the state that is in a directory, in this condition.
    async fn mark_copy(
        &self,
        database: usize,
        from: &D,
        condition: Condition,
    ) -> Result<(), Failure> {
        let state = DatabaseState::read(from).await?;
        if let (Some(state), Some(places)) = (state, self.copies.get(&database)) {
            let state = DatabaseState { condition, ..state };
            state.write(&places.data).await?;
        }
        Ok(())
    }

    /// Says that a copy can be run on and restored.
    async fn release_copy(&self, database: usize) -> Result<(), Failure> {
        match self.copies.get(&database) {
            Some(places) => {
                self.mark_copy(database, &places.data, Condition::InUse)
                    .await
            }
            None => Ok(()),
        }
    }

    /// As [`workload::controller::host::DatabaseHost::check_copy`]. A copy in which nothing wrong
    /// was found can be run on and restored from then on.
    pub(super) async fn check_one_copy(
        &self,
        database: usize,
        progress: Progress,
    ) -> Option<CopyReport> {
        let copy = self.copied.borrow_mut().remove(&database)?;
        let mut report = CopyReport {
            path: copy.name(),
            log_files: copy.log_files(),
            ..CopyReport::default()
        };
        match copy.check(&self.handle, |bytes| progress(bytes)).await {
            Err(error) => {
                report.problem = end_sentence(format!("The copy cannot be read: {error}"));
                report.failures.push(Failure::of_io(&error, CHECKING));
                return Some(report);
            }
            Ok(found) => {
                report.pages = found.pages;
                report.bytes = found.bytes;
                report.seconds = found.seconds;
                report.wrong_pages = found.wrong_pages;
                report.different_pages = found.different_pages;
                if found.stopped {
                    report.problem = "The check of the copy was stopped before its end.".to_owned();
                    return Some(report);
                }
            }
        }
        drop(copy);
        if let Err(error) = self.restore(database, &mut report).await {
            report.problem = end_sentence(format!("The copy cannot be recovered: {error}"));
            let failure = Failure::of_engine(&error, &report.path, CHECKING);
            report.failures.push(failure);
        }
        note_damage(&mut report);
        let is_good = report.problem.is_empty()
            && report.wrong_pages + report.different_pages + report.findings == 0;
        if is_good && let Err(failure) = self.release_copy(database).await {
            report.problem =
                end_sentence(format!("The copy cannot be marked as complete: {failure}"));
            report.failures.push(failure);
        }
        Some(report)
    }

    /// Recovers a copy from its log, closes it and walks all of its trees.
    async fn restore(&self, database: usize, report: &mut CopyReport) -> Result<(), EngineError> {
        let Some(places) = self.copies.get(&database) else {
            return Ok(());
        };
        let name = file_name(database);
        let mut settings = engine_settings(&self.plan.profile);
        settings.maintenance.enabled = false;
        settings.log_replication_readers = 0;
        let opened = Database::open(
            &self.handle,
            &places.data,
            &name,
            &places.log,
            settings,
            Rc::new(NoObserver),
        );
        let (restored, recovery) = opened.await?;
        report.recovered_s = Some(recovery.seconds);
        restored.close().await?;
        drop(restored);
        let file = places.data.open(&name).await?;
        match check(&file, |_, _| {}).await {
            Ok(found) => report.findings = found.findings.len() as u64,
            Err(error) => {
                report.problem =
                    end_sentence(format!("The restored copy cannot be checked: {error}"));
                report.failures.push(match &error {
                    CheckError::Io(error) => Failure::of_io(error, CHECKING),
                    _ => {
                        let (kind, path) = (FailureKind::Integrity, report.path.as_str());
                        Failure::new(kind, path, CHECKING, error.to_string())
                    }
                });
            }
        }
        Ok(())
    }

    /// As [`workload::controller::host::DatabaseHost::reopen`].
    pub(super) async fn reopen_to(
        &self,
        database: usize,
        to: ReopenedTo,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<(OpenedDatabase<Open<D>>, ReplayReport), Failure> {
        // What was known of its pages when it was closed is not true any more.
        self.closed.borrow_mut().remove(&database);
        let settings = self.settings_of_recovery(to);
        let opened = self.open_with(database, settings, observer, recorder, doing);
        let (mut opened, recovery) = opened.await?;
        if to == ReopenedTo::WriteLog {
            opened.database.store().database().hold_checkpoint(true);
            return Ok((opened, ReplayReport::default()));
        }
        if recovery.damaged_header.is_none() {
            // That it had not been closed was meant to be.
            opened.note = String::new();
        }
        Ok((opened, self.replay_report(&recovery)))
    }

    fn settings_of_recovery(&self, to: ReopenedTo) -> EngineSettings {
        let profile = &self.plan.profile;
        let mut settings = engine_settings(profile);
        settings.maintenance.enabled &= profile.recovery.background_maintenance;
        if to == ReopenedTo::WriteLog {
            // What recovery has to repeat must not be written back because of its age.
            let files = 2 * u64::from(profile.recovery.log_files) + 2;
            let bytes = files * settings.engine.log_file_size.bytes();
            let depth = &mut settings.engine.checkpoint_depth;
            *depth = ByteSize(depth.bytes().max(bytes));
        }
        settings
    }

    fn replay_report(&self, recovery: &RecoveryReport) -> ReplayReport {
        let log_files = u64::from(recovery.generations);
        ReplayReport {
            log_files,
            bytes: log_files * self.plan.profile.engine.log_file_size.bytes(),
            records: recovery.records,
            redone_changes: recovery.redone,
            undone_transactions: recovery.undone_transactions,
            seconds: recovery.seconds,
        }
    }
}

/// What is wrong with the contents of a copy is an error of the storage that it was written to.
fn note_damage(report: &mut CopyReport) {
    let pages = |number: u64, what: &str| format!("{} {what}", count(number, "page"));
    let found = [
        (
            report.wrong_pages,
            IntegrityClass::Checksum,
            pages(report.wrong_pages, "with a wrong checksum"),
        ),
        (
            report.different_pages,
            IntegrityClass::Contents,
            pages(
                report.different_pages,
                "with other contents than were written",
            ),
        ),
        (
            report.findings,
            IntegrityClass::Contents,
            format!("{} of its check", count(report.findings, "finding")),
        ),
    ];
    for (number, class, error) in found {
        if number > 0 {
            let failure = Failure::of_data(class, &report.path, CHECKING, &error);
            report.failures.push(failure);
        }
    }
}

fn failed(error: &IoError) -> Failure {
    Failure::of_io(error, BACKING_UP)
}
