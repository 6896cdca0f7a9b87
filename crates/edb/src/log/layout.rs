//! How records lie in a log file.
//!
//! A file is a 4 KiB header and segments of 4 KiB, the last of which stays empty: whoever writes the
//! end of a file writes the rest of it, too. A segment has a header of 40 bytes:
//!
//! | bytes | what |
//! |---|---|
//! | 0..8 | checksum, with the segment's number as its seed |
//! | 8..16 | position of the segment: byte (2), segment (2), generation (4) |
//! | 16..24 | time of writing |
//! | 24..28 | the random number of the log's signature |
//! | 28..32 | number of the segment at which the write request began |
//! | 32..36 | CRC-32 of all bytes but these and the checksum |
//! | 36..40 | flags: 1 = the file ends here, 2 = a record begun before is void |
//!
//! The rest are records, one after the other, running on from segment to segment: one byte of kind,
//! three of length, the record. A zero byte in the place of a kind says that the rest of the segment
//! is empty: the no-op that fills up a segment when somebody waits for it.
//!
//! The checksum is ESE's, an XOR that does not see a lost sector full of repetitions; hence the CRC.
//!
//! A segment is written once. What an earlier life of the file left behind is recognised by position and
//! generation; what a torn request left behind, by the segment at which the request began.

use crate::format::checksum::segment_checksum;
use crate::format::database_header::{HeaderLogPosition, LogTime};
use crate::position::{LogPosition, SEGMENT_BYTES};
use crate::seeded_bugs::{SeededBug, is_seeded};

/// Bytes of a segment.
pub(super) const SEGMENT: usize = SEGMENT_BYTES as usize;
/// Segments of the smallest file: header, two with records, and the last one, which stays empty.
pub(super) const FEWEST_SEGMENTS: u32 = 4;
/// Bytes of its header.
pub(super) const SEGMENT_HEADER: usize = 40;
/// Bytes before each record: its kind and its length.
pub(super) const FRAMING: usize = 4;
/// The kind of every record of the engine.
pub(super) const KIND_RECORD: u8 = 1;
/// The kind that says that the rest of the segment is empty.
pub(super) const KIND_NOTHING: u8 = 0;
/// The flag on the last segment of a file that is not full.
const FLAG_FILE_ENDS: u32 = 1;
/// The flag that voids a record whose rest was lost in a crash.
const FLAG_CUTS_RECORD: u32 = 2;
/// Length has three bytes.
const MOST_LENGTH: usize = (1 << 24) - 1;

mod at {
    pub const CHECKSUM: usize = 0;
    pub const POSITION: usize = 8;
    pub const TIME: usize = 16;
    pub const STREAM: usize = 24;
    pub const REQUEST: usize = 28;
    pub const CRC: usize = 32;
    pub const FLAGS: usize = 36;
}

/// The arithmetic of positions for one size of log files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Geometry {
    pub(super) file_bytes: u64,
}

impl Geometry {
    pub(super) fn new(file_bytes: u64) -> Self {
        assert!(
            file_bytes.is_multiple_of(SEGMENT_BYTES)
                && file_bytes >= u64::from(FEWEST_SEGMENTS) * SEGMENT_BYTES,
            "a log file of {file_bytes} bytes has no room for records"
        );
        Self { file_bytes }
    }

    /// Segments of a file, its header among them.
    pub(super) fn segments(self) -> u32 {
        (self.file_bytes / SEGMENT_BYTES) as u32
    }

    /// Number of the last segment that holds records; the first is 1.
    pub(super) fn last_segment(self) -> u32 {
        self.segments() - 2
    }

    /// Where segment `number` of `generation` begins.
    pub(super) fn segment_start(self, generation: u32, number: u32) -> LogPosition {
        let offset = u64::from(number) * SEGMENT_BYTES;
        LogPosition::new(generation, offset, self.file_bytes)
    }

    /// The position where the byte that follows `position` can really lie: never in a header or in
    /// the unused segment.
    pub(super) fn normalised(self, position: LogPosition) -> LogPosition {
        let generation = position.generation(self.file_bytes).max(1);
        let offset = if generation == position.generation(self.file_bytes) {
            position.offset_bytes(self.file_bytes).max(SEGMENT_BYTES)
        } else {
            SEGMENT_BYTES
        };
        let number = (offset / SEGMENT_BYTES) as u32;
        if number > self.last_segment() {
            return self.normalised(LogPosition::new(generation + 1, 0, self.file_bytes));
        }
        let within = (offset % SEGMENT_BYTES).max(SEGMENT_HEADER as u64);
        let start = self.segment_start(generation, number);
        LogPosition(start.0 + within)
    }

    /// Generation, segment and byte in the segment of a normalised position.
    pub(super) fn place(self, position: LogPosition) -> (u32, u32, usize) {
        let offset = position.offset_bytes(self.file_bytes);
        let generation = position.generation(self.file_bytes);
        let number = (offset / SEGMENT_BYTES) as u32;
        (generation, number, (offset % SEGMENT_BYTES) as usize)
    }

    /// Bytes of records that still fit into the file from a normalised position.
    pub(super) fn room(self, position: LogPosition) -> usize {
        let (_, number, byte) = self.place(position);
        let further = (self.last_segment() - number) as usize;
        SEGMENT - byte + further * (SEGMENT - SEGMENT_HEADER)
    }

    /// Bytes of the largest record.
    pub(super) fn most_record_bytes(self) -> usize {
        let room = self.last_segment() as usize * (SEGMENT - SEGMENT_HEADER);
        (room - FRAMING).min(MOST_LENGTH)
    }
}

/// The framing of a record of `length` bytes.
pub(super) fn framing(length: usize) -> [u8; FRAMING] {
    assert!(
        length <= MOST_LENGTH,
        "a record has at most {MOST_LENGTH} bytes"
    );
    let [a, b, c, _] = (length as u32).to_le_bytes();
    [KIND_RECORD, a, b, c]
}

/// What a segment says of itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct SegmentHead {
    pub(super) generation: u32,
    pub(super) number: u32,
    pub(super) time: LogTime,
    /// The random number of the log's signature.
    pub(super) stream: u32,
    /// The segment at which the write request began.
    pub(super) request: u32,
    pub(super) file_ends: bool,
    /// The record that should go on here was lost in a crash.
    pub(super) cuts_record: bool,
}

impl SegmentHead {
    /// Completes a segment for writing.
    pub(super) fn seal(&self, segment: &mut [u8]) {
        let position = HeaderLogPosition {
            generation: self.generation,
            sector: self.number as u16,
            byte: 0,
        };
        let flags = if self.file_ends { FLAG_FILE_ENDS } else { 0 }
            | if self.cuts_record {
                FLAG_CUTS_RECORD
            } else {
                0
            };
        put(segment, at::POSITION, &position.encode());
        put(segment, at::TIME, &self.time.encode());
        put(segment, at::STREAM, &self.stream.to_le_bytes());
        put(segment, at::REQUEST, &self.request.to_le_bytes());
        put(segment, at::FLAGS, &flags.to_le_bytes());
        let crc = crc_of(segment);
        put(segment, at::CRC, &crc.to_le_bytes());
        let checksum = segment_checksum(segment, self.number);
        put(segment, at::CHECKSUM, &checksum.to_le_bytes());
    }

    /// The generation that a segment says it is of.
    pub(super) fn generation(segment: &[u8]) -> u32 {
        HeaderLogPosition::decode(eight(segment, at::POSITION)).generation
    }

    /// The head of a segment that is whole and is segment `number` of `generation` of the log
    /// `stream`; anything else is `None`.
    pub(super) fn verify(
        segment: &[u8],
        generation: u32,
        number: u32,
        stream: u32,
    ) -> Option<Self> {
        let position = HeaderLogPosition::decode(eight(segment, at::POSITION));
        let expected = HeaderLogPosition {
            generation,
            sector: number as u16,
            byte: 0,
        };
        if position != expected || word(segment, at::STREAM) != stream {
            return None;
        }
        let stored = u64::from_le_bytes(eight(segment, at::CHECKSUM));
        let crc_agrees = word(segment, at::CRC) == crc_of(segment);
        let agrees = stored == segment_checksum(segment, number) && crc_agrees;
        if !agrees && !is_seeded(SeededBug::TornSegmentAccepted) {
            return None;
        }
        Some(Self {
            generation,
            number,
            time: LogTime::decode(eight(segment, at::TIME)),
            stream,
            request: word(segment, at::REQUEST),
            file_ends: word(segment, at::FLAGS) & FLAG_FILE_ENDS != 0,
            cuts_record: word(segment, at::FLAGS) & FLAG_CUTS_RECORD != 0,
        })
    }
}

fn crc_of(segment: &[u8]) -> u32 {
    let mut crc = crc32fast::Hasher::new();
    crc.update(&segment[at::CHECKSUM + 8..at::CRC]);
    crc.update(&segment[at::CRC + 4..]);
    crc.finalize()
}

pub(crate) fn word(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

pub(crate) fn eight(bytes: &[u8], at: usize) -> [u8; 8] {
    let mut eight = [0; 8];
    eight.copy_from_slice(&bytes[at..at + 8]);
    eight
}

pub(crate) fn put(bytes: &mut [u8], at: usize, value: &[u8]) {
    bytes[at..at + value.len()].copy_from_slice(value);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_never_lie_in_headers_or_in_the_unused_segment() {
        let geometry = Geometry::new(65_536);
        assert_eq!(geometry.last_segment(), 14);
        for position in 0..3 * 65_536 {
            let normal = geometry.normalised(LogPosition(position));
            let (generation, number, byte) = geometry.place(normal);
            assert!(normal.0 >= position && generation >= 1, "{position}");
            assert!(
                (1..=14).contains(&number) && byte >= SEGMENT_HEADER,
                "{position}"
            );
            assert_eq!(geometry.normalised(normal), normal);
        }
        let first = geometry.normalised(LogPosition::START);
        assert_eq!(geometry.room(first), geometry.most_record_bytes() + FRAMING);
    }

    #[test]
    fn a_segment_knows_its_place() {
        let mut segment = vec![7; SEGMENT];
        let head = SegmentHead {
            generation: 9,
            number: 3,
            time: LogTime {
                unix_ms: 1_386_000_000_123,
            },
            stream: 77,
            request: 2,
            file_ends: true,
            cuts_record: true,
        };
        head.seal(&mut segment);
        assert_eq!(SegmentHead::verify(&segment, 9, 3, 77), Some(head));
        assert_eq!(SegmentHead::verify(&segment, 9, 4, 77), None);
        assert_eq!(SegmentHead::verify(&segment, 8, 3, 77), None);
        assert_eq!(SegmentHead::verify(&segment, 9, 3, 78), None);
        segment[2000] ^= 1;
        assert_eq!(SegmentHead::verify(&segment, 9, 3, 77), None);
    }

    #[test]
    fn a_lost_sector_of_repetitions_is_seen() {
        let mut segment: Vec<u8> = (0..SEGMENT).map(|byte| byte as u8).collect();
        let head = SegmentHead {
            generation: 1,
            number: 1,
            time: LogTime::default(),
            stream: 5,
            request: 1,
            file_ends: false,
            cuts_record: false,
        };
        head.seal(&mut segment);
        let whole = segment_checksum(&segment, 1);
        segment[1024..1536].fill(0);
        assert_eq!(
            segment_checksum(&segment, 1),
            whole,
            "the XOR does not see it"
        );
        assert_eq!(SegmentHead::verify(&segment, 1, 1, 5), None);
    }
}
