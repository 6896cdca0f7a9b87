//! The whole array: what a host talks to and what drives the model on.
//!
//! State is kept in parts, each with its own rules:
//!
//! - [`requests`]: host requests in flight. [`operations`]: what they have at the back end.
//! - [`controllers`]: the controllers and the link between them. [`volumes`]: who owns a volume.
//! - [`storage`]: pools and disk groups. [`lost`]: sectors whose contents are gone.
//! - [`rules`]: settings of the whole array. [`lookahead`]: prefetching.
//!
//! What happens to a request goes through several of them:
//!
//! - [`path`]: ports, CPUs and the link, on the way in and out.
//! - [`read`], [`write`], [`flush`]: what the owner of a volume does with a request.
//! - [`destage`]: from the cache to the disks.
//! - [`failover`]: what breaks and is repaired. [`power`]: all of it at once.
//! - [`build`]: from settings to an array; [`counters`]: what it has done; [`space`]: what has space of its own.

mod build;
mod controllers;
pub(crate) mod counters;
mod destage;
mod failover;
mod flush;
mod kept;
mod lookahead;
mod lost;
mod operations;
mod path;
mod power;
mod read;
mod requests;
mod rules;
mod space;
mod storage;
mod volumes;
mod write;

use thiserror::Error;

pub(crate) use build::check_places;

use crate::controller::Ticket;
use crate::disk::DiskError;
use crate::event_queue::{Due, EventQueue};
use crate::group::{BackendError, Piece};
use crate::host::{FirstWrite, HostCompletion, HostError, HostOperation, HostRequest, VolumeId};
use crate::incident::IncidentLog;
use crate::payload::Payload;
use crate::raid::GroupId;
use crate::{BrokenRule, SectorDamage};

use controllers::Controllers;
use lookahead::Lookahead;
use lost::LostSectors;
use operations::Operations;
use power::Power;
use read::ReadScratch;
use requests::{Requests, Stage};
use rules::Rules;
use storage::Storage;
use volumes::Volumes;

/// Why there is no array.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// The description breaks rules.
    #[error("The array cannot exist: {}", BrokenRule::join(.0))]
    Settings(Vec<BrokenRule>),
    /// A disk cannot be built.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The disk groups cannot be built.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

/// Something that breaks or is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk of that number fails.
    FailDisk(u32),
    /// The disk of that number takes so many times as long for everything as its make does; 1 is
    /// its full speed.
    SlowDisk {
        /// Number of the disk in its array, from 0.
        disk: u32,
        /// How many times as long, from 1 on.
        factor: u32,
    },
    /// The failed disk of that number is replaced by a new, empty one.
    ReplaceDisk(u32),
    /// Places of 4 KiB of a disk do not give back what was written.
    DamageSectors {
        /// Number of the disk in its array, from 0.
        disk: u32,
        /// How many of them.
        places: u32,
        /// What they give back.
        damage: SectorDamage,
    },
    /// The disk of that number, a cloud volume, has no credits for bursts left.
    SpendCredits(u32),
    /// The controller of that number stops working.
    FailController(u32),
    /// The failed controller of that number works again.
    RestoreController(u32),
    /// The cache of that controller would not survive a loss of power any more.
    LoseCacheBattery(u32),
    /// The cache of that controller would survive a loss of power again.
    RestoreCacheBattery(u32),
    /// Data of others takes all that is free in that disk group of a pool.
    FillGroup(GroupId),
    /// That data is removed.
    EmptyGroup(GroupId),
    /// The array loses its power: host requests fail, and caches without a battery lose what the disks lack.
    CutPower,
    /// The power is back: the controllers that worked before work again.
    RestorePower,
}

/// What happens at a time that is known before.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A request leaves the station it is at.
    Step(Ticket),
    /// A controller checks the ages of its dirty lines.
    DestageTimer(u8),
    /// The partner may take over from a controller that failed in that generation.
    Takeover(u8, u32),
    /// The copies that a controller of that generation sent to its partner have crossed the link.
    Copied(u8, u32),
    /// Something breaks or is repaired.
    Fault(Fault),
}

/// An array with all that is stored in it.
///
/// The driver submits requests, asks when something happens next, and lets time pass:
/// [`Array::submit`], [`Array::next_event_ns`], [`Array::advance_to`]. Times handed in never run
/// backwards.
#[derive(Debug)]
pub struct Array<P: Payload> {
    now_ns: u64,
    events: EventQueue<Event>,
    rules: Rules,
    requests: Requests<P>,
    controllers: Controllers<P>,
    volumes: Volumes,
    operations: Operations,
    storage: Storage<P>,
    lost: LostSectors,
    /// Reads that failed because contents could be neither read nor computed.
    failed_reads: u64,
    power: Power,
    log: IncidentLog,
    lookahead: Lookahead,
    read_scratch: ReadScratch,
    /// Pieces of the destage that is being started.
    pieces: Vec<Piece<P>>,
}

impl<P: Payload> Array<P> {
    /// Capacity of a volume in sectors; `None` if there is no such volume.
    pub fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        Some(self.volumes.get(volume.0)?.capacity_sectors)
    }

    /// Takes a request in at `now_ns`, which must not lie before any time handed in earlier. Its
    /// end comes out of [`Array::advance_to`], never at once.
    pub fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        debug_assert!(now_ns >= self.now_ns, "time runs backwards");
        self.now_ns = self.now_ns.max(now_ns);
        let refused = self.refusal(&request);
        let volume = request.volume;
        let id = self.requests.begin(now_ns, request);
        if refused.is_some() {
            self.requests[id].result = refused;
            self.enter(id, Stage::Refused, now_ns, 0, now_ns);
            return;
        }
        let counting = &mut self.volumes[volume.0].counting;
        counting.inside.enter(now_ns, 0);
        self.send(now_ns, id);
    }

    fn refusal(&self, request: &HostRequest<P>) -> Option<HostError> {
        let Some(capacity_sectors) = self.capacity_sectors(request.volume) else {
            return Some(HostError::NoSuchVolume);
        };
        if request.operation == HostOperation::Flush {
            return None;
        }
        let fits = request.sectors > 0
            && request.first_sector <= capacity_sectors
            && u64::from(request.sectors) <= capacity_sectors - request.first_sector;
        (!fits).then_some(HostError::OutOfRange)
    }

    /// When something happens next; `None` when nothing will unless asked for.
    #[inline]
    pub fn next_event_ns(&self) -> Option<u64> {
        Some(self.next_due()?.0)
    }

    /// When something happens next, and whether it is at the disks. What they complete comes before
    /// all else of the same time.
    #[inline]
    fn next_due(&self) -> Option<(u64, bool)> {
        let disks_ns = self.storage.next_disk_event_ns().unwrap_or(u64::MAX);
        match self.events.next_ns() {
            Some(at_ns) if at_ns < disks_ns => Some((at_ns, false)),
            _ => (disks_ns != u64::MAX).then_some((disks_ns, true)),
        }
    }

    /// Lets everything happen that is due until `now_ns`, in order, and appends what ended to
    /// `completed`.
    pub fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        while let Some((at_ns, at_disks)) = self.next_due()
            && at_ns <= now_ns
        {
            self.advance_one(at_ns, at_disks);
        }
        self.now_ns = self.now_ns.max(now_ns);
        self.requests.take_completed(completed);
    }

    /// Lets one instant after the other happen, none after `limit_ns`, until requests end; appends
    /// all that end at that instant to `completed` and gives the instant. `None` if none ends until
    /// then: time has passed up to the last event before the limit.
    ///
    /// The same as calls of [`Array::advance_to`] with each [`Array::next_event_ns`] in turn.
    pub fn advance_to_completion(
        &mut self,
        limit_ns: u64,
        completed: &mut Vec<HostCompletion<P>>,
    ) -> Option<u64> {
        let mut last_ns = limit_ns;
        while let Some((at_ns, at_disks)) = self.next_due()
            && at_ns <= last_ns
        {
            self.advance_one(at_ns, at_disks);
            if self.requests.has_completed() {
                last_ns = at_ns;
            }
        }
        if !self.requests.has_completed() {
            return None;
        }
        self.requests.take_completed(completed);
        Some(last_ns)
    }

    /// Handles what is due next, at `at_ns`.
    #[inline]
    fn advance_one(&mut self, at_ns: u64, at_disks: bool) {
        self.now_ns = self.now_ns.max(at_ns);
        self.look_ahead();
        if at_disks {
            self.storage.advance_disks(at_ns);
        } else if let Some((_, due)) = self.events.pop() {
            match due {
                Due::Source(_) => {
                    self.storage.advance_pools(at_ns);
                    self.storage.schedule_pools(&mut self.events);
                }
                Due::Event(event) => self.handle(at_ns, event),
            }
        }
        self.settle(at_ns);
    }

    fn handle(&mut self, now_ns: u64, event: Event) {
        match event {
            Event::Step(ticket) => {
                if let Some(id) = self.current(ticket) {
                    self.step(now_ns, id);
                }
            }
            Event::DestageTimer(server) => self.destage_timer(now_ns, usize::from(server)),
            Event::Takeover(number, generation) => {
                self.takeover(now_ns, usize::from(number), generation);
            }
            Event::Copied(from, generation) => self.copied(now_ns, usize::from(from), generation),
            Event::Fault(fault) => self.fault(now_ns, fault),
        }
    }

    /// Notes a fault that happens at `at_ns`. One that names nothing there has no effect.
    pub fn inject(&mut self, at_ns: u64, fault: Fault) {
        self.events
            .schedule(at_ns.max(self.now_ns), Event::Fault(fault));
    }

    /// Takes the space a first write would take, before the clock starts: no time passes.
    ///
    /// # Errors
    ///
    /// When there is no such volume, the stretch does not lie within it, or the pool is full.
    pub fn lay_out(
        &mut self,
        volume: VolumeId,
        first_sector: u64,
        sectors: u64,
        first_write: FirstWrite,
    ) -> Result<(), HostError> {
        let capacity_sectors = self
            .capacity_sectors(volume)
            .ok_or(HostError::NoSuchVolume)?;
        if first_sector > capacity_sectors || sectors > capacity_sectors - first_sector {
            return Err(HostError::OutOfRange);
        }
        let pool = self.volumes[volume.0].pool;
        let laid_out = self
            .storage
            .lay_out(pool, volume, first_sector, sectors, first_write);
        laid_out.map_err(|_| HostError::PoolFull)
    }

    /// Checks the invariants that must hold at any time.
    ///
    /// # Panics
    ///
    /// If a request was made or lost inside, a cache's lists disagree with its lines, or Little's law
    /// does not hold.
    pub fn check_invariants(&self) {
        for controller in self.controllers.iter() {
            controller.check_invariants(self.now_ns);
        }
        let mut inside = 0;
        for volume in self.volumes.iter() {
            volume.counting.inside.check_invariants(self.now_ns);
            inside += volume.counting.inside.counters(self.now_ns).inside;
        }
        assert!(
            inside <= self.requests.in_flight() as u64,
            "every request inside has an entry"
        );
        let controllers = self.controllers.iter();
        let operations: u32 = controllers.map(|each| each.load.operations()).sum();
        assert_eq!(
            operations as usize,
            self.operations.in_flight(),
            "operations at the back end"
        );
        if let Err(broken) = self.storage.check_invariants() {
            panic!("{broken}");
        }
    }
}
