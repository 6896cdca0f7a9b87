//! The checksum of pages and log segments: 32 bits of XOR that find an error, 32 bits that locate a
//! single wrong bit.
//!
//! One block (4,096 or 8,192 bytes) gets 64 bits. Number the bits of the block from 0, least
//! significant bit of each byte first. Then
//!
//! - bits 0..32 are the XOR of all little-endian 32-bit words and of the seed (a page number or a
//!   segment number);
//! - bits 32..48 (`L`) are the XOR of the numbers of all bits that are one;
//! - bits 48..64 (`H`) are the XOR of the complements of those numbers.
//!
//! A single wrong bit changes `L` by its number and `H` by the complement of its number; two wrong
//! bits change `L` and `H` alike, which is how they are distinguished.
//!
//! # How it is computed fast
//! Bit `b` of `L` is the parity of all those bits whose number has bit `b` set. Cut the block into
//! equal lines: the upper bits of `L` then are parities of lines, and a pairwise tree over the lines
//! finds them with two XORs per word: the right one of each pair goes into the accumulator of that
//! level, the XOR of the pair goes on. The loop runs along the lines, in vectors. Everything inside
//! a line is settled once, at the end. There is a pass for the vectors of x86 in `x86`, and one that
//! compilers turn into vectors of other CPUs.

#[cfg(target_arch = "x86_64")]
mod x86;

use multiversion::{multiversion, target::match_target};

/// 64-bit words of a row. A block of 8,192 bytes is sixteen rows, one of 4,096 bytes is eight.
const ROW_WORDS: usize = 64;

/// What the pass over a block leaves behind: all that both checksum halves need.
struct Folded {
    /// `columns[i]`: XOR of word `i` of all rows.
    columns: [u64; ROW_WORDS],
    /// `odd_rows[i]`: XOR of all words in rows whose number has bit `i` set.
    odd_rows: [u64; 4],
}

/// Checksum of one block of 4,096 or 8,192 bytes.
///
/// # Panics
/// If `block` has another length.
#[must_use]
pub fn block_checksum(block: &[u8], seed: u32) -> u64 {
    checksum(block, 0, seed)
}

/// As [`block_checksum`], with the first eight bytes taken as zero: they are where the result is
/// stored.
///
/// # Panics
/// If `block` is not 4,096 or 8,192 bytes long.
#[must_use]
pub fn block_checksum_skipping_itself(block: &[u8], seed: u32) -> u64 {
    checksum(block, word_at(block, 0), seed)
}

/// Checksum of a 4,096-byte log segment; its first eight bytes are where the result is stored.
///
/// # Panics
/// If `segment` is not 4,096 bytes long.
#[must_use]
pub fn segment_checksum(segment: &[u8], segment_number: u32) -> u64 {
    assert_eq!(segment.len(), 4096, "a log segment has 4,096 bytes");
    block_checksum_skipping_itself(segment, segment_number)
}

/// Checksum of a database header or checkpoint copy: the XOR of all 32-bit words but the first, and
/// of 0x89ABCDEF.
///
/// # Panics
/// If the length of `bytes` is not a multiple of eight.
#[must_use]
pub fn header_checksum(bytes: &[u8]) -> u32 {
    assert!(bytes.len().is_multiple_of(8) && !bytes.is_empty());
    let all = bytes
        .chunks_exact(8)
        .fold(0, |sum, chunk| sum ^ word_at(chunk, 0));
    let first = word_at(bytes, 0) as u32;
    0x89AB_CDEF ^ first ^ (all as u32) ^ ((all >> 32) as u32)
}

/// What the difference of a stored and a computed block checksum says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Difference {
    /// Both are the same.
    None,
    /// This one bit of the block (number counted from its first byte) is wrong.
    DataBit(usize),
    /// The block is right; one bit of the stored checksum is wrong.
    ChecksumBit(usize),
    /// More than one bit is wrong.
    Many,
}

/// Compares the stored checksum of a block of `block_bytes` with the computed one.
#[must_use]
pub fn difference(stored: u64, computed: u64, block_bytes: usize) -> Difference {
    let changed = stored ^ computed;
    if changed == 0 {
        return Difference::None;
    }
    if changed.count_ones() == 1 {
        return Difference::ChecksumBit(changed.trailing_zeros() as usize);
    }
    let mask = number_mask(block_bytes);
    let (low, high) = ((changed >> 32) & 0xFFFF, changed >> 48);
    let one_word_bit = (changed as u32).count_ones() == 1;
    // The wrong bit has the same place inside its word in the number as in the XOR of the words.
    let agrees = one_word_bit && u64::from((changed as u32).trailing_zeros()) == low % 32;
    // A checksum that is damaged itself may name a bit behind the end of the block.
    if low ^ high == mask && low <= mask && agrees {
        return Difference::DataBit(low as usize);
    }
    Difference::Many
}

#[inline(always)]
fn number_mask(block_bytes: usize) -> u64 {
    (8 * block_bytes as u64 - 1) & 0xFFFF
}

#[inline(always)]
fn word_at(bytes: &[u8], index: usize) -> u64 {
    let mut word = [0; 8];
    word.copy_from_slice(&bytes[index * 8..index * 8 + 8]);
    u64::from_le_bytes(word)
}

/// XOR of a pair; the right one is also added to the accumulator of this level.
#[inline(always)]
fn pair(left: u64, right: u64, odd: &mut u64) -> u64 {
    *odd ^= right;
    left ^ right
}

/// Folds eight words, one of each row; `odd[i]` collects those of rows whose number has bit `i`
/// set.
#[inline(always)]
fn fold_eight(row: impl Fn(usize) -> u64, odd: &mut [u64; 4]) -> u64 {
    let ab = pair(row(0), row(1), &mut odd[0]);
    let cd = pair(row(2), row(3), &mut odd[0]);
    let ef = pair(row(4), row(5), &mut odd[0]);
    let gh = pair(row(6), row(7), &mut odd[0]);
    let left = pair(ab, cd, &mut odd[1]);
    let right = pair(ef, gh, &mut odd[1]);
    pair(left, right, &mut odd[2])
}

/// What a pass with vectors leaves behind.
#[cfg(target_arch = "x86_64")]
struct Parities {
    /// Bit `i` is the parity of the lines of 64 bytes whose number has bit `i` set, for `i` in 0..7.
    lines: u64,
    /// Bit `i` is the parity of word `i` of all lines.
    words: u64,
    /// XOR of all words.
    word: u64,
}

/// Checksum of a block with `left_out` XORed into its first word.
#[multiversion(targets("x86_64+avx512f+avx512vpopcntdq+avx2+popcnt", "x86_64+avx2+popcnt"))]
fn checksum(block: &[u8], left_out: u64, seed: u32) -> u64 {
    match_target! {
        "x86_64+avx512f+avx512vpopcntdq+avx2+popcnt" => {
            finish_lines(&x86::wide::parities(block, left_out), block.len(), seed)
        }
        "x86_64+avx2+popcnt" => {
            finish_lines(&x86::narrow::parities(block, left_out), block.len(), seed)
        }
        _ => {
            let mut folded = fold(block);
            // The first word lies in row 0, which belongs to no odd row.
            folded.columns[0] ^= left_out;
            finish(&folded, block.len(), seed)
        }
    }
}

#[inline(always)]
fn fold(block: &[u8]) -> Folded {
    let (words, _) = block.as_chunks::<8>();
    let (rows, _) = words.as_chunks::<ROW_WORDS>();
    let word = |row: &[[u8; 8]; ROW_WORDS], column: usize| u64::from_le_bytes(row[column]);
    let mut columns = [0; ROW_WORDS];
    let mut odd = [0; 4];
    if let Ok(rows) = <&[_; 16]>::try_from(rows) {
        for (column, folded) in columns.iter_mut().enumerate() {
            let left = fold_eight(|row| word(&rows[row], column), &mut odd);
            let right = fold_eight(|row| word(&rows[8 + row], column), &mut odd);
            *folded = pair(left, right, &mut odd[3]);
        }
    } else if let Ok(rows) = <&[_; 8]>::try_from(rows) {
        for (column, folded) in columns.iter_mut().enumerate() {
            *folded = fold_eight(|row| word(&rows[row], column), &mut odd);
        }
    } else {
        panic!("a block has 4,096 or 8,192 bytes, not {}", block.len());
    }
    Folded {
        columns,
        odd_rows: odd,
    }
}

#[inline(always)]
fn parity(word: u64) -> u64 {
    u64::from(word.count_ones() & 1)
}

/// Bits `i` of a number 0..64 whose parity over the set bits of a word is odd.
#[inline(always)]
fn numbers_in_word(word: u64) -> u64 {
    const WITH_BIT: [u64; 6] = [
        0xAAAA_AAAA_AAAA_AAAA,
        0xCCCC_CCCC_CCCC_CCCC,
        0xF0F0_F0F0_F0F0_F0F0,
        0xFF00_FF00_FF00_FF00,
        0xFFFF_0000_FFFF_0000,
        0xFFFF_FFFF_0000_0000,
    ];
    WITH_BIT
        .iter()
        .enumerate()
        .fold(0, |number, (i, mask)| number | parity(word & mask) << i)
}

/// Folds the upper `HALF` columns into the lower ones; returns the parity of the upper ones.
#[inline(always)]
fn halve<const HALF: usize>(columns: &mut [u64; ROW_WORDS]) -> u64 {
    let mut odd = 0;
    for index in 0..HALF {
        columns[index] = pair(columns[index], columns[index + HALF], &mut odd);
    }
    parity(odd)
}

#[inline(always)]
fn finish(folded: &Folded, block_bytes: usize, seed: u32) -> u64 {
    // The same tree once more, over the columns: level by level it halves them.
    let mut columns = folded.columns;
    let mut numbers = halve::<32>(&mut columns) << 11;
    numbers |= halve::<16>(&mut columns) << 10;
    numbers |= halve::<8>(&mut columns) << 9;
    numbers |= halve::<4>(&mut columns) << 8;
    numbers |= halve::<2>(&mut columns) << 7;
    numbers |= halve::<1>(&mut columns) << 6;
    let word = columns[0];
    for (i, &odd) in folded.odd_rows.iter().enumerate() {
        numbers |= parity(odd) << (12 + i);
    }
    assemble(numbers, word, block_bytes, seed)
}

#[cfg(target_arch = "x86_64")]
#[inline(always)]
fn finish_lines(found: &Parities, block_bytes: usize, seed: u32) -> u64 {
    let words_with = |mask: u64| parity(found.words & mask);
    // Bit 7 of `lines` is the parity of the sum of all.
    let mut numbers = (found.lines & 0x7F) << 9;
    numbers |= words_with(0xAA) << 6 | words_with(0xCC) << 7 | words_with(0xF0) << 8;
    assemble(numbers, found.word, block_bytes, seed)
}

/// The checksum of a block whose words XOR to `word`; `numbers` is `L` without its lowest six bits.
#[inline(always)]
fn assemble(numbers: u64, word: u64, block_bytes: usize, seed: u32) -> u64 {
    let numbers = numbers | numbers_in_word(word);
    let xor = (word as u32) ^ ((word >> 32) as u32) ^ seed;
    let complements = numbers ^ (number_mask(block_bytes) * parity(word));
    (complements << 48) | (numbers << 32) | u64::from(xor)
}

#[cfg(test)]
#[path = "checksum_tests.rs"]
mod tests;
