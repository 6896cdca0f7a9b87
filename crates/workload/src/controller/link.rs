//! The line between the run controller of a run and its shards: orders one way, reports the other.
//!
//! Nobody waits on it: the shards look for orders and the run controller for reports every ten
//! milliseconds. So it works the same between threads and within one runtime on the virtual clock.

use super::host::{
    BackupReport, ComparisonReport, CopyReport, ReplayReport, RestoreReport, SeedReport,
    VerifyReport,
};
use super::hung::HungReport;
use super::pending_errors::PendingError;
use crate::failure::Failure;
use crate::progress::{Phase, StopRequest};
use measure::sample::ShardSample;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Name of the service level that a database which did not serve for a while does not meet.
pub const WITHOUT_SERVICE: &str = "downtime";

/// How often orders and reports are looked for.
pub const POLL_NS: u64 = 10_000_000;

/// The command to a shard. Every shard gets the same stages in the same order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    /// Put copies of the databases in their places.
    Restore,
    /// Build the databases that are not there.
    Build,
    /// Open the databases, and recover them when needed.
    Open,
    /// Make passive copies of the open databases, which follow them from then on.
    Seed,
    /// Run sessions until the caches are warm.
    WarmUp,
    /// Run sessions, in numbers that change.
    Tune,
    /// Run sessions that are measured.
    Measure,
    /// End the sessions and close the databases.
    Close,
    /// Verify every page of the closed databases.
    Verify,
    /// Read every open database to its end, and copy it if that is asked for.
    Backup,
    /// Read the copies back, compare and recover them.
    CheckCopies,
    /// Bring the passive copies of closed databases to the end of the log, and compare them.
    CompareCopies,
    /// Open the databases again, with their checkpoint held, and run sessions until they have written
    /// enough log files.
    WriteLog,
    /// Leave the databases without closing them, as a crash does. No shard recovers its databases before all
    /// have left theirs: shards may share a runtime, which does not know whose requests are under way.
    Leave,
    /// Recover the databases.
    Replay,
    /// Nothing more will come.
    End,
}

impl Stage {
    /// Whether sessions run in it, or may run.
    #[must_use]
    pub fn is_load(self) -> bool {
        matches!(
            self,
            Self::WarmUp | Self::Tune | Self::Measure | Self::Backup | Self::WriteLog
        )
    }

    /// The part of the run that it is; `None` for what takes a moment, and for the end.
    #[must_use]
    pub fn phase(self) -> Option<Phase> {
        Some(match self {
            Self::Restore => Phase::Restoring,
            Self::Build => Phase::Building,
            Self::Open => Phase::Opening,
            Self::WarmUp => Phase::WarmingUp,
            Self::Tune => Phase::Tuning,
            Self::Measure => Phase::Measuring,
            Self::Close => Phase::Closing,
            Self::Verify => Phase::Verifying,
            Self::Backup => Phase::BackingUp,
            Self::CheckCopies => Phase::CheckingCopies,
            Self::Seed => Phase::Seeding,
            Self::CompareCopies => Phase::ComparingCopies,
            Self::WriteLog => Phase::WritingLog,
            Self::Replay => Phase::Recovering,
            Self::Leave | Self::End => return None,
        })
    }
}

/// The orders of one shard.
#[derive(Debug, Default)]
pub struct Orders {
    stages: Mutex<Vec<Stage>>,
    sessions: AtomicU32,
    transactions_per_second: AtomicU64,
    backlog_limit: AtomicU64,
    load_changes: AtomicU32,
    tick_ns: AtomicU64,
    abandoned: AtomicBool,
    stop: StopRequest,
}

impl Orders {
    /// Orders with a first tick length.
    #[must_use]
    pub fn new(tick_ns: u64) -> Arc<Self> {
        Self::in_simulated_time(tick_ns, StopRequest::new())
    }

    /// Orders of sessions in simulated time. They look at `stop` themselves: nobody knows how long
    /// it takes until the run controller's next poll.
    #[must_use]
    pub fn in_simulated_time(tick_ns: u64, stop: StopRequest) -> Arc<Self> {
        let orders = Self {
            stop,
            ..Self::default()
        };
        orders.set_tick_ns(tick_ns);
        Arc::new(orders)
    }

    /// Adds a stage at the end of the list.
    pub fn begin(&self, stage: Stage) {
        lock(&self.stages).push(stage);
    }

    /// The stage number `number`, once it has been ordered.
    #[must_use]
    pub fn stage(&self, number: usize) -> Option<Stage> {
        lock(&self.stages).get(number).copied()
    }

    /// Asks the present stage to end early if it is one that works through bytes.
    pub fn abandon(&self) {
        self.abandoned.store(true, Ordering::Relaxed);
    }

    /// Whether the present stage shall end early.
    #[must_use]
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Whether sessions in simulated time shall begin nothing more.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stop.is_stopped()
    }

    /// Sets how many sessions run (closed loop) or may run at once (open loop).
    pub fn set_sessions(&self, sessions: u32) {
        self.sessions.store(sessions, Ordering::Relaxed);
    }

    /// How many sessions run.
    #[must_use]
    pub fn sessions(&self) -> u32 {
        self.sessions.load(Ordering::Relaxed)
    }

    /// Sets the rate of arrivals of an open loop.
    pub fn set_transactions_per_second(&self, rate: f64) {
        self.transactions_per_second
            .store(rate.to_bits(), Ordering::Relaxed);
    }

    /// The rate of arrivals of an open loop.
    #[must_use]
    pub fn transactions_per_second(&self) -> f64 {
        f64::from_bits(self.transactions_per_second.load(Ordering::Relaxed))
    }

    /// Sets how many arrivals of an open loop may wait, and how often the load has been changed so far.
    pub fn set_backlog(&self, limit: usize, load_changes: u32) {
        self.backlog_limit.store(limit as u64, Ordering::Relaxed);
        self.load_changes.store(load_changes, Ordering::Relaxed);
    }

    /// How many arrivals may wait.
    #[must_use]
    pub fn backlog_limit(&self) -> usize {
        usize::try_from(self.backlog_limit.load(Ordering::Relaxed)).unwrap_or(usize::MAX)
    }

    /// How often the load has been changed.
    #[must_use]
    pub fn load_changes(&self) -> u32 {
        self.load_changes.load(Ordering::Relaxed)
    }

    /// Sets how often counts are reported.
    pub fn set_tick_ns(&self, tick_ns: u64) {
        self.tick_ns.store(tick_ns.max(POLL_NS), Ordering::Relaxed);
    }

    /// How often counts are reported.
    #[must_use]
    pub fn tick_ns(&self) -> u64 {
        self.tick_ns.load(Ordering::Relaxed)
    }
}

/// How full and how large the caches of a shard are, of its least filled and its most shrunk cache.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CacheState {
    /// Of what it could hold at present; 0 to 1.
    pub fill_fraction: f64,
    /// Its size, of the largest it may have; `None` if the size is always the same.
    pub size_fraction: Option<f64>,
}

impl CacheState {
    /// Caches of one size, of which the least filled is as full as this.
    #[must_use]
    pub fn of_fill(fill_fraction: f64) -> Self {
        Self {
            fill_fraction,
            size_fraction: None,
        }
    }
}

/// What a shard has to say.
#[derive(Debug)]
pub enum ShardMessage {
    /// The counts of a tick.
    Counts(Box<ShardSample>),
    /// A stage that has an end of its own is done: all but those of warm-up, tuning and measuring.
    Done(Stage),
    /// Bytes that the shard will handle in the present stage.
    ToHandle(u64),
    /// Bytes of the present stage handled so far, all databases of the shard.
    Progress(u64),
    /// How full and how large the caches are.
    Caches(CacheState),
    /// What the open loop has counted so far.
    Backlog {
        /// Arrivals dropped because the backlog was full.
        shed: u64,
        /// Arrivals that wait for a session.
        waiting: u64,
    },
    /// What the shard does in the present stage.
    OnStep(String),
    /// Whether the database serves.
    Service {
        /// Since when it does not; nothing when it serves again.
        out_since_ns: Option<u64>,
    },
    /// A sentence for the report.
    Note(String),
    /// Errors that were met since the last report, after which the run goes on.
    Met(Vec<PendingError>),
    /// Requests that the storage has not answered for long.
    Hung(HungReport),
    /// The files of a database could not be read in the verification, which is an error of its own.
    NotVerified {
        /// Number of the database.
        database: usize,
    },
    /// What the pass over a closed database has read.
    Verified {
        /// The database, by its number in the run.
        database: usize,
        /// What was read and found.
        report: VerifyReport,
    },
    /// The build of a database that had been interrupted goes on.
    BuildGoesOn {
        /// The database, by its number in the run.
        database: usize,
        /// Bytes of it that were there.
        found_bytes: u64,
    },
    /// A copy was put in the place of a database.
    Restored {
        /// The database, by its number in the run.
        database: usize,
        /// What the restore copied.
        report: RestoreReport,
    },
    /// What the backup of a database has read.
    BackedUp {
        /// The database, by its number in the run.
        database: usize,
        /// What the backup read.
        report: BackupReport,
    },
    /// What became of the copy of a database.
    CopyChecked {
        /// The database, by its number in the run.
        database: usize,
        /// What the comparison with the copy found.
        report: CopyReport,
    },
    /// What became of the seeding of a passive copy.
    Seeded {
        /// The database, by its number in the run.
        database: usize,
        /// How the passive copies were made.
        report: SeedReport,
    },
    /// What became of the passive copy of a database.
    Compared {
        /// The database, by its number in the run.
        database: usize,
        /// What the comparison with the copy found.
        report: ComparisonReport,
    },
    /// What the recovery of a database has replayed.
    Replayed {
        /// The database, by its number in the run.
        database: usize,
        /// What soft recovery replayed.
        report: ReplayReport,
    },
    /// An error that ends the run.
    Failed(Failure),
    /// The shard has ended; nothing follows.
    Ended,
}

/// Where all shards report to. Clones share it.
#[derive(Debug, Clone, Default)]
pub struct Inbox(Arc<Mutex<Vec<(usize, ShardMessage)>>>);

impl Inbox {
    /// Adds news of a shard.
    pub fn report(&self, shard: usize, news: ShardMessage) {
        lock(&self.0).push((shard, news));
    }

    /// Takes everything out, oldest first.
    #[must_use]
    pub fn take(&self) -> Vec<(usize, ShardMessage)> {
        std::mem::take(&mut *lock(&self.0))
    }
}

/// A panic elsewhere ends the run by itself; the data behind these locks is whole at any time.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
