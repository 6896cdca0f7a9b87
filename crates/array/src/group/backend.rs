//! All stations and groups, and the sequence of events among them.

use crate::disk::{Disk, DiskModel};
use crate::incident::IncidentLog;
use crate::payload::Payload;
use crate::station::{Station, StationInvariantError};

use super::background::Background;
use super::disks::{DiskEvent, Disks};
use super::pace::Timer;
use super::request::Requests;
use super::rules::{MirrorChoice, WriteRules};
use super::set::GroupView;
use super::table::GroupTable;
use super::task::{Cuts, StripeTasks};
use super::{BackendError, BackendSettings, GroupCompletion, GroupId};

/// An invariant of a back end's counters that does not hold: the model has an error.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackendInvariantError {
    /// An invariant of one station or of its disk.
    #[error(transparent)]
    Station(#[from] StationInvariantError),
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

/// The disks, the groups on them, and everything in flight.
///
/// The driver submits requests, asks when something happens next, and lets it happen:
/// [`Groups::submit`](super::Groups::submit), [`Backend::next_event_ns`], [`Backend::advance_one`],
/// [`Backend::pop_done`]. Times handed in never run backwards and never pass by an event.
#[derive(Debug)]
pub struct Backend<P> {
    pub(super) disks: Disks<P>,
    pub(super) groups: GroupTable,
    pub(super) requests: Requests<P>,
    pub(super) tasks: StripeTasks<P>,
    pub(super) background: Background,
    pub(super) mirrors: MirrorChoice,
    pub(super) write_rules: WriteRules,
    pub(super) cuts: Cuts<P>,
    /// What broke and was repaired since the last call of [`Backend::take_incidents`].
    pub(super) log: IncidentLog,
}

impl<P: Payload> Backend<P> {
    /// Builds the groups over `disks`, one for each of [`BackendSettings::disk_names`] in turn.
    ///
    /// # Errors
    ///
    /// [`BackendError`] with every diagnostic, or when the number of disks is another.
    pub fn new(settings: &BackendSettings, disks: Vec<DiskModel>) -> Result<Self, BackendError> {
        let broken_rules = settings.check("");
        if !broken_rules.is_empty() {
            return Err(BackendError::Settings { broken_rules });
        }
        let needed = settings.disk_names().len();
        if disks.len() != needed {
            return Err(BackendError::Disks {
                needed,
                given: disks.len(),
            });
        }
        let capacities: Vec<u64> = disks.iter().map(Disk::capacity_sectors).collect();
        let mut backend = Self {
            groups: GroupTable::new(settings, &capacities)?,
            disks: Disks::new(
                disks,
                &settings.policy.dispatch,
                settings.policy.rebuild.unit_sectors(),
            ),
            requests: Requests::new(),
            tasks: StripeTasks::new(),
            background: Background::new(settings),
            mirrors: MirrorChoice::new(settings.policy.mirror_read),
            write_rules: WriteRules::new(settings),
            cuts: Cuts::default(),
            log: IncidentLog::default(),
        };
        if settings.policy.scrub.enabled {
            backend.begin_scrubs(0, true);
            backend.settle(0);
        }
        Ok(backend)
    }

    /// When something happens next; `None` when nothing is in flight.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        self.disks.next_event_ns()
    }

    /// Lets happen what happens next, at exactly the time [`Backend::next_event_ns`] says.
    #[inline]
    pub fn advance_one(&mut self, now_ns: u64) {
        match self.disks.advance_one(now_ns) {
            Some(DiskEvent::Ended(ended)) => self.disk_request_ended(now_ns, ended),
            Some(DiskEvent::Timer(task)) => self.run_background(now_ns, task, true),
            None => {}
        }
        self.settle(now_ns);
    }

    /// The next of the requests that are done.
    #[inline]
    pub fn pop_done(&mut self) -> Option<GroupCompletion<P>> {
        self.requests.pop_done()
    }

    /// Lets a rebuild or a scrub start steps if it can.
    pub(super) fn run_background(&mut self, now_ns: u64, task: Timer, by_timer: bool) {
        match task {
            Timer::Rebuild(number) => self.run_rebuild(now_ns, number, by_timer),
            Timer::Scrub(set) => self.run_scrub(now_ns, set, by_timer),
        }
    }

    /// A group as it is now.
    ///
    /// # Panics
    ///
    /// If there is no such group.
    pub fn group(&self, id: GroupId) -> GroupView<'_> {
        self.groups.view(id)
    }

    /// Number of groups; their ids run from zero.
    pub fn group_count(&self) -> usize {
        self.groups.len()
    }

    /// The stations, by number.
    pub fn stations(&self) -> &[Station<P>] {
        self.disks.stations()
    }

    /// Requests submitted and not yet done.
    pub fn in_flight(&self) -> usize {
        self.requests.in_flight()
    }

    /// Little's law at every station and in every disk, and that nothing is left behind once
    /// nothing is asked for any more.
    ///
    /// # Errors
    ///
    /// The first invariant that does not hold.
    pub fn check_invariants(&self) -> Result<(), BackendInvariantError> {
        self.disks.check_invariants()?;
        let (requests, tasks) = (self.requests.in_flight(), self.tasks.in_flight());
        let (disk_requests, locked) = (self.disks.in_flight(), self.tasks.any_locked());
        let idle = requests + tasks == 0;
        if idle && (disk_requests > 0 || locked) || tasks > 0 && !locked {
            return Err(BackendInvariantError::LeftBehind {
                requests,
                tasks,
                disk_requests,
                locked,
            });
        }
        Ok(())
    }
}
