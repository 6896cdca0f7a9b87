//! The first 4 KiB of a log file.

use super::layout::{FEWEST_SEGMENTS, SEGMENT, eight, put, word};
use crate::format::checksum::header_checksum;
use crate::format::database_header::{LogTime, Signature, put_signature, signature_at};
use runtime::Buffer;

/// Format 8.4000: segments of 4 KiB. Source: Exchange 2013.
const VERSION: [u32; 3] = [8, 4000, 2];
const FILE_TYPE_LOG: u8 = 2;
/// Where the attached databases are listed, and how far the list may go.
const ATTACHED: std::ops::Range<usize> = 1024..4096;

mod at {
    pub const GENERATION: usize = 4;
    pub const SEGMENT_BYTES: usize = 8;
    pub const HEADER_SEGMENTS: usize = 10;
    pub const FILE_SEGMENTS: usize = 12;
    pub const PAGE_SIZE: usize = 14;
    pub const CREATED: usize = 16;
    pub const PREVIOUS_CREATED: usize = 24;
    pub const VERSION: usize = 32;
    pub const SIGNATURE: usize = 64;
    pub const FILE_TYPE: usize = 667;
}

/// What a log file says of itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct LogFileHeader {
    pub(super) generation: u32,
    pub(super) file_segments: u16,
    pub(super) page_size_bytes: usize,
    pub(super) created: LogTime,
    /// When the file before this one was created; not set in the first.
    pub(super) previous_created: LogTime,
    /// The same in all files of one log.
    pub(super) signature: Signature,
    /// The databases whose changes are logged here.
    pub(super) attached: Vec<String>,
}

impl LogFileHeader {
    pub(super) fn encode(&self) -> Buffer {
        let mut bytes = Buffer::zeroed(SEGMENT);
        put(&mut bytes, at::GENERATION, &self.generation.to_le_bytes());
        put(
            &mut bytes,
            at::SEGMENT_BYTES,
            &(SEGMENT as u16).to_le_bytes(),
        );
        put(&mut bytes, at::HEADER_SEGMENTS, &1_u16.to_le_bytes());
        put(
            &mut bytes,
            at::FILE_SEGMENTS,
            &self.file_segments.to_le_bytes(),
        );
        put(
            &mut bytes,
            at::PAGE_SIZE,
            &(self.page_size_bytes as u16).to_le_bytes(),
        );
        put(&mut bytes, at::CREATED, &self.created.encode());
        put(
            &mut bytes,
            at::PREVIOUS_CREATED,
            &self.previous_created.encode(),
        );
        for (index, number) in VERSION.iter().enumerate() {
            put(&mut bytes, at::VERSION + 4 * index, &number.to_le_bytes());
        }
        put_signature(&mut bytes, at::SIGNATURE, self.signature);
        let list = self.attached.join("\n");
        assert!(list.len() < ATTACHED.len(), "the list of databases fits");
        put(&mut bytes, ATTACHED.start, list.as_bytes());
        bytes[at::FILE_TYPE] = FILE_TYPE_LOG;
        let checksum = header_checksum(&bytes);
        put(&mut bytes, 0, &checksum.to_le_bytes());
        bytes
    }

    /// The header in the first 4 KiB of a file, or what is wrong with it.
    pub(super) fn decode(bytes: &[u8]) -> Result<Self, &'static str> {
        if bytes[at::FILE_TYPE] != FILE_TYPE_LOG {
            return Err("it does not begin with the header of a log file");
        }
        if word(bytes, 0) != header_checksum(&bytes[..SEGMENT]) {
            return Err("the checksum of its header is wrong");
        }
        if word(bytes, at::VERSION) != VERSION[0] || word(bytes, at::VERSION + 4) != VERSION[1] {
            return Err("it is of another version");
        }
        if word(bytes, at::FILE_SEGMENTS) & 0xFFFF < FEWEST_SEGMENTS {
            return Err("by the size in its header it has no room for records");
        }
        let list = &bytes[ATTACHED];
        let length = list
            .iter()
            .position(|&byte| byte == 0)
            .unwrap_or(list.len());
        let attached = String::from_utf8_lossy(&list[..length]);
        Ok(Self {
            generation: word(bytes, at::GENERATION),
            file_segments: word(bytes, at::FILE_SEGMENTS) as u16,
            page_size_bytes: (word(bytes, at::PAGE_SIZE) & 0xFFFF) as usize,
            created: LogTime::decode(eight(bytes, at::CREATED)),
            previous_created: LogTime::decode(eight(bytes, at::PREVIOUS_CREATED)),
            signature: signature_at(bytes, at::SIGNATURE),
            attached: attached.lines().map(str::to_owned).collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_comes_back_and_damage_is_seen() {
        let header = LogFileHeader {
            generation: 0x1234,
            file_segments: 256,
            page_size_bytes: 32_768,
            created: LogTime {
                unix_ms: 1_386_000_000_000,
            },
            previous_created: LogTime::default(),
            signature: Signature {
                random: 99,
                created: LogTime {
                    unix_ms: 1_380_000_000_000,
                },
            },
            attached: vec!["mail.edb".to_owned(), "more.edb".to_owned()],
        };
        let mut bytes = header.encode();
        assert_eq!(LogFileHeader::decode(&bytes), Ok(header));
        bytes[20] ^= 4;
        assert!(LogFileHeader::decode(&bytes).is_err());
        bytes[20] ^= 4;
        // Its checksum is right, and there is no room for a record.
        for segments in [0u16, 3] {
            put(&mut bytes, at::FILE_SEGMENTS, &segments.to_le_bytes());
            let checksum = header_checksum(&bytes);
            put(&mut bytes, 0, &checksum.to_le_bytes());
            let error = LogFileHeader::decode(&bytes).unwrap_err();
            assert!(error.contains("no room for records"), "{error}");
        }
    }
}
