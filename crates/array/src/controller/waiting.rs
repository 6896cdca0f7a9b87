//! Host requests that wait at a controller, and what it works on.

use std::collections::VecDeque;

use super::Ticket;

/// Host requests that wait for something of the cache.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    /// Writes that wait until the cache has room for them.
    pub writers: VecDeque<Ticket>,
    /// Requests that wait until their sectors hold nothing the disks lack.
    pub clean: Vec<Ticket>,
    /// Flushes, and when they came.
    pub flushes: Vec<(Ticket, u64)>,
}

impl Waiting {
    /// Whether a request waits until something dirty has reached the disks.
    pub fn needs_destage(&self) -> bool {
        !self.flushes.is_empty() || !self.clean.is_empty()
    }

    /// Forgets everything that waits.
    pub fn clear(&mut self) {
        self.writers.clear();
        self.clean.clear();
        self.flushes.clear();
    }
}

/// What a controller works on.
#[derive(Debug, Default)]
pub(crate) struct Load {
    /// Host requests it serves.
    requests: u64,
    /// Reads and writes it has at the back end.
    operations: u32,
    /// When the last host request came or ended.
    last_host_ns: u64,
}

impl Load {
    /// A host request comes in by one of its ports.
    #[inline]
    pub fn note_arrival(&mut self, now_ns: u64) {
        self.last_host_ns = now_ns;
    }

    /// Begins to serve a host request.
    #[inline]
    pub fn begin_request(&mut self) {
        self.requests += 1;
    }

    /// Is done with a host request, or gives it up.
    #[inline]
    pub fn end_request(&mut self, now_ns: u64) {
        debug_assert!(self.requests > 0);
        self.requests -= 1;
        self.last_host_ns = now_ns;
    }

    /// Begins a read or write at the back end.
    #[inline]
    pub fn begin_operation(&mut self) {
        self.operations += 1;
    }

    /// A read or write at the back end has ended.
    #[inline]
    pub fn end_operation(&mut self) {
        debug_assert!(self.operations > 0);
        self.operations -= 1;
    }

    /// Reads and writes at the back end.
    #[inline]
    pub fn operations(&self) -> u32 {
        self.operations
    }

    /// When the last host request came or ended.
    pub fn last_host_ns(&self) -> u64 {
        self.last_host_ns
    }

    /// Whether no host has asked for anything for `idle_ns`.
    #[inline]
    pub fn is_idle(&self, now_ns: u64, idle_ns: u64) -> bool {
        self.requests == 0 && now_ns >= self.last_host_ns + idle_ns
    }
}

/// Destages of a controller, and when it looks for more.
#[derive(Debug, Default)]
pub(crate) struct Destaging {
    /// Numbers of the destages under way.
    pub destages: Vec<u32>,
    /// Writes under way that pass the cache by, of volumes whose reads it holds.
    pub write_throughs: Vec<u32>,
    under_pressure: bool,
    /// When ages and idleness are checked next.
    timer_ns: Option<u64>,
}

impl Destaging {
    /// Notes how full the cache is. It is under pressure from the high watermark on, or from a
    /// write that waits, until it is down at the low one; says whether it is.
    #[inline]
    pub fn update_pressure(&mut self, is_high: bool, is_low: bool) -> bool {
        if is_high {
            self.under_pressure = true;
        } else if is_low {
            self.under_pressure = false;
        }
        self.under_pressure
    }

    /// Whether the timer for ages and idleness is set.
    #[inline]
    pub fn has_timer(&self) -> bool {
        self.timer_ns.is_some()
    }

    /// Has ages and idleness checked at that time.
    pub fn set_timer(&mut self, at_ns: u64) {
        debug_assert!(self.timer_ns.is_none(), "one timer at a time");
        self.timer_ns = Some(at_ns);
    }

    /// The timer has fired.
    pub fn timer_fired(&mut self, now_ns: u64) {
        debug_assert_eq!(self.timer_ns, Some(now_ns));
        self.timer_ns = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pressure_lasts_from_the_high_to_the_low_watermark() {
        let mut destaging = Destaging::default();
        let levels = [
            (false, false),
            (true, false),
            (false, false),
            (false, true),
            (false, false),
        ];
        let pressure = levels.map(|(high, low)| destaging.update_pressure(high, low));
        assert_eq!(pressure, [false, true, true, false, false]);
    }

    #[test]
    fn a_controller_is_idle_some_time_after_its_last_request() {
        let mut load = Load::default();
        load.note_arrival(10);
        load.begin_request();
        assert!(!load.is_idle(1000, 5));
        load.end_request(20);
        assert!(!load.is_idle(24, 5));
        assert!(load.is_idle(25, 5));
    }
}
