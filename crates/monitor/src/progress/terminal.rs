//! The live lines of a terminal.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use proofload::{Event, Observer};
use report::progress::{Pace, Speed, bars, figures};
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::{REDRAW, keys};
use crate::notify;

/// Up to three lines that are drawn over and over: the progress of the phase, the figures of the last
/// second, the verdict so far. Each fits 80 columns. Notes scroll past above them.
pub struct TerminalView {
    line: ProgressBar,
    /// Whether time is simulated: then progress follows the samples, not the clock on the wall.
    simulated: bool,
    /// Length of the present phase when time is simulated, and when it began on the wall.
    measured: Option<(Duration, Instant)>,
    pace: Pace,
    speed: Speed,
}

impl TerminalView {
    /// A view on standard error.
    pub fn new(simulated: bool) -> Self {
        keys::hide();
        Self {
            line: ProgressBar::hidden(),
            simulated,
            measured: None,
            pace: Pace::new(),
            speed: Speed::new(),
        }
    }

    fn replace(&mut self, line: ProgressBar) {
        self.line.finish_and_clear();
        line.enable_steady_tick(REDRAW);
        self.line = line;
    }
}

impl Drop for TerminalView {
    fn drop(&mut self) {
        self.line.finish_and_clear();
        keys::show();
    }
}

/// A style from a template of ours. A template that does not parse would be a fault of ours, which
/// must not end a run, so the default style stands in.
fn style(template: &str) -> ProgressStyle {
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner())
}

/// A bar of no length yet, in the form of this template, which can name the `time_left`.
#[must_use]
pub fn bar(template: &str) -> ProgressBar {
    ProgressBar::new(0).with_style(style(template).with_key("time_left", bar_left))
}

/// The time left of a bar, for a template that names it.
fn bar_left(state: &ProgressState, out: &mut dyn Write) {
    let _ = out.write_str(&figures::left(state.eta()));
}

impl Observer for TerminalView {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::PhaseBegan { phase, expected } => self.phase(phase, expected),
            Event::Progress(progress) => self.progress(progress),
            Event::Activity(text) => self.activity(text),
            Event::Live(figures) => self.live(figures),
            Event::Sample {
                sample, figures, ..
            } if sample.phase.is_under_load() => self.live(figures),
            Event::Replayed {
                requests,
                of,
                elapsed,
                span,
            } => {
                if let Some(text) = self.speed.of_replay(requests, of, elapsed, span) {
                    self.note(&text);
                }
            }
            Event::Note(text) | Event::Warning(text) => self.note(text),
            _ => {}
        }
    }
}

impl TerminalView {
    fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        let line = ProgressBar::new_spinner().with_prefix(phase.title());
        self.measured = expected
            .filter(|_| self.simulated)
            .map(|expected| (expected, Instant::now()));
        self.pace = Pace::new();
        if self.measured.is_some() {
            line.set_style(style("{spinner} {prefix} {msg}"));
        } else if let Some(expected) = expected {
            let draw = move |state: &ProgressState, out: &mut dyn Write| {
                let _ = write!(out, "{}", bars::of_time(state.elapsed(), expected));
            };
            let template = "{spinner} {prefix} {elapsed} {progress}\n  {msg}";
            line.set_style(style(template).with_key("progress", draw));
        } else if matches!(phase, Phase::WarmingUp | Phase::Tuning) {
            line.set_style(style("{spinner} {prefix} {elapsed}\n  {msg}"));
        } else {
            line.set_style(style("{spinner} {prefix} {elapsed}"));
        }
        self.replace(line);
    }

    fn progress(&mut self, progress: ByteProgress) {
        let line = &self.line;
        if line.length() != Some(progress.total_bytes) {
            let template = "{spinner} {prefix} {elapsed} [{bar:20}] {time_left} left\n  {binary_bytes} \
                            of {binary_total_bytes}, {binary_bytes_per_sec}";
            let style = style(template).with_key("time_left", bar_left);
            line.set_style(style.progress_chars("## "));
            line.set_length(progress.total_bytes);
        }
        line.set_position(progress.done_bytes);
    }

    fn activity(&mut self, text: &str) {
        self.line
            .set_style(style("{spinner} {prefix} {elapsed}\n  {msg}"));
        self.line.set_message(text.to_owned());
    }

    fn live(&mut self, sample: &LiveSample) {
        let hung = figures::hung(sample);
        let shown = match (sample.without_service, &sample.estimate) {
            _ if hung.is_some() => console::style(hung.unwrap_or_default()).red(),
            (Some(length), _) => {
                let away = figures::without_service(length, jiff::Timestamp::now());
                console::style(away).red()
            }
            (None, Some(estimate)) => console::style(figures::estimate(estimate, self.simulated)),
            (None, None) if sample.failing.is_empty() => {
                console::style(figures::standing(sample)).green()
            }
            (None, None) => console::style(figures::standing(sample)).red(),
        };
        let mut text = format!("{}\n  {}", figures::sample(sample), shown.for_stderr());
        if let Some((expected, began)) = self.measured {
            let done = bars::share(sample.elapsed, expected);
            let left = self.pace.left(Instant::now(), done);
            let progress = bars::of_simulated_time(sample.elapsed, expected, began.elapsed(), left);
            text = format!("{progress}\n  {text}");
        }
        self.line.set_message(text);
    }

    fn note(&mut self, text: &str) {
        self.line.suspend(|| notify(text));
    }
}
