//! The data cache of a controller: lines keyed by volume address.
//!
//! - [`extents`]: lookups, fills, writes and destages of whole extents.
//! - [`line`]: which sectors of a line are valid, dirty, on their way to disk.
//! - [`index`]: from a key to its line.
//! - [`dirty`]: dirty lines by stripe, in the orders they go to disk; [`order`] keeps addresses in
//!   order.
//! - [`recency`]: lines in the order of their last use.
//! - [`streams`]: sequential readers and writers.
//!
//! Lines that hold nothing the disks lack and that are not about to be used are in a ring from the
//! least recently used on; they are replaced in that order. Everything takes constant time, but
//! for dropping what is dirty, which looks for its line among those of its unit.

mod dirty;
mod extents;
mod index;
mod line;
mod order;
mod recency;
mod streams;

use dirty::DirtyUnits;
use line::sectors_from;
pub(crate) use line::{Line, NONE, Sectors, for_runs};
pub(crate) use streams::Streams;

use prefetch_index::prefetch_index;

use crate::io::VolumeExtent;
use crate::payload::Payload;

use index::KeyIndex;
use line::NO_KEY;
use line::NOWHERE;
use recency::Recency;

/// Lines that will be replaced next: how far ahead the CPU is asked for them, and for the
/// places of their keys.
const LINES_AHEAD: usize = 4;
const KEYS_AHEAD: usize = 1;

/// Bits of a key that number the line or unit within its volume.
const NUMBER_BITS: u32 = 44;

/// Volume and number of a line or unit in one.
#[inline]
pub(crate) fn key_of(volume: u16, number: u64) -> u64 {
    debug_assert!(number < 1 << NUMBER_BITS);
    u64::from(volume) << NUMBER_BITS | number
}

/// The volume of a key.
#[inline]
pub(crate) fn volume_of(key: u64) -> u16 {
    (key >> NUMBER_BITS) as u16
}

/// The number within its volume.
#[inline]
pub(crate) fn number_of(key: u64) -> u64 {
    key & ((1 << NUMBER_BITS) - 1)
}

/// The key of the unit that a line belongs to.
#[inline]
pub(crate) fn unit_of(line_key: u64, lines_per_unit: u64) -> u64 {
    key_of(volume_of(line_key), number_of(line_key) / lines_per_unit)
}

/// A part of a request that lies in one line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinePart {
    /// Key of the line.
    pub key: u64,
    /// First sector within the line.
    pub within: u32,
    /// First sector within the request.
    pub offset: u32,
    /// Length in sectors; the part ends within the line.
    pub sectors: u32,
}

impl LinePart {
    /// The part's bits in its line.
    #[inline]
    pub fn bits(&self) -> Sectors {
        sectors_from(self.within, self.sectors)
    }
}

/// The parts of an extent, line by line.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LineParts {
    volume: u16,
    line_shift: u32,
    next_sector: u64,
    first_sector: u64,
    end_sector: u64,
}

impl Iterator for LineParts {
    type Item = LinePart;

    #[inline]
    fn next(&mut self) -> Option<LinePart> {
        if self.next_sector >= self.end_sector {
            return None;
        }
        let line_sectors = 1u64 << self.line_shift;
        let within = self.next_sector & (line_sectors - 1);
        let sectors = (line_sectors - within).min(self.end_sector - self.next_sector);
        let part = LinePart {
            key: key_of(self.volume, self.next_sector >> self.line_shift),
            within: within as u32,
            offset: (self.next_sector - self.first_sector) as u32,
            sectors: sectors as u32,
        };
        self.next_sector += sectors;
        Some(part)
    }
}

/// The cache of one controller.
#[derive(Debug)]
pub(crate) struct DataCache<P> {
    index: KeyIndex,
    lines: Vec<Line<P>>,
    free: Vec<u32>,
    /// The lines that may be replaced.
    replaceable: Recency,
    capacity_lines: u64,
    line_shift: u32,
    /// Lines that hold something the disks lack.
    unwritten_lines: u64,
    /// The same by volume.
    unwritten_by_volume: Vec<u64>,
    /// Lines that writes on their way into the cache may make dirty.
    reserved_lines: u64,
    /// Since when the oldest of what was taken over from a failed partner was dirty there, until everything is on
    /// the disks.
    taken_over_ns: Option<u64>,
    /// Dirty lines by stripe.
    pub dirty: DirtyUnits,
}

impl<P: Payload> DataCache<P> {
    pub fn new(capacity_lines: u64, line_sectors: u32, volumes: usize) -> Self {
        Self {
            index: KeyIndex::default(),
            lines: Vec::new(),
            free: Vec::new(),
            replaceable: Recency::default(),
            capacity_lines,
            line_shift: line_sectors.trailing_zeros(),
            unwritten_lines: 0,
            unwritten_by_volume: vec![0; volumes],
            reserved_lines: 0,
            taken_over_ns: None,
            dirty: DirtyUnits::default(),
        }
    }

    /// Sectors of a line.
    #[inline]
    pub fn line_sectors(&self) -> u32 {
        1 << self.line_shift
    }

    /// The lines an extent touches, in order.
    #[inline]
    pub fn parts(&self, extent: VolumeExtent) -> LineParts {
        LineParts {
            volume: extent.volume,
            line_shift: self.line_shift,
            next_sector: extent.first_sector,
            first_sector: extent.first_sector,
            end_sector: extent.end_sector(),
        }
    }

    /// The line with that key.
    #[inline]
    pub fn find(&self, key: u64) -> Option<u32> {
        self.index.find(key, |slot| self.lines[slot as usize].key)
    }

    /// Has the CPU fetch what [`DataCache::find`] will look at for `key`.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        self.index.prefetch(key);
    }

    /// Has the CPU fetch the line that `key` probably has.
    #[inline]
    pub fn prefetch_line(&self, key: u64) {
        if let Some(slot) = self.index.likely_slot(key) {
            prefetch_index(&self.lines, slot as usize);
        }
    }

    /// The line with that key, which was in `slot` when it was last looked for.
    #[inline]
    fn find_again(&self, slot: u32, key: u64) -> Option<u32> {
        match self.lines.get(slot as usize) {
            Some(line) if line.key == key => Some(slot),
            _ => self.find(key),
        }
    }

    #[inline]
    pub fn line(&self, slot: u32) -> &Line<P> {
        &self.lines[slot as usize]
    }

    #[inline]
    fn line_mut(&mut self, slot: u32) -> &mut Line<P> {
        &mut self.lines[slot as usize]
    }

    /// Lines that could be had at once, by replacement if need be.
    #[inline]
    fn available_lines(&self) -> u64 {
        self.capacity_lines.saturating_sub(self.index.len() as u64) + self.replaceable.len()
    }

    /// Lines that hold something the disks lack.
    #[inline]
    pub fn unwritten_lines(&self) -> u64 {
        self.unwritten_lines
    }

    /// Lines that are dirty, or that writes on their way into the cache may make dirty.
    #[inline]
    pub fn filled_lines(&self) -> u64 {
        self.unwritten_lines + self.reserved_lines
    }

    /// The line with that key, a new one if there is none; `None` if nothing can be replaced.
    #[inline]
    fn find_or_allocate(&mut self, key: u64) -> Option<u32> {
        self.find(key).or_else(|| self.allocate(key))
    }

    /// A new line for `key`, which must not be there; `None` if nothing can be replaced.
    fn allocate(&mut self, key: u64) -> Option<u32> {
        while self.index.len() as u64 >= self.capacity_lines {
            let oldest = self.replaceable.oldest()?;
            self.remove(oldest);
        }
        Some(self.allocate_beyond(key))
    }

    /// A new line for `key`, which must not be there, whatever the capacity: what the partner
    /// mirrored is there already when its owner fails.
    fn allocate_beyond(&mut self, key: u64) -> u32 {
        let slot = match self.free.pop() {
            Some(slot) => slot,
            None => {
                self.lines.push(Line::default());
                (self.lines.len() - 1) as u32
            }
        };
        let sectors = self.line_sectors();
        let line = &mut self.lines[slot as usize];
        if P::CARRIES_BYTES && line.contents.is_empty() {
            line.contents = P::zeroed(sectors);
        }
        // What went holds nothing the disks lack and was not pinned; the rest starts again.
        line.key = key;
        line.valid = 0;
        line.last_fill = NONE;
        line.mirrored = false;
        self.index.insert(key, slot);
        slot
    }

    /// Takes a line out that holds nothing the disks lack and is not pinned.
    fn remove(&mut self, slot: u32) {
        self.unlist(slot);
        let line = &mut self.lines[slot as usize];
        assert!(
            line.pins == 0 && line.dirty == 0,
            "only what is on disk and unused may be replaced"
        );
        debug_assert!(line.destaging() | line.blocked() == 0);
        line.valid = 0;
        let key = std::mem::replace(&mut line.key, NO_KEY);
        self.index.remove(key, slot);
        self.free.push(slot);
        // The next ones to go are known: what will be looked at then is fetched meanwhile.
        if let Some(slot) = self.replaceable.behind_front(LINES_AHEAD) {
            prefetch_index(&self.lines, slot as usize);
        }
        if let Some(slot) = self.replaceable.behind_front(KEYS_AHEAD) {
            self.index.prefetch(self.lines[slot as usize].key);
        }
    }

    /// Takes a line out of the ring of replaceable ones, if it is there.
    #[inline]
    fn unlist(&mut self, slot: u32) {
        let line = &mut self.lines[slot as usize];
        if line.is_replaceable() {
            let place = std::mem::replace(&mut line.place, NOWHERE);
            self.replaceable.remove(place);
        }
    }

    /// Puts a line at the end of the ring of replaceable ones if it may be replaced.
    #[inline]
    fn list_if_replaceable(&mut self, slot: u32) {
        let line = &self.lines[slot as usize];
        if line.is_replaceable() || line.pins > 0 || line.is_unwritten() {
            return;
        }
        if self.replaceable.is_full() {
            let lines = &mut self.lines;
            self.replaceable
                .compact(|slot, place| lines[slot as usize].place = place);
        }
        self.lines[slot as usize].place = self.replaceable.push(slot);
    }

    /// Notes a use of a line.
    #[inline]
    fn touch(&mut self, slot: u32) {
        if self.lines[slot as usize].is_replaceable() && !self.replaceable.is_newest(slot) {
            self.unlist(slot);
            self.list_if_replaceable(slot);
        }
    }

    /// Keeps a line from being replaced.
    #[inline]
    fn pin(&mut self, slot: u32) {
        self.unlist(slot);
        self.lines[slot as usize].pins += 1;
    }

    /// Takes back a [`DataCache::pin`].
    #[inline]
    fn unpin(&mut self, slot: u32) {
        let line = &mut self.lines[slot as usize];
        assert!(line.pins > 0, "a line is released as often as it is pinned");
        line.pins -= 1;
        if line.pins == 0 {
            line.unblock();
            line.last_fill = NONE;
            self.list_if_replaceable(slot);
        }
    }

    /// Has the CPU fetch what the next destages by age will look at.
    #[inline]
    pub fn prefetch_destages(&self) {
        if let Some(line) = self.dirty.first_line_behind() {
            prefetch_index(&self.lines, line as usize);
        }
    }

    /// Puts written contents into a line.
    fn put(&mut self, write: CacheWrite, slot: u32, part: LinePart, payload: &P) {
        let line = &mut self.lines[slot as usize];
        if P::CARRIES_BYTES {
            line.contents
                .overlay(part.within, &payload.part(part.offset, part.sectors));
        }
        line.valid |= part.bits();
        if line.is_unwritten() {
            line.mirrored &= write.mirrored;
        } else {
            line.mirrored = write.mirrored;
            self.unwritten_lines += 1;
            self.unwritten_by_volume[usize::from(volume_of(line.key))] += 1;
        }
        let joins = line.dirty == 0;
        line.dirty |= part.bits();
        if joins {
            let key = unit_of(line.key, write.lines_per_unit);
            line.unit = self.dirty.note_dirty(key, write.now_ns);
        }
        let unit = line.unit;
        self.dirty.note_write(unit, write.sequential);
        self.unlist(slot);
        if joins {
            self.lines[slot as usize].unit_next = self.dirty.join(unit, slot);
        }
    }

    /// What a destage carried of this line is on disk.
    fn written(&mut self, slot: u32) {
        let line = &mut self.lines[slot as usize];
        line.arrive();
        if line.dirty == 0 {
            self.unwritten_by_volume[usize::from(volume_of(line.key))] -= 1;
            self.unwritten_lines -= 1;
            if self.unwritten_lines == 0 {
                self.taken_over_ns = None;
            }
            self.list_if_replaceable(slot);
        }
    }

    /// Drops dirty sectors that no longer matter.
    fn drop_dirty(&mut self, slot: u32, sectors: Sectors) {
        let line = &mut self.lines[slot as usize];
        if line.dirty & sectors == 0 {
            return;
        }
        line.dirty &= !sectors;
        if line.dirty != 0 {
            return;
        }
        let (next, unit) = (line.unit_next, line.unit);
        let clean = !line.is_unwritten();
        let volume = usize::from(volume_of(line.key));
        let mut before = self.dirty.first_line(unit);
        if before == slot {
            self.dirty.drop_first(unit, next);
        } else {
            while self.lines[before as usize].unit_next != slot {
                before = self.lines[before as usize].unit_next;
            }
            self.lines[before as usize].unit_next = next;
        }
        if clean {
            self.unwritten_by_volume[volume] -= 1;
            self.unwritten_lines -= 1;
            self.list_if_replaceable(slot);
        }
    }

    /// Every line in use, by slot.
    fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        let in_use = |&slot: &u32| self.lines[slot as usize].key != NO_KEY;
        (0..self.lines.len() as u32).filter(in_use)
    }

    /// Drops every line of a volume. None of them may be pinned or hold what the disks lack.
    pub fn purge(&mut self, volume: u16) {
        let slots: Vec<u32> = self
            .slots()
            .filter(|&slot| volume_of(self.line(slot).key) == volume)
            .collect();
        for slot in slots {
            self.remove(slot);
        }
    }

    /// Drops every line that holds nothing the disks lack.
    pub fn drop_clean(&mut self) {
        while let Some(oldest) = self.replaceable.oldest() {
            self.remove(oldest);
        }
    }

    /// Lines in use, dirty and clean.
    pub fn len(&self) -> u64 {
        self.index.len() as u64
    }

    /// Checks that counts and lists agree.
    ///
    /// # Panics
    ///
    /// If they do not.
    pub fn check_invariants(&self) {
        let mut unwritten = 0;
        let mut replaceable = 0;
        for slot in self.slots() {
            let line = self.line(slot);
            unwritten += u64::from(line.is_unwritten());
            replaceable += u64::from(line.is_replaceable());
            let unwritten_bits = line.dirty | line.destaging();
            assert_eq!(unwritten_bits & !line.valid, 0, "what is dirty is valid");
            assert!(
                line.is_replaceable() == (line.pins == 0 && !line.is_unwritten()),
                "a line is replaceable when it is neither pinned nor ahead of the disks"
            );
            let is_at_place = self.replaceable.is_at(slot, line.place);
            assert_eq!(line.is_replaceable(), is_at_place, "the place of a line");
        }
        assert_eq!(unwritten, self.unwritten_lines, "lines ahead of the disks");
        assert_eq!(replaceable, self.replaceable.len(), "replaceable lines");
    }
}

/// A write on its way into the cache.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CacheWrite {
    pub now_ns: u64,
    /// Lines of a unit of the volume.
    pub lines_per_unit: u64,
    /// Whether the partner holds a copy.
    pub mirrored: bool,
    /// Whether it continued a run of addresses.
    pub sequential: bool,
}
