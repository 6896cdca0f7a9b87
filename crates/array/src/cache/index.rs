//! From the key of a line or unit to its slot: eight bytes for each, found by linear probing.
//!
//! The whole key is kept by the owner, by slot, and is asked for only when its mark agrees. The
//! mark is the upper half of the key's hash and so says where the search for the key begins, too:
//! entries move without reading their keys.

use prefetch_index::prefetch_index;

use super::NONE;

/// A slot in use, or [`NONE`].
#[derive(Debug, Clone, Copy)]
struct Entry {
    mark: u32,
    slot: u32,
}

const EMPTY: Entry = Entry {
    mark: 0,
    slot: NONE,
};

/// A search in a table that is half full ends after one to five probes, and the CPU guesses
/// wrongly when; with a quarter in use it nearly always ends at the first.
const ENTRIES_PER_SLOT: usize = 4;

/// An open-addressing table of slots.
#[derive(Debug)]
pub(crate) struct KeyIndex {
    /// Power of two long, at most one in [`ENTRIES_PER_SLOT`] in use.
    entries: Vec<Entry>,
    /// Bits of a mark less those that number an entry.
    shift: u32,
    len: usize,
}

/// Multiplicative hashing by the golden ratio: runs of keys spread evenly.
#[inline]
fn mark_of(key: u64) -> u32 {
    (key.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 32) as u32
}

impl Default for KeyIndex {
    fn default() -> Self {
        Self::with_bits(6)
    }
}

impl KeyIndex {
    fn with_bits(bits: u32) -> Self {
        Self {
            entries: vec![EMPTY; 1 << bits],
            shift: u32::BITS - bits,
            len: 0,
        }
    }

    /// Slots in the table.
    #[inline]
    pub fn len(&self) -> usize {
        self.len
    }

    #[inline]
    fn mask(&self) -> usize {
        self.entries.len() - 1
    }

    /// Has the CPU fetch what [`KeyIndex::find`] will look at for `key`. Tables of large
    /// caches lie in main memory, and there is much to do until a request gets to its look-up.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch_index(&self.entries, (mark_of(key) >> self.shift) as usize);
    }

    /// The slot that `key` is likely to have, without reading whose it is.
    #[inline]
    pub fn likely_slot(&self, key: u64) -> Option<u32> {
        let mark = mark_of(key);
        let mask = self.mask();
        let mut at = (mark >> self.shift) as usize;
        loop {
            let entry = self.entries[at & mask];
            if entry.slot == NONE {
                return None;
            }
            if entry.mark == mark {
                return Some(entry.slot);
            }
            at += 1;
        }
    }

    /// The slot of `key`; `key_of` gives the key of a slot.
    #[inline]
    pub fn find(&self, key: u64, key_of: impl Fn(u32) -> u64) -> Option<u32> {
        let mark = mark_of(key);
        let mask = self.mask();
        let mut at = (mark >> self.shift) as usize;
        loop {
            let entry = self.entries[at & mask];
            if entry.slot == NONE {
                return None;
            }
            if entry.mark == mark && key_of(entry.slot) == key {
                return Some(entry.slot);
            }
            at += 1;
        }
    }

    /// Adds the slot of a key that must not be there.
    #[inline]
    pub fn insert(&mut self, key: u64, slot: u32) {
        if (self.len + 1) * ENTRIES_PER_SLOT > self.entries.len() {
            self.grow();
        }
        self.len += 1;
        self.put(Entry {
            mark: mark_of(key),
            slot,
        });
    }

    #[inline]
    fn put(&mut self, entry: Entry) {
        let mask = self.mask();
        let mut at = (entry.mark >> self.shift) as usize;
        while self.entries[at & mask].slot != NONE {
            at += 1;
        }
        self.entries[at & mask] = entry;
    }

    #[cold]
    fn grow(&mut self) {
        let bits = u32::BITS - self.shift + 1;
        assert!(bits < u32::BITS, "more lines than slots can be numbered");
        let larger = Self::with_bits(bits);
        let old = std::mem::replace(self, larger);
        self.len = old.len;
        for entry in old.entries {
            if entry.slot != NONE {
                self.put(entry);
            }
        }
    }

    /// Removes `slot`, which must be there under `key`, and closes the gap.
    #[inline]
    pub fn remove(&mut self, key: u64, slot: u32) {
        let mask = self.mask();
        let mut gap = (mark_of(key) >> self.shift) as usize;
        while self.entries[gap & mask].slot != slot {
            assert!(
                self.entries[gap & mask].slot != NONE,
                "only what is in the index is removed"
            );
            gap += 1;
        }
        self.len -= 1;
        gap &= mask;
        let mut at = gap;
        loop {
            at = (at + 1) & mask;
            let entry = self.entries[at];
            if entry.slot == NONE {
                self.entries[gap] = EMPTY;
                return;
            }
            let home = (entry.mark >> self.shift) as usize;
            // It may move back into the gap unless its search begins behind it.
            if (at.wrapping_sub(home) & mask) >= (at.wrapping_sub(gap) & mask) {
                self.entries[gap] = entry;
                gap = at;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::KeyIndex;

    #[test]
    fn finds_what_a_map_would() {
        for seed in 0..100_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let range = [40, 300, 1 << 60][(seed % 3) as usize];
            let mut index = KeyIndex::default();
            let mut keys: Vec<u64> = Vec::new();
            let mut model = BTreeMap::new();
            for _ in 0..600 {
                let key = random.random_range(0..range);
                if let Some(slot) = model.remove(&key) {
                    index.remove(key, slot);
                } else {
                    let slot = keys.len() as u32;
                    keys.push(key);
                    index.insert(key, slot);
                    model.insert(key, slot);
                }
                let key = random.random_range(0..range);
                let found = index.find(key, |slot| keys[slot as usize]);
                assert_eq!(found, model.get(&key).copied(), "seed {seed}");
                assert_eq!(index.len(), model.len(), "seed {seed}");
            }
            for (key, slot) in model {
                let found = index.find(key, |slot| keys[slot as usize]);
                assert_eq!(found, Some(slot), "seed {seed}");
            }
        }
    }
}
