//! Bijections of whole numbers that look random: where a row goes in the index, and in which order
//! rows are deleted. They need no memory, whatever the size of a database.

use crate::random::derive;

const ROUNDS: usize = 6;

/// A pseudo-random bijection of `0 .. 2^bits`, and its inverse.
///
/// A Feistel network with halves that may differ by one bit, so that every number of bits works
/// (Luby and Rackoff 1988; six rounds are ample for spreading, secrecy is not asked for).
#[derive(Debug, Clone)]
pub struct Permutation {
    low_bits: u32,
    low_mask: u64,
    high_mask: u64,
    keys: [u64; ROUNDS],
}

impl Permutation {
    /// The bijection of `0 .. 2^bits` that belongs to `seed`; 2 to 62 bits.
    #[must_use]
    pub fn new(bits: u32, seed: u64) -> Self {
        assert!((2..=62).contains(&bits), "a domain of {bits} bits");
        let low_bits = bits / 2;
        let mut keys = [0; ROUNDS];
        for (round, key) in keys.iter_mut().enumerate() {
            *key = derive(seed, round as u64);
        }
        Self {
            low_bits,
            low_mask: (1 << low_bits) - 1,
            high_mask: (1 << (bits - low_bits)) - 1,
            keys,
        }
    }

    /// The number of members of the domain.
    #[must_use]
    pub fn domain(&self) -> u64 {
        (self.low_mask + 1) * (self.high_mask + 1)
    }

    /// The member of the domain that `member` is mapped to.
    #[must_use]
    pub fn apply(&self, member: u64) -> u64 {
        debug_assert!(member < self.domain());
        let (mut low, mut high) = (member & self.low_mask, member >> self.low_bits);
        for pair in self.keys.chunks_exact(2) {
            low ^= scramble(high, pair[0]) & self.low_mask;
            high ^= scramble(low, pair[1]) & self.high_mask;
        }
        high << self.low_bits | low
    }

    /// Who goes to `place`.
    #[must_use]
    pub fn invert(&self, place: u64) -> u64 {
        debug_assert!(place < self.domain());
        let (mut low, mut high) = (place & self.low_mask, place >> self.low_bits);
        for pair in self.keys.chunks_exact(2).rev() {
            high ^= scramble(low, pair[1]) & self.high_mask;
            low ^= scramble(high, pair[0]) & self.low_mask;
        }
        high << self.low_bits | low
    }
}

fn scramble(half: u64, key: u64) -> u64 {
    let mixed = (half ^ key).wrapping_mul(0x9fb2_1c65_1e98_df25);
    (mixed ^ (mixed >> 29)).wrapping_mul(0xd6e8_feb8_6659_fd93) >> 32
}

/// A pseudo-random order of `0 .. count`, for any count, and its inverse.
///
/// Values outside the count are walked over (cycle walking); the domain is less than twice the
/// count, so two steps are enough on average.
#[derive(Debug, Clone)]
pub struct Shuffle {
    permutation: Permutation,
    count: u64,
}

impl Shuffle {
    /// The order of `0 .. count` that belongs to `seed`.
    #[must_use]
    pub fn new(count: u64, seed: u64) -> Self {
        assert!(count > 0, "an order of nothing");
        let bits = count.next_power_of_two().trailing_zeros().max(2);
        Self {
            permutation: Permutation::new(bits, seed),
            count,
        }
    }

    /// Who comes at `position`.
    #[must_use]
    pub fn at(&self, position: u64) -> u64 {
        assert!(position < self.count);
        let mut member = self.permutation.apply(position);
        while member >= self.count {
            member = self.permutation.apply(member);
        }
        member
    }

    /// At which position `member` comes.
    #[must_use]
    pub fn position_of(&self, member: u64) -> u64 {
        assert!(member < self.count);
        let mut position = self.permutation.invert(member);
        while position >= self.count {
            position = self.permutation.invert(position);
        }
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn small_domains_are_permuted_completely() {
        for bits in 2..=13 {
            let permutation = Permutation::new(bits, u64::from(bits));
            let mut seen = vec![false; 1 << bits];
            for member in 0..permutation.domain() {
                let place = permutation.apply(member);
                assert!(!std::mem::replace(&mut seen[place as usize], true));
                assert_eq!(permutation.invert(place), member);
            }
        }
    }

    #[test]
    fn neighbours_land_far_apart() {
        let permutation = Permutation::new(20, 3);
        let far = (0..10_000_u64)
            .filter(|&m| permutation.apply(m).abs_diff(permutation.apply(m + 1)) > 1 << 14)
            .count();
        // By chance two places of 2^20 are nearer than 2^14 in about 3.1 % of cases.
        assert!((9_550..9_820).contains(&far), "{far}");
    }

    proptest! {
        #[test]
        fn a_shuffle_is_its_own_way_back(count in 1_u64..100_000, seed: u64, pick: u64) {
            let shuffle = Shuffle::new(count, seed);
            let position = pick % count;
            let member = shuffle.at(position);
            prop_assert!(member < count);
            prop_assert_eq!(shuffle.position_of(member), position);
        }
    }
}
