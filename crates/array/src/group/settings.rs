//! The back end as a description says it, and what can be wrong with it.

use config::{choice, flattened, settings, within};

use crate::SECTOR_BYTES;
use crate::raid::Level;
use crate::raid::vraid::{ProtectionLevel, Vraid};
use crate::station::DispatchSettings;

choice! {
    /// Which copy of a mirror is read.
    pub enum MirrorRead default LessBusy {
        /// The one whose disk has less to do; in turn when they have the same.
        LessBusy = "less-busy",
        /// Each copy in turn, whatever its disk has to do.
        Alternate = "alternate",
        /// Always the first that is there.
        First = "first",
    }
}

choice! {
    /// How a write that does not cover a stripe brings the parity up to date.
    pub enum SmallWrite default FewestRequests {
        /// The way that costs fewer disk requests, read-modify-write when both cost the same.
        FewestRequests = "fewest-requests",
        /// Always from the old data and the old parity.
        ReadModifyWrite = "read-modify-write",
        /// Always from the rest of the stripe.
        Reconstruct = "reconstruct",
    }
}

settings! {
    /// All disks and groups behind the controllers.
    pub struct BackendSettings {
        /// How they are worked.
        pub policy: BackendPolicy = BackendPolicy::default(), as flattened();
        /// The disk groups, in the order that numbers their groups and disks.
        pub disk_group: Vec<DiskGroupSettings>;
    }
}

settings! {
    /// How requests reach the disks, and what goes on behind them.
    pub struct BackendPolicy {
        /// How waiting requests are handed to the disks.
        pub dispatch: DispatchSettings = DispatchSettings::default();
        /// Which copy of a mirror is read.
        pub mirror_read: MirrorRead = MirrorRead::LessBusy;
        /// How small writes bring parity up to date.
        pub small_write: SmallWrite = SmallWrite::FewestRequests;
        /// Pieces of one stripe that are written together share one update of the parity when the
        /// gap between them in the chunk is at most this. Without a value they always share one.
        pub parity_gap_kib: Option<u32> = None;
        /// How lost disks are rebuilt.
        pub rebuild: RebuildSettings = RebuildSettings::default();
        /// Whether and how fast everything is read in the background.
        pub scrub: ScrubSettings = ScrubSettings::default();
        /// How many times as fast as in the array rebuilds, scrubs and moves between tiers go on: each of their
        /// steps covers so many times the data, and takes the disks no longer. No product has this.
        pub warp: u32 = 1, as within(1..=10_000);
    }
}

settings! {
    /// How a lost disk is rebuilt onto a spare or its replacement.
    pub struct RebuildSettings {
        /// Most data written to the new disk, however idle the disks are.
        pub rate_mb_per_s: f64 = 50.0, as within(0.001..=1e6),
            source "Published times of 2.5 to 5 h for 900 GB say 50 to 100 (inferred).";
        /// Steps under way at the same time.
        pub in_flight: u32 = 2, as within(1..=1_024);
        /// Data of the lost disk that one step rebuilds: a part of a chunk, or consecutive chunks.
        pub unit_kib: u32 = 512, as within(1..=65_536);
    }
}

impl RebuildSettings {
    /// The unit in sectors.
    pub(super) fn unit_sectors(&self) -> u32 {
        self.unit_kib * 1024 / crate::SECTOR_BYTES as u32
    }
}

settings! {
    /// Reading everything in the background to find and repair what cannot be read.
    pub struct ScrubSettings {
        /// Whether scrubs run all the time, one after the other.
        pub enabled: bool = false;
        /// Most data read from each disk.
        pub rate_mb_per_s: f64 = 1.0, as within(0.001..=1e6),
            source "Unconfirmed for any product.";
    }
}

settings! {
    /// Equal disks that fail together, and what is laid out over them.
    pub struct DiskGroupSettings {
        /// Name, unique among disk groups.
        pub name: String;
        /// Name of the description of its disks.
        pub disk: String;
        /// Number of disks, spares not counted.
        pub disks: u16;
        /// Hot spares kept for this disk group.
        pub spares: u16 = 0;
        /// How it is laid out.
        pub level: Level;
        /// Chunk (stripe unit) of RAID 0, 10, 5, 6 and Vraid.
        pub chunk_kib: Option<u32>;
        /// The virtual disks of a Vraid, in the order they were created.
        pub virtual_disk: Vec<VirtualDiskSettings> = Vec::new();
        /// Where on the disks of a Vraid the segments of the virtual disks lie.
        pub placement: PlacementSettings = PlacementSettings::default();
        /// How much of a Vraid is kept free for the contents of disks that fail.
        pub protection_level: ProtectionLevel = ProtectionLevel::None;
    }
}

settings! {
    /// A virtual disk of a Vraid, spread over all disks of the group.
    pub struct VirtualDiskSettings {
        /// Name, unique among groups.
        pub name: String;
        /// Protection of the virtual disk, which decides how much room it takes.
        pub level: Vraid;
        /// Size that hosts see.
        pub size_gib: f64, as within(1e-6..=1e7);
    }
}

settings! {
    /// Where on the disks of a Vraid the segments of virtual disks lie.
    pub struct PlacementSettings {
        /// Share of each disk, from its outer edge, over which the segments are scattered. 0 packs
        /// them one after the other at the edge.
        pub stroke_fraction: f64 = 1.0, as within(0.0..=1.0),
            source "Not published for the EVA.";
        /// Length of a segment: a power of two.
        pub segment_kib: u32 = 2048, as within(1..=1 << 20),
            source "2048 in the EVA (unconfirmed).";
    }
}

impl PlacementSettings {
    /// Length of a segment, sectors.
    pub(super) fn segment_sectors(&self) -> u64 {
        u64::from(self.segment_kib) * 1024 / SECTOR_BYTES
    }
}

impl VirtualDiskSettings {
    /// Size in whole sectors.
    pub(super) fn size_sectors(&self) -> u64 {
        (self.size_gib * 1024.0 * 1024.0 * 1024.0 / SECTOR_BYTES as f64).ceil() as u64
    }
}

impl BackendSettings {
    /// The widest gap between pieces that share an update of the parity, sectors.
    pub(super) fn parity_gap_sectors(&self) -> u32 {
        self.policy.parity_gap_kib.map_or(u32::MAX, |gap_kib| {
            gap_kib.saturating_mul((1024 / SECTOR_BYTES) as u32)
        })
    }

    /// For every station in turn the name of the description of its disk: disk group by disk
    /// group its disks, then its spares.
    pub fn disk_names(&self) -> Vec<&str> {
        let names = self.disk_group.iter().flat_map(|group| {
            let stations = usize::from(group.disks) + usize::from(group.spares);
            std::iter::repeat_n(group.disk.as_str(), stations)
        });
        names.collect()
    }

    /// The name of every group in turn: the disk group's, or those of its virtual disks.
    pub fn group_names(&self) -> Vec<&str> {
        let mut names = Vec::new();
        for disk_group in &self.disk_group {
            if disk_group.level == Level::Vraid {
                names.extend(
                    disk_group
                        .virtual_disk
                        .iter()
                        .map(|disk| disk.name.as_str()),
                );
            } else {
                names.push(disk_group.name.as_str());
            }
        }
        names
    }
}
