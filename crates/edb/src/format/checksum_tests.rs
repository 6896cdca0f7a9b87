use super::*;
use proptest::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// The definition, bit by bit.
fn reference(block: &[u8], seed: u32) -> u64 {
    let mask = 8 * block.len() as u64 - 1;
    let (mut xor, mut low, mut high) = (seed, 0, 0);
    for (index, word) in block.chunks_exact(4).enumerate() {
        let word = u32::from_le_bytes(word.try_into().unwrap());
        xor ^= word;
        for bit in 0..32 {
            if word >> bit & 1 == 1 {
                let number = (32 * index + bit) as u64;
                low ^= number;
                high ^= !number & mask;
            }
        }
    }
    (high << 48) | (low << 32) | u64::from(xor)
}

fn random_block(seed: u64, size: usize) -> Vec<u8> {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
    let mut block = vec![0; size];
    random.fill(&mut block[..]);
    block
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn agrees_with_the_definition(seed: u64, number: u32, large: bool, ones in 0_usize..4) {
        let mut block = random_block(seed, if large { 8192 } else { 4096 });
        if ones > 0 {
            // Sparse blocks too: a random block has about as many ones as zeros everywhere.
            let kept = (seed as usize) % block.len();
            block.iter_mut().enumerate().for_each(|(i, b)| if i % (kept + 1) != ones - 1 { *b = 0 });
        }
        prop_assert_eq!(block_checksum(&block, number), reference(&block, number));
        let portable = finish(&fold(&block), block.len(), number);
        prop_assert_eq!(portable, reference(&block, number));
        let skipping = block_checksum_skipping_itself(&block, number);
        block[..8].fill(0);
        prop_assert_eq!(skipping, reference(&block, number));
    }

    #[test]
    fn two_wrong_bits_are_never_taken_for_one(seed: u64, a in 64_usize..65_536, b in 64_usize..65_536) {
        prop_assume!(a != b);
        let mut block = random_block(seed, 8192);
        let stored = block_checksum(&block, 7);
        block[a / 8] ^= 1 << (a % 8);
        block[b / 8] ^= 1 << (b % 8);
        prop_assert_eq!(difference(stored, block_checksum(&block, 7), 8192), Difference::Many);
    }
}

#[test]
fn every_single_wrong_bit_is_located() {
    for size in [4096, 8192] {
        let mut block = random_block(size as u64, size);
        let stored = block_checksum(&block, 12);
        assert_eq!(difference(stored, stored, size), Difference::None);
        for bit in 0..size * 8 {
            block[bit / 8] ^= 1 << (bit % 8);
            let found = difference(stored, block_checksum(&block, 12), size);
            assert_eq!(found, Difference::DataBit(bit), "block of {size} bytes");
            block[bit / 8] ^= 1 << (bit % 8);
        }
        for bit in 0..64 {
            let found = difference(stored ^ 1 << bit, stored, size);
            assert_eq!(found, Difference::ChecksumBit(bit));
        }
    }
}

#[test]
fn header_checksum_is_the_xor_of_all_words_but_the_first() {
    let block = random_block(3, 4096);
    let words = block
        .chunks_exact(4)
        .map(|w| u32::from_le_bytes(w.try_into().unwrap()));
    let expected = words.skip(1).fold(0x89AB_CDEF, |sum, word| sum ^ word);
    assert_eq!(header_checksum(&block), expected);
}

#[test]
fn a_segment_checksum_depends_on_its_number() {
    let block = random_block(4, 4096);
    assert_ne!(segment_checksum(&block, 1), segment_checksum(&block, 2));
}

/// Each inverted byte leaves `L` and `H` alone, because the numbers of its eight bits cancel out, and
/// changes eight of the 32 bits of the XOR: those of its position modulo 4.
#[test]
fn inverted_bytes_cancel_out_by_eights() {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(3);
    for size in [4096, 8192] {
        let block = random_block(size as u64, size);
        let checksum = block_checksum(&block, 7);
        let with_inverted = |bytes: &mut dyn Iterator<Item = usize>| {
            let mut other = block.clone();
            bytes.for_each(|at| other[at] ^= 0xFF);
            block_checksum(&other, 7)
        };
        for length in 1..=200 {
            let begin = random.random_range(0..size - length);
            let inverted = with_inverted(&mut (begin..begin + length));
            let is_missed = length.is_multiple_of(8);
            assert_eq!(inverted == checksum, is_missed, "{length} at {begin}");
        }
        // They need not be neighbours.
        assert_eq!(with_inverted(&mut [3, 1003].into_iter()), checksum);
        assert_ne!(with_inverted(&mut [3, 1004].into_iter()), checksum);
    }
}

/// A wrong bit has a number below that of the bits of its block, whatever a damaged checksum says.
#[test]
fn no_bit_behind_the_end_of_the_block_is_named() {
    for size in [2048_usize, 4096, 8192] {
        let bits = 8 * size as u64;
        for low in 0..=0xFFFF_u64 {
            let high = low ^ (bits - 1) & 0xFFFF;
            let changed = high << 48 | low << 32 | 1 << (low % 32);
            let expected = match low < bits {
                true => Difference::DataBit(low as usize),
                false => Difference::Many,
            };
            assert_eq!(difference(changed, 0, size), expected, "{low} of {size}");
        }
    }
}
