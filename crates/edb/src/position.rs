//! Where things are: pages in the database file, records in the endless log.

use std::fmt;

/// Bytes of one log segment, the unit of log writes and the block of the log's checksum.
pub const SEGMENT_BYTES: u64 = 4096;

/// The number of a page; pages count from 1. Page `n` lies at `(n + 1) * page size` in the file,
/// behind the two copies of the database header.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PageNumber(pub u32);

impl PageNumber {
    /// Offset of the page in the database file.
    #[must_use]
    pub fn offset_bytes(self, page_size_bytes: usize) -> u64 {
        (u64::from(self.0) + 1) * page_size_bytes as u64
    }

    /// The page `count` further on.
    #[must_use]
    pub fn after(self, count: u32) -> Self {
        Self(self.0 + count)
    }
}

impl fmt::Display for PageNumber {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl From<u32> for PageNumber {
    fn from(number: u32) -> Self {
        Self(number)
    }
}

impl From<PageNumber> for u32 {
    fn from(page: PageNumber) -> Self {
        page.0
    }
}

/// A byte in the endless stream of log files: `generation * log file size + offset in the file`.
/// Generations count from 1, so the smallest position of a record is larger than
/// [`LogPosition::START`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct LogPosition(pub u64);

impl LogPosition {
    /// Lies before every record, as generations count from 1.
    pub const START: Self = Self(0);

    /// The position of byte `offset_bytes` of log file `generation`.
    ///
    /// # Panics
    /// If the offset is not inside the file, or at its end.
    #[must_use]
    pub fn new(generation: u32, offset_bytes: u64, log_file_size_bytes: u64) -> Self {
        assert!(
            offset_bytes <= log_file_size_bytes,
            "byte {offset_bytes} is not inside a log file of {log_file_size_bytes} bytes"
        );
        Self(u64::from(generation) * log_file_size_bytes + offset_bytes)
    }

    /// The log file this position is in.
    #[must_use]
    pub fn generation(self, log_file_size_bytes: u64) -> u32 {
        (self.0 / log_file_size_bytes) as u32
    }

    /// The offset in that file.
    #[must_use]
    pub fn offset_bytes(self, log_file_size_bytes: u64) -> u64 {
        self.0 % log_file_size_bytes
    }

    /// Bytes of log from `earlier` to here; 0 if `earlier` is later.
    #[must_use]
    pub fn bytes_since(self, earlier: Self) -> u64 {
        self.0.saturating_sub(earlier.0)
    }
}

impl fmt::Display for LogPosition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "log byte {:#x}", self.0)
    }
}

/// Where a record lies in the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct LogSpan {
    /// Its first byte. Reading the log from here yields this record first.
    pub begin: LogPosition,
    /// The byte after its last one. The record is durable once the log is durable up to here.
    pub end: LogPosition,
}
