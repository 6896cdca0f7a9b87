//! The live line of a calibration.

use indicatif::ProgressBar;
use proofload::calibration::Doing;

use super::terminal::bar;
use crate::notify;

/// What is being done to calibrate a model, and how long it takes, on standard error. Its copies are the same line.
#[derive(Clone, Debug)]
pub struct CalibrationBar(ProgressBar);

impl CalibrationBar {
    /// An empty line; nothing is ever shown when `quiet`.
    #[must_use]
    pub fn new(quiet: bool) -> Self {
        if quiet {
            return Self(ProgressBar::hidden());
        }
        Self(bar(
            "{spinner} {msg} [{bar:20}] {percent} %, {time_left} left",
        ))
    }

    /// Shows how far the tests are.
    pub fn testing(&self, doing: &Doing<'_>) {
        match doing {
            Doing::LayingOut {
                done_bytes,
                of_bytes,
            } => self.show("laying out random bytes", *done_bytes, *of_bytes),
            Doing::Testing {
                name,
                number,
                of,
                elapsed,
                span,
            } => {
                let span_ms = span.as_millis() as u64;
                if self.0.length() != Some(span_ms) {
                    // The time left is that of the tests, and not by the rate of the lay-out.
                    self.0.reset();
                }
                let text = format!("test {number} of {of}, {name}");
                self.show(&text, elapsed.as_millis() as u64, span_ms);
            }
            Doing::Notice(text) => self.0.suspend(|| notify(text)),
        }
    }

    /// Shows how far the search for parameters is.
    pub fn searching(&self, done: usize, steps: usize) {
        self.show("looking for parameters", done as u64, steps as u64);
    }

    /// Takes the line away.
    pub fn clear(&self) {
        self.0.finish_and_clear();
    }

    fn show(&self, text: &str, done: u64, of: u64) {
        self.0.set_message(text.to_owned());
        self.0.set_length(of);
        self.0.set_position(done);
    }
}
