//! What a run reports while it is in progress, and how it is asked to stop.
//!
//! The controller of a run notifies a [`crate::controller::RunListener`]; the command line implements
//! it as a live line in a terminal or as one log line per sample.

use measure::sample::Phase as SamplePhase;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// The parts of a run, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// The databases of an earlier run are looked for.
    Finding,
    /// Copies of the databases are put in their places.
    Restoring,
    /// New databases are filled.
    Building,
    /// Databases are opened; after an unclean end this includes recovery.
    Opening,
    /// Passive copies of the databases are made.
    Seeding,
    /// Sessions run and the caches fill; nothing is measured yet.
    WarmingUp,
    /// The thread count is being found.
    Tuning,
    /// The measured phase of the run.
    Measuring,
    /// Sessions have ended; dirty pages are written and the databases closed.
    Closing,
    /// Every page of every database is read once more and its checksum verified.
    Verifying,
    /// Every database is read to its end, and copied if that is asked for.
    BackingUp,
    /// The copies are read back, compared and recovered.
    CheckingCopies,
    /// Passive copies are brought to the end of the log and compared with their databases.
    ComparingCopies,
    /// Sessions write the log files that soft recovery is to replay.
    WritingLog,
    /// Databases that were left without being closed are recovered.
    Recovering,
    /// The same is predicted with each parameter set of a calibrated array.
    ParameterSets,
}

impl Phase {
    /// The phase of its samples; those of the time before the load count as the build.
    #[must_use]
    pub fn of_samples(self) -> SamplePhase {
        match self {
            Self::Finding | Self::Restoring | Self::Building | Self::Opening => SamplePhase::Build,
            Self::Seeding => SamplePhase::Seeding,
            Self::WarmingUp => SamplePhase::WarmUp,
            Self::Tuning => SamplePhase::Tuning,
            Self::Measuring => SamplePhase::Measured,
            Self::Closing | Self::ParameterSets => SamplePhase::Close,
            Self::Verifying | Self::CheckingCopies | Self::ComparingCopies => SamplePhase::Checksum,
            Self::BackingUp => SamplePhase::Backup,
            Self::WritingLog => SamplePhase::LogWriting,
            Self::Recovering => SamplePhase::Recovery,
        }
    }

    /// Its name in results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Restoring => "restore",
            Self::Opening => "open",
            Self::CheckingCopies => "copy-check",
            Self::ComparingCopies => "copy-comparison",
            Self::ParameterSets => "parameter-sets",
            other => other.of_samples().name(),
        }
    }

    /// The phase as people read it on the live line.
    #[must_use]
    pub fn title(self) -> &'static str {
        match self {
            Self::Finding => "locating kept databases",
            Self::Restoring => "restoring databases from copies",
            Self::Building => "building",
            Self::Opening => "opening",
            Self::Seeding => "seeding passive copies",
            Self::WarmingUp => "warming up",
            Self::Tuning => "tuning the load",
            Self::Measuring => "measuring",
            Self::Closing => "closing",
            Self::Verifying => "verifying checksums",
            Self::BackingUp => "backing up",
            Self::CheckingCopies => "checking and restoring copies",
            Self::ComparingCopies => "comparing passive copies",
            Self::WritingLog => "writing log files to be replayed",
            Self::Recovering => "replaying log files",
            Self::ParameterSets => "predicting the parameter sets of the calibration",
        }
    }
}

/// How far a phase that handles a known number of bytes has come, over all databases.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ByteProgress {
    /// Bytes handled so far.
    pub done_bytes: u64,
    /// Bytes to handle in all.
    pub total_bytes: u64,
}

/// The figures of one sample interval, summed over all databases.
#[derive(Clone, Debug, PartialEq)]
pub struct LiveSample {
    /// Time since the phase began.
    pub elapsed: Duration,
    /// Transactional database reads and writes per second (log and maintenance not counted).
    pub iops: f64,
    /// The rate the run wants to reach, when it has one.
    pub target_iops: Option<f64>,
    /// Average latency of database reads in the interval, worst database; `None` without a read.
    pub database_read_ms: Option<f64>,
    /// Average latency of log writes in the interval, worst database; `None` without a write.
    pub log_write_ms: Option<f64>,
    /// Who is at work over all databases.
    pub sessions: Sessions,
    /// Names of the service levels that would fail if the run ended now; empty while all hold.
    pub failing: Vec<String>,
    /// What the phase waits for, when its length is not known beforehand.
    pub estimate: Option<PhaseEstimate>,
    /// For how long the database has not served, while it does not.
    pub without_service: Option<Duration>,
    /// Requests that the storage has not answered for long, while there are any.
    pub hung: Option<HungRequests>,
}

/// Requests that were not answered in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HungRequests {
    /// How many there are.
    pub count: usize,
    /// How long the oldest has been outstanding.
    pub longest: Duration,
}

/// Who puts the load on the storage.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sessions {
    /// What they are called.
    pub clients: Clients,
    /// How many there are.
    pub count: u32,
    /// Operations per second in the interval, all together.
    pub operations_per_second: f64,
}

/// What the sessions of a workload are called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Clients {
    /// One of them, such as `user`; several with an `s`.
    pub noun: &'static str,
    /// What their operations are called, such as `transactions`; `None`: their rate is not shown.
    pub operations: Option<&'static str>,
}

impl Clients {
    /// Threads, of which the load on the storage is shown alone.
    pub const THREADS: Self = Self {
        noun: "thread",
        operations: None,
    };
}

/// What a phase without a fixed length waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PhaseEstimate {
    /// In words, such as `caches 43 % full, target 95 %`.
    pub text: String,
    /// How much longer it takes.
    pub remaining: Remaining,
}

/// How much longer a phase takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Remaining {
    /// About so long, as far as it can be estimated.
    About(Duration),
    /// It may end at any time, and ends after so long.
    AtMost(Duration),
}

/// Asks a run to stop early and keep what it has. Clones share one flag, across threads too.
#[derive(Clone, Debug, Default)]
pub struct StopRequest(Arc<AtomicBool>);

impl StopRequest {
    /// A request nobody has made yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// A request that shares `flag`, for a signal handler that sets it.
    #[must_use]
    pub fn sharing(flag: Arc<AtomicBool>) -> Self {
        Self(flag)
    }

    /// Makes the request. It cannot be taken back.
    pub fn stop(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether the run should end now.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
