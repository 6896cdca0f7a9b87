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
mod sector_damage;

#[cfg(test)]
mod tests;

pub use counters::{StationCounters, StationInvariantError};
pub(crate) use dispatch::Dispatch;
pub use dispatch::DispatchSettings;

use std::collections::{BTreeSet, VecDeque};

use crate::Direction;
use crate::disk::{Disk, DiskModel, DiskRequest, SlowableDisk};
use crate::io::IoClass;
use crate::kept::DiskContents;
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
    /// The next one in the queue; on board, the next one of the same command.
    next: u32,
    arrived_ns: u64,
}

impl<P> StationRequest<P> {
    /// Whether it goes on where `before` ends, so that one command can do both. Only what a rebuild reads
    /// and writes is joined.
    #[inline]
    fn continues(&self, before: &Self) -> bool {
        self.class == IoClass::Rebuild
            && (before.class, before.direction) == (self.class, self.direction)
            && before.first_sector + u64::from(before.sectors) == self.first_sector
    }
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

impl Queue {
    /// Takes out the first request. There is one.
    #[inline]
    fn pop<P>(&mut self, requests: &Slab<StationRequest<P>>) -> u32 {
        let id = self.first;
        self.first = requests[id].next;
        if self.first == NONE {
            self.last = NONE;
        }
        id
    }
}

/// A disk, its queues and its contents.
#[derive(Debug)]
pub struct Station<P> {
    disk: SlowableDisk,
    dispatch: Dispatch,
    working: bool,
    waiting: [Queue; LANES],
    /// Commands that the disk holds.
    on_board: [u32; LANES],
    /// Requests in them beyond the first of each.
    joined_on_board: u32,
    /// Most sectors of a command that several requests were joined to.
    most_joined_sectors: u32,
    bad_sectors: BTreeSet<u64>,
    contents: Contents<P>,
    counters: StationCounters,
    last_checksum_error: u64,
    checksum_errors_reported: u64,
}

impl<P: Payload> Station<P> {
    pub(crate) fn new(
        disk: DiskModel,
        settings: &DispatchSettings,
        most_joined_sectors: u32,
    ) -> Self {
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
            joined_on_board: 0,
            most_joined_sectors,
            bad_sectors: BTreeSet::new(),
            contents: Contents::default(),
            counters: StationCounters::default(),
            last_checksum_error: 0,
            checksum_errors_reported: 0,
        }
    }

    /// Keeps the contents elsewhere than in memory from now on.
    pub(crate) fn keep(&mut self, contents: Box<dyn DiskContents<P>>) {
        self.contents = Contents::Elsewhere(contents);
    }

    /// Has whole blocks of an extent read as zeros.
    pub(crate) fn discard(&mut self, first_sector: u64, sectors: u64) {
        self.contents.discard(first_sector, sectors);
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
        let lane = Lane::of(requests[id].class);
        let nobody_waits = self.waiting.iter().all(|queue| queue.first == NONE);
        if nobody_waits && self.dispatch.has_room(lane, &self.on_board) {
            self.arrive(now_ns, &mut requests[id]);
            self.hand_over(now_ns, id, lane, requests);
            return;
        }
        self.enqueue_only(now_ns, id, requests);
        self.fill_disk(now_ns, requests);
    }

    /// Reads or writes what is stored in no time. The disk works.
    pub(crate) fn transfer_at_once(&mut self, request: &mut StationRequest<P>) -> Outcome {
        self.store(request);
        self.transfer(request)
    }

    fn arrive(&mut self, now_ns: u64, request: &mut StationRequest<P>) {
        debug_assert!(self.working);
        self.counters.arrive(now_ns);
        request.arrived_ns = now_ns;
        self.store(request);
    }

    #[inline]
    fn store(&mut self, request: &mut StationRequest<P>) {
        if request.direction == Direction::Write {
            // All columns of a stripe that are written together change at once, so that what is stored is whole
            // at any time. Who reads them meanwhile may see either.
            let payload = std::mem::take(&mut request.payload);
            let (first_sector, sectors) = (request.first_sector, request.sectors);
            self.contents.write(first_sector, sectors, &payload);
        }
    }

    /// Takes in request `id`, for which [`Self::fill_disk`] is to be called in the same instant: until
    /// then others can come that one command does, too.
    pub(crate) fn enqueue_only(
        &mut self,
        now_ns: u64,
        id: u32,
        requests: &mut Slab<StationRequest<P>>,
    ) {
        let request = &mut requests[id];
        self.arrive(now_ns, request);
        let lane = Lane::of(request.class);
        request.stage = Stage::Waiting;
        request.next = NONE;
        let queue = &mut self.waiting[lane as usize];
        let last = std::mem::replace(&mut queue.last, id);
        if last == NONE {
            queue.first = id;
        } else {
            requests[last].next = id;
        }
    }

    /// Gives the disk a command: the request, and those that wait first in its lane and continue it.
    #[inline]
    fn hand_over(
        &mut self,
        now_ns: u64,
        id: u32,
        lane: Lane,
        requests: &mut Slab<StationRequest<P>>,
    ) {
        let request = &mut requests[id];
        request.stage = Stage::OnBoard;
        request.next = NONE;
        self.on_board[lane as usize] += 1;
        let mut command = DiskRequest {
            tag: id,
            direction: request.direction,
            first_sector: request.first_sector,
            sectors: request.sectors,
        };
        if request.class == IoClass::Rebuild {
            command.sectors = self.join(id, lane, requests);
        }
        self.disk.submit(now_ns, command);
    }

    /// Takes requests that continue the last one out of their queue; returns the sectors of all.
    fn join(&mut self, mut last: u32, lane: Lane, requests: &mut Slab<StationRequest<P>>) -> u32 {
        let queue = &mut self.waiting[lane as usize];
        let mut sectors = requests[last].sectors;
        while queue.first != NONE {
            let next = &requests[queue.first];
            let has_room = sectors + next.sectors <= self.most_joined_sectors;
            if !has_room || !next.continues(&requests[last]) {
                break;
            }
            let id = queue.pop(requests);
            requests[last].next = id;
            requests[id].stage = Stage::OnBoard;
            requests[id].next = NONE;
            sectors += requests[id].sectors;
            self.joined_on_board += 1;
            last = id;
        }
        sectors
    }

    /// Hands waiting requests to the disk while it takes any.
    #[inline]
    pub(crate) fn fill_disk(&mut self, now_ns: u64, requests: &mut Slab<StationRequest<P>>) {
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
            let id = self.waiting[lane as usize].pop(requests);
            self.hand_over(now_ns, id, lane, requests);
        }
    }

    /// Takes out what the disk completes now: the number of the first request, and how it ended. The
    /// others of the command go to `others`.
    #[inline]
    pub(crate) fn complete(
        &mut self,
        now_ns: u64,
        requests: &mut Slab<StationRequest<P>>,
        others: &mut VecDeque<(u32, Outcome)>,
    ) -> (u32, Outcome) {
        let id = self.disk.complete(now_ns).tag;
        self.on_board[Lane::of(requests[id].class) as usize] -= 1;
        let outcome = self.leave(now_ns, &mut requests[id]);
        let mut next = requests[id].next;
        while next != NONE {
            self.joined_on_board -= 1;
            let outcome = self.leave(now_ns, &mut requests[next]);
            others.push_back((next, outcome));
            next = requests[next].next;
        }
        self.fill_disk(now_ns, requests);
        (id, outcome)
    }

    #[inline]
    fn leave(&mut self, now_ns: u64, request: &mut StationRequest<P>) -> Outcome {
        request.stage = Stage::Outside;
        self.counters.complete(
            now_ns,
            request.arrived_ns,
            request.direction,
            request.class,
            request.sectors,
        );
        self.transfer(request)
    }

    /// Hands over what is read; what is written was stored when the request came. Bad sectors are left as they
    /// are in what is read.
    #[inline]
    fn transfer(&mut self, request: &mut StationRequest<P>) -> Outcome {
        let (first_sector, sectors) = (request.first_sector, request.sectors);
        match request.direction {
            Direction::Read => {
                request.payload = self.contents.read(first_sector, sectors);
                if P::CARRIES_BYTES {
                    self.check_sums(first_sector, &request.payload);
                }
                if self.bad_in(first_sector, sectors).next().is_some() {
                    self.counters.media_errors += 1;
                    return Outcome::MediaError;
                }
            }
            Direction::Write => {
                self.clear_bad(first_sector, sectors);
            }
        }
        Outcome::Done
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
        self.joined_on_board = 0;
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
        self.contents.clear();
        self.working = true;
    }

    /// Little's law at the station and inside the disk, and that the station holds what it counts.
    pub(crate) fn check_invariants(
        &self,
        station: usize,
        requests: &Slab<StationRequest<P>>,
    ) -> Result<(), StationInvariantError> {
        self.counters.check_little(station)?;
        let on_board = self.on_board.iter().sum::<u32>() + self.joined_on_board;
        let mut held = u64::from(on_board);
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
