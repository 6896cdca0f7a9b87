//! What goes wrong, and what is put right by hand.

use crate::disk::{Disk, DiskModel};
use crate::payload::Payload;

use super::StationId;
use super::backend::Backend;
use super::set::MemberState;
use super::types::BackendError;
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
        if !self.disks.station(station).is_working() {
            return;
        }
        self.log
            .add(now_ns, IncidentKind::DiskFailed(u32::from(station.0)));
        self.disks.fail(now_ns, station);
        let set_number = self.groups.set_of_station(station);
        let set = self.groups.set_mut(set_number);
        set.spares.retain(|&spare| spare != station.0);
        if set.space.is_some() {
            self.leave_disk(now_ns, set_number, station);
        } else if let Some(member) = set.member_at(station.0) {
            set.members[usize::from(member)].state = MemberState::Missing;
            self.update_states(now_ns, set_number);
            self.background.rebuilds.abandon(set_number, member);
            self.use_spare(now_ns, set_number);
        }
        self.settle(now_ns);
    }

    /// A disk takes so many times as long for everything as its make does from now on; 1 is its full
    /// speed. One that has failed, or has that speed, stays as it is.
    ///
    /// # Panics
    ///
    /// If there is no such station, or the factor is 0.
    pub fn slow_disk(&mut self, now_ns: u64, station: StationId, factor: u32) {
        let disk = self.disks.station(station);
        if !disk.is_working() || disk.slowness() == factor {
            return;
        }
        let number = u32::from(station.0);
        let kind = match factor {
            1 => IncidentKind::DiskRecovered(number),
            _ => IncidentKind::DiskSlowed {
                disk: number,
                factor,
            },
        };
        self.log.add(now_ns, kind);
        self.disks.set_slowness(now_ns, station, factor);
        self.settle(now_ns);
    }

    /// Puts a new, blank disk into a bay. If the bay's disk still works it is pulled first. The
    /// lost contents are rebuilt onto the new disk; if a spare has taken over, or nothing was
    /// lost, the new disk is a spare. In a Vraid without spares it is free space.
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
        let set_number = self.groups.set_of_station(station);
        let needed_sectors = self.groups.set(set_number).member_sectors;
        if disk.capacity_sectors() < needed_sectors {
            return Err(BackendError::TooSmall {
                needed_sectors,
                given_sectors: disk.capacity_sectors(),
            });
        }
        self.fail_disk(now_ns, station);
        self.disks.replace(station, disk);
        self.log
            .add(now_ns, IncidentKind::DiskReplaced(u32::from(station.0)));
        let set = self.groups.set_mut(set_number);
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
        self.log.take()
    }

    /// Brings the states of the groups of a set up to date after its members changed.
    pub(super) fn update_states(&mut self, at_ns: u64, set: u16) {
        self.groups.update_states(set, |group, state| {
            self.log
                .add(at_ns, IncidentKind::GroupChanged(group, state));
        });
    }

    /// Gives free spares to members that miss their disk.
    pub(super) fn use_spare(&mut self, now_ns: u64, set_number: u16) {
        while self.groups.is_worth_rebuilding(set_number) {
            let set = self.groups.set_mut(set_number);
            let mut members = set.members.iter();
            let missing = members.position(|member| member.state == MemberState::Missing);
            let (Some(member), Some(&spare)) = (missing, set.spares.first()) else {
                return;
            };
            set.spares.remove(0);
            set.members[member].station = spare;
            self.begin_rebuild(now_ns, set_number, member as u16);
        }
    }

    /// Rebuilds a member unless all groups have failed.
    pub(super) fn rebuild_if_worth_it(&mut self, now_ns: u64, set: u16, member: u16) {
        if self.groups.is_worth_rebuilding(set) {
            self.begin_rebuild(now_ns, set, member);
        }
    }

    /// Makes sectors of a disk unreadable until they are written: a flaw in the medium. Of a disk
    /// that has failed nothing can be read anyway.
    ///
    /// # Panics
    ///
    /// If there is no such station, or the sectors end beyond the disk.
    pub fn mark_sectors_unreadable(&mut self, station: StationId, first_sector: u64, sectors: u32) {
        let capacity_sectors = self.disks.station(station).disk().capacity_sectors();
        assert!(first_sector + u64::from(sectors) <= capacity_sectors);
        self.disks.mark_unreadable(station.0, first_sector, sectors);
    }

    /// Changes what a disk stores without anybody noticing: what a lost or misdirected write
    /// leaves behind, and what a scrub is there to find.
    ///
    /// # Panics
    ///
    /// If there is no such station.
    pub fn corrupt_sectors(
        &mut self,
        station: StationId,
        first_sector: u64,
        sectors: u32,
        payload: &P,
    ) {
        self.disks.corrupt(station, first_sector, sectors, payload);
    }
}
