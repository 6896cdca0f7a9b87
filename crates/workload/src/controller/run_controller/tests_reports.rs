//! What restore, backup, soft recovery and passive copies report of single databases.

use super::RunController;
use crate::controller::host::{
    BackupReport, ComparisonReport, CopyReport, ReplayReport, RestoreReport, SeedReport,
};
use crate::controller::listener::RunListener;
use measure::result::{
    BackedUpDatabase, BackupCopy, RecoveredDatabase, ReplicatedDatabase, RestoredDatabase,
};

impl RunController {
    pub(super) fn name_of(&self, database: usize) -> String {
        let name = self.plan.layout.databases.get(database);
        name.cloned().unwrap_or_default()
    }

    pub(super) fn enter_restore(
        &mut self,
        database: usize,
        report: &RestoreReport,
        listener: &mut dyn RunListener,
    ) {
        let name = self.name_of(database);
        let Some(from) = self.plan.restored_from.clone() else {
            return;
        };
        let restore = self.account.restore_mut(&from);
        // All of them begin at the same time.
        restore.duration_s = restore.duration_s.max(report.seconds);
        restore.databases.push(RestoredDatabase {
            name,
            pages: report.pages,
            bytes: report.bytes,
            log_files: report.log_files,
            duration_s: report.seconds,
        });
        restore.databases.sort_by(|a, b| a.name.cmp(&b.name));
        if restore.databases.len() == self.plan.databases() {
            let text = restore.to_string();
            listener.note(&text);
            self.account.note(format!("{text}."));
        }
    }

    pub(super) fn enter_backup(&mut self, database: usize, report: &BackupReport) {
        let name = self.name_of(database);
        let Some(plan) = &self.plan.tests.backup else {
            return;
        };
        let backup = self.account.backup_mut(plan);
        // All of them begin at the same time.
        backup.duration_s = backup.duration_s.max(report.seconds);
        backup.databases.push(BackedUpDatabase {
            name,
            size_bytes: report.size_bytes,
            pages: report.pages,
            bytes: report.bytes,
            duration_s: report.seconds,
            errors: report.bad_pages,
            copy: None,
        });
        backup.databases.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub(super) fn enter_copy(&mut self, database: usize, report: CopyReport) {
        let name = self.name_of(database);
        let Some(plan) = &self.plan.tests.backup else {
            return;
        };
        let databases = &mut self.account.backup_mut(plan).databases;
        let Some(entry) = databases.iter_mut().find(|one| one.name == name) else {
            return;
        };
        entry.copy = Some(BackupCopy {
            path: report.path,
            log_files: report.log_files,
            pages: report.pages,
            bytes: report.bytes,
            duration_s: report.seconds,
            wrong_pages: report.wrong_pages,
            different_pages: report.different_pages,
            recovered_s: report.recovered_s,
            findings: report.findings,
            problem: report.problem,
        });
    }

    pub(super) fn enter_seeded(&mut self, database: usize, report: SeedReport) {
        let name = self.name_of(database);
        let Some(plan) = &self.plan.tests.replication else {
            return;
        };
        let replication = self.account.replication_mut(plan);
        // All of them begin at the same time.
        replication.seeding_s = replication.seeding_s.max(report.seconds);
        replication.databases.push(ReplicatedDatabase {
            name,
            path: report.path,
            seeded_bytes: report.bytes,
            seeding_s: report.seconds,
            problem: report.problem,
            ..ReplicatedDatabase::default()
        });
        replication.databases.sort_by(|a, b| a.name.cmp(&b.name));
    }

    pub(super) fn enter_compared(&mut self, database: usize, report: ComparisonReport) {
        let name = self.name_of(database);
        let Some(plan) = &self.plan.tests.replication else {
            return;
        };
        let databases = &mut self.account.replication_mut(plan).databases;
        let Some(entry) = databases.iter_mut().find(|one| one.name == name) else {
            return;
        };
        entry.shipped_log_files = report.shipped_log_files;
        entry.replayed_log_files = report.replayed_log_files;
        (entry.copy_queue, entry.copy_queue_max) = report.copy_queue;
        (entry.replay_queue, entry.replay_queue_max) = report.replay_queue;
        entry.caught_up_s = report.caught_up_s;
        entry.compared_pages = report.compared_pages;
        entry.wrong_pages = report.wrong_pages;
        entry.different_pages = report.different_pages;
        entry.same_log_position = report.same_log_position;
        entry.problem = report.problem;
    }

    pub(super) fn enter_replay(&mut self, database: usize, report: &ReplayReport) {
        let name = self.name_of(database);
        let Some(plan) = &self.plan.tests.recovery else {
            return;
        };
        let recovery = self.account.recovery_mut(plan);
        recovery.duration_s = recovery.duration_s.max(report.seconds);
        recovery.databases.push(RecoveredDatabase {
            name,
            log_files: report.log_files,
            bytes: report.bytes,
            records: report.records,
            redone_changes: report.redone_changes,
            undone_transactions: report.undone_transactions,
            duration_s: report.seconds,
        });
        recovery.databases.sort_by(|a, b| a.name.cmp(&b.name));
    }
}
