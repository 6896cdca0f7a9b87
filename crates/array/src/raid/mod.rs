//! Where the sectors of a group lie: layouts as pure functions.
//!
//! A group's sectors are cut into *chunks*, chunks into *stripes*. A stripe has data columns and,
//! depending on its protection, copies or parity columns; every column of a stripe lies on another
//! member disk. Everything above works with stripes and columns and does not know the level.
//!
//! - [`striped`]: linear, RAID 0, 1, 10, 5 and 6 over whole disks.
//! - [`vraid`]: virtual disks over a disk group, as in the EVA.
//! - [`state`]: groups by number, and how much they can still lose.
//! - [`parity`]: redundancy, and lost columns computed from the rest.

pub mod parity;
mod state;
mod striped;
pub mod vraid;

#[cfg(test)]
mod tests;

pub use state::{GroupId, GroupState};
pub use striped::Striped;

use config::choice;
use enum_dispatch::enum_dispatch;

choice! {
    /// How a disk group is laid out.
    pub enum Level {
        /// One disk after the other; no protection.
        Linear = "linear",
        /// Striped over all disks; no protection.
        Raid0 = "raid0",
        /// The same on every disk.
        Raid1 = "raid1",
        /// Striped over mirrored pairs.
        Raid10 = "raid10",
        /// One rotating parity chunk per stripe.
        Raid5 = "raid5",
        /// Two rotating parity chunks per stripe.
        Raid6 = "raid6",
        /// Virtual disks, each with a level of its own, over redundant storage sets, as in the EVA;
        /// not in pools.
        Vraid = "vraid",
    }
}

/// What a stripe can lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Protection {
    /// Nothing: a lost disk is lost data.
    None,
    /// All but one of this many equal copies. There is one data column.
    Copies(u16),
    /// One column (P) or two (P and Q).
    Parity(u16),
}

/// The shape of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Geometry {
    /// Data columns per stripe.
    pub data_columns: u16,
    /// Whether stripes are protected by copies, by parity, or not.
    pub protection: Protection,
    /// Sectors of a chunk, the part of a stripe on one disk.
    pub chunk_sectors: u64,
    /// Number of stripes in the group.
    pub stripes: u64,
}

impl Geometry {
    /// Columns of a stripe: data columns, then further copies or P and Q.
    #[inline]
    pub fn columns(&self) -> u16 {
        match self.protection {
            Protection::None => self.data_columns,
            Protection::Copies(copies) => copies,
            Protection::Parity(parities) => self.data_columns + parities,
        }
    }

    /// Columns of a stripe that may be missing without loss.
    #[inline]
    pub fn tolerance(&self) -> u16 {
        match self.protection {
            Protection::None => 0,
            Protection::Copies(copies) => copies - 1,
            Protection::Parity(parities) => parities,
        }
    }

    /// Sectors of data per stripe.
    #[inline]
    pub fn stripe_sectors(&self) -> u64 {
        self.chunk_sectors * u64::from(self.data_columns)
    }

    /// Sectors of data in all stripes, redundancy not counted.
    #[inline]
    pub fn capacity_sectors(&self) -> u64 {
        self.stripe_sectors() * self.stripes
    }

    /// Where a sector of the group lies.
    #[inline]
    pub fn locate(&self, sector: u64) -> SectorAddress {
        let chunk = sector / self.chunk_sectors;
        let row = sector - chunk * self.chunk_sectors;
        if self.data_columns == 1 {
            return SectorAddress {
                stripe: chunk,
                column: 0,
                row,
            };
        }
        let columns = u64::from(self.data_columns);
        let stripe = chunk / columns;
        SectorAddress {
            stripe,
            column: (chunk - stripe * columns) as u16,
            row,
        }
    }
}

/// A sector of a group: which sector of which chunk of which stripe.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SectorAddress {
    /// Number of the stripe in the group.
    pub stripe: u64,
    /// Number of the data column in the stripe.
    pub column: u16,
    /// The sector's place in the chunk.
    pub row: u64,
}

/// The first sector of a chunk on a member disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// Index of the member in the disk group.
    pub member: u16,
    /// Address on that member.
    pub first_sector: u64,
}

/// What every layout answers.
#[enum_dispatch]
pub trait StripeLayout {
    /// The shape of the group.
    fn geometry(&self) -> &Geometry;

    /// Where a column of a stripe lies.
    fn place(&self, stripe: u64, column: u16) -> Place;

    /// The failure domain a member is in: stripes lie within one domain, so each domain bears the
    /// loss of [`Geometry::tolerance`] members. Member 0's is 0.
    fn domain(&self, member: u16) -> u16;
}

/// The layout of a group, whatever its level.
#[enum_dispatch(StripeLayout)]
#[derive(Debug, Clone)]
pub enum Layout {
    /// Linear, RAID 0, 1, 10, 5, 6.
    Striped(Striped),
    /// A virtual disk of a Vraid.
    Virtual(vraid::VirtualDisk),
}
