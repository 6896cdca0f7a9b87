//! The on-board read cache: segments of the buffer, each with one stretch of sectors as it was
//! read. The least recently used segment is taken for the next stretch.

use super::description::ReadCacheDescription;
use crate::SECTOR_BYTES;

#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    first_sector: u64,
    end_sector: u64,
}

/// The segments of the buffer that hold what was read, with what was read ahead.
#[derive(Debug, Clone, Default)]
pub(super) struct ReadCache {
    segments: Vec<Segment>,
    /// Stretch of 2^`stretch_shift` sectors in which each segment begins. No segment is longer
    /// than a stretch, so this shows quickly, and without branches, that nothing is near.
    stretches: Vec<u32>,
    stretch_shift: u32,
    /// Numbers of the segments, the one used last first.
    order: Vec<u8>,
    segment_sectors: u64,
    /// Sectors read ahead of the last one asked for.
    pub(super) read_ahead_sectors: u64,
}

impl ReadCache {
    pub(super) fn new(description: Option<&ReadCacheDescription>) -> Self {
        let Some(description) = description else {
            return Self::default();
        };
        let bytes = description.bytes / u64::from(description.segments);
        let segment_sectors = bytes / SECTOR_BYTES;
        Self {
            segments: vec![Segment::default(); description.segments as usize],
            stretches: vec![u32::MAX; description.segments as usize],
            stretch_shift: 64 - segment_sectors.leading_zeros(),
            order: numbers(description.segments as usize),
            segment_sectors,
            read_ahead_sectors: description.read_ahead_bytes / SECTOR_BYTES,
        }
    }

    /// The same cache with nothing in it.
    pub(super) fn unused(&self) -> Self {
        Self {
            segments: vec![Segment::default(); self.segments.len()],
            stretches: vec![u32::MAX; self.segments.len()],
            order: numbers(self.segments.len()),
            ..*self
        }
    }

    #[inline]
    pub(super) fn is_there(&self) -> bool {
        !self.segments.is_empty()
    }

    /// The stretch of a sector. Numbers are cut to 32 bits: what looks near is looked at again.
    #[inline]
    fn stretch_of(&self, sector: u64) -> u32 {
        (sector >> self.stretch_shift) as u32
    }

    /// False when no segment holds any of these sectors.
    #[inline]
    fn may_hold(&self, first_sector: u64, end_sector: u64) -> bool {
        let (first, last) = (
            self.stretch_of(first_sector),
            self.stretch_of(end_sector - 1),
        );
        if last.wrapping_sub(first) > 1 {
            return true;
        }
        // A segment that reaches into the first stretch begins in it or in the one before.
        let before = first.wrapping_sub(1);
        self.stretches.iter().fold(false, |found, &stretch| {
            found | (stretch == before) | (stretch == first) | (stretch == last)
        })
    }

    /// The segment that holds all of these sectors; it counts as used.
    #[inline]
    pub(super) fn find(&mut self, first_sector: u64, end_sector: u64) -> Option<usize> {
        if !self.may_hold(first_sector, end_sector) {
            return None;
        }
        let at = self.order.iter().position(|&number| {
            let segment = &self.segments[usize::from(number)];
            segment.first_sector <= first_sector && end_sector <= segment.end_sector
        })?;
        self.order[..=at].rotate_right(1);
        Some(usize::from(self.order[0]))
    }

    #[inline]
    pub(super) fn touch(&mut self, segment: usize) {
        if let Some(at) = self.order.iter().position(|&n| usize::from(n) == segment) {
            self.order[..=at].rotate_right(1);
        }
    }

    /// Takes the least recently used segment for a stretch that begins here and is still empty.
    #[inline]
    pub(super) fn begin(&mut self, first_sector: u64) -> usize {
        self.order.rotate_right(1);
        let oldest = usize::from(self.order[0]);
        self.segments[oldest] = Segment {
            first_sector,
            end_sector: first_sector,
        };
        self.stretches[oldest] = self.stretch_of(first_sector);
        oldest
    }

    /// The first sector a segment holds.
    #[inline]
    pub(super) fn first_sector(&self, segment: usize) -> u64 {
        self.segments[segment].first_sector
    }

    /// A segment now reaches to `end_sector`; what no longer fits falls out at its beginning.
    #[inline]
    pub(super) fn grow(&mut self, number: usize, end_sector: u64) {
        let segment_sectors = self.segment_sectors;
        let segment = &mut self.segments[number];
        segment.end_sector = end_sector;
        let least = end_sector.saturating_sub(segment_sectors);
        segment.first_sector = segment.first_sector.max(least);
        let first_sector = segment.first_sector;
        self.stretches[number] = self.stretch_of(first_sector);
    }

    /// Drops every segment that a write touches.
    #[inline]
    pub(super) fn invalidate(&mut self, first_sector: u64, end_sector: u64) {
        if !self.may_hold(first_sector, end_sector) {
            return;
        }
        for segment in &mut self.segments {
            if segment.first_sector < end_sector && first_sector < segment.end_sector {
                *segment = Segment::default();
            }
        }
    }
}

/// The numbers of that many segments, at most 256.
fn numbers(count: usize) -> Vec<u8> {
    (0..count).map(|number| number as u8).collect()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt, SeedableRng};
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    /// What the cache is meant to be: stretches in order of use, looked at one by one.
    struct Plain {
        stretches: Vec<(u64, u64)>,
    }

    impl Plain {
        fn find(&mut self, first: u64, end: u64) -> bool {
            let found = self
                .stretches
                .iter()
                .position(|s| s.0 <= first && end <= s.1);
            if let Some(at) = found {
                self.stretches[..=at].rotate_right(1);
            }
            found.is_some()
        }
    }

    #[test]
    fn the_cache_is_the_list_it_is_meant_to_be() {
        for seed in 0..20 {
            let description = ReadCacheDescription {
                bytes: 8 * 100 * SECTOR_BYTES,
                segments: 8,
                read_ahead_bytes: 0,
            };
            let mut cache = ReadCache::new(Some(&description));
            let mut plain = Plain {
                stretches: vec![(0, 0); 8],
            };
            let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
            let mut hits = 0;
            for _ in 0..4_000 {
                let first = random.random_range(0..3_000);
                let end = first + random.random_range(1..150_u64);
                if random.random_range(0..10) == 0 {
                    cache.invalidate(first, end);
                    let dropped = plain.stretches.iter_mut();
                    for stretch in dropped.filter(|s| s.0 < end && first < s.1) {
                        *stretch = (0, 0);
                    }
                } else if plain.find(first, end) {
                    hits += 1;
                    assert!(cache.find(first, end).is_some(), "seed {seed}");
                } else {
                    assert_eq!(cache.find(first, end), None, "seed {seed}");
                    let segment = cache.begin(first);
                    cache.grow(segment, end);
                    plain.stretches.rotate_right(1);
                    plain.stretches[0] = (first.max(end.saturating_sub(100)), end);
                }
            }
            assert!(hits > 50, "seed {seed}: {hits}");
        }
    }
}
