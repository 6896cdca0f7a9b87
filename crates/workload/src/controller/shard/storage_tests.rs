//! The stages of restore, backup and soft recovery.

use super::{REPORTED_BYTES, Shard};
use crate::controller::host::{DatabaseHost, LoadedDatabase, ReopenedTo, ReplayReport};
use crate::controller::link::{ShardMessage, Stage};
use crate::controller::shard_progress::CountingLogReads;
use crate::failure::Failure;
use futures_util::future::join_all;
use runtime::IoObserver;
use std::rc::Rc;

/// How many log files the sessions are to write.
pub(super) struct LogTarget {
    /// The log file of each database when it was opened.
    first_generations: Vec<u32>,
    /// Log files wanted of each.
    files: u32,
    file_bytes: u64,
    /// What was reported of them.
    reported_bytes: u64,
}

/// Lets what was under way in a database that is left to itself come to its end.
const LEFT_POLL_NS: u64 = 5_000_000;
/// So many looks in a row must find no request outstanding.
const LEFT_QUIET_POLLS: u32 = 4;

impl<H: DatabaseHost> Shard<H> {
    /// Puts copies in the places of all databases, at the same time.
    pub(super) async fn restore(&self) -> Result<(), Failure> {
        let count = self.databases().len();
        let parts = self.parts(vec![self.plan.database_bytes; count]);
        let databases = self.databases().iter().enumerate();
        let restores = databases.map(|(part, &database)| {
            let restore = self.host.restore(database, parts.progress(part));
            async move { (part, database, restore.await) }
        });
        let mut result = Ok(());
        for (part, database, restored) in join_all(restores).await {
            match restored {
                Ok(report) => {
                    parts.finish(part);
                    self.follower
                        .report(ShardMessage::Restored { database, report });
                }
                Err(failure) => result = result.and(Err(failure)),
            }
        }
        result
    }

    /// Reads all databases to their ends, at the same time.
    pub(super) async fn back_up(&self) -> Result<(), Failure> {
        let (Some(plan), Some(load)) = (&self.plan.tests.backup, self.load.borrow().clone()) else {
            return Ok(());
        };
        if !plan.under_load {
            load.stop().await;
        }
        let sizes_bytes = load.databases().iter();
        let sizes_bytes = sizes_bytes.map(|one| one.statistics().size_bytes);
        let parts = self.parts(sizes_bytes.collect());
        let databases = self.databases().iter().zip(load.databases()).enumerate();
        let backups = databases.map(|(part, (&database, open))| {
            let progress = parts.progress(part);
            let backup = self.host.back_up(database, open, progress);
            async move { (database, backup.await) }
        });
        for (database, backup) in join_all(backups).await {
            match backup {
                Ok(report) => self
                    .follower
                    .report(ShardMessage::BackedUp { database, report }),
                Err(failure) => self.note_or_fail(database, failure)?,
            }
        }
        load.stop().await;
        for (&database, open) in self.databases().iter().zip(load.databases()) {
            if let Err(failure) = self.host.complete_copy(database, open).await {
                self.note_or_fail(database, failure)?;
            }
        }
        Ok(())
    }

    /// Reads the copies back, compares and recovers them, one after the other.
    pub(super) async fn check_copies(&self) -> Result<(), Failure> {
        let count = self.databases().len();
        let parts = self.parts(vec![self.plan.database_bytes; count]);
        let mut failures = Vec::new();
        for (part, &database) in self.databases().iter().enumerate() {
            let report = self.host.check_copy(database, parts.progress(part)).await;
            if let Some(mut report) = report {
                let found = std::mem::take(&mut report.failures);
                failures.extend(found.into_iter().map(|failure| (database, failure)));
                self.follower
                    .report(ShardMessage::CopyChecked { database, report });
            }
            parts.finish(part);
        }
        self.note_or_fail_all(failures)
    }

    /// Opens the databases with their checkpoint held, and begins a load that writes their log.
    pub(super) async fn write_log(&self) -> Result<(), Failure> {
        let Some(plan) = &self.plan.tests.recovery else {
            return Ok(());
        };
        let opened = self.reopen(ReopenedTo::WriteLog, |database| self.observer(database));
        let opened = opened.await?.into_iter().map(|(_, open)| open).collect();
        self.load(opened);
        let load = self.load.borrow().clone();
        let databases = load.iter().flat_map(|load| load.databases());
        let generations = databases.map(|one| one.statistics().log_generation);
        let target = LogTarget {
            first_generations: generations.collect(),
            files: plan.log_files,
            file_bytes: plan.log_file_bytes,
            reported_bytes: 0,
        };
        let count = target.first_generations.len() as u64;
        let total_bytes = count * u64::from(target.files) * target.file_bytes;
        *self.log_target.borrow_mut() = Some(target);
        self.follower.report(ShardMessage::ToHandle(total_bytes));
        self.start();
        Ok(())
    }

    /// Reports how much of the log has been written; that it is done when there is enough of every
    /// database.
    pub(super) fn follow_log(&self) {
        let mut target = self.log_target.borrow_mut();
        let load = self.load.borrow();
        let (Some(wanted), Some(load)) = (target.as_mut(), load.as_ref()) else {
            return;
        };
        let written = |(first, open): (&u32, &H::Database)| {
            let written = open.statistics().log_generation.saturating_sub(*first);
            written.min(wanted.files)
        };
        let pairs = wanted.first_generations.iter().zip(load.databases());
        let (least, files) = pairs
            .map(written)
            .fold((wanted.files, 0), |(least, sum), one| {
                (least.min(one), sum + u64::from(one))
            });
        let done_bytes = files * wanted.file_bytes;
        if done_bytes >= wanted.reported_bytes + REPORTED_BYTES {
            wanted.reported_bytes = done_bytes;
            self.follower.report(ShardMessage::Progress(done_bytes));
        }
        if least >= wanted.files {
            *target = None;
            self.follower.report(ShardMessage::Done(Stage::WriteLog));
        }
    }

    /// Leaves the databases without closing them, and waits until nothing of them is under way.
    pub(super) async fn leave(&self) -> Result<(), Failure> {
        self.log_target.borrow_mut().take();
        let Some(load) = self.load.borrow_mut().take() else {
            return Ok(());
        };
        load.stop().await;
        let failure = load.failure();
        // Whoever lets them go last leaves them as they are; a pacer may live a moment longer.
        let left = Rc::downgrade(&load);
        drop(load);
        while left.strong_count() > 0 {
            self.handle.sleep_ns(LEFT_POLL_NS).await;
        }
        self.wait_for_left_requests().await;
        failure.map_or(Ok(()), Err)
    }

    /// Recovers all databases at the same time.
    pub(super) async fn replay(&self) -> Result<(), Failure> {
        let Some(plan) = &self.plan.tests.recovery else {
            return Ok(());
        };
        let bytes = u64::from(plan.log_files) * plan.log_file_bytes;
        let count = self.databases().len();
        self.follower
            .report(ShardMessage::ToHandle(bytes * count as u64));
        let parts = self.parts(vec![bytes; count]);
        let reopened = self.reopen(ReopenedTo::Replay, |database| {
            let part = self.databases().iter().position(|one| *one == database);
            let progress = parts.progress(part.unwrap_or_default());
            Rc::new(CountingLogReads::new(self.observer(database), progress))
        });
        let mut opened = Vec::new();
        let reopened = reopened.await?;
        for (&database, (report, open)) in self.databases().iter().zip(reopened) {
            self.follower
                .report(ShardMessage::Replayed { database, report });
            opened.push(open);
        }
        self.load(opened);
        Ok(())
    }

    /// Opens all databases at the same time. Gives what was replayed and the open database, in their
    /// order.
    async fn reopen(
        &self,
        to: ReopenedTo,
        observer: impl Fn(usize) -> Rc<dyn IoObserver>,
    ) -> Result<Vec<(ReplayReport, H::Database)>, Failure> {
        let opened = self.databases().iter().map(|&database| {
            let recorder = Rc::clone(&self.recorder);
            self.host
                .reopen(database, to, observer(database), recorder, self.doing())
        });
        let mut all = Vec::new();
        for opened in join_all(opened).await {
            let (open, report) = opened?;
            self.note(open.note);
            all.push((report, open.database));
        }
        Ok(all)
    }

    /// Waits until no request of databases that were left is under way any more.
    async fn wait_for_left_requests(&self) {
        let mut quiet = 0;
        while quiet < LEFT_QUIET_POLLS {
            self.handle.sleep_ns(LEFT_POLL_NS).await;
            quiet = match self.handle.outstanding_requests(0).is_empty() {
                true => quiet + 1,
                false => 0,
            };
        }
    }
}
