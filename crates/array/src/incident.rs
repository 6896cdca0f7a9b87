//! What broke and was repaired, as it happened: rare, so kept in a list until it is asked for.

use crate::raid::{GroupId, GroupState};

/// What sectors give back that do not give back what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SectorDamage {
    /// Nothing, as where the medium has a flaw, until they are written again.
    Unreadable,
    /// Something else, and the disk does not notice.
    Corrupted,
}

/// Something that happened to the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Incident {
    /// When it happened, ns since the model started.
    pub at_ns: u64,
    /// What has happened, and to what.
    pub kind: IncidentKind,
}

/// What can happen to an array. Disks and controllers go by their numbers, from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IncidentKind {
    /// The disk of that number failed.
    DiskFailed(u32),
    /// The disk of that number takes so many times as long for everything as its make does.
    DiskSlowed {
        /// Number of the disk in its array, from 0.
        disk: u32,
        /// How many times as long.
        factor: u32,
    },
    /// The disk of that number is as fast as its make again.
    DiskRecovered(u32),
    /// The bay of that number has a new, empty disk.
    DiskReplaced(u32),
    /// Places of 4 KiB of a disk cannot be read any more, or hold something else than what was written.
    SectorsDamaged {
        /// Number of the disk in its array, from 0.
        disk: u32,
        /// How many of them; fewer than were asked for where fewer hold data.
        places: u32,
        /// Which of the two.
        damage: SectorDamage,
    },
    /// What a disk gave back disagreed with its checksums, in so many sectors so far.
    ChecksumsDisagreed {
        /// Number of the disk in its array, from 0.
        disk: u32,
        /// One of the sectors of the disk.
        sector: u64,
        /// How many there were so far.
        sectors: u64,
    },
    /// A host's read failed, because contents cannot be read any more and cannot be computed.
    ReadFailed {
        /// Number of the volume.
        volume: u16,
        /// Where the read began.
        first_sector: u64,
        /// How long it was.
        sectors: u32,
    },
    /// The disk of that number has no credits for bursts left.
    CreditsSpent(u32),
    /// What a lost disk held is being computed onto the disk of that number.
    RebuildBegan(u32),
    /// That disk holds everything it should.
    RebuildEnded(u32),
    /// A group has another state.
    GroupChanged(GroupId, GroupState),
    /// A controller stopped working.
    ControllerFailed(u32),
    /// A controller serves the volumes of its failed partner.
    ControllerTookOver(u32),
    /// A controller works again.
    ControllerReturned(u32),
    /// A controller's cache would not survive a loss of power any more.
    CacheBatteryFailed(u32),
    /// A controller's cache would survive a loss of power again.
    CacheBatteryReturned(u32),
    /// Data of others has taken all that was free in a disk group.
    GroupFilled(GroupId),
    /// That data was removed.
    GroupEmptied(GroupId),
    /// The array has no power.
    PowerCut,
    /// The power of the array is back.
    PowerReturned,
    /// So many acknowledged sectors are gone.
    DataLost(u64),
}

impl IncidentKind {
    /// The word for it in results, in the words of `[[event]]` where an event can ask for it.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Self::DiskFailed(_) => "disk-fails",
            Self::DiskSlowed { .. } => "disk-slows",
            Self::DiskRecovered(_) => "disk-recovers",
            Self::DiskReplaced(_) => "disk-replaced",
            Self::SectorsDamaged {
                damage: SectorDamage::Unreadable,
                ..
            } => "sectors-unreadable",
            Self::SectorsDamaged {
                damage: SectorDamage::Corrupted,
                ..
            } => "sectors-corrupted",
            Self::ChecksumsDisagreed { .. } => "checksums-disagree",
            Self::ReadFailed { .. } => "read-fails",
            Self::CreditsSpent(_) => "credits-spent",
            Self::RebuildBegan(_) => "rebuild-begins",
            Self::RebuildEnded(_) => "rebuild-ends",
            Self::GroupChanged(_, GroupState::Healthy) => "group-healthy",
            Self::GroupChanged(_, GroupState::Degraded) => "group-degraded",
            Self::GroupChanged(_, GroupState::Critical) => "group-critical",
            Self::GroupChanged(_, GroupState::Failed) => "group-failed",
            Self::ControllerFailed(_) => "controller-fails",
            Self::ControllerTookOver(_) => "controller-takes-over",
            Self::ControllerReturned(_) => "controller-returns",
            Self::CacheBatteryFailed(_) => "cache-battery-fails",
            Self::CacheBatteryReturned(_) => "cache-battery-returns",
            Self::GroupFilled(_) => "tier-fills",
            Self::GroupEmptied(_) => "tier-freed",
            Self::PowerCut => "power-cut",
            Self::PowerReturned => "power-returns",
            Self::DataLost(_) => "data-lost",
        }
    }
}

/// What broke and was repaired since the list was asked for last.
#[derive(Debug, Default)]
pub(crate) struct IncidentLog {
    incidents: Vec<Incident>,
    ever_added: u64,
}

impl IncidentLog {
    /// Adds an incident that happens at `at_ns`.
    pub(crate) fn add(&mut self, at_ns: u64, kind: IncidentKind) {
        self.incidents.push(Incident { at_ns, kind });
        self.ever_added += 1;
    }

    /// Incidents that were added so far.
    pub(crate) fn ever_added(&self) -> u64 {
        self.ever_added
    }

    /// Hands over what was added since the last call.
    pub(crate) fn take(&mut self) -> Vec<Incident> {
        std::mem::take(&mut self.incidents)
    }
}
