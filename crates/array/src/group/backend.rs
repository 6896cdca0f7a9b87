//! All stations and groups, and the course of events among them.

use std::collections::VecDeque;

use crate::Complaint;
use crate::agenda::{Agenda, Due};
use crate::disk::{Disk, DiskModel};
use crate::payload::Payload;
use crate::raid::{Layout, Striped};
use crate::slab::Slab;
use crate::station::{Outcome, Station, StationLawBroken, StationRequest};

use super::request::Pending;
use super::set::{DiskSet, Group, GroupView, Member, MemberState};
use super::{BackendSettings, DiskGroupSettings, GroupCompletion, GroupId, StationId};

/// Why a back end cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendError {
    /// The settings break rules.
    #[error("the disk groups cannot exist: {}", list(complaints))]
    Settings {
        /// Every broken rule.
        complaints: Vec<Complaint>,
    },
    /// There is not one disk per station.
    #[error("the disk groups need {needed} disks, {given} were given")]
    Disks {
        /// Stations in the settings.
        needed: usize,
        /// Disks given.
        given: usize,
    },
}

fn list(complaints: &[Complaint]) -> String {
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    lines.join(" ")
}

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {}

/// The disks, the groups on them, and everything in flight.
///
/// The driver submits requests, asks when something happens next, and lets it happen:
/// [`Backend::submit`], [`Backend::next_event_ns`], [`Backend::advance_one`],
/// [`Backend::pop_done`]. Times handed in never run backwards and never pass by an event.
#[derive(Debug)]
pub struct Backend<P> {
    pub(super) stations: Vec<Station<P>>,
    pub(super) sets: Vec<DiskSet>,
    pub(super) groups: Vec<Group>,
    pub(super) agenda: Agenda<Timer>,
    pub(super) ops: Slab<StationRequest<P>>,
    pub(super) requests: Slab<Pending<P>>,
    pub(super) done: VecDeque<GroupCompletion<P>>,
    /// Disk requests that were aimed at a failed disk and are still to be told so.
    pub(super) undeliverable: VecDeque<u32>,
    names: Vec<String>,
}

impl<P: Payload> Backend<P> {
    /// Builds the groups over `disks`, one for each of [`BackendSettings::disk_names`] in turn.
    ///
    /// # Errors
    ///
    /// [`BackendError`] with every complaint, or when the number of disks is another.
    pub fn new(settings: &BackendSettings, disks: Vec<DiskModel>) -> Result<Self, BackendError> {
        let complaints = settings.check("");
        if !complaints.is_empty() {
            return Err(BackendError::Settings { complaints });
        }
        let needed = settings.disk_names().len();
        if disks.len() != needed {
            return Err(BackendError::Disks {
                needed,
                given: disks.len(),
            });
        }
        let capacities: Vec<u64> = disks.iter().map(Disk::capacity_sectors).collect();
        let stations = disks
            .into_iter()
            .map(|disk| Station::new(disk, &settings.dispatch));
        let mut backend = Self {
            stations: stations.collect(),
            sets: Vec::new(),
            groups: Vec::new(),
            agenda: Agenda::new(needed),
            ops: Slab::new(),
            requests: Slab::new(),
            done: VecDeque::new(),
            undeliverable: VecDeque::new(),
            names: settings
                .group_names()
                .into_iter()
                .map(String::from)
                .collect(),
        };
        let mut first_station = 0;
        for disk_group in &settings.disk_group {
            backend.add_set(disk_group, &mut first_station, &capacities);
        }
        Ok(backend)
    }

    fn add_set(
        &mut self,
        disk_group: &DiskGroupSettings,
        first_station: &mut u16,
        capacities: &[u64],
    ) {
        let members = *first_station..*first_station + disk_group.disks;
        let spares = members.end..members.end + disk_group.spares;
        *first_station = spares.end;
        let smallest = members
            .clone()
            .chain(spares.clone())
            .map(|station| capacities[usize::from(station)])
            .min()
            .unwrap_or(0);
        let set_number = self.sets.len() as u16;
        let layout = Layout::Striped(Striped::new(
            disk_group.level,
            disk_group.disks,
            smallest,
            disk_group.chunk_sectors(),
        ));
        let group = self.groups.len() as u16;
        self.groups.push(Group::new(set_number, layout));
        self.sets.push(DiskSet {
            members: members
                .map(|station| Member {
                    station,
                    state: MemberState::Present,
                })
                .collect(),
            spares: spares.collect(),
            groups: vec![group],
            all_present: true,
        });
    }

    /// When something happens next; `None` when nothing is in flight.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.agenda.next_ns()
    }

    /// Lets happen what happens next, at exactly the time [`Backend::next_event_ns`] says.
    #[inline]
    pub fn advance_one(&mut self, now_ns: u64) {
        debug_assert_eq!(self.agenda.next_ns(), Some(now_ns));
        if let Some(Due::Station(number)) = self.agenda.take_next() {
            let station = &mut self.stations[number];
            let (op, outcome) = station.complete(now_ns, &mut self.ops);
            let next_ns = station.next_completion_ns();
            self.agenda.set_station(number, next_ns);
            self.finish_op(op, outcome);
        }
        self.settle(now_ns);
    }

    /// The next of the requests that are done.
    #[inline]
    pub fn pop_done(&mut self) -> Option<GroupCompletion<P>> {
        self.done.pop_front()
    }

    /// Does what has become possible without time passing.
    #[inline]
    pub(super) fn settle(&mut self, _now_ns: u64) {
        while let Some(op) = self.undeliverable.pop_front() {
            self.finish_op(op, Outcome::DiskFailed);
        }
    }

    /// A disk fails: what it held is gone, what waited for it goes on without it.
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
        let mut lost = Vec::new();
        self.stations[number].fail(now_ns, station.0, &mut self.ops, &mut lost);
        self.agenda.set_station(number, None);
        self.undeliverable.extend(lost);
        for set in &mut self.sets {
            set.spares.retain(|&spare| spare != station.0);
            if let Some(member) = set.member_at(station.0) {
                set.members[usize::from(member)].state = MemberState::Missing;
                set.note_presence();
                for &group in &set.groups {
                    self.groups[usize::from(group)].note_state(set);
                }
            }
        }
        self.settle(now_ns);
    }

    /// A group as it is now.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn group(&self, id: GroupId) -> GroupView<'_> {
        let group = &self.groups[usize::from(id.0)];
        GroupView {
            id,
            name: &self.names[usize::from(id.0)],
            state: group.state,
            geometry: group.geometry,
            capacity_sectors: group.capacity_sectors,
        }
    }

    /// Number of groups; their ids run from zero.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The stations, by number.
    pub fn stations(&self) -> &[Station<P>] {
        &self.stations
    }

    /// Requests submitted and not yet done.
    pub fn in_flight(&self) -> usize {
        self.requests.in_use()
    }

    /// Little's law at every station and in every disk, and conservation of requests.
    ///
    /// # Errors
    ///
    /// The first law that does not hold.
    pub fn check_laws(&self) -> Result<(), StationLawBroken> {
        for (number, station) in self.stations.iter().enumerate() {
            station.check_laws(number, &self.ops)?;
        }
        Ok(())
    }
}
