//! What a pool is made of and which rules it follows, as read from a description.
//!
//! Where a field says *unconfirmed*, no public source gives the number; the default is an
//! assumption and a profile should say why it keeps or changes it.

mod check;
mod policies;
#[cfg(test)]
mod tests;

use serde::Deserialize;

use crate::VolumeId;
use crate::group::GroupId;

pub use policies::{
    AllocationName, FillSettings, OnWrite, ReadCacheSettings, ReplacementName, TieringName,
    TieringSettings,
};

/// A class of disk groups within a pool. Pages never leave their pool.
///
/// Source: the tiers of the MSA 2040 family and its relatives (confirmed, ME4 guide p. 25).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Tier {
    /// Solid state.
    Performance,
    /// Enterprise disks, 10,000 or 15,000 turns a minute.
    Standard,
    /// Nearline disks, 7,200 turns a minute.
    Archive,
}

impl Tier {
    /// All tiers, the highest first.
    pub const ALL: [Self; 3] = [Self::Performance, Self::Standard, Self::Archive];

    /// Whether the tier's disks turn.
    pub fn is_spinning(self) -> bool {
        self != Self::Performance
    }

    /// The tier's place, the highest being 0.
    pub fn rank(self) -> usize {
        self as usize
    }
}

/// Which tiers a volume's pages prefer. Never a pin: pages go elsewhere rather than nowhere.
///
/// Source: ME4 guide pp. 24 and 25 (confirmed).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Affinity {
    /// The highest tier first, the archive last.
    #[default]
    None,
    /// Prefers the performance tier and is promoted more readily.
    Performance,
    /// Prefers the archive tier.
    Archive,
}

/// A disk group of a pool.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolGroupSettings {
    /// The name of the disk group.
    pub group: String,
    /// The tier it belongs to.
    pub tier: Tier,
}

/// A volume cut from a pool, as the pool must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolVolume {
    /// The volume.
    pub id: VolumeId,
    /// The key of the description that gives its size, as in `volumes.3.capacity_mib`: for
    /// complaints.
    pub path: String,
    /// Size as the host sees it, sectors.
    pub sectors: u64,
    /// Whether all its pages are taken when it is created. Otherwise a page is taken by the
    /// first write to it, the default of virtual volumes (confirmed, ME4 guide p. 23).
    pub thick: bool,
    /// The tiers its pages prefer.
    pub affinity: Affinity,
}

/// A pool of disk groups that volumes are cut from, page by page.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PoolSettings {
    /// Page size, KiB, a power of two. 4096 in the MSA 2040 family (confirmed, MSA 2060
    /// QuickSpecs p. 12, same lineage).
    #[serde(default = "page_size_kib")]
    pub page_size_kib: u32,
    /// The disk groups pages lie on.
    pub groups: Vec<PoolGroupSettings>,
    /// Where the first write to a page puts it.
    #[serde(default)]
    pub allocation: AllocationName,
    /// Share of each disk group over which the pages that are taken first are scattered, percent;
    /// 0: pages are taken in ascending order. That neighbouring pages have nothing to do with each
    /// other is confirmed for the MSA family, how far they lie apart is not.
    #[serde(default)]
    pub page_spread_percent: f64,
    /// How pages move between tiers afterwards.
    #[serde(default)]
    pub tiering: TieringSettings,
    /// Copies of what is read from spinning tiers, on solid state.
    #[serde(default)]
    pub read_cache: Option<ReadCacheSettings>,
    /// Shares of the pool in use, percent, ascending, at whose crossing a warning is counted
    /// (levels unconfirmed).
    #[serde(default = "warning_levels_percent")]
    pub warning_levels_percent: Vec<u32>,
}

fn page_size_kib() -> u32 {
    4096
}

fn warning_levels_percent() -> Vec<u32> {
    vec![50, 75, 95]
}

/// What a pool must know of a disk group that exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupFacts {
    /// The name the description gives it.
    pub name: String,
    /// Its number in the back end.
    pub id: GroupId,
    /// What can be stored in it, sectors.
    pub usable_sectors: u64,
    /// Whether its disks are solid state.
    pub solid_state: bool,
}

impl PoolSettings {
    /// Sectors in a page.
    pub fn page_sectors(&self) -> u64 {
        u64::from(self.page_size_kib) * 1024 / crate::SECTOR_BYTES
    }
}

/// GiB as whole sectors. Saturates; sizes that make no sense are complained about elsewhere.
pub(crate) fn gib_in_sectors(size_gib: f64) -> u64 {
    (size_gib * ((1_u64 << 30) / crate::SECTOR_BYTES) as f64) as u64
}
