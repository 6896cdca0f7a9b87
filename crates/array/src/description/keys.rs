//! The keys of a description, as an engineer writes them.
//!
//! Every key is explained in `docs/arrays.md`; a test holds the two together.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::disk::DiskDescription;
use crate::group::{MirrorRead, PlacementSettings, RebuildSettings, ScrubSettings, SmallWrite};
use crate::pool::settings::{
    Affinity, AllocationName, FillSettings, OnWrite, ReplacementName, Tier, TieringSettings,
};
use crate::raid::Level;
use crate::raid::vraid::{ProtectionLevel, Vraid};
use crate::settings::{CacheSettings, ControllerSettings, WritePolicy};
use crate::station::DispatchSettings;

/// A whole description.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescriptionKeys {
    pub title: String,
    #[serde(default)]
    pub family: String,
    #[serde(default)]
    pub extends: Option<String>,
    pub controllers: ControllerSettings,
    pub cache: CacheSettings,
    #[serde(default)]
    pub backend: BackendKeys,
    #[serde(default)]
    pub disks: BTreeMap<String, DiskDescription>,
    #[serde(default)]
    pub pool: Vec<PoolKeys>,
    #[serde(default)]
    pub group: Vec<GroupKeys>,
    #[serde(default)]
    pub volumes: VolumeRule,
    #[serde(default)]
    pub volume: Vec<VolumeKeys>,
    #[serde(default)]
    pub event: Vec<EventKeys>,
}

/// Something that is to break or to be repaired.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EventKeys {
    pub at: String,
    pub what: EventWord,
    pub disk: Option<u32>,
    pub group: Option<String>,
    pub controller: Option<u32>,
}

/// What can be made to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum EventWord {
    DiskFails,
    DiskReplaced,
    ControllerFails,
    ControllerReturns,
    CacheBatteryFails,
    CacheBatteryReturns,
}

/// How requests reach the disks, and what goes on behind them.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct BackendKeys {
    pub dispatch: DispatchSettings,
    pub mirror_read: MirrorRead,
    pub small_write: SmallWrite,
    pub parity_gap_kib: Option<u32>,
    pub rebuild: RebuildSettings,
    pub scrub: ScrubSettings,
}

/// Equal pools, or one of several different ones.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolKeys {
    pub name: Option<String>,
    #[serde(default = "one")]
    pub count: u32,
    pub disk: String,
    pub disk_count: u16,
    pub raid: Level,
    pub chunk_kib: Option<u32>,
    #[serde(default)]
    pub spares: u16,
    #[serde(default = "one")]
    pub group_count: u32,
    pub tier: Option<Tier>,
    #[serde(default)]
    pub group: Vec<PoolGroupKeys>,
    #[serde(default = "page_size_kib")]
    pub page_size_kib: u32,
    #[serde(default)]
    pub allocation: AllocationName,
    #[serde(default)]
    pub page_spread_percent: f64,
    pub warning_levels_percent: Option<Vec<u32>>,
    #[serde(default)]
    pub ssd_use: SsdUse,
    pub ssd_disk: Option<String>,
    #[serde(default)]
    pub ssd_count: u16,
    pub ssd_raid: Option<Level>,
    pub ssd_chunk_kib: Option<u32>,
    #[serde(default)]
    pub ssd_spares: u16,
    #[serde(default)]
    pub tiering: TieringSettings,
    #[serde(default)]
    pub read_cache: ReadCacheKeys,
}

/// A further disk group of a pool.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct PoolGroupKeys {
    pub disk: String,
    pub disk_count: u16,
    pub raid: Level,
    pub chunk_kib: Option<u32>,
    #[serde(default)]
    pub spares: u16,
    pub tier: Option<Tier>,
}

/// What the SSDs of a pool are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum SsdUse {
    #[default]
    None,
    ReadCache,
    Tier,
}

/// The read cache of a pool; see [`crate::pool::settings::ReadCacheSettings`].
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct ReadCacheKeys {
    pub limit_gib: Option<f64>,
    pub size_gib: Option<f64>,
    pub line_kib: Option<u32>,
    pub fill: FillSettings,
    pub on_write: OnWrite,
    pub replacement: ReplacementName,
}

/// A disk group outside of pools.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GroupKeys {
    pub name: String,
    pub disk: String,
    pub disk_count: u16,
    pub raid: Level,
    pub chunk_kib: Option<u32>,
    #[serde(default)]
    pub spares: u16,
    pub owner: Option<u32>,
    #[serde(default)]
    pub placement: PlacementSettings,
    #[serde(default)]
    pub protection_level: ProtectionLevel,
}

/// Volumes made for the databases and logs of a workload.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct VolumeRule {
    pub databases_on: Vec<String>,
    pub logs_on: Vec<String>,
    pub database_volumes: DatabaseVolumes,
    pub log_volumes: LogVolumes,
    pub database_size_gb: Option<f64>,
    pub log_size_gb: Option<f64>,
    pub database_vraid: Vraid,
    pub log_vraid: Vraid,
    pub thick: bool,
    pub affinity: Affinity,
    pub write_policy: WritePolicy,
    pub read_ahead: bool,
    pub direct_io: bool,
    pub partition_offset_sectors: u64,
}

impl Default for VolumeRule {
    fn default() -> Self {
        Self {
            databases_on: Vec::new(),
            logs_on: Vec::new(),
            database_volumes: DatabaseVolumes::Each,
            log_volumes: LogVolumes::Each,
            database_size_gb: None,
            log_size_gb: None,
            database_vraid: Vraid::Vraid1,
            log_vraid: Vraid::Vraid1,
            thick: false,
            affinity: Affinity::None,
            write_policy: WritePolicy::WriteBack,
            read_ahead: true,
            direct_io: false,
            partition_offset_sectors: 0,
        }
    }
}

/// How many volumes the databases get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum DatabaseVolumes {
    /// One for each.
    #[default]
    Each,
    /// One for all.
    One,
}

/// How many volumes the logs get.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum LogVolumes {
    /// One for each.
    #[default]
    Each,
    /// One for all.
    One,
    /// None: a log lies on the volume of its database.
    WithDatabases,
}

/// A volume that is there whatever the workload is.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct VolumeKeys {
    pub name: String,
    pub size_gb: f64,
    pub on: Option<String>,
    #[serde(default)]
    pub holds: Holds,
    pub owner: Option<u32>,
    #[serde(default = "vraid1")]
    pub vraid: Vraid,
    #[serde(default)]
    pub thick: bool,
    #[serde(default)]
    pub affinity: Affinity,
    #[serde(default)]
    pub write_policy: WritePolicy,
    #[serde(default = "yes")]
    pub read_ahead: bool,
    #[serde(default)]
    pub direct_io: bool,
    #[serde(default)]
    pub partition_offset_sectors: u64,
}

/// What is put on a volume.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Holds {
    #[default]
    Databases,
    Logs,
    DatabasesAndLogs,
    Nothing,
}

fn one() -> u32 {
    1
}

fn page_size_kib() -> u32 {
    4096
}

fn vraid1() -> Vraid {
    Vraid::Vraid1
}

fn yes() -> bool {
    true
}
