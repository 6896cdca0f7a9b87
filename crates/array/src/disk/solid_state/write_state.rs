//! What past writes have done to a solid-state disk: how much of it holds data, how random the
//! writes are, and how much die time of programming is still owed.

use super::flash::{Flash, MAP_BLOCK_SECTORS};

/// Streams of sequential writes that are distinguished.
const STREAMS: usize = 8;

/// The state that decides what a write costs.
#[derive(Debug, Clone)]
pub(super) struct WriteState {
    /// Where the latest streams of writes end.
    stream_ends: [u64; STREAMS],
    oldest_stream: usize,
    /// Share of what is written that is random, over about the last hundredth of the capacity.
    random_share: f64,
    /// Stretches of 2^`stretch_shift` sectors written so far, a bit for each.
    touched: Vec<u64>,
    touched_count: u64,
    stretch_shift: u32,
    /// Die time owed for what is in the buffer, nanoseconds, as of `owed_at_ns`.
    owed_die_ns: f64,
    owed_at_ns: u64,
    die_ns_per_sector: f64,
}

impl WriteState {
    pub(super) fn new(flash: &Flash) -> Self {
        // At most 2^20 stretches, of a megabyte at least.
        let mut stretch_shift = 11;
        while flash.capacity_sectors >> stretch_shift > 1 << 20 {
            stretch_shift += 1;
        }
        let stretches = flash.capacity_sectors.div_ceil(1 << stretch_shift);
        let mut state = Self {
            stream_ends: [u64::MAX; STREAMS],
            oldest_stream: 0,
            random_share: 1.0,
            touched: vec![0; stretches.div_ceil(64) as usize],
            touched_count: 0,
            stretch_shift,
            owed_die_ns: 0.0,
            owed_at_ns: 0,
            die_ns_per_sector: 0.0,
        };
        state.weigh(flash);
        state
    }

    /// Lets the dies work off what is owed until `now_ns`.
    #[inline]
    pub(super) fn drain(&mut self, flash: &Flash, now_ns: u64) {
        if now_ns > self.owed_at_ns {
            if self.owed_die_ns > 0.0 {
                let worked_ns = (now_ns - self.owed_at_ns) as f64 * flash.dies as f64;
                self.owed_die_ns = (self.owed_die_ns - worked_ns).max(0.0);
            }
            self.owed_at_ns = now_ns;
        }
    }

    /// The share of dies that are programming.
    #[inline]
    pub(super) fn programming_share(&self, flash: &Flash) -> f64 {
        (self.owed_die_ns / (flash.dies as f64 * flash.program_ns)).min(1.0)
    }

    /// A read has taken die time away from programming.
    #[inline]
    pub(super) fn lose(&mut self, die_ns: f64) {
        if self.owed_die_ns > 0.0 {
            self.owed_die_ns += die_ns;
        }
    }

    /// Takes a write into the buffer; how long it has to wait for room in it, nanoseconds.
    #[inline]
    pub(super) fn take(&mut self, flash: &Flash, first_sector: u64, sectors: u32) -> u64 {
        let end_sector = first_sector + u64::from(sectors);
        self.note(flash, first_sector, end_sector);
        let blocks = end_sector.div_ceil(MAP_BLOCK_SECTORS) - first_sector / MAP_BLOCK_SECTORS;
        let programmed_sectors = (blocks * MAP_BLOCK_SECTORS) as f64;
        self.owed_die_ns += programmed_sectors * self.die_ns_per_sector;
        let buffer_sectors = flash.write_buffer_bytes as f64 / crate::SECTOR_BYTES as f64;
        let room_die_ns = buffer_sectors * self.die_ns_per_sector;
        let excess_die_ns = (self.owed_die_ns - room_die_ns).max(0.0);
        (excess_die_ns / flash.dies as f64) as u64
    }

    /// Takes note of where is written.
    #[inline]
    fn note(&mut self, flash: &Flash, first_sector: u64, end_sector: u64) {
        let stream = self.stream_ends.iter().position(|&end| end == first_sector);
        let is_random = f64::from(u8::from(stream.is_none()));
        let stream = stream.unwrap_or_else(|| {
            self.oldest_stream = (self.oldest_stream + 1) % STREAMS;
            self.oldest_stream
        });
        self.stream_ends[stream] = end_sector;
        let weight = (end_sector - first_sector) as f64 * 100.0 / flash.capacity_sectors as f64;
        let change = (is_random - self.random_share) * weight.min(1.0);
        let before = self.touched_count;
        let last = (end_sector - 1) >> self.stretch_shift;
        for stretch in first_sector >> self.stretch_shift..=last {
            let word = &mut self.touched[(stretch >> 6) as usize];
            let bit = 1 << (stretch & 63);
            self.touched_count += u64::from(*word & bit == 0);
            *word |= bit;
        }
        if change != 0.0 || before != self.touched_count {
            self.random_share += change;
            self.weigh(flash);
        }
    }

    /// Computes what a write costs in this state.
    #[inline]
    fn weigh(&mut self, flash: &Flash) {
        let stretches = flash.capacity_sectors.div_ceil(1 << self.stretch_shift);
        let touched_share = self.touched_count as f64 / stretches as f64;
        let filled_share = flash.filled_share + (1.0 - flash.filled_share) * touched_share;
        let amplification = flash.amplification.at(filled_share, self.random_share);
        self.die_ns_per_sector = flash.die_ns_per_sector(amplification);
    }
}
