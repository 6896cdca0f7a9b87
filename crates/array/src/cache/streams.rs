//! Sequential readers and writers of a volume, told from random ones by their addresses.

use crate::SECTOR_BYTES;
use crate::settings::ReadAheadSettings;

/// What has been seen of one run of addresses.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// The address after the last request.
    next_sector: u64,
    /// Requests in a row.
    run: u32,
    /// Sectors to be ahead by.
    window_sectors: u32,
    /// The address after what has been read ahead.
    ahead_until: u64,
    /// When it was last used, in requests to the volume.
    used: u64,
}

/// A stretch to be read ahead.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ahead {
    pub first_sector: u64,
    pub sectors: u32,
}

/// The runs of addresses of one volume and one direction.
///
/// A request continues a run if it begins where the run's last request ended. Anything else starts
/// a run of its own in place of the one idle for longest: that is how a reader that turns random
/// loses its window.
#[derive(Debug)]
pub(crate) struct Streams {
    streams: Vec<Stream>,
    clock: u64,
    last: usize,
    after_reads: u32,
    min_window_sectors: u32,
    max_window_sectors: u32,
}

impl Streams {
    pub fn new(settings: &ReadAheadSettings) -> Self {
        let sectors = |kib: u32| (u64::from(kib) * 1024 / SECTOR_BYTES) as u32;
        Self {
            streams: vec![Stream::default(); settings.streams as usize],
            clock: 0,
            last: 0,
            after_reads: settings.after_reads,
            min_window_sectors: sectors(settings.min_window_kib),
            max_window_sectors: sectors(settings.max_window_kib),
        }
    }

    /// Notes a request; says whether it is part of a sequential run.
    pub fn note(&mut self, first_sector: u64, sectors: u32) -> bool {
        self.clock += 1;
        let followed = |stream: &Stream| stream.next_sector == first_sector && stream.used > 0;
        let found = if followed(&self.streams[self.last]) {
            Some(self.last)
        } else {
            self.streams.iter().position(followed)
        };
        let place = match found {
            Some(place) => place,
            None => {
                let idle = |place: &usize| self.streams[*place].used;
                let place = (0..self.streams.len()).min_by_key(idle).unwrap_or(0);
                self.streams[place] = Stream::default();
                place
            }
        };
        self.last = place;
        let stream = &mut self.streams[place];
        stream.used = self.clock;
        stream.run += 1;
        stream.next_sector = first_sector + u64::from(sectors);
        stream.run >= self.after_reads
    }

    /// What to read ahead now that the request last noted was found sequential.
    pub fn ahead(&mut self, capacity_sectors: u64) -> Option<Ahead> {
        let stream = &mut self.streams[self.last];
        if stream.window_sectors == 0 {
            stream.window_sectors = self.min_window_sectors;
            stream.ahead_until = stream.next_sector;
        }
        let from = stream.ahead_until.max(stream.next_sector);
        if from - stream.next_sector > u64::from(stream.window_sectors / 2) {
            return None;
        }
        if stream.ahead_until > stream.next_sector {
            stream.window_sectors = (stream.window_sectors * 2).min(self.max_window_sectors);
        }
        let until = (stream.next_sector + u64::from(stream.window_sectors)).min(capacity_sectors);
        stream.ahead_until = until.max(from);
        let sectors = until.saturating_sub(from) as u32;
        (sectors > 0).then_some(Ahead {
            first_sector: from,
            sectors,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn streams() -> Streams {
        Streams::new(&ReadAheadSettings {
            streams: 4,
            ..ReadAheadSettings::default()
        })
    }

    #[test]
    fn a_window_grows_and_never_reads_twice() {
        let mut streams = streams();
        let mut read_until = 0;
        let mut widest = 0;
        for read in 0..1000u64 {
            let sequential = streams.note(read * 64, 64);
            assert_eq!(sequential, read >= 2);
            if sequential && let Some(ahead) = streams.ahead(u64::MAX) {
                assert!(ahead.first_sector >= read_until, "read {read}");
                read_until = ahead.first_sector + u64::from(ahead.sectors);
                widest = widest.max(read_until - (read + 1) * 64);
            }
        }
        assert_eq!(
            widest,
            4096 * 2,
            "the widest window is the largest that is set, in sectors"
        );
    }

    #[test]
    fn random_reads_are_no_stream() {
        let mut streams = streams();
        for read in 0..1000u64 {
            assert!(!streams.note(read * 7919 % 1009 * 128, 64), "read {read}");
        }
    }

    #[test]
    fn interleaved_readers_are_told_apart_and_an_end_is_kept_to() {
        let mut streams = streams();
        for read in 0..20u64 {
            for reader in 0..4u64 {
                let sequential = streams.note(reader * 1_000_000 + read * 64, 64);
                assert_eq!(sequential, read >= 2, "reader {reader}, read {read}");
            }
        }
        let ahead = streams.ahead(3_000_000 + 20 * 64 + 100);
        assert_eq!(
            ahead,
            Some(Ahead {
                first_sector: 3_000_000 + 20 * 64,
                sectors: 100
            })
        );
    }
}
