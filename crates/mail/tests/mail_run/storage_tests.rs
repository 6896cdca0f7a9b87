//! Backup and soft recovery of whole runs, and the effect of each of their settings.

use super::support::{carry_out, profile, run, run_with, slow_disk};
use config::TimeSpan;
use mail::plan::MailPlan;
use mail::profile::{MailProfile, TestSelection};
use measure::result::{CheckId, ErrorKind, RunResult, TestKind, Verdict};
use runtime::simulated::{Fault, FaultEffect};
use runtime::{Directory, IoFailure, IoOperation, Runtime, SimulatedDisk};

fn profile_of(kind: TestSelection) -> MailProfile {
    let mut profile = profile();
    profile.test.kind = kind;
    profile.recovery.log_files = 12;
    profile.engine.log_file_size = config::ByteSize::kib(256);
    profile.engine.checkpoint_depth = config::ByteSize::mib(1);
    profile.run.duration = TimeSpan::seconds(20);
    profile.run.sample_interval = Some(TimeSpan::seconds(2));
    profile.run.steady_state.required = false;
    profile
}

/// Runs and copies the databases to directories of the same disk.
fn run_copying(profile: &MailProfile, faults: Vec<Fault>) -> (Runtime, SimulatedDisk, RunResult) {
    let runtime = Runtime::virtual_clock();
    let disk = SimulatedDisk::new(&runtime.handle(), slow_disk());
    faults.into_iter().for_each(|fault| disk.set_fault(fault));
    let mut plan = MailPlan::new(profile, 2);
    let backup = plan.run.tests.backup.as_mut().unwrap();
    "copies".clone_into(&mut backup.copied_to);
    let result = carry_out(&runtime, &disk, plan).result;
    (runtime, disk, result)
}

fn passed(result: &RunResult) {
    assert_eq!(result.errors, [], "{:#?}", result.errors);
    assert_eq!(result.verdict, Verdict::Pass, "{}", result.verdict_reason);
}

fn phases(result: &RunResult) -> Vec<&str> {
    let phases = result.phases.iter();
    phases.map(|phase| phase.name.as_str()).collect()
}

#[test]
fn a_backup_reads_every_page_without_a_measured_phase() {
    let result = run(&profile_of(TestSelection::Backup)).result;
    passed(&result);
    assert_eq!(result.tests, [TestKind::Backup]);
    assert_eq!(
        phases(&result),
        ["build", "open", "backup", "close", "checksum"]
    );
    let backup = result.backup.as_ref().unwrap();
    assert!(!backup.under_load && backup.copied_to.is_empty());
    assert_eq!(backup.databases.len(), 3);
    for database in &backup.databases {
        assert_eq!(database.bytes, database.size_bytes);
        assert_eq!(database.bytes, database.pages * 8_192);
        assert!(database.bytes_per_second().unwrap() > 0.0 && database.copy.is_none());
    }
    let longest = backup.databases.iter().map(|one| one.duration_s);
    assert_eq!(Some(backup.duration_s), longest.reduce(f64::max));
    let read = |id| result.checks.iter().filter(|check| check.id == id).count();
    assert_eq!(read(CheckId::BackupRead), 3);
    assert_eq!(
        read(CheckId::DatabaseReadAverage),
        0,
        "no latency is judged"
    );
}

#[test]
fn reads_of_a_backup_are_as_large_and_as_many_as_set() {
    let took = |pages_per_read, reads_outstanding| {
        let mut profile = profile_of(TestSelection::Backup);
        profile.mail.databases = 1;
        profile.backup.pages_per_read = pages_per_read;
        profile.backup.reads_outstanding = reads_outstanding;
        let result = run(&profile).result;
        passed(&result);
        result.backup.unwrap().duration_s
    };
    // Each request takes some milliseconds whatever its size.
    let base = took(4, 1);
    assert!(took(32, 1) < base / 4.0, "larger reads are fewer");
    assert!(took(4, 4) < base / 2.0, "more of them are under way");
}

#[test]
fn copies_made_under_load_are_whole() {
    let mut profile = profile_of(TestSelection::Backup);
    profile.backup.under_load = true;
    // Slowly enough that the load changes pages behind and before the backup, and fills log files.
    profile.backup.pages_per_read = 2;
    profile.backup.reads_outstanding = 1;
    let (runtime, disk, result) = run_copying(&profile, Vec::new());
    passed(&result);
    assert!(
        phases(&result).contains(&"warm-up"),
        "{:?}",
        phases(&result)
    );
    assert_eq!(phases(&result).last(), Some(&"copy-check"));
    let backup = result.backup.as_ref().unwrap();
    assert!(backup.under_load);
    for database in &backup.databases {
        let copy = database.copy.as_ref().unwrap();
        assert_eq!((copy.errors(), copy.bytes), (0, database.bytes), "{copy:?}");
        assert!(copy.log_files > 2 && copy.recovered_s.is_some(), "{copy:?}");
    }
    // The restored copies have as many rows as databases that were closed.
    runtime.block_on(async move {
        let rows = |directory: &'static str, number: usize| {
            let directory = disk.directory(&format!("{directory}{number}"));
            async move {
                let file = directory.open(&format!("mail-{:03}.edb", number + 1)).await;
                let report = edb::check::check(&file.unwrap(), |_, _| {}).await.unwrap();
                assert_eq!(report.findings, []);
                report.rows
            }
        };
        for number in 0..3 {
            let (copied, own) = (rows("copy", number).await, rows("data", number).await);
            assert!(copied > 0 && copied == own, "{copied} of {own} rows");
        }
    });
}

#[test]
fn a_copy_that_the_storage_damages_fails_the_run() {
    let mut profile = profile_of(TestSelection::Backup);
    profile.mail.databases = 1;
    let lost = Fault::once(IoOperation::Write, 20, FaultEffect::LoseWrite);
    let fault = lost.on_file("copy0/mail-001.edb");
    let (_, _, result) = run_copying(&profile, vec![fault]);
    let copy = result.backup.as_ref().unwrap().databases[0].copy.as_ref();
    assert!(copy.unwrap().different_pages > 0, "{copy:?}");
    assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
    assert_eq!(result.errors[0].kind, ErrorKind::Integrity);
    let failed: Vec<CheckId> = result.failed_checks().map(|check| check.id).collect();
    assert_eq!(failed, [CheckId::Errors, CheckId::BackupCopyErrors]);
}

/// The storage of the copies has no room for the log file with which a copy is recovered.
#[test]
fn a_copy_that_has_no_room_is_no_failure_of_the_storage_under_test() {
    let mut profile = profile_of(TestSelection::Backup);
    profile.mail.databases = 1;
    let full = FaultEffect::Fail(IoFailure::OutOfSpace);
    let fault = Fault::once(IoOperation::Resize, 1, full).on_file("copy-log0/E00tmp.log");
    let (_, _, result) = run_copying(&profile, vec![fault]);
    assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
    assert_eq!(result.errors[0].kind, ErrorKind::OutOfSpace);
    assert!(
        result.errors[0].file.contains("copy-log0"),
        "{:?}",
        result.errors
    );
    let copy = result.backup.as_ref().unwrap().databases[0].copy.as_ref();
    let problem = &copy.unwrap().problem;
    assert!(
        problem.contains("no space is left") && !problem.ends_with(".."),
        "{problem}"
    );
}

#[test]
fn recovery_replays_as_many_log_files_as_set() {
    for log_files in [6, 20] {
        let mut profile = profile_of(TestSelection::Recovery);
        profile.recovery.log_files = log_files;
        let result = run(&profile).result;
        passed(&result);
        assert_eq!(result.tests, [TestKind::Recovery]);
        assert_eq!(
            phases(&result),
            ["build", "log-writing", "recovery", "close", "checksum"]
        );
        let recovery = result.recovery.as_ref().unwrap();
        assert_eq!(recovery.databases.len(), 3);
        for database in &recovery.databases {
            let replayed = database.log_files;
            assert!(
                (u64::from(log_files)..2 * u64::from(log_files) + 8).contains(&replayed),
                "{database:?}"
            );
            assert_eq!(database.bytes, replayed * 256 * 1024);
            assert!(
                database.records > 0 && database.redone_changes > 0,
                "{database:?}"
            );
            assert!(database.s_per_log_file().unwrap() > 0.0);
        }
        assert!(recovery.written_s > 0.0);
    }
}

#[test]
fn background_maintenance_is_off_in_recovery_unless_set() {
    let reads = |background_maintenance| {
        let mut profile = profile_of(TestSelection::Recovery);
        // Long enough for the scan to show in that time, of which a few log files take little.
        profile.recovery.log_files = 60;
        profile.recovery.background_maintenance = background_maintenance;
        profile.maintenance.pause = TimeSpan::millis(1);
        let result = run(&profile).result;
        passed(&result);
        result.recovery.unwrap().written_s
    };
    let (without, with) = (reads(false), reads(true));
    assert!(
        with > without,
        "the scan takes part of the disk: {without} s, {with} s"
    );
}

#[test]
fn all_tests_follow_each_other_on_the_same_databases() {
    let mut profile = profile_of(TestSelection::All);
    profile.service_levels.lenient_above_s = 10.0;
    let (_, _, result) = run_copying(&profile, Vec::new());
    passed(&result);
    let tests = [TestKind::Stress, TestKind::Backup, TestKind::Recovery];
    assert_eq!(result.tests, tests, "20 s are more than 10 s");
    let expected = [
        "build",
        "open",
        "warm-up",
        "measured",
        "backup",
        "close",
        "log-writing",
        "recovery",
        "close",
        "checksum",
        "copy-check",
    ];
    assert_eq!(phases(&result), expected);
    assert!((19.9..20.1).contains(&result.duration_s));
    for id in [
        CheckId::DatabaseReadAverage,
        CheckId::BackupRead,
        CheckId::BackupCopyErrors,
        CheckId::ReplayedLogFiles,
    ] {
        assert!(result.checks.iter().any(|check| check.id == id), "{id:?}");
    }
}

#[test]
fn an_error_in_the_backup_is_an_error_of_the_run() {
    let mut profile = profile_of(TestSelection::Backup);
    profile.mail.databases = 1;
    let result = run_with(&profile, |disk| {
        let failure = IoFailure::Device("no answer".to_owned());
        let fault = Fault::from_then_on(IoOperation::Read, 40, FaultEffect::Fail(failure));
        disk.set_fault(fault.on_file("data0/mail-001.edb"));
    })
    .result;
    assert!(!result.errors.is_empty());
    assert_eq!(result.verdict, Verdict::Error, "{}", result.verdict_reason);
}
