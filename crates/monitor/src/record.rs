//! Events as JSON objects, one a line.

use std::path::Path;
use std::time::Duration;

use jiff::Timestamp;
use measure::result::{RunResult, Verdict};
use measure::sample::{Sample, SampleRow, rows_of};
use proofload::Event;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use workload::progress::{LiveSample, Remaining};

/// Name and version of the stream. Within a version fields and kinds of events are only ever added.
pub const SCHEMA: &str = "proofload/events/1";

/// One line of the stream.
#[derive(Serialize)]
pub struct Record<'a> {
    /// When it happened, RFC 3339 in UTC.
    at: String,
    /// What happened.
    #[serde(flatten)]
    body: Body<'a>,
}

/// What happened; the field `event` has its name.
#[derive(Serialize)]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Body<'a> {
    /// First line of a stream.
    Start {
        /// Version of the stream: [`SCHEMA`].
        schema: &'static str,
        /// Version of the program.
        version: &'a str,
        /// Name of the workload.
        workload: &'a str,
        /// The storage, or the array.
        storage: &'a str,
    },
    /// The results go into this directory.
    Directory {
        /// Path of the run directory.
        path: &'a Path,
    },
    /// A phase began.
    Phase {
        /// The phase, as in `result.json`.
        phase: &'static str,
        /// Its length, where that is known beforehand.
        expected_s: Option<f64>,
    },
    /// How far a phase is that handles a known number of bytes.
    Progress {
        /// Bytes handled so far.
        done_bytes: u64,
        /// Bytes that are to be handled.
        total_bytes: u64,
    },
    /// What the phase is busy with.
    Activity {
        /// What it is, in words.
        text: &'a str,
    },
    /// Figures of about the last second.
    Live(LiveFigures),
    /// A sample is complete.
    Sample {
        /// Its number in the run, from 0.
        sample: u64,
        /// The phase of the sample.
        phase: &'static str,
        /// Its begin, since the start of the run.
        begins_s: f64,
        /// Length of the sample in seconds.
        length_s: f64,
        /// Its rows, as in `samples.csv`.
        rows: Vec<Row>,
    },
    /// How far the replay of a trace is.
    Replayed {
        /// Requests completed.
        requests: u64,
        /// Requests of the trace.
        of: u64,
        /// Simulated time that has passed.
        elapsed_s: f64,
    },
    /// Something worth knowing happened.
    Note {
        /// What it is, in words.
        text: &'a str,
    },
    /// Something that needs attention.
    Warning {
        /// What it is, in words.
        text: &'a str,
    },
    /// A round of predictions began.
    Round {
        /// Predictions made before.
        done: usize,
    },
    /// A prediction of a sweep or a search was made.
    Point {
        /// Name of the point.
        name: &'a str,
        /// The verdict of the prediction.
        verdict: Verdict,
        /// Its run directory, if there is one.
        directory: Option<&'a Path>,
    },
    /// So many events were left out here, since the reader was too slow.
    LeftOut {
        /// Number of records that were left out.
        events: u64,
    },
    /// The run has ended; the last line.
    End {
        /// The verdict of the run.
        verdict: Verdict,
        /// Exit status of the program.
        exit_status: u8,
        /// The answer as a sentence.
        headline: &'a str,
        /// Why the verdict is what it is, as a sentence.
        reason: &'a str,
    },
    /// No run came about, or it was given up; the last line.
    Failed {
        /// What ended the run, as a sentence.
        error: &'a str,
    },
}

/// A row of a sample.
#[derive(Serialize)]
pub struct Row {
    /// What it is about.
    scope: &'static str,
    /// Name of the database, operation or device.
    name: String,
    /// Values by the columns of `samples.csv`; what was not measured is not there.
    values: Map<String, Value>,
}

/// The figures of about the last second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct LiveFigures {
    /// Since the phase began.
    pub elapsed_s: f64,
    /// Database reads and writes per second.
    pub iops: Option<f64>,
    /// The rate to be reached.
    pub target_iops: Option<f64>,
    /// Average database read latency, worst database.
    pub database_read_ms: Option<f64>,
    /// Average log write latency, worst database.
    pub log_write_ms: Option<f64>,
    /// Sessions or users at work.
    pub clients: u32,
    /// What one of them is called, such as `thread`.
    pub client: String,
    /// Operations per second of all clients, where the workload counts them.
    pub operations_per_second: Option<f64>,
    /// Names of the service levels that would fail now.
    pub failing: Vec<String>,
    /// What a phase of unknown length waits for.
    pub waits_for: Option<String>,
    /// About how long that takes yet.
    pub remaining_s: Option<f64>,
    /// For how long the database has been down.
    pub without_service_s: Option<f64>,
    /// Requests that were not answered for long.
    pub hung_requests: u64,
}

impl LiveFigures {
    /// The figures of a sample of the last second.
    #[must_use]
    pub fn of(live: &LiveSample) -> Self {
        let seconds = |span: Duration| span.as_secs_f64();
        let sessions = live.sessions;
        let counted = sessions.clients.operations.is_some();
        Self {
            elapsed_s: seconds(live.elapsed),
            iops: finite(live.iops),
            target_iops: live.target_iops.and_then(finite),
            database_read_ms: live.database_read_ms.and_then(finite),
            log_write_ms: live.log_write_ms.and_then(finite),
            clients: sessions.count,
            client: sessions.clients.noun.to_owned(),
            operations_per_second: finite(sessions.operations_per_second).filter(|_| counted),
            failing: live.failing.clone(),
            waits_for: live.estimate.as_ref().map(|one| one.text.clone()),
            remaining_s: live.estimate.as_ref().map(|one| match one.remaining {
                Remaining::About(span) | Remaining::AtMost(span) => seconds(span),
            }),
            without_service_s: live.without_service.map(seconds),
            hung_requests: live.hung.map_or(0, |hung| hung.count as u64),
        }
    }
}

/// The time, to the millisecond.
fn now() -> String {
    Timestamp::now()
        .strftime("%Y-%m-%dT%H:%M:%S%.3fZ")
        .to_string()
}

fn finite(value: f64) -> Option<f64> {
    value.is_finite().then_some(value)
}

impl<'a> Body<'a> {
    /// The end of a run.
    #[must_use]
    pub fn end(result: &'a RunResult) -> Self {
        Self::End {
            verdict: result.verdict,
            exit_status: result.exit_status,
            headline: &result.headline,
            reason: &result.verdict_reason,
        }
    }

    /// The record of an event; `None` of those that have no line.
    #[must_use]
    pub fn of(event: Event<'a>) -> Option<Self> {
        Some(match event {
            Event::Directory(path) => Self::Directory { path },
            Event::PhaseBegan { phase, expected } => Self::Phase {
                phase: phase.name(),
                expected_s: expected.map(|span| span.as_secs_f64()),
            },
            Event::Progress(progress) => Self::Progress {
                done_bytes: progress.done_bytes,
                total_bytes: progress.total_bytes,
            },
            Event::Activity(text) => Self::Activity { text },
            Event::Live(live) => Self::Live(LiveFigures::of(live)),
            Event::Sample { sample, .. } => Self::of_sample(sample),
            Event::Replayed {
                requests,
                of,
                elapsed,
                ..
            } => Self::Replayed {
                requests,
                of,
                elapsed_s: elapsed.as_secs_f64(),
            },
            Event::Note(text) => Self::Note { text },
            Event::Warning(text) => Self::Warning { text },
            Event::RoundBegan { done } => Self::Round { done },
            Event::PointDone {
                name,
                result,
                directory,
            } => Self::Point {
                name,
                verdict: result.verdict,
                directory,
            },
            _ => return None,
        })
    }

    fn of_sample(sample: &Sample) -> Self {
        Self::Sample {
            sample: sample.number,
            phase: sample.phase.name(),
            begins_s: sample.begins_s,
            length_s: sample.length_s,
            rows: rows_of(sample).into_iter().map(Row::of).collect(),
        }
    }

    /// Whether a later line makes this one superfluous: such are left out first.
    #[must_use]
    pub fn is_passing(&self) -> bool {
        matches!(
            self,
            Self::Live(_) | Self::Progress { .. } | Self::Activity { .. } | Self::Replayed { .. }
        )
    }

    /// The line, with the time and a line feed.
    #[must_use]
    pub fn line(self) -> String {
        let record = Record {
            at: now(),
            body: self,
        };
        // No value of a record can fail to be written as JSON.
        let mut line = serde_json::to_string(&record).unwrap_or_default();
        line.push('\n');
        line
    }
}

impl Row {
    fn of(row: SampleRow) -> Self {
        let values = row.values.iter();
        let values = values.map(|(metric, value)| (metric.id().into_owned(), Value::from(value)));
        Self {
            scope: row.scope.name(),
            values: values.filter(|(_, value)| !value.is_null()).collect(),
            name: row.name,
        }
    }
}
