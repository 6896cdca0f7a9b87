//! What one copy in the checkpoint file holds.

use crate::format::checksum::header_checksum;
use crate::format::database_header::{
    HeaderLogPosition, LogTime, Signature, put_signature, signature_at,
};
use crate::log::{eight, put, word};
use crate::position::{LogPosition, SEGMENT_BYTES};
use runtime::Buffer;

/// Bytes of a copy.
pub(super) const COPY: usize = SEGMENT_BYTES as usize;
const FILE_TYPE_CHECKPOINT: u8 = 3;

mod at {
    pub const POSITION: usize = 8;
    pub const TIME: usize = 16;
    pub const FILE_BYTES: usize = 24;
    pub const SIGNATURE: usize = 32;
    pub const FILE_TYPE: usize = 667;
}

/// What a copy says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Checkpoint {
    /// Recovery needs the log from here on.
    pub position: LogPosition,
    /// Bytes of a log file.
    pub log_file_size_bytes: u64,
    /// The log it belongs to.
    pub signature: Signature,
    /// When it was written.
    pub time: LogTime,
}

impl Checkpoint {
    pub(super) fn encode(&self) -> Buffer {
        let mut bytes = Buffer::zeroed(COPY);
        let position = HeaderLogPosition::from_stream(self.position.0, self.log_file_size_bytes);
        put(&mut bytes, at::POSITION, &position.encode());
        put(&mut bytes, at::TIME, &self.time.encode());
        put(
            &mut bytes,
            at::FILE_BYTES,
            &self.log_file_size_bytes.to_le_bytes(),
        );
        put_signature(&mut bytes, at::SIGNATURE, self.signature);
        bytes[at::FILE_TYPE] = FILE_TYPE_CHECKPOINT;
        let checksum = header_checksum(&bytes);
        put(&mut bytes, 0, &checksum.to_le_bytes());
        bytes
    }

    pub(super) fn decode(bytes: &[u8]) -> Option<Self> {
        let whole = bytes[at::FILE_TYPE] == FILE_TYPE_CHECKPOINT
            && word(bytes, 0) == header_checksum(bytes);
        let log_file_size_bytes = u64::from_le_bytes(eight(bytes, at::FILE_BYTES));
        let position = HeaderLogPosition::decode(eight(bytes, at::POSITION));
        whole.then(|| Self {
            position: LogPosition(position.to_stream(log_file_size_bytes)),
            log_file_size_bytes,
            signature: signature_at(bytes, at::SIGNATURE),
            time: LogTime::decode(eight(bytes, at::TIME)),
        })
    }
}
