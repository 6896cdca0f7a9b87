//! Settings of a controller's data cache.

use config::{choice, settings, within};

use crate::broken_rule::Checker;
use crate::{BrokenRule, SECTOR_BYTES};

settings! {
    /// The data cache of each controller.
    pub struct CacheSettings {
        /// Memory for the data of the volumes a controller owns; what holds the partner's mirrored
        /// writes is not counted in.
        pub capacity_mib: u64, as within(1..=1 << 20);
        /// Largest size the product is sold with; `capacity_mib` is compared with it.
        pub limit_mib: Option<u64>;
        /// Size of a line, the unit of replacement: 1, 2, 4, 8, 16, 32 or 64. Contents are known by
        /// sector, so a small write does not fetch the rest of its line.
        pub line_kib: u32, as within(1..=64);
        /// Whether writes acknowledged from the cache are copied to the partner first.
        pub mirror: bool;
        /// Share of the lines that may hold writes not yet on disk. Writers wait beyond it.
        pub dirty_limit_percent: f64, as within(0.0..=95.0);
        /// Whether the cache holds what was read; if not, it holds only writes on their way to disk
        /// and what was read ahead.
        pub cache_reads: bool = true, was "hold_reads";
        /// Whether writes are acknowledged from the cache also while its battery does not work. They are lost with
        /// the power then, unless a flush came after them.
        pub write_back_without_battery: bool = false;
        /// What a flush waits for.
        pub flush: FlushPolicy = FlushPolicy::Protected;
        /// When and how writes go to the disks.
        pub destage: DestageSettings;
        /// Reading ahead of sequential readers.
        pub read_ahead: ReadAheadSettings = ReadAheadSettings::default();
    }
}

choice! {
    /// What a flush waits for.
    pub enum FlushPolicy default Protected {
        /// Nothing while the cache keeps its contents without power; the disks while it does not.
        Protected = "protected",
        /// The disks, whether the cache is protected or not.
        Disks = "disks",
        /// Nothing, whether the cache is protected or not: a cache that loses what it has acknowledged as durable.
        Ignored = "ignored",
    }
}

settings! {
    /// When and how dirty lines go to the disks. A rule that the products follow in kind
    /// (confirmed); none publishes its numbers, so all are assumptions.
    pub struct DestageSettings {
        /// Age at which a line goes to disk whatever else happens.
        pub age_ms: f64, as within(0.0..=1e9);
        /// From this share of the dirty limit on destaging runs under pressure.
        pub high_watermark_percent: f64, as within(1.0..=100.0);
        /// Pressure ends at this share of the dirty limit.
        pub low_watermark_percent: f64, as within(0.0..=100.0);
        /// Without a host request for this long the controller destages whatever is dirty. 0: never.
        pub idle_ms: f64, as within(0.0..=1e9);
        /// Stripes on their way to disk at once, of each controller.
        pub in_flight: u32, as within(1..=65_536);
    }
}

settings! {
    /// Reading ahead of sequential readers.
    pub struct ReadAheadSettings {
        /// Whether there is any.
        pub enabled: bool = true;
        /// Streams watched at once, of each volume. The one idle for longest gives way.
        pub streams: u32 = 16, as within(1..=1_024);
        /// Reads in a row, each following the one before, that make a stream sequential.
        pub after_reads: u32 = 3, as within(1..=1_000);
        /// First window. It doubles each time the reader has used half of it up.
        pub min_window_kib: u32 = 256, as within(1..=65_536);
        /// Largest window, at which doubling ends.
        pub max_window_kib: u32 = 4_096, as within(1..=65_536);
    }
}

impl CacheSettings {
    /// Sectors of a line.
    pub(crate) fn line_sectors(&self) -> u32 {
        (u64::from(self.line_kib) * 1024 / SECTOR_BYTES) as u32
    }

    /// Lines of a controller.
    pub(crate) fn lines(&self) -> u64 {
        self.capacity_mib * 1024 / u64::from(self.line_kib)
    }

    /// Lines that may be dirty.
    pub(crate) fn dirty_limit_lines(&self) -> u64 {
        (self.lines() as f64 * self.dirty_limit_percent / 100.0) as u64
    }

    pub(crate) fn check(&self, path: &str) -> Vec<BrokenRule> {
        let mut checker = Checker::new(self, path);
        checker.require(
            self.line_kib.is_power_of_two(),
            "line_kib",
            "A line has 1, 2, 4, 8, 16, 32 or 64 KiB.",
        );
        if let Some(limit_mib) = self.limit_mib {
            checker.require(
                self.capacity_mib <= limit_mib,
                "capacity_mib",
                &format!("This product's cache has at most {limit_mib} MiB of each controller."),
            );
        }
        checker.require(
            self.destage.low_watermark_percent <= self.destage.high_watermark_percent,
            "destage.low_watermark_percent",
            "The low watermark is not above the high one.",
        );
        checker.require(
            self.read_ahead.min_window_kib <= self.read_ahead.max_window_kib,
            "read_ahead.max_window_kib",
            "The largest window is not smaller than min_window_kib.",
        );
        checker.finish()
    }
}
