//! Sets of numbers: one bit each, in blocks that exist only where something is set.

use std::collections::BTreeMap;

const BLOCK_WORDS: usize = 512;
const BLOCK_BITS: u32 = 64 * BLOCK_WORDS as u32;

/// A set of page numbers or long value ids.
#[derive(Default)]
pub(super) struct Bitmap {
    blocks: BTreeMap<u32, Box<[u64; BLOCK_WORDS]>>,
}

fn place(number: u32) -> (u32, usize, u64) {
    let within = number % BLOCK_BITS;
    (
        number / BLOCK_BITS,
        (within / 64) as usize,
        1 << (within % 64),
    )
}

impl Bitmap {
    /// Adds a number; false if it was there.
    pub(super) fn insert(&mut self, number: u32) -> bool {
        let (block, word, bit) = place(number);
        let words = self
            .blocks
            .entry(block)
            .or_insert_with(|| Box::new([0; BLOCK_WORDS]));
        let new = words[word] & bit == 0;
        words[word] |= bit;
        new
    }

    /// Takes a number out; false if it was not there.
    pub(super) fn remove(&mut self, number: u32) -> bool {
        let (block, word, bit) = place(number);
        let Some(words) = self.blocks.get_mut(&block) else {
            return false;
        };
        let there = words[word] & bit != 0;
        words[word] &= !bit;
        there
    }

    pub(super) fn contains(&self, number: u32) -> bool {
        let (block, word, bit) = place(number);
        self.blocks
            .get(&block)
            .is_some_and(|words| words[word] & bit != 0)
    }

    /// All numbers in ascending order.
    pub(super) fn iter(&self) -> impl Iterator<Item = u32> + '_ {
        self.blocks.iter().flat_map(|(&block, words)| {
            let numbers = words.iter().enumerate().filter(|(_, word)| **word != 0);
            numbers.flat_map(move |(index, &word)| {
                let base = block * BLOCK_BITS + 64 * index as u32;
                (0..64)
                    .filter(move |bit| word >> bit & 1 == 1)
                    .map(move |bit| base + bit)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::Bitmap;

    proptest! {
        #[test]
        fn behaves_like_a_set(steps in prop::collection::vec((0_u32..200_000, any::<bool>()), 0..300)) {
            let (mut bitmap, mut set) = (Bitmap::default(), BTreeSet::new());
            for (number, add) in steps {
                prop_assert_eq!(bitmap.contains(number), set.contains(&number));
                if add {
                    prop_assert_eq!(bitmap.insert(number), set.insert(number));
                } else {
                    prop_assert_eq!(bitmap.remove(number), set.remove(&number));
                }
            }
            prop_assert!(bitmap.iter().eq(set));
        }
    }
}
