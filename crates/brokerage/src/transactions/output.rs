//! Outputs of transactions, and their fingerprints.

use std::borrow::Cow;

/// A hash that is the same on every machine and in every version (FNV-1a of 64 bits, by Fowler,
/// Noll and Vo).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Digest(u64);

impl Default for Digest {
    fn default() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }
}

impl Digest {
    /// Adds bytes to the hash.
    pub fn bytes(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    /// The hash of everything added so far.
    #[must_use]
    pub fn value(self) -> u64 {
        self.0
    }
}

/// An output of a transaction, or a part of one. Two different ones add different bytes.
pub trait Output {
    /// Adds every field to a digest.
    fn add_to(&self, digest: &mut Digest);

    /// The hash of the whole output, by which differences between databases are found.
    fn fingerprint(&self) -> u64 {
        let mut digest = Digest::default();
        self.add_to(&mut digest);
        digest.value()
    }
}

impl Output for i64 {
    fn add_to(&self, digest: &mut Digest) {
        digest.bytes(&self.to_le_bytes());
    }
}

impl Output for u64 {
    fn add_to(&self, digest: &mut Digest) {
        digest.bytes(&self.to_le_bytes());
    }
}

impl Output for bool {
    fn add_to(&self, digest: &mut Digest) {
        digest.bytes(&[u8::from(*self)]);
    }
}

impl Output for &str {
    fn add_to(&self, digest: &mut Digest) {
        (self.len() as u64).add_to(digest);
        digest.bytes(self.as_bytes());
    }
}

impl Output for String {
    fn add_to(&self, digest: &mut Digest) {
        self.as_str().add_to(digest);
    }
}

impl Output for Cow<'_, str> {
    fn add_to(&self, digest: &mut Digest) {
        (&**self).add_to(digest);
    }
}

impl<T: Output> Output for Option<T> {
    fn add_to(&self, digest: &mut Digest) {
        self.is_some().add_to(digest);
        if let Some(value) = self {
            value.add_to(digest);
        }
    }
}

impl<T: Output> Output for Vec<T> {
    fn add_to(&self, digest: &mut Digest) {
        (self.len() as u64).add_to(digest);
        for value in self {
            value.add_to(digest);
        }
    }
}

impl<T: Output, const N: usize> Output for [T; N] {
    fn add_to(&self, digest: &mut Digest) {
        for value in self {
            value.add_to(digest);
        }
    }
}

impl<A: Output, B: Output> Output for (A, B) {
    fn add_to(&self, digest: &mut Digest) {
        self.0.add_to(digest);
        self.1.add_to(digest);
    }
}

/// A struct whose output is that of its fields, in order.
macro_rules! output {
    ($name:ty: $($field:ident),+ $(,)?) => {
        impl $crate::transactions::output::Output for $name {
            fn add_to(&self, digest: &mut $crate::transactions::output::Digest) {
                $($crate::transactions::output::Output::add_to(&self.$field, digest);)+
            }
        }
    };
}
pub(super) use output;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_digest_is_the_published_one() {
        // Test vectors of the authors of FNV.
        let mut digest = Digest::default();
        assert_eq!(digest.value(), 0xcbf2_9ce4_8422_2325);
        digest.bytes(b"foobar");
        assert_eq!(digest.value(), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn what_differs_has_another_fingerprint() {
        let pair = |a: &str, b: &str| vec![a.to_owned(), b.to_owned()].fingerprint();
        assert_ne!(pair("ab", "c"), pair("a", "bc"));
        assert_ne!(Some(0_i64).fingerprint(), None::<i64>.fingerprint());
        assert_eq!(pair("ab", "c"), pair("ab", "c"));
    }
}
