//! Settings of a volume.

use serde::Deserialize;

use super::{Checker, ControllerSettings};
use crate::pool::settings::Affinity;
use crate::{Complaint, SECTOR_BYTES};

/// A volume that hosts see.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VolumeSettings {
    /// Its name for people.
    pub name: String,
    /// Capacity, MiB.
    pub capacity_mib: u64,
    /// Name of the disk group, or of the virtual disk, it lies in. Either this or `pool`.
    pub group: Option<String>,
    /// Name of the pool it is cut from.
    pub pool: Option<String>,
    /// Whether all its pages are taken from the pool when it is made, not by first writes.
    #[serde(default)]
    pub thick: bool,
    /// The tiers of the pool its pages prefer.
    #[serde(default)]
    pub affinity: Affinity,
    /// Number of the controller that owns it, from zero.
    #[serde(default)]
    pub owner: u32,
    /// When a write is acknowledged.
    #[serde(default)]
    pub write_policy: WritePolicy,
    /// Whether the controller reads ahead for this volume, where the cache does so at all.
    #[serde(default = "yes")]
    pub read_ahead: bool,
    /// Whether reads of this volume go past the data cache (direct I/O of a RAID card). Needs
    /// write-through.
    #[serde(default)]
    pub direct_io: bool,
    /// Sector at which the host's partition begins. Windows up to 2003 began at 63, one short of a
    /// round address, unless told otherwise with DiskPar [C: the EVA study].
    #[serde(default)]
    pub partition_offset_sectors: u64,
}

/// When a write is acknowledged.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WritePolicy {
    /// Once it is in the cache (and mirrored, if the cache is).
    #[default]
    WriteBack,
    /// Once it is on the disks.
    WriteThrough,
}

fn yes() -> bool {
    true
}

impl VolumeSettings {
    /// Capacity in sectors.
    pub(crate) fn capacity_sectors(&self) -> u64 {
        self.capacity_mib * 1024 * 1024 / SECTOR_BYTES
    }

    pub(crate) fn check(&self, path: &str, controllers: &ControllerSettings) -> Vec<Complaint> {
        let mut checker = Checker::new(path);
        checker.demand(!self.name.is_empty(), "name", "A volume has a name.");
        checker.demand_within(self.capacity_mib as f64, 1.0, 1e12 / 1.1, "capacity_mib");
        checker.demand(
            self.owner < controllers.count,
            "owner",
            "The owner is the number of a controller, from zero.",
        );
        checker.demand(
            self.group.is_some() != self.pool.is_some(),
            "group",
            "A volume lies in a group or in a pool; name one of them.",
        );
        checker.demand(
            self.group.is_none() || !self.thick,
            "thick",
            "Only volumes of a pool are thick or thin.",
        );
        checker.demand(
            self.partition_offset_sectors < self.capacity_sectors(),
            "partition_offset_sectors",
            "A partition begins within its volume.",
        );
        checker.demand(
            !self.direct_io || self.write_policy == WritePolicy::WriteThrough,
            "direct_io",
            "Direct I/O needs write_policy = \"write-through\".",
        );
        checker.finish()
    }
}
