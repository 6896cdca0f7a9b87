//! How far crash tests are.

use std::time::Instant;

use measure::units;
use proofload::Event;

use super::figures::about_left;
use super::pace::Pace;
use super::status::{Due, Status, StatusSource};

/// Seeds done, their rate and the time left.
pub struct SeedsStatus {
    pace: Pace,
    began: Instant,
}

impl SeedsStatus {
    /// Of crash tests that begin now.
    #[must_use]
    pub fn new() -> Self {
        Self {
            pace: Pace::new(),
            began: Instant::now(),
        }
    }
}

impl Default for SeedsStatus {
    fn default() -> Self {
        Self::new()
    }
}

impl StatusSource for SeedsStatus {
    fn after(&mut self, event: Event<'_>) -> Option<Status> {
        let Event::SeedsProgress { done, of } = event else {
            return None;
        };
        let now = Instant::now();
        let share = done as f64 / of.max(1) as f64;
        let left = about_left(self.pace.left(now, share));
        let spent_s = now.duration_since(self.began).as_secs_f64();
        let rate = done as f64 / spent_s.max(0.001);
        let text = format!(
            "{} of {} seeds, {} a second{left}",
            units::count_of(done),
            units::count_of(of),
            units::count_of(rate.round() as u64)
        );
        let due = if done < of { Due::Later } else { Due::Never };
        Some(Status::Line { text, due })
    }
}
