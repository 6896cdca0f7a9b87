//! What decides the tests that have no measured phase, backup and soft recovery, and passive copies.

use crate::display::number::{count, counted};
use crate::result::{
    BackedUpDatabase, BackupCopy, Check, CheckId, RecoveredDatabase, ReplicatedDatabase, RunResult,
};

/// The checks of the backup, of the soft recovery and of the passive copies of a run; none of a run without
/// them.
pub fn checks_of_tests(result: &RunResult) -> Vec<Check> {
    let backup = result.backup.iter().flat_map(|backup| &backup.databases);
    let copies = backup
        .clone()
        .filter_map(|one| Some((one, one.copy.as_ref()?)));
    let recovery = result.recovery.iter().flat_map(|recovery| {
        let databases = recovery.databases.iter();
        databases.map(|one| replayed(one, recovery.wanted_log_files))
    });
    let replication = result.replication.iter();
    let replication = replication.flat_map(|replication| &replication.databases);
    backup
        .clone()
        .map(read)
        .chain(copies.map(|(one, copy)| copied(one, copy)))
        .chain(recovery)
        .chain(replication.map(followed))
        .collect()
}

fn read(database: &BackedUpDatabase) -> Check {
    let rule = format!(
        "The backup reads {} of {} in percent of the size that the database has at its end. \
         Required: 100 %.",
        counted(database.pages, "page"),
        database.name
    );
    let value = Some(database.read_percent().min(100.0));
    Check::of(CheckId::BackupRead, &database.name, 100.0, value, rule)
}

fn copied(database: &BackedUpDatabase, copy: &BackupCopy) -> Check {
    let why = match copy.problem.as_str() {
        "" => String::new(),
        problem => format!(" {problem}"),
    };
    let rule = format!(
        "The copy is read back, compared with what was read, recovered from its {} and checked. \
         Pages with a wrong checksum: {}; different pages: {}; findings of the check: {}.{why} \
         Allowed: 0.",
        counted(copy.log_files, "log file"),
        count(copy.wrong_pages),
        count(copy.different_pages),
        count(copy.findings),
    );
    let value = Some(copy.errors() as f64);
    Check::of(CheckId::BackupCopyErrors, &database.name, 0.0, value, rule)
}

fn followed(database: &ReplicatedDatabase) -> Check {
    let why = match database.problem.as_str() {
        "" => String::new(),
        problem => format!(" {problem}"),
    };
    let position = match database.same_log_position {
        Some(true) => " The log of both ends at the same position.",
        Some(false) => " The log of the copy ends at another position.",
        None => "",
    };
    let rule = format!(
        "The passive copy is brought to the end of the log and compared with the database. Pages compared: {}; \
         pages of the copy with a wrong checksum: {}; different pages: {}.{position}{why} Allowed: 0.",
        database.compared_pages.map_or("none".to_owned(), count),
        count(database.wrong_pages),
        count(database.different_pages),
    );
    let value = database.errors().map(|errors| errors as f64);
    Check::of(CheckId::PassiveCopyErrors, &database.name, 0.0, value, rule)
}

fn replayed(database: &RecoveredDatabase, wanted: u64) -> Check {
    let rule = format!(
        "Log files that the recovery of {} replays to its end. Required: {}.",
        database.name,
        count(wanted)
    );
    let value = Some(database.log_files as f64);
    Check::of(
        CheckId::ReplayedLogFiles,
        &database.name,
        wanted as f64,
        value,
        rule,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::result::{BackupResult, RecoveryResult, ReplicationResult};

    fn outcomes(result: &RunResult) -> Vec<(CheckId, Option<bool>)> {
        let checks = checks_of_tests(result);
        checks
            .iter()
            .map(|check| (check.id, check.passed))
            .collect()
    }

    #[test]
    fn a_backup_reads_all_and_its_copy_has_no_error() {
        let mut database = BackedUpDatabase {
            size_bytes: 100,
            bytes: 100,
            copy: Some(BackupCopy::default()),
            ..BackedUpDatabase::default()
        };
        let of = |database: &BackedUpDatabase| {
            outcomes(&RunResult {
                backup: Some(BackupResult {
                    databases: vec![database.clone()],
                    ..BackupResult::default()
                }),
                ..RunResult::default()
            })
        };
        let (read, copied) = (CheckId::BackupRead, CheckId::BackupCopyErrors);
        assert_eq!(of(&database), [(read, Some(true)), (copied, Some(true))]);
        database.bytes = 99;
        let copy = database.copy.as_mut().unwrap();
        copy.problem = "It could not be recovered.".to_owned();
        assert_eq!(of(&database), [(read, Some(false)), (copied, Some(false))]);
    }

    #[test]
    fn a_passive_copy_that_did_not_follow_or_differs_fails() {
        let of = |database: ReplicatedDatabase| {
            outcomes(&RunResult {
                replication: Some(ReplicationResult {
                    databases: vec![database],
                    ..ReplicationResult::default()
                }),
                ..RunResult::default()
            })
        };
        let id = CheckId::PassiveCopyErrors;
        let mut database = ReplicatedDatabase {
            compared_pages: Some(8),
            same_log_position: Some(true),
            ..ReplicatedDatabase::default()
        };
        assert_eq!(of(database.clone()), [(id, Some(true))]);
        database.different_pages = 1;
        assert_eq!(of(database.clone()), [(id, Some(false))]);
        database = ReplicatedDatabase::default();
        assert_eq!(of(database.clone()), [(id, None)]);
        database.problem = "Replication is suspended.".to_owned();
        assert_eq!(of(database), [(id, Some(false))]);
    }

    #[test]
    fn a_recovery_replays_as_many_log_files_as_were_wanted() {
        let of = |log_files| {
            outcomes(&RunResult {
                recovery: Some(RecoveryResult {
                    wanted_log_files: 500,
                    databases: vec![RecoveredDatabase {
                        log_files,
                        ..RecoveredDatabase::default()
                    }],
                    ..RecoveryResult::default()
                }),
                ..RunResult::default()
            })
        };
        assert_eq!(of(500), [(CheckId::ReplayedLogFiles, Some(true))]);
        assert_eq!(of(499), [(CheckId::ReplayedLogFiles, Some(false))]);
        assert_eq!(outcomes(&RunResult::default()), []);
    }
}
