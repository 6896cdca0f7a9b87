//! What past writes have done to a solid-state disk: where data lie in its flash, and how much die time
//! of programming is still owed.

use super::flash::{Flash, MAP_BLOCK_SECTORS};
use super::write_log::WriteLog;

/// Streams of sequential writes that are distinguished.
const STREAMS: usize = 8;

/// Where a stream of writes ends, and how long it was.
#[derive(Debug, Clone, Copy)]
struct Stream {
    end_sector: u64,
    sectors: u64,
}

/// The state that decides what a write costs.
#[derive(Debug, Clone)]
pub(super) struct WriteState {
    streams: [Stream; STREAMS],
    oldest_stream: usize,
    log: WriteLog,
    /// Die time owed for what is in the buffer, nanoseconds, as of `owed_at_ns`.
    owed_die_ns: f64,
    owed_at_ns: u64,
    /// What lies in the SLC cache, sectors, and the die time to move it from there, nanoseconds.
    slc_sectors: f64,
    slc_die_ns: f64,
}

impl WriteState {
    pub(super) fn new(flash: &Flash) -> Self {
        let nothing = Stream {
            end_sector: u64::MAX,
            sectors: 0,
        };
        Self {
            streams: [nothing; STREAMS],
            oldest_stream: 0,
            log: flash.written.clone(),
            owed_die_ns: 0.0,
            owed_at_ns: 0,
            slc_sectors: 0.0,
            slc_die_ns: 0.0,
        }
    }

    /// Lets the dies work off what is owed until `now_ns`.
    #[inline]
    pub(super) fn drain(&mut self, flash: &Flash, now_ns: u64) {
        if now_ns > self.owed_at_ns {
            if self.owed_die_ns > 0.0 || self.slc_die_ns > 0.0 {
                let worked_ns = (now_ns - self.owed_at_ns) as f64 * flash.dies as f64;
                self.empty_slc_cache(worked_ns - self.owed_die_ns);
                self.owed_die_ns = (self.owed_die_ns - worked_ns).max(0.0);
            }
            self.owed_at_ns = now_ns;
        }
    }

    /// Moves what lies in the SLC cache in die time that nothing else needs.
    fn empty_slc_cache(&mut self, idle_die_ns: f64) {
        if idle_die_ns > 0.0 && self.slc_die_ns > 0.0 {
            let left = (1.0 - idle_die_ns / self.slc_die_ns).max(0.0);
            self.slc_die_ns *= left;
            self.slc_sectors *= left;
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
        let is_sequential = self.continues_long_stream(first_sector, end_sector);
        self.log
            .write(first_sector, u64::from(sectors), is_sequential);
        let die_ns_per_sector = flash.die_ns_per_sector(self.log.amplification());
        let blocks = end_sector.div_ceil(MAP_BLOCK_SECTORS) - first_sector / MAP_BLOCK_SECTORS;
        let programmed_sectors = (blocks * MAP_BLOCK_SECTORS) as f64;
        let read_die_ns =
            Flash::partial_blocks(first_sector, end_sector) as f64 * flash.page_read_ns;
        let die_ns_per_sector = match self.slc_sectors + programmed_sectors <= flash.slc_sectors {
            true => {
                self.slc_sectors += programmed_sectors;
                self.slc_die_ns += programmed_sectors * die_ns_per_sector;
                flash.slc_die_ns_per_sector
            }
            false => die_ns_per_sector,
        };
        self.owed_die_ns += programmed_sectors * die_ns_per_sector + read_die_ns;
        let buffer_sectors = flash.write_buffer_bytes as f64 / crate::SECTOR_BYTES as f64;
        let room_die_ns = buffer_sectors * die_ns_per_sector;
        let excess_die_ns = (self.owed_die_ns - room_die_ns).max(0.0);
        (excess_die_ns / flash.dies as f64) as u64
    }

    /// Whether a write goes on where one has ended, and so much went before that they fill flash of
    /// their own.
    #[inline]
    fn continues_long_stream(&mut self, first_sector: u64, end_sector: u64) -> bool {
        let known = self
            .streams
            .iter()
            .position(|stream| stream.end_sector == first_sector);
        let number = known.unwrap_or_else(|| {
            self.oldest_stream = (self.oldest_stream + 1) % STREAMS;
            self.streams[self.oldest_stream].sectors = 0;
            self.oldest_stream
        });
        let stream = &mut self.streams[number];
        let is_long = stream.sectors >= self.log.stretch_sectors();
        stream.end_sector = end_sector;
        stream.sectors += end_sector - first_sector;
        is_long
    }
}
