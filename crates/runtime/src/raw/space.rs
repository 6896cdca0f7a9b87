//! Which allocation units are free.

use super::entry::{EXTENTS_MAX, Extent};
use std::collections::BTreeMap;

/// The free runs of units, by their first unit; neighbours are always merged.
pub(super) struct Space {
    free: BTreeMap<u64, u64>,
}

impl Space {
    /// All of `units` free.
    pub(super) fn new(units: u64) -> Self {
        let mut free = BTreeMap::new();
        if units > 0 {
            free.insert(0, units);
        }
        Self { free }
    }

    pub(super) fn free_units(&self) -> u64 {
        self.free.values().sum()
    }

    /// Takes exactly this run; false if any of it is taken or does not exist.
    pub(super) fn reserve(&mut self, extent: Extent) -> bool {
        let Some(end) = extent.first_unit.checked_add(extent.units) else {
            return false;
        };
        let run = self.free.range(..=extent.first_unit).next_back();
        let Some((&first, &units)) = run else {
            return false;
        };
        if extent.units == 0 || end > first + units {
            return false;
        }
        self.free.remove(&first);
        if first < extent.first_unit {
            self.free.insert(first, extent.first_unit - first);
        }
        if end < first + units {
            self.free.insert(end, first + units - end);
        }
        true
    }

    /// Gives a run back.
    pub(super) fn release(&mut self, extent: Extent) {
        let (mut first, mut units) = (extent.first_unit, extent.units);
        if let Some((&before, &length)) = self.free.range(..first).next_back() {
            assert!(before + length <= first, "units are freed once");
            if before + length == first {
                self.free.remove(&before);
                (first, units) = (before, units + length);
            }
        }
        if let Some((&after, &length)) = self.free.range(first + 1..).next() {
            assert!(first + units <= after, "units are freed once");
            if first + units == after {
                self.free.remove(&after);
                units += length;
            }
        }
        self.free.insert(first, units);
    }

    /// Adds `units` to a file's extents: behind its last one if that is free, else in the first run
    /// that is long enough, else in the longest runs there are. Leaves everything as it was and
    /// returns `None` if there is not enough space, or only in too many pieces.
    pub(super) fn extend(&mut self, extents: &[Extent], units: u64) -> Option<Vec<Extent>> {
        if units > self.free_units() {
            return None;
        }
        let mut extended = extents.to_vec();
        let mut taken = Vec::new();
        let mut missing = units;
        while missing > 0 {
            let behind = extended.last().and_then(|last| {
                let next = last.first_unit + last.units;
                self.free.get_key_value(&next)
            });
            let whole = || self.free.iter().find(|(_, units)| **units >= missing);
            let longest = || self.free.iter().max_by_key(|(_, units)| **units);
            let Some((&first_unit, &length)) = behind.or_else(whole).or_else(longest) else {
                unreachable!("there is enough space in all runs together");
            };
            let piece = Extent {
                first_unit,
                units: length.min(missing),
            };
            assert!(self.reserve(piece));
            taken.push(piece);
            missing -= piece.units;
            match extended.last_mut() {
                Some(last) if last.first_unit + last.units == first_unit => {
                    last.units += piece.units;
                }
                _ => extended.push(piece),
            }
        }
        if extended.len() > EXTENTS_MAX {
            for piece in taken {
                self.release(piece);
            }
            return None;
        }
        Some(extended)
    }
}

/// Cuts a file's extents down to `units`; returns what is left and what is cut off.
pub(super) fn cut(extents: &[Extent], mut units: u64) -> (Vec<Extent>, Vec<Extent>) {
    let (mut kept, mut cut_off) = (Vec::new(), Vec::new());
    for extent in extents {
        let keep = extent.units.min(units);
        units -= keep;
        if keep > 0 {
            kept.push(Extent {
                units: keep,
                ..*extent
            });
        }
        if keep < extent.units {
            cut_off.push(Extent {
                first_unit: extent.first_unit + keep,
                units: extent.units - keep,
            });
        }
    }
    (kept, cut_off)
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    #[test]
    fn no_unit_is_given_out_twice_or_lost() {
        for seed in 0..50 {
            println!("seed {seed}");
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut space = Space::new(500);
            let mut files: Vec<Vec<Extent>> = vec![Vec::new(); 8];
            for _ in 0..300 {
                let file = random.random_range(0..files.len());
                let units: u64 = files[file].iter().map(|extent| extent.units).sum();
                if random.random_bool(0.6) {
                    let more = random.random_range(1..40);
                    let free = space.free_units();
                    match space.extend(&files[file], more) {
                        Some(extents) => files[file] = extents,
                        None => assert!(more > free),
                    }
                } else {
                    let (kept, cut_off) = cut(&files[file], random.random_range(0..=units));
                    files[file] = kept;
                    cut_off.into_iter().for_each(|extent| space.release(extent));
                }
                let mut owners = vec![0; 500];
                for extent in files.iter().flatten() {
                    for unit in extent.first_unit..extent.first_unit + extent.units {
                        owners[unit as usize] += 1;
                    }
                }
                assert!(owners.iter().all(|owners| *owners <= 1));
                let taken: u64 = owners.iter().sum();
                assert_eq!(taken + space.free_units(), 500);
            }
        }
    }
}
