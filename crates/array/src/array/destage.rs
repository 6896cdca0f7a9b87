//! From the cache to the disks: when, in which order, and all dirty lines of a stripe together.

use crate::VolumeId;
use crate::cache::{NONE, for_runs, number_of, volume_of};
use crate::group::IoClass;
use crate::host::HostError;
use crate::payload::Payload;
use crate::pool::{Piece, PoolWrite};

use super::operation::Purpose;
use super::{Array, Event};

impl<P: Payload> Array<P> {
    /// Starts as many destages as are due and allowed.
    pub(super) fn destage(&mut self, now_ns: u64, server: usize) {
        let controller = &self.controllers[server];
        if !controller.works || controller.returning || controller.cache.dirty.len() == 0 {
            return;
        }
        while self.controllers[server].destages.len() < self.destages_in_flight {
            let Some(unit) = self.next_unit(now_ns, server) else {
                break;
            };
            self.start_destage(now_ns, server, unit);
        }
        self.plan_tick(now_ns, server);
    }

    /// Whether everything dirty has to leave the cache of a controller as soon as it can.
    fn is_urgent(&self, server: usize) -> bool {
        let controller = &self.controllers[server];
        let copied = !self.mirrors || self.times.write_back_alone || self.partner_works(server);
        !controller.battery_works
            || !copied
            || !controller.flushes.is_empty()
            || !controller.waiting_clean.is_empty()
            || self.moves_under_way > 0
    }

    fn next_unit(&mut self, now_ns: u64, server: usize) -> Option<u32> {
        let urgent = self.is_urgent(server);
        let controller = &mut self.controllers[server];
        let filled = controller.cache.unwritten_lines + controller.cache.reserved_lines;
        if filled >= self.high_watermark_lines || !controller.waiting_writers.is_empty() {
            controller.under_pressure = true;
        } else if filled <= self.low_watermark_lines {
            controller.under_pressure = false;
        }
        let idle = self.times.idle_ns > 0
            && controller.active == 0
            && now_ns >= controller.last_host_ns + self.times.idle_ns;
        if urgent || controller.under_pressure || idle {
            return controller.cache.dirty.next_in_sweep();
        }
        let until_ns = now_ns.checked_sub(self.times.age_ns)?;
        controller.cache.dirty.oldest_idle_until(until_ns)
    }

    /// Sees to it that ages and idleness are looked at when they are due.
    fn plan_tick(&mut self, now_ns: u64, server: usize) {
        let controller = &mut self.controllers[server];
        if controller.tick_at_ns != u64::MAX {
            return;
        }
        let Some((since_ns, _)) = controller.cache.dirty.oldest() else {
            return;
        };
        let mut due_ns = since_ns + self.times.age_ns;
        if self.times.idle_ns > 0 {
            due_ns = due_ns.min(controller.last_host_ns + self.times.idle_ns);
        }
        // What is overdue waits for a destage to end, or for the host requests under way.
        let due_ns = due_ns.max(now_ns + MIN_TICK_NS);
        controller.tick_at_ns = due_ns;
        self.calendar.put(due_ns, Event::Tick(server as u8));
    }

    /// Ages and idleness are looked at.
    pub(super) fn tick(&mut self, now_ns: u64, server: usize) {
        self.controllers[server].tick_at_ns = u64::MAX;
        self.destage(now_ns, server);
    }

    fn start_destage(&mut self, now_ns: u64, server: usize, unit: u32) {
        self.controllers[server].cache.foresee_destages();
        let started = self.controllers[server].cache.dirty.start(unit);
        let volume = volume_of(started.key);
        let id = self.begin(Purpose::Destage, server, volume);
        let controller = &mut self.controllers[server];
        controller.destages.push(id);
        let cache = &mut controller.cache;
        let operation = &mut self.operations[id];
        operation.unit = unit;
        operation.dirty_since_ns = started.since_ns;
        let line_sectors = u64::from(cache.line_sectors());
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let mut slot = started.first_line;
        while slot != NONE {
            let line = cache.line_mut(slot);
            let start = number_of(line.key) * line_sectors;
            for_runs(line.dirty, |first, sectors| {
                let contents = line.contents.part(first, sectors);
                pieces.push((start + u64::from(first), sectors, contents));
            });
            line.set_out();
            operation.lines.push(slot);
            slot = std::mem::replace(&mut line.unit_next, NONE);
        }
        join_pieces(&mut pieces);
        let write = PoolWrite {
            owner_id: id,
            volume: VolumeId(volume),
            class: IoClass::Destage,
            sequential: started.sequential,
        };
        let pool = usize::from(self.volumes[usize::from(volume)].pool);
        self.pools[pool].write(now_ns, write, &pieces, &mut self.backend);
        pieces.clear();
        self.pieces = pieces;
    }

    /// A destage is over.
    pub(super) fn destaged(&mut self, now_ns: u64, id: u32, error: Option<HostError>) {
        let operation = &mut self.operations[id];
        let (server, unit) = (usize::from(operation.controller), operation.unit);
        let lines = std::mem::take(&mut operation.lines);
        let controller = &mut self.controllers[server];
        controller.destages.retain(|&other| other != id);
        for &slot in &lines {
            if let Some(error) = error {
                // A write ends in an error only when its group has failed, and a failed group stays
                // failed: trying again would change nothing. Its place on the disks is gone for
                // good, and so is what should have gone there.
                debug_assert_eq!(error, HostError::GroupFailed);
                let line = controller.cache.line_mut(slot);
                let start = number_of(line.key) << line_shift(self.line_sectors);
                let gone = line.destaging() & !line.dirty;
                line.valid &= !gone;
                let volume = volume_of(line.key);
                let lost = &mut self.lost;
                for_runs(gone, |first, sectors| {
                    lost.insert(volume, start + u64::from(first), u64::from(sectors));
                });
            }
            controller.cache.written(slot);
        }
        controller.cache.dirty.end(unit);
        self.operations[id].lines = lines;
        if controller.works && !controller.returning {
            self.wake_clean(now_ns, server);
            self.wake_writers(now_ns, server);
            self.wake_flushes(now_ns, server);
            self.destage(now_ns, server);
        }
    }
}

/// Shortest time between two looks at ages and idleness.
const MIN_TICK_NS: u64 = 1_000_000;

fn line_shift(line_sectors: u32) -> u32 {
    line_sectors.trailing_zeros()
}

/// Sorts pieces by address and joins those that touch.
fn join_pieces<P: Payload>(pieces: &mut Vec<Piece<P>>) {
    if pieces.len() < 2 {
        return;
    }
    pieces.sort_unstable_by_key(|piece| piece.0);
    let mut kept = 0;
    let mut next = 0;
    while next < pieces.len() {
        let mut until = next + 1;
        let mut sectors = pieces[next].1;
        while until < pieces.len() && pieces[until].0 == pieces[next].0 + u64::from(sectors) {
            sectors += pieces[until].1;
            until += 1;
        }
        if until > next + 1 && P::CARRIES_BYTES {
            let mut joined = P::zeroed(sectors);
            for piece in &pieces[next..until] {
                joined.overlay((piece.0 - pieces[next].0) as u32, &piece.2);
            }
            pieces[next].2 = joined;
        }
        pieces[next].1 = sectors;
        pieces.swap(kept, next);
        kept += 1;
        next = until;
    }
    pieces.truncate(kept);
}
