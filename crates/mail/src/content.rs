//! What stands in a mail: bytes that follow from (seed, database, row, version) and from nothing
//! else, so that any copy of a row can be checked without having kept it.
//!
//! A pool of random words is made once. The bytes of a value are words of the pool from a place of
//! its own, each XORed with a number of its own. Both come from a 64-bit hash of the value's
//! identity, so no two values are alike: no row equals another row, of this or another database,
//! at any alignment, and arrays that look for equal blocks find none. A chosen share of the bytes
//! is zero, which is what arrays that compress can save.

use std::rc::Rc;
use workload::random::{SeededRng, derive, mix};

/// Words in the pool: 1 MiB, which stays in a CPU's cache.
const POOL_WORDS: usize = 1 << 17;
/// Bytes that are made with one place and one number.
const SEGMENT_BYTES: usize = 64 * 1024;
/// In every stretch of this length, the share of zeros is the chosen one.
const STRETCH_BYTES: usize = 512;

/// The pool of a run: the same for all databases of one seed.
#[must_use]
pub fn pool(seed: u64) -> Rc<[u64]> {
    let mut rng = SeededRng::new(seed, 0x706f_6f6c);
    (0..POOL_WORDS).map(|_| rng.bits()).collect()
}

/// Which column of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The short column, which comes with every row.
    Short = 1,
    /// The long column, which is fetched only when asked for.
    Long = 2,
}

/// Which state of which row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RowVersion {
    /// Number of the row in its database, from 0.
    pub row: u64,
    /// How often the row has been replaced.
    pub version: u32,
}

/// Makes and checks the contents of one database.
#[derive(Debug, Clone)]
pub struct ContentSource {
    pool: Rc<[u64]>,
    database_seed: u64,
    /// Bytes of each stretch that are random, a multiple of 8.
    random_bytes: usize,
}

impl ContentSource {
    /// The contents of database number `database` in a run of seed `seed`. The share
    /// `compressible_fraction` (0 to 1) of all bytes is zero, to the nearest 64th.
    #[must_use]
    pub fn new(seed: u64, database: u64, compressible_fraction: f64) -> Self {
        Self::with_pool(pool(seed), derive(seed, database), compressible_fraction)
    }

    /// As [`ContentSource::new`], for a pool that several databases share.
    #[must_use]
    pub fn with_pool(pool: Rc<[u64]>, database_seed: u64, compressible_fraction: f64) -> Self {
        assert!((0.0..=1.0).contains(&compressible_fraction));
        let words = (STRETCH_BYTES / 8) as f64 * (1.0 - compressible_fraction);
        Self {
            pool,
            database_seed,
            random_bytes: words.round() as usize * 8,
        }
    }

    /// A number for the identity of one segment of one value.
    fn identity(&self, row: RowVersion, part: Part, segment: usize) -> u64 {
        let place = u64::from(row.version) << 24 ^ (segment as u64) << 4 ^ part as u64;
        mix(mix(self.database_seed ^ row.row) ^ place)
    }

    /// Fills `bytes` with the contents of a column.
    pub fn fill(&self, row: RowVersion, part: Part, bytes: &mut [u8]) {
        for (number, segment) in bytes.chunks_mut(SEGMENT_BYTES).enumerate() {
            let identity = self.identity(row, part, number);
            for (start, stretch) in stretches(segment) {
                let random = self.random_bytes.min(stretch.len());
                let (random, zeros) = stretch.split_at_mut(random);
                write_words(random, self.words(identity, start), identity);
                zeros.fill(0);
            }
        }
    }

    /// Whether `bytes` are the contents of the column, byte for byte.
    #[must_use]
    pub fn matches(&self, row: RowVersion, part: Part, bytes: &[u8]) -> bool {
        for (number, segment) in bytes.chunks(SEGMENT_BYTES).enumerate() {
            let identity = self.identity(row, part, number);
            for (index, stretch) in segment.chunks(STRETCH_BYTES).enumerate() {
                let random = self.random_bytes.min(stretch.len());
                let words = self.words(identity, index * STRETCH_BYTES);
                let (found, zeros) = stretch.split_at(random);
                if !are_words(found, words, identity) || zeros.iter().any(|&byte| byte != 0) {
                    return false;
                }
            }
        }
        true
    }

    /// The words of the pool for the stretch that starts `start_bytes` into a segment.
    fn words(&self, identity: u64, start_bytes: usize) -> &[u64] {
        let span = POOL_WORDS - SEGMENT_BYTES / 8;
        let place = (((identity >> 32) * span as u64) >> 32) as usize;
        &self.pool[place + start_bytes / 8..]
    }
}

fn stretches(segment: &mut [u8]) -> impl Iterator<Item = (usize, &mut [u8])> {
    segment
        .chunks_mut(STRETCH_BYTES)
        .enumerate()
        .map(|(index, stretch)| (index * STRETCH_BYTES, stretch))
}

fn write_words(bytes: &mut [u8], words: &[u64], number: u64) {
    let mut chunks = bytes.chunks_exact_mut(8);
    let mut words = words.iter();
    for (chunk, word) in chunks.by_ref().zip(words.by_ref()) {
        chunk.copy_from_slice(&(word ^ number).to_le_bytes());
    }
    let rest = chunks.into_remainder();
    if let (false, Some(word)) = (rest.is_empty(), words.next()) {
        let last = (word ^ number).to_le_bytes();
        rest.copy_from_slice(&last[..rest.len()]);
    }
}

/// Whether `bytes` are what [`write_words`] writes.
fn are_words(bytes: &[u8], words: &[u64], number: u64) -> bool {
    let (chunks, rest) = bytes.as_chunks::<8>();
    let mut words = words.iter();
    let differences = chunks.iter().zip(words.by_ref());
    let differences = differences.fold(0, |differences, (chunk, word)| {
        differences | (u64::from_le_bytes(*chunk) ^ word ^ number)
    });
    let same_rest = rest.is_empty()
        || words
            .next()
            .is_some_and(|word| (word ^ number).to_le_bytes().starts_with(rest));
    differences == 0 && same_rest
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    fn made(source: &ContentSource, row: u64, version: u32, length: usize) -> Vec<u8> {
        let mut bytes = vec![0xaa; length];
        source.fill(RowVersion { row, version }, Part::Long, &mut bytes);
        bytes
    }

    #[test]
    fn no_block_of_4_kib_comes_twice_in_or_across_databases() {
        let mut seen = HashSet::new();
        for database in 0..2 {
            let source = ContentSource::new(11, database, 0.0);
            let bytes: Vec<u8> = (0..10_000)
                .flat_map(|row| made(&source, row, 0, 2000))
                .collect();
            for block in bytes.chunks_exact(4096) {
                assert!(
                    seen.insert(block.to_vec()),
                    "an equal block in database {database}"
                );
            }
        }
    }

    #[test]
    fn eight_bytes_are_rarely_found_again_anywhere() {
        // What a compressor with an unlimited window lives on: 8 equal bytes at any alignment.
        let source = ContentSource::new(5, 0, 0.0);
        let bytes: Vec<u8> = (0..200)
            .flat_map(|row| made(&source, row, 0, 2000))
            .collect();
        let mut seen = HashSet::new();
        let repeats = bytes
            .windows(8)
            .filter(|window| !seen.insert(window.to_vec()))
            .count();
        assert_eq!(repeats, 0, "of {} windows", bytes.len() - 7);
    }

    #[test]
    fn the_chosen_share_is_zero_in_every_block() {
        for fraction in [0.0, 0.25, 0.5, 0.75, 1.0] {
            let source = ContentSource::new(9, 1, fraction);
            for row in 0..50 {
                let bytes = made(&source, row, 3, 4096);
                let zeros = bytes.iter().filter(|&&byte| byte == 0).count() as f64 / 4096.0;
                // One random byte in 256 is zero too.
                assert!((zeros - fraction).abs() < 0.02, "{zeros} for {fraction}");
            }
        }
    }

    proptest! {
        #[test]
        fn contents_are_known_again_and_nothing_else_is(
            seed: u64, row: u64, version: u32, length in 1_usize..150_000, wrong: prop::sample::Index,
        ) {
            let source = ContentSource::new(seed, 2, 0.5);
            let mut bytes = made(&source, row, version, length);
            let id = RowVersion { row, version };
            prop_assert!(source.matches(id, Part::Long, &bytes));
            prop_assert!(length < 8 || !source.matches(id, Part::Short, &bytes));
            let other = RowVersion { row, version: version.wrapping_add(1) };
            prop_assert!(length < 8 || !source.matches(other, Part::Long, &bytes));
            bytes[wrong.index(length)] ^= 1;
            prop_assert!(!source.matches(id, Part::Long, &bytes));
        }
    }
}
