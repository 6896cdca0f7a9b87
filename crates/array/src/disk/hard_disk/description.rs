//! What a hard disk is made of: a data sheet, or measurements where there are some.

use serde::Deserialize;

use super::seek::{SeekRow, SeekTimes};

/// A hard disk. From a data sheet: capacity, heads and tracks give the mean sectors per track, and
/// with the ratio of the outer to the inner rate the zones; the seek times give the two curves.
/// Measured zones, skews and seek rows take the place of what would be derived.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HardDiskDescription {
    /// Capacity, bytes; whole sectors are used.
    pub capacity_bytes: u64,
    /// Turns per minute.
    pub rpm: u32,
    /// Surfaces with a head.
    pub heads: u32,
    /// Tracks of one surface, which are the positions of the arm.
    pub tracks_per_surface: u32,
    /// Media rate of the outermost zone divided by that of the innermost. Not used with `zones`.
    #[serde(default = "default_rate_ratio")]
    pub outer_to_inner_rate_ratio: f64,
    /// Zones derived from the data sheet. Not used with `zones`.
    #[serde(default = "default_zone_count")]
    pub zone_count: u32,
    /// Mean bytes of a track as the sheet says. It follows from capacity, heads and tracks; when
    /// it is given, it is compared with what follows.
    pub average_bytes_per_track: Option<u64>,
    /// Time from taking a command to moving the arm, with sending its status, milliseconds.
    pub command_overhead_ms: f64,
    /// Switch to another head of the same cylinder for a read, milliseconds. A write adds what its
    /// single-track seek has over that of a read.
    pub head_switch_ms: f64,
    /// Commands held at once, the one in service included.
    pub on_board_queue_depth: u32,
    /// How the next command is chosen.
    #[serde(default)]
    pub scheduler: Scheduler,
    /// Nanoseconds of positioning forgiven for each nanosecond a command has waited. 0 is plain
    /// shortest positioning, under which a command can starve. With 16 commands on board 0.01 costs
    /// 1 % of the rate, 0.03 costs 6 %, 0.1 a quarter; more commands cost more.
    #[serde(default = "default_aging")]
    pub aging: f64,
    /// Rate between buffer and host, 10^6 bytes per second; it bounds reads served from the buffer.
    pub interface_mb_per_s: f64,
    /// Seek times of the data sheet.
    pub seek: Option<SheetSeeks>,
    /// Measured seek times, in place of `seek`.
    pub measured_seek: Option<MeasuredSeeks>,
    /// Measured zones, outermost first.
    #[serde(default)]
    pub zones: Vec<MeasuredZone>,
    /// The on-board read cache; without the table there is none.
    pub read_cache: Option<ReadCacheDescription>,
    /// Bytes of the buffer that take writes before they reach the medium. 0, the default, turns
    /// the write cache off, as array controllers do.
    #[serde(default)]
    pub write_cache_bytes: u64,
}

/// How the next command of the on-board queue is chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scheduler {
    /// The one whose first sector can be under the head the soonest, seek and rotation together,
    /// less what it is forgiven for waiting.
    #[default]
    ShortestPositioning,
    /// The one that came first.
    FirstCome,
}

/// Seek times of a data sheet.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SheetSeeks {
    /// Reads.
    pub read: SeekTimes,
    /// Writes, which settle longer.
    pub write: SeekTimes,
}

/// Seek times measured on a drive.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredSeeks {
    /// Seek times of reads at ascending distances, linear in between.
    pub rows: Vec<SeekRow>,
    /// What a write takes longer to settle after any seek or switch of heads, milliseconds.
    pub write_settle_ms: f64,
}

/// A measured zone.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MeasuredZone {
    /// Cylinders of the zone.
    pub cylinders: u32,
    /// Sectors of each of its tracks.
    pub sectors_per_track: u32,
    /// Sectors by which a track starts later than the one before it in the cylinder; by default
    /// enough for a switch of heads in a write.
    pub track_skew_sectors: Option<u32>,
    /// Sectors by which a cylinder starts later than the last track of the one before it; by
    /// default enough for a single-track seek of a write.
    pub cylinder_skew_sectors: Option<u32>,
}

/// The on-board read cache, which is what lets a drive serve a stream at the rate of the medium.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadCacheDescription {
    /// Bytes of the buffer that hold data read.
    pub bytes: u64,
    /// Segments the buffer is divided into; each holds one stretch of sectors.
    pub segments: u32,
    /// Bytes read ahead of the last sector asked for while no other command waits.
    pub read_ahead_bytes: u64,
}

fn default_rate_ratio() -> f64 {
    1.7
}

fn default_zone_count() -> u32 {
    24
}

fn default_aging() -> f64 {
    0.02
}
