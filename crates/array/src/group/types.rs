//! What a back end is asked and what it answers.

use crate::BrokenRule;
use crate::Direction;
use crate::io::IoClass;
use crate::raid::GroupId;

/// Number of a station, in the order of [`super::BackendSettings::disk_names`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StationId(pub u16);

/// A read or a write of whole sectors of a group. It may span chunks and stripes.
#[derive(Debug, Clone)]
pub struct GroupRequest<P> {
    /// Chosen by the caller and handed back on completion.
    pub owner: u32,
    /// The group that was asked.
    pub group: GroupId,
    /// Whether sectors are read or written.
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
    /// The owner of the request.
    pub owner: u32,
    /// The group that was asked.
    pub group: GroupId,
    /// Whether sectors are read or written.
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
    /// The request ends beyond the end of the group.
    #[error(
        "sectors {first_sector} + {sectors} of group {} end beyond its {capacity_sectors} \
         sectors; ask within the group",
        group.0
    )]
    OutOfRange {
        /// The group that was asked.
        group: GroupId,
        /// First sector asked for.
        first_sector: u64,
        /// Number of sectors asked for.
        sectors: u32,
        /// Sectors of the group.
        capacity_sectors: u64,
    },
    /// More disks are gone than the level tolerates.
    #[error(
        "group {} has lost more disks than its level tolerates and is offline; its data must come \
         from a backup",
        group.0
    )]
    GroupFailed {
        /// The group that was asked.
        group: GroupId,
    },
    /// Too many columns of a stripe cannot be read at the same sector.
    #[error(
        "sector {first_sector} of group {} and perhaps more can neither be read nor computed \
         from the rest of the stripe; restore it from a backup",
        group.0
    )]
    Unreadable {
        /// The group that was asked.
        group: GroupId,
        /// The first such sector.
        first_sector: u64,
    },
}

/// Why a back end cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The settings break rules.
    #[error("the disk groups cannot exist: {}", BrokenRule::join(broken_rules))]
    Settings {
        /// Every rule the settings break.
        broken_rules: Vec<BrokenRule>,
    },
    /// There is not one disk per station.
    #[error("the disk groups need {needed} disks, {given} were given")]
    Disks {
        /// Stations in the settings.
        needed: usize,
        /// Disks that were passed in.
        given: usize,
    },
    /// A new disk does not hold what the old one held.
    #[error(
        "the new disk has {given_sectors} sectors and {needed_sectors} are in use on its \
         neighbours; take a larger one"
    )]
    TooSmall {
        /// Sectors in use on every disk of the group.
        needed_sectors: u64,
        /// Sectors of the new disk.
        given_sectors: u64,
    },
}
