//! By what an opened database is known again.

use crate::format::database_header::{DatabaseHeader, HeaderLogPosition};
use crate::position::LogPosition;

/// By what an opened database is known again. Each opening writes another time and log position into
/// the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// Where hashes of log records begin.
    pub from: LogPosition,
    /// 32 bits of what distinguishes the database from others.
    pub database: u32,
    /// 32 bits of its log, and of when and where in the log it was opened.
    pub attached: u32,
}

impl Opening {
    /// The opening that a header states; hashes of log records begin at `from`.
    pub(crate) fn of(header: &DatabaseHeader, from: LogPosition) -> Self {
        let mut database = crc32fast::Hasher::new();
        database.update(&header.signature.random.to_le_bytes());
        database.update(&header.signature.created.encode());
        let mut attached = crc32fast::Hasher::new();
        attached.update(&header.log_signature.random.to_le_bytes());
        attached.update(&header.log_signature.created.encode());
        attached.update(&header.attach.time.encode());
        attached.update(&header.attach.position.encode());
        Self {
            from,
            database: database.finalize(),
            attached: attached.finalize(),
        }
    }

    /// Position and hash, as they are sent elsewhere.
    #[must_use]
    pub fn to_numbers(self) -> (u64, u64) {
        let hash = u64::from(self.database) << 32 | u64::from(self.attached);
        (self.from.0, hash)
    }

    /// The opening of these numbers.
    #[must_use]
    pub fn from_numbers(position: u64, hash: u64) -> Self {
        Self {
            from: LogPosition(position),
            database: (hash >> 32) as u32,
            attached: hash as u32,
        }
    }

    /// Whether the header was written when the log had come further than at this opening.
    pub(crate) fn is_before(&self, attached: HeaderLogPosition, log_file_bytes: u64) -> bool {
        attached.to_stream(log_file_bytes) > self.from.0
    }
}
