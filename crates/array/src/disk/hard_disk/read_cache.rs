//! The on-board read cache: segments of the buffer, each with one stretch of sectors as it was
//! read. The least recently used segment is taken for the next stretch.

use super::description::ReadCacheDescription;
use crate::SECTOR_BYTES;

#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    first_sector: u64,
    end_sector: u64,
}

/// The segments.
#[derive(Debug, Clone)]
pub(super) struct ReadCache {
    segments: Vec<Segment>,
    /// Numbers of the segments, the one used last first.
    order: Vec<u8>,
    segment_sectors: u64,
    /// Sectors read ahead of the last one asked for.
    pub(super) read_ahead_sectors: u64,
}

impl ReadCache {
    pub(super) fn new(description: Option<&ReadCacheDescription>) -> Self {
        let Some(description) = description else {
            return Self {
                segments: Vec::new(),
                order: Vec::new(),
                segment_sectors: 0,
                read_ahead_sectors: 0,
            };
        };
        let bytes = description.bytes / u64::from(description.segments);
        Self {
            segments: vec![Segment::default(); description.segments as usize],
            order: numbers(description.segments as usize),
            segment_sectors: bytes / SECTOR_BYTES,
            read_ahead_sectors: description.read_ahead_bytes / SECTOR_BYTES,
        }
    }

    /// The same cache with nothing in it.
    pub(super) fn unused(&self) -> Self {
        Self {
            segments: vec![Segment::default(); self.segments.len()],
            order: numbers(self.segments.len()),
            ..*self
        }
    }

    #[inline]
    pub(super) fn is_there(&self) -> bool {
        !self.segments.is_empty()
    }

    /// The segment that holds all of a stretch; it counts as used.
    #[inline]
    pub(super) fn find(&mut self, first_sector: u64, end_sector: u64) -> Option<usize> {
        let found = self
            .segments
            .iter()
            .position(|s| s.first_sector <= first_sector && end_sector <= s.end_sector)?;
        self.touch(found);
        Some(found)
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
        oldest
    }

    /// The first sector a segment holds.
    #[inline]
    pub(super) fn first_sector(&self, segment: usize) -> u64 {
        self.segments[segment].first_sector
    }

    /// A segment now reaches to `end_sector`; what no longer fits falls out at its beginning.
    #[inline]
    pub(super) fn grow(&mut self, segment: usize, end_sector: u64) {
        let segment_sectors = self.segment_sectors;
        let segment = &mut self.segments[segment];
        segment.end_sector = end_sector;
        let least = end_sector.saturating_sub(segment_sectors);
        segment.first_sector = segment.first_sector.max(least);
    }

    /// Drops every segment that a write touches.
    #[inline]
    pub(super) fn invalidate(&mut self, first_sector: u64, end_sector: u64) {
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
