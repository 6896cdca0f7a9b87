//! Where the fields of the page header lie.

use std::ops::{BitAnd, BitOr};

pub(super) const CHECKSUM: usize = 0;
pub(super) const DBTIME: usize = 8;
pub(super) const PREVIOUS: usize = 16;
pub(super) const NEXT: usize = 20;
pub(super) const OBJECT_ID: usize = 24;
pub(super) const FREE_BYTES: usize = 28;
pub(super) const UNCOMMITTED_FREE: usize = 30;
pub(super) const FIRST_FREE: usize = 32;
pub(super) const TAG_STATE: usize = 34;
pub(super) const FLAGS: usize = 36;
pub(super) const MORE_CHECKSUMS: [usize; 3] = [40, 48, 56];
pub(super) const PAGE_NUMBER: usize = 64;

/// The low twelve bits of the tag state count tags. Readers break on anything in the upper bits,
/// which stay zero.
pub(super) const TAG_COUNT_MASK: u16 = 0x0FFF;

#[inline]
pub(super) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(array_at(bytes, at))
}

#[inline]
pub(super) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(array_at(bytes, at))
}

#[inline]
pub(super) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(array_at(bytes, at))
}

/// `N` bytes, looked up with one check of the bounds.
#[inline]
fn array_at<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    let mut array = [0; N];
    array.copy_from_slice(&bytes[at..at + N]);
    array
}

pub(super) fn set_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_le_bytes());
}

pub(super) fn set_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_le_bytes());
}

pub(super) fn set_u64(bytes: &mut [u8], at: usize, value: u64) {
    bytes[at..at + 8].copy_from_slice(&value.to_le_bytes());
}

/// What kind of page this is. Readers refuse bits they do not know (0x20000 and up), so none is
/// ever set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PageFlags(pub u32);

impl PageFlags {
    /// Root of a tree.
    pub const ROOT: Self = Self(0x1);
    /// Leaf of a tree.
    pub const LEAF: Self = Self(0x2);
    /// Internal page whose children are leaves.
    pub const PARENT_OF_LEAF: Self = Self(0x4);
    /// Given back to the space trees.
    pub const EMPTY: Self = Self(0x8);
    /// Page of an owned or available extent tree.
    pub const SPACE: Self = Self(0x20);
    /// Page of a secondary index (also of its space trees).
    pub const INDEX: Self = Self(0x40);
    /// Page of a long value tree.
    pub const LONG_VALUE: Self = Self(0x80);
    /// Page of a secondary index that allows equal keys.
    pub const NON_UNIQUE: Self = Self(0x400);
    /// Records in the current format: on every page.
    pub const NEW_RECORDS: Self = Self(0x800);
    /// Checksums with error correction: on every page.
    pub const ECC: Self = Self(0x2000);

    /// Whether every bit of `other` is set.
    #[must_use]
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// These flags without those of `other`.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl BitOr for PageFlags {
    type Output = Self;
    fn bitor(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl BitAnd for PageFlags {
    type Output = Self;
    fn bitand(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }
}
