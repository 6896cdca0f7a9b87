//! `[engine]` and `[maintenance]`: how the database engine issues its I/O.

use super::quantity::{ByteSize, TimeSpan};
use super::setting::{Choice, Named, OrWord, Setting, SettingVisitor, Switch, Within};

/// The engine's settings. Each database has an engine, a cache and a log of its own.
#[derive(Clone, Debug, PartialEq)]
pub struct Engine {
    /// Bytes in a database page.
    pub page_size: ByteSize,
    /// Page cache of one database.
    pub cache_size_per_database: ByteSize,
    /// Bytes in one log file.
    pub log_file_size: ByteSize,
    /// Log records kept in memory before they must be written.
    pub log_buffer: ByteSize,
    /// Log between the checkpoint and the tip that the flusher aims at.
    pub checkpoint_depth: ByteSize,
    /// Largest read built from neighbouring pages.
    pub max_coalesced_read: ByteSize,
    /// Largest write built from neighbouring pages.
    pub max_coalesced_write: ByteSize,
    /// Largest hole that a coalesced read reads over.
    pub coalesce_read_gap: ByteSize,
    /// Largest run of clean cached pages that a coalesced write writes along.
    pub coalesce_write_gap: ByteSize,
    /// Pages that a database file grows by.
    pub extension_pages: u32,
    /// Touches of a page within this time count as one.
    pub lru_k_correlation: TimeSpan,
    /// Free pages, as percent of the cache, at which eviction starts.
    pub start_flush_percent: f64,
    /// Free pages, as percent of the cache, at which eviction stops.
    pub stop_flush_percent: f64,
    /// Memory for the old versions of records.
    pub version_store: ByteSize,
    /// Whether log files below the checkpoint are used again.
    pub circular_logging: bool,
    /// When page writes become durable.
    pub database_writes: DatabaseWrites,
    /// What guards pages against torn writes.
    pub torn_pages: TornPageGuard,
}

/// When a page write is on stable storage.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DatabaseWrites {
    /// When the write returns, as on Windows with write-through files.
    WriteThrough,
    /// At the flush before the checkpoint moves.
    FlushAtCheckpoint,
}

/// What guards pages against torn writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TornPageGuard {
    /// The checksum finds a torn page; nothing restores it.
    Detect,
    /// Page images in the log restore it, at the price of more log.
    LogImages,
}

/// `[maintenance]`: the endless scan that reads and verifies every page of a database.
#[derive(Clone, Debug, PartialEq)]
pub struct Maintenance {
    /// Whether the scan runs beside the sessions.
    pub enabled: bool,
    /// Bytes read at once.
    pub batch_size: ByteSize,
    /// Pause after each batch.
    pub pause: TimeSpan,
    /// Upper bound of the scan's rate per database, in bytes per second.
    pub max_rate_per_second: Option<ByteSize>,
}

impl Named for DatabaseWrites {
    const NAMES: &'static [(&'static str, Self)] = &[
        ("write-through", Self::WriteThrough),
        ("flush-at-checkpoint", Self::FlushAtCheckpoint),
    ];
}

impl Named for TornPageGuard {
    const NAMES: &'static [(&'static str, Self)] =
        &[("detect", Self::Detect), ("log-images", Self::LogImages)];
}

impl Default for Engine {
    fn default() -> Self {
        Self {
            page_size: ByteSize::kib(32),
            cache_size_per_database: ByteSize::mib(256),
            log_file_size: ByteSize::mib(1),
            log_buffer: ByteSize::mib(1),
            checkpoint_depth: ByteSize::mib(100),
            max_coalesced_read: ByteSize::kib(256),
            max_coalesced_write: ByteSize::kib(256),
            coalesce_read_gap: ByteSize::kib(256),
            coalesce_write_gap: ByteSize::kib(256),
            extension_pages: 256,
            lru_k_correlation: TimeSpan::millis(128),
            start_flush_percent: 1.0,
            stop_flush_percent: 2.0,
            version_store: ByteSize::mib(256),
            circular_logging: true,
            database_writes: DatabaseWrites::WriteThrough,
            torn_pages: TornPageGuard::Detect,
        }
    }
}

impl Default for Maintenance {
    fn default() -> Self {
        Self {
            enabled: true,
            batch_size: ByteSize::kib(256),
            pause: TimeSpan::millis(100),
            max_rate_per_second: None,
        }
    }
}

const ESE: &str = "Default of Microsoft's published ESE source.";

impl Engine {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "engine",
            "How the database engine caches, logs and writes. Each database has its own.",
        );
        v.setting(Setting {
            key: "page_size",
            value: &mut Within(&mut self.page_size, ByteSize::kib(4)..=ByteSize::kib(32)),
            meaning: "Bytes in a database page: 4KiB, 8KiB, 16KiB or 32KiB. The size of every \
                      random read.",
            source: "JetstressConfig.xml 2013, DatabasePageSize.",
        });
        v.setting(Setting {
            key: "cache_size_per_database",
            value: &mut Within(
                &mut self.cache_size_per_database,
                ByteSize::mib(1)..=ByteSize::gib(1024),
            ),
            meaning: "Page cache of one database. It decides how many reads reach the storage.",
            source: "Jetstress reports show 256 MB per database as the largest cache, unconfirmed.",
        });
        v.setting(Setting {
            key: "log_file_size",
            value: &mut Within(
                &mut self.log_file_size,
                ByteSize::kib(64)..=ByteSize::mib(32),
            ),
            meaning: "Bytes in one log file.",
            source: "JetstressConfig.xml 2013, LogFileSize 1024 KiB.",
        });
        v.setting(Setting {
            key: "log_buffer",
            value: &mut Within(&mut self.log_buffer, ByteSize::kib(8)..=ByteSize::mib(64)),
            meaning: "Log records kept in memory; half a buffer full of them is written at once.",
            source: "About 1 MiB for Exchange 2013, unconfirmed.",
        });
        v.setting(Setting {
            key: "checkpoint_depth",
            value: &mut Within(
                &mut self.checkpoint_depth,
                ByteSize::kib(64)..=ByteSize::gib(64),
            ),
            meaning: "Log between the checkpoint and the tip that the flusher aims at. A deeper \
                      one lets one page write absorb more changes.",
            source: "Microsoft's Exchange 2010 mailbox guide: 100 MB with two copies or more, \
                     20 MB stand-alone.",
        });
        self.visit_coalescing(v);
        self.visit_cache(v);
        self.visit_durability(v);
    }

    fn visit_coalescing(&mut self, v: &mut dyn SettingVisitor) {
        let (least, most) = (ByteSize(0), ByteSize::mib(4));
        v.setting(Setting {
            key: "max_coalesced_read",
            value: &mut Within(&mut self.max_coalesced_read, ByteSize::kib(4)..=most),
            meaning: "Largest read built from neighbouring pages.",
            source: "256 KiB for Exchange 2013, unconfirmed; 512 KiB is today's ESE default.",
        });
        v.setting(Setting {
            key: "max_coalesced_write",
            value: &mut Within(&mut self.max_coalesced_write, ByteSize::kib(4)..=most),
            meaning: "Largest write built from neighbouring pages.",
            source: "256 KiB for Exchange 2013, unconfirmed; 512 KiB is today's ESE default.",
        });
        v.setting(Setting {
            key: "coalesce_read_gap",
            value: &mut Within(&mut self.coalesce_read_gap, least..=most),
            meaning: "Largest hole between wanted pages that a coalesced read reads over.",
            source: "Kept at the largest read, as in ESE's defaults.",
        });
        v.setting(Setting {
            key: "coalesce_write_gap",
            value: &mut Within(&mut self.coalesce_write_gap, least..=most),
            meaning: "Largest run of clean cached pages that is written along so that one write \
                      covers two dirty ones.",
            source: "Kept at the largest write, as in ESE's defaults; ESE uses 0 for SSDs.",
        });
        v.setting(Setting {
            key: "extension_pages",
            value: &mut Within(&mut self.extension_pages, 1..=65_536),
            meaning: "Pages that a database file grows by.",
            source: ESE,
        });
    }

    fn visit_cache(&mut self, v: &mut dyn SettingVisitor) {
        v.setting(Setting {
            key: "lru_k_correlation",
            value: &mut Within(
                &mut self.lru_k_correlation,
                TimeSpan(0)..=TimeSpan::seconds(60),
            ),
            meaning: "Touches of a page within this time count as one when the cache ranks pages.",
            source: ESE,
        });
        v.setting(Setting {
            key: "start_flush_percent",
            value: &mut Within(&mut self.start_flush_percent, 0.01..=20.0),
            meaning: "Free pages, as percent of the cache, below which eviction starts.",
            source: ESE,
        });
        v.setting(Setting {
            key: "stop_flush_percent",
            value: &mut Within(&mut self.stop_flush_percent, 0.01..=25.0),
            meaning: "Free pages, as percent of the cache, at which eviction stops.",
            source: ESE,
        });
        v.setting(Setting {
            key: "version_store",
            value: &mut Within(
                &mut self.version_store,
                ByteSize::mib(1)..=ByteSize::gib(64),
            ),
            meaning: "Memory for the old versions of records that open transactions still see.",
            source: "JetstressConfig.xml 2013, MaxVerPages 8192, in ESE's 32 KiB buckets.",
        });
    }

    fn visit_durability(&mut self, v: &mut dyn SettingVisitor) {
        v.setting(Setting {
            key: "circular_logging",
            value: &mut Switch(&mut self.circular_logging),
            meaning: "Whether log files below the checkpoint are used again; without it the log \
                      grows for as long as the run lasts.",
            source: "JetstressConfig.xml 2013, CircularLog.",
        });
        v.setting(Setting {
            key: "database_writes",
            value: &mut Choice(&mut self.database_writes),
            meaning: "When a page write is on stable storage: with every write, or at the flush \
                      before the checkpoint moves.",
            source: "Microsoft's published ESE source opens its files for write-through.",
        });
        v.setting(Setting {
            key: "torn_pages",
            value: &mut Choice(&mut self.torn_pages),
            meaning: "What guards pages against torn writes: \"detect\" finds them by their \
                      checksum, \"log-images\" can restore them and writes more log.",
            source: "ESE has no double-write buffer.",
        });
    }
}

impl Maintenance {
    pub(super) fn visit(&mut self, v: &mut dyn SettingVisitor) {
        v.section(
            "maintenance",
            "The endless scan that reads and verifies every page of a database. Its I/O is \
             counted apart.",
        );
        v.setting(Setting {
            key: "enabled",
            value: &mut Switch(&mut self.enabled),
            meaning: "Whether the scan runs beside the sessions.",
            source: "JetstressConfig.xml 2013, RunDatabaseMaintenancePerformance.",
        });
        v.setting(Setting {
            key: "batch_size",
            value: &mut Within(&mut self.batch_size, ByteSize::kib(64)..=ByteSize::mib(4)),
            meaning: "Bytes read at once.",
            source: "ESE reads one coalesced read per batch; 256 KiB fits Jetstress reports.",
        });
        v.setting(Setting {
            key: "pause",
            value: &mut Within(&mut self.pause, TimeSpan(0)..=TimeSpan::seconds(60)),
            meaning: "Pause after each batch, which bounds the rate of the scan.",
            source: "JetstressConfig.xml 2013, DBMThrottling.",
        });
        v.setting(Setting {
            key: "max_rate_per_second",
            value: &mut OrWord {
                word: "none",
                value: &mut self.max_rate_per_second,
                range: ByteSize::kib(64)..=ByteSize::gib(64),
            },
            meaning: "Upper bound of the scan per database and second, beside what the pause \
                      allows. Exchange itself scans at 1 MB (2013) or 5 MB (2010) a second.",
            source: "Jetstress bounds its scan by the pause alone.",
        });
    }
}
