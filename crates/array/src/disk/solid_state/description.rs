//! What a solid-state disk is made of: the numbers of its sheet, and the shape of its flash.

use serde::Deserialize;

/// A solid-state disk. The sheet's two sustained write rates decide two things the sheet does not
/// print: the time a die takes to program a page (from the sequential rate), and the spare space
/// that cleaning works with (from the random rate).
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SolidStateDescription {
    /// Capacity, bytes; whole sectors are used.
    pub capacity_bytes: u64,
    /// Rate of the interface in one direction, 10^6 bytes per second.
    pub interface_mb_per_s: f64,
    /// Whether the interface moves bytes both ways at once (SAS, NVMe) or not (SATA).
    pub full_duplex: bool,
    /// Commands held at once.
    pub on_board_queue_depth: u32,
    /// Channels between the controller and the flash.
    pub channels: u32,
    /// Dies on each channel; each does one thing at a time.
    pub dies_per_channel: u32,
    /// Bytes that a die senses and programs at once.
    pub page_bytes: u32,
    /// Time for a die to sense a page, mean, microseconds.
    pub page_read_us: f64,
    /// Standard deviation of that time as a share of its mean; times are lognormal.
    #[serde(default = "default_read_variation")]
    pub read_variation: f64,
    /// Rate of a channel, 10^6 bytes per second.
    pub channel_mb_per_s: f64,
    /// Time of a read in the controller and on the wire beside flash and data, microseconds.
    pub command_latency_us: f64,
    /// Time of a write of one block into the protected buffer, microseconds.
    pub write_latency_us: f64,
    /// Random reads of 4 KiB per second at full depth: the commands the controller can take.
    pub random_read_4k_per_s: f64,
    /// Sequential writes, sustained, 10^6 bytes per second.
    pub sequential_write_mb_per_s: f64,
    /// Random writes of 4 KiB per second over the whole span, sustained.
    pub random_write_4k_per_s: f64,
    /// Bytes of the write buffer that survive a loss of power.
    pub write_buffer_bytes: u64,
    /// The longest a read waits for a page being programmed on its die, microseconds: the time to
    /// suspend it, or the whole program time for flash that cannot.
    pub program_suspend_us: f64,
    /// Share of the capacity that holds data at the start. Space written later adds to it.
    #[serde(default = "default_filled_share")]
    pub filled_share: f64,
}

fn default_read_variation() -> f64 {
    0.15
}

fn default_filled_share() -> f64 {
    1.0
}
