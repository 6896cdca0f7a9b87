//! The machine's clock. What is predicted does not depend on it: it dates results and says how long
//! a computation took.

use std::time::{Duration, Instant};

use jiff::Timestamp;

/// WebAssembly without a system has no clock: there it is always 1970, and nothing takes any time.
const HAS_CLOCK: bool = !cfg!(all(target_family = "wasm", target_os = "unknown"));

/// The time of day.
pub fn timestamp() -> Timestamp {
    match HAS_CLOCK {
        true => Timestamp::now(),
        false => Timestamp::UNIX_EPOCH,
    }
}

/// Measures how long something takes.
#[derive(Clone, Copy, Debug)]
pub struct Stopwatch(Option<Instant>);

impl Stopwatch {
    /// Begins now; without a clock it measures nothing.
    pub fn start() -> Self {
        Self(HAS_CLOCK.then(Instant::now))
    }

    /// The time since it began.
    pub fn elapsed(&self) -> Duration {
        self.0.map_or(Duration::ZERO, |began| began.elapsed())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_clock_of_this_machine_runs() {
        let watch = Stopwatch::start();
        assert!(timestamp() > Timestamp::UNIX_EPOCH);
        std::thread::sleep(Duration::from_millis(1));
        assert!(watch.elapsed() >= Duration::from_millis(1));
    }
}
