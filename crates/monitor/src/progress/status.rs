//! One line about how far something is: live in a terminal, else a plain one now and then.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use proofload::{Event, Observer};
use report::progress::{Due, Status, StatusSource};

use super::REDRAW;
use crate::notify;

/// Shows the line of a source, on standard error.
pub struct StatusView<S> {
    source: S,
    quiet: bool,
    is_live: bool,
    bar: ProgressBar,
    interval: Duration,
    printed: Instant,
}

impl<S: StatusSource> StatusView<S> {
    /// A line of this form; a quiet one says nothing. Without a terminal there are at least
    /// `interval` between two of them.
    pub fn new(source: S, quiet: bool, form: &str, interval: Duration) -> Self {
        let is_live = !quiet && std::io::stderr().is_terminal();
        let bar = ProgressBar::hidden();
        if is_live {
            bar.set_draw_target(ProgressDrawTarget::stderr());
            let style = ProgressStyle::with_template(form);
            bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
            bar.enable_steady_tick(REDRAW);
        }
        Self {
            source,
            quiet,
            is_live,
            bar,
            interval,
            printed: Instant::now(),
        }
    }

    /// Prints a line that stays.
    fn note(&self, text: &str) {
        if !self.quiet {
            self.bar.suspend(|| notify(text));
        }
    }

    fn show(&mut self, text: String, due: Due) {
        let is_due = match due {
            Due::Now => true,
            Due::Later => self.printed.elapsed() >= self.interval,
            Due::Never => false,
        };
        if self.is_live {
            self.bar.set_message(text);
        } else if is_due {
            self.printed = Instant::now();
            self.note(&text);
        }
    }
}

impl<S: StatusSource> Observer for StatusView<S> {
    fn event(&mut self, event: Event<'_>) {
        match self.source.after(event) {
            Some(Status::Line { text, due }) => self.show(text, due),
            Some(Status::Note(text)) => self.note(&text),
            None => {}
        }
    }
}

impl<S> Drop for StatusView<S> {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
