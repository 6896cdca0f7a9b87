//! Disk groups as the back end runs them: members that can be missing, and the groups on them.

use crate::raid::{Geometry, Layout};

use super::{GroupId, GroupState};

/// How much of a member can be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MemberState {
    /// All of it.
    Present,
    /// Nothing: the disk failed and nothing has taken its place.
    Missing,
}

/// One of the disks a layout is laid out over.
#[derive(Debug, Clone)]
pub(super) struct Member {
    /// The station that holds it.
    pub(super) station: u16,
    pub(super) state: MemberState,
}

/// Disks with a common fate.
#[derive(Debug, Clone)]
pub(super) struct DiskSet {
    pub(super) members: Vec<Member>,
    /// Stations of spares that are free.
    pub(super) spares: Vec<u16>,
    /// Groups laid out over the members.
    pub(super) groups: Vec<u16>,
    /// Whether every member is present: what the hot path asks first.
    pub(super) all_present: bool,
}

impl DiskSet {
    /// The member that a station holds.
    pub(super) fn member_at(&self, station: u16) -> Option<u16> {
        let position = self
            .members
            .iter()
            .position(|member| member.station == station);
        position.map(|member| member as u16)
    }

    /// Brings `all_present` up to date.
    pub(super) fn note_presence(&mut self) {
        self.all_present = self
            .members
            .iter()
            .all(|member| member.state == MemberState::Present);
    }
}

/// A group: a layout over a disk set.
#[derive(Debug, Clone)]
pub(super) struct Group {
    pub(super) set: u16,
    pub(super) layout: Layout,
    pub(super) geometry: Geometry,
    pub(super) capacity_sectors: u64,
    pub(super) state: GroupState,
}

impl Group {
    pub(super) fn new(set: u16, layout: Layout) -> Self {
        let geometry = *layout.geometry();
        Self {
            set,
            layout,
            geometry,
            capacity_sectors: geometry.capacity_sectors(),
            state: GroupState::Healthy,
        }
    }

    /// The state that follows from the members. A failed group stays failed.
    pub(super) fn note_state(&mut self, set: &DiskSet) {
        if self.state == GroupState::Failed {
            return;
        }
        let tolerance = self.geometry.tolerance();
        let mut gone = vec![0u16; set.members.len()];
        for (number, member) in set.members.iter().enumerate() {
            if member.state != MemberState::Present {
                gone[usize::from(self.layout.domain(number as u16))] += 1;
            }
        }
        let worst = gone.into_iter().max().unwrap_or(0);
        self.state = match worst {
            _ if worst > tolerance => GroupState::Failed,
            0 => GroupState::Healthy,
            _ if worst == tolerance => GroupState::Critical,
            _ => GroupState::Degraded,
        };
    }
}

/// What a group is, for those above.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GroupView<'a> {
    /// The group.
    pub id: GroupId,
    /// Its name in the settings.
    pub name: &'a str,
    /// How much it can still lose.
    pub state: GroupState,
    /// Chunks, columns and stripes.
    pub geometry: Geometry,
    /// Sectors of data.
    pub capacity_sectors: u64,
}
