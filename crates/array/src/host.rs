//! Requests of hosts, and their completions.

use std::fmt;

use thiserror::Error;

/// Number of a volume: its place in the settings, from zero.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VolumeId(pub u16);

impl fmt::Display for VolumeId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "volume {}", self.0)
    }
}

/// How the first write to a stretch of a volume came, which can decide where the pool puts it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FirstWrite {
    /// As part of a long run of ascending addresses.
    Sequential,
    /// At an address that continues no run.
    Random,
}

/// What a host wants done with a stretch of a volume.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum HostOperation {
    /// Hand over what is stored there.
    #[default]
    Read,
    /// Store the payload there; acknowledged when it is as safe as the settings promise.
    Write,
    /// Acknowledge once everything acknowledged before is as safe as the settings promise. The
    /// stretch is ignored: a flush covers its volume.
    Flush,
    /// The host no longer needs the contents. Sectors of a page that is given back read as zero
    /// until they are written again; all others keep their contents.
    Trim,
}

impl HostOperation {
    /// The word for it in traces and results.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Flush => "flush",
            Self::Trim => "trim",
        }
    }

    /// Whether it is about a stretch of the volume.
    #[must_use]
    pub fn has_stretch(self) -> bool {
        self != Self::Flush
    }
}

/// One command of a host.
#[derive(Debug, Clone)]
pub struct HostRequest<P> {
    /// Chosen by the host and handed back; the array does not look at it.
    pub tag: u64,
    /// The volume it goes to.
    pub volume: VolumeId,
    /// What the host wants done.
    pub operation: HostOperation,
    /// Address of the first sector within the volume.
    pub first_sector: u64,
    /// Length in sectors; at least one, except for a flush.
    pub sectors: u32,
    /// What to write; ignored by every other operation.
    pub payload: P,
}

/// The end of a command.
#[derive(Debug, Clone)]
pub struct HostCompletion<P> {
    /// The tag of the request.
    pub tag: u64,
    /// When the host submitted it.
    pub submitted_ns: u64,
    /// When its end reached the host.
    pub completed_ns: u64,
    /// What became of it. After an error nothing is known of the sectors a write was meant for.
    pub result: Result<(), HostError>,
    /// What was read; empty for every other operation and after an error.
    pub payload: P,
}

/// Why a command failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Error)]
pub enum HostError {
    /// The settings name no such volume.
    #[error("There is no such volume; use one that the settings of the array list.")]
    NoSuchVolume,
    /// The stretch is empty or ends beyond the volume.
    #[error("The sectors do not lie within the volume; stay below its capacity.")]
    OutOfRange,
    /// No controller serves the volume, and none came back in time.
    #[error("No working controller serves the volume; restore one.")]
    NoPath,
    /// The pool has no page left for a first write.
    #[error("The pool is full; add disks to it or trim volumes.")]
    PoolFull,
    /// More disks have failed than the RAID level tolerates.
    #[error("The disk group has failed; its contents have to be restored from elsewhere.")]
    GroupFailed,
    /// Sectors of a disk cannot be read, and the redundancy does not make up for it.
    #[error(
        "The sectors cannot be read, and nothing that they could be computed from; write them again."
    )]
    Unreadable,
    /// Acknowledged data went down with a controller before they reached a disk, or their disk group
    /// had failed by then.
    #[error(
        "Acknowledged data of these sectors are lost, with a controller or a disk group; write them again."
    )]
    DataLost,
}
