//! Bars of characters, with what remains.

use std::time::Duration;

use super::figures::{clock, left};

/// Cells of a bar.
const BAR_CELLS: usize = 20;

/// The bar of a phase whose length is known: how much of it has passed, and what remains.
#[must_use]
pub fn of_time(elapsed: Duration, expected: Duration) -> String {
    let remaining = left(expected.saturating_sub(elapsed));
    format!("{} {remaining} left", bar(share(elapsed, expected)))
}

/// Progress of simulated time: how much of it has passed, how much faster than real time it goes,
/// and how long that takes yet, where that is known.
#[must_use]
pub fn of_simulated_time(
    elapsed: Duration,
    expected: Duration,
    spent: Duration,
    time_left: Option<Duration>,
) -> String {
    let time_left = time_left.map_or(String::new(), |time| format!(" about {} left", left(time)));
    format!(
        "{} of {} simulated, {:.0} times real speed {}{time_left}",
        clock(elapsed),
        clock(expected),
        elapsed.as_secs_f64() / spent.as_secs_f64().max(1e-3),
        bar(share(elapsed, expected)),
    )
}

/// The part of `expected` that has passed, from 0 to 1.
#[must_use]
pub fn share(elapsed: Duration, expected: Duration) -> f64 {
    (elapsed.as_secs_f64() / expected.as_secs_f64().max(0.001)).min(1.0)
}

fn bar(share: f64) -> String {
    let full = (share * BAR_CELLS as f64) as usize;
    format!("[{:<BAR_CELLS$}]", "#".repeat(full))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_progress_fills_and_counts_down() {
        let minute = Duration::from_secs(60);
        assert_eq!(
            of_time(Duration::ZERO, minute),
            "[                    ] 1 min left"
        );
        assert_eq!(
            of_time(minute / 2, minute),
            "[##########          ] 30 s left"
        );
        assert_eq!(
            of_time(minute * 2, minute),
            "[####################] 0 s left"
        );
        assert_eq!(
            of_simulated_time(minute / 2, minute, minute / 60, Some(minute / 60)),
            "0:30 of 1:00 simulated, 30 times real speed [##########          ] about 1 s left"
        );
        assert_eq!(
            of_simulated_time(minute / 2, minute, minute / 60, None),
            "0:30 of 1:00 simulated, 30 times real speed [##########          ]"
        );
    }
}
