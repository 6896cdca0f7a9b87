//! From the cache to the disks: when, in which order, and all dirty lines of a stripe together.

use crate::VolumeId;
use crate::cache::volume_of;
use crate::group::{IoClass, Piece};
use crate::host::HostError;
use crate::io::VolumeExtent;
use crate::payload::Payload;
use crate::pool::PoolWrite;

use super::operations::Purpose;
use super::{Array, Event};

impl<P: Payload> Array<P> {
    /// Starts as many destages as are due and allowed.
    pub(super) fn destage(&mut self, now_ns: u64, server: usize) {
        let controller = &self.controllers[server];
        if !controller.availability.serves() || controller.cache.dirty.len() == 0 {
            return;
        }
        let in_flight_max = self.rules.destage.in_flight_max;
        while self.controllers[server].destaging.destages.len() < in_flight_max {
            let Some(unit) = self.next_unit(now_ns, server) else {
                break;
            };
            self.start_destage(now_ns, server, unit);
        }
        self.set_destage_timer(now_ns, server);
    }

    /// Whether everything dirty has to leave the cache of a controller as soon as it can.
    fn is_urgent(&self, server: usize) -> bool {
        let controller = &self.controllers[server];
        let partner_works = self.controllers.partner_works(server);
        let battery_works = controller.availability.battery_works();
        !self.rules.cache.may_write_back_with(battery_works)
            || !self.rules.cache.may_write_back(partner_works)
            || controller.waiting.needs_destage()
            || self.volumes.any_moves()
    }

    fn next_unit(&mut self, now_ns: u64, server: usize) -> Option<u32> {
        let urgent = self.is_urgent(server);
        let rules = &self.rules.destage;
        let controller = &mut self.controllers[server];
        let filled = controller.cache.filled_lines();
        let is_high =
            filled >= rules.high_watermark_lines || !controller.waiting.writers.is_empty();
        let is_low = filled <= rules.low_watermark_lines;
        let under_pressure = controller.destaging.update_pressure(is_high, is_low);
        let idle = rules.idle_ns > 0 && controller.load.is_idle(now_ns, rules.idle_ns);
        if urgent || under_pressure || idle {
            return controller.cache.dirty.next_in_sweep();
        }
        let until_ns = now_ns.checked_sub(rules.age_ns)?;
        controller.cache.dirty.oldest_idle_until(until_ns)
    }

    /// Sees to it that ages and idleness are checked when they are due.
    fn set_destage_timer(&mut self, now_ns: u64, server: usize) {
        let rules = &self.rules.destage;
        let controller = &mut self.controllers[server];
        if controller.destaging.has_timer() {
            return;
        }
        let Some((since_ns, _)) = controller.cache.dirty.oldest() else {
            return;
        };
        let mut due_ns = since_ns + rules.age_ns;
        if rules.idle_ns > 0 {
            due_ns = due_ns.min(controller.load.last_host_ns() + rules.idle_ns);
        }
        // What is overdue waits for a destage to end, or for the host requests under way.
        let due_ns = due_ns.max(now_ns + MIN_TIMER_NS);
        controller.destaging.set_timer(due_ns);
        self.events
            .schedule(due_ns, Event::DestageTimer(server as u8));
    }

    /// Ages and idleness are checked.
    pub(super) fn destage_timer(&mut self, now_ns: u64, server: usize) {
        self.controllers[server].destaging.timer_fired(now_ns);
        self.destage(now_ns, server);
    }

    fn start_destage(&mut self, now_ns: u64, server: usize, unit: u32) {
        let mut pieces = std::mem::take(&mut self.pieces);
        pieces.clear();
        let volume = volume_of(self.controllers[server].cache.dirty.key(unit));
        let extent = VolumeExtent {
            volume,
            first_sector: 0,
            sectors: 0,
        };
        let id = self.begin(Purpose::Destage, server, extent);
        let controller = &mut self.controllers[server];
        controller.destaging.destages.push(id);
        let operation = &mut self.operations[id];
        let lines = &mut operation.lines;
        let started = controller.cache.start_destage(unit, lines, &mut pieces);
        operation.unit = unit;
        operation.dirty_since_ns = started.since_ns;
        join_pieces(&mut pieces);
        let write = PoolWrite {
            owner_id: id,
            volume: VolumeId(volume),
            class: IoClass::Destage,
            sequential: started.sequential,
        };
        let pool = self.volumes[volume].pool;
        self.storage.write(now_ns, pool, write, &pieces);
        pieces.clear();
        self.pieces = pieces;
    }

    /// A destage has ended.
    pub(super) fn destaged(&mut self, now_ns: u64, id: u32, error: Option<HostError>) {
        // A write ends in an error only when its group has failed, or lacks what the parity could be computed from:
        // trying again would change nothing. Its place on the disks is gone for good, and so is what
        // should have gone there.
        debug_assert!(matches!(
            error,
            None | Some(HostError::GroupFailed | HostError::Unreadable)
        ));
        let operation = &self.operations[id];
        let (server, lost) = (operation.controller, &mut self.lost);
        let controller = &mut self.controllers[server];
        controller.destaging.destages.retain(|&other| other != id);
        let (unit, lines, failed) = (operation.unit, &operation.lines, error.is_some());
        let cache = &mut controller.cache;
        cache.end_destage(unit, lines, failed, |extent| lost.insert(extent));
        if controller.availability.serves() {
            self.wake_clean(now_ns, server);
            self.wake_writers(now_ns, server);
            self.wake_flushes(now_ns, server);
            self.destage(now_ns, server);
        }
    }
}

/// Shortest time between two checks of ages and idleness.
const MIN_TIMER_NS: u64 = 1_000_000;

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

#[cfg(test)]
mod tests {
    use super::join_pieces;
    use crate::payload::{Bytes, Payload};

    #[test]
    fn pieces_that_touch_become_one() {
        let bytes = |value: u8, sectors: usize| Bytes::new(vec![value; sectors * 512]);
        let mut pieces = vec![
            (20, 2, bytes(3, 2)),
            (8, 4, bytes(1, 4)),
            (12, 1, bytes(2, 1)),
        ];
        join_pieces(&mut pieces);
        let extents: Vec<_> = pieces.iter().map(|piece| (piece.0, piece.1)).collect();
        assert_eq!(extents, [(8, 5), (20, 2)]);
        let joined = pieces[0].2.as_bytes().unwrap();
        assert_eq!((joined[0], joined[4 * 512]), (1, 2));
    }
}
