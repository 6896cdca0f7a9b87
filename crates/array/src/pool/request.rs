//! The words between a pool and the rooms above it.

use thiserror::Error;

use crate::VolumeId;
use crate::group::{GroupError, GroupId, IoClass};

/// Where an extent of a volume lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Nowhere: never written, reads as zeros.
    Unallocated,
    /// In a disk group, beginning at this sector of it.
    Group {
        /// The disk group.
        group: GroupId,
        /// The first sector in the group's address space.
        first_sector: u64,
    },
}

/// A run of sectors of a volume that lies in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where it lies.
    pub place: Place,
    /// Its length.
    pub sectors: u32,
}

/// A read that a pool is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRead {
    /// Chosen by the asker and handed back.
    pub owner_id: u32,
    /// The volume.
    pub volume: VolumeId,
    /// Address of the first sector within the volume.
    pub first_sector: u64,
    /// Length, at least one.
    pub sectors: u32,
    /// What it is for.
    pub class: IoClass,
    /// Whether it is part of a stream. Streams neither heat a page nor fill a read cache, unless
    /// the settings say so.
    pub sequential: bool,
}

/// A write that a pool is asked for; its pieces come beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolWrite {
    /// Chosen by the asker and handed back.
    pub owner_id: u32,
    /// The volume.
    pub volume: VolumeId,
    /// What it is for.
    pub class: IoClass,
    /// Whether it is part of a stream, which neither heats a page nor lets one begin on solid
    /// state.
    pub sequential: bool,
}

/// A read or write that a pool was asked for is finished.
#[derive(Debug, Clone)]
pub struct PoolCompletion<P> {
    /// The number the asker gave.
    pub owner_id: u32,
    /// Whether it succeeded.
    pub result: Result<(), PoolError>,
    /// What was read; empty after a write or an error.
    pub payload: P,
}

/// Why a pool could not do what it was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum PoolError {
    /// No disk group of the pool has a free page.
    #[error("the pool is full; add a disk group to it, or trim or delete what is no longer needed")]
    Full,
    /// The disk group below could not do its part.
    #[error(transparent)]
    Group(#[from] GroupError),
}

/// No disk group of the pool has a free page for a first write.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
#[error(
    "the pool is full: {needed} pages are needed, {free} are free; add a disk group to it, or trim \
     or delete what is no longer needed"
)]
pub struct PoolFull {
    /// Pages the write needs.
    pub needed: u64,
    /// Pages that are free.
    pub free: u64,
}
