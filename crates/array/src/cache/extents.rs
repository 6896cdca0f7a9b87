//! What is done with whole extents of a volume: lookups, fills, writes, destages, and what happens
//! to lines when a controller fails.

use crate::group::Piece;
use crate::io::VolumeExtent;
use crate::payload::Payload;

use super::dirty::Started;
use super::line::{Line, NONE, Sectors, for_runs, sectors_from};
use super::{CacheWrite, DataCache, LinePart, number_of, volume_of};

impl<P: Payload> DataCache<P> {
    /// Finds the lines of an extent; says whether all of it is in the cache.
    pub fn look_up(&self, extent: VolumeExtent, found: &mut Vec<u32>) -> bool {
        found.clear();
        let mut all = true;
        for part in self.parts(extent) {
            let slot = self.find(part.key).unwrap_or(NONE);
            all &= slot != NONE && part.bits() & !self.line(slot).valid == 0;
            found.push(slot);
        }
        all
    }

    /// Copies what is in the cache of an extent that was looked up just now, and notes the use.
    pub fn copy_hits(&mut self, extent: VolumeExtent, found: &[u32], payload: &mut P) {
        for (part, &slot) in self.parts(extent).zip(found) {
            if slot == NONE {
                continue;
            }
            self.touch(slot);
            if P::CARRIES_BYTES {
                let line = self.line(slot);
                for_runs(part.bits() & line.valid, |first, sectors| {
                    let contents = line.contents.part(first, sectors);
                    payload.overlay(part.offset + first - part.within, &contents);
                });
            }
        }
    }

    /// What the line in `slot` lacks of a part; all of it if there is no line.
    #[inline]
    pub fn missing(&self, part: &LinePart, slot: u32) -> Sectors {
        let valid = if slot == NONE {
            0
        } else {
            self.line(slot).valid
        };
        part.bits() & !valid
    }

    /// Whether something of a part is not in the cache, and nothing is about to use its line.
    pub fn lacks_unpinned(&self, part: &LinePart) -> bool {
        self.find(part.key).is_none_or(|slot| {
            let line = self.line(slot);
            line.pins == 0 && part.bits() & !line.valid != 0
        })
    }

    /// The fill in flight that brings the sectors `missing` of a line, if there may be one. What it
    /// brings besides may be older than what the cache holds.
    pub fn fill_in_flight(&self, slot: u32, missing: Sectors) -> Option<u32> {
        let first = missing.trailing_zeros();
        if missing != sectors_from(first, missing.count_ones()) {
            return None;
        }
        let line = self.line(slot);
        (line.last_fill != NONE && line.blocked() & missing == 0).then_some(line.last_fill)
    }

    /// Pins the lines that fill `id` will bring an extent into, as far as lines can be had, and
    /// adds them to `lines`.
    pub fn start_fill(&mut self, id: u32, extent: VolumeExtent, lines: &mut Vec<u32>) {
        for part in self.parts(extent) {
            if let Some(slot) = self.find_or_allocate(part.key) {
                self.pin(slot);
                self.line_mut(slot).last_fill = id;
                lines.push(slot);
            }
        }
    }

    /// Fill `id` of an extent has ended, with contents unless it failed.
    pub fn end_fill(&mut self, id: u32, extent: VolumeExtent, lines: &[u32], contents: Option<&P>) {
        let line_sectors = u64::from(self.line_sectors());
        for &slot in lines {
            let line = self.line_mut(slot);
            if let Some(contents) = contents {
                let start = number_of(line.key) * line_sectors;
                let from = extent.first_sector.max(start);
                let until = extent.end_sector().min(start + line_sectors);
                let bits = sectors_from((from - start) as u32, (until - from) as u32);
                let brought = bits & !line.valid & !line.blocked();
                if P::CARRIES_BYTES {
                    for_runs(brought, |first, sectors| {
                        let offset = (start + u64::from(first) - extent.first_sector) as u32;
                        line.contents
                            .overlay(first, &contents.part(offset, sectors));
                    });
                }
                line.valid |= brought;
            }
            if line.last_fill == id {
                line.last_fill = NONE;
            }
            self.unpin(slot);
        }
    }

    /// Whether the cache holds something of an extent that the disks lack.
    pub fn has_unwritten(&self, extent: VolumeExtent) -> bool {
        self.unwritten_lines > 0
            && self.parts(extent).any(|part| {
                self.find(part.key).is_some_and(|slot| {
                    let line = self.line(slot);
                    (line.dirty | line.destaging()) & part.bits() != 0
                })
            })
    }

    /// Forgets an extent that changes on disk.
    pub fn forget(&mut self, extent: VolumeExtent) {
        if self.len() == 0 {
            return;
        }
        for part in self.parts(extent) {
            if let Some(slot) = self.find(part.key) {
                self.line_mut(slot).forget(part.bits());
            }
        }
    }

    /// Keeps what has been written to an extent of the disks for reads to come.
    pub fn keep(&mut self, extent: VolumeExtent, payload: &P) {
        for part in self.parts(extent) {
            let Some(slot) = self.find_or_allocate(part.key) else {
                continue;
            };
            let line = self.line_mut(slot);
            let clean = part.bits() & !line.dirty & !line.destaging();
            if P::CARRIES_BYTES {
                for_runs(clean, |first, sectors| {
                    let offset = part.offset + first - part.within;
                    line.contents.overlay(first, &payload.part(offset, sectors));
                });
            }
            line.valid |= clean;
            self.list_if_replaceable(slot);
            self.touch(slot);
        }
    }

    /// Lines that an extent touches.
    pub fn lines_of(&self, extent: VolumeExtent) -> u64 {
        let last = extent.end_sector() - 1;
        (last >> self.line_shift) - (extent.first_sector >> self.line_shift) + 1
    }

    /// Pins lines for a write of an extent, if no more than `dirty_limit_lines` can become dirty
    /// then; gives the slot of the first one.
    pub fn reserve(&mut self, extent: VolumeExtent, dirty_limit_lines: u64) -> Option<u32> {
        let lines = self.lines_of(extent);
        let promised = self.unwritten_lines + self.reserved_lines + lines;
        if promised > dirty_limit_lines || self.available_lines() < lines {
            return None;
        }
        let mut first_slot = NONE;
        for part in self.parts(extent) {
            let Some(slot) = self.find_or_allocate(part.key) else {
                unreachable!("as many lines as the write needs are available");
            };
            self.pin(slot);
            if part.offset == 0 {
                first_slot = slot;
            }
        }
        self.reserved_lines += lines;
        Some(first_slot)
    }

    /// Gives up what [`DataCache::reserve`] has pinned.
    pub fn unreserve(&mut self, extent: VolumeExtent) {
        for part in self.parts(extent) {
            let Some(slot) = self.find(part.key) else {
                unreachable!("a pinned line stays");
            };
            self.unpin(slot);
            self.reserved_lines -= 1;
        }
    }

    /// Puts a write into the lines reserved for it, the first of which was in `first_slot` then.
    pub fn write_reserved(
        &mut self,
        write: CacheWrite,
        extent: VolumeExtent,
        first_slot: u32,
        payload: &P,
    ) {
        let mut near = first_slot;
        for part in self.parts(extent) {
            let Some(slot) = self.find_again(near, part.key) else {
                unreachable!("a pinned line stays");
            };
            near = NONE;
            self.put(write, slot, part, payload);
            self.unpin(slot);
            self.reserved_lines -= 1;
        }
    }

    /// Drops an extent, dirty sectors included; says no, and drops nothing, if some of it is on its
    /// way to disk.
    pub fn discard(&mut self, extent: VolumeExtent) -> bool {
        let on_its_way = self.parts(extent).any(|part| {
            let slot = self.find(part.key);
            slot.is_some_and(|slot| self.line(slot).destaging() & part.bits() != 0)
        });
        if on_its_way {
            return false;
        }
        for part in self.parts(extent) {
            if let Some(slot) = self.find(part.key) {
                self.drop_dirty(slot, part.bits());
                self.line_mut(slot).forget(part.bits());
            }
        }
        true
    }

    /// Starts the destage of a dirty unit: adds its lines to `lines` and their dirty sectors to
    /// `pieces`.
    pub fn start_destage(
        &mut self,
        unit: u32,
        lines: &mut Vec<u32>,
        pieces: &mut Vec<Piece<P>>,
    ) -> Started {
        self.prefetch_destages();
        let started = self.dirty.start(unit);
        let line_sectors = u64::from(self.line_sectors());
        let mut slot = started.first_line;
        while slot != NONE {
            let line = self.line_mut(slot);
            let start = number_of(line.key) * line_sectors;
            for_runs(line.dirty, |first, sectors| {
                let contents = line.contents.part(first, sectors);
                pieces.push((start + u64::from(first), sectors, contents));
            });
            line.set_out();
            lines.push(slot);
            slot = std::mem::replace(&mut line.unit_next, NONE);
        }
        started
    }

    /// The destage of a unit has ended. If it failed, what it carried is gone: `lost` is called with
    /// every run of sectors.
    pub fn end_destage(
        &mut self,
        unit: u32,
        lines: &[u32],
        failed: bool,
        mut lost: impl FnMut(VolumeExtent),
    ) {
        for &slot in lines {
            if failed {
                let line = self.line_mut(slot);
                let gone = line.destaging() & !line.dirty;
                line.valid &= !gone;
                let key = line.key;
                self.for_extents(key, gone, &mut lost);
            }
            self.written(slot);
        }
        self.dirty.end(unit);
    }

    /// Calls `run` with every run of the sectors `bits` of the line with that key.
    fn for_extents(&self, key: u64, bits: Sectors, run: &mut impl FnMut(VolumeExtent)) {
        let start = number_of(key) << self.line_shift;
        for_runs(bits, |first, sectors| {
            run(VolumeExtent {
                volume: volume_of(key),
                first_sector: start + u64::from(first),
                sectors,
            });
        });
    }

    /// Loses the dirty sectors of the lines that `is_gone` names; calls `lost` with every run.
    pub fn lose(&mut self, is_gone: impl Fn(&Line<P>) -> bool, mut lost: impl FnMut(VolumeExtent)) {
        let slots: Vec<u32> = self.slots().collect();
        for slot in slots {
            let line = self.line(slot);
            if line.dirty == 0 || !is_gone(line) {
                continue;
            }
            let (key, dirty) = (line.key, line.dirty);
            self.for_extents(key, dirty, &mut lost);
            self.drop_dirty(slot, dirty);
            self.line_mut(slot).forget(dirty);
        }
    }

    /// Whether the cache holds anything of a volume that the disks lack.
    pub fn has_unwritten_of(&self, volume: u16) -> bool {
        self.unwritten_by_volume[usize::from(volume)] > 0
    }

    /// When the oldest write came that waits to go to the disks.
    pub fn oldest_waiting_ns(&self) -> Option<u64> {
        let waiting_ns = self.dirty.oldest_since_ns().into_iter();
        waiting_ns.chain(self.taken_over_ns).min()
    }

    /// Moves everything dirty to the cache of the failover partner, and drops the rest.
    /// `lines_per_unit` knows how many lines a unit of a volume has.
    pub fn hand_over(&mut self, now_ns: u64, to: &mut Self, lines_per_unit: impl Fn(u16) -> u64) {
        let since_ns = self.oldest_waiting_ns().into_iter();
        to.taken_over_ns = since_ns.chain(to.taken_over_ns).min();
        let slots: Vec<u32> = self.slots().collect();
        for slot in slots {
            let line = self.line(slot);
            let (key, dirty) = (line.key, line.dirty);
            if dirty == 0 {
                continue;
            }
            let write = CacheWrite {
                now_ns,
                lines_per_unit: lines_per_unit(volume_of(key)),
                mirrored: false,
                sequential: false,
            };
            let contents = line.contents.clone();
            let target = to.find(key).unwrap_or_else(|| to.allocate_beyond(key));
            for_runs(dirty, |first, sectors| {
                let part = LinePart {
                    key,
                    within: first,
                    offset: first,
                    sectors,
                };
                to.put(write, target, part, &contents);
            });
            self.drop_dirty(slot, dirty);
        }
        self.drop_clean();
    }

    /// Notes of every line whether the partner has a copy of what the disks lack.
    pub fn set_mirrored(&mut self, mirrored: bool) {
        for slot in 0..self.lines.len() {
            self.lines[slot].mirrored = mirrored;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::payload::Bytes;

    fn extent(first_sector: u64, sectors: u32) -> VolumeExtent {
        VolumeExtent {
            volume: 0,
            first_sector,
            sectors,
        }
    }

    fn bytes(value: u8, sectors: u32) -> Bytes {
        Bytes::new(vec![value; sectors as usize * 512])
    }

    fn write(cache: &mut DataCache<Bytes>, extent: VolumeExtent, value: u8, mirrored: bool) {
        let slot = cache.reserve(extent, 100).unwrap();
        let write = CacheWrite {
            now_ns: 0,
            lines_per_unit: 4,
            mirrored,
            sequential: false,
        };
        cache.write_reserved(write, extent, slot, &bytes(value, extent.sectors));
        cache.check_invariants();
    }

    fn read(cache: &mut DataCache<Bytes>, extent: VolumeExtent) -> Option<Vec<u8>> {
        let mut found = Vec::new();
        if !cache.look_up(extent, &mut found) {
            return None;
        }
        let mut payload = Bytes::zeroed(extent.sectors);
        cache.copy_hits(extent, &found, &mut payload);
        payload.as_bytes().map(<[u8]>::to_vec)
    }

    #[test]
    fn a_write_is_read_back_and_stays_dirty_until_its_destage_ends() {
        let mut cache = DataCache::<Bytes>::new(8, 16, 1);
        write(&mut cache, extent(10, 10), 7, false);
        assert_eq!(read(&mut cache, extent(10, 10)), Some(vec![7; 5120]));
        assert_eq!(read(&mut cache, extent(9, 2)), None);
        assert!(cache.has_unwritten(extent(0, 11)));
        let unit = cache.dirty.next_in_sweep().unwrap();
        let (mut lines, mut pieces) = (Vec::new(), Vec::new());
        cache.start_destage(unit, &mut lines, &mut pieces);
        let stretches: Vec<_> = pieces.iter().map(|piece| (piece.0, piece.1)).collect();
        assert_eq!(stretches.iter().map(|piece| piece.1).sum::<u32>(), 10);
        assert!(!cache.discard(extent(10, 10)), "it is on its way to disk");
        cache.end_destage(unit, &lines, false, |_| panic!("nothing is lost"));
        assert!(!cache.has_unwritten(extent(0, 32)));
        cache.check_invariants();
    }

    #[test]
    fn a_failed_destage_loses_what_it_carried() {
        let mut cache = DataCache::<Bytes>::new(8, 16, 1);
        write(&mut cache, extent(3, 4), 1, false);
        let unit = cache.dirty.next_in_sweep().unwrap();
        let mut lines = Vec::new();
        cache.start_destage(unit, &mut lines, &mut Vec::new());
        let mut lost = Vec::new();
        cache.end_destage(unit, &lines, true, |extent| lost.push(extent));
        assert_eq!(lost, [extent(3, 4)]);
        assert_eq!(read(&mut cache, extent(3, 4)), None);
        cache.check_invariants();
    }

    #[test]
    fn the_partner_goes_on_with_what_was_mirrored() {
        let mut failed = DataCache::<Bytes>::new(8, 16, 1);
        let mut partner = DataCache::<Bytes>::new(8, 16, 1);
        write(&mut failed, extent(0, 16), 1, true);
        write(&mut failed, extent(16, 16), 2, false);
        let mut lost = Vec::new();
        failed.lose(|line| !line.mirrored, |extent| lost.push(extent));
        assert_eq!(lost, [extent(16, 16)]);
        failed.hand_over(5, &mut partner, |_| 4);
        assert_eq!(failed.len(), 0);
        assert_eq!(read(&mut partner, extent(0, 16)), Some(vec![1; 8192]));
        assert!(partner.has_unwritten(extent(0, 16)));
        partner.check_invariants();
    }

    #[test]
    fn room_is_reserved_up_to_the_limit_of_dirty_lines() {
        let mut cache = DataCache::<Bytes>::new(8, 16, 1);
        assert!(cache.reserve(extent(0, 32), 2).is_some());
        assert!(cache.reserve(extent(64, 1), 2).is_none());
        cache.unreserve(extent(0, 32));
        assert!(cache.reserve(extent(64, 1), 2).is_some());
    }
}
