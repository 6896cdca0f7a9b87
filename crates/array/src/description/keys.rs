//! The settings of a description, as an engineer writes them.

use std::collections::BTreeMap;

use config::{TimeSpan, choice, flattened, list, optional, settings, within};

use crate::disk::{DiskDescription, WriteHistory};
use crate::group::{BackendPolicy, PlacementSettings};
use crate::pool::settings::{PoolPolicy, ReadCachePolicy};
use crate::pool::tier::Tier;
use crate::raid::Level;
use crate::raid::vraid::{ProtectionLevel, Vraid};
use crate::settings::{CacheSettings, ControllerSettings, VolumePolicy};

/// More equal pools or groups than any array has.
pub(super) const COUNT_MAX: u32 = 64;

/// Sizes of volumes, 10^9 bytes; others are mistakes.
const SIZES_GB: std::ops::RangeInclusive<f64> = 0.01..=9e8;

/// Measured over modelled; others are mistakes.
const RATIOS: std::ops::RangeInclusive<f64> = 1e-3..=1e3;

/// More parameter sets than any calibration gives.
pub(super) const SETS_MAX: usize = 10_000;

/// Later events are mistakes: ten years.
const LATEST: TimeSpan = TimeSpan::seconds(10 * 366 * 86_400);

settings! {
    /// An array, as an engineer describes it.
    pub struct DescriptionKeys {
        /// The array's name for people.
        pub title: String;
        /// The product family whose parameters these are, for people.
        pub family: String = String::new();
        /// Ports, CPUs and what connects them.
        pub controllers: ControllerSettings;
        /// The data cache of each controller.
        pub cache: CacheSettings;
        /// How requests reach the disks, and what goes on behind them.
        pub backend: BackendPolicy = BackendPolicy::default();
        /// Disks of one's own, written like those that `proofload show DISK` prints.
        pub disks: BTreeMap<String, DiskDescription> = BTreeMap::new();
        /// How every solid-state disk of the array was written before, in place of what their
        /// descriptions say.
        pub ssds: SsdKeys = SsdKeys::default();
        /// Pools that volumes are cut from page by page, with tiers and read caches.
        pub pool: Vec<PoolKeys> = Vec::new();
        /// Disk groups outside of pools, that volumes lie in directly.
        pub group: Vec<GroupKeys> = Vec::new();
        /// A rule by which the databases and logs of a workload get volumes.
        pub volumes: VolumeRule = VolumeRule::default();
        /// Volumes as they are, in place of the rule.
        pub volume: Vec<VolumeKeys> = Vec::new();
        /// What is to break and to be repaired while the array is modelled.
        pub event: Vec<EventKeys> = Vec::new();
        /// What a calibration leaves open: predictions get error bars from it.
        pub calibration: CalibrationKeys = CalibrationKeys::default();
    }
}

settings! {
    /// What a calibration found beside the best parameter set, which stands in the description itself.
    pub struct CalibrationKeys {
        /// Paths of the settings that were fitted.
        pub parameters: Vec<String> = Vec::new();
        /// Parameter sets that explain what was measured as well as the best one: the values of
        /// `parameters`, in their order. A prediction is made with each.
        pub sets: Vec<Vec<f64>> = Vec::new();
        /// Rates of the tests that took no part in the fit, measured over modelled.
        pub rate_ratios: Vec<f64> = Vec::new(), as list(within(RATIOS));
        /// Mean response times of the tests that took no part in the fit, measured over modelled.
        pub latency_ratios: Vec<f64> = Vec::new(), as list(within(RATIOS));
        /// 99th percentiles of the response times of the tests that took no part in the fit, measured over modelled.
        pub p99_ratios: Vec<f64> = Vec::new(), as list(within(RATIOS));
    }
}

settings! {
    /// What every solid-state disk of an array begins with.
    pub struct SsdKeys {
        /// How they were written before.
        pub history: Option<WriteHistory> = None;
        /// Share of their capacity that holds data.
        pub filled_share: Option<f64> = None, as optional(within(0.0..=1.0));
    }
}

settings! {
    /// Something that is to break or to be repaired. Events may stand in the description of the
    /// array or in the profile of the workload.
    pub struct EventKeys {
        /// When, from the beginning of the measured phase; for a trace, of the trace.
        pub at: TimeSpan, as within(TimeSpan(0)..=LATEST);
        /// What breaks or is repaired.
        pub what: EventName;
        /// Number of the disk, from 0 as in `array.disks` of the result; with `group`, within the
        /// group: its disks, then its spares.
        pub disk: Option<u32>;
        /// Name of a disk group, as `--dry-run` lists them: `a-disks` and `a-ssd` for those of pool
        /// `a`.
        pub group: Option<String>;
        /// Number of the controller, from 0; not needed where there is one.
        pub controller: Option<u32>;
        /// How many times as long a disk that slows takes for everything.
        pub factor: Option<u32>, as optional(within(2..=10_000));
        /// How many places of 4 KiB of a disk become unreadable or are changed.
        pub places: Option<u32>, as optional(within(1..=1_000_000));
        /// How long it lasts: the repair follows by itself. Without it a repair is an event of its own.
        pub lasts: Option<TimeSpan>, as optional(within(TimeSpan::millis(1)..=LATEST));
    }
}

choice! {
    /// What can be made to happen.
    pub enum EventName {
        /// The contents of a disk are gone. If the group has a spare, the rebuild onto it begins at
        /// once, at the pace of `[backend.rebuild]`.
        DiskFails = "disk-fails",
        /// A disk works, and takes `factor` times as long for everything: a fail-slow disk. Requests in
        /// service take so much longer for what is left of them.
        DiskSlows = "disk-slows",
        /// A disk that was slow is as fast as its make again.
        DiskRecovers = "disk-recovers",
        /// A new, empty disk stands in the bay. It is rebuilt onto, or, if a spare took over, it is
        /// the next spare.
        DiskReplaced = "disk-replaced",
        /// Sectors of a disk cannot be read any more, in `places` places, until they are written again: flaws
        /// of the medium. What stands there is computed from the other disks when it is read or scrubbed. Where
        /// contents are stored the places are among those that hold data, otherwise anywhere in what is laid
        /// out on the disk.
        SectorsUnreadable = "sectors-unreadable",
        /// Sectors of a disk hold something else than what was written, in `places` places that hold data, and the
        /// disk does not notice. Only a served array stores what can be changed.
        SectorsCorrupted = "sectors-corrupted",
        /// The credits of a cloud volume for bursts are spent; it earns them again at its base rate.
        CreditsSpent = "credits-spent",
        /// The partner of a controller takes its volumes over after `failover.takeover_ms`; hosts
        /// send again what was on its way.
        ControllerFails = "controller-fails",
        /// A controller works again, and by `failover.fail_back` its volumes return to it.
        ControllerReturns = "controller-returns",
        /// The cache of a controller does not survive a failure any more: writes go through to the
        /// disks.
        CacheBatteryFails = "cache-battery-fails",
        /// The cache of a controller acknowledges writes again.
        CacheBatteryReturns = "cache-battery-returns",
        /// Data that the run does not use takes all that is free in a disk group of a pool with pages, such
        /// as the SSDs of a tier: new pages go to another group, and a page moves in only where one moves out.
        TierFills = "tier-fills",
        /// That data is removed.
        TierFreed = "tier-freed",
        /// The whole array is without power, for ten seconds if nothing else is said. Requests under way fail,
        /// and so does all that hosts had open before; those that come later wait as they do without a path. Caches
        /// keep what a battery keeps, and lose the rest of what the disks lack.
        PowerCut = "power-cut",
        /// The power is back.
        PowerReturns = "power-returns",
    }
}

/// What an event is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum EventSubject {
    /// A disk, by its number, which may count within a disk group.
    Disk,
    /// A controller, by its number.
    Controller,
    /// A disk group, by its name.
    Group,
    /// The whole array.
    Array,
}

impl EventName {
    /// What it is about.
    pub(super) fn subject(self) -> EventSubject {
        match self {
            Self::DiskFails
            | Self::DiskSlows
            | Self::DiskRecovers
            | Self::DiskReplaced
            | Self::SectorsUnreadable
            | Self::SectorsCorrupted
            | Self::CreditsSpent => EventSubject::Disk,
            Self::ControllerFails
            | Self::ControllerReturns
            | Self::CacheBatteryFails
            | Self::CacheBatteryReturns => EventSubject::Controller,
            Self::TierFills | Self::TierFreed => EventSubject::Group,
            Self::PowerCut | Self::PowerReturns => EventSubject::Array,
        }
    }

    /// What repairs it, if it is a failure.
    pub(super) fn repair(self) -> Option<Self> {
        Some(match self {
            Self::DiskFails => Self::DiskReplaced,
            Self::DiskSlows => Self::DiskRecovers,
            Self::ControllerFails => Self::ControllerReturns,
            Self::CacheBatteryFails => Self::CacheBatteryReturns,
            Self::TierFills => Self::TierFreed,
            Self::PowerCut => Self::PowerReturns,
            Self::DiskRecovers
            | Self::DiskReplaced
            | Self::SectorsUnreadable
            | Self::SectorsCorrupted
            | Self::CreditsSpent
            | Self::ControllerReturns
            | Self::CacheBatteryReturns
            | Self::TierFreed
            | Self::PowerReturns => return None,
        })
    }

    /// Whether it happens in a number of places of a disk.
    pub(super) fn has_places(self) -> bool {
        matches!(self, Self::SectorsUnreadable | Self::SectorsCorrupted)
    }

    /// How long it lasts where nothing says so; `None` for until its repair.
    pub(super) fn usual_length(self) -> Option<TimeSpan> {
        (self == Self::PowerCut).then(|| TimeSpan::seconds(10))
    }
}

settings! {
    /// The disks of a group.
    pub struct DisksKeys {
        /// Name of the disks: a bundled one or one of `[disks.NAME]`.
        pub disk: String;
        /// Disks of a group, spares not counted.
        pub disk_count: u16;
        /// How they are laid out.
        pub raid: Level;
        /// Chunk (stripe unit) of the levels that stripe: a power of two.
        pub chunk_kib: Option<u32>;
        /// Hot spares of a group.
        pub spares: u16 = 0;
    }
}

settings! {
    /// Equal pools, each cut into pages; volumes take a page when it is first written.
    pub struct PoolKeys {
        /// Its name; without one pools are called `a`, `b`, ...
        pub name: Option<String>;
        /// Equal pools of this kind; they belong to the controllers in turn.
        pub count: u32 = 1, as within(1..=COUNT_MAX);
        /// Disks of each disk group.
        pub disks: DisksKeys, as flattened();
        /// Equal disk groups of this kind in each pool.
        pub group_count: u32 = 1, as within(1..=COUNT_MAX);
        /// The tier of the disks; by default what the disk is: SSD, 10,000 turns a minute or more,
        /// fewer.
        pub tier: Option<Tier>;
        /// Further disk groups of each pool, such as those of another tier.
        pub group: Vec<PoolGroupKeys> = Vec::new();
        /// How pages are placed and moved.
        pub policy: PoolPolicy = PoolPolicy::default(), as flattened();
        /// What the SSDs of a pool are for.
        pub ssd_use: SsdUse = SsdUse::None;
        /// Name of the SSDs.
        pub ssd_disk: Option<String>;
        /// SSDs of each pool; without `ssd_use` there are none, whatever their number. 0 given with `--set` turns
        /// `ssd_use` off, so that a series can begin without SSDs.
        pub ssd_count: u16 = 0;
        /// Their level; by default for a read cache `linear` (one) or `raid0`, for a tier `raid1`
        /// (two), `raid10` (an even number), `raid5`; one SSD is `linear` and has no protection.
        pub ssd_raid: Option<Level>;
        /// Their chunk; by default that of the disks.
        pub ssd_chunk_kib: Option<u32>;
        /// Hot spares for the SSDs of each pool, not counted in `ssd_count`.
        pub ssd_spares: u16 = 0;
        /// How the read cache is filled.
        pub read_cache: ReadCachePolicy = ReadCachePolicy::default();
    }
}

settings! {
    /// A further disk group of a pool.
    pub struct PoolGroupKeys {
        /// Disks of the group.
        pub disks: DisksKeys, as flattened();
        /// Its tier, as in the pool.
        pub tier: Option<Tier>;
    }
}

choice! {
    /// What the SSDs of a pool are for.
    pub enum SsdUse default None {
        /// The pool has no SSDs besides its disks.
        None = "none",
        /// Copies of what is read.
        ReadCache = "read-cache",
        /// Pages of their own.
        Tier = "tier",
    }
}

settings! {
    /// A disk group outside of pools: the drive group of a RAID card, or the disk group of an EVA.
    pub struct GroupKeys {
        /// Name of the disk group, by which volumes refer to it.
        pub name: String;
        /// Disks of the group.
        pub disks: DisksKeys, as flattened();
        /// Controller of its volumes, from 0; without it they are dealt over all.
        pub owner: Option<u32>;
        /// Where on the disks of a `vraid` group segments lie.
        pub placement: PlacementSettings = PlacementSettings::default();
        /// Room kept free in a `vraid` group for the contents of disks that fail, spread over all
        /// disks. What a disk held is rebuilt into free segments of its storage set, reserved or
        /// not.
        pub protection_level: ProtectionLevel = ProtectionLevel::None;
    }
}

settings! {
    /// The rule by which a workload's databases get volumes. Databases are dealt over
    /// `databases_on` in turn: with six databases and `["a", "b"]` pool a gets the first, third and
    /// fifth.
    pub struct VolumeRule {
        /// Pools and groups for databases, in turn; all of them when empty.
        pub databases_on: Vec<String> = Vec::new();
        /// The same for logs; as for the databases when empty.
        pub logs_on: Vec<String> = Vec::new();
        /// How many volumes the databases get.
        pub database_volumes: DatabaseVolumes = DatabaseVolumes::Each;
        /// How many volumes the logs get.
        pub log_volumes: LogVolumes = LogVolumes::Each;
        /// Size of a volume for databases; what the workload needs when absent.
        pub database_size_gb: Option<f64> = None, as optional(within(SIZES_GB));
        /// The same for logs.
        pub log_size_gb: Option<f64> = None, as optional(within(SIZES_GB));
        /// Level of a volume for databases in a `vraid` group.
        pub database_vraid: Vraid = Vraid::Vraid1;
        /// The same for logs.
        pub log_vraid: Vraid = Vraid::Vraid1;
        /// How the volumes are kept and served.
        pub policy: VolumePolicy = VolumePolicy::default(), as flattened();
    }
}

choice! {
    /// How many volumes the databases get.
    pub enum DatabaseVolumes default Each {
        /// One volume for each database.
        Each = "each",
        /// One volume that holds all databases.
        One = "one",
    }
}

choice! {
    /// How many volumes the logs get.
    pub enum LogVolumes default Each {
        /// One volume for each log.
        Each = "each",
        /// One volume that holds all logs.
        One = "one",
        /// None: a log lies on the volume of its database.
        WithDatabases = "with-databases",
    }
}

settings! {
    /// A volume that is there whatever the workload is. Where there is one, the rule of `[volumes]`
    /// does not hold.
    pub struct VolumeKeys {
        /// Name of the volume, as results show it.
        pub name: String;
        /// Size of the volume.
        pub size_gb: f64, as within(SIZES_GB);
        /// Its pool or group; not needed where there is only one.
        pub on: Option<String>;
        /// What is put on it; databases and logs are dealt over the volumes that hold them.
        pub holds: VolumeUse = VolumeUse::Databases;
        /// Its controller, from 0.
        pub owner: Option<u32>;
        /// Its level in a `vraid` group.
        pub vraid: Vraid = Vraid::Vraid1;
        /// How it is kept and served.
        pub policy: VolumePolicy = VolumePolicy::default(), as flattened();
    }
}

choice! {
    /// What is put on a volume.
    pub enum VolumeUse default Databases {
        /// Database files only.
        Databases = "databases",
        /// Log streams only.
        Logs = "logs",
        /// Database files and log streams.
        DatabasesAndLogs = "databases-and-logs",
        /// No database and no log; the volume only takes room.
        Nothing = "nothing",
    }
}
