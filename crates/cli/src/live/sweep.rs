//! What people see while a grid is computed: a live line in a terminal, else plain lines.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use measure::result::RunResult;
use proofload::{Event, Observer};

use super::figures::clock;
use super::pace::Pace;
use crate::print::notify;

/// Time between two lines about progress.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error.
pub struct SweepView {
    quiet: bool,
    bar: Option<ProgressBar>,
    pace: Pace,
    printed: Instant,
    /// Points that ended in earlier rounds.
    before: usize,
}

impl SweepView {
    /// A view; a quiet one says nothing.
    pub fn new(quiet: bool) -> Self {
        let bar = (!quiet && std::io::stderr().is_terminal()).then(|| {
            let bar = ProgressBar::new_spinner();
            let style = ProgressStyle::with_template("{spinner} {msg}");
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(200));
            bar
        });
        let now = Instant::now();
        Self {
            quiet,
            bar,
            pace: Pace::new(),
            printed: now,
            before: 0,
        }
    }

    /// A line that stays.
    fn note(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| notify(text)),
            None => notify(text),
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
        self.note(&format!("{name}: {}, {iops} IOPS{read}", result.verdict));
    }

    /// How far the points of this round have come, each a share of its whole.
    fn progress(&mut self, shares: &[f64]) {
        let done = shares.iter().filter(|share| **share >= 1.0).count();
        let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let left = self.pace.left(Instant::now(), share);
        let left = left.map_or(String::new(), |left| {
            format!(", about {} left", clock(left))
        });
        let earlier = match self.before {
            0 => String::new(),
            before => format!(" after {before} earlier ones"),
        };
        let text = format!(
            "{done} of {} points done{earlier}, {:.0} %{left}",
            shares.len(),
            share * 100.0
        );
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if self.printed.elapsed() >= QUIET && done < shares.len() => {
                self.printed = Instant::now();
                self.note(&text);
            }
            None => {}
        }
    }
}

impl Observer for SweepView {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::Note(text) | Event::Warning(text) => self.note(text),
            Event::RoundBegan { done } => self.round(done),
            Event::PointDone { name, result, .. } => self.point(name, result),
            Event::SweepProgress(shares) => self.progress(shares),
            _ => {}
        }
    }
}

impl Drop for SweepView {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
