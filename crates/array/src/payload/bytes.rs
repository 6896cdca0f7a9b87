//! Real contents: owned bytes.

use super::{Payload, galois};
use crate::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;

/// The bytes of an extent of whole sectors.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Bytes(Vec<u8>);

impl Bytes {
    /// Takes over bytes.
    ///
    /// # Panics
    ///
    /// If they are not whole sectors.
    pub fn new(bytes: Vec<u8>) -> Self {
        assert!(
            bytes.len().is_multiple_of(SECTOR),
            "{} bytes are not whole sectors",
            bytes.len()
        );
        Self(bytes)
    }

    /// Length of the contents in sectors.
    pub fn sectors(&self) -> u32 {
        (self.0.len() / SECTOR) as u32
    }

    /// The contents as a slice of bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.0
    }

    /// The bytes, to change in place.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// The place of `other` when it lies at `at_sector` of this extent.
    fn window(&mut self, at_sector: u32, other: &Self) -> &mut [u8] {
        let start = at_sector as usize * SECTOR;
        &mut self.0[start..start + other.0.len()]
    }
}

impl Payload for Bytes {
    const CARRIES_BYTES: bool = true;

    fn zeroed(sectors: u32) -> Self {
        Self(vec![0; sectors as usize * SECTOR])
    }

    fn part(&self, from_sector: u32, sectors: u32) -> Self {
        let start = from_sector as usize * SECTOR;
        Self(self.0[start..start + sectors as usize * SECTOR].to_vec())
    }

    fn overlay(&mut self, at_sector: u32, part: &Self) {
        self.window(at_sector, part).copy_from_slice(&part.0);
    }

    fn xor_at(&mut self, at_sector: u32, other: &Self) {
        galois::add(self.window(at_sector, other), &other.0);
    }

    fn multiply_add_at(&mut self, at_sector: u32, coefficient: u8, other: &Self) {
        galois::multiply_add(self.window(at_sector, other), coefficient, &other.0);
    }

    fn multiply(&mut self, coefficient: u8) {
        galois::multiply_all(&mut self.0, coefficient);
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(&self.0)
    }
}
