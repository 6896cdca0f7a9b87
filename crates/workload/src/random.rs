//! The random numbers of a workload, always from a seed.

use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{Rng, SeedableRng};

/// A well mixed 64-bit number from `value`; a bijection, so distinct values stay distinct.
///
/// The finishing step of SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number
/// generators", 2014).
#[must_use]
pub fn mix(value: u64) -> u64 {
    let mut z = value.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// A seed for the stream number `stream` of the seed `seed`.
#[must_use]
pub fn derive(seed: u64, stream: u64) -> u64 {
    mix(mix(seed) ^ mix(stream ^ 0x5bf0_3635_dce7_9b1d))
}

/// A seeded generator with the draws that a workload makes.
#[derive(Debug, Clone)]
pub struct SeededRng(Xoshiro256PlusPlus);

impl SeededRng {
    /// The generator of the stream `stream` of the run's seed. Different streams are independent.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(Xoshiro256PlusPlus::seed_from_u64(derive(seed, stream)))
    }

    /// The next 64 bits of the stream.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// A number from 0 up to `limit`, `limit` itself not included.
    ///
    /// Multiply and shift; the bias is below `limit` / 2^64.
    pub fn below(&mut self, limit: u64) -> u64 {
        assert!(limit > 0, "nothing can be drawn from an empty range");
        let wide = u128::from(self.bits()) * u128::from(limit);
        (wide >> 64) as u64
    }

    /// A number from 0.0 up to 1.0, 1.0 itself not included, in steps of 2^-53.
    pub fn unit(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Whether an event of probability `fraction` happens.
    pub fn happens(&mut self, fraction: f64) -> bool {
        self.unit() < fraction
    }

    /// An exponentially distributed time of mean 1.0.
    pub fn exponential(&mut self) -> f64 {
        -(1.0 - self.unit()).ln()
    }

    /// Puts `cards` into a random order (Fisher and Yates).
    pub fn shuffle<T>(&mut self, cards: &mut [T]) {
        for last in (1..cards.len()).rev() {
            let other = self.below(last as u64 + 1) as usize;
            cards.swap(last, other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_cover_their_range_evenly() {
        let mut rng = SeededRng::new(7, 1);
        let mut counts = [0_u32; 10];
        for _ in 0..100_000 {
            counts[rng.below(10) as usize] += 1;
        }
        // Five standard deviations of a count are 474.
        assert!(counts.iter().all(|&count| (9_500..10_500).contains(&count)));
        let mean = (0..100_000).map(|_| rng.exponential()).sum::<f64>() / 1e5;
        assert!((0.98..1.02).contains(&mean), "{mean}");
    }

    #[test]
    fn streams_of_one_seed_differ_and_repeat() {
        let draw = |seed, stream| SeededRng::new(seed, stream).bits();
        assert_eq!(draw(1, 2), draw(1, 2));
        assert_ne!(draw(1, 2), draw(2, 1));
        assert_ne!(draw(1, 2), draw(1, 3));
    }
}
