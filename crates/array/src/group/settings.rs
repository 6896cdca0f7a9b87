//! The back end as a description says it, and what can be wrong with it.

use serde::Deserialize;

use crate::SECTOR_BYTES;
use crate::raid::Level;
use crate::raid::vraid::{ProtectionLevel, Vraid};
use crate::station::DispatchSettings;

/// Which copy of a mirror is read.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MirrorRead {
    /// The one whose disk has less to do; in turn when they have the same.
    #[default]
    LessBusy,
    /// Each in turn.
    Alternate,
    /// Always the first that is there.
    First,
}

/// How a write that does not cover a stripe brings the parity up to date.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SmallWrite {
    /// The way that costs fewer disk requests, read-modify-write when both cost the same.
    #[default]
    FewestRequests,
    /// Always from the old data and the old parity.
    ReadModifyWrite,
    /// Always from the rest of the stripe.
    Reconstruct,
}

/// All disks and groups behind the controllers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BackendSettings {
    /// How waiting requests are handed to the disks.
    #[serde(default)]
    pub dispatch: DispatchSettings,
    /// Which copy of a mirror is read.
    #[serde(default)]
    pub mirror_read: MirrorRead,
    /// How small writes bring parity up to date.
    #[serde(default)]
    pub small_write: SmallWrite,
    /// Pieces of one stripe that are written together share one update of the parity when the gap
    /// between them in the chunk is at most this, KiB. Without a value they always share one.
    #[serde(default)]
    pub parity_gap_kib: Option<u32>,
    /// How lost disks are rebuilt.
    #[serde(default)]
    pub rebuild: RebuildSettings,
    /// Whether and how fast everything is read in the background.
    #[serde(default)]
    pub scrub: ScrubSettings,
    /// The disk groups, in the order that numbers their groups and disks.
    pub disk_group: Vec<DiskGroupSettings>,
}

/// How a lost disk is rebuilt onto a spare or its replacement.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct RebuildSettings {
    /// Most data written to the new disk, MB (10^6 bytes) per second, however idle the disks are.
    /// Published times of 2.5 to 5 h for 900 GB say 50 to 100 (inferred).
    pub rate_mb_per_s: f64,
    /// Stripes being rebuilt at the same time.
    pub in_flight: u32,
    /// Most sectors of a chunk rebuilt in one step, KiB.
    pub unit_kib: u32,
}

impl Default for RebuildSettings {
    fn default() -> Self {
        Self {
            rate_mb_per_s: 50.0,
            in_flight: 2,
            unit_kib: 512,
        }
    }
}

/// Reading everything in the background to find and mend what cannot be read.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ScrubSettings {
    /// Whether scrubs run all the time, one after the other.
    pub enabled: bool,
    /// Most data read from each disk, MB (10^6 bytes) per second (unconfirmed for any product).
    pub rate_mb_per_s: f64,
}

impl Default for ScrubSettings {
    fn default() -> Self {
        Self {
            enabled: false,
            rate_mb_per_s: 1.0,
        }
    }
}

/// Equal disks with a common fate, and what is laid out over them.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskGroupSettings {
    /// Name, unique among disk groups.
    pub name: String,
    /// Name of the description of its disks.
    pub disk: String,
    /// Number of disks, spares not counted.
    pub disks: u16,
    /// Hot spares kept for this disk group.
    #[serde(default)]
    pub spares: u16,
    /// How it is laid out.
    pub level: Level,
    /// Chunk (stripe unit) of RAID 0, 10, 5, 6 and Vraid, KiB.
    #[serde(default)]
    pub chunk_kib: Option<u32>,
    /// The virtual disks of a Vraid, in the order they were created.
    #[serde(default)]
    pub virtual_disk: Vec<VirtualDiskSettings>,
    /// Where on the disks of a Vraid the segments of the virtual disks lie.
    #[serde(default)]
    pub placement: PlacementSettings,
    /// How much of a Vraid is kept free for the contents of disks that fail.
    #[serde(default)]
    pub protection_level: ProtectionLevel,
}

/// A virtual disk.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualDiskSettings {
    /// Name, unique among groups.
    pub name: String,
    /// Protection.
    pub level: Vraid,
    /// Size that hosts see, GiB.
    pub size_gib: f64,
}

/// Where on the disks the segments of virtual disks lie.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PlacementSettings {
    /// Share of each disk, from its outer edge, over which the segments are scattered. Zero packs
    /// them one after the other at the edge. Not published for the EVA.
    pub stroke_fraction: f64,
    /// Length of a segment, KiB: 2048 in the EVA (unconfirmed).
    pub segment_kib: u32,
}

impl Default for PlacementSettings {
    fn default() -> Self {
        Self {
            stroke_fraction: 1.0,
            segment_kib: 2048,
        }
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
        self.parity_gap_kib.map_or(u32::MAX, |gap_kib| {
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
