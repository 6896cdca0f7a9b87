//! Settings of a controller's data cache.

use serde::Deserialize;

use super::Checker;
use crate::{Complaint, SECTOR_BYTES};

/// The data cache of each controller.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CacheSettings {
    /// Memory for the data of the volumes a controller owns, MiB; what holds the partner's mirrored
    /// writes is not counted in.
    pub capacity_mib: u64,
    /// Largest size the product is sold with, MiB, if `capacity_mib` is to be held against it.
    pub limit_mib: Option<u64>,
    /// Size of a line, KiB: the unit of replacement. A power of two up to 64. Contents are known by
    /// sector, so a small write does not fetch the rest of its line.
    pub line_kib: u32,
    /// Whether writes acknowledged from the cache are copied to the partner first.
    pub mirror: bool,
    /// Share of the lines that may hold writes not yet on disk, percent. Writers wait beyond it.
    pub dirty_limit_percent: f64,
    /// Whether the cache holds what was read; if not, it holds only writes on their way to disk and
    /// what was read ahead.
    #[serde(default = "yes")]
    pub hold_reads: bool,
    /// What a flush waits for.
    #[serde(default)]
    pub flush: FlushPolicy,
    /// When and how dirty lines go to the disks.
    pub destage: DestageSettings,
    /// Reading ahead of sequential readers.
    #[serde(default)]
    pub read_ahead: ReadAheadSettings,
}

/// What a flush waits for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FlushPolicy {
    /// Nothing while the cache keeps its contents without power; the disks while it does not.
    #[default]
    Protected,
    /// Always the disks.
    Disks,
}

/// When and how dirty lines go to the disks. A rule that the products follow in kind [C]; none
/// publishes its numbers, so all are assumptions.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DestageSettings {
    /// Age at which a line goes to disk whatever else happens, ms.
    pub age_ms: f64,
    /// From this share of the dirty limit on destaging runs under pressure, percent.
    pub high_watermark_percent: f64,
    /// Pressure ends at this share of the dirty limit, percent.
    pub low_watermark_percent: f64,
    /// Without a host request for this long the controller destages whatever is dirty, ms. Zero
    /// means never.
    pub idle_ms: f64,
    /// Stripes on their way to disk at once, of each controller.
    pub in_flight: u32,
}

/// Reading ahead of sequential readers.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ReadAheadSettings {
    /// Whether there is any.
    pub enabled: bool,
    /// Streams watched at once, of each volume. The one idle for longest gives way.
    pub streams: u32,
    /// Reads in a row, each following the one before, that make a stream sequential.
    pub after_reads: u32,
    /// First window, KiB. It doubles each time the reader has used half of it up.
    pub min_window_kib: u32,
    /// Largest window, KiB.
    pub max_window_kib: u32,
}

impl Default for ReadAheadSettings {
    fn default() -> Self {
        Self {
            enabled: true,
            streams: 16,
            after_reads: 3,
            min_window_kib: 256,
            max_window_kib: 4096,
        }
    }
}

fn yes() -> bool {
    true
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

    pub(crate) fn check(&self, path: &str) -> Vec<Complaint> {
        let mut checker = Checker::new(path);
        let line_fits = self.line_kib.is_power_of_two() && self.line_kib <= 64;
        checker.demand(
            line_fits,
            "line_kib",
            "A line has 1, 2, 4, 8, 16, 32 or 64 KiB.",
        );
        checker.demand_within(
            self.capacity_mib as f64,
            1.0,
            1024.0 * 1024.0,
            "capacity_mib",
        );
        if let Some(limit_mib) = self.limit_mib {
            checker.demand(
                self.capacity_mib <= limit_mib,
                "capacity_mib",
                &format!("This product's cache has at most {limit_mib} MiB of each controller."),
            );
        }
        checker.demand_within(self.dirty_limit_percent, 0.0, 95.0, "dirty_limit_percent");
        let destage = &self.destage;
        checker.demand_within(destage.age_ms, 0.0, 1e9, "destage.age_ms");
        checker.demand_within(destage.idle_ms, 0.0, 1e9, "destage.idle_ms");
        checker.demand_within(
            destage.high_watermark_percent,
            1.0,
            100.0,
            "destage.high_watermark_percent",
        );
        let low = destage.low_watermark_percent;
        checker.demand(
            low.is_finite() && low >= 0.0 && low <= destage.high_watermark_percent,
            "destage.low_watermark_percent",
            "The low watermark lies from 0 to the high one.",
        );
        checker.demand(
            (1..=65_536).contains(&destage.in_flight),
            "destage.in_flight",
            "From 1 to 65536 stripes are destaged at once.",
        );
        checker.include(self.read_ahead.check(&format!("{path}.read_ahead")));
        checker.finish()
    }
}

impl ReadAheadSettings {
    fn check(&self, path: &str) -> Vec<Complaint> {
        let mut checker = Checker::new(path);
        checker.demand(
            (1..=1024).contains(&self.streams),
            "streams",
            "From 1 to 1024 streams of each volume are watched.",
        );
        checker.demand(
            (1..=1000).contains(&self.after_reads),
            "after_reads",
            "From 1 to 1000 reads in a row make a stream.",
        );
        checker.demand(
            (1..=65_536).contains(&self.min_window_kib),
            "min_window_kib",
            "The first window has from 1 to 65536 KiB.",
        );
        checker.demand(
            (self.min_window_kib..=65_536).contains(&self.max_window_kib),
            "max_window_kib",
            "The largest window has from min_window_kib to 65536 KiB.",
        );
        checker.finish()
    }
}
