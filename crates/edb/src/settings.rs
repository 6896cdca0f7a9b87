//! Every number that shapes the engine's I/O.
//!
//! [`Engine`] and [`Maintenance`] are the sections `[engine]` and `[maintenance]` of a workload's
//! profile. [`Internals`] are numbers that only tests vary, and the constants are those that nothing
//! varies: all as in ESE, whose source Microsoft has published (2022 tree).

mod rules;

pub use rules::BrokenRule;

use config::{ByteSize, TimeSpan, choice, or_word, settings, within};
use runtime::Persistence;

choice! {
    /// When a page write is on stable storage.
    pub enum WritePolicy {
        /// When the write returns (force unit access), as on Windows with write-through files.
        WriteThrough = "write-through",
        /// At the flush before the checkpoint moves.
        FlushAtCheckpoint = "flush-at-checkpoint",
    }
}

impl WritePolicy {
    /// What a page write asks of the storage.
    #[must_use]
    pub fn persistence(self) -> Persistence {
        match self {
            Self::WriteThrough => Persistence::Durable,
            Self::FlushAtCheckpoint => Persistence::Volatile,
        }
    }
}

choice! {
    /// What guards pages against torn writes.
    pub enum TornPages {
        /// The checksum finds a torn page; nothing restores it.
        Detect = "detect",
        /// Page images in the log restore it, at the price of more log.
        LogImages = "log-images",
    }
}

const ESE: &str = "Default of Microsoft's published ESE source.";
const REQUEST_MAX: ByteSize = ByteSize::mib(4);

settings! {
    /// How the database engine caches, logs and writes. Each database has its own.
    #[derive(Copy)]
    pub struct Engine {
        /// Bytes in a database page: 4KiB, 8KiB, 16KiB or 32KiB. The size of every random read.
        pub page_size: ByteSize = ByteSize::kib(32),
            as within(ByteSize::kib(4)..=ByteSize::kib(32)),
            source "JetstressConfig.xml 2013, DatabasePageSize.";
        /// Page cache of one database. It decides how many reads reach the storage.
        pub cache_size_per_database: ByteSize = ByteSize::mib(256),
            as within(ByteSize::mib(1)..=ByteSize::gib(1024)),
            source "Jetstress reports show 256 MB per database as the largest cache, unconfirmed.";
        /// Smallest size of that cache. With one, the cache begins with it, grows while the host has memory
        /// available, and gives memory back when it becomes short: the size then is the largest. "none": the cache
        /// has one size. A prediction models no shortage of memory: its caches have the largest size.
        pub cache_minimum_per_database: Option<ByteSize> = None,
            as or_word("none", within(ByteSize::kib(256)..=ByteSize::gib(1024))),
            source "Jetstress reports show 32 MB as the smallest cache and 256 MB as the largest, unconfirmed; none: \
                results are then of one size of cache.";
        /// Bytes in one log file.
        pub log_file_size: ByteSize = ByteSize::mib(1),
            as within(ByteSize::kib(64)..=ByteSize::mib(32)),
            source "JetstressConfig.xml 2013, LogFileSize 1024 KiB.";
        /// Log records kept in memory; half a buffer full of them is written at once.
        pub log_buffer: ByteSize = ByteSize::mib(1),
            as within(ByteSize::kib(8)..=ByteSize::mib(64)),
            source "About 1 MiB for Exchange 2013, unconfirmed.";
        /// Distance from the checkpoint to the end of the log that the flusher aims at. A deeper one lets one
        /// page write absorb more changes.
        pub checkpoint_depth: ByteSize = ByteSize::mib(100),
            as within(ByteSize::kib(64)..=ByteSize::gib(64)),
            source "Microsoft's Exchange 2010 mailbox guide: 100 MB with two copies or more, 20 \
                MB stand-alone.";
        /// Largest read built from neighbouring pages.
        pub max_coalesced_read: ByteSize = ByteSize::kib(256),
            as within(ByteSize::kib(4)..=REQUEST_MAX),
            source "256 KiB for Exchange 2013, unconfirmed; 512 KiB is today's ESE default.";
        /// Largest write built from neighbouring pages.
        pub max_coalesced_write: ByteSize = ByteSize::kib(256),
            as within(ByteSize::kib(4)..=REQUEST_MAX),
            source "256 KiB for Exchange 2013, unconfirmed; 512 KiB is today's ESE default.";
        /// Largest hole between wanted pages that a coalesced read reads over.
        pub coalesce_read_gap: ByteSize = ByteSize::kib(256),
            as within(ByteSize(0)..=REQUEST_MAX),
            source "Kept at the largest read, as in ESE's defaults.";
        /// Largest run of clean cached pages that is written along so that one write covers two
        /// dirty ones.
        pub coalesce_write_gap: ByteSize = ByteSize::kib(256),
            as within(ByteSize(0)..=REQUEST_MAX),
            source "Kept at the largest write, as in ESE's defaults; ESE uses 0 for SSDs.";
        /// Pages that a database file grows by.
        pub extension_pages: u32 = 256,
            as within(1..=65_536), source ESE;
        /// Touches of a page within this time count as one when the cache ranks pages.
        pub lru_k_correlation: TimeSpan = TimeSpan::millis(128),
            as within(TimeSpan(0)..=TimeSpan::seconds(60)), source ESE;
        /// Free pages, as percent of the cache, below which eviction starts.
        pub start_flush_percent: f64 = 1.0,
            as within(0.01..=20.0), source ESE;
        /// Free pages, as percent of the cache, at which eviction stops.
        pub stop_flush_percent: f64 = 2.0,
            as within(0.01..=25.0), source ESE;
        /// Memory for the old versions of records that open transactions still see.
        pub version_store: ByteSize = ByteSize::mib(256),
            as within(ByteSize::mib(1)..=ByteSize::gib(64)),
            source "JetstressConfig.xml 2013, MaxVerPages 8192, in ESE's 32 KiB buckets.";
        /// Whether log files below the checkpoint are used again; without it the log grows for as
        /// long as the run lasts.
        pub circular_logging: bool = true,
            source "JetstressConfig.xml 2013, CircularLog.";
        /// When a page write is on stable storage: with every write, or at the flush before the
        /// checkpoint moves.
        pub database_writes: WritePolicy = WritePolicy::WriteThrough,
            source "Microsoft's published ESE source opens its files for write-through.";
        /// What guards pages against torn writes: "detect" finds them by their checksum,
        /// "log-images" can restore them and writes more log. A prediction models no page images: its figures are
        /// the same with either.
        pub torn_pages: TornPages = TornPages::Detect,
            source "ESE has no double-write buffer.";
    }
}

settings! {
    /// The endless scan that reads and verifies every page of a database. Its I/O is counted apart.
    #[derive(Copy)]
    pub struct Maintenance {
        /// Whether the scan runs beside the sessions.
        pub enabled: bool = true,
            source "JetstressConfig.xml 2013, RunDatabaseMaintenancePerformance.";
        /// Pause after each batch, which bounds the rate of the scan.
        pub pause: TimeSpan = TimeSpan::millis(100),
            as within(TimeSpan(0)..=TimeSpan::seconds(60)),
            source "JetstressConfig.xml 2013, DBMThrottling.";
        /// Rate of the scan per database and second, in place of the pause. Exchange itself scans
        /// at 1 MB (2013) or 5 MB (2010) a second.
        pub max_rate_per_second: Option<ByteSize> = None,
            as or_word("none", within(ByteSize::kib(64)..=ByteSize::gib(64))),
            source "Jetstress bounds its scan by the pause alone.";
        /// Rate at which full log files are read back and verified while the database is in use, per
        /// database and second: all that are there, over and over. A file is also read before it is
        /// used again; after the run all that are left are read.
        pub log_read_back_rate: Option<ByteSize> = Some(ByteSize::mib(1)),
            as or_word("none", within(ByteSize::kib(64)..=ByteSize::gib(64))),
            source "Ours; ESE reads its log back only in recovery.";
        /// How often the copies of the database header and of the checkpoint are read back and
        /// compared with what was written last. "none" leaves them until after the run.
        pub header_read_back_interval: Option<TimeSpan> = Some(TimeSpan::seconds(10)),
            as or_word("none", within(TimeSpan::millis(100)..=TimeSpan::seconds(3600))),
            source "Ours; ESE reads its headers only when it opens a database.";
    }
}

/// Numbers that no profile sets and that tests vary. The defaults are ESE's, but for the first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Internals {
    /// Bytes of one read of a log replication reader: 256 KiB, assumed. Jetstress reports reads of up
    /// to 230 KB.
    pub log_replication_read_bytes: u64,
    /// Log files kept in reserve for a full disk.
    pub reserve_log_files: u32,
    /// Bytes of one zero-fill write, in new log files and in extensions.
    pub zero_fill_write_bytes: u64,
    /// Shortest time between two writes of the checkpoint file, in milliseconds. ESE adds up to as
    /// much again of slack.
    pub checkpoint_interval_ms: u64,
    /// Wait of the flusher when there is nothing to do, in milliseconds.
    pub flush_idle_ms: u64,
    /// Bytes of lag that raise the urgency of write-back by one.
    pub flush_urgency_step_bytes: u64,
}

impl Default for Internals {
    fn default() -> Self {
        Self {
            log_replication_read_bytes: 256 * KIB,
            reserve_log_files: 2,
            zero_fill_write_bytes: 512 * KIB,
            checkpoint_interval_ms: 1000,
            flush_idle_ms: 1000,
            flush_urgency_step_bytes: 512 * KIB,
        }
    }
}

/// Writes outstanding while the lag of the checkpoint is not yet urgent. Source: ESE.
pub const CHECKPOINT_OUTSTANDING_WRITES: u32 = 1;
/// Lag of the checkpoint, in percent of its depth, from where write-back becomes urgent. Source: ESE.
pub const FLUSH_URGENT_PERCENT: u64 = 125;
/// Wait of the flusher while work remains, in milliseconds. Source: ESE.
pub const FLUSH_RETRY_MS: u64 = 10;
/// Requests outstanding per database; urgent background writes get half. Source: ESE.
pub const OUTSTANDING_IO_MAX: u32 = 1024;
/// Pages a sequential scan reads ahead. Source: ESE.
pub const SCAN_PREREAD_PAGES: u32 = 128;
/// Pages read ahead once an index has been read sequentially for
/// [`AUTOMATIC_PREREAD_AFTER_BYTES`]. Source: ESE.
pub const AUTOMATIC_PREREAD_PAGES: u32 = 16;
/// Bytes read in sequence that start automatic read-ahead. Source: ESE.
pub const AUTOMATIC_PREREAD_AFTER_BYTES: u64 = 64 * KIB;
/// Pages of a long value read ahead. Source: ESE.
pub const LONG_VALUE_PREREAD_PAGES: u32 = 16;
/// Touches of a page further apart than this are not counted together, in seconds. Source: ESE.
pub const LRU_K_TIMEOUT_S: u64 = 100;
/// Evicted pages whose last touch is remembered. Source: ESE.
pub const LRU_K_HISTORY_ENTRIES: usize = 100_000;
/// Wait of the scavenger after a request, in milliseconds. Source: ESE.
pub const SCAVENGE_DELAY_MS: u64 = 10;

const KIB: u64 = 1024;

/// All settings of one database.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct EngineSettings {
    /// Section `[engine]`: page size, cache, log and checkpoint.
    pub engine: Engine,
    /// Section `[maintenance]`: the background scan of checksums.
    pub maintenance: Maintenance,
    /// Readers that each read every full log file once, as the shipping of logs to a further copy of
    /// the database does: Jetstress's DatabaseCopyCount less one (the number of readers is assumed).
    pub log_replication_readers: u32,
    /// Numbers that only tests vary.
    pub internals: Internals,
}

impl Engine {
    /// Bytes of a page.
    #[must_use]
    pub const fn page_bytes(&self) -> usize {
        self.page_size.bytes() as usize
    }

    /// Whole pages in the cache.
    #[must_use]
    pub const fn cache_pages(&self) -> usize {
        (self.cache_size_per_database.bytes() / self.page_size.bytes()) as usize
    }

    /// Whole pages in the cache at its smallest.
    #[must_use]
    pub fn fewest_cache_pages(&self) -> usize {
        let smallest = self
            .cache_minimum_per_database
            .unwrap_or(self.cache_size_per_database);
        (smallest.bytes() / self.page_size.bytes()) as usize
    }
}
