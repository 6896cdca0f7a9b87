//! One request of a trace.

use strum::IntoStaticStr;

/// Bytes of a sector, the unit in which disks are addressed.
const SECTOR_BYTES: u64 = 512;

/// What the request asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, IntoStaticStr, Default)]
#[strum(serialize_all = "kebab-case")]
pub enum TraceOperation {
    /// Hand over what is stored there.
    #[default]
    Read,
    /// Store new data there.
    Write,
    /// Make what was written before safe.
    Flush,
    /// The contents are not needed any more.
    Trim,
}

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
    pub operation: TraceOperation,
    /// Where it began on the volume; ignored by a flush.
    pub offset_bytes: u64,
    /// How long it was; 0 for a flush.
    pub size_bytes: u64,
    /// How long it took, if somebody measured it, ns.
    pub measured_ns: Option<u64>,
}

impl TraceOperation {
    /// The word in traces and results.
    #[must_use]
    pub fn word(self) -> &'static str {
        self.into()
    }

    /// The operation of a word as people write it, such as `read`, `R`, `write` or `discard`.
    pub(super) fn of(word: &str) -> Option<Self> {
        let is = |names: &[&str]| names.iter().any(|name| name.eq_ignore_ascii_case(word));
        if is(&["read", "r"]) {
            Some(Self::Read)
        } else if is(&["write", "w"]) {
            Some(Self::Write)
        } else if is(&["flush", "f", "sync", "fsync", "datasync", "fdatasync"]) {
            Some(Self::Flush)
        } else if is(&["trim", "t", "discard", "d", "unmap"]) {
            Some(Self::Trim)
        } else {
            None
        }
    }

    /// Whether it is about a stretch of the volume.
    #[must_use]
    pub fn has_stretch(self) -> bool {
        self != Self::Flush
    }
}

impl TraceRequest {
    /// Where it ended on the volume; 0 for a flush.
    #[must_use]
    pub fn end_bytes(&self) -> u64 {
        match self.operation {
            TraceOperation::Flush => 0,
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
