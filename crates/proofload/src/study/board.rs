//! How far the cases of a study have come, and when they will be done.

use std::io::IsTerminal;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};
use workload::controller::RunListener;
use workload::progress::{LiveSample, Phase};

use super::cases::{Task, lock};

/// Shortest time between two lines where there is no terminal.
const TOLD_EVERY: Duration = Duration::from_secs(30);

/// One case on the board.
struct Entry {
    title: String,
    /// Simulated seconds of the shortest warm-up, and of that with the measured phase.
    warm_up_s: f64,
    simulated_s: f64,
    began: Option<Instant>,
    took: Option<Duration>,
    phase: Option<Phase>,
    elapsed: Duration,
    iops: f64,
}

/// All cases of a call.
pub struct Board {
    entries: Vec<Entry>,
    jobs: usize,
    told: Instant,
    ended: usize,
    line: ProgressBar,
}

impl Board {
    /// A board of these tasks, `jobs` of them at a time.
    pub fn new(tasks: &[Task], jobs: usize) -> Self {
        let entries = tasks.iter().map(|task| Entry {
            title: task.title(),
            warm_up_s: task.warm_up_s(),
            simulated_s: task.simulated_s(),
            began: None,
            took: None,
            phase: None,
            elapsed: Duration::ZERO,
            iops: 0.0,
        });
        let line = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {elapsed} {msg}") {
            line.set_style(style);
        }
        Self {
            entries: entries.collect(),
            jobs: jobs.max(1),
            told: Instant::now(),
            ended: 0,
            line,
        }
    }

    /// Notes the end of a task.
    pub fn end(&mut self, number: usize) {
        let entry = &mut self.entries[number];
        let began = entry.began.unwrap_or_else(Instant::now);
        entry.took = Some(began.elapsed());
    }

    /// Shows how things stand on standard error: a live line in a terminal, else lines now and
    /// then.
    pub fn show(&mut self, quiet: bool) {
        if quiet {
            return;
        }
        if std::io::stderr().is_terminal() {
            self.line.set_message(self.text());
            self.line.tick();
            return;
        }
        let ended = self.done();
        if ended > self.ended || self.told.elapsed() >= TOLD_EVERY {
            (self.ended, self.told) = (ended, Instant::now());
            tell!("{}", self.text());
        }
    }

    /// Takes the live line away.
    pub fn finish(&mut self, quiet: bool) {
        self.line.finish_and_clear();
        if !quiet && !std::io::stderr().is_terminal() && self.done() > self.ended {
            tell!("{}", self.text());
        }
    }

    fn done(&self) -> usize {
        let done = self.entries.iter().filter(|entry| entry.took.is_some());
        done.count()
    }

    /// One line: cases done, those under way, the time left.
    fn text(&self) -> String {
        let mut text = format!("{} of {} cases done", self.done(), self.entries.len());
        for entry in &self.entries {
            let Some(phase) = entry.phase.filter(|_| entry.took.is_none()) else {
                continue;
            };
            let percent = entry.share() * 100.0;
            let state = match phase {
                Phase::Measuring => format!("{percent:.0} %, {:.0} IOPS", entry.iops),
                Phase::WarmingUp => format!("{percent:.0} %, warming up"),
                phase => phase.title().to_lowercase(),
            };
            text.push_str(&format!("; {} {state}", entry.title));
        }
        if let Some(left) = self.left_s() {
            text.push_str(&format!("; about {} left", report::number::duration(left)));
        }
        text
    }

    /// Seconds until everything is done, when something is known of it.
    fn left_s(&self) -> Option<f64> {
        let (mut spent_s, mut simulated_s) = (0.0, 0.0);
        for entry in &self.entries {
            let (Some(began), share) = (entry.began, entry.share()) else {
                continue;
            };
            match entry.took {
                Some(took) if entry.phase.is_some() => {
                    spent_s += took.as_secs_f64();
                    simulated_s += entry.simulated_s;
                }
                None if share > 0.0 => {
                    spent_s += began.elapsed().as_secs_f64();
                    simulated_s += entry.simulated_s * share;
                }
                _ => {}
            }
        }
        if simulated_s <= 0.0 {
            return None;
        }
        let left = self.entries.iter().filter(|entry| entry.took.is_none());
        let left = left.map(|entry| entry.simulated_s * (1.0 - entry.share()));
        let (mut all, mut longest) = (0.0, 0.0_f64);
        for simulated in left {
            all += simulated;
            longest = longest.max(simulated);
        }
        Some(spent_s / simulated_s * longest.max(all / self.jobs as f64))
    }
}

impl Entry {
    /// How much of the simulated time has passed, as far as it is known beforehand.
    fn share(&self) -> f64 {
        let elapsed_s = self.elapsed.as_secs_f64();
        let passed_s = match self.phase {
            Some(Phase::WarmingUp) => elapsed_s.min(self.warm_up_s),
            Some(Phase::Measuring) => self.warm_up_s + elapsed_s,
            Some(Phase::Closing | Phase::Verifying) => self.simulated_s,
            _ => 0.0,
        };
        (passed_s / self.simulated_s.max(1e-9)).min(1.0)
    }
}

/// Hears of one case and puts it on the board.
pub struct Watch {
    board: Arc<Mutex<Board>>,
    number: usize,
}

impl Watch {
    /// A watch over the task of that number.
    pub fn new(board: Arc<Mutex<Board>>, number: usize) -> Self {
        Self { board, number }
    }
}

impl RunListener for Watch {
    fn phase(&mut self, phase: Phase, _expected: Option<Duration>) {
        let mut board = lock(&self.board);
        let entry = &mut board.entries[self.number];
        entry.began.get_or_insert_with(Instant::now);
        entry.phase = Some(phase);
        entry.elapsed = Duration::ZERO;
    }

    fn live(&mut self, figures: &LiveSample) {
        let mut board = lock(&self.board);
        let entry = &mut board.entries[self.number];
        (entry.elapsed, entry.iops) = (figures.elapsed, figures.iops);
    }
}
