//! Sequential readers and writers of a volume, distinguished from random ones by their addresses.

use crate::SECTOR_BYTES;
use crate::settings::ReadAheadSettings;

/// What has been seen of one run of addresses.
#[derive(Debug, Clone, Copy, Default)]
struct Stream {
    /// Requests in a row.
    run: u32,
    /// Sectors to be ahead by.
    window_sectors: u32,
    /// The address after what has been read ahead.
    ahead_until: u64,
    /// Neighbours in the order of use.
    older: u16,
    newer: u16,
}

/// No stream; and of a stream that was never used, its next sector.
const NONE: u16 = u16::MAX;
const NEVER: u64 = u64::MAX;

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
    /// Of each stream the address after its last request: what every request is held against.
    next_sectors: Vec<u64>,
    /// The stream idle for longest, and the one used last.
    oldest: u16,
    newest: u16,
    /// The stream of the request noted last.
    last: usize,
    after_reads: u32,
    min_window_sectors: u32,
    max_window_sectors: u32,
}

impl Streams {
    pub fn new(settings: &ReadAheadSettings) -> Self {
        let sectors = |kib: u32| (u64::from(kib) * 1024 / SECTOR_BYTES) as u32;
        let count = settings.streams as u16;
        let stream = |place: u16| Stream {
            older: place.checked_sub(1).unwrap_or(NONE),
            newer: if place + 1 < count { place + 1 } else { NONE },
            ..Stream::default()
        };
        Self {
            streams: (0..count).map(stream).collect(),
            next_sectors: vec![NEVER; usize::from(count)],
            oldest: 0,
            newest: count - 1,
            last: 0,
            after_reads: settings.after_reads,
            min_window_sectors: sectors(settings.min_window_kib),
            max_window_sectors: sectors(settings.max_window_kib),
        }
    }

    /// Notes a request; says whether it is part of a sequential run.
    pub fn note(&mut self, first_sector: u64, sectors: u32) -> bool {
        let found = self.followed(first_sector);
        let place = found.unwrap_or(usize::from(self.oldest));
        self.use_now(place);
        self.last = place;
        self.next_sectors[place] = first_sector + u64::from(sectors);
        let stream = &mut self.streams[place];
        if found.is_none() {
            (stream.run, stream.window_sectors, stream.ahead_until) = (0, 0, 0);
        }
        stream.run += 1;
        stream.run >= self.after_reads
    }

    /// The stream that a request at `first_sector` continues.
    #[inline]
    fn followed(&self, first_sector: u64) -> Option<usize> {
        let follows = |&next_sector: &u64| next_sector == first_sector;
        if follows(&self.next_sectors[self.last]) {
            return Some(self.last);
        }
        // Most requests continue none: without a way out the CPU compares several at once.
        let next_sectors = self.next_sectors.iter();
        let any = next_sectors.fold(false, |any, next| any | follows(next));
        any.then(|| self.next_sectors.iter().position(follows))?
    }

    /// Puts a stream at the end of the order of use.
    #[inline]
    fn use_now(&mut self, place: usize) {
        if usize::from(self.newest) == place {
            return;
        }
        let Stream { older, newer, .. } = self.streams[place];
        self.streams[usize::from(newer)].older = older;
        match older {
            NONE => self.oldest = newer,
            _ => self.streams[usize::from(older)].newer = newer,
        }
        let newest = std::mem::replace(&mut self.newest, place as u16);
        self.streams[usize::from(newest)].newer = place as u16;
        self.streams[place].older = newest;
        self.streams[place].newer = NONE;
    }

    /// What to read ahead now that the request last noted was found sequential.
    pub fn ahead(&mut self, capacity_sectors: u64) -> Option<Ahead> {
        let next_sector = self.next_sectors[self.last];
        let stream = &mut self.streams[self.last];
        if stream.window_sectors == 0 {
            stream.window_sectors = self.min_window_sectors;
            stream.ahead_until = next_sector;
        }
        let from = stream.ahead_until.max(next_sector);
        if from - next_sector > u64::from(stream.window_sectors / 2) {
            return None;
        }
        if stream.ahead_until > next_sector {
            stream.window_sectors = (stream.window_sectors * 2).min(self.max_window_sectors);
        }
        let until = (next_sector + u64::from(stream.window_sectors)).min(capacity_sectors);
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
    fn interleaved_readers_are_distinguished_and_an_end_is_kept_to() {
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
