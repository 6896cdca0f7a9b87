//! How fast simulated time passes, said now and then.

use std::time::{Duration, Instant};

use measure::display::number::{duration, figure, quantity};
use measure::metric::Unit;
use measure::units::count_of;
use workload::progress::{LiveSample, Phase};

use super::figures;
use super::pace::Pace;

/// Shortest time between two lines.
const INTERVAL: Duration = Duration::from_secs(5);

/// Compares simulated with real time.
pub struct Speed {
    /// Length of the measured phase while it lasts.
    measured: Option<Duration>,
    since: Instant,
    pace: Pace,
    printed: Instant,
}

impl Default for Speed {
    fn default() -> Self {
        Self::new()
    }
}

impl Speed {
    /// Nothing has been simulated yet.
    #[must_use]
    pub fn new() -> Self {
        let now = Instant::now();
        Self {
            measured: None,
            since: now,
            pace: Pace::new(),
            printed: now,
        }
    }

    /// A phase begins; speed is measured again.
    pub fn phase(&mut self, phase: Phase, expected: Option<Duration>) {
        self.measured = expected.filter(|_| phase == Phase::Measuring);
        self.since = Instant::now();
        self.pace = Pace::new();
    }

    /// A line about the measured phase of a prediction, when one is due.
    pub fn of_prediction(&mut self, sample: &LiveSample) -> Option<String> {
        let measured = self.measured?;
        let elapsed_s = sample.elapsed.as_secs_f64();
        let share = elapsed_s / measured.as_secs_f64().max(1e-9);
        let left = self.pace.left(Instant::now(), share);
        if sample.elapsed.is_zero() || !self.is_due() {
            return None;
        }
        let speed = elapsed_s / self.since.elapsed().as_secs_f64();
        Some(format!(
            "simulated {} of {} at {} times real speed, {}{}",
            duration(elapsed_s.round()),
            duration(measured.as_secs_f64()),
            figure(speed),
            quantity(sample.iops, Unit::Iops),
            figures::about_left(left),
        ))
    }

    /// A line about a replay, when one is due.
    pub fn of_replay(
        &mut self,
        requests: u64,
        of: u64,
        elapsed: Duration,
        span: Option<Duration>,
    ) -> Option<String> {
        if !self.is_due() {
            return None;
        }
        let rate = requests as f64 / self.since.elapsed().as_secs_f64();
        let left_s = of.saturating_sub(requests) as f64 / rate.max(1e-6);
        let left = Duration::try_from_secs_f64(left_s).unwrap_or(Duration::MAX);
        let elapsed_s = elapsed.as_secs_f64();
        let simulated = match span {
            Some(span) => format!("{elapsed_s:.1} of {:.1} s", span.as_secs_f64()),
            None => format!("{elapsed_s:.1} s"),
        };
        Some(format!(
            "{} of {} requests, simulated {simulated}, {} requests/s, about {} left",
            count_of(requests),
            count_of(of),
            figure(rate),
            figures::left(left)
        ))
    }

    fn is_due(&mut self) -> bool {
        let is_due = self.printed.elapsed() >= INTERVAL;
        if is_due {
            self.printed = Instant::now();
        }
        is_due
    }
}
