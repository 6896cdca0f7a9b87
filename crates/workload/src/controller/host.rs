//! What a run needs of the databases that its sessions work on.

use super::error_key::ErrorKey;
use crate::failure::Failure;
use measure::result::IntegrityClass;
use measure::sample::{CopyQueues, Recorder};
use runtime::IoObserver;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// Called with the bytes handled so far; says whether to go on. A build that is asked to stop ends with
/// [`crate::failure::FailureKind::Stopped`].
pub type Progress = Rc<dyn Fn(u64) -> bool>;

/// Called with the bytes that an interrupted build had left of a database, when its build goes on.
pub type OnFound = Rc<dyn Fn(u64)>;

/// Called with what is being done, in words.
pub type OnStep = Rc<dyn Fn(&str)>;

/// A database that is ready for sessions.
pub struct OpenedDatabase<D> {
    /// What sessions work on.
    pub database: D,
    /// A sentence about what opening it took, such as recovery; empty when there is nothing to say.
    pub note: String,
}

/// A database that is there and complete.
pub struct BuiltDatabase {
    /// Size of its file in bytes.
    pub size_bytes: u64,
}

/// What reading a closed database back has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct VerifyReport {
    /// Pages read and verified.
    pub pages: u64,
    /// Bytes that the verification read.
    pub bytes: u64,
    /// How long reading the pages took, in seconds.
    pub seconds: f64,
    /// What is wrong, one by one; whoever finds very much stops listing.
    pub findings: Vec<Failure>,
    /// Wrong pages that are not among the findings.
    pub unlisted_pages: Vec<(u64, IntegrityClass)>,
    /// Errors that are neither, by class.
    pub unlisted: BTreeMap<IntegrityClass, u64>,
    /// Pages that the run has written; `None` when nobody counted.
    pub pages_written: Option<u64>,
    /// Of those, pages read back from the device after their last write and verified, in the run or
    /// by this verification; `None` when nobody counted.
    pub pages_read_back: Option<u64>,
    /// Whether it was asked to stop before its end.
    pub stopped: bool,
    /// Of the pages, the ones that nobody has ever written.
    pub never_written_pages: u64,
    /// Pages reached by walking every tree; `None` if the trees were not walked.
    pub tree_pages: Option<u64>,
    /// Log files read and verified.
    pub log_files: u64,
    /// Segments in them that hold records.
    pub log_segments: u64,
}

impl VerifyReport {
    /// Notes something wrong. Beyond the first thousands only its class is counted.
    pub fn find(&mut self, failure: Failure) {
        if self.findings.len() < MOST_FINDINGS {
            self.findings.push(failure);
        } else {
            let class = failure.class().unwrap_or_default();
            *self.unlisted.entry(class).or_default() += 1;
        }
    }

    /// Everything that is wrong, each error counted once however many findings are about it.
    #[must_use]
    pub fn errors(&self) -> u64 {
        let findings = self.findings.iter();
        let listed: BTreeSet<ErrorKey> = findings.map(|one| ErrorKey::of(None, one)).collect();
        let listed = listed.len() + self.unlisted_pages.len();
        listed as u64 + self.unlisted.values().sum::<u64>()
    }
}

/// What putting the copy of a database in its place has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RestoreReport {
    /// Pages copied and verified.
    pub pages: u64,
    /// Bytes of these pages.
    pub bytes: u64,
    /// Log files that were copied along.
    pub log_files: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
}

/// What the backup of an open database has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct BackupReport {
    /// Pages read and verified.
    pub pages: u64,
    /// Bytes read.
    pub bytes: u64,
    /// Size of the pages of the database at the end.
    pub size_bytes: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Pages that are damaged or could not be read.
    pub bad_pages: u64,
}

/// What reading back, comparing and recovering a copy has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct CopyReport {
    /// Path of the copy.
    pub path: String,
    /// Log files that belong to it.
    pub log_files: u64,
    /// Pages read back.
    pub pages: u64,
    /// Bytes read back.
    pub bytes: u64,
    /// How long reading it back took, in seconds.
    pub seconds: f64,
    /// Pages whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages of requests that hold something else than was read from the database.
    pub different_pages: u64,
    /// Time in which it was recovered; `None` when it was not.
    pub recovered_s: Option<f64>,
    /// What the check of the recovered copy found wrong.
    pub findings: u64,
    /// Why it could not be checked to the end or recovered, as a sentence; empty when it was.
    pub problem: String,
    /// What of it is an error of the storage that it lies on.
    pub failures: Vec<Failure>,
}

/// What making a passive copy of an open database has come to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SeedReport {
    /// Path of the copy.
    pub path: String,
    /// Bytes of pages read, verified and written.
    pub bytes: u64,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Why there is no copy, as a sentence; empty when there is one.
    pub problem: String,
}

/// What became of the passive copy of a database that has been closed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ComparisonReport {
    /// Log files shipped until the load ended.
    pub shipped_log_files: u64,
    /// Log files replayed until then.
    pub replayed_log_files: u64,
    /// Full log files that were not shipped yet then, and the most of them at one time.
    pub copy_queue: (u64, u64),
    /// Shipped log files that were not replayed yet then, and the most of them at one time.
    pub replay_queue: (u64, u64),
    /// From the end of the database until the copy had replayed and written everything; `None` when it did
    /// not.
    pub caught_up_s: Option<f64>,
    /// Pages compared; `None` when they were not.
    pub compared_pages: Option<u64>,
    /// Pages of the copy whose checksum is wrong.
    pub wrong_pages: u64,
    /// Pages that are not the same in both.
    pub different_pages: u64,
    /// Whether the logs of both end at the same position; `None` when that was not compared.
    pub same_log_position: Option<bool>,
    /// Why it did not follow to the end or could not be compared, as a sentence; empty when it did and
    /// could.
    pub problem: String,
    /// The error of the storage or of the data that the problem or a difference is.
    pub failure: Option<Failure>,
}

/// What the recovery of a database that was not closed has replayed.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ReplayReport {
    /// Log files replayed.
    pub log_files: u64,
    /// Bytes of these log files.
    pub bytes: u64,
    /// Log records read.
    pub records: u64,
    /// Page changes repeated.
    pub redone_changes: u64,
    /// Transactions without a commit that were taken back.
    pub undone_transactions: u64,
    /// From the opening of the file until the database could be used, in seconds.
    pub seconds: f64,
}

/// What a database of a soft recovery is opened for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReopenedTo {
    /// For sessions that write the log files to be replayed: with its checkpoint held.
    WriteLog,
    /// To replay these log files.
    Replay,
}

/// Who is notified of the requests that a passive copy takes.
pub struct CopyObservers {
    /// Of those to the database that is copied.
    pub active: Rc<dyn IoObserver>,
    /// Of those to the copy.
    pub copy: Rc<dyn IoObserver>,
}

/// How full and how busy a database is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct DatabaseStatistics {
    /// Pages in the cache.
    pub cached_pages: u64,
    /// Pages that the cache can hold.
    pub cache_capacity_pages: u64,
    /// Pages that it could hold if memory were not short; `None` if its size is always the same.
    pub cache_largest_pages: Option<u64>,
    /// Page faults that have waited for a free frame, since the database was opened.
    pub page_fault_stalls: u64,
    /// Size of the database file.
    pub size_bytes: u64,
    /// Pages in the database file.
    pub database_pages: u64,
    /// What closing the database has to do: bytes of changed pages that are not written yet, and of a page for
    /// each deleted row that waits to be removed.
    pub closing_bytes: u64,
    /// Number of the log file that is being written; 0 without a log of ours.
    pub log_generation: u32,
}

/// Findings that a report lists one by one.
const MOST_FINDINGS: usize = 10_000;

/// An open database as the load sees it. Clones share it.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait LoadedDatabase: Clone + 'static {
    /// Runs one transaction to its commit, with as many attempts as it takes. `due_ns` is when it
    /// should have begun, if a rate is held. Gives the number of operations.
    ///
    /// # Errors
    /// What has gone wrong; the transaction has been rolled back. Unless the failure ends the run
    /// ([`Failure::ends_run`]), others can follow.
    async fn transact(&self, due_ns: Option<u64>) -> Result<u32, Failure>;

    /// The state of its cache and its file.
    fn statistics(&self) -> DatabaseStatistics;

    /// The damage that was met in the background since the last call, where no transaction reports it.
    fn take_damage(&self) -> Vec<Failure>;
}

/// Builds, opens, closes and verifies databases, by their number in the run. One host serves the
/// databases of one shard, on its thread.
#[allow(async_fn_in_trait)] // Single-threaded by design: no caller needs `Send` futures.
pub trait DatabaseHost: 'static {
    /// What the load works on.
    type Database: LoadedDatabase;

    /// Makes sure that the database is there and complete. `progress` hears only of a database that
    /// has to be built, `found` of one whose build had been interrupted.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn build(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        progress: Progress,
        found: OnFound,
    ) -> Result<BuiltDatabase, Failure>;

    /// Puts its copy in the place of the database. `progress` hears the bytes.
    ///
    /// # Errors
    /// The failure that ends the run. The database then says that it is not complete.
    async fn restore(
        &self,
        _database: usize,
        _progress: Progress,
    ) -> Result<RestoreReport, Failure> {
        Err(Failure::unsupported("restoring a database"))
    }

    /// Opens the database, and recovers it when it was not closed. Its operations are counted into
    /// `recorder`; `doing` hears of what takes time.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn open(
        &self,
        database: usize,
        observer: Rc<dyn IoObserver>,
        recorder: Rc<RefCell<Recorder>>,
        doing: OnStep,
    ) -> Result<OpenedDatabase<Self::Database>, Failure>;

    /// Writes back what is dirty and closes the database. Unless it is `whole`, transactions have
    /// ended in the middle.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn close(
        &self,
        database: usize,
        open: Self::Database,
        whole: bool,
    ) -> Result<(), Failure>;

    /// Reads everything of the closed database back and verifies it, to the end, whatever is found:
    /// pages, trees, headers and log. One that could not be closed is read as it is.
    ///
    /// # Errors
    /// Why nothing can be read.
    async fn verify(&self, database: usize, progress: Progress) -> Result<VerifyReport, Failure>;

    /// Reads the open database to its end, and copies it if the plan says so. `progress` hears the bytes.
    ///
    /// # Errors
    /// The failure that ends the run. Damaged pages are damage of the database.
    async fn back_up(
        &self,
        _database: usize,
        _open: &Self::Database,
        _progress: Progress,
    ) -> Result<BackupReport, Failure> {
        Err(Failure::unsupported("backing up a database"))
    }

    /// Opens the database for a soft recovery, as [`DatabaseHost::open`]. Gives also what was replayed.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn reopen(
        &self,
        _database: usize,
        _to: ReopenedTo,
        _observer: Rc<dyn IoObserver>,
        _recorder: Rc<RefCell<Recorder>>,
        _doing: OnStep,
    ) -> Result<(OpenedDatabase<Self::Database>, ReplayReport), Failure> {
        Err(Failure::unsupported("recovering a database"))
    }

    /// Completes the copy of an open database without sessions.
    ///
    /// # Errors
    /// The failure that ends the run.
    async fn complete_copy(&self, _database: usize, _open: &Self::Database) -> Result<(), Failure> {
        Ok(())
    }

    /// Makes a passive copy of an open database, which follows it from then on. `progress` hears the bytes.
    ///
    /// # Errors
    /// The failure that ends the run. What fails at the copy is in the report.
    async fn seed(
        &self,
        _database: usize,
        _open: &Self::Database,
        _observers: CopyObservers,
        _progress: Progress,
    ) -> Result<SeedReport, Failure> {
        Err(Failure::unsupported("replicating a database"))
    }

    /// Why a passive copy does not follow its database any more, as a sentence, once.
    fn take_suspension(&self, _database: usize) -> Option<String> {
        None
    }

    /// What the passive copy of a database lacks at present; `None` without such a copy.
    fn copy_queues(&self, _database: usize) -> Option<CopyQueues> {
        None
    }

    /// Brings the passive copy of a closed database to the end of the log and compares both. `progress` hears
    /// the bytes compared. `None` when there is no copy.
    async fn compare_copy(
        &self,
        _database: usize,
        _progress: Progress,
    ) -> Option<ComparisonReport> {
        None
    }

    /// Reads the copy of a database back, compares and recovers it. `progress` hears the bytes read.
    /// `None` when there is no copy.
    async fn check_copy(&self, _database: usize, _progress: Progress) -> Option<CopyReport> {
        None
    }
}
