//! The beginning of a phase, reported after the last counts of the one before it.
//!
//! Shards hand in the rest of a phase when they hear of the next one. Reported at once, a phase would
//! begin in a log before the last figures of the phase it follows.

use super::listener::RunListener;
use crate::progress::Phase;
use measure::sample::Phase as SamplePhase;
use std::time::Duration;

/// The longest time that a phase waits for the counts of the one before it.
const LONGEST_DELAY_NS: u64 = 500_000_000;

/// A phase that has begun and may not have been reported yet.
#[derive(Debug, Default)]
pub struct PhaseNotice {
    waiting: Option<Waiting>,
}

#[derive(Debug)]
struct Waiting {
    phase: Phase,
    expected: Option<Duration>,
    due_ns: u64,
}

impl PhaseNotice {
    /// A phase begins, after one `with_counts` that are still to come or after one without. What
    /// waited before has been reported.
    pub fn begin(
        &mut self,
        (phase, expected): (Phase, Option<Duration>),
        with_counts: bool,
        now_ns: u64,
        listener: &mut dyn RunListener,
    ) {
        debug_assert!(self.waiting.is_none());
        self.waiting = Some(Waiting {
            phase,
            expected,
            due_ns: now_ns + LONGEST_DELAY_NS,
        });
        if !with_counts {
            self.notify(listener);
        }
    }

    /// Reports the pending phase, if there is one.
    pub fn notify(&mut self, listener: &mut dyn RunListener) {
        if let Some(waiting) = self.waiting.take() {
            listener.phase(waiting.phase, waiting.expected);
        }
    }

    /// Reports the phase that has waited long enough.
    pub fn notify_when_due(&mut self, now_ns: u64, listener: &mut dyn RunListener) {
        if self
            .waiting
            .as_ref()
            .is_some_and(|one| one.due_ns <= now_ns)
        {
            self.notify(listener);
        }
    }

    /// To be called before counts are reported: the first ones of the phase that waits make it known.
    pub fn before(&mut self, counted_in: SamplePhase, listener: &mut dyn RunListener) {
        let waiting = self.waiting.as_ref();
        if waiting.is_some_and(|one| one.phase.of_samples() == counted_in) {
            self.notify(listener);
        }
    }
}
