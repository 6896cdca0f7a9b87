//! What blocks carry: nothing in predictions, bytes in a live array.
//!
//! Everything in the array that moves or combines blocks is written once against [`Payload`]. With
//! `()` all of it vanishes when compiled; with [`Bytes`] parity, rebuild and migration are the
//! real thing and can be proven byte by byte. [`galois`] holds the field that the second parity
//! of RAID 6 is computed in.

mod bytes;
pub mod galois;

#[cfg(test)]
mod tests;

pub use bytes::Bytes;

use std::fmt;

/// The contents of an extent of whole sectors.
///
/// Lengths are in sectors. The default value holds no sectors; it means "nothing carried",
/// as in a request to read.
pub trait Payload: Clone + Default + fmt::Debug + 'static {
    /// Whether there is anything to keep. Code that only moves contents is skipped when not.
    const CARRIES_BYTES: bool;

    /// That many sectors of zeros.
    fn zeroed(sectors: u32) -> Self;

    /// A copy of `sectors` sectors starting at `from_sector`.
    fn part(&self, from_sector: u32, sectors: u32) -> Self;

    /// Puts `part` in at `at_sector`, in place of what is there.
    fn overlay(&mut self, at_sector: u32, part: &Self);

    /// Adds `other` bit by bit at `at_sector`: the first parity of RAID 5 and 6.
    fn xor_at(&mut self, at_sector: u32, other: &Self);

    /// Adds `coefficient` times `other` at `at_sector`, byte by byte over GF(2^8): the second
    /// parity of RAID 6.
    fn multiply_add_at(&mut self, at_sector: u32, coefficient: u8, other: &Self);

    /// Multiplies every byte by `coefficient` over GF(2^8).
    fn multiply(&mut self, coefficient: u8);

    /// Adds `other`, of the same length, bit by bit.
    #[inline]
    fn xor_with(&mut self, other: &Self) {
        self.xor_at(0, other);
    }

    /// Adds `coefficient` times `other`, of the same length, over GF(2^8).
    #[inline]
    fn multiply_add(&mut self, coefficient: u8, other: &Self) {
        self.multiply_add_at(0, coefficient, other);
    }

    /// Whether it holds no sectors.
    fn is_empty(&self) -> bool;

    /// Whether it is known, without reading all bytes, that all of them are zero: as they are where nothing was
    /// ever written. `false` says nothing.
    fn is_zeros(&self) -> bool;

    /// The bytes, if bytes are carried.
    fn as_bytes(&self) -> Option<&[u8]>;
}

impl Payload for () {
    const CARRIES_BYTES: bool = false;

    #[inline]
    fn zeroed(_sectors: u32) -> Self {}

    #[inline]
    fn part(&self, _from_sector: u32, _sectors: u32) -> Self {}

    #[inline]
    fn overlay(&mut self, _at_sector: u32, _part: &Self) {}

    #[inline]
    fn xor_at(&mut self, _at_sector: u32, _other: &Self) {}

    #[inline]
    fn multiply_add_at(&mut self, _at_sector: u32, _coefficient: u8, _other: &Self) {}

    #[inline]
    fn multiply(&mut self, _coefficient: u8) {}

    #[inline]
    fn is_empty(&self) -> bool {
        true
    }

    #[inline]
    fn is_zeros(&self) -> bool {
        false
    }

    #[inline]
    fn as_bytes(&self) -> Option<&[u8]> {
        None
    }
}
