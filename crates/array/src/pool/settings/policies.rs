//! The rules of a pool that can be exchanged, and their numbers.

use config::{choice, flattened, optional, settings, within};

choice! {
    /// Where the first write to a page puts it.
    #[derive(Hash)]
    pub enum AllocationName default Msa {
        /// Sequential first writes to the highest spinning tier, random ones to the highest tier.
        Msa = "msa",
        /// Everything to the highest tier that has room.
        HighestFirst = "highest-first",
        /// Everything to the highest spinning tier that has room.
        SpinningFirst = "spinning-first",
    }
}

choice! {
    /// How pages move between tiers.
    #[derive(Hash)]
    pub enum TieringName default Off {
        /// Pages stay where their first write put them.
        Off = "off",
        /// Score, rank and move a bounded number of pages every few seconds.
        ScanRankMove = "scan-rank-move",
        /// The same engine with `cold_score`; meant with `interval_s = 300`, a `half_life_s` of
        /// many hours and `counted_io_max_kib = 64`, which it does not set by itself.
        Heat = "heat",
        /// The pages used last are on the highest tier.
        Lru = "lru",
        /// The pages whose last use but one is most recent are on the highest tier.
        Lru2 = "lru-2",
    }
}

impl TieringName {
    /// Whether the rule gives each page a score, and so knows which are hot.
    pub(super) fn scores_pages(self) -> bool {
        matches!(self, Self::ScanRankMove | Self::Heat)
    }
}

settings! {
    /// How pages move between tiers. Each rule uses the numbers that concern it.
    pub struct TieringSettings {
        /// The rule that decides which pages move.
        pub policy: TieringName = TieringName::Off;
        /// Time between two plans.
        pub interval_s: f64 = 5.0, as within(1e-3..=1e6),
            source "Confirmed for the MSA 2040 family by two of the studies; 300 for a heat map as \
                    IBM Easy Tier keeps it (confirmed).";
        /// Most that is moved per plan, up and down together.
        pub move_limit_mib: u32 = 80,
            source "80 in 5 s is the limit of the MSA family as it is remembered: unconfirmed. The bundled \
                    arrays of the family set 12, which the published rates of the MSA 2040 ask for.";
        /// Most pages being moved at once.
        pub moves_in_flight_max: u32 = 4, as within(1..=4_096), source "Unconfirmed.";
        /// For this time from the start pages move at once to where the policy wants them, so that
        /// a prediction of minutes starts with the tiers that the policy reaches in a day. An array
        /// that carries bytes moves them as fast as its disks can. No real array has this.
        pub instant_moves_s: f64 = 0.0, as within(0.0..=1e9), was "head_start_s";
        /// Hours of this load before the end of `instant_moves_s`: the performance tier then holds
        /// as many pages as the policy moves in that time at most, the most requested ones first.
        /// During the first third of `instant_moves_s` requests are only counted, so that few pages
        /// are not chosen by chance. 0: no limit. With `--settled`, which sets `instant_moves_s`, a
        /// prediction starts as after so many hours, not days.
        pub prior_load_h: f64 = 0.0, as within(0.0..=1e6), was "aged_h";
        /// Time after which an I/O counts half. 0: it never fades.
        pub half_life_s: f64 = 3600.0, as within(0.0..=1e12), source "Unconfirmed.";
        /// Score from which a page is worth promoting: I/Os, faded by age.
        pub promote_score: f32 = 1.0, as within(0.0..=1e9), source "Unconfirmed.";
        /// The same for volumes with performance affinity.
        pub promote_score_preferred: f32 = 0.5, as within(0.0..=1e9),
            source "That it is lower is confirmed, its value is not.";
        /// A page takes the place of another only if its score is at least this many times as high:
        /// equal pages do not change places for ever.
        pub swap_ratio: f32 = 2.0, as within(1.0..=1e9), source "Unconfirmed.";
        /// ... and higher by at least this much, I/Os.
        pub swap_margin: f32 = 4.0, as within(0.0..=1e9), source "Unconfirmed.";
        /// Pages kept free on each tier but the lowest, for promotions and random first writes, if
        /// there is something hotter to promote.
        pub free_pages: u32 = 20, source "Unconfirmed.";
        /// I/Os longer than this do not count. Those of streams never count.
        pub counted_io_max_kib: u32 = 256, source "64 for Easy Tier is confirmed.";
        /// Score below which a page may leave a tier that is fuller than `free_pages` allows, even
        /// if nothing hotter waits for its place. 0: it stays (heat only).
        pub cold_score: f32 = 0.0, as within(0.0..=1e9), source "Unconfirmed.";
        /// Whether pages leave a tier whose disk group has become critical.
        pub drain_critical: bool = true,
            source "Confirmed for the performance tier, ME4 guide p. 25.";
        /// Share of the pages laid out before the clock starts that lie where random first writes
        /// put them, evenly scattered: what the engine is taken to have moved by then. It does not
        /// depend on the load, as `instant_moves_s` does; `predict --settled` sets both, so that a
        /// tier starts full and holds the most requested pages.
        pub settled_percent: f64 = 0.0, as within(0.0..=100.0);
    }
}

choice! {
    /// Which copies leave a full read cache.
    #[derive(Hash)]
    pub enum ReplacementName default Lru {
        /// The copy used longest ago.
        Lru = "lru",
        /// The copy whose last use but one is longest ago.
        Lru2 = "lru-2",
        /// Adaptive between recency and frequency.
        Arc = "arc",
        /// Three queues, first in, first out.
        S3Fifo = "s3-fifo",
    }
}

choice! {
    /// What a write does to a copy in the read cache.
    #[derive(Hash)]
    pub enum OnWrite default Invalidate {
        /// It cannot be read any more; its line keeps its place, which the next read of it that
        /// misses fills again. Nothing public says so for the MSA family; its studies favour
        /// something of the kind. Under uniform access with a share r of reads, over D of which C
        /// fits, LRU hits r (1 - (1 - C/D)^(1/r)) of the reads.
        Invalidate = "invalidate",
        /// It is dropped and its place is free for another line: min(r, C/D).
        Release = "release",
        /// As `invalidate`, and the write ranks the line as a read would: one that is not in the
        /// cache takes a place, for the next read of it to fill: r C/D.
        Track = "track",
        /// The write goes to the copy, too, which stays valid.
        Update = "update",
    }
}

settings! {
    /// When a line is copied into the read cache.
    pub struct FillSettings {
        /// Copy at this miss of the line, counted in a table of recent misses. 1: at the first.
        pub admit_after_misses: u8 = 1, as within(1..=u8::MAX), was "at_miss";
        /// Whether only lines of pages are copied whose score reaches `tiering.promote_score`; needs
        /// `scan-rank-move` or `heat`. That the engine of the MSA 2040 family feeds its read cache
        /// with "active data" as it does its tiers is confirmed by one of the studies; that the
        /// threshold is the same is inferred.
        pub hot_pages_only: bool = false;
        /// Whether reads of streams are copied, too.
        pub sequential: bool = false, source "Unconfirmed.";
        /// Reads longer than this are not copied.
        pub read_max_kib: u32 = 256, source "Unconfirmed.";
        /// Whether the disk read behind a miss is widened to whole lines. Otherwise only lines that
        /// were read from end to end are copied.
        pub widen_reads: bool = true;
        /// Most fills in flight; what comes on top is not copied.
        pub in_flight_max: u32 = 64, as within(1..=u32::MAX), source "Unconfirmed.";
        /// Most that is copied. 0: no limit.
        pub limit_mib_per_s: u32 = 0, source "Unconfirmed.";
        /// Share of the lines laid out before the clock starts whose copies are there already,
        /// evenly scattered: what reads are taken to have filled by then.
        pub warm_percent: f64 = 0.0, as within(0.0..=100.0);
    }
}

settings! {
    /// How a read cache on solid state is filled: a copy, never dirty, lost when its controller
    /// fails over (confirmed, ME4 guide, "About SSD read cache").
    pub struct ReadCachePolicy {
        /// Most of the disk group that is used.
        pub limit_gib: f64 = 4e12 / (1_u64 << 30) as f64, as within(0.001..=1e9),
            source "4 TB in the MSA 2040 family (confirmed).";
        /// What is used of the group; all of it up to the limit when absent.
        pub size_gib: Option<f64> = None, as optional(within(0.0..=1e9));
        /// What is copied and dropped as one: a power of two.
        pub line_kib: u32 = 64, as within(1..=1 << 20),
            source "Not found in any public source for the MSA family.";
        /// When a line is copied.
        pub fill: FillSettings = FillSettings::default();
        /// What a write does to a copy.
        pub on_write: OnWrite = OnWrite::Invalidate;
        /// Which copies leave a full cache.
        pub replacement: ReplacementName = ReplacementName::Lru;
    }
}

settings! {
    /// A read cache of a pool.
    pub struct ReadCacheSettings {
        /// The name of the disk group that holds the copies.
        pub group: String;
        /// How it is filled.
        pub policy: ReadCachePolicy = ReadCachePolicy::default(), as flattened();
    }
}
