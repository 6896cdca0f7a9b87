//! Settings of a volume.

use config::{choice, flattened, settings, within};

use super::ControllerSettings;
use crate::broken_rule::Checker;
use crate::pool::settings::Affinity;
use crate::{BrokenRule, SECTOR_BYTES};

settings! {
    /// A volume that hosts see.
    pub struct VolumeSettings {
        /// Its name for people.
        pub name: String;
        /// Capacity that hosts see.
        pub capacity_mib: u64, as within(1..=909_090_909_090);
        /// Name of the disk group, or of the virtual disk, it lies in. Either this or `pool`.
        pub group: Option<String>;
        /// Name of the pool it is cut from.
        pub pool: Option<String>;
        /// Number of the controller that owns it, from 0.
        pub owner: u32 = 0;
        /// How it is kept and served.
        pub policy: VolumePolicy = VolumePolicy::default(), as flattened();
    }
}

settings! {
    /// How a volume is kept and served.
    pub struct VolumePolicy {
        /// Whether all its pages are taken from the pool when it is made, not by first writes.
        pub thick: bool = false;
        /// The tiers of the pool its pages prefer.
        pub affinity: Affinity = Affinity::None;
        /// When a write is acknowledged.
        pub write_policy: WritePolicy = WritePolicy::WriteBack;
        /// Whether the controller reads ahead for it, where the cache does so at all.
        pub read_ahead: bool = true;
        /// Whether its reads go past the data cache (direct I/O of a RAID card). Needs
        /// `write_policy = "write-through"`.
        pub direct_io: bool = false;
        /// Sector at which the host's partition begins. Windows up to 2003 began at 63, one short
        /// of a round address, unless set otherwise with DiskPar (confirmed, the EVA study), so
        /// that requests on round addresses crossed stripes.
        pub partition_offset_sectors: u64 = 0;
    }
}

choice! {
    /// When a write is acknowledged.
    pub enum WritePolicy default WriteBack {
        /// Once it is in the cache (and mirrored, if the cache is).
        WriteBack = "write-back",
        /// Once it is on the disks.
        WriteThrough = "write-through",
    }
}

impl VolumeSettings {
    /// Capacity in sectors of 512 bytes.
    pub(crate) fn capacity_sectors(&self) -> u64 {
        self.capacity_mib * 1024 * 1024 / SECTOR_BYTES
    }

    pub(crate) fn check(&self, path: &str, controllers: &ControllerSettings) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, path);
        let policy = &self.policy;
        checker.require(!self.name.is_empty(), "name", "A volume has a name.");
        checker.require(
            self.owner < controllers.count,
            "owner",
            "The owner is the number of a controller, from zero.",
        );
        checker.require(
            self.group.is_some() != self.pool.is_some(),
            "group",
            "A volume is in a group or in a pool; name one of them.",
        );
        checker.require(
            self.group.is_none() || !policy.thick,
            "thick",
            "Only volumes of a pool are thick or thin.",
        );
        checker.require(
            policy.partition_offset_sectors < self.capacity_sectors(),
            "partition_offset_sectors",
            "A partition begins within its volume.",
        );
        checker.require(
            !policy.direct_io || policy.write_policy == WritePolicy::WriteThrough,
            "direct_io",
            "Direct I/O needs write_policy = \"write-through\".",
        );
        checker.finish()
    }
}
