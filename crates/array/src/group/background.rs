//! The state of rebuilds and scrubs.

use std::collections::VecDeque;

use super::pace::{Cursor, Pacer, Timer, ns_per_sector};
use super::{BackendSettings, RebuildSettings, ScrubSettings};

/// Rebuilds and scrubs in progress, and those of them that may be able to start a step.
#[derive(Debug)]
pub(super) struct Background {
    pub(super) rebuilds: Rebuilds,
    pub(super) scrubs: Scrubs,
    /// Steps that are done in the time of one.
    pub(super) warp: u32,
    runnable: VecDeque<Timer>,
}

impl Background {
    pub(super) fn new(settings: &BackendSettings) -> Self {
        let ScrubSettings { rate_mb_per_s, .. } = settings.policy.scrub;
        let warp = settings.policy.warp;
        let warped = f64::from(warp);
        Self {
            rebuilds: Rebuilds::new(&settings.policy.rebuild, warped),
            scrubs: Scrubs::new(settings.disk_group.len(), rate_mb_per_s * warped),
            warp,
            runnable: VecDeque::new(),
        }
    }

    /// Has a rebuild or scrub asked soon whether it can start a step.
    pub(super) fn wake(&mut self, task: Timer) {
        self.runnable.push_back(task);
    }

    /// The next rebuild or scrub to ask.
    #[inline]
    pub(super) fn pop_runnable(&mut self) -> Option<Timer> {
        self.runnable.pop_front()
    }
}

/// A rebuild in progress.
#[derive(Debug, Clone)]
pub(super) struct Rebuild {
    pub(super) number: u32,
    pub(super) set: u16,
    pub(super) member: u16,
    /// Where the next step begins.
    pub(super) cursor: Cursor,
    /// Sectors of the lost disk in steps under way.
    pub(super) sectors_in_flight: u32,
    /// Those of them that take the disks time.
    pub(super) timed_in_flight: u32,
    pub(super) pacer: Pacer,
}

/// All rebuilds in progress, in the order they began. Each has a number of its own, so that what
/// ends late is not taken for a part of a later rebuild of the same member.
#[derive(Debug)]
pub(super) struct Rebuilds {
    pub(super) list: Vec<Rebuild>,
    pub(super) last_number: u32,
    pub(super) ns_per_sector: f64,
    pub(super) in_flight_max: u32,
    pub(super) step_sectors: u32,
}

impl Rebuilds {
    pub(super) fn new(settings: &RebuildSettings, warped: f64) -> Self {
        Self {
            list: Vec::new(),
            last_number: 0,
            ns_per_sector: ns_per_sector(settings.rate_mb_per_s * warped),
            in_flight_max: settings.in_flight,
            step_sectors: settings.unit_sectors(),
        }
    }

    /// Whether one more step may start beside those under way.
    pub(super) fn has_room_for_a_step(&self, sectors_in_flight: u32) -> bool {
        sectors_in_flight <= (self.in_flight_max - 1) * self.step_sectors
    }

    /// Most sectors of a chunk that are rebuilt at once. Scrubs take the same steps.
    pub(super) fn step_sectors(&self) -> u32 {
        self.step_sectors
    }

    /// Adds a rebuild of a member from `now_ns` on, and gives its number.
    pub(super) fn begin(&mut self, now_ns: u64, set: u16, member: u16) -> u32 {
        debug_assert!(
            !self
                .list
                .iter()
                .any(|each| (each.set, each.member) == (set, member)),
            "a member is rebuilt once at a time"
        );
        self.last_number += 1;
        self.list.push(Rebuild {
            number: self.last_number,
            set,
            member,
            cursor: Cursor::default(),
            sectors_in_flight: 0,
            timed_in_flight: 0,
            pacer: Pacer::new(now_ns),
        });
        self.last_number
    }

    /// Forgets the rebuild of a member whose disk failed again.
    pub(super) fn abandon(&mut self, set: u16, member: u16) {
        self.list
            .retain(|rebuild| (rebuild.set, rebuild.member) != (set, member));
    }

    /// Sectors in steps of a rebuild that are under way and take time; `None` when it has ended.
    pub(super) fn timed_in_flight(&self, number: u32) -> Option<u32> {
        let rebuild = self.list.iter().find(|rebuild| rebuild.number == number);
        rebuild.map(|rebuild| rebuild.timed_in_flight)
    }

    pub(super) fn get_mut(&mut self, number: u32) -> Option<&mut Rebuild> {
        self.list
            .iter_mut()
            .find(|rebuild| rebuild.number == number)
    }

    pub(super) fn remove(&mut self, number: u32) -> Option<Rebuild> {
        let mut list = self.list.iter();
        let index = list.position(|rebuild| rebuild.number == number)?;
        Some(self.list.remove(index))
    }
}

/// The scrub of a disk set.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrub {
    pub(super) cursor: Cursor,
    pub(super) running: bool,
    /// Rows under way.
    pub(super) in_flight: u32,
    pub(super) pacer: Pacer,
    /// Whether the next pass begins when one ends.
    pub(super) again: bool,
    pub(super) passes: u64,
    /// Steps of this pass so far.
    pub(super) steps: u64,
}

impl Scrub {
    /// Begins a pass at `now_ns`.
    pub(super) fn begin(&mut self, now_ns: u64, again: bool) {
        self.running = true;
        self.again |= again;
        self.cursor = Cursor::default();
        self.pacer.restart(now_ns);
    }

    /// Ends a pass; says whether the next one begins. A pass without a step, because all groups
    /// have failed, is the last one.
    pub(super) fn end_pass(&mut self) -> bool {
        debug_assert!(self.running && self.in_flight == 0);
        self.running = self.again && self.steps > 0;
        self.passes += 1;
        self.steps = 0;
        self.cursor = Cursor::default();
        self.running
    }

    /// Starts a step of so many rows, which takes `cost_ns` of the pace.
    pub(super) fn start_step(&mut self, now_ns: u64, rows: u32, cost_ns: f64) {
        debug_assert!(self.running && self.in_flight == 0);
        self.in_flight = rows;
        self.steps += 1;
        self.pacer.start(now_ns, cost_ns);
    }
}

/// The scrubs of all disk sets.
#[derive(Debug)]
pub(super) struct Scrubs {
    pub(super) by_set: Vec<Scrub>,
    pub(super) ns_per_sector: f64,
}

impl Scrubs {
    pub(super) fn new(sets: usize, rate_mb_per_s: f64) -> Self {
        Self {
            by_set: vec![Scrub::default(); sets],
            ns_per_sector: ns_per_sector(rate_mb_per_s),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passes_repeat_until_one_finds_nothing_to_read() {
        let mut scrub = Scrub::default();
        scrub.begin(0, true);
        scrub.start_step(0, 8, 10.0);
        scrub.in_flight = 0;
        assert!(scrub.end_pass(), "passes are repeated");
        assert!(!scrub.end_pass(), "all groups have failed");
        assert_eq!((scrub.passes, scrub.running), (2, false));
        scrub.begin(20, false);
        assert!(scrub.again, "a pass asked for does not end the repetition");
    }
}
