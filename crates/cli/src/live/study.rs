//! How far the cases of a study are, and when they will be done.

use std::time::Duration;

use proofload::events::CaseProgress;
use proofload::{Event, Observer};
use workload::progress::Phase;

use super::figures;
use super::status_line::StatusLine;

/// Shortest time between two lines where there is no terminal.
const INTERVAL: Duration = Duration::from_secs(30);

/// A live line in a terminal, else a line now and then, on standard error.
pub struct StudyView {
    cases: Vec<CaseProgress>,
    /// How many cases are predicted at once.
    jobs: usize,
    /// Cases that were done when the last line was printed.
    printed_done: usize,
    line: StatusLine,
}

impl StudyView {
    /// A view of `jobs` cases at a time; a quiet one prints nothing.
    pub fn new(jobs: usize, quiet: bool) -> Self {
        Self {
            cases: Vec::new(),
            jobs: jobs.max(1),
            printed_done: 0,
            line: StatusLine::new(quiet, "{spinner} {elapsed} {msg}", INTERVAL),
        }
    }

    fn show(&mut self, cases: &[CaseProgress]) {
        cases.clone_into(&mut self.cases);
        let (text, done) = (self.text(), self.done());
        let printed_done = &mut self.printed_done;
        self.line.show(text, |has_passed| {
            let is_due = has_passed || done > *printed_done;
            if is_due {
                *printed_done = done;
            }
            is_due
        });
    }

    fn done(&self) -> usize {
        self.cases.iter().filter(|case| case.is_done).count()
    }

    /// One line: cases done, those under way, the time left.
    fn text(&self) -> String {
        let mut text = format!("{} of {} cases done", self.done(), self.cases.len());
        for case in &self.cases {
            let Some(phase) = case.phase.filter(|_| !case.is_done) else {
                continue;
            };
            let percent = case.completed_fraction * 100.0;
            let state = match phase {
                Phase::Measuring => format!("{percent:.0} %, {:.0} IOPS", case.iops),
                Phase::WarmingUp => format!("{percent:.0} %, warming up"),
                phase => phase.title().to_lowercase(),
            };
            text.push_str(&format!("; {} {state}", case.title));
        }
        if let Some(left) = self.left() {
            text.push_str(&format!("; about {} left", figures::left(left)));
        }
        text
    }

    /// Time until everything is done, when something is known of it.
    fn left(&self) -> Option<Duration> {
        let (mut spent_s, mut simulated_s) = (0.0, 0.0);
        for case in &self.cases {
            let spent = case.spent.map_or(0.0, |spent| spent.as_secs_f64());
            match case.is_done {
                true if case.phase.is_some() => {
                    spent_s += spent;
                    simulated_s += case.simulated_s;
                }
                false if case.completed_fraction > 0.0 => {
                    spent_s += spent;
                    simulated_s += case.simulated_s * case.completed_fraction;
                }
                _ => {}
            }
        }
        if simulated_s <= 0.0 {
            return None;
        }
        let left = self.cases.iter().filter(|case| !case.is_done);
        let left = left.map(|case| case.simulated_s * (1.0 - case.completed_fraction));
        let (mut all, mut longest) = (0.0, 0.0_f64);
        for simulated in left {
            all += simulated;
            longest = longest.max(simulated);
        }
        let left_s = spent_s / simulated_s * longest.max(all / self.jobs as f64);
        Duration::try_from_secs_f64(left_s).ok()
    }
}

impl Observer for StudyView {
    fn event(&mut self, event: Event<'_>) {
        match event {
            Event::StudyProgress(cases) => self.show(cases),
            Event::Note(text) | Event::Warning(text) => self.line.note(text),
            _ => {}
        }
    }
}
