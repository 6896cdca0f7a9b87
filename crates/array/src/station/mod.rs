//! A disk in its bay: what waits for it, what is stored on it, whether it works.
//!
//! - [`dispatch`]: which waiting request the disk gets next.
//! - [`contents`]: the stored sectors.
//! - [`counters`]: what is counted, and the invariants of the counters.
//!
//! Requests lie in a slab that the back end owns; the queues here are lists through that slab.

mod contents;
mod counters;
mod dispatch;

#[cfg(test)]
mod tests;

pub use counters::{StationCounters, StationInvariantError};
pub(crate) use dispatch::Dispatch;
pub use dispatch::DispatchSettings;

use std::collections::BTreeSet;

use crate::Direction;
use crate::disk::{Disk, DiskModel, DiskRequest, SlowableDisk};
use crate::io::IoClass;
use crate::payload::Payload;
use crate::slab::Slab;
use contents::Contents;
use dispatch::{LANES, Lane};

/// No request: the end of a list.
const NONE: u32 = u32::MAX;

/// Where a disk request is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Stage {
    #[default]
    Outside,
    Waiting,
    OnBoard,
}

/// Whose disk request it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Parent {
    /// A group request whose sectors from `slot` on this disk request reads or writes.
    Request(u32),
    /// A stripe task; `slot` says which of its requests it is.
    Task(u32),
}

/// How a disk request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// Done; a read carries what was stored.
    Done,
    /// Some of the sectors cannot be read.
    MediaError,
    /// The disk has failed; nothing was read or written.
    DiskFailed,
}

/// A request to one disk.
#[derive(Debug, Clone)]
pub(crate) struct StationRequest<P> {
    pub(crate) first_sector: u64,
    pub(crate) sectors: u32,
    pub(crate) station: u16,
    pub(crate) direction: Direction,
    pub(crate) class: IoClass,
    pub(crate) parent: Parent,
    pub(crate) slot: u32,
    pub(crate) payload: P,
    stage: Stage,
    next: u32,
    arrived_ns: u64,
}

impl<P: Payload> Default for StationRequest<P> {
    fn default() -> Self {
        Self {
            first_sector: 0,
            sectors: 0,
            station: 0,
            direction: Direction::Read,
            class: IoClass::HostRead,
            parent: Parent::Request(NONE),
            slot: 0,
            payload: P::default(),
            stage: Stage::Outside,
            next: NONE,
            arrived_ns: 0,
        }
    }
}

#[derive(Debug, Clone, Copy)]
struct Queue {
    first: u32,
    last: u32,
}

/// A disk, its queues and its contents.
#[derive(Debug)]
pub struct Station<P> {
    disk: SlowableDisk,
    dispatch: Dispatch,
    working: bool,
    waiting: [Queue; LANES],
    on_board: [u32; LANES],
    bad_sectors: BTreeSet<u64>,
    contents: Contents<P>,
    counters: StationCounters,
}

impl<P: Payload> Station<P> {
    pub(crate) fn new(disk: DiskModel, settings: &DispatchSettings) -> Self {
        let dispatch = Dispatch::new(settings, disk.on_board_queue_depth());
        let empty = Queue {
            first: NONE,
            last: NONE,
        };
        Self {
            disk: SlowableDisk::new(disk),
            dispatch,
            working: true,
            waiting: [empty; LANES],
            on_board: [0; LANES],
            bad_sectors: BTreeSet::new(),
            contents: Contents::default(),
            counters: StationCounters::default(),
        }
    }

    /// Whether the disk works.
    pub fn is_working(&self) -> bool {
        self.working
    }

    /// The disk that is in the bay now.
    pub fn disk(&self) -> &SlowableDisk {
        &self.disk
    }

    /// The station's counters, the disk's queue and the controller's together.
    pub fn counters(&self) -> &StationCounters {
        &self.counters
    }

    /// Requests in the station.
    #[inline]
    pub(crate) fn load(&self) -> u32 {
        self.counters.inside
    }

    #[inline]
    pub(crate) fn next_completion_ns(&self) -> Option<u64> {
        if self.working {
            self.disk.next_completion_ns()
        } else {
            None
        }
    }

    /// Takes in request `id`. The disk works.
    #[inline]
    pub(crate) fn enqueue(&mut self, now_ns: u64, id: u32, requests: &mut Slab<StationRequest<P>>) {
        debug_assert!(self.working);
        self.counters.arrive(now_ns);
        let request = &mut requests[id];
        request.arrived_ns = now_ns;
        let lane = Lane::of(request.class);
        let nobody_waits = self.waiting.iter().all(|queue| queue.first == NONE);
        if nobody_waits && self.dispatch.has_room(lane, &self.on_board) {
            self.hand_over(now_ns, id, lane, request);
            return;
        }
        request.stage = Stage::Waiting;
        request.next = NONE;
        let queue = &mut self.waiting[lane as usize];
        let last = std::mem::replace(&mut queue.last, id);
        if last == NONE {
            queue.first = id;
        } else {
            requests[last].next = id;
        }
        self.fill_disk(now_ns, requests);
    }

    #[inline]
    fn hand_over(&mut self, now_ns: u64, id: u32, lane: Lane, request: &mut StationRequest<P>) {
        request.stage = Stage::OnBoard;
        self.on_board[lane as usize] += 1;
        self.disk.submit(
            now_ns,
            DiskRequest {
                tag: id,
                direction: request.direction,
                first_sector: request.first_sector,
                sectors: request.sectors,
            },
        );
    }

    /// Hands waiting requests to the disk while it takes any.
    #[inline]
    fn fill_disk(&mut self, now_ns: u64, requests: &mut Slab<StationRequest<P>>) {
        loop {
            let waiting = &self.waiting;
            let oldest_ns = std::array::from_fn(|lane| {
                let first = waiting[lane].first;
                (first != NONE).then(|| requests[first].arrived_ns)
            });
            if oldest_ns == [None; LANES] {
                return;
            }
            let Some(lane) = self.dispatch.choose(now_ns, oldest_ns, &self.on_board) else {
                return;
            };
            let queue = &mut self.waiting[lane as usize];
            let id = queue.first;
            queue.first = requests[id].next;
            if queue.first == NONE {
                queue.last = NONE;
            }
            self.hand_over(now_ns, id, lane, &mut requests[id]);
        }
    }

    /// Takes out the request that the disk completes now: its number, and how it ended.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        now_ns: u64,
        requests: &mut Slab<StationRequest<P>>,
    ) -> (u32, Outcome) {
        let id = self.disk.complete(now_ns).tag;
        let request = &mut requests[id];
        request.stage = Stage::Outside;
        self.on_board[Lane::of(request.class) as usize] -= 1;
        self.counters.complete(
            now_ns,
            request.arrived_ns,
            request.direction,
            request.class,
            request.sectors,
        );
        let outcome = self.transfer(request);
        self.fill_disk(now_ns, requests);
        (id, outcome)
    }

    /// Moves the contents. Bad sectors are left as zeros in what is read.
    #[inline]
    fn transfer(&mut self, request: &mut StationRequest<P>) -> Outcome {
        let (first_sector, sectors) = (request.first_sector, request.sectors);
        match request.direction {
            Direction::Read => {
                request.payload = self.contents.read(first_sector, sectors);
                if self.bad_in(first_sector, sectors).next().is_some() {
                    self.counters.media_errors += 1;
                    return Outcome::MediaError;
                }
            }
            Direction::Write => {
                let payload = std::mem::take(&mut request.payload);
                self.contents.write(first_sector, sectors, &payload);
                self.clear_bad(first_sector, sectors);
            }
        }
        Outcome::Done
    }

    /// The sectors of an extent that cannot be read, in order.
    #[inline]
    pub(crate) fn bad_in(&self, first_sector: u64, sectors: u32) -> impl Iterator<Item = u64> + '_ {
        let range = first_sector..first_sector + u64::from(sectors);
        self.bad_sectors.range(range).copied()
    }

    /// Sectors that cannot be read.
    pub fn bad_sectors(&self) -> usize {
        self.bad_sectors.len()
    }

    fn clear_bad(&mut self, first_sector: u64, sectors: u32) {
        if self.bad_sectors.is_empty() {
            return;
        }
        let written: Vec<u64> = self.bad_in(first_sector, sectors).collect();
        for sector in written {
            self.bad_sectors.remove(&sector);
        }
    }

    /// Makes sectors unreadable until they are written, as a flaw in the medium does, or a
    /// controller that has to mark contents it could not recover.
    pub(crate) fn mark_unreadable(&mut self, first_sector: u64, sectors: u32) {
        if self.working {
            let damaged = first_sector..first_sector + u64::from(sectors);
            self.bad_sectors.extend(damaged);
        }
    }

    /// Changes what is stored without anybody noticing: a lost or misdirected write.
    pub(crate) fn corrupt(&mut self, first_sector: u64, sectors: u32, payload: &P) {
        self.contents.write(first_sector, sectors, payload);
    }

    /// The disk stops working and everything on it is gone. The numbers of the requests it held
    /// are added to `lost`.
    pub(crate) fn fail(
        &mut self,
        now_ns: u64,
        station: u16,
        requests: &mut Slab<StationRequest<P>>,
        lost: &mut Vec<u32>,
    ) {
        self.working = false;
        self.contents.clear();
        self.bad_sectors.clear();
        self.waiting = [Queue {
            first: NONE,
            last: NONE,
        }; LANES];
        self.on_board = [0; LANES];
        for id in 0..requests.len() {
            let request = &mut requests[id];
            if request.stage != Stage::Outside && request.station == station {
                request.stage = Stage::Outside;
                self.counters.lose(now_ns, request.arrived_ns);
                lost.push(id);
            }
        }
    }

    /// How many times as long everything takes as it does for the disk's make.
    pub(crate) fn slowness(&self) -> u32 {
        self.disk.factor()
    }

    /// From now on the disk takes so many times as long for everything as its make does.
    pub(crate) fn set_slowness(&mut self, now_ns: u64, factor: u32) {
        self.disk.set_factor(now_ns, factor);
    }

    /// Puts a new, blank disk in the place of the failed one.
    pub(crate) fn replace(&mut self, disk: DiskModel, settings: &DispatchSettings) {
        assert!(!self.working, "only a failed disk is replaced");
        self.dispatch = Dispatch::new(settings, disk.on_board_queue_depth());
        self.disk = SlowableDisk::new(disk);
        self.working = true;
    }

    /// Little's law at the station and inside the disk, and that the station holds what it counts.
    pub(crate) fn check_invariants(
        &self,
        station: usize,
        requests: &Slab<StationRequest<P>>,
    ) -> Result<(), StationInvariantError> {
        self.counters.check_little(station)?;
        let mut held = u64::from(self.on_board.iter().sum::<u32>());
        for queue in &self.waiting {
            let mut next = queue.first;
            while next != NONE {
                held += 1;
                next = requests[next].next;
            }
        }
        let counted = u64::from(self.counters.inside);
        if held != counted {
            return Err(StationInvariantError::Conservation {
                station,
                counted,
                held,
            });
        }
        let disk = self.disk.counters();
        disk.check_invariants()
            .map_err(|violation| StationInvariantError::Disk { station, violation })
    }
}
