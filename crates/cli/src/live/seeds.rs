//! What people see while crash tests run: a live line in a terminal, else a plain line now and then.

use std::time::{Duration, Instant};

use measure::units;
use proofload::{Event, Observer};

use super::pace::Pace;
use super::status_line::{StatusLine, left};

/// Time between two plain lines.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error.
pub struct SeedsView {
    line: StatusLine,
    pace: Pace,
    began: Instant,
}

impl SeedsView {
    /// A view; a quiet one says nothing.
    pub fn new(quiet: bool) -> Self {
        Self {
            line: StatusLine::new(quiet, "{spinner} {msg}", QUIET),
            pace: Pace::new(),
            began: Instant::now(),
        }
    }

    fn progress(&mut self, done: u64, of: u64) {
        let share = done as f64 / of.max(1) as f64;
        let left = left(&mut self.pace, share);
        let rate = done as f64 / self.began.elapsed().as_secs_f64().max(0.001);
        let text = format!(
            "{} of {} seeds, {} a second{left}",
            units::count_of(done),
            units::count_of(of),
            units::count_of(rate.round() as u64)
        );
        self.line.show(text, |has_passed| has_passed && done < of);
    }
}

impl Observer for SeedsView {
    fn event(&mut self, event: Event<'_>) {
        if let Event::SeedsProgress { done, of } = event {
            self.progress(done, of);
        }
    }
}
