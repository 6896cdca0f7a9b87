//! Backup and soft recovery: what the tests without a measured phase have found.

use serde::{Deserialize, Serialize};

/// A test of storage, as Jetstress distinguishes them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TestKind {
    /// The load of the workload, judged by its latencies and its rate.
    #[default]
    Performance,
    /// The same for so long that the lenient limits apply.
    Stress,
    /// Every database is read to its end, or copied.
    Backup,
    /// Databases that were not closed are recovered from their logs.
    Recovery,
}

impl TestKind {
    /// The test in words.
    pub fn label(self) -> &'static str {
        match self {
            TestKind::Performance => "performance",
            TestKind::Stress => "stress",
            TestKind::Backup => "backup",
            TestKind::Recovery => "soft recovery",
        }
    }

    /// Whether it has a measured phase.
    pub fn is_measured(self) -> bool {
        matches!(self, TestKind::Performance | TestKind::Stress)
    }
}

/// Whether one of these tests of a run has a measured phase, so that latencies and rates are judged. Where
/// none is known it is the performance test.
pub fn has_measured_phase(tests: &[TestKind]) -> bool {
    tests.is_empty() || tests.iter().any(|test| test.is_measured())
}

/// The backup of all databases; they are read at the same time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupResult {
    /// Whether the load of the workload ran meanwhile.
    pub under_load: bool,
    /// Where the copies were written (--backup-to); empty when the databases were only read.
    pub copied_to: String,
    /// From the start of the first database to the end of the last one.
    pub duration_s: f64,
    /// One entry for each database that was read.
    pub databases: Vec<BackedUpDatabase>,
}

/// The backup of one database.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackedUpDatabase {
    /// Name of the database.
    pub name: String,
    /// Size of its pages when the backup ended.
    pub size_bytes: u64,
    /// Pages read and verified.
    pub pages: u64,
    /// Bytes read.
    pub bytes: u64,
    /// How long it took.
    pub duration_s: f64,
    /// Pages that are damaged or could not be read.
    pub errors: u64,
    /// The copy of it; null when none was made.
    pub copy: Option<BackupCopy>,
}

/// A copy of a database that was checked and restored.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct BackupCopy {
    /// Path of the copy.
    pub path: String,
    /// Log files that were copied with it.
    pub log_files: u64,
    /// Pages read back.
    pub pages: u64,
    /// Bytes read back.
    pub bytes: u64,
    /// How long reading it back took.
    pub duration_s: f64,
    /// Pages of the copy whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages of requests that hold something else than was read from the database.
    pub different_pages: u64,
    /// Time in which the copy was recovered from its log files; null when it was not.
    pub recovered_s: Option<f64>,
    /// What the check of the recovered copy found wrong.
    pub findings: u64,
    /// Why it could not be checked to the end or recovered, as a sentence; empty when it was.
    pub problem: String,
}

impl BackedUpDatabase {
    /// Bytes read per second; `None` when it took no time.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.duration_s > 0.0).then(|| self.bytes as f64 / self.duration_s)
    }

    /// How much of the database was read, in percent.
    pub fn read_percent(&self) -> f64 {
        match self.size_bytes {
            0 => 0.0,
            size_bytes => 100.0 * self.bytes as f64 / size_bytes as f64,
        }
    }
}

impl BackupCopy {
    /// What is wrong with the copy, all kinds together.
    pub fn errors(&self) -> u64 {
        let problem = u64::from(!self.problem.is_empty());
        self.wrong_pages + self.different_pages + self.findings + problem
    }
}

impl BackupResult {
    /// Bytes of all databases per second, from the first begin to the last end.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.databases.iter().map(|one| one.bytes).sum();
        (self.duration_s > 0.0).then(|| bytes as f64 / self.duration_s)
    }
}

/// The soft recovery of all databases; they are recovered at the same time.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecoveryResult {
    /// Log files that each database was to have when it ended without being closed.
    pub wanted_log_files: u64,
    /// How long writing them took.
    pub written_s: f64,
    /// From the start of the first recovery to the end of the last one.
    pub duration_s: f64,
    /// One entry for each database that was recovered.
    pub databases: Vec<RecoveredDatabase>,
}

/// The soft recovery of one database.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RecoveredDatabase {
    /// Name of the database.
    pub name: String,
    /// Log files that were replayed, the last one as far as it was written.
    pub log_files: u64,
    /// Bytes of these log files.
    pub bytes: u64,
    /// Log records that were read.
    pub records: u64,
    /// Page changes that were repeated; the pages had the others already.
    pub redone_changes: u64,
    /// Transactions without a commit that were taken back.
    pub undone_transactions: u64,
    /// From the opening of the file until the database could be used.
    pub duration_s: f64,
}

impl RecoveredDatabase {
    /// Average time to replay one log file; `None` when there was none.
    pub fn s_per_log_file(&self) -> Option<f64> {
        (self.log_files > 0).then(|| self.duration_s / self.log_files as f64)
    }

    /// Bytes of log replayed per second; `None` when it took no time.
    pub fn bytes_per_second(&self) -> Option<f64> {
        (self.duration_s > 0.0).then(|| self.bytes as f64 / self.duration_s)
    }
}

impl RecoveryResult {
    /// Mean of the average times to replay one log file; `None` without any.
    pub fn s_per_log_file(&self) -> Option<f64> {
        let times = self.databases.iter();
        let times: Vec<f64> = times
            .filter_map(RecoveredDatabase::s_per_log_file)
            .collect();
        (!times.is_empty()).then(|| times.iter().sum::<f64>() / times.len() as f64)
    }

    /// Bytes of log of all databases per second, from the first begin to the last end.
    pub fn bytes_per_second(&self) -> Option<f64> {
        let bytes: u64 = self.databases.iter().map(|one| one.bytes).sum();
        (self.duration_s > 0.0).then(|| bytes as f64 / self.duration_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_are_of_the_time_from_the_first_begin_to_the_last_end() {
        let database = |bytes, duration_s| BackedUpDatabase {
            size_bytes: 4_000,
            bytes,
            duration_s,
            ..BackedUpDatabase::default()
        };
        let backup = BackupResult {
            duration_s: 4.0,
            databases: vec![database(4_000, 2.0), database(1_000, 4.0)],
            ..BackupResult::default()
        };
        assert_eq!(backup.bytes_per_second(), Some(1_250.0));
        assert_eq!(backup.databases[0].bytes_per_second(), Some(2_000.0));
        assert_eq!(backup.databases[1].read_percent(), 25.0);
        assert_eq!(database(5, 0.0).bytes_per_second(), None);
    }

    #[test]
    fn the_time_of_a_log_file_is_the_mean_of_the_databases() {
        let database = |log_files, duration_s| RecoveredDatabase {
            log_files,
            bytes: log_files * 1_000,
            duration_s,
            ..RecoveredDatabase::default()
        };
        let recovery = RecoveryResult {
            duration_s: 8.0,
            databases: vec![database(10, 2.0), database(20, 8.0), database(0, 1.0)],
            ..RecoveryResult::default()
        };
        let mean = recovery.s_per_log_file().unwrap();
        assert!((mean - 0.3).abs() < 1e-9, "{mean}");
        assert_eq!(recovery.bytes_per_second(), Some(3_750.0));
        assert_eq!(recovery.databases[2].s_per_log_file(), None);
        assert_eq!(RecoveryResult::default().s_per_log_file(), None);
    }
}
