//! Scrubbing: everything is read at a slow pace, what cannot be read is rewritten, and with
//! contents the redundancy is compared with the data.

use crate::payload::Payload;

use super::IoClass;
use super::backend::Backend;
use super::lock::StripeRows;
use super::pace::{Timer, Turn};
use super::task::Goal;

impl<P: Payload> Backend<P> {
    /// Begins a pass over all protected groups now. Where one is running it goes on.
    pub fn start_scrub(&mut self, now_ns: u64) {
        self.begin_scrubs(now_ns, false);
        self.settle(now_ns);
    }

    pub(super) fn begin_scrubs(&mut self, now_ns: u64, again: bool) {
        for set in self.groups.set_numbers() {
            let scrub = &mut self.background.scrubs.by_set[usize::from(set)];
            if !scrub.running && self.groups.is_protected(set) {
                scrub.begin(now_ns, again);
                self.background.wake(Timer::Scrub(set));
            }
        }
    }

    /// Passes over all groups of all disk groups that have ended.
    pub fn scrub_passes(&self) -> u64 {
        let scrubs = self.background.scrubs.by_set.iter();
        scrubs.map(|scrub| scrub.passes).sum()
    }

    /// Starts the next step of a scrub when its time has come.
    pub(super) fn run_scrub(&mut self, now_ns: u64, number: u16, by_timer: bool) {
        let step_sectors = self.background.rebuilds.step_sectors();
        let scrubs = &mut self.background.scrubs;
        let scrub = &mut scrubs.by_set[usize::from(number)];
        if by_timer {
            scrub.pacer.timer_fired();
        }
        if !scrub.running || scrub.in_flight > 0 {
            return;
        }
        match scrub.pacer.turn(now_ns) {
            Turn::Now => {}
            Turn::SetTimer(at_ns) => {
                self.disks.set_timer(at_ns, Timer::Scrub(number));
                return;
            }
            Turn::Wait => return,
        }
        let (groups, cursor) = (&self.groups, &mut scrub.cursor);
        let next = || groups.next_rows(number, None, step_sectors, cursor);
        let step: Vec<StripeRows> = std::iter::from_fn(next)
            .take(self.background.warp as usize)
            .collect();
        if step.is_empty() {
            if scrub.end_pass() {
                self.background.wake(Timer::Scrub(number));
            }
            return;
        }
        // A stripe over few of the disks takes little of the rate that each of them bears.
        let members = groups.set(number).members.len() as f64;
        let shares = step.iter().map(|rows| {
            let columns = groups[rows.group].geometry.columns();
            f64::from(rows.count()) * f64::from(columns) / members
        });
        let cost_ns = scrubs.ns_per_sector * shares.sum::<f64>();
        let rows = step.iter().map(|rows| rows.count()).sum();
        scrub.start_step(now_ns, rows, cost_ns);
        let warped = std::iter::repeat(IoClass::Warped);
        for (rows, class) in step
            .into_iter()
            .zip(std::iter::once(IoClass::Scrub).chain(warped))
        {
            self.start_background(now_ns, rows, Goal::Scrub, class);
        }
    }

    /// A step has ended.
    pub(super) fn step_scrubbed(&mut self, rows: StripeRows) {
        let group = &mut self.groups[rows.group];
        group.counters.scrubbed_rows += u64::from(rows.count());
        let set = group.set;
        self.background.scrubs.by_set[usize::from(set)].in_flight -= rows.count();
        self.background.wake(Timer::Scrub(set));
    }
}
