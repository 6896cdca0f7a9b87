//! How far the points of a sweep or a search are.

use std::time::Instant;

use measure::display::number::figure;
use measure::result::RunResult;
use proofload::Event;

use super::figures::about_left;
use super::pace::Pace;
use super::status::{Due, Status, StatusSource};

/// Points done and the time left; a note of each point with its figures.
#[derive(Default)]
pub struct PointsStatus {
    pace: Pace,
    /// Points that ended in earlier rounds.
    before: usize,
}

impl PointsStatus {
    /// Before the first round.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How far the points of this round have come, each a share of its whole.
    fn progress(&mut self, shares: &[f64]) -> Status {
        let done = shares.iter().filter(|share| **share >= 1.0).count();
        let share = shares.iter().sum::<f64>() / shares.len().max(1) as f64;
        let left = about_left(self.pace.left(Instant::now(), share));
        let earlier = match self.before {
            0 => String::new(),
            before => format!(" after {before} earlier ones"),
        };
        let text = format!(
            "{done} of {} points done{earlier}, {:.0} %{left}",
            shares.len(),
            share * 100.0
        );
        let due = match done < shares.len() {
            true => Due::Later,
            false => Due::Never,
        };
        Status::Line { text, due }
    }
}

impl StatusSource for PointsStatus {
    fn after(&mut self, event: Event<'_>) -> Option<Status> {
        match event {
            Event::Note(text) | Event::Warning(text) => Some(Status::Note(text.to_owned())),
            Event::RoundBegan { done } => {
                (self.before, self.pace) = (done, Pace::new());
                None
            }
            Event::PointDone { name, result, .. } => Some(Status::Note(point(name, result))),
            Event::SweepProgress(shares) => Some(self.progress(shares)),
            _ => None,
        }
    }
}

/// A point that has ended.
fn point(name: &str, result: &RunResult) -> String {
    let read = result.totals.reads.latency;
    let read = read.map_or(String::new(), |latency| {
        format!(", read {} ms", figure(latency.average_ms))
    });
    let iops = figure(result.throughput.achieved_iops);
    format!("{name}: {}, {iops} IOPS{read}", result.verdict)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_of_earlier_rounds_are_counted_apart() {
        let mut status = PointsStatus::new();
        let line = |text: &str, due| {
            let text = text.to_owned();
            Some(Status::Line { text, due })
        };
        let shares = [1.0, 0.5, 0.0];
        assert_eq!(
            status.after(Event::SweepProgress(&shares)),
            line("1 of 3 points done, 50 %", Due::Later)
        );
        assert_eq!(status.after(Event::RoundBegan { done: 3 }), None);
        assert_eq!(
            status.after(Event::SweepProgress(&[1.0])),
            line("1 of 1 points done after 3 earlier ones, 100 %", Due::Never)
        );
        let result = RunResult::default();
        let done = Event::PointDone {
            name: "threads=8",
            result: &result,
            directory: None,
        };
        let note = "threads=8: inconclusive, 0 IOPS".to_owned();
        assert_eq!(status.after(done), Some(Status::Note(note)));
    }
}
