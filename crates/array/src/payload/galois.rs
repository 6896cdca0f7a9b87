//! The field GF(2^8) with the polynomial x^8 + x^4 + x^3 + x^2 + 1 (0x11d) and the generator 2:
//! the arithmetic of the second parity of RAID 6, Q = sum of 2^i times the i-th data chunk.
//!
//! Bulk operations work on eight bytes at once in a 64-bit word, by Horner's rule over the bits of
//! the coefficient; compilers turn the loops into vector code.

/// What is added when the bit shifted out of a byte was set: the polynomial without x^8.
const REDUCTION: u8 = 0x1d;

/// Order of the generator: every element but zero is one of its powers.
pub const POWERS: usize = 255;

const LOW_SEVEN_BITS: u64 = 0x7f7f_7f7f_7f7f_7f7f;
const LOWEST_BITS: u64 = 0x0101_0101_0101_0101;

struct Tables {
    power: [u8; 2 * POWERS],
    logarithm: [u8; 256],
}

const TABLES: Tables = tables();

const fn tables() -> Tables {
    let mut power = [0; 2 * POWERS];
    let mut logarithm = [0; 256];
    let mut element: u8 = 1;
    let mut exponent = 0;
    while exponent < POWERS {
        power[exponent] = element;
        power[exponent + POWERS] = element;
        logarithm[element as usize] = exponent as u8;
        let overflow = element & 0x80 != 0;
        element <<= 1;
        if overflow {
            element ^= REDUCTION;
        }
        exponent += 1;
    }
    Tables { power, logarithm }
}

/// The generator to the power `exponent`: the coefficient of data chunk `exponent` in Q.
#[inline]
pub fn power(exponent: usize) -> u8 {
    TABLES.power[exponent % POWERS]
}

/// The exponent that makes the generator `element`; `None` for zero.
#[inline]
pub fn logarithm(element: u8) -> Option<usize> {
    (element != 0).then(|| usize::from(TABLES.logarithm[usize::from(element)]))
}

/// The product of two elements.
#[inline]
pub fn multiply(a: u8, b: u8) -> u8 {
    match (logarithm(a), logarithm(b)) {
        (Some(a), Some(b)) => TABLES.power[a + b],
        _ => 0,
    }
}

/// The element whose product with `element` is one.
///
/// # Panics
///
/// If `element` is zero, which has none.
#[inline]
pub fn inverse(element: u8) -> u8 {
    let exponent = logarithm(element);
    assert!(exponent.is_some(), "zero has no inverse");
    TABLES.power[POWERS - exponent.unwrap_or(0)]
}

/// Eight products by the generator at once.
#[inline]
fn double_word(word: u64) -> u64 {
    let overflow = (word >> 7) & LOWEST_BITS;
    let reduction = overflow | (overflow << 2) | (overflow << 3) | (overflow << 4);
    ((word & LOW_SEVEN_BITS) << 1) ^ reduction
}

/// Eight products by `coefficient` at once.
#[inline]
fn multiply_word(word: u64, coefficient: u8) -> u64 {
    let mut product = 0;
    let mut power = word;
    let mut bits = coefficient;
    while bits != 0 {
        if bits & 1 != 0 {
            product ^= power;
        }
        power = double_word(power);
        bits >>= 1;
    }
    product
}

fn for_words(target: &mut [u8], other: &[u8], step: impl Fn(u64, u64) -> u64) {
    assert_eq!(target.len(), other.len(), "lengths differ");
    let (targets, target_rest) = target.as_chunks_mut::<8>();
    let (others, other_rest) = other.as_chunks::<8>();
    assert!(target_rest.is_empty() && other_rest.is_empty());
    for (target, other) in targets.iter_mut().zip(others) {
        let sum = step(u64::from_le_bytes(*target), u64::from_le_bytes(*other));
        *target = sum.to_le_bytes();
    }
}

/// Adds `other` to `target`, byte by byte. Lengths are multiples of eight.
pub(crate) fn add(target: &mut [u8], other: &[u8]) {
    for_words(target, other, |sum, word| sum ^ word);
}

/// Adds `coefficient` times `other` to `target`. Lengths are multiples of eight.
pub(crate) fn multiply_add(target: &mut [u8], coefficient: u8, other: &[u8]) {
    match coefficient {
        0 => {}
        1 => add(target, other),
        _ => for_words(target, other, |sum, word| {
            sum ^ multiply_word(word, coefficient)
        }),
    }
}

/// Multiplies every byte by `coefficient`. The length is a multiple of eight.
pub(crate) fn multiply_all(target: &mut [u8], coefficient: u8) {
    let (words, rest) = target.as_chunks_mut::<8>();
    assert!(rest.is_empty());
    for word in words {
        *word = multiply_word(u64::from_le_bytes(*word), coefficient).to_le_bytes();
    }
}
