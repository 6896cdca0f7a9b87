//! `result.json`: everything a run found out, as one versioned document.
//!
//! Every field is described in `docs/results.md`; a test holds the two together. The rules of the
//! schema:
//!
//! - The last part of a name is its unit (`_ms`, `_s`, `_bytes`, `_per_second`, `_fraction`).
//! - `null` means "not measured" or "does not apply", never zero.
//! - Within one major version (`proofload/result/3`) fields are only ever added. Readers ignore
//!   fields that they do not know and take missing ones as empty.
//! - A document is written at each sample, so that a crash leaves the state of the last sample,
//!   with `complete` false.

mod array;
mod building;
mod calibration;
mod cause;
mod check;
mod event;
mod evidence;
mod figures;
mod host;
mod integrity;
mod interruption;
mod rank;
mod replication;
mod server;
mod setup;
mod slow_sample;
mod storage_tests;
mod trace;
mod tuning;
mod witness;

pub use array::{ArrayController, ArrayDisk, ArrayGroup, ArrayPool, ArrayResult, ArrayVolume};
pub use building::{GoneOnDatabase, RestoreResult, RestoredDatabase, ResumedBuild};
pub use calibration::{CalibrationResult, FigureBar, HeldOut, LevelBar, error_bar};
pub use cause::{Cause, CauseId};
pub use check::{Bound, Check, CheckId, CheckKind, Scope, Verdict};
pub use event::{EventResult, RebuildResult};
pub use evidence::FileHash;
pub use figures::{
    DatabaseFigures, DatabaseResult, IoFigures, LatencyFigures, OperationResult, SteadyState,
    Throughput,
};
pub use host::{CounterSummary, DeviceResult, HealthFigure, HostResult, KernelMessage};
pub use integrity::{ErrorCount, IntegrityClass, VerificationResult, VerifiedDatabase};
pub use interruption::Interruption;
pub use rank::RankResult;
pub use replication::{ReplicatedDatabase, ReplicationResult};
pub use server::{
    AcknowledgedWork, Bottleneck, ConsistencyCheck, FilesElsewhere, OtherIo, OutageCause,
    OutageResult, ServerCheckpoints, ServerFileIo, ServerIo, ServerLog, ServerResult,
    TransactionCounts, WaitClass, WaitShare,
};
pub use setup::{
    ErrorKind, ErrorRecord, PhaseResult, SamplesSummary, TargetKind, TargetPath, TargetResult,
    WholeBytes, WorkloadResult,
};
pub use slow_sample::SlowSample;
pub(crate) use slow_sample::by_column;
pub use storage_tests::{
    BackedUpDatabase, BackupCopy, BackupResult, RecoveredDatabase, RecoveryResult, TestKind,
    has_measured_phase,
};
pub use trace::{DemeritPoint, DemeritResult, MeasuredRequests, TraceResult};
pub use tuning::{SearchEnd, TuningResult, TuningStep};
pub use witness::WitnessResult;

use serde::{Deserialize, Serialize};

use crate::metric::{IoMetric, Stream};

/// The schema that this version writes. The number after the last slash is the major version.
pub const SCHEMA: &str = "proofload/result/3";

/// What one run found out: the whole of `result.json`.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct RunResult {
    /// Always [`SCHEMA`] when written by this version.
    pub schema: String,
    /// Version of the program that wrote the document.
    pub version: String,
    /// What kind of run this was.
    pub kind: RunKind,
    /// False while the run goes on, so also after a crash; true once the run has ended.
    pub complete: bool,
    /// Whether the run met the service levels, or why that cannot be said.
    pub verdict: Verdict,
    /// One sentence that says why the verdict is what it is.
    pub verdict_reason: String,
    /// Exit status of the program that belongs to the verdict (see [`Verdict::exit_status`]).
    pub exit_status: u8,
    /// Every service level that was judged, in the order in which people read them.
    pub checks: Vec<Check>,
    /// The verdict and the answer as one sentence: the load, the figures that decide, the storage; or what became
    /// of a run that measured nothing, was ended, or met errors. Empty while the run goes on.
    pub headline: String,
    /// What may have decided the run besides its storage: why a level that was not met, or a run that
    /// passed, leaves doubt.
    pub causes: Vec<Cause>,
    /// The tests that were asked for, in their order; empty in a prediction, and in documents of earlier
    /// versions, which know the performance test alone.
    pub tests: Vec<TestKind>,
    /// What was run, with all settings in force.
    pub workload: WorkloadResult,
    /// The storage under test.
    pub target: TargetResult,
    /// Seed of everything random in the run.
    pub seed: u64,
    /// When the run started, RFC 3339 in UTC, such as `2025-03-01T12:00:00Z`.
    pub started: String,
    /// Length of the measured phase in seconds, as it was (not as it was asked for).
    pub duration_s: f64,
    /// The phases of the run in the order in which they happened.
    pub phases: Vec<PhaseResult>,
    /// Interruptions after which the run went on; left out when there were none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub interruptions: Vec<Interruption>,
    /// How many samples were taken, and how long they are.
    pub samples: SamplesSummary,
    /// Achieved against target rates.
    pub throughput: Throughput,
    /// One entry per database, measured phase only.
    pub databases: Vec<DatabaseResult>,
    /// All databases together, measured phase only.
    pub totals: DatabaseFigures,
    /// One entry per kind of operation of the workload, all databases together.
    pub operations: Vec<OperationResult>,
    /// Whether the measured phase was steady; null when nobody asked.
    pub steady_state: Option<SteadyState>,
    /// The machine that ran the load.
    pub host: HostResult,
    /// How the load was tuned; null when it was not.
    pub tuning: Option<TuningResult>,
    /// Errors of the storage or the engine in any phase, each listed once however often it was met. At
    /// most so many are listed; [`RunResult::error_counts`] has them all.
    pub errors: Vec<ErrorRecord>,
    /// All errors, by database and class, but for those that [say nothing of data](ErrorKind::is_of_data).
    pub error_counts: Vec<ErrorCount>,
    /// The build of the databases, where it went on with what an interrupted one had left; left out
    /// otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub resumed_build: Option<ResumedBuild>,
    /// The copies that were put in the places of the databases before the run; left out when there were
    /// none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restore: Option<RestoreResult>,
    /// The backup of the databases; null when none was asked for or begun.
    pub backup: Option<BackupResult>,
    /// The soft recovery of the databases; null when none was asked for or begun.
    pub recovery: Option<RecoveryResult>,
    /// The passive copies of the databases; null when none were asked for or begun.
    pub replication: Option<ReplicationResult>,
    /// The pass over the closed databases after the run; null when none was to be made.
    pub verification: Option<VerificationResult>,
    /// Sentences about things that may spoil the result.
    pub warnings: Vec<String>,
    /// Sentences worth knowing that spoil nothing.
    pub notes: Vec<String>,
    /// Predictions: time that passed in the model, from its beginning; null on real storage.
    pub simulated_seconds: Option<f64>,
    /// Predictions: time that passed while computing; null on real storage.
    pub wall_seconds: Option<f64>,
    /// Predictions: requests that the array was sent, from the beginning; null on real storage.
    pub host_requests: Option<u64>,
    /// Predictions: the inside of the array; null on real storage.
    pub array: Option<ArrayResult>,
    /// Predictions on a calibrated array: the error bars; left out otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calibration: Option<CalibrationResult>,
    /// What broke and was repaired in the array, in the order in which it happened.
    pub events: Vec<EventResult>,
    /// Rebuilds, in the order in which they began.
    pub rebuilds: Vec<RebuildResult>,
    /// Runs on a real database: its server; null otherwise.
    pub server: Option<ServerResult>,
    /// The witness that acknowledged transactions were reported to; null when there was none.
    pub witness: Option<WitnessResult>,
    /// The processes of a run on several hosts; empty for a run of one process, and left out then.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub ranks: Vec<RankResult>,
    /// The trace that was replayed; null for a workload.
    pub trace: Option<TraceResult>,
    /// The other files of the run directory as they were at the end of the run; empty until then.
    pub files: Vec<FileHash>,
    /// SHA-256 of this document with nothing in this field; empty until the run has ended.
    pub document_sha256: String,
}

/// What kind of run a result is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RunKind {
    /// A workload on real storage.
    #[default]
    Run,
    /// A workload on a modelled array.
    Prediction,
    /// A block trace that was replayed on a modelled array.
    Trace,
    /// What programs did with a modelled array that was served in real time.
    Served,
}

impl RunKind {
    /// Whether it is of a workload, whose service levels are judged and whose streams are those of databases.
    #[must_use]
    pub fn is_of_workload(self) -> bool {
        match self {
            Self::Run | Self::Prediction => true,
            Self::Trace | Self::Served => false,
        }
    }
}

impl RunResult {
    /// An empty result of this version's schema: inconclusive and not complete.
    pub fn new() -> RunResult {
        RunResult {
            schema: SCHEMA.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            exit_status: Verdict::Inconclusive.exit_status(),
            ..RunResult::default()
        }
    }

    /// Sets verdict, reason and exit status together, so that they cannot disagree.
    pub fn set_verdict(&mut self, verdict: Verdict, reason: impl Into<String>) {
        self.verdict = verdict;
        self.verdict_reason = reason.into();
        self.exit_status = verdict.exit_status();
    }

    /// Marks the document as one of a run that has not ended. Should the run be interrupted now, this is
    /// what stays of it, and levels that were met for a while must not pass for an answer.
    pub fn mark_unfinished(&mut self) {
        self.complete = false;
        if self.verdict == Verdict::Error {
            return;
        }
        let so_far = match self.verdict {
            Verdict::Pass => "every service level was met.".to_owned(),
            _ => self.verdict_reason.clone(),
        };
        self.set_verdict(
            Verdict::Interrupted,
            format!("The run did not finish, or is still running. Until then: {so_far}"),
        );
    }

    /// Whether one of the tests has a measured phase.
    pub fn has_measured_phase(&self) -> bool {
        has_measured_phase(&self.tests)
    }

    /// The error after which the run could not go on; `None` when there was none.
    pub fn ending_error(&self) -> Option<&ErrorRecord> {
        self.errors.iter().find(|error| error.ended_run)
    }

    /// What kind of error ended the run.
    pub fn ended_by(&self) -> Option<ErrorKind> {
        self.ending_error().map(|error| error.kind)
    }

    /// Different errors of storage, engine and data, those included that are not listed.
    pub fn error_count(&self) -> u64 {
        let counted: u64 = self.error_counts.iter().map(|one| one.errors).sum();
        let listed = self.errors.iter();
        let listed = listed.filter(|error| error.kind.is_of_data()).count();
        counted.max(listed as u64)
    }

    /// The highest average latency of a stream among the databases.
    pub fn worst_average_ms(&self, stream: Stream) -> Option<f64> {
        let databases = self.databases.iter();
        let averages =
            databases.filter_map(|one| one.figures.stream(stream).get(IoMetric::Average));
        averages.reduce(f64::max)
    }

    /// The block device under a path: the one whose target is the longest beginning of the path.
    pub fn device_under(&self, path: &str) -> Option<&DeviceResult> {
        let length = |device: &DeviceResult| {
            let targets = device.targets.iter();
            let under = targets.filter(|target| path.starts_with(target.as_str()));
            under.map(String::len).max()
        };
        let devices = self.host.devices.iter();
        devices
            .filter_map(|device| Some((length(device)?, device)))
            .max_by_key(|pair| pair.0)
            .map(|pair| pair.1)
    }

    /// The checks that failed, in order.
    pub fn failed_checks(&self) -> impl Iterator<Item = &Check> {
        self.checks.iter().filter(|c| c.passed == Some(false))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unfinished_run_never_passes() {
        let mut result = RunResult::new();
        result.set_verdict(Verdict::Pass, "All 12 checks passed.");
        result.mark_unfinished();
        assert_eq!(
            (result.complete, result.verdict, result.exit_status),
            (false, Verdict::Interrupted, 130)
        );
        assert!(result.verdict_reason.contains("every service level"));
        result.set_verdict(Verdict::Error, "A page is bad.");
        result.mark_unfinished();
        assert_eq!(result.verdict, Verdict::Error);
    }
    #[test]
    fn the_worst_database_decides_the_highest_average() {
        let database = |average_ms: Option<f64>| {
            let mut database = DatabaseResult::default();
            database.figures.reads.latency = average_ms.map(|average_ms| LatencyFigures {
                average_ms,
                ..LatencyFigures::default()
            });
            database
        };
        let mut result = RunResult::new();
        assert_eq!(result.worst_average_ms(Stream::DatabaseRead), None);
        result.databases = [Some(3.5), None, Some(7.25), Some(5.0)]
            .map(database)
            .into();
        assert_eq!(result.worst_average_ms(Stream::DatabaseRead), Some(7.25));
        assert_eq!(result.worst_average_ms(Stream::LogWrite), None);
    }
}
