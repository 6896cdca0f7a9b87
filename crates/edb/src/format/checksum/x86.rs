//! The pass over a block with vector instructions of x86.
//!
//! The block is read once, line by line of 64 bytes in ascending order, which is what prefetchers
//! of CPUs follow best: a page that has just come from the disk is not in the cache yet.
//! Lines are folded like the rows of the portable pass, sixteen at a time; the sums of the groups
//! of sixteen are folded once more. Eight lines are left: those of odd number bits 0 to 6, and the
//! sum of all lines.

use super::{Parities, parity};
use std::arch::x86_64::{
    __m256i, __m512i, _mm256_extract_epi64, _mm256_permute2x128_si256, _mm256_set_epi64x,
    _mm256_setzero_si256, _mm256_unpackhi_epi64, _mm256_unpacklo_epi64, _mm256_xor_si256,
    _mm512_extracti64x4_epi64, _mm512_popcnt_epi64, _mm512_set_epi64, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_shuffle_i64x2, _mm512_ternarylogic_epi64, _mm512_test_epi64_mask,
    _mm512_unpackhi_epi64, _mm512_unpacklo_epi64, _mm512_xor_si512,
};

/// Bytes of a line.
const LINE_BYTES: usize = 64;
/// Lines of a group. A block of 8,192 bytes is eight groups, one of 4,096 bytes is four.
const GROUP_LINES: usize = 16;
/// The most groups of a block.
const GROUPS: usize = 8;

type Group = [[u8; LINE_BYTES]; GROUP_LINES];

fn groups(block: &[u8]) -> &[Group] {
    let (lines, _) = block.as_chunks::<LINE_BYTES>();
    let (groups, _) = lines.as_chunks::<GROUP_LINES>();
    assert!(
        groups.len() == GROUPS || groups.len() == GROUPS / 2,
        "a block has 4,096 or 8,192 bytes, not {}",
        block.len()
    );
    groups
}

/// The pass itself, for one kind of vectors: `$line` holds a line, `$xor` and `$xor3` XOR lines.
macro_rules! pass {
    ($features:literal, $line:ty, $zero:expr, $finish:ident) => {
        #[inline]
        #[target_feature(enable = $features)]
        fn line(bytes: &[u8; LINE_BYTES]) -> $line {
            bytemuck::must_cast(*bytes)
        }

        /// The sum of eight lines; `odd[i]` collects those whose number has bit `i` set.
        #[inline]
        #[target_feature(enable = $features)]
        fn fold_eight(lines: [$line; 8], odd: &mut [$line; 3]) -> $line {
            let [a, b, c, d, e, f, g, h] = lines;
            odd[0] = xor3(xor3(odd[0], b, d), f, h);
            let (cd, gh) = (xor(c, d), xor(g, h));
            odd[1] = xor3(odd[1], cd, gh);
            let efgh = xor3(e, f, gh);
            odd[2] = xor(odd[2], efgh);
            xor(xor3(a, b, cd), efgh)
        }

        /// The parities of a block with `left_out` XORed into its first word.
        #[inline]
        #[target_feature(enable = $features)]
        pub(in super::super) fn parities(block: &[u8], left_out: u64) -> Parities {
            let zero = $zero;
            let (mut odd, mut odd_eights) = ([zero; 3], zero);
            let mut sums = [zero; GROUPS];
            for (group, sum) in groups(block).iter().zip(sums.iter_mut()) {
                let [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = group;
                let [a, b, c, d] = [line(a), line(b), line(c), line(d)];
                let [e, f, g, h] = [line(e), line(f), line(g), line(h)];
                let left = fold_eight([a, b, c, d, e, f, g, h], &mut odd);
                let [i, j, k, l] = [line(i), line(j), line(k), line(l)];
                let [m, n, o, p] = [line(m), line(n), line(o), line(p)];
                let right = fold_eight([i, j, k, l, m, n, o, p], &mut odd);
                odd_eights = xor(odd_eights, right);
                *sum = xor(left, right);
            }
            // The first line belongs to no odd number.
            sums[0] = xor(sums[0], first_word(left_out));
            let mut odd_groups = [zero; 3];
            let sum = fold_eight(sums, &mut odd_groups);
            let [a, b, c] = odd;
            let [e, f, g] = odd_groups;
            $finish([a, b, c, odd_eights, e, f, g, sum])
        }
    };
}

/// Vectors of 512 bits.
pub(super) mod wide {
    use super::*;

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn xor(a: __m512i, b: __m512i) -> __m512i {
        _mm512_xor_si512(a, b)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn xor3(a: __m512i, b: __m512i, c: __m512i) -> __m512i {
        const XOR_OF_THREE: i32 = 0x96; // The truth table.
        _mm512_ternarylogic_epi64::<XOR_OF_THREE>(a, b, c)
    }

    #[inline]
    #[target_feature(enable = "avx512f")]
    fn first_word(word: u64) -> __m512i {
        _mm512_set_epi64(0, 0, 0, 0, 0, 0, 0, word.cast_signed())
    }

    /// XOR of neighbouring words of two lines, in turn.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join_words(a: __m512i, b: __m512i) -> __m512i {
        xor(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b))
    }

    /// XOR of neighbouring quarters of two lines: two of the first, then two of the second.
    #[inline]
    #[target_feature(enable = "avx512f")]
    fn join_quarters(a: __m512i, b: __m512i) -> __m512i {
        let even = _mm512_shuffle_i64x2::<0b10_00_10_00>(a, b);
        xor(even, _mm512_shuffle_i64x2::<0b11_01_11_01>(a, b))
    }

    /// Bit `i` is the parity of word `i`.
    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn word_parities(line: __m512i) -> u64 {
        let ones = _mm512_popcnt_epi64(line);
        u64::from(_mm512_test_epi64_mask(ones, _mm512_set1_epi64(1)))
    }

    #[inline]
    #[target_feature(enable = "avx512f,avx512vpopcntdq")]
    fn finish(lines: [__m512i; 8]) -> Parities {
        let [a, b, c, d, e, f, g, sum] = lines;
        let low = join_quarters(join_words(a, b), join_words(c, d));
        let high = join_quarters(join_words(e, f), join_words(g, sum));
        let words = join_quarters(low, high);
        let upper = _mm512_extracti64x4_epi64::<1>(words);
        Parities {
            lines: word_parities(words),
            words: word_parities(sum),
            word: _mm256_extract_epi64::<3>(upper).cast_unsigned(),
        }
    }

    pass!(
        "avx512f,avx512vpopcntdq",
        __m512i,
        _mm512_setzero_si512(),
        finish
    );
}

/// Vectors of 256 bits, in pairs.
pub(super) mod narrow {
    use super::*;

    type Pair = [__m256i; 2];

    #[inline]
    #[target_feature(enable = "avx2")]
    fn xor(a: Pair, b: Pair) -> Pair {
        [_mm256_xor_si256(a[0], b[0]), _mm256_xor_si256(a[1], b[1])]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn xor3(a: Pair, b: Pair, c: Pair) -> Pair {
        xor(a, xor(b, c))
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn first_word(word: u64) -> Pair {
        let first = _mm256_set_epi64x(0, 0, 0, word.cast_signed());
        [first, _mm256_setzero_si256()]
    }

    #[inline]
    #[target_feature(enable = "avx2")]
    fn words(vector: __m256i) -> [u64; 4] {
        bytemuck::must_cast(vector)
    }

    /// XOR of all words of each of four lines.
    #[inline]
    #[target_feature(enable = "avx2")]
    fn join(lines: [Pair; 4]) -> [u64; 4] {
        let half = |pair: Pair| _mm256_xor_si256(pair[0], pair[1]);
        let [a, b, c, d] = lines.map(half);
        let join_words = |a, b| {
            let low = _mm256_unpacklo_epi64(a, b);
            _mm256_xor_si256(low, _mm256_unpackhi_epi64(a, b))
        };
        let (left, right) = (join_words(a, b), join_words(c, d));
        let low = _mm256_permute2x128_si256::<0x20>(left, right);
        let high = _mm256_permute2x128_si256::<0x31>(left, right);
        words(_mm256_xor_si256(low, high))
    }

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn word_parities(low: [u64; 4], high: [u64; 4]) -> u64 {
        let all = low.iter().chain(&high).enumerate();
        all.fold(0, |bits, (i, &word)| bits | parity(word) << i)
    }

    #[inline]
    #[target_feature(enable = "avx2,popcnt")]
    fn finish(lines: [Pair; 8]) -> Parities {
        let [a, b, c, d, e, f, g, sum] = lines;
        let (low, high) = (join([a, b, c, d]), join([e, f, g, sum]));
        Parities {
            lines: word_parities(low, high),
            words: word_parities(words(sum[0]), words(sum[1])),
            word: high[3],
        }
    }

    pass!("avx2,popcnt", Pair, [_mm256_setzero_si256(); 2], finish);
}
