//! The flash of a solid-state disk as a log, and what the next write costs.
//!
//! Flash is divided into segments. What the host writes goes into one segment, what cleaning copies into
//! another; when room runs out, the segment with the least valid data is cleaned. Of a segment only the
//! share of valid data is kept, in two kinds. Data written *in sequence* lie together: to write their
//! addresses again empties the segment they lie in. Data written *at random* may lie in any segment:
//! each random write makes every one of them invalid with the same probability.
//!
//! So the cost of a write follows from what was written before: on a fresh disk there is nothing to
//! clean; with uniform random writes the share that is valid at cleaning settles at the solution of
//! [`valid_at_cleaning`]; a pass of sequential writes over all of the disk leaves nothing to copy. The
//! tests compare it with a map of pages.

use super::amplification::{spread_for, valid_at_cleaning};
use super::description::WriteHistory;

/// Segments of the flash.
const SEGMENTS: usize = 128;

/// Of the segments two are being written. Cleaning begins when no more than these are empty.
const RESERVE: usize = 2;

/// Stretches of the addresses at most; of each it is known where its data lie.
const STRETCHES: u64 = 1 << 16;

/// No stretch is smaller, 2 MiB: none is passed over by one write.
const LEAST_STRETCH_SECTORS: u64 = 1 << 12;

/// A part of the flash. Shares are of the capacity of the disk.
#[derive(Debug, Clone, Copy, Default)]
struct Segment {
    /// Valid data written in sequence.
    in_sequence: f64,
    /// Valid data written at random, as of when `decay` was that of the log.
    at_random: f64,
    decay: f64,
    /// How often it was begun or emptied: data that lay in it before are known by it.
    generation: u32,
}

/// Where the data of a stretch of addresses lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    Anywhere,
    Segment { number: u8, generation: u32 },
}

#[derive(Debug, Clone, Copy)]
struct Stretch {
    /// Share of it that holds data.
    filled: f32,
    place: Place,
}

/// A segment that is being written.
#[derive(Debug, Clone, Copy)]
struct Head {
    segment: usize,
    written: f64,
}

/// A segment that is being cleaned.
#[derive(Debug, Clone, Copy)]
struct Victim {
    segment: usize,
    /// Share of it that is still to be looked at.
    left: f64,
}

/// What lies where in the flash.
#[derive(Debug, Clone)]
pub(super) struct WriteLog {
    segments: Box<[Segment; SEGMENTS]>,
    /// Size of a segment; infinite when there is always room.
    segment_size: f64,
    most_valid: f64,
    host: Head,
    copies: Head,
    victim: Option<Victim>,
    sealed: Vec<u8>,
    empty: Vec<u8>,
    /// Random data that are valid, over all segments.
    at_random: f64,
    /// The negative logarithm of the share that is left of random data from the beginning.
    decay: f64,
    stretches: Vec<Stretch>,
    stretch_sectors: u64,
    sector_share: f64,
    amplification: f64,
}

impl WriteLog {
    /// The flash of a disk whose random writes are amplified so many times when all of its capacity
    /// holds data, and of whose capacity the share `filled` was written as `history` says.
    pub(super) fn new(
        capacity_sectors: u64,
        when_full: f64,
        filled: f64,
        history: WriteHistory,
    ) -> Self {
        let stretch_sectors = capacity_sectors
            .div_ceil(STRETCHES)
            .max(LEAST_STRETCH_SECTORS);
        let count = capacity_sectors.div_ceil(stretch_sectors);
        let flash = spread_for(when_full).unwrap_or(f64::INFINITY);
        let nothing = Stretch {
            filled: 0.0,
            place: Place::Anywhere,
        };
        let head = |segment| Head {
            segment,
            written: 0.0,
        };
        let mut log = Self {
            segments: Box::new([Segment::default(); SEGMENTS]),
            // The two that are being written are half full on average.
            segment_size: flash / (SEGMENTS - RESERVE - 1) as f64,
            // Rounding must not make cleaning endless.
            most_valid: 1.0 - 0.25 / when_full,
            host: head(0),
            copies: head(1),
            victim: None,
            sealed: Vec::with_capacity(SEGMENTS),
            empty: (2..SEGMENTS as u8).rev().collect(),
            at_random: 0.0,
            decay: 0.0,
            stretches: vec![nothing; count as usize],
            stretch_sectors,
            sector_share: 1.0 / capacity_sectors as f64,
            amplification: 1.0,
        };
        match history {
            WriteHistory::Sequential => log.fill_in_sequence(filled),
            WriteHistory::Random if filled > 0.0 => log.fill_at_random(filled, flash),
            WriteHistory::Fresh | WriteHistory::Random => {}
        }
        log
    }

    fn fill_in_sequence(&mut self, filled: f64) {
        let whole = (filled * self.stretches.len() as f64).round() as u64;
        for stretch in 0..whole {
            let first_sector = stretch * self.stretch_sectors;
            self.write(first_sector, self.stretch_sectors, true);
        }
    }

    /// As after endless random writes over so much of the capacity.
    fn fill_at_random(&mut self, filled: f64, flash: f64) {
        for stretch in &mut self.stretches {
            stretch.filled = filled as f32;
        }
        self.at_random = filled;
        let valid = valid_at_cleaning(flash / filled);
        // Of what is programmed this share is the host's, and makes as much invalid.
        let rate = (1.0 - valid) / filled;
        if self.segment_size.is_infinite() {
            self.segments[self.host.segment].at_random = filled;
            return;
        }
        let half = 0.5 * self.segment_size;
        for head in [&mut self.host, &mut self.copies] {
            head.written = half;
            self.segments[head.segment].at_random = half;
        }
        let mut sum = 0.0;
        for age in 0..self.empty.len() - RESERVE {
            let Some(segment) = self.empty.pop() else {
                break;
            };
            let left = (-rate * (age as f64 + 1.5) * self.segment_size).exp();
            self.segments[usize::from(segment)].at_random = left;
            sum += left;
            self.sealed.push(segment);
        }
        for &segment in &self.sealed {
            self.segments[usize::from(segment)].at_random *= (filled - 2.0 * half) / sum;
        }
        self.amplification = 1.0 / (1.0 - valid);
    }

    /// Programs per sector that the host writes, as of the last write.
    #[inline]
    pub(super) fn amplification(&self) -> f64 {
        self.amplification
    }

    /// How much of a stream must have been written before its data lie together.
    #[inline]
    pub(super) fn stretch_sectors(&self) -> u64 {
        self.stretch_sectors
    }

    /// Takes a write in. One over the end of a stretch counts for the one where it begins.
    #[inline]
    pub(super) fn write(&mut self, first_sector: u64, sectors: u64, is_sequential: bool) {
        let share = sectors as f64 * self.sector_share;
        let end_sector = first_sector + sectors;
        let number = (first_sector / self.stretch_sectors) as usize;
        self.overwrite(number, share, is_sequential);
        self.amplification = self.clean(share);
        let head = self.host.segment;
        match is_sequential {
            true => {
                self.segments[head].in_sequence += share;
                if end_sector / self.stretch_sectors > number as u64 {
                    self.stretches[number] = Stretch {
                        filled: 1.0,
                        place: Place::Segment {
                            number: head as u8,
                            generation: self.segments[head].generation,
                        },
                    };
                }
            }
            false => {
                self.add_random(head, share);
                self.at_random += share;
            }
        }
        self.host.written += share;
        if self.host.written >= self.segment_size {
            self.host = self.next_head(self.host);
        }
    }

    /// Makes invalid what these addresses held.
    #[inline]
    fn overwrite(&mut self, number: usize, share: f64, is_sequential: bool) {
        let Stretch { filled, place } = self.stretches[number];
        let filled = f64::from(filled);
        let size = self.stretch_sectors as f64 * self.sector_share;
        let held = share * filled;
        match (self.segment_at(place), is_sequential) {
            (Some(segment), true) => {
                let segment = &mut self.segments[segment];
                segment.in_sequence = (segment.in_sequence - held).max(0.0);
            }
            (Some(segment), false) => {
                let moved = self.segments[segment].in_sequence.min(size * filled);
                self.segments[segment].in_sequence -= moved;
                self.add_random(segment, moved);
                self.at_random += moved;
                self.lose_random(held);
            }
            (None, _) => self.lose_random(held),
        }
        let stretch = &mut self.stretches[number];
        if !is_sequential {
            stretch.place = Place::Anywhere;
        }
        let more = (share / size).min(1.0) * (1.0 - filled);
        stretch.filled = (filled + more) as f32;
    }

    /// The segment of a place, unless it was cleaned since.
    #[inline]
    fn segment_at(&self, place: Place) -> Option<usize> {
        match place {
            Place::Segment { number, generation } => {
                let number = usize::from(number);
                (self.segments[number].generation == generation).then_some(number)
            }
            Place::Anywhere => None,
        }
    }

    #[inline]
    fn random_in(&self, segment: usize) -> f64 {
        let segment = &self.segments[segment];
        segment.at_random * (segment.decay - self.decay).exp()
    }

    #[inline]
    fn add_random(&mut self, segment: usize, share: f64) {
        let now = self.random_in(segment);
        let decay = self.decay;
        let segment = &mut self.segments[segment];
        segment.at_random = (now + share).max(0.0);
        segment.decay = decay;
    }

    /// So much of the random data becomes invalid, wherever it lies.
    #[inline]
    fn lose_random(&mut self, share: f64) {
        if self.at_random > 0.0 {
            let left = (1.0 - share / self.at_random).max(1e-9);
            self.decay -= left.ln();
            self.at_random *= left;
        }
    }

    /// Seals a segment that is full and begins another.
    fn next_head(&mut self, full: Head) -> Head {
        let Some(next) = self.empty.pop() else {
            // Cleaning keeps two empty segments, one for each head.
            unreachable!("a write found no empty segment");
        };
        self.sealed.push(full.segment as u8);
        let segment = &mut self.segments[usize::from(next)];
        *segment = Segment {
            decay: self.decay,
            generation: segment.generation.wrapping_add(1),
            ..Segment::default()
        };
        Head {
            segment: next.into(),
            written: full.written - self.segment_size,
        }
    }

    /// Wins as much room as a write takes, if little is left; the programs per sector of the write.
    #[inline]
    fn clean(&mut self, share: f64) -> f64 {
        let (mut needed, mut copied) = (share, 0.0);
        while needed > 0.0 {
            let Some(victim) = self.victim.or_else(|| self.choose_victim()) else {
                break;
            };
            let (won, moved) = self.clean_a_part(victim, needed);
            needed -= won;
            copied += moved;
        }
        1.0 + copied / share
    }

    /// Cleans as much of a segment as wins the room that is needed, or what is left of it; returns the
    /// room and what was copied.
    #[inline]
    fn clean_a_part(&mut self, victim: Victim, needed: f64) -> (f64, f64) {
        let random = self.random_in(victim.segment);
        let valid = (random / victim.left).clamp(0.0, self.most_valid);
        let looked_at = (needed / (1.0 - valid)).min(victim.left);
        let left = victim.left - looked_at;
        let copied = match left > 0.0 {
            true => looked_at * valid,
            false => random,
        };
        self.add_random(victim.segment, -copied);
        self.add_random(self.copies.segment, copied);
        self.copies.written += copied;
        self.victim = (left > 0.0).then_some(Victim { left, ..victim });
        if self.victim.is_none() {
            self.empty.insert(0, victim.segment as u8);
        }
        if self.copies.written >= self.segment_size {
            self.copies = self.next_head(self.copies);
        }
        (looked_at * (1.0 - valid), copied)
    }

    /// The segment with the least valid data, if one has to be cleaned. From here on its data lie
    /// anywhere.
    fn choose_victim(&mut self) -> Option<Victim> {
        if self.empty.len() > RESERVE {
            return None;
        }
        let valid = |number: u8| {
            let number = usize::from(number);
            self.random_in(number) + self.segments[number].in_sequence
        };
        let places = 0..self.sealed.len();
        let place = places.min_by(|&one, &other| {
            let (one, other) = (self.sealed[one], self.sealed[other]);
            valid(one).total_cmp(&valid(other))
        })?;
        let number = usize::from(self.sealed.remove(place));
        let segment = &mut self.segments[number];
        segment.generation = segment.generation.wrapping_add(1);
        let in_sequence = std::mem::take(&mut segment.in_sequence);
        self.add_random(number, in_sequence);
        self.at_random += in_sequence;
        Some(Victim {
            segment: number,
            left: self.segment_size,
        })
    }

    /// Valid data over all segments.
    #[cfg(test)]
    pub(super) fn valid(&self) -> f64 {
        let segments = self.segments.iter().enumerate();
        segments
            .map(|(number, segment)| self.random_in(number) + segment.in_sequence)
            .sum()
    }
}
