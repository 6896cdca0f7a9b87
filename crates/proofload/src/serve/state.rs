//! The state of a served array in one document: what `--status` prints, `--live` draws and `--metrics` exports.

use serde::{Deserialize, Serialize};

/// Name and version of the document.
pub const SCHEMA: &str = "proofload/serving/1";

/// A served array as it is now. All counts are since it is served.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ServingState {
    /// Version of the document.
    pub schema: String,
    /// Version of the program that serves.
    pub version: String,
    /// Process that serves.
    pub process: u32,
    /// Name of the array.
    pub array: String,
    /// The array's name for people.
    pub title: String,
    /// How many times as fast as in the array rebuilds, scrubs and moves between tiers go on.
    pub warp: u64,
    /// For how long it has been served.
    pub elapsed_s: f64,
    /// What clients have seen.
    pub clients: Clients,
    /// Share of the reads that the data cache held; null without reads.
    pub read_hit_fraction: Option<f64>,
    /// One entry per controller.
    pub controllers: Vec<Controller>,
    /// One entry per disk.
    pub disks: Vec<Disk>,
    /// One entry per group that is laid out over disks.
    pub groups: Vec<Group>,
    /// Rebuilds that go on.
    pub rebuilds: Vec<Rebuild>,
    /// One entry per pool with pages.
    pub pools: Vec<Pool>,
    /// The last events that have happened, at most a hundred.
    pub events: Vec<HappenedEvent>,
    /// Events that are to happen.
    pub planned_events: Vec<PlannedEvent>,
    /// Acknowledged sectors that were lost.
    pub lost_sectors: u64,
}

/// What clients have seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Clients {
    /// Reads, from their arrival to their answer.
    pub reads: Latencies,
    /// Writes.
    pub writes: Latencies,
    /// Flushes and trims.
    pub flushes: Latencies,
    /// How much later than the model says answers were given.
    pub lateness: Latencies,
    /// Requests that failed.
    pub failed: u64,
    /// Requests that are not answered yet.
    pub under_way: u64,
}

/// Latencies of requests.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Latencies {
    /// Number of requests.
    pub count: u64,
    /// Average; null without requests.
    pub average_ms: Option<f64>,
    /// 99th percentile; null without requests.
    pub p99_ms: Option<f64>,
    /// Maximum; null without requests.
    pub max_ms: Option<f64>,
}

/// A controller with its data cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Controller {
    /// Its number, from 0.
    pub number: u64,
    /// Whether it is online.
    pub online: bool,
    /// Whether the battery of its cache works.
    pub battery_works: bool,
    /// Share of its cache that is in use.
    pub cache_used_fraction: f64,
    /// Share of its cache with contents that the disks lack.
    pub cache_dirty_fraction: f64,
    /// Writes that wait for room in the cache.
    pub waiting_writers: u64,
    /// Stripes on their way from the cache to the disks.
    pub destages_in_flight: u64,
    /// Reads and writes that it has at the disk groups.
    pub backend_in_flight: u64,
}

/// How a disk is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskCondition {
    /// It works as its make does.
    #[default]
    Healthy,
    /// It works, and takes longer for everything.
    Slow,
    /// It is being filled with what a lost disk held.
    Rebuilding,
    /// It works, and waits for another disk to fail.
    Spare,
    /// It does not work.
    Failed,
}

impl DiskCondition {
    /// All of them.
    pub const ALL: [Self; 5] = [
        Self::Healthy,
        Self::Slow,
        Self::Rebuilding,
        Self::Spare,
        Self::Failed,
    ];

    /// The word for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::Healthy => "healthy",
            Self::Slow => "slow",
            Self::Rebuilding => "rebuilding",
            Self::Spare => "spare",
            Self::Failed => "failed",
        }
    }
}

/// A disk.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Disk {
    /// Its number in the array, from 0.
    pub number: u64,
    /// Its disk group.
    pub group: String,
    /// `healthy`, `slow`, `rebuilding`, `spare` or `failed`.
    pub condition: DiskCondition,
    /// How many times as long as its make it takes for everything.
    pub slowdown_factor: u64,
    /// Requests at the disk and waiting for it.
    pub queue_depth: u64,
    /// Sectors that were read and disagreed with their checksums, where those are kept.
    pub checksum_errors: u64,
}

/// A group that is laid out over disks.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Group {
    /// Its name.
    pub name: String,
    /// `healthy`, `degraded`, `critical` or `failed`.
    pub state: String,
}

/// A rebuild that goes on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Rebuild {
    /// Number of the disk that is filled.
    pub disk: u64,
    /// Its disk group.
    pub group: String,
    /// When it began, in seconds since the array is served; null where that is not known.
    pub began_s: Option<f64>,
    /// How far it is, from 0 to 1.
    pub completed_fraction: f64,
    /// How long it will take at the pace that it has had so far; null before its first step.
    pub left_s: Option<f64>,
}

/// A pool with pages, tiers and a read cache.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Pool {
    /// Its name.
    pub name: String,
    /// Size of a page.
    pub page_bytes: u64,
    /// Its tiers that have room: `performance`, `standard`, `archive`.
    pub tiers: Vec<Tier>,
    /// Pages that are being moved.
    pub moves_under_way: u64,
    /// Bytes that were moved to a higher tier.
    pub promoted_bytes: u64,
    /// Bytes that were moved to a lower tier.
    pub demoted_bytes: u64,
    /// Share of the read cache that can be read; null without one.
    pub read_cache_used_fraction: Option<f64>,
    /// Share of the reads that reached the pool which the read cache served; null without one or reads.
    pub read_cache_hit_fraction: Option<f64>,
}

/// A tier of a pool.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Tier {
    /// Its name.
    pub name: String,
    /// Pages that lie on it.
    pub pages: u64,
    /// Pages that it has room for.
    pub slots: u64,
}

/// Something that has happened.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct HappenedEvent {
    /// When, in seconds since the array is served.
    pub at_s: f64,
    /// What, in the words of `events` in `result.json`.
    pub what: String,
    /// Whether it was planned; everything else followed from such an event, or somebody asked for it.
    pub planned: bool,
    /// The same as a sentence.
    pub text: String,
}

/// Something that is to happen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PlannedEvent {
    /// When, in seconds since the array is served.
    pub at_s: f64,
    /// What, such as `disk 3 of group 'a-disks' fails`.
    pub text: String,
}
