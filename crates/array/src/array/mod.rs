//! The whole array: what a host talks to and what drives the model on.
//!
//! - [`flight`]: a request's way in and out: ports, processors, the link between controllers.
//! - [`reads`], [`writes`], [`barrier`]: what the owner of a volume does with a request.
//! - [`destage`]: from the cache to the disks.
//! - [`operation`]: reads and writes at the back end, and where their ends lead.
//! - [`failover`]: what breaks and is repaired; [`lost`]: what was lost by it.
//! - [`times`]: times that are settings of the whole array.
//! - [`build`]: from settings to an array; [`counters`]: what it has done.

mod barrier;
mod build;
pub(crate) mod counters;
mod destage;
mod failover;
mod flight;
mod lost;
mod operation;
mod reads;
mod seam;
mod times;
mod writes;

use std::collections::VecDeque;

use thiserror::Error;

pub(crate) use build::check_places;

use crate::Complaint;
use crate::cache::Streams;
use crate::calendar::Calendar;
use crate::controller::{Controller, Ticket};
use crate::disk::{DiskDescription, DiskError};
use crate::group::{Backend, BackendError, GroupId};
use crate::host::{FirstWrite, HostCompletion, HostError, HostOperation, HostRequest, VolumeId};
use crate::incident::Incident;
use crate::payload::Payload;
use crate::pool::{Piece, Pool};
use crate::settings::FlushPolicy;
use crate::slab::Slab;

use counters::VolumeCounting;
use flight::{Flight, Foreseen};
use lost::LostSectors;
use operation::Operation;
use reads::Gap;
use times::Times;

/// Why there is no array.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ArrayError {
    /// The description breaks rules.
    #[error("The array cannot exist: {}", list(.0))]
    Settings(Vec<Complaint>),
    /// A disk cannot be built.
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// The disk groups cannot be built.
    #[error(transparent)]
    Backend(#[from] BackendError),
}

fn list(complaints: &[Complaint]) -> String {
    let lines: Vec<String> = complaints.iter().map(Complaint::to_string).collect();
    lines.join(" ")
}

/// Something that breaks or is repaired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// The disk of that number fails.
    FailDisk(u32),
    /// The failed disk of that number is replaced by a new, empty one.
    ReplaceDisk(u32),
    /// The controller of that number stops working.
    FailController(u32),
    /// The failed controller of that number works again.
    RestoreController(u32),
    /// The cache of that controller would not survive a loss of power any more.
    LoseCacheBattery(u32),
    /// The cache of that controller would survive a loss of power again.
    RestoreCacheBattery(u32),
}

/// What happens at a time that is known before.
#[derive(Debug, Clone, Copy)]
enum Event {
    /// A request leaves the station it is at.
    Step(Ticket),
    /// A controller looks at the ages of its dirty lines.
    Tick(u8),
    /// The partner may take over from a controller that failed in that life of it.
    Takeover(u8, u32),
    /// The copies that a controller sent to its partner in that life of it have crossed the link.
    Copied(u8, u32),
    /// Something breaks or is repaired.
    Fault(Fault),
}

/// Where something happens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Room {
    Disks,
    Pools,
    Front,
}

/// Something that happens next.
#[derive(Debug, Clone, Copy)]
struct Happening {
    at_ns: u64,
    place: Room,
}

/// A time that never comes.
const NEVER: u64 = u64::MAX;

/// What the front knows of a volume.
#[derive(Debug)]
struct Volume {
    pool: u16,
    capacity_sectors: u64,
    owner: u8,
    preferred_owner: u8,
    /// The controller it is about to move to.
    moving_to: Option<u8>,
    /// Whether nobody serves it for the moment.
    paused: bool,
    waiting: VecDeque<Ticket>,
    /// Requests being worked on, and reads and writes at the back end.
    active: u64,
    operations_open: u64,
    write_back: bool,
    direct_io: bool,
    reads_ahead: bool,
    /// Cache lines of a stripe of its disk group, or of a page.
    lines_per_unit: u64,
    /// Sectors of a page, if it is given back by a trim.
    page_sectors: Option<u64>,
    fast_path: Option<FastPath>,
    /// What a write spends in the firmware besides, occupying nothing.
    write_latency_ns: u64,
    readers: Streams,
    writers: Streams,
    counters: VolumeCounting,
}

/// Which requests a RAID card serves on its short path.
#[derive(Debug, Clone, Copy)]
struct FastPath {
    group: GroupId,
    strip_sectors: u64,
    /// Whether writes take it, too.
    writes: bool,
}

/// An array with all that is stored in it.
///
/// The driver submits requests, asks when something happens next, and lets time pass:
/// [`Array::submit`], [`Array::next_event_ns`], [`Array::advance_to`]. Times handed in never run
/// backwards.
#[derive(Debug)]
pub struct Array<P: Payload> {
    calendar: Calendar<Event>,
    controllers: Vec<Controller<P>>,
    volumes: Vec<Volume>,
    pools: Vec<Pool<P>>,
    /// When the next of them wants to do something of itself.
    pools_due_ns: u64,
    pool_of_group: Vec<u16>,
    backend: Backend<P>,
    /// What the disk in every station is made of, for its replacement.
    disks: Vec<DiskDescription>,
    seed: u64,
    flights: Slab<Flight<P>>,
    operations: Slab<Operation>,
    lost: LostSectors,
    completed: Vec<HostCompletion<P>>,
    /// What broke and was repaired at the front since somebody looked.
    incidents: Vec<Incident>,
    now_ns: u64,
    times: Times,
    mirrors: bool,
    holds_reads: bool,
    flush_policy: FlushPolicy,
    line_sectors: u32,
    read_ahead_piece_sectors: u32,
    dirty_limit_lines: u64,
    high_watermark_lines: u64,
    low_watermark_lines: u64,
    destages_in_flight: usize,
    next_path: usize,
    /// The request that arrived last, until somebody looks ahead for it.
    foreseen: Option<Foreseen>,
    /// Volumes that may be able to go on moving; controllers whose waiters may be able to go on.
    moved: Vec<u16>,
    woken: Vec<u8>,
    moves_under_way: u32,
    gaps: Vec<Gap>,
    /// Lines of the parts of the read that was looked up last.
    found: Vec<u32>,
    pieces: Vec<Piece<P>>,
}

impl<P: Payload> Array<P> {
    /// Number of volumes.
    pub fn volume_count(&self) -> usize {
        self.volumes.len()
    }

    /// Capacity of a volume in sectors; `None` if there is no such volume.
    pub fn capacity_sectors(&self, volume: VolumeId) -> Option<u64> {
        let volume = self.volumes.get(usize::from(volume.0))?;
        Some(volume.capacity_sectors)
    }

    /// Takes a request in at `now_ns`, which must not lie before any time told earlier. Its end
    /// comes out of [`Array::advance_to`], never at once.
    pub fn submit(&mut self, now_ns: u64, request: HostRequest<P>) {
        debug_assert!(now_ns >= self.now_ns, "time runs backwards");
        self.now_ns = self.now_ns.max(now_ns);
        let refused = self.refusal(&request);
        let id = self.flights.take();
        let epoch = self.flights[id].epoch;
        self.flights[id] = Flight {
            tag: request.tag,
            volume: request.volume.0,
            operation: request.operation,
            first_sector: request.first_sector,
            sectors: request.sectors,
            payload: request.payload,
            submitted_ns: now_ns,
            epoch,
            result: refused,
            ..Flight::default()
        };
        if refused.is_some() {
            self.calendar.put(now_ns, Event::Step(Ticket { id, epoch }));
            self.flights[id].stage = flight::Stage::Refused;
            return;
        }
        self.volumes[usize::from(request.volume.0)]
            .counters
            .inside
            .enter(now_ns, 0);
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
        let next = self.next_happening();
        (next.at_ns != NEVER).then_some(next.at_ns)
    }

    /// What happens next and when: at the disks first, then in pools, then at the front.
    #[inline]
    fn next_happening(&self) -> Happening {
        let at_ns = self.calendar.next_ns().unwrap_or(NEVER);
        let mut next = Happening {
            at_ns,
            place: Room::Front,
        };
        if self.pools_due_ns <= next.at_ns {
            next = Happening {
                at_ns: self.pools_due_ns,
                place: Room::Pools,
            };
        }
        let at_ns = self.backend.next_event_ns().unwrap_or(NEVER);
        if at_ns <= next.at_ns {
            next = Happening {
                at_ns,
                place: Room::Disks,
            };
        }
        next
    }

    /// Lets everything happen that is due until `now_ns`, in order, and appends what ended to
    /// `completed`.
    pub fn advance_to(&mut self, now_ns: u64, completed: &mut Vec<HostCompletion<P>>) {
        loop {
            let next = self.next_happening();
            if next.at_ns > now_ns || next.at_ns == NEVER {
                break;
            }
            self.take_place(next);
        }
        self.now_ns = self.now_ns.max(now_ns);
        completed.append(&mut self.completed);
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
        loop {
            let next = self.next_happening();
            if next.at_ns > last_ns || next.at_ns == NEVER {
                break;
            }
            self.take_place(next);
            if !self.completed.is_empty() {
                last_ns = next.at_ns;
            }
        }
        if self.completed.is_empty() {
            return None;
        }
        completed.append(&mut self.completed);
        Some(last_ns)
    }

    /// Lets what happens next happen.
    #[inline]
    fn take_place(&mut self, next: Happening) {
        self.now_ns = self.now_ns.max(next.at_ns);
        self.look_ahead();
        match next.place {
            Room::Disks => self.backend.advance_one(next.at_ns),
            Room::Pools => self.pool_timer(next.at_ns),
            Room::Front => self.happen(next.at_ns),
        }
        self.settle(next.at_ns);
    }

    /// Lets the first pool that wants to do something now do it.
    fn pool_timer(&mut self, now_ns: u64) {
        let due = |pool: &&mut Pool<P>| pool.next_event_ns() == Some(now_ns);
        if let Some(pool) = self.pools.iter_mut().find(due) {
            pool.on_timer(now_ns, &mut self.backend);
        }
        self.note_pool_timers();
    }

    /// Notes when the next pool wants to do something. That changes by what it does then alone.
    fn note_pool_timers(&mut self) {
        let due = self.pools.iter().filter_map(Pool::next_event_ns);
        self.pools_due_ns = due.min().unwrap_or(NEVER);
    }

    /// Lets one thing happen at the front.
    fn happen(&mut self, now_ns: u64) {
        let Some((_, event)) = self.calendar.take() else {
            return;
        };
        match event {
            Event::Step(ticket) => {
                if self.is_current(ticket) {
                    self.step(now_ns, ticket.id);
                }
            }
            Event::Tick(server) => self.tick(now_ns, usize::from(server)),
            Event::Takeover(number, life) => self.takeover(now_ns, usize::from(number), life),
            Event::Copied(from, life) => self.copied(now_ns, usize::from(from), life),
            Event::Fault(fault) => self.fault(now_ns, fault),
        }
    }

    /// Notes a fault that happens at `at_ns`. One that names nothing there has no effect.
    pub fn inject(&mut self, at_ns: u64, fault: Fault) {
        self.calendar
            .put(at_ns.max(self.now_ns), Event::Fault(fault));
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
        let pool = usize::from(self.volumes[usize::from(volume.0)].pool);
        let place = self.pools[pool].lay_out(volume, first_sector, sectors, first_write);
        place.map_err(|_| HostError::PoolFull)
    }

    /// Checks the laws that must hold at any time.
    ///
    /// # Panics
    ///
    /// If a request was made or lost inside, a cache's lists disagree with its lines, or Little's
    /// law is broken anywhere.
    pub fn check_laws(&self) {
        for controller in &self.controllers {
            controller.processor.check_laws(self.now_ns);
            controller.link.check_laws(self.now_ns);
            controller.cache.check_laws();
            for port in &controller.ports {
                port.inbound.check_laws(self.now_ns);
                port.outbound.check_laws(self.now_ns);
            }
        }
        let mut inside = 0;
        for volume in &self.volumes {
            volume.counters.inside.check_laws(self.now_ns);
            inside += volume.counters.inside.counters(self.now_ns).inside;
        }
        assert!(
            inside <= self.flights.in_use() as u64,
            "every request inside has an entry"
        );
        let operations: u32 = self
            .controllers
            .iter()
            .map(|each| each.operations_open)
            .sum();
        assert_eq!(
            operations as usize,
            self.operations.in_use(),
            "operations at the back end"
        );
        if let Err(broken) = self.backend.check_laws() {
            panic!("{broken}");
        }
    }
}
