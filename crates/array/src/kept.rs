//! What of an array is kept when its process ends, so that the same array can be there again.
//!
//! The contents of disks can be kept elsewhere than in memory ([`DiskContents`]). All else that decides what
//! volumes hold is small: which disks hold what ([`KeptState`]), and where the pages of pools lie
//! ([`KeptPool`]).

use std::fmt;

use serde::{Deserialize, Serialize};

/// Contents of one disk that are kept elsewhere than in memory. What was never written reads as zeros.
pub trait DiskContents<P>: fmt::Debug {
    /// What is stored in an extent.
    fn read(&self, first_sector: u64, sectors: u32) -> P;

    /// Sectors of an extent that was read just now which hold something else than was written there, as far as
    /// checksums are kept of it.
    fn wrong_sectors(&self, _first_sector: u64, _read: &P) -> Vec<u64> {
        Vec::new()
    }

    /// Stores what an extent is to hold.
    fn write(&mut self, first_sector: u64, sectors: u32, payload: &P);

    /// Changes what an extent holds as a fault does: checksums stay as they are.
    fn corrupt(&mut self, first_sector: u64, sectors: u32, payload: &P) {
        self.write(first_sector, sectors, payload);
    }

    /// Has an extent read as zeros.
    fn discard(&mut self, first_sector: u64, sectors: u64);

    /// Where data are, in whole blocks of 4 KiB: extents of first sector and sectors, in their order.
    fn extents(&self) -> Vec<(u64, u64)>;

    /// Has everything read as zeros: the disk has failed, or is a new one.
    fn clear(&mut self);
}

/// Which disks hold what, and what is gone.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptState {
    /// The disk groups.
    pub disk_group: Vec<KeptDiskGroup>,
    /// Sectors of volumes whose acknowledged contents are gone: volume, first sector, the sector after the last.
    pub lost: Vec<(u16, u64, u64)>,
}

/// The disks of a disk group. They go by their numbers in it, from 0; spares are counted behind the others.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeptDiskGroup {
    /// The name of the disk group.
    pub name: String,
    /// For each member of the layout the disk that holds it, or is to hold it once it is rebuilt.
    pub members: Vec<u16>,
    /// Members that are not whole: their disk has failed, or is being filled.
    pub missing: Vec<u16>,
    /// Disks that are free spares.
    pub spares: Vec<u16>,
    /// Disks that do not work.
    pub failed_disks: Vec<u16>,
    /// Groups laid out over the disks that have failed, by name.
    pub failed_groups: Vec<String>,
    /// Sectors that cannot be read until they are written: disk, first sector, sectors.
    pub unreadable: Vec<(u16, u64, u64)>,
}

/// Where the pages of a pool lie.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeptPool {
    /// The name of the pool.
    pub name: String,
    /// Its disk groups, in the order in which locations number them.
    pub groups: Vec<String>,
    /// The location of every page of its volumes, as [`PageChange::Page`] has them.
    pub pages: Vec<u32>,
    /// For every disk group a bit for each slot in which something may have been written.
    pub used: Vec<Vec<u64>>,
}

/// A change of what [`KeptPool`] holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PageChange {
    /// A page has another location, or none.
    Page {
        /// The number of the pool, in the order of [`crate::Array::kept_pools`].
        pool: u16,
        /// The number of the page in the pool.
        page: u32,
        /// Where it lies; the number has no meaning outside.
        location: u32,
    },
    /// Slots are in use for the first time.
    Used {
        /// The number of the pool.
        pool: u16,
        /// The number of the disk group in the pool.
        group: u16,
        /// The number of the word of bits.
        word: u32,
        /// Its bits.
        bits: u64,
    },
}

/// Why what was kept does not fit an array.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct Misfit(pub(crate) String);

/// Runs of numbers in ascending order: the first of each, and how many.
pub(crate) fn runs(numbers: impl Iterator<Item = u64>) -> Vec<(u64, u64)> {
    let mut runs: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match runs.last_mut() {
            Some((first, count)) if *first + *count == number => *count += 1,
            _ => runs.push((number, 1)),
        }
    }
    runs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_follow_each_other_are_one_run() {
        let found = runs([1, 2, 3, 7, 9, 10].into_iter());
        assert_eq!(found, [(1, 3), (7, 1), (9, 2)]);
    }
}
