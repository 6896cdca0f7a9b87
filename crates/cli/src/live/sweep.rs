//! What people see while a grid is computed: a live line in a terminal, else plain lines.

use std::time::Duration;

use measure::result::RunResult;
use proofload::{Event, Observer};

use super::pace::Pace;
use super::status_line::{StatusLine, left};

/// Time between two lines about progress.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error.
pub struct SweepView {
    line: StatusLine,
    pace: Pace,
    /// Points that ended in earlier rounds.
    before: usize,
}

impl SweepView {
    /// A view; a quiet one says nothing.
    pub fn new(quiet: bool) -> Self {
        Self {
            line: StatusLine::new(quiet, "{spinner} {msg}", QUIET),
            pace: Pace::new(),
            before: 0,
        }
    }

    /// A new set of points begins.
    fn round(&mut self, done: usize) {
        self.before = done;
        self.pace = Pace::new();
    }

    /// A point has ended.
    fn point(&self, name: &str, result: &RunResult) {
        let figures = &result.totals.reads;
        let read = figures.latency.map_or(String::new(), |latency| {
            format!(", read {} ms", report::number::figure(latency.average_ms))
        });
        let iops = report::number::figure(result.throughput.achieved_iops);
        self.line
            .note(&format!("{name}: {}, {iops} IOPS{read}", result.verdict));
    }

    /// How far the points of this round have come, each a share of its whole.
    fn progress(&mut self, shares: &[f64]) {
        let done = shares.iter().filter(|share| **share >= 1.0).count();
        let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let left = left(&mut self.pace, share);
        let earlier = match self.before {
            0 => String::new(),
            before => format!(" after {before} earlier ones"),
        };
        let text = format!(
            "{done} of {} points done{earlier}, {:.0} %{left}",
            shares.len(),
            share * 100.0
        );
        self.line
            .show(text, |has_passed| has_passed && done < shares.len());
    }
}

impl Observer for SweepView {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Note(text) | Event::Warning(text) => self.line.note(text),
            Event::RoundBegan { done } => self.round(done),
            Event::PointDone { name, result, .. } => self.point(name, result),
            Event::SweepProgress(shares) => self.progress(shares),
            _ => {}
        }
    }
}
