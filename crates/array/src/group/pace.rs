//! What rebuilds and scrubs have in common: a walk over rows, and a pace.

use crate::SECTOR_BYTES;

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Timer {
    /// The next step of the rebuild of that number.
    Rebuild(u32),
    /// The next step of the scrub of that disk set.
    Scrub(u16),
}

/// A place in the walk over all rows of all groups of a set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Cursor {
    pub(super) group: usize,
    pub(super) stripe: u64,
    pub(super) row: u64,
}

/// Nanoseconds per sector at a rate in MB (10^6 bytes) per second.
pub(super) fn ns_per_sector(rate_mb_per_s: f64) -> f64 {
    SECTOR_BYTES as f64 * 1e3 / rate_mb_per_s
}

/// Whether a step may start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Turn {
    /// It may start now.
    Now,
    /// It may start later; the caller sets a timer for then.
    SetTimer(u64),
    /// It may start later; a timer is set already.
    Wait,
}

/// Keeps steps from starting earlier than their pace allows, with at most one timer set.
#[derive(Debug, Clone, Default)]
pub(super) struct Pacer {
    next_start_ns: u64,
    timer_is_set: bool,
}

impl Pacer {
    /// A pacer whose first step may start at `start_ns`.
    pub(super) fn new(start_ns: u64) -> Self {
        Self {
            next_start_ns: start_ns,
            timer_is_set: false,
        }
    }

    /// Lets the next step start at `start_ns`, whatever was started before.
    pub(super) fn restart(&mut self, start_ns: u64) {
        self.next_start_ns = start_ns;
    }

    /// The timer has fired.
    pub(super) fn timer_fired(&mut self) {
        self.timer_is_set = false;
    }

    /// Whether a step may start now.
    pub(super) fn turn(&mut self, now_ns: u64) -> Turn {
        if now_ns >= self.next_start_ns {
            return Turn::Now;
        }
        if std::mem::replace(&mut self.timer_is_set, true) {
            return Turn::Wait;
        }
        Turn::SetTimer(self.next_start_ns)
    }

    /// A step starts that takes `cost_ns` of the pace.
    pub(super) fn start(&mut self, now_ns: u64, cost_ns: f64) {
        debug_assert!(now_ns >= self.next_start_ns, "a step before its turn");
        self.next_start_ns = now_ns + cost_ns as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn steps_keep_their_pace_with_one_timer() {
        let mut pacer = Pacer::new(100);
        assert_eq!(pacer.turn(50), Turn::SetTimer(100));
        assert_eq!(pacer.turn(60), Turn::Wait);
        pacer.timer_fired();
        assert_eq!(pacer.turn(100), Turn::Now);
        pacer.start(100, 10.9);
        assert_eq!(pacer.turn(109), Turn::SetTimer(110));
        assert_eq!(pacer.turn(110), Turn::Now);
        pacer.restart(500);
        assert_eq!(pacer.turn(110), Turn::Wait);
    }
}
