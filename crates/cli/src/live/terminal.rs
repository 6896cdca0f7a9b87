//! The live lines of a terminal.

use std::fmt::Write;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressState, ProgressStyle};
use proofload::{Event, Observer};
use workload::progress::{ByteProgress, LiveSample, Phase};

use super::pace::Pace;
use super::speed::Speed;
use super::{figures, keys};
use crate::print::notify;

/// How often the line is drawn again between samples.
const REDRAW: Duration = Duration::from_millis(200);

/// Cells of the bar.
const BAR_CELLS: usize = 20;

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

/// The bar of a phase whose length is known: how much of it has passed, and what remains.
fn progress_of(elapsed: Duration, expected: Duration) -> String {
    let remaining = figures::left(expected.saturating_sub(elapsed));
    format!("{} {remaining} left", bar(share(elapsed, expected)))
}

fn share(elapsed: Duration, expected: Duration) -> f64 {
    (elapsed.as_secs_f64() / expected.as_secs_f64().max(0.001)).min(1.0)
}

fn bar(share: f64) -> String {
    let full = (share * BAR_CELLS as f64) as usize;
    format!("[{:<BAR_CELLS$}]", "#".repeat(full))
}

/// Progress of simulated time: how much of it has passed, how much faster than real time it goes,
/// and how long that takes yet, where that is known.
fn simulated_progress(
    elapsed: Duration,
    expected: Duration,
    spent: Duration,
    left: Option<Duration>,
) -> String {
    let left = left.map_or(String::new(), |left| {
        format!(" about {} left", figures::left(left))
    });
    format!(
        "{} of {} simulated, {:.0} times real speed {}{left}",
        figures::clock(elapsed),
        figures::clock(expected),
        elapsed.as_secs_f64() / spent.as_secs_f64().max(1e-3),
        bar(share(elapsed, expected)),
    )
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
                let _ = write!(out, "{}", progress_of(state.elapsed(), expected));
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
            let style = style(template).with_key("time_left", figures::bar_left);
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
            let done = share(sample.elapsed, expected);
            let left = self.pace.left(Instant::now(), done);
            let progress = simulated_progress(sample.elapsed, expected, began.elapsed(), left);
            text = format!("{progress}\n  {text}");
        }
        self.line.set_message(text);
    }

    fn note(&mut self, text: &str) {
        self.line.suspend(|| notify(text));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_fills_and_counts_down() {
        let minute = Duration::from_secs(60);
        assert_eq!(
            progress_of(Duration::ZERO, minute),
            "[                    ] 1 min left"
        );
        assert_eq!(
            progress_of(minute / 2, minute),
            "[##########          ] 30 s left"
        );
        assert_eq!(
            progress_of(minute * 2, minute),
            "[####################] 0 s left"
        );
        assert_eq!(
            simulated_progress(minute / 2, minute, minute / 60, Some(minute / 60)),
            "0:30 of 1:00 simulated, 30 times real speed [##########          ] about 1 s left"
        );
        assert_eq!(
            simulated_progress(minute / 2, minute, minute / 60, None),
            "0:30 of 1:00 simulated, 30 times real speed [##########          ]"
        );
    }
}
