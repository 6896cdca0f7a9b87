//! What an open database says of durable commits, and by what it is known again.

use crate::format::database_header::DatabaseHeader;
use crate::position::LogPosition;

/// By what an opened database is known again. Each opening writes another time and log position into
/// the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Opening {
    /// Where hashes of log records begin.
    pub from: LogPosition,
    /// When it was opened, in seconds since 1970.
    pub at_s: u32,
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
            at_s: seconds(header),
            database: database.finalize(),
            attached: attached.finalize(),
        }
    }

    /// The hash that stands for database and opening, as it is sent elsewhere with the other numbers.
    #[must_use]
    pub fn hash(&self) -> u64 {
        u64::from(self.database) << 32 | u64::from(self.attached)
    }

    /// The opening of these numbers.
    #[must_use]
    pub fn from_numbers(at_s: u32, position: u64, hash: u64) -> Self {
        Self {
            from: LogPosition(position),
            at_s,
            database: (hash >> 32) as u32,
            attached: hash as u32,
        }
    }

    /// Whether the opening that the header states came after this one: by the clock, and within a second
    /// by its position in the log.
    pub(crate) fn is_before(&self, header: &DatabaseHeader, log_file_bytes: u64) -> bool {
        let position = header.attach.position.to_stream(log_file_bytes);
        (seconds(header), position) > (self.at_s, self.from.0)
    }
}

/// When the database was opened last, in seconds since 1970.
fn seconds(header: &DatabaseHeader) -> u32 {
    (header.attach.time.unix_ms / 1_000) as u32
}

/// A commit that is durable and has been acknowledged.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct AcknowledgedCommit {
    /// Where its record begins in the log.
    pub position: LogPosition,
    /// The hash of the record, see [`crate::log::RecordChain::hash`].
    pub hash: u64,
}

/// Somebody who wants to know of commits.
pub trait CommitObserver {
    /// A commit is on stable storage. Called before the session hears of it; must not block.
    fn acknowledged(&self, commit: AcknowledgedCommit);
}
