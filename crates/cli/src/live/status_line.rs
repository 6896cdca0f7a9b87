//! One line about how far something is: live in a terminal, else a plain one now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use super::figures;
use super::pace::Pace;
use crate::print::notify;

/// The line, on standard error.
pub struct StatusLine {
    quiet: bool,
    is_live: bool,
    bar: ProgressBar,
    interval: Duration,
    printed: Instant,
}

impl StatusLine {
    /// A line of this form; a quiet one says nothing. Without a terminal there are at least
    /// `interval` between two of them.
    pub fn new(quiet: bool, form: &str, interval: Duration) -> Self {
        let is_live = !quiet && std::io::stderr().is_terminal();
        let bar = ProgressBar::hidden();
        if is_live {
            bar.set_draw_target(indicatif::ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(form);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(Duration::from_millis(200));
        }
        Self {
            quiet,
            is_live,
            bar,
            interval,
            printed: Instant::now(),
        }
    }

    /// Prints a line that stays.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| notify(text));
        }
    }

    /// Shows how far it is. Without a terminal a line is printed if `is_due` says so, which is given
    /// whether the interval has passed.
    pub fn show(&mut self, text: String, is_due: impl FnOnce(bool) -> bool) {
        if self.is_live {
            self.bar.set_message(text);
        } else if is_due(self.printed.elapsed() >= self.interval) {
            self.printed = Instant::now();
            self.note(&text);
        }
    }
}

impl Drop for StatusLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// In words, how long the rest takes when this share is done; empty while nobody can know.
pub fn left(pace: &mut Pace, share: f64) -> String {
    let left = pace.left(Instant::now(), share);
    left.map_or(String::new(), |left| {
        format!(", about {} left", figures::left(left))
    })
}
