//! What people see while crash tests run: a live line in a terminal, else a plain line now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use measure::units;
use proofload::{Event, Observer};

use super::figures::clock;
use super::pace::Pace;
use crate::print::notify;

/// Time between two plain lines.
const QUIET: Duration = Duration::from_secs(10);

/// Progress on standard error.
pub struct SeedsView {
    quiet: bool,
    bar: Option<ProgressBar>,
    pace: Pace,
    began: Instant,
    printed: Instant,
}

impl SeedsView {
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
            began: now,
            printed: now,
        }
    }

    fn progress(&mut self, done: u64, of: u64) {
        let share = done as f64 / of.max(1) as f64;
        let left = self.pace.left(Instant::now(), share);
        let left = left.map_or(String::new(), |left| {
            format!(", about {} left", clock(left))
        });
        let rate = done as f64 / self.began.elapsed().as_secs_f64().max(0.001);
        let text = format!(
            "{} of {} seeds, {} a second{left}",
            units::count_of(done),
            units::count_of(of),
            units::count_of(rate.round() as u64)
        );
        match &self.bar {
            Some(bar) => bar.set_message(text),
            None if !self.quiet && self.printed.elapsed() >= QUIET && done < of => {
                self.printed = Instant::now();
                notify(&text);
            }
            None => {}
        }
    }
}

impl Observer for SeedsView {
    fn event(&mut self, event: Event<'_>) {
        if let Event::SeedsProgress { done, of } = event {
            self.progress(done, of);
        }
    }
}

impl Drop for SeedsView {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
