//! What all solid-state disks of a make share: times, rates, and what follows from the sheet.

use super::amplification::Amplification;
use super::description::SolidStateDescription;
use crate::SECTOR_BYTES;

/// The block in which the flash translation keeps its map, sectors: writes are rounded to it.
pub(super) const MAP_BLOCK_SECTORS: u64 = 8;

/// Steps of the table of lognormal factors.
const FACTORS: usize = 1 << 10;

/// What disks of one make share.
#[derive(Debug)]
pub(super) struct Flash {
    pub(super) capacity_sectors: u64,
    pub(super) on_board_queue_depth: usize,
    pub(super) full_duplex: bool,
    pub(super) channels: usize,
    pub(super) dies: usize,
    pub(super) page_sectors: u64,
    pub(super) page_read_ns: f64,
    pub(super) command_latency_ns: u64,
    pub(super) write_latency_ns: u64,
    /// The controller takes a command no sooner than this after the one before it.
    pub(super) command_interval_ns: f64,
    pub(super) channel_ns_per_sector: f64,
    pub(super) interface_ns_per_sector: f64,
    /// Die time to program a page, erasing included, nanoseconds.
    pub(super) program_ns: f64,
    pub(super) program_suspend_ns: f64,
    pub(super) write_buffer_bytes: u64,
    pub(super) filled_share: f64,
    pub(super) amplification: Amplification,
    /// Factors of read times, each as likely as the next, with a mean of 1.
    factors: Vec<f32>,
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
        Self {
            capacity_sectors: disk.capacity_bytes / SECTOR_BYTES,
            on_board_queue_depth: disk.on_board_queue_depth as usize,
            full_duplex: disk.full_duplex,
            channels,
            dies: channels * disk.dies_per_channel as usize,
            page_sectors: u64::from(disk.page_bytes) / SECTOR_BYTES,
            page_read_ns: disk.page_read_us * 1e3,
            command_latency_ns: (disk.command_latency_us * 1e3) as u64,
            write_latency_ns: (disk.write_latency_us * 1e3) as u64,
            command_interval_ns: 1e9 / disk.random_read_4k_iops,
            channel_ns_per_sector: ns_per_sector(disk.channel_mb_per_s),
            interface_ns_per_sector: ns_per_sector(disk.interface_mb_per_s),
            program_ns: fit.program_ns,
            program_suspend_ns: (disk.program_suspend_us * 1e3).min(fit.program_ns),
            write_buffer_bytes: disk.write_buffer_bytes,
            filled_share: disk.filled_share,
            amplification: Amplification::new(fit.amplification),
            factors: lognormal_factors(disk.read_variation),
        }
    }

    /// Die time per sector written at this amplification, nanoseconds.
    #[inline]
    pub(super) fn die_ns_per_sector(&self, amplification: f64) -> f64 {
        let page_ns = amplification * self.program_ns + (amplification - 1.0) * self.page_read_ns;
        page_ns / self.page_sectors as f64
    }

    /// A read time drawn with 10 random bits.
    #[inline]
    pub(super) fn read_ns(&self, bits: u64) -> f64 {
        self.page_read_ns * f64::from(self.factors[bits as usize & (FACTORS - 1)])
    }

    /// The die of a page: pages in sequence go to one die after the other, and each round begins
    /// at another die, so that no stride meets one die alone.
    #[inline]
    pub(super) fn die_of(&self, page: u64) -> usize {
        let dies = self.dies as u64;
        let round = page / dies;
        let turned = round.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        ((page + turned) % dies) as usize
    }
}

/// Equally likely values of a lognormal factor with mean 1 and this standard deviation.
fn lognormal_factors(deviation: f64) -> Vec<f32> {
    let sigma = (1.0 + deviation * deviation).ln().sqrt();
    let factors: Vec<f64> = (0..FACTORS)
        .map(|step| (step as f64 + 0.5) / FACTORS as f64)
        .map(|share| (sigma * normal_quantile(share)).exp())
        .collect();
    let mean = factors.iter().sum::<f64>() / FACTORS as f64;
    factors
        .iter()
        .map(|factor| (factor / mean) as f32)
        .collect()
}

/// The standard normal quantile, by Winitzki's approximation of the inverse error function, good
/// to about 0.002.
fn normal_quantile(share: f64) -> f64 {
    const SHAPE: f64 = 0.147;
    let x = 2.0 * share - 1.0;
    let log = (1.0 - x * x).ln();
    let half = 2.0 / (std::f64::consts::PI * SHAPE) + log / 2.0;
    let root = ((half * half - log / SHAPE).sqrt() - half).sqrt();
    std::f64::consts::SQRT_2 * root.copysign(x)
}
