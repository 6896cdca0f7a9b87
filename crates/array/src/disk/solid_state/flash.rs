//! What all solid-state disks of a make share: times, rates, and what follows from the sheet.

use super::description::SolidStateDescription;
use super::write_log::WriteLog;
use crate::SECTOR_BYTES;
use crate::disk::lognormal::LognormalFactors;

/// The block in which the flash translation keeps its map, sectors: writes are rounded to it.
pub(super) const MAP_BLOCK_SECTORS: u64 = 8;

/// What disks of one make share.
#[derive(Debug)]
pub(super) struct Flash {
    pub(super) capacity_sectors: u64,
    pub(super) on_board_queue_depth: usize,
    pub(super) full_duplex: bool,
    pub(super) channels: usize,
    pub(super) dies: usize,
    pub(super) page_sectors: u64,
    /// Consecutive sectors on one die.
    pub(super) stripe_sectors: u64,
    /// Consecutive sectors that are sensed at once.
    sense_sectors: u64,
    pub(super) page_read_ns: f64,
    pub(super) command_latency_ns: u64,
    pub(super) partial_block_ns: u64,
    pub(super) write_latency_ns: u64,
    /// The controller takes a command no sooner than this after the one before it.
    pub(super) command_interval_ns: f64,
    pub(super) channel_ns_per_sector: f64,
    pub(super) interface_ns_per_sector: f64,
    /// Die time to program a page, erasing included, nanoseconds.
    pub(super) program_ns: f64,
    pub(super) program_suspend_ns: f64,
    pub(super) write_buffer_bytes: u64,
    pub(super) slc_sectors: f64,
    /// Die time per sector written into the SLC cache, nanoseconds.
    pub(super) slc_die_ns_per_sector: f64,
    /// What lies where at the start.
    pub(super) written: WriteLog,
    /// Factors of read times.
    factors: LognormalFactors,
}

/// Die time that follows from the sheet.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct WriteFit {
    /// To program a page and erase its share of a block, nanoseconds.
    pub(super) program_ns: f64,
    /// Pages programmed per page written at random when all of the capacity holds data.
    pub(super) amplification: f64,
}

impl WriteFit {
    /// From the sustained rates: all dies together program pages at the sequential rate; at the
    /// random rate each page costs `A` programs and `A - 1` reads of die time.
    pub(super) fn new(disk: &SolidStateDescription) -> Self {
        let dies = f64::from(disk.channels) * f64::from(disk.dies_per_channel);
        let page_bytes = f64::from(disk.page_bytes);
        let read_ns = disk.page_read_us * 1e3;
        let page_ns = |bytes_per_s: f64| dies * page_bytes / bytes_per_s * 1e9;
        let program_ns = page_ns(disk.sequential_write_mb_per_s * 1e6);
        let random_ns = page_ns(disk.random_write_4k_iops * 4_096.0);
        Self {
            program_ns,
            amplification: (random_ns + read_ns) / (program_ns + read_ns),
        }
    }
}

impl Flash {
    /// The flash of a description that has been checked.
    pub(super) fn new(disk: &SolidStateDescription) -> Self {
        let fit = WriteFit::new(disk);
        let ns_per_sector = |mb_per_s: f64| SECTOR_BYTES as f64 * 1e3 / mb_per_s;
        let channels = disk.channels as usize;
        let stripe_bytes = disk.stripe_bytes.unwrap_or(disk.page_bytes);
        let capacity_sectors = disk.capacity_bytes / SECTOR_BYTES;
        Self {
            capacity_sectors,
            on_board_queue_depth: disk.on_board_queue_depth as usize,
            full_duplex: disk.full_duplex,
            channels,
            dies: channels * disk.dies_per_channel as usize,
            page_sectors: u64::from(disk.page_bytes) / SECTOR_BYTES,
            stripe_sectors: u64::from(stripe_bytes) / SECTOR_BYTES,
            sense_sectors: u64::from(disk.sense_bytes.unwrap_or(stripe_bytes)) / SECTOR_BYTES,
            page_read_ns: disk.page_read_us * 1e3,
            command_latency_ns: (disk.command_latency_us * 1e3) as u64,
            partial_block_ns: (disk.partial_block_us * 1e3) as u64,
            write_latency_ns: (disk.write_latency_us * 1e3) as u64,
            command_interval_ns: 1e9 / disk.random_read_4k_iops,
            channel_ns_per_sector: ns_per_sector(disk.channel_mb_per_s),
            interface_ns_per_sector: ns_per_sector(disk.interface_mb_per_s),
            program_ns: fit.program_ns,
            program_suspend_ns: (disk.program_suspend_us * 1e3).min(fit.program_ns),
            write_buffer_bytes: disk.write_buffer_bytes,
            slc_sectors: disk.slc_cache_bytes as f64 / SECTOR_BYTES as f64,
            slc_die_ns_per_sector: disk.slc_write_mb_per_s.map_or(0.0, |rate| {
                ns_per_sector(rate) * f64::from(disk.channels * disk.dies_per_channel)
            }),
            written: WriteLog::new(
                capacity_sectors,
                fit.amplification,
                disk.filled_share,
                disk.history,
            ),
            factors: LognormalFactors::new(disk.read_variation),
        }
    }

    /// Die time per sector written at this amplification, nanoseconds.
    #[inline]
    pub(super) fn die_ns_per_sector(&self, amplification: f64) -> f64 {
        let page_ns = amplification * self.program_ns + (amplification - 1.0) * self.page_read_ns;
        page_ns / self.page_sectors as f64
    }

    /// The time a die needs to sense these sectors of a stripe, drawn with 10 random bits.
    #[inline]
    pub(super) fn read_ns(&self, first_sector: u64, sectors: u64, bits: u64) -> f64 {
        let last_sector = first_sector + sectors - 1;
        let senses = last_sector / self.sense_sectors - first_sector / self.sense_sectors + 1;
        senses as f64 * self.page_read_ns * self.factors.draw(bits)
    }

    /// The die of a stripe: stripes in sequence go to one die after the other, and each round begins
    /// at another die, so that no stride meets one die alone.
    #[inline]
    pub(super) fn die_of(&self, stripe: u64) -> usize {
        let dies = self.dies as u64;
        let round = stripe / dies;
        let turned = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        ((stripe + turned) % dies) as usize
    }

    /// Blocks of the map at the ends of these sectors that they cover in part.
    #[inline]
    pub(super) fn partial_blocks(first_sector: u64, end_sector: u64) -> u64 {
        let (head, tail) = (
            first_sector % MAP_BLOCK_SECTORS,
            end_sector % MAP_BLOCK_SECTORS,
        );
        let is_one_block = first_sector / MAP_BLOCK_SECTORS == end_sector / MAP_BLOCK_SECTORS;
        u64::from(head > 0) + u64::from(tail > 0 && !(is_one_block && head > 0))
    }
}
