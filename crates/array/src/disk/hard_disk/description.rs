//! What a hard disk is made of: a data sheet, or measurements where there are some.

use config::{choice, optional, settings, within};

use super::seek::{SeekRow, SeekTimes};
use crate::disk::interface::capacity;

settings! {
    /// A hard disk. From a data sheet: capacity, heads and tracks give the mean sectors per track,
    /// and with the ratio of the outer to the inner rate the zones; the seek times give the two
    /// curves. Measured zones, skews and seek rows take the place of what would be derived.
    pub struct HardDiskDescription {
        /// Capacity; whole sectors are used.
        pub capacity_bytes: u64, as capacity();
        /// Turns of the platters per minute.
        pub rpm: u32, as within(1_000..=60_000);
        /// Surfaces with a head.
        pub heads: u32, as within(1..=64);
        /// Tracks of one surface, which are the positions of the arm.
        pub tracks_per_surface: u32, as within(3..=2_000_000);
        /// Media rate of the outermost zone divided by that of the innermost. Not used with
        /// `zones`.
        pub outer_to_inner_rate_ratio: f64 = 1.7, as within(1.0..=4.0);
        /// Zones derived from the data sheet. Not used with `zones`.
        pub zone_count: u32 = 24, as within(1..=256);
        /// Mean bytes of a track as the sheet says. It follows from capacity, heads and tracks;
        /// when it is given, it is compared with what follows.
        pub average_bytes_per_track: Option<u64>;
        /// Time from taking a command to moving the arm, with sending its status: that of a read, and
        /// of others that have no time of their own.
        pub command_overhead_ms: f64, as within(0.0..=100.0);
        /// The same of a write.
        pub write_overhead_ms: Option<f64> = None, as optional(within(0.0..=100.0));
        /// The same of a read that the buffer answers.
        pub hit_overhead_ms: Option<f64> = None, as optional(within(0.0..=100.0));
        /// The same of a command that goes on where the head is.
        pub sequential_overhead_ms: Option<f64> = None, as optional(within(0.0..=100.0));
        /// Whether a command that waits is decoded while the arm serves another one.
        pub overlaps_overhead: bool = false;
        /// What any seek or switch of heads to a new place takes until the head has settled, on top of
        /// the seek times. Crossing to the next track of a stream does not need it.
        pub settle_ms: f64 = 0.0, as within(0.0..=20.0);
        /// Switch to another head of the same cylinder for a read. A write adds what its
        /// single-track seek has over that of a read.
        pub head_switch_ms: f64, as within(0.0..=20.0);
        /// Commands held at once, the one in service included.
        pub on_board_queue_depth: u32, as within(1..=4_096);
        /// Among how many of them, those that came first, the next one is chosen; all of them when it
        /// is not given.
        pub scheduler_depth: Option<u32> = None, as optional(within(1..=4_096));
        /// How the next command is chosen.
        pub scheduler: Scheduler = Scheduler::ShortestPositioning;
        /// Nanoseconds of positioning forgiven for each nanosecond a command has waited. 0 is plain
        /// shortest positioning, under which a command can starve. With 16 commands on board 0.01
        /// costs 1 % of the rate, 0.03 costs 6 %, 0.1 a quarter; more commands cost more.
        pub aging: f64 = 0.02, as within(0.0..=100.0);
        /// Rate between buffer and host; it bounds reads served from the buffer.
        pub interface_mb_per_s: f64, as within(1.0..=100_000.0);
        /// Whether what is read from the medium crosses the interface while it passes under the head. If
        /// not, it does so afterwards, and the arm waits.
        pub overlaps_interface: bool = true;
        /// Seek times of the data sheet.
        pub seek: Option<SheetSeeks>;
        /// Measured seek times, in place of `seek`.
        pub measured_seek: Option<MeasuredSeeks>;
        /// Measured zones, outermost first; their cylinders add up to `tracks_per_surface`, their
        /// sectors to the capacity.
        pub zones: Vec<MeasuredZone> = Vec::new();
        /// The on-board read cache; without the table there is none.
        pub read_cache: Option<ReadCacheDescription>;
        /// Part of the buffer that takes writes before they reach the medium. 0 turns the write
        /// cache off, as array controllers do.
        pub write_cache_bytes: u64 = 0, as within(0..=1 << 34);
    }
}

choice! {
    /// How the next command of the on-board queue is chosen.
    pub enum Scheduler default ShortestPositioning {
        /// The one whose first sector can be under the head the soonest, seek and rotation
        /// together, less what it is forgiven for waiting.
        ShortestPositioning = "shortest_positioning",
        /// The one that came first.
        FirstCome = "first_come",
    }
}

settings! {
    /// Seek times of a data sheet.
    #[derive(Copy)]
    pub struct SheetSeeks {
        /// Seek times of reads.
        pub read: SeekTimes;
        /// Writes, which settle longer.
        pub write: SeekTimes;
    }
}

settings! {
    /// Seek times measured on a drive.
    pub struct MeasuredSeeks {
        /// Seek times of reads at ascending distances, linear in between; at least two.
        pub rows: Vec<SeekRow>;
        /// What a write takes longer to settle after any seek or switch of heads.
        pub write_settle_ms: f64, as within(0.0..=20.0);
    }
}

settings! {
    /// Neighbouring cylinders whose tracks have the same number of sectors, as measured.
    #[derive(Copy, Eq)]
    pub struct MeasuredZone {
        /// Cylinders of the zone.
        pub cylinders: u32, as within(1..=u32::MAX);
        /// Sectors of each of its tracks.
        pub sectors_per_track: u32, as within(2..=200_000);
        /// Sectors by which a track starts later than the one before it in the cylinder; by default
        /// enough for a switch of heads in a write.
        pub track_skew_sectors: Option<u32>;
        /// Sectors by which a cylinder starts later than the last track of the one before it; by
        /// default enough for a single-track seek of a write.
        pub cylinder_skew_sectors: Option<u32>;
    }
}

settings! {
    /// The on-board read cache, which is what lets a drive serve a stream at the rate of the medium.
    #[derive(Copy, Eq)]
    pub struct ReadCacheDescription {
        /// Part of the buffer that holds data read.
        pub bytes: u64, as within(4_096..=1 << 34);
        /// Segments the buffer is divided into; each holds one stretch of sectors.
        pub segments: u32, as within(1..=256);
        /// What is read ahead of the last sector asked for while no other command waits.
        pub read_ahead_bytes: u64;
    }
}
