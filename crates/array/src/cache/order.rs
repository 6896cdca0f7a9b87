//! A set of numbers that are met in their order: a tree of bits, 64 to a node.
//!
//! A bit of an upper level says whether the word below it holds any. Adding, taking out and finding
//! the next number take a step for each level: four for 16 million numbers.

/// A set of numbers. It takes a bit for each number up to the greatest it ever held.
#[derive(Debug, Clone, Default)]
pub(crate) struct OrderedBits {
    /// From the numbers themselves up to a single word.
    levels: Vec<Vec<u64>>,
}

impl OrderedBits {
    /// Makes room for the numbers below `limit`.
    #[cold]
    fn grow(&mut self, limit: u64) {
        let mut words = limit.next_power_of_two() as usize;
        let mut height = 0;
        while words > 1 || height == 0 {
            words = words.div_ceil(64);
            if height == self.levels.len() {
                self.levels.push(Vec::new());
            }
            self.levels[height].resize(words, 0);
            height += 1;
        }
        for height in 1..self.levels.len() {
            let (below, level) = self.levels.split_at_mut(height);
            for (word, group) in level[0].iter_mut().zip(below[height - 1].chunks(64)) {
                let bits = group.iter().enumerate();
                *word = bits.fold(0, |word, (at, &bits)| word | u64::from(bits != 0) << at);
            }
        }
    }

    /// Adds a number; the set grows as needed.
    #[inline]
    pub fn insert(&mut self, number: u64) {
        let room = self
            .levels
            .first()
            .map_or(0, |words| words.len() as u64 * 64);
        if number >= room {
            self.grow(number + 1);
        }
        let mut at = number;
        for level in &mut self.levels {
            let word = &mut level[(at / 64) as usize];
            let was_empty = *word == 0;
            *word |= 1 << (at % 64);
            if !was_empty {
                return;
            }
            at /= 64;
        }
    }

    /// Takes a number out, if it is there.
    #[inline]
    pub fn remove(&mut self, number: u64) {
        let mut at = number;
        for level in &mut self.levels {
            let Some(word) = level.get_mut((at / 64) as usize) else {
                return;
            };
            *word &= !(1 << (at % 64));
            if *word != 0 {
                return;
            }
            at /= 64;
        }
    }

    /// The least number from `from` on.
    #[inline]
    pub fn next_from(&self, from: u64) -> Option<u64> {
        let mut at = from;
        for (height, level) in self.levels.iter().enumerate() {
            let index = (at / 64) as usize;
            let rest = level.get(index)? >> (at % 64);
            if rest != 0 {
                let mut found = at + u64::from(rest.trailing_zeros());
                for below in self.levels[..height].iter().rev() {
                    let word = below[found as usize];
                    found = found * 64 + u64::from(word.trailing_zeros());
                }
                return Some(found);
            }
            at = at / 64 + 1;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::OrderedBits;

    #[test]
    fn numbers_are_met_as_in_a_sorted_set() {
        for seed in 0..120_u64 {
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let limit = [1, 63, 64, 65, 4_096, 4_097, 300_000][(seed % 7) as usize];
            let mut bits = OrderedBits::default();
            let mut model = BTreeSet::new();
            for _ in 0..400 {
                let number = random.random_range(0..limit);
                if random.random_bool(0.5) {
                    bits.insert(number);
                    model.insert(number);
                } else {
                    bits.remove(number);
                    model.remove(&number);
                }
                let from = random.random_range(0..limit + 70);
                let expected = model.range(from..).next().copied();
                assert_eq!(bits.next_from(from), expected, "seed {seed}, from {from}");
            }
        }
    }
}
