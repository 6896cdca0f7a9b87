//! Reads and writes of volumes, and their completions.

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
        /// The disk group that the extent lies in.
        group: GroupId,
        /// The first sector in the group's address space.
        first_sector: u64,
    },
}

/// A run of sectors of a volume that lies in one place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Extent {
    /// Where the extent lies now.
    pub place: Place,
    /// Its length in sectors.
    pub sectors: u32,
}

/// A read that a pool is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolRead {
    /// Chosen by the asker and handed back.
    pub owner_id: u32,
    /// The volume that is read or written.
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
    /// The volume that is read or written.
    pub volume: VolumeId,
    /// What it is for.
    pub class: IoClass,
    /// Whether it is part of a stream, which neither heats a page nor lets one begin on solid
    /// state.
    pub sequential: bool,
}

/// What a group request of a pool is for: the top two bits of its number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RequestKind {
    /// A part of a read or write from above.
    Part,
    /// A page that moves or is zeroed.
    Move,
    /// A line that is copied into the read cache.
    Fill,
}

impl RequestKind {
    const SHIFT: u32 = 30;

    /// The number of the request of this kind with that number of its own.
    pub(crate) fn request(self, number: u32) -> u32 {
        assert!(number < 1 << Self::SHIFT, "too many requests in flight");
        (self as u32) << Self::SHIFT | number
    }

    /// The kind of a request and its number of its own.
    pub(crate) fn of(request: u32) -> (Self, u32) {
        let number = request & ((1 << Self::SHIFT) - 1);
        let kind = match request >> Self::SHIFT {
            0 => Self::Part,
            1 => Self::Move,
            _ => Self::Fill,
        };
        (kind, number)
    }

    pub(crate) fn owner(self, number: u32) -> u32 {
        self.request(number)
    }
}

/// A read or write that a pool was asked for is finished.
#[derive(Debug, Clone)]
pub struct PoolCompletion<P> {
    /// The number the asker gave.
    pub owner_id: u32,
    /// Whether all parts of the read or write succeeded.
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
