//! What goes wrong, and what is put right by hand.

use crate::disk::{Disk, DiskModel};
use crate::payload::Payload;

use super::backend::{Backend, BackendError};
use super::set::MemberState;
use super::{GroupId, GroupState, StationId};
use crate::{Incident, IncidentKind};

impl<P: Payload> Backend<P> {
    /// A disk fails: what it held is gone, and what waited for it goes on without it. A spare of
    /// its disk group takes its place at once if there is one; in a Vraid without spares the free
    /// segments of its storage set do.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn fail_disk(&mut self, now_ns: u64, station: StationId) {
        self.assert_station(station);
        let number = usize::from(station.0);
        if !self.stations[number].is_working() {
            return;
        }
        self.happened(now_ns, IncidentKind::DiskFailed(u32::from(station.0)));
        let mut lost = Vec::new();
        self.stations[number].fail(now_ns, station.0, &mut self.ops, &mut lost);
        self.agenda.set_station(number, None);
        self.undeliverable.extend(lost);
        let set_number = self.set_of(station);
        let set = &mut self.sets[usize::from(set_number)];
        set.spares.retain(|&spare| spare != station.0);
        if set.space.is_some() {
            self.leave_disk(now_ns, set_number, station);
        } else if let Some(member) = set.member_at(station.0) {
            set.members[usize::from(member)].state = MemberState::Missing;
            self.note_states(now_ns, set_number);
            self.drop_rebuild(set_number, member);
            self.use_spare(now_ns, set_number);
        }
        self.settle(now_ns);
    }

    /// Puts a new, blank disk into a bay. If the bay's disk still works it is pulled first. The
    /// lost contents are rebuilt onto the new disk; if a spare has taken over, or nothing was
    /// lost, the new disk is a spare. In a Vraid without spares it is free room.
    ///
    /// # Errors
    ///
    /// [`BackendError::TooSmall`] for a disk smaller than what is laid out on its neighbours.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn replace_disk(
        &mut self,
        now_ns: u64,
        station: StationId,
        disk: DiskModel,
    ) -> Result<(), BackendError> {
        self.assert_station(station);
        let set_number = self.set_of(station);
        let needed_sectors = self.sets[usize::from(set_number)].member_sectors;
        if disk.capacity_sectors() < needed_sectors {
            return Err(BackendError::TooSmall {
                needed_sectors,
                given_sectors: disk.capacity_sectors(),
            });
        }
        self.fail_disk(now_ns, station);
        self.stations[usize::from(station.0)].replace(disk, &self.dispatch);
        self.happened(now_ns, IncidentKind::DiskReplaced(u32::from(station.0)));
        let set = &mut self.sets[usize::from(set_number)];
        match set.member_at(station.0) {
            Some(_) if set.space.is_some() => self.use_blank_disk(now_ns, set_number, station),
            Some(member) => self.rebuild_if_worth_it(now_ns, set_number, member),
            None => {
                set.spares.push(station.0);
                self.use_spare(now_ns, set_number);
            }
        }
        self.settle(now_ns);
        Ok(())
    }

    /// Hands over what broke and was repaired since the last call.
    pub fn take_incidents(&mut self) -> Vec<Incident> {
        std::mem::take(&mut self.incidents)
    }

    pub(super) fn happened(&mut self, at_ns: u64, kind: IncidentKind) {
        self.incidents.push(Incident { at_ns, kind });
    }

    /// Notes the states of the groups of a set whose members have changed.
    pub(super) fn note_states(&mut self, now_ns: u64, set_number: u16) {
        let set = &mut self.sets[usize::from(set_number)];
        set.note_presence();
        for &number in &set.groups {
            let group = &mut self.groups[usize::from(number)];
            let before = group.state;
            group.note_state(number, set);
            if group.state != before {
                self.incidents.push(Incident {
                    at_ns: now_ns,
                    kind: IncidentKind::GroupChanged(GroupId(number), group.state),
                });
            }
        }
    }

    /// Gives free spares to members that miss their disk.
    fn use_spare(&mut self, now_ns: u64, set_number: u16) {
        loop {
            let set = &mut self.sets[usize::from(set_number)];
            let missing = set
                .members
                .iter()
                .position(|member| member.state == MemberState::Missing);
            let (Some(member), Some(&spare)) = (missing, set.spares.first()) else {
                return;
            };
            let worth_it = set
                .groups
                .iter()
                .any(|&group| self.groups[usize::from(group)].state != GroupState::Failed);
            if !worth_it {
                return;
            }
            set.spares.remove(0);
            set.members[member].station = spare;
            self.begin_rebuild(now_ns, set_number, member as u16);
        }
    }

    /// Rebuilds a member unless all groups have failed.
    fn rebuild_if_worth_it(&mut self, now_ns: u64, set_number: u16, member: u16) {
        let set = &self.sets[usize::from(set_number)];
        let worth_it = set
            .groups
            .iter()
            .any(|&group| self.groups[usize::from(group)].state != GroupState::Failed);
        if worth_it {
            self.begin_rebuild(now_ns, set_number, member);
        }
    }

    /// Makes sectors of a disk unreadable until they are written: a flaw in the medium. Of a disk
    /// that has failed nothing can be read anyway.
    ///
    /// # Panics
    ///
    /// If there is no such station, or the sectors end beyond the disk.
    pub fn spoil_sectors(&mut self, station: StationId, first_sector: u64, sectors: u32) {
        self.assert_station(station);
        let station = &mut self.stations[usize::from(station.0)];
        let capacity_sectors = station.disk().capacity_sectors();
        assert!(first_sector + u64::from(sectors) <= capacity_sectors);
        station.spoil(first_sector, sectors);
    }

    /// Changes what a disk stores without anybody noticing: what a lost or misdirected write
    /// leaves behind, and what a scrub is there to find.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn plant_sectors(
        &mut self,
        station: StationId,
        first_sector: u64,
        sectors: u32,
        payload: &P,
    ) {
        self.assert_station(station);
        self.stations[usize::from(station.0)].plant(first_sector, sectors, payload);
    }

    fn assert_station(&self, station: StationId) {
        assert!(
            usize::from(station.0) < self.stations.len(),
            "there is no station {}",
            station.0
        );
    }

    fn set_of(&self, station: StationId) -> u16 {
        let position = self
            .sets
            .iter()
            .position(|set| set.stations.contains(&station.0));
        let Some(set) = position else {
            unreachable!("every station belongs to a disk group");
        };
        set as u16
    }
}
