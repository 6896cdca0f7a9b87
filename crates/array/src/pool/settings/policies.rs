//! The rules of a pool that can be exchanged, and their numbers.

use serde::Deserialize;

/// Where the first write to a page puts it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AllocationName {
    /// Sequential first writes to the highest spinning tier, random ones to the highest tier.
    #[default]
    Msa,
    /// Everything to the highest tier that has room.
    HighestFirst,
    /// Everything to the highest spinning tier that has room.
    SpinningFirst,
}

/// How pages move between tiers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TieringName {
    /// Pages stay where their first write put them.
    #[default]
    Off,
    /// Score, rank and move a bounded number of pages every few seconds.
    ScanRankMove,
    /// Heat of small I/O over a long window, planned every few minutes.
    Heat,
    /// The pages used last are on the highest tier.
    Lru,
    /// The pages whose last use but one is most recent are on the highest tier.
    #[serde(rename = "lru-2")]
    Lru2,
}

impl TieringName {
    /// Whether the rule gives each page a score, and so knows which are hot.
    pub(super) fn scores_pages(self) -> bool {
        matches!(self, Self::ScanRankMove | Self::Heat)
    }
}

/// The tiering engine's rule and numbers. Each rule uses the numbers that concern it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TieringSettings {
    /// The rule.
    pub policy: TieringName,
    /// Time between two plans, seconds. 5 in the MSA 2040 family (confirmed by two of the
    /// studies), 300 for a heat map as IBM Easy Tier keeps it (confirmed).
    pub interval_s: f64,
    /// Most that is moved per plan, up and down together, MiB. 80 in 5 s for the MSA 2040
    /// family: *unconfirmed*, remembered only.
    pub move_limit_mib: u32,
    /// Most pages being moved at once (*unconfirmed*).
    pub moves_in_flight_max: u32,
    /// For so long from the beginning pages are at once where the rule wants them, seconds: a
    /// prediction of minutes then begins with the tiers that the rule would come to in a day. An
    /// array that carries bytes moves them as fast as its disks can. No array has this.
    pub head_start_s: f64,
    /// Hours of its load that the tier has behind it when the head start ends: as many pages are on
    /// the performance tier then as the rule moves in that time at most, those asked for most first.
    /// The first third of `head_start_s` only counts, so that few pages are not chosen by chance.
    /// 0: no bound.
    pub aged_h: f64,
    /// Time after which an I/O counts half, seconds (*unconfirmed*). 0: it never fades.
    pub half_life_s: f64,
    /// Score from which a page is worth promoting: I/Os, faded by age (*unconfirmed*).
    pub promote_score: f32,
    /// The same for volumes with performance affinity: "lower promotion threshold" (that it is
    /// lower is confirmed, its value is not).
    pub promote_score_preferred: f32,
    /// A page takes the place of another only if its score is at least this many times as high
    /// (*unconfirmed*): equal pages do not change places for ever.
    pub swap_ratio: f32,
    /// ... and higher by at least this much, I/Os (*unconfirmed*).
    pub swap_margin: f32,
    /// Pages kept free on each tier but the lowest, for promotions and random first writes, if
    /// there is something hotter to promote (*unconfirmed*).
    pub free_pages: u32,
    /// I/Os longer than this do not count, KiB. 64 for Easy Tier (confirmed). Those of streams
    /// never count.
    pub counted_io_max_kib: u32,
    /// Score below which a page may leave a tier that is fuller than `free_pages` allows, even if
    /// nothing hotter waits for its place. 0: it stays (heat only; *unconfirmed*).
    pub cold_score: f32,
    /// Whether pages leave a tier whose disk group has become critical (confirmed for the
    /// performance tier, ME4 guide p. 25).
    pub drain_critical: bool,
    /// Share of the pages laid out before the clock starts that lie where random first writes put
    /// them, evenly scattered, percent: what the engine is taken to have moved by then.
    pub settled_percent: f64,
}

impl Default for TieringSettings {
    fn default() -> Self {
        Self {
            policy: TieringName::Off,
            interval_s: 5.0,
            move_limit_mib: 80,
            moves_in_flight_max: 4,
            head_start_s: 0.0,
            aged_h: 0.0,
            half_life_s: 3600.0,
            promote_score: 1.0,
            promote_score_preferred: 0.5,
            swap_ratio: 2.0,
            swap_margin: 4.0,
            free_pages: 20,
            counted_io_max_kib: 256,
            cold_score: 0.0,
            drain_critical: true,
            settled_percent: 0.0,
        }
    }
}

/// Which copies leave a full read cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ReplacementName {
    /// The copy used longest ago.
    #[default]
    Lru,
    /// The copy whose last use but one is longest ago.
    #[serde(rename = "lru-2")]
    Lru2,
    /// Adaptive between recency and frequency.
    Arc,
    /// Three queues, first in, first out.
    #[serde(rename = "s3-fifo")]
    S3Fifo,
}

/// What a write does to a copy in the read cache.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OnWrite {
    /// It cannot be read any more; its line keeps its place, which the next read of it that misses
    /// fills again. Nothing public says so for the MSA family; its studies favour something of
    /// the kind. Under uniform access with a share r of reads, over D of which C fits, LRU hits
    /// r (1 - (1 - C/D)^(1/r)) of the reads.
    #[default]
    Invalidate,
    /// It is dropped and its place is free for another line: min(r, C/D).
    Release,
    /// As `invalidate`, and the write ranks the line as a read would: one that is not in the
    /// cache takes a place, for the next read of it to fill: r C/D.
    Track,
    /// Writes it, too.
    Update,
}

/// When a line is copied into the read cache.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct FillSettings {
    /// Copy at this miss of the line, counted in a table of recent misses. 1: at the first.
    pub at_miss: u8,
    /// Whether only lines of pages are copied that the tiering rule holds worth promoting. That
    /// the engine of the MSA 2040 family feeds its read cache with "active data" as it does its
    /// tiers is confirmed by one of the studies; that the threshold is the same is inferred.
    pub hot_pages_only: bool,
    /// Whether reads of streams are copied, too (*unconfirmed*).
    pub sequential: bool,
    /// Reads longer than this are not copied, KiB (*unconfirmed*).
    pub read_max_kib: u32,
    /// Whether the disk read behind a miss is widened to whole lines. Otherwise only lines that
    /// were read from end to end are copied.
    pub widen_reads: bool,
    /// Most fills in flight; what comes on top is not copied (*unconfirmed*).
    pub in_flight_max: u32,
    /// Most that is copied, MiB per second. 0: no limit (*unconfirmed*).
    pub limit_mib_per_s: u32,
    /// Share of the lines laid out before the clock starts whose copies are there already, evenly
    /// scattered, percent: what reads are taken to have filled by then.
    pub warm_percent: f64,
}

impl Default for FillSettings {
    fn default() -> Self {
        Self {
            at_miss: 1,
            hot_pages_only: false,
            sequential: false,
            read_max_kib: 256,
            widen_reads: true,
            in_flight_max: 64,
            limit_mib_per_s: 0,
            warm_percent: 0.0,
        }
    }
}

/// A read cache on solid state: a copy, never dirty, lost when its controller fails over
/// (confirmed, ME4 guide, "About SSD read cache").
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCacheSettings {
    /// The name of the disk group that holds the copies.
    pub group: String,
    /// Most of it that is used, GiB. At most 4 TB in the MSA 2040 family (confirmed).
    #[serde(default = "limit_gib")]
    pub limit_gib: f64,
    /// What is used of the group, GiB; all of it up to the limit when absent.
    #[serde(default)]
    pub size_gib: Option<f64>,
    /// What is copied and dropped as one, KiB, a power of two (*not found* in any public source
    /// for the MSA family).
    #[serde(default = "line_kib")]
    pub line_kib: u32,
    /// When a line is copied.
    #[serde(default)]
    pub fill: FillSettings,
    /// What a write does to a copy.
    #[serde(default)]
    pub on_write: OnWrite,
    /// Which copies leave a full cache.
    #[serde(default)]
    pub replacement: ReplacementName,
}

fn limit_gib() -> f64 {
    4e12 / (1_u64 << 30) as f64
}

fn line_kib() -> u32 {
    64
}
