//! The state of a run in one small document: what a view draws.

use std::path::Path;

use jiff::Timestamp;
use proofload::Event;
use serde::{Deserialize, Serialize};

use crate::record::LiveFigures;

/// Name and version of the document.
pub const SCHEMA: &str = "proofload/status/1";
/// Points of the phase that are kept; of a longer one every second is left out, again and again.
const MOST_POINTS: usize = 480;
/// Remarks that are kept.
const MOST_NOTES: usize = 12;

/// The state of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct RunStatus {
    /// Number of the document; [`Self::end`] has the same, or it was read while it was being written.
    pub begin: u64,
    /// Version of the document, [`SCHEMA`] when this program wrote it.
    pub schema: String,
    /// Version of the program.
    pub version: String,
    /// Process of the run.
    pub process: u32,
    /// Name of the workload.
    pub workload: String,
    /// The storage under test.
    pub storage: String,
    /// Path of the run directory.
    pub directory: String,
    /// When the run began, Unix time.
    pub started_s: f64,
    /// When this state was, Unix time.
    pub updated_s: f64,
    /// The phase in words, such as `measuring`.
    pub phase: String,
    /// When the phase began, Unix time.
    pub phase_began_s: f64,
    /// Length of the phase, where it is known beforehand.
    pub expected_s: Option<f64>,
    /// Bytes that the phase has handled.
    pub done_bytes: u64,
    /// Bytes that the phase handles, where it does.
    pub total_bytes: u64,
    /// What the phase is busy with.
    pub activity: String,
    /// Figures of the last second.
    pub live: Option<LiveFigures>,
    /// The phase so far.
    pub points: Vec<Point>,
    /// Every how many seconds there is a point.
    pub every: u64,
    /// Live figures since the last point.
    pub since_point: u64,
    /// The last remarks, with their times of day (UTC).
    pub notes: Vec<String>,
    /// The answer, when the run has ended.
    pub answer: Option<String>,
    /// The same number as [`Self::begin`], unless the document was read while it was being written.
    pub end: u64,
}

/// What a phase was like at a moment.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Point {
    /// Since the phase began.
    pub elapsed_s: f64,
    /// Database reads and writes per second.
    pub iops: Option<f64>,
    /// Average database read latency.
    pub database_read_ms: Option<f64>,
    /// Average log write latency.
    pub log_write_ms: Option<f64>,
}

impl RunStatus {
    /// The state of a run that begins.
    #[must_use]
    pub fn new(version: &str, workload: &str, storage: &str) -> Self {
        let now_s = now_s();
        Self {
            schema: SCHEMA.to_owned(),
            version: version.to_owned(),
            process: std::process::id(),
            workload: workload.to_owned(),
            storage: storage.to_owned(),
            started_s: now_s,
            updated_s: now_s,
            phase_began_s: now_s,
            phase: "preparing".to_owned(),
            every: 1,
            ..Self::default()
        }
    }

    /// Takes in an event.
    pub fn take_in(&mut self, event: Event<'_>) {
        self.updated_s = now_s();
        match event {
            Event::Directory(path) => self.directory = whole(path),
            Event::PhaseBegan { phase, expected } => {
                self.phase = phase.title().to_owned();
                self.phase_began_s = self.updated_s;
                self.expected_s = expected.map(|span| span.as_secs_f64());
                (self.done_bytes, self.total_bytes) = (0, 0);
                (self.every, self.since_point) = (1, 0);
                self.activity.clear();
                self.points.clear();
                self.live = None;
            }
            Event::Progress(progress) => {
                self.done_bytes = progress.done_bytes;
                self.total_bytes = progress.total_bytes;
            }
            Event::Activity(text) => text.clone_into(&mut self.activity),
            Event::Live(live) => self.live(LiveFigures::of(live)),
            Event::Note(text) | Event::Warning(text) => self.note(text),
            _ => {}
        }
    }

    fn live(&mut self, live: LiveFigures) {
        self.since_point += 1;
        if self.since_point >= self.every {
            self.since_point = 0;
            self.points.push(Point {
                elapsed_s: live.elapsed_s,
                iops: live.iops,
                database_read_ms: live.database_read_ms,
                log_write_ms: live.log_write_ms,
            });
        }
        if self.points.len() >= MOST_POINTS {
            let mut keep = false;
            self.points.retain(|_| {
                keep = !keep;
                keep
            });
            self.every *= 2;
        }
        self.live = Some(live);
    }

    /// Keeps a remark.
    pub fn note(&mut self, text: &str) {
        let time = Timestamp::now().strftime("%H:%M:%SZ");
        self.notes.push(format!("{time} {}", text.trim()));
        let more = self.notes.len().saturating_sub(MOST_NOTES);
        self.notes.drain(..more);
    }
}

/// A path that another process in another directory understands.
fn whole(path: &Path) -> String {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}

/// The time, in seconds of Unix time.
#[must_use]
pub fn now_s() -> f64 {
    Timestamp::now().as_millisecond() as f64 / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;
    use workload::progress::{Clients, LiveSample, Phase, Sessions};

    fn live(second: u64) -> LiveSample {
        LiveSample {
            elapsed: Duration::from_secs(second),
            iops: second as f64,
            target_iops: None,
            database_read_ms: Some(1.0),
            log_write_ms: None,
            sessions: Sessions {
                clients: Clients::THREADS,
                count: 4,
                operations_per_second: 0.0,
            },
            failing: Vec::new(),
            estimate: None,
            without_service: None,
            hung: None,
        }
    }

    #[test]
    fn a_day_of_seconds_stays_a_small_document_that_covers_the_phase() {
        let mut status = RunStatus::new("1", "mail", "/t");
        status.take_in(Event::PhaseBegan {
            phase: Phase::Measuring,
            expected: Some(Duration::from_secs(86_400)),
        });
        for second in 1..=86_400 {
            status.take_in(Event::Live(&live(second)));
        }
        (0..100).for_each(|_| status.take_in(Event::Note("a remark")));
        assert!(status.points.len() < MOST_POINTS && status.points.len() >= MOST_POINTS / 4);
        assert!(status.points[0].elapsed_s < 600.0);
        let last = status.points.last().unwrap().elapsed_s;
        assert!(last > 86_000.0, "{last}");
        assert_eq!(status.notes.len(), MOST_NOTES);
        let text = serde_json::to_string(&status).unwrap();
        assert!(text.len() < 64 << 10, "{}", text.len());
        let read: RunStatus = serde_json::from_str(&text).unwrap();
        assert_eq!(read.points.len(), status.points.len());
        assert_eq!((read.live, read.notes), (status.live, status.notes));
    }

    #[test]
    fn a_new_phase_begins_with_nothing() {
        let mut status = RunStatus::new("1", "mail", "/t");
        status.take_in(Event::Live(&live(1)));
        status.take_in(Event::Activity("recovery"));
        status.take_in(Event::PhaseBegan {
            phase: Phase::Closing,
            expected: None,
        });
        assert_eq!(status.phase, "closing");
        assert!(status.points.is_empty() && status.live.is_none() && status.activity.is_empty());
    }
}
