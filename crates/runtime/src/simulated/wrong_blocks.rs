//! Blocks and reads that are not what was written last.

use super::content::Block;
use std::fmt;

/// Completed writes that are remembered, to know which of them went on beside a read.
pub(super) const RECENT_WRITES: usize = 256;

/// A block of 4 KiB that is not, or was not in one read, what was written last.
#[derive(Clone, PartialEq, Eq)]
pub struct WrongBlock {
    /// Where it begins in the file.
    pub offset_bytes: u64,
    /// What reads find there, or what the read returned.
    pub found: Block,
    /// What was written there last.
    pub expected: Block,
}

impl fmt::Debug for WrongBlock {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "WrongBlock at {}", self.offset_bytes)
    }
}

/// A read that returned other bytes than the file held.
#[derive(Debug, Clone)]
pub struct WrongRead {
    /// The file, with its directory.
    pub file: String,
    /// The blocks that were wrong.
    pub blocks: Vec<WrongBlock>,
    /// Where other blocks begin that were written beside the read: which of their states it returns is
    /// open.
    pub written_beside: Vec<u64>,
}
