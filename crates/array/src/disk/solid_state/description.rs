//! What a solid-state disk is made of: the numbers of its sheet, and the shape of its flash.

use config::{choice, optional, settings, within};

use crate::SECTOR_BYTES;
use crate::disk::interface::capacity;

settings! {
    /// A solid-state disk. The sheet's two sustained write rates decide two things the sheet does
    /// not print: the time a die takes to program a page (from the sequential rate), and the spare
    /// space that cleaning works with (from the random rate).
    pub struct SolidStateDescription {
        /// Capacity; whole sectors are used.
        pub capacity_bytes: u64, as capacity();
        /// Rate of the interface in one direction.
        pub interface_mb_per_s: f64, as within(1.0..=1e6);
        /// Whether the interface moves bytes both ways at once (SAS, NVMe) or not (SATA).
        pub full_duplex: bool;
        /// Commands held at once.
        pub on_board_queue_depth: u32, as within(1..=65_536);
        /// Channels between the controller and the flash.
        pub channels: u32, as within(1..=64);
        /// Dies on each channel; each does one thing at a time.
        pub dies_per_channel: u32, as within(1..=64);
        /// What a die senses and programs at once: a power of two.
        pub page_bytes: u32, as within(4_096..=1 << 20);
        /// So many consecutive bytes lie on one die: a power of two, a page when it is not given.
        pub stripe_bytes: Option<u32> = None, as optional(within(4_096..=1 << 20));
        /// So many consecutive bytes are sensed at once: a power of two, all those on the die when it is
        /// not given. Where consecutive blocks lie in several pages of a die, a read of 8 to 32 KiB takes
        /// several senses, one after the other.
        pub sense_bytes: Option<u32> = None, as optional(within(4_096..=1 << 20));
        /// Mean time for a die to sense a page.
        pub page_read_us: f64, as within(1.0..=1e4);
        /// Standard deviation of that time as a share of its mean; times are lognormal.
        pub read_variation: f64 = 0.15, as within(0.0..=2.0);
        /// Rate of a channel.
        pub channel_mb_per_s: f64, as within(1.0..=1e6);
        /// Time of a read in the controller and on the wire beside flash and data.
        pub command_latency_us: f64, as within(0.0..=1e4);
        /// Time of a write of one block into the protected buffer.
        pub write_latency_us: f64, as within(0.0..=1e4);
        /// What a request takes more in the controller that covers a part of a 4 KiB block. A write of
        /// such a part costs the dies a read of the rest, too.
        pub partial_block_us: f64 = 0.0, as within(0.0..=1e4);
        /// Random reads of 4 KiB at full depth: the commands the controller can take.
        pub random_read_4k_iops: f64, as within(100.0..=1e8), was "random_read_4k_per_s";
        /// Sequential writes, at the rate that lasts once the write buffer is full.
        pub sequential_write_mb_per_s: f64, as within(0.1..=1e6);
        /// Random writes of 4 KiB over the whole span, sustained.
        pub random_write_4k_iops: f64, as within(1.0..=1e8), was "random_write_4k_per_s";
        /// Write buffer that survives a loss of power.
        pub write_buffer_bytes: u64, as within(SECTOR_BYTES..=1 << 40);
        /// Flash that is written with one bit a cell first, and emptied into the rest while the disk has
        /// nothing else to write: an SLC cache. 0: there is none.
        pub slc_cache_bytes: u64 = 0, as within(0..=1 << 50);
        /// Writes while there is room in it. Beyond it they are as fast as `sequential_write_mb_per_s` and
        /// `random_write_4k_iops` say.
        pub slc_write_mb_per_s: Option<f64> = None, as optional(within(0.1..=1e6));
        /// The longest a read waits for a page being programmed on its die: the time to suspend it,
        /// or the whole program time for flash that cannot.
        pub program_suspend_us: f64, as within(0.0..=1e5);
        /// Share of the capacity that holds data at the start. Space written later adds to it.
        pub filled_share: f64 = 1.0, as within(0.0..=1.0);
        /// How these data were written.
        pub history: WriteHistory = WriteHistory::Random;
    }
}

choice! {
    /// How a solid-state disk was written before.
    pub enum WriteHistory {
        /// Not at all, or all of it was erased: nothing has to be cleaned until the flash is written
        /// once. `filled_share` counts for nothing.
        Fresh = "fresh",
        /// Once, from its beginning on.
        Sequential = "sequential",
        /// At random and for so long that writes cost the same for ever: the state for which sheets give
        /// sustained random writes.
        Random = "random",
    }
}
