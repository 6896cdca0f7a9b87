//! All stations and groups, and the course of events among them.

use std::collections::VecDeque;

use crate::Incident;
use crate::agenda::{Agenda, Due};
use crate::disk::{Disk, DiskModel};
use crate::payload::Payload;
use crate::raid::vraid::DiskGroup;
use crate::raid::{Layout, Level, Striped};
use crate::slab::Slab;
use crate::station::{DispatchSettings, Station, StationLawBroken, StationRequest};
use crate::{Complaint, SECTOR_BYTES};

use super::lock::LockTable;
use super::rebuild::{Pace, Rebuild, ns_per_sector};
use super::request::Pending;
use super::scrub::Scrub;
use super::set::{DiskSet, Group, GroupView, Member};
use super::task::{Piece, Task};
use super::{BackendSettings, DiskGroupSettings, GroupCompletion, GroupId};
use super::{MirrorRead, SmallWrite};

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

/// A law that the counters of a back end do not obey: the model has an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendLawBroken {
    /// At one station.
    #[error(transparent)]
    Station(#[from] StationLawBroken),
    /// What belongs together was not there together.
    #[error(
        "{requests} requests and {tasks} stripe tasks are in flight with {disk_requests} disk \
         requests and stripes locked: {locked}"
    )]
    LeftBehind {
        /// Group requests in flight.
        requests: usize,
        /// Stripe tasks in flight.
        tasks: usize,
        /// Disk requests in flight.
        disk_requests: usize,
        /// Whether any stripe is locked.
        locked: bool,
    },
}

fn list(complaints: &[Complaint]) -> String {
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    lines.join(" ")
}

/// The layouts of the groups of a disk group.
fn layouts(
    settings: &DiskGroupSettings,
    number: u16,
    member_sectors: u64,
) -> Result<(Vec<Layout>, Option<DiskGroup>), BackendError> {
    let complaint = |key: &str, message: String| BackendError::Settings {
        complaints: vec![Complaint::new(
            format!("disk_group.{number}.{key}"),
            message,
        )],
    };
    if settings.level != Level::Vraid {
        let chunk_sectors = settings.chunk_sectors();
        let (level, disks) = (settings.level, settings.disks);
        let striped = Striped::new(level, disks, member_sectors, chunk_sectors);
        if striped.geometry().capacity_sectors() == 0 {
            let message = "The disks do not hold a single chunk; take a smaller one.";
            return Err(complaint("chunk_kib", message.into()));
        }
        return Ok((vec![Layout::Striped(striped)], None));
    }
    let mut disks = DiskGroup::new(
        settings.disks,
        member_sectors,
        settings.placement.segment_sectors(),
        settings.placement.stroke_fraction,
        settings.protection_level,
    );
    let mut layouts = Vec::new();
    for (disk_number, disk) in settings.virtual_disk.iter().enumerate() {
        let sectors = disk.size_sectors();
        let Some(layout) = disks.create(disk.level, sectors, settings.chunk_sectors()) else {
            let free_gib = (disks.free_sectors() * SECTOR_BYTES) >> 30;
            let message = format!(
                "'{}' does not fit: the disk group has {free_gib} GiB of segments free in \
                 the part of the stroke it may use, before redundancy.",
                disk.name
            );
            return Err(complaint(
                &format!("virtual_disk.{disk_number}.size_gib"),
                message,
            ));
        };
        layouts.push(Layout::Virtual(layout));
    }
    // With spares what a disk held is rebuilt onto one of them, else into free segments.
    Ok((layouts, (settings.spares == 0).then_some(disks)))
}

/// What a timer is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Timer {
    /// The next step of the rebuild of that number.
    Rebuild(u32),
    /// The next step of the scrub of that disk set.
    Scrub(u16),
}

/// The disks, the groups on them, and everything in flight.
///
/// The driver submits requests, asks when something happens next, and lets it happen:
/// [`Backend::submit`], [`Backend::next_event_ns`], [`Backend::advance_one`],
/// [`Backend::pop_done`]. Times handed in never run backwards and never pass by an event.
#[derive(Debug)]
pub struct Backend<P> {
    pub(super) dispatch: DispatchSettings,
    pub(super) mirror_read: MirrorRead,
    pub(super) small_write: SmallWrite,
    pub(super) parity_gap_sectors: u32,
    pub(super) rebuild_pace: Pace,
    pub(super) scrub_ns_per_sector: f64,
    pub(super) stations: Vec<Station<P>>,
    pub(super) sets: Vec<DiskSet>,
    pub(super) groups: Vec<Group>,
    pub(super) agenda: Agenda<Timer>,
    pub(super) ops: Slab<StationRequest<P>>,
    pub(super) requests: Slab<Pending<P>>,
    pub(super) done: VecDeque<GroupCompletion<P>>,
    /// Disk requests that were aimed at a failed disk and are still to be told so.
    pub(super) undeliverable: VecDeque<u32>,
    pub(super) tasks: Slab<Task<P>>,
    pub(super) locks: LockTable,
    /// Tasks that hold their rows and are still to be started.
    pub(super) ready: VecDeque<u32>,
    /// Rebuilds and scrubs that may be able to start a step.
    pub(super) pumps: VecDeque<Timer>,
    pub(super) rebuilds: Vec<Rebuild>,
    pub(super) rebuild_number: u32,
    pub(super) scrubs: Vec<Scrub>,
    /// Turns of reading mirrors.
    pub(super) mirror_turn: u32,
    /// Pieces of the write that is being set up, with their stripes.
    pub(super) cuts: Vec<(u64, Piece<P>)>,
    /// The same for a group without protection, with their rows.
    pub(super) direct_cuts: Vec<(u64, u64, Piece<P>)>,
    /// What broke and was repaired since somebody looked.
    pub(super) incidents: Vec<Incident>,
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
            dispatch: settings.dispatch.clone(),
            mirror_read: settings.mirror_read,
            small_write: settings.small_write,
            parity_gap_sectors: settings.parity_gap_sectors(),
            rebuild_pace: Pace::new(&settings.rebuild),
            scrub_ns_per_sector: ns_per_sector(settings.scrub.rate_mb_per_s),
            stations: stations.collect(),
            sets: Vec::new(),
            groups: Vec::new(),
            agenda: Agenda::new(needed),
            ops: Slab::new(),
            requests: Slab::new(),
            done: VecDeque::new(),
            undeliverable: VecDeque::new(),
            tasks: Slab::new(),
            locks: LockTable::default(),
            ready: VecDeque::new(),
            pumps: VecDeque::new(),
            rebuilds: Vec::new(),
            rebuild_number: 0,
            scrubs: vec![Scrub::default(); settings.disk_group.len()],
            mirror_turn: 0,
            cuts: Vec::new(),
            direct_cuts: Vec::new(),
            incidents: Vec::new(),
            names: settings
                .group_names()
                .into_iter()
                .map(String::from)
                .collect(),
        };
        let mut first_station = 0;
        for disk_group in &settings.disk_group {
            backend.add_set(disk_group, &mut first_station, &capacities)?;
        }
        if settings.scrub.enabled {
            backend.begin_scrubs(0, true);
            backend.settle(0);
        }
        Ok(backend)
    }

    fn add_set(
        &mut self,
        disk_group: &DiskGroupSettings,
        first_station: &mut u16,
        capacities: &[u64],
    ) -> Result<(), BackendError> {
        let members = *first_station..*first_station + disk_group.disks;
        let spares = members.end..members.end + disk_group.spares;
        *first_station = spares.end;
        let smallest = members
            .clone()
            .chain(spares.clone())
            .map(|station| capacities[usize::from(station)])
            .min()
            .unwrap_or(0);
        let members_start = members.start;
        let set_number = self.sets.len() as u16;
        let first_group = self.groups.len() as u16;
        let (layouts, space) = layouts(disk_group, set_number, smallest)?;
        for layout in layouts {
            self.groups.push(Group::new(set_number, layout));
        }
        self.sets.push(DiskSet {
            members: members.map(Member::new).collect(),
            stations: members_start..spares.end,
            spares: spares.collect(),
            member_sectors: smallest,
            groups: (first_group..self.groups.len() as u16).collect(),
            all_present: true,
            space,
        });
        Ok(())
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
        match self.agenda.take_next() {
            Some(Due::Station(number)) => {
                let station = &mut self.stations[number];
                let (op, outcome) = station.complete(now_ns, &mut self.ops);
                let next_ns = station.next_completion_ns();
                self.agenda.set_station(number, next_ns);
                self.finish_op(now_ns, op, outcome);
            }
            Some(Due::Timer(timer)) => self.pump(now_ns, timer, true),
            None => {}
        }
        self.settle(now_ns);
    }

    /// The next of the requests that are done.
    #[inline]
    pub fn pop_done(&mut self) -> Option<GroupCompletion<P>> {
        self.done.pop_front()
    }

    /// Lets a rebuild or a scrub go on if it can.
    pub(super) fn pump(&mut self, now_ns: u64, timer: Timer, by_timer: bool) {
        match timer {
            Timer::Rebuild(number) => self.pump_rebuild(now_ns, number, by_timer),
            Timer::Scrub(set) => self.pump_scrub(now_ns, set, by_timer),
        }
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
            counters: &group.counters,
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

    /// Little's law at every station and in every disk, and that nothing is left behind once
    /// nothing is asked for any more.
    ///
    /// # Errors
    ///
    /// The first law that does not hold.
    pub fn check_laws(&self) -> Result<(), BackendLawBroken> {
        for (number, station) in self.stations.iter().enumerate() {
            station.check_laws(number, &self.ops)?;
        }
        let (requests, tasks) = (self.requests.in_use(), self.tasks.in_use());
        let (disk_requests, locked) = (self.ops.in_use(), !self.locks.is_empty());
        let idle = requests + tasks == 0;
        if idle && (disk_requests > 0 || locked) || tasks > 0 && !locked {
            return Err(BackendLawBroken::LeftBehind {
                requests,
                tasks,
                disk_requests,
                locked,
            });
        }
        Ok(())
    }
}
