//! What a pool is made of and which rules it follows, as read from a description.
//!
//! Where a field says *unconfirmed*, no public source gives the number; the default is an
//! assumption and a profile should say why it keeps or changes it.

use super::tier::Tier;

mod check;
mod policies;
#[cfg(test)]
mod tests;

use config::{choice, flattened, list, settings, within};

use crate::VolumeId;
use crate::group::GroupId;

pub use policies::{
    AllocationName, FillSettings, OnWrite, ReadCachePolicy, ReadCacheSettings, ReplacementName,
    TieringName, TieringSettings,
};

choice! {
    /// Which tiers a volume's pages prefer. Never a pin: pages go elsewhere rather than nowhere.
    ///
    /// Source: ME4 guide pp. 24 and 25 (confirmed).
    #[derive(Hash)]
    pub enum Affinity default None {
        /// The highest tier first, the archive last.
        None = "none",
        /// Prefers the performance tier and is promoted more readily.
        Performance = "performance",
        /// Prefers the archive tier.
        Archive = "archive",
    }
}

settings! {
    /// A disk group of a pool.
    #[derive(Eq)]
    pub struct PoolGroupSettings {
        /// The name of the disk group.
        pub group: String;
        /// The tier it belongs to.
        pub tier: Tier;
    }
}

/// A volume cut from a pool, as the pool must know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PoolVolume {
    /// Number of the volume in the array.
    pub id: VolumeId,
    /// The key of the description that gives its size, as in `volumes.3.capacity_mib`: for
    /// diagnostics.
    pub path: String,
    /// Size as the host sees it, sectors.
    pub sectors: u64,
    /// Whether all its pages are taken when it is created. Otherwise a page is taken by the
    /// first write to it, the default of virtual volumes (confirmed, ME4 guide p. 23).
    pub thick: bool,
    /// The tiers its pages prefer.
    pub affinity: Affinity,
}

settings! {
    /// A pool of disk groups that volumes are cut from, page by page.
    pub struct PoolSettings {
        /// The disk groups pages lie on.
        pub groups: Vec<PoolGroupSettings>;
        /// How its pages are placed and moved.
        pub policy: PoolPolicy = PoolPolicy::default(), as flattened();
        /// Copies of what is read from spinning tiers, on solid state.
        pub read_cache: Option<ReadCacheSettings>;
    }
}

settings! {
    /// How the pages of a pool are placed and moved.
    pub struct PoolPolicy {
        /// Size of a page: a power of two.
        pub page_size_kib: u32 = 4096, as within(4..=1 << 20),
            source "Confirmed for the MSA 2040 family, MSA 2060 QuickSpecs p. 12, same lineage.";
        /// Where the first write to a page puts it.
        pub allocation: AllocationName = AllocationName::Msa;
        /// Share of each disk group over which the pages that are taken first are scattered; 0:
        /// pages are taken in ascending order. That neighbouring pages have nothing to do with each
        /// other is confirmed for the MSA family, how far they lie apart is not.
        pub page_spread_percent: f64 = 0.0, as within(0.0..=100.0);
        /// How pages move between tiers afterwards.
        pub tiering: TieringSettings = TieringSettings::default();
        /// Shares of the pool in use, ascending, at whose crossing a warning is counted.
        pub warning_levels_percent: Vec<u32> = vec![50, 75, 95], as list(within(0..=100)),
            source "Unconfirmed.";
    }
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
        u64::from(self.policy.page_size_kib) * 1024 / crate::SECTOR_BYTES
    }
}

/// GiB as whole sectors. Saturates; sizes that make no sense are reported elsewhere.
pub(crate) fn gib_in_sectors(size_gib: f64) -> u64 {
    (size_gib * ((1_u64 << 30) / crate::SECTOR_BYTES) as f64) as u64
}
