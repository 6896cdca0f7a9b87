//! What a back end is asked and what it answers.

use crate::Direction;

/// Number of a station, in the order of [`super::BackendSettings::disk_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StationId(pub u16);

/// Number of a group, in the order of [`super::BackendSettings::group_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct GroupId(pub u16);

/// What a request is for. It decides how long it waits at the disks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IoClass {
    /// A host waits for the data.
    HostRead,
    /// A host waits for the write to be durable (write-through).
    HostWrite,
    /// The write cache gives a dirty block to the disks.
    Destage,
    /// The cache reads ahead of a sequential host.
    ReadAhead,
    /// A page moves between tiers.
    Migration,
    /// A copy goes into an SSD read cache.
    CacheFill,
    /// The contents of a lost disk are computed anew.
    Rebuild,
    /// Everything is read to find what cannot be read.
    Scrub,
}

impl IoClass {
    /// How many classes there are.
    pub const COUNT: usize = 8;
}

/// Which room above asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum OwnerRoom {
    /// The controllers and their caches.
    Front,
    /// The pools.
    Pool,
}

/// Whose request it is; handed back on completion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Owner {
    /// The room that asked.
    pub room: OwnerRoom,
    /// Chosen by that room.
    pub id: u32,
}

/// A read or a write of whole sectors of a group. It may span chunks and stripes.
#[derive(Debug, Clone)]
pub struct GroupRequest<P> {
    /// Who asks.
    pub owner: Owner,
    /// The group.
    pub group: GroupId,
    /// Read or write.
    pub direction: Direction,
    /// Address of the first sector in the group.
    pub first_sector: u64,
    /// Length in sectors, at least one.
    pub sectors: u32,
    /// What it is for.
    pub class: IoClass,
    /// What to write; the default for a read.
    pub payload: P,
}

/// The end of a request.
#[derive(Debug, Clone)]
pub struct GroupCompletion<P> {
    /// Who asked.
    pub owner: Owner,
    /// The group.
    pub group: GroupId,
    /// Read or write.
    pub direction: Direction,
    /// Whether it succeeded. After a failed write the sectors hold the old or the new contents or
    /// cannot be read, each sector on its own.
    pub result: Result<(), GroupError>,
    /// What was read; the default for a write and after an error.
    pub payload: P,
    /// When the request was submitted.
    pub submitted_ns: u64,
}

/// Why a group could not do what it was asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// Beyond the end.
    #[error(
        "sectors {first_sector} + {sectors} of group {} end beyond its {capacity_sectors} \
         sectors; ask within the group",
        group.0
    )]
    OutOfRange {
        /// The group.
        group: GroupId,
        /// First sector asked for.
        first_sector: u64,
        /// Sectors asked for.
        sectors: u32,
        /// Sectors of the group.
        capacity_sectors: u64,
    },
    /// More disks are gone than the level bears.
    #[error(
        "group {} has lost more disks than its level bears and is offline; its data must come \
         from a backup",
        group.0
    )]
    GroupFailed {
        /// The group.
        group: GroupId,
    },
    /// Too many columns of a stripe cannot be read at the same sector.
    #[error(
        "sector {first_sector} of group {} and perhaps more can neither be read nor computed \
         from the rest of the stripe; write it anew from a backup",
        group.0
    )]
    Unreadable {
        /// The group.
        group: GroupId,
        /// The first such sector.
        first_sector: u64,
    },
}

/// How much a group can still lose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum GroupState {
    /// All disks are there.
    Healthy,
    /// Disks are gone, and the next one can go too.
    Degraded,
    /// The next disk may take data with it.
    Critical,
    /// Offline.
    Failed,
}
