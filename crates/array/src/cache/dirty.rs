//! What the disks lack, by stripe: the order in which it goes there.
//!
//! A unit is a stretch of a volume that lies within one stripe of a disk group, so that all its
//! dirty lines share one update of the parity. Units that can go to disk are kept in the order of
//! their addresses, which is the order a sweep takes them in, and all in the order of their ages.

use std::collections::VecDeque;

use prefetch_index::prefetch_index;

use super::index::KeyIndex;
use super::line::NONE;
use super::order::OrderedBits;
use super::{key_of, number_of, volume_of};

/// The dirty lines of one unit.
#[derive(Debug, Clone)]
struct Unit {
    /// Volume and number of the unit within it.
    key: u64,
    /// When the oldest of it became dirty, ns; `u64::MAX` when nothing is dirty.
    since_ns: u64,
    /// The first dirty line; the others are linked behind it.
    first_line: u32,
    /// Whether a destage of this unit is under way; the next one waits for its end.
    in_flight: bool,
    /// Writes that went into it, and those of them that continued a run of addresses.
    writes: u32,
    sequential_writes: u32,
}

/// How far ahead the CPU is asked for units that will go to disk, and for their lines.
const UNITS_AHEAD: usize = 6;
const LINES_AHEAD: usize = 3;

/// What a destage takes with it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Started {
    /// The first of its lines.
    pub first_line: u32,
    /// Since when the oldest of it was dirty, ns.
    pub since_ns: u64,
    /// Whether most writes continued a run of addresses.
    pub sequential: bool,
}

/// All units with dirty lines or a destage under way. They are known by slots, which stay the same
/// as long as there is anything of the unit.
#[derive(Debug, Default)]
pub(crate) struct DirtyUnits {
    index: KeyIndex,
    units: Vec<Unit>,
    free: Vec<u32>,
    /// Units that a destage may take, by volume.
    ready: Vec<OrderedBits>,
    by_age: VecDeque<(u64, u32)>,
    /// Where the sweep goes on.
    sweep: u64,
}

impl DirtyUnits {
    /// The unit with that key, made if there was nothing of it. The caller has lines of it join.
    #[inline]
    pub fn note_dirty(&mut self, key: u64, now_ns: u64) -> u32 {
        let units = &self.units;
        let found = self.index.find(key, |slot| units[slot as usize].key);
        let slot = found.unwrap_or_else(|| self.add(key));
        let unit = &mut self.units[slot as usize];
        if unit.since_ns == u64::MAX {
            unit.since_ns = now_ns;
            self.by_age.push_back((now_ns, slot));
        }
        slot
    }

    /// Has the CPU fetch what [`DirtyUnits::note_dirty`] will look at for `key`.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        self.index.prefetch(key);
    }

    /// The first dirty line of the unit a few places behind the oldest by age, if it has any. Has
    /// the CPU fetch where that unit's key is kept, and what is known of a unit further behind.
    #[inline]
    pub fn first_line_behind(&self) -> Option<u32> {
        if let Some(&(_, slot)) = self.by_age.get(UNITS_AHEAD) {
            prefetch_index(&self.units, slot as usize);
        }
        let &(_, slot) = self.by_age.get(LINES_AHEAD)?;
        let unit = &self.units[slot as usize];
        self.index.prefetch(unit.key);
        (unit.first_line != NONE).then_some(unit.first_line)
    }

    fn add(&mut self, key: u64) -> u32 {
        let unit = Unit {
            key,
            since_ns: u64::MAX,
            first_line: NONE,
            in_flight: false,
            writes: 0,
            sequential_writes: 0,
        };
        let slot = match self.free.pop() {
            Some(slot) => {
                self.units[slot as usize] = unit;
                slot
            }
            None => {
                self.units.push(unit);
                (self.units.len() - 1) as u32
            }
        };
        self.index.insert(key, slot);
        slot
    }

    /// Counts a write into a unit.
    #[inline]
    pub fn note_write(&mut self, slot: u32, sequential: bool) {
        let unit = &mut self.units[slot as usize];
        unit.writes += 1;
        unit.sequential_writes += u32::from(sequential);
    }

    /// Puts a line in front of the dirty ones of a unit; gives the one that follows it.
    #[inline]
    pub fn join(&mut self, slot: u32, line: u32) -> u32 {
        let unit = &mut self.units[slot as usize];
        let next = std::mem::replace(&mut unit.first_line, line);
        if next == NONE && !unit.in_flight {
            let key = unit.key;
            self.set_ready(key);
        }
        next
    }

    fn set_ready(&mut self, key: u64) {
        let volume = usize::from(volume_of(key));
        if volume >= self.ready.len() {
            self.ready.resize_with(volume + 1, OrderedBits::default);
        }
        self.ready[volume].insert(number_of(key));
    }

    fn clear_ready(&mut self, key: u64) {
        self.ready[usize::from(volume_of(key))].remove(number_of(key));
    }

    /// Volume and number of a unit.
    pub fn key(&self, slot: u32) -> u64 {
        self.units[slot as usize].key
    }

    /// The first dirty line of a unit.
    pub fn first_line(&self, slot: u32) -> u32 {
        self.units[slot as usize].first_line
    }

    /// The first dirty line of a unit is clean; `next` follows it. A unit without dirty lines and
    /// without a destage under way is gone.
    pub fn drop_first(&mut self, slot: u32, next: u32) {
        let unit = &mut self.units[slot as usize];
        unit.first_line = next;
        if next != NONE {
            return;
        }
        let (key, in_flight) = (unit.key, unit.in_flight);
        unit.since_ns = u64::MAX;
        if !in_flight {
            self.clear_ready(key);
            self.remove(slot);
        }
    }

    fn remove(&mut self, slot: u32) {
        let unit = &mut self.units[slot as usize];
        unit.since_ns = u64::MAX;
        self.index.remove(unit.key, slot);
        self.free.push(slot);
    }

    /// Since when the oldest dirty line waits, and its unit.
    #[inline]
    pub fn oldest(&mut self) -> Option<(u64, u32)> {
        while let Some(&(since_ns, slot)) = self.by_age.front() {
            if self.units[slot as usize].since_ns == since_ns {
                return Some((since_ns, slot));
            }
            self.by_age.pop_front();
        }
        None
    }

    /// Since when the oldest dirty line waits.
    pub fn oldest_since_ns(&self) -> Option<u64> {
        let mut ages = self.by_age.iter();
        let is_valid =
            |&&(since_ns, slot): &&(u64, u32)| self.units[slot as usize].since_ns == since_ns;
        ages.find(is_valid).map(|&(since_ns, _)| since_ns)
    }

    /// The oldest unit without a destage under way, if it is dirty since `until_ns` or before.
    ///
    /// By age and not by address: few units become overdue at once, and what a disk holds of them it
    /// sorts itself. Only a cache under pressure sweeps.
    pub fn oldest_idle_until(&mut self, until_ns: u64) -> Option<u32> {
        if self.by_age.front()?.0 > until_ns {
            return None;
        }
        let (since_ns, slot) = self.oldest()?;
        if since_ns > until_ns {
            return None;
        }
        if !self.units[slot as usize].in_flight {
            return Some(slot);
        }
        let old = self.by_age.iter().take_while(|entry| entry.0 <= until_ns);
        let idle = old.copied().find(|&(since_ns, slot)| {
            let unit = &self.units[slot as usize];
            unit.since_ns == since_ns && !unit.in_flight
        });
        idle.map(|entry| entry.1)
    }

    /// The next unit of the sweep without a destage under way; the sweep starts over at the end.
    pub fn next_in_sweep(&mut self) -> Option<u32> {
        let ahead = self.next_ready(self.sweep);
        let key = ahead.or_else(|| self.next_ready(0))?;
        self.sweep = key + 1;
        self.index.find(key, |slot| self.units[slot as usize].key)
    }

    /// The key of the first unit from `key` on that a destage may take.
    fn next_ready(&self, key: u64) -> Option<u64> {
        let mut from = number_of(key);
        for volume in usize::from(volume_of(key))..self.ready.len() {
            if let Some(number) = self.ready[volume].next_from(from) {
                return Some(key_of(volume as u16, number));
            }
            from = 0;
        }
        None
    }

    /// Starts a destage: the unit's lines are handed over.
    pub fn start(&mut self, slot: u32) -> Started {
        let unit = &mut self.units[slot as usize];
        assert!(
            !unit.in_flight && unit.first_line != NONE,
            "a unit that is chosen can go to disk"
        );
        let started = Started {
            first_line: unit.first_line,
            since_ns: unit.since_ns,
            sequential: unit.sequential_writes * 2 > unit.writes,
        };
        unit.first_line = NONE;
        unit.since_ns = u64::MAX;
        unit.in_flight = true;
        unit.writes = 0;
        unit.sequential_writes = 0;
        let key = unit.key;
        self.clear_ready(key);
        started
    }

    /// A destage is over.
    pub fn end(&mut self, slot: u32) {
        let unit = &mut self.units[slot as usize];
        unit.in_flight = false;
        if unit.first_line == NONE {
            self.remove(slot);
        } else {
            let key = unit.key;
            self.set_ready(key);
        }
    }

    /// Units that are dirty or under way.
    #[inline]
    pub fn len(&self) -> usize {
        self.index.len()
    }
}
