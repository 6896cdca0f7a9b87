//! Real contents: owned bytes, or a run of zeros that is only a length.

use std::sync::OnceLock;

use super::{Payload, galois};
use crate::SECTOR_BYTES;

const SECTOR: usize = SECTOR_BYTES as usize;

/// The bytes of an extent of whole sectors. Zeros take no memory until somebody wants to see or change them: most
/// of an array was never written, and is still read, combined and copied when a disk is rebuilt.
#[derive(Debug, Clone, Default)]
pub struct Bytes {
    sectors: u32,
    /// Not there for zeros.
    bytes: OnceLock<Vec<u8>>,
}

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
        Self {
            sectors: (bytes.len() / SECTOR) as u32,
            bytes: OnceLock::from(bytes),
        }
    }

    /// Length of the contents in sectors.
    pub fn sectors(&self) -> u32 {
        self.sectors
    }

    /// The contents as a slice of bytes.
    pub fn as_slice(&self) -> &[u8] {
        self.bytes.get_or_init(|| self.zeros())
    }

    /// The bytes, to change in place.
    pub fn as_mut_slice(&mut self) -> &mut [u8] {
        if self.bytes.get().is_none() {
            self.bytes = OnceLock::from(self.zeros());
        }
        self.bytes.get_mut().map_or(&mut [], Vec::as_mut_slice)
    }

    fn zeros(&self) -> Vec<u8> {
        vec![0; self.sectors as usize * SECTOR]
    }

    /// The place of `other` when it lies at `at_sector` of this extent.
    fn window(&mut self, at_sector: u32, other: &Self) -> &mut [u8] {
        let start = at_sector as usize * SECTOR;
        let length = other.sectors as usize * SECTOR;
        &mut self.as_mut_slice()[start..start + length]
    }

    /// Whether `other` at `at_sector` covers all of this extent.
    fn is_covered_by(&self, at_sector: u32, other: &Self) -> bool {
        at_sector == 0 && other.sectors == self.sectors
    }
}

impl PartialEq for Bytes {
    fn eq(&self, other: &Self) -> bool {
        self.sectors == other.sectors
            && match (self.bytes.get(), other.bytes.get()) {
                (Some(own), Some(others)) => own == others,
                (Some(bytes), None) | (None, Some(bytes)) => bytes.iter().all(|&byte| byte == 0),
                (None, None) => true,
            }
    }
}

impl Eq for Bytes {}

impl Payload for Bytes {
    const CARRIES_BYTES: bool = true;

    fn zeroed(sectors: u32) -> Self {
        Self {
            sectors,
            bytes: OnceLock::new(),
        }
    }

    fn part(&self, from_sector: u32, sectors: u32) -> Self {
        let Some(bytes) = self.bytes.get() else {
            assert!(
                from_sector + sectors <= self.sectors,
                "a part beyond its extent"
            );
            return Self::zeroed(sectors);
        };
        let start = from_sector as usize * SECTOR;
        Self::new(bytes[start..start + sectors as usize * SECTOR].to_vec())
    }

    fn overlay(&mut self, at_sector: u32, part: &Self) {
        if self.is_covered_by(at_sector, part) {
            self.clone_from(part);
            return;
        }
        match part.bytes.get() {
            Some(bytes) => self.window(at_sector, part).copy_from_slice(bytes),
            None if self.is_zeros() => {}
            None => self.window(at_sector, part).fill(0),
        }
    }

    fn xor_at(&mut self, at_sector: u32, other: &Self) {
        self.multiply_add_at(at_sector, 1, other);
    }

    fn multiply_add_at(&mut self, at_sector: u32, coefficient: u8, other: &Self) {
        let Some(bytes) = other.bytes.get() else {
            return;
        };
        if self.is_zeros() && self.is_covered_by(at_sector, other) {
            self.clone_from(other);
            self.multiply(coefficient);
            return;
        }
        galois::multiply_add(self.window(at_sector, other), coefficient, bytes);
    }

    fn multiply(&mut self, coefficient: u8) {
        if coefficient == 1 || self.is_zeros() {
            return;
        }
        galois::multiply_all(self.as_mut_slice(), coefficient);
    }

    fn is_empty(&self) -> bool {
        self.sectors == 0
    }

    fn is_zeros(&self) -> bool {
        self.bytes.get().is_none()
    }

    fn as_bytes(&self) -> Option<&[u8]> {
        Some(self.as_slice())
    }
}
