//! Downtime of the server.

use std::ops::Range;

use measure::result::{OutageCause, OutageResult};

use crate::error::DatabaseError;

/// Within this time of the first, the errors of other sessions may say why an outage began: a server that
/// is shut down does not reach every session with its reason.
const SAME_EVENT_NS: u64 = 1_000_000_000;

/// Outages: from the first session that was refused until all that were refused are served again. A
/// session that is refused while others are served is an outage, too.
#[derive(Debug, Default)]
pub struct Outages {
    /// Those that have ended, each with its end.
    ended: Vec<(Outage, u64)>,
    /// The current one.
    open: Option<Outage>,
    /// Sessions that wait to be served again.
    waiting: usize,
    /// The measured phase; without an end while it goes on.
    measured_ns: Range<u64>,
}

#[derive(Debug, Clone)]
struct Outage {
    started_ns: u64,
    cause: OutageCause,
    reason: String,
}

impl Outages {
    /// The measured phase begins.
    pub fn begin_measuring(&mut self, now_ns: u64) {
        self.measured_ns = now_ns..u64::MAX;
    }

    /// The load has ended, and with it the measured phase if there was one.
    pub fn end_measuring(&mut self, now_ns: u64) {
        self.measured_ns.end = self.measured_ns.end.min(now_ns);
    }

    /// A session was refused or lost by this error. True if it is the first: an outage begins.
    /// `by_server` says that the server ended the session by itself, whatever the error says.
    pub fn down(&mut self, now_ns: u64, error: &DatabaseError, by_server: bool) -> bool {
        self.waiting += 1;
        let cause = match error {
            DatabaseError::Unavailable { cause, .. } => *cause,
            _ => OutageCause::Other,
        };
        let (cause, reason) = match cause {
            OutageCause::Other if by_server => (
                OutageCause::Command,
                format!(
                    "{error} (its process did not crash: it was shut down, or a client ended sessions)"
                ),
            ),
            cause => (cause, error.to_string()),
        };
        if let Some(open) = &mut self.open {
            let is_same_event = now_ns.saturating_sub(open.started_ns) <= SAME_EVENT_NS;
            if open.cause == OutageCause::Other && cause != OutageCause::Other && is_same_event {
                open.cause = cause;
                open.reason = reason;
            }
            return false;
        }
        self.open = Some(Outage {
            started_ns: now_ns,
            cause,
            reason,
        });
        true
    }

    /// A session is served again, or stopped waiting. Returns the length of the outage in seconds if
    /// it was the last of them.
    pub fn up(&mut self, now_ns: u64) -> Option<f64> {
        self.waiting = self.waiting.saturating_sub(1);
        if self.waiting > 0 {
            return None;
        }
        let outage = self.open.take()?;
        let length_s = seconds(&(outage.started_ns..now_ns));
        self.ended.push((outage, now_ns));
        Some(length_s)
    }

    /// Whether there is an outage now.
    #[must_use]
    pub fn is_down(&self) -> bool {
        self.open.is_some()
    }

    /// All outages; the current one up to now.
    #[must_use]
    pub fn all(&self, now_ns: u64) -> Vec<OutageResult> {
        let open = self.open.iter().map(|outage| (outage, now_ns));
        let ended = self.ended.iter().map(|(outage, end)| (outage, *end));
        let result = |(outage, ended_ns): (&Outage, u64)| {
            let down = outage.started_ns..ended_ns;
            let measured = &self.measured_ns;
            let both = down.start.max(measured.start)..down.end.min(measured.end);
            OutageResult {
                begins_s: outage.started_ns as f64 / 1e9,
                length_s: seconds(&down),
                measured_s: seconds(&both),
                cause: outage.cause,
                reason: outage.reason.clone(),
            }
        };
        ended.chain(open).map(result).collect()
    }
}

/// The length of a span that may be empty.
fn seconds(span_ns: &Range<u64>) -> f64 {
    span_ns.end.saturating_sub(span_ns.start) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    fn gone(message: &str) -> DatabaseError {
        DatabaseError::unavailable(message)
    }

    fn shut_down() -> DatabaseError {
        DatabaseError::Unavailable {
            cause: OutageCause::Command,
            message: "shut down".to_owned(),
        }
    }

    #[test]
    fn many_sessions_see_one_outage() {
        let mut outages = Outages::default();
        assert_eq!(outages.up(1), None, "it was never down");
        assert!(outages.down(2_000_000_000, &gone("gone"), false));
        assert!(!outages.down(2_500_000_000, &gone("refused"), false));
        assert!(outages.is_down());
        assert_eq!(outages.up(4_900_000_000), None, "one still waits");
        assert!(outages.is_down());
        assert_eq!(outages.up(5_000_000_000), Some(3.0));
        assert_eq!(outages.up(5_100_000_000), None);
        assert!(outages.down(6_000_000_000, &gone("again"), false));
        let all = outages.all(6_500_000_000);
        let found: Vec<_> = all
            .iter()
            .map(|one| (one.begins_s, one.length_s, one.reason.as_str()))
            .collect();
        let reason = |text| format!("the database server is not available: {text}");
        let (gone, again) = (reason("gone"), reason("again"));
        assert_eq!(found, [(2.0, 3.0, &*gone), (6.0, 0.5, &*again)]);
    }

    /// Cause and reason of an outage that began with the first error, and in which a second session met the
    /// other one after a time.
    fn cause_of(
        first: &DatabaseError,
        after_ns: u64,
        second: &DatabaseError,
    ) -> (OutageCause, String) {
        let mut outages = Outages::default();
        outages.down(0, first, false);
        outages.down(after_ns, second, false);
        let found = outages.all(after_ns).remove(0);
        (found.cause, found.reason)
    }

    #[test]
    fn the_cause_is_what_any_session_hears_when_an_outage_begins() {
        let command = (OutageCause::Command, shut_down().to_string());
        let other = (OutageCause::Other, gone("reset").to_string());
        let reset = gone("reset");
        assert_eq!(cause_of(&shut_down(), 1, &reset), command);
        assert_eq!(cause_of(&reset, SAME_EVENT_NS, &shut_down()), command);
        // A server that crashed may be restarted by a command later on.
        assert_eq!(cause_of(&reset, SAME_EVENT_NS + 1, &shut_down()), other);
        assert_eq!(cause_of(&reset, 1, &gone("refused")), other);
        let damaged = DatabaseError::Damaged("a page".to_owned());
        assert_eq!(cause_of(&reset, 1, &damaged), other);
    }

    #[test]
    fn a_server_that_has_not_crashed_has_ended_its_sessions_itself() {
        let cause_of = |error: &DatabaseError, by_server: [bool; 2]| {
            let mut outages = Outages::default();
            for by_server in by_server {
                outages.down(0, error, by_server);
            }
            let found = outages.all(1).remove(0);
            (found.cause, found.reason.contains("did not crash"))
        };
        let reset = gone("reset");
        for by_server in [[true, false], [false, true]] {
            assert_eq!(cause_of(&reset, by_server), (OutageCause::Command, true));
        }
        let neither = [false, false];
        assert_eq!(cause_of(&reset, neither), (OutageCause::Other, false));
        let full = DatabaseError::Unavailable {
            cause: OutageCause::ConnectionLimit,
            message: "too many".to_owned(),
        };
        let expected = (OutageCause::ConnectionLimit, false);
        assert_eq!(cause_of(&full, [true, true]), expected);
    }

    #[test]
    fn of_an_outage_is_measured_what_lies_in_the_measured_phase() {
        let second = |number: u64| number * 1_000_000_000;
        let mut outages = Outages::default();
        let down = |outages: &mut Outages, from: u64, until: u64| {
            outages.down(second(from), &gone("gone"), false);
            outages.up(second(until));
        };
        down(&mut outages, 1, 2);
        outages.down(second(3), &gone("gone"), false);
        outages.begin_measuring(second(5));
        outages.up(second(6));
        down(&mut outages, 8, 10);
        outages.down(second(12), &gone("gone"), false);
        let measured = |outages: &Outages| {
            let all = outages.all(second(15));
            all.iter().map(|one| one.measured_s).collect::<Vec<_>>()
        };
        assert_eq!(measured(&outages), [0.0, 1.0, 2.0, 3.0], "it goes on");
        outages.end_measuring(second(14));
        assert_eq!(measured(&outages), [0.0, 1.0, 2.0, 2.0]);

        let mut outages = Outages::default();
        outages.down(second(1), &gone("gone"), false);
        outages.end_measuring(second(3));
        assert_eq!(measured(&outages), [0.0], "nothing was measured");
    }
}
