//! Unique names, calculated instead of stored.

/// A permutation of 0 .. `total` that looks random: `(index x factor + start) mod total`.
#[derive(Debug, Clone, Copy)]
pub struct AffinePermutation {
    total: u64,
    factor: u64,
    inverse: u64,
    start: u64,
}

impl AffinePermutation {
    /// A permutation. `factor` and `total` must be coprime.
    #[must_use]
    pub const fn new(total: u64, factor: u64, start: u64) -> Self {
        Self {
            total,
            factor,
            inverse: inverse(factor, total),
            start,
        }
    }

    /// The image of `index`.
    #[must_use]
    pub fn number(&self, index: u64) -> u64 {
        debug_assert!(index < self.total);
        let wide = u128::from(index) * u128::from(self.factor) + u128::from(self.start);
        if let Ok(small) = u64::try_from(wide) {
            return small % self.total;
        }
        (wide % u128::from(self.total)) as u64
    }

    /// The index whose image is `number`.
    #[must_use]
    pub fn index(&self, number: u64) -> u64 {
        let back = u128::from(number + self.total - self.start % self.total);
        (back * u128::from(self.inverse) % u128::from(self.total)) as u64
    }
}

/// The modular inverse of `factor` (extended Euclidean algorithm).
const fn inverse(factor: u64, total: u64) -> u64 {
    let (mut r0, mut r1) = (total as i128, (factor % total) as i128);
    let (mut t0, mut t1) = (0_i128, 1_i128);
    while r1 != 0 {
        let quotient = r0 / r1;
        (r0, r1) = (r1, r0 - quotient * r1);
        (t0, t1) = (t1, t0 - quotient * t1);
    }
    assert!(r0 == 1, "factor and total have a divisor in common");
    (if t0 < 0 { t0 + total as i128 } else { t0 }) as u64
}

/// Letters of symbols: no vowels, so that they spell no words.
const LETTERS: &[u8; 20] = b"BCDFGHJKLMNPQRSTVWXZ";

const SYMBOL_LENGTH: usize = 5;

const SYMBOLS: AffinePermutation = AffinePermutation::new(20_u64.pow(5), 1_387_469, 871_113);

/// A security's ticker symbol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol([u8; SYMBOL_LENGTH]);

impl Symbol {
    /// The symbol of a security, counted from 0.
    pub(super) fn of(security: u32) -> Self {
        let mut number = SYMBOLS.number(u64::from(security));
        let mut letters = [0; SYMBOL_LENGTH];
        for letter in letters.iter_mut().rev() {
            *letter = LETTERS[(number % 20) as usize];
            number /= 20;
        }
        Self(letters)
    }

    /// The security of a symbol, if the text can be one.
    pub(super) fn security(text: &str) -> Option<u64> {
        let letters = text.as_bytes();
        if letters.len() != SYMBOL_LENGTH {
            return None;
        }
        let mut number = 0;
        for letter in letters {
            let digit = LETTERS.iter().position(|known| known == letter)?;
            number = number * 20 + digit as u64;
        }
        Some(SYMBOLS.index(number))
    }

    /// The symbol as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        // All letters are ASCII.
        std::str::from_utf8(&self.0).unwrap_or_default()
    }
}

impl std::fmt::Display for Symbol {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.as_str())
    }
}

/// Appends a number in decimal, with zeros before it up to `width` digits.
pub(crate) fn push_digits(text: &mut String, number: u64, width: usize) {
    let mut digits = [b'0'; 20];
    let (mut rest, mut at) = (number, digits.len());
    while rest > 0 || digits.len() - at < width.max(1) {
        at -= 1;
        digits[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // All of them are ASCII.
    text.push_str(std::str::from_utf8(&digits[at..]).unwrap_or_default());
}

/// An element of a name list, chosen by 32 random bits.
pub(crate) fn pick(name_lists: &'static [String], bits: u32) -> &'static str {
    &name_lists[below(bits, name_lists.len())]
}

/// A number below `limit` from 32 random bits (multiply and shift).
pub(crate) fn below(bits: u32, limit: usize) -> usize {
    ((u64::from(bits) * limit as u64) >> 32) as usize
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numberings_are_one_to_one() {
        let numbering = AffinePermutation::new(1_000, 387, 5_123);
        let mut seen = vec![false; 1_000];
        for index in 0..1_000 {
            let number = numbering.number(index);
            assert!(!std::mem::replace(&mut seen[number as usize], true));
            assert_eq!(numbering.index(number), index);
        }
    }

    #[test]
    fn symbols_lead_back_to_their_securities() {
        for security in (0..1_400_000).step_by(997) {
            let symbol = Symbol::of(security);
            assert_eq!(Symbol::security(symbol.as_str()), Some(u64::from(security)));
        }
        assert_eq!(Symbol::security("AAAAA"), None);
        assert_eq!(Symbol::security("BBBB"), None);
    }

    #[test]
    fn digits_are_padded() {
        let mut text = String::new();
        push_digits(&mut text, 0, 1);
        push_digits(&mut text, 42, 5);
        push_digits(&mut text, u64::MAX, 3);
        assert_eq!(text, "00004218446744073709551615");
    }
}
