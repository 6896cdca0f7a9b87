//! What people see while a grid is computed: a live line in a terminal, else plain lines.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use measure::result::RunResult;

use crate::live::{Pace, clock};

/// Time between two lines about progress.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error.
pub struct View {
    quiet: bool,
    bar: Option<ProgressBar>,
    pace: Pace,
    told: Instant,
    /// Points that ended in earlier rounds.
    before: usize,
    answered: bool,
}

impl View {
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
            told: now,
            before: 0,
            answered: false,
        }
    }

    /// A line that stays.
    pub fn note(&self, text: &str) {
        match &self.bar {
            _ if self.quiet => {}
            Some(bar) => bar.suspend(|| tell!("{text}")),
            None => tell!("{text}"),
        }
    }

    /// A new set of points begins.
    pub fn round(&mut self, done: usize) {
        self.before = done;
        self.pace = Pace::new();
    }

    /// A point has ended.
    pub fn point(&self, name: &str, result: &RunResult) {
        let figures = &result.totals.reads;
        let read = figures.latency.map_or(String::new(), |latency| {
            format!(", read {} ms", report::number::figure(latency.average_ms))
        });
        let iops = report::number::figure(result.throughput.achieved_iops);
        self.note(&format!("{name}: {}, {iops} IOPS{read}", result.verdict));
    }

    /// How far the points of this round have come, each a share of its whole.
    pub fn progress(&mut self, shares: &[f64], stopped: bool) {
        if stopped && !self.answered {
            self.answered = true;
            self.note("Stopping; what was computed is kept. Press Ctrl-C again to stop at once.");
        }
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
            None if self.told.elapsed() >= QUIET && done < shares.len() => {
                self.told = Instant::now();
                self.note(&text);
            }
            None => {}
        }
    }
}

impl Drop for View {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
