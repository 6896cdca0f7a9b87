//! Scrubbing: everything is read at a slow pace, what cannot be read is written anew, and with
//! contents the redundancy is compared with the data.

use crate::payload::Payload;

use super::IoClass;
use super::backend::{Backend, Timer};
use super::rebuild::Cursor;
use super::task::Goal;

/// The scrub of a disk set.
#[derive(Debug, Clone, Default)]
pub(super) struct Scrub {
    cursor: Cursor,
    running: bool,
    in_flight: bool,
    next_start_ns: u64,
    timer_is_set: bool,
    /// Whether the next pass begins when one ends.
    again: bool,
    passes: u64,
    /// Steps of this pass so far.
    steps: u64,
}

impl<P: Payload> Backend<P> {
    /// Begins a pass over all protected groups now. Where one is running it goes on.
    pub fn start_scrub(&mut self, now_ns: u64) {
        self.begin_scrubs(now_ns, false);
        self.settle(now_ns);
    }

    pub(super) fn begin_scrubs(&mut self, now_ns: u64, again: bool) {
        for (number, set) in self.sets.iter().enumerate() {
            let protected = set.groups.iter().any(|&group| {
                let geometry = &self.groups[usize::from(group)].geometry;
                geometry.tolerance() > 0
            });
            let scrub = &mut self.scrubs[number];
            if protected && !scrub.running {
                scrub.running = true;
                scrub.again |= again;
                scrub.cursor = Cursor::default();
                scrub.next_start_ns = now_ns;
                self.pumps.push_back(Timer::Scrub(number as u16));
            }
        }
    }

    /// Passes over all groups of all disk groups that have ended.
    pub fn scrub_passes(&self) -> u64 {
        self.scrubs.iter().map(|scrub| scrub.passes).sum()
    }

    /// Starts the next step of a scrub when its time has come.
    pub(super) fn pump_scrub(&mut self, now_ns: u64, number: u16, by_timer: bool) {
        let index = usize::from(number);
        let scrub = &mut self.scrubs[index];
        if by_timer {
            scrub.timer_is_set = false;
        }
        if !scrub.running || scrub.in_flight {
            return;
        }
        if now_ns < scrub.next_start_ns {
            if !scrub.timer_is_set {
                scrub.timer_is_set = true;
                self.agenda
                    .set_timer(scrub.next_start_ns, Timer::Scrub(number));
            }
            return;
        }
        let mut cursor = scrub.cursor;
        let unit = self.next_unit(number, None, &mut cursor);
        let set = &self.sets[index];
        let scrub = &mut self.scrubs[index];
        scrub.cursor = cursor;
        let Some(unit) = unit else {
            // A pass over nothing, because all groups have failed, is the last one.
            scrub.running = scrub.again && scrub.steps > 0;
            scrub.passes += 1;
            scrub.steps = 0;
            scrub.cursor = Cursor::default();
            if scrub.running {
                self.pumps.push_back(Timer::Scrub(number));
            }
            return;
        };
        scrub.in_flight = true;
        scrub.steps += 1;
        // A stripe over few of the disks takes little of the rate that each of them bears.
        let columns = self.groups[usize::from(unit.group)].geometry.columns();
        let share = f64::from(columns) / set.members.len() as f64;
        let cost_ns = self.scrub_ns_per_sector * f64::from(unit.to - unit.from) * share;
        scrub.next_start_ns = now_ns + cost_ns as u64;
        self.enter_background(now_ns, unit, Goal::Scrub, IoClass::Scrub);
    }

    /// A step has ended.
    pub(super) fn unit_scrubbed(&mut self, id: u32) {
        let task = &self.tasks[id];
        let group = &mut self.groups[usize::from(task.group)];
        group.counters.scrubbed_rows += u64::from(task.to - task.from);
        self.scrubs[usize::from(group.set)].in_flight = false;
        self.pumps.push_back(Timer::Scrub(group.set));
    }
}
