//! Requests to a disk and their completions.

use crate::Direction;

/// A read or a write of whole sectors, as the array sends it to one disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskRequest {
    /// Chosen by the caller and handed back on completion. The disk does not look at it.
    pub tag: u32,
    /// Whether sectors are read or written.
    pub direction: Direction,
    /// Address of the first sector.
    pub first_sector: u64,
    /// Length in sectors, at least one.
    pub sectors: u32,
}

/// The end of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskCompletion {
    /// The tag of the request that ended.
    pub tag: u32,
    /// When the disk took the request from its on-board queue and began to serve it.
    pub started_ns: u64,
}
