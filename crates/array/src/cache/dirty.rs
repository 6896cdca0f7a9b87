//! What the disks lack, by stripe: the order in which it goes there.
//!
//! A unit is a stretch of a volume that lies within one stripe of a disk group, so that all its
//! dirty lines share one update of the parity. Units stand in the order of their addresses, which
//! is the order a sweep takes them in, and in the order of their ages.

use std::collections::{BTreeMap, VecDeque};

use super::line::NONE;

/// The dirty lines of one unit.
#[derive(Debug, Clone)]
pub(crate) struct Unit {
    /// The first dirty line; the others are linked behind it.
    pub first_line: u32,
    /// When the oldest of it became dirty, ns.
    pub since_ns: u64,
    /// Whether a destage of this unit is under way; the next one waits for its end.
    pub in_flight: bool,
    /// Writes that went into it, and those of them that continued a run of addresses.
    pub writes: u32,
    pub sequential_writes: u32,
}

/// All units with dirty lines or a destage under way.
#[derive(Debug, Default)]
pub(crate) struct DirtyUnits {
    units: BTreeMap<u64, Unit>,
    by_age: VecDeque<(u64, u64)>,
    sweep: u64,
}

impl DirtyUnits {
    /// The unit, made if there was nothing of it.
    pub fn note_dirty(&mut self, key: u64, now_ns: u64) -> &mut Unit {
        let by_age = &mut self.by_age;
        let unit = self.units.entry(key).or_insert_with(|| Unit {
            first_line: NONE,
            since_ns: u64::MAX,
            in_flight: false,
            writes: 0,
            sequential_writes: 0,
        });
        if unit.since_ns == u64::MAX {
            unit.since_ns = now_ns;
            by_age.push_back((now_ns, key));
        }
        unit
    }

    pub fn get_mut(&mut self, key: u64) -> Option<&mut Unit> {
        self.units.get_mut(&key)
    }

    /// Drops a unit that has nothing dirty and no destage under way.
    pub fn drop_if_clean(&mut self, key: u64) {
        if self
            .units
            .get(&key)
            .is_some_and(|unit| unit.first_line == NONE)
        {
            if let Some(unit) = self.units.get_mut(&key)
                && unit.in_flight
            {
                unit.since_ns = u64::MAX;
                return;
            }
            self.units.remove(&key);
        }
    }

    /// Since when the oldest dirty line waits, and its unit.
    pub fn oldest(&mut self) -> Option<(u64, u64)> {
        while let Some(&(since_ns, key)) = self.by_age.front() {
            let unit = self.units.get(&key);
            if unit.is_some_and(|unit| unit.since_ns == since_ns && unit.first_line != NONE) {
                return Some((since_ns, key));
            }
            self.by_age.pop_front();
        }
        None
    }

    /// The oldest unit without a destage under way, if it is dirty since `until_ns` or before.
    pub fn oldest_idle_until(&mut self, until_ns: u64) -> Option<u64> {
        if self.by_age.front()?.0 > until_ns {
            return None;
        }
        let (since_ns, key) = self.oldest()?;
        if since_ns > until_ns {
            return None;
        }
        if self.units.get(&key).is_some_and(|unit| !unit.in_flight) {
            return Some(key);
        }
        let old = self.by_age.iter().take_while(|entry| entry.0 <= until_ns);
        let idle = old.copied().find(|&(since_ns, key)| {
            self.units.get(&key).is_some_and(|unit| {
                unit.since_ns == since_ns && unit.first_line != NONE && !unit.in_flight
            })
        });
        idle.map(|entry| entry.1)
    }

    /// The next unit of the sweep without a destage under way; the sweep starts over at the end.
    pub fn next_in_sweep(&mut self) -> Option<u64> {
        let ready = |(_, unit): &(&u64, &Unit)| !unit.in_flight && unit.first_line != NONE;
        let ahead = self.units.range(self.sweep..).find(ready);
        let next = match ahead {
            Some(found) => Some(found),
            None => self.units.range(..self.sweep).find(ready),
        };
        let key = next.map(|(&key, _)| key)?;
        self.sweep = key + 1;
        Some(key)
    }

    /// Starts a destage: the unit's lines are handed over.
    pub fn start(&mut self, key: u64) -> Option<(u32, u64, bool)> {
        let unit = self.units.get_mut(&key)?;
        let started = (
            unit.first_line,
            unit.since_ns,
            unit.sequential_writes * 2 > unit.writes,
        );
        unit.first_line = NONE;
        unit.since_ns = u64::MAX;
        unit.in_flight = true;
        unit.writes = 0;
        unit.sequential_writes = 0;
        Some(started)
    }

    /// A destage is over.
    pub fn end(&mut self, key: u64) {
        if let Some(unit) = self.units.get_mut(&key) {
            unit.in_flight = false;
        }
        self.drop_if_clean(key);
    }

    /// Units that are dirty or under way.
    pub fn len(&self) -> usize {
        self.units.len()
    }
}
