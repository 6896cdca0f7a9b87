//! One request of a trace.

use array::HostOperation;

/// Bytes of a sector, the unit in which disks are addressed.
const SECTOR_BYTES: u64 = 512;

/// One request of a trace.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TraceRequest {
    /// The line of the file it comes from, from 1.
    pub line: u64,
    /// When it arrived, ns since the first request; `None` in a trace without times.
    pub arrival_ns: Option<u64>,
    /// How long its client waited before it, ns; 0 in a trace without think times.
    pub think_ns: u64,
    /// Number of its volume, by first appearance in the trace.
    pub volume: u32,
    /// What it asked for.
    pub operation: HostOperation,
    /// Where it began on the volume; ignored by a flush.
    pub offset_bytes: u64,
    /// How long it was; 0 for a flush.
    pub size_bytes: u64,
    /// How long it took, if somebody measured it, ns.
    pub measured_ns: Option<u64>,
}

/// The operation of a word as people write it, such as `read`, `R`, `write` or `discard`.
pub(super) fn operation_of(word: &str) -> Option<HostOperation> {
    let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
    if is(&["read", "r"]) {
        Some(HostOperation::Read)
    } else if is(&["write", "w"]) {
        Some(HostOperation::Write)
    } else if is(&["flush", "f", "sync", "fsync", "datasync", "fdatasync"]) {
        Some(HostOperation::Flush)
    } else if is(&["trim", "t", "discard", "d", "unmap"]) {
        Some(HostOperation::Trim)
    } else {
        None
    }
}

impl TraceRequest {
    /// Where it ended on the volume; 0 for a flush.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        match self.operation {
            HostOperation::Flush => 0,
            _ => self.offset_bytes.saturating_add(self.size_bytes),
        }
    }

    /// First sector and number of sectors: a request that does not begin or end at a sector
    /// touches all of the sectors that it lies in.
    #[must_use]
    pub fn sectors(&self) -> (u64, u64) {
        let first = self.offset_bytes / SECTOR_BYTES;
        let end = self.end_bytes().div_ceil(SECTOR_BYTES);
        (first, end.saturating_sub(first))
    }

    /// Whether it begins and ends at sectors.
    #[must_use]
    pub fn is_aligned(&self) -> bool {
        let at_sector = |bytes: u64| bytes.is_multiple_of(SECTOR_BYTES);
        at_sector(self.offset_bytes) && at_sector(self.size_bytes)
    }
}
