//! The drive: it takes commands into its queue, lets the arm serve one at a time, reads on while
//! nothing else waits, and answers from its buffer what it can.
//!
//! With a write cache, writes are done once they are in it; the mechanism empties it while no
//! command waits ([`super::cached_writes`]).
//!
//! Two servers work side by side. The mechanism serves what needs the medium, one command at a
//! time. The electronics send what the buffer holds, in the order it was asked for.

use std::collections::VecDeque;
use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::mechanics::{Arm, Cursor, Mechanics};
use super::read_cache::ReadCache;
use super::rotation::TURN;
use super::scheduler::{InService, Near, Queue, Waiting};
use super::write_cache::WriteCache;
use super::{HardDiskDescription, check};
use crate::Direction;
use crate::disk::interface::assert_servable;
use crate::disk::{Disk, DiskCompletion, DiskCounters, DiskRequest, ServiceParts};

/// The head stays on after a read and goes on reading into a segment of the buffer.
#[derive(Debug, Clone, Copy)]
struct ReadAhead {
    segment: usize,
    cursor: Cursor,
    /// The next sector to pass under the head.
    next_sector: u64,
    /// Where reading ahead ends unless more is asked for.
    limit_sector: u64,
    stopped: bool,
}

/// Where the last command ended: one that goes on from there needs no positioning.
#[derive(Debug, Clone, Copy)]
struct LastEnd {
    direction: Direction,
    sector: u64,
    cursor: Cursor,
}

/// A hard disk. See the module.
#[derive(Debug, Clone)]
pub struct HardDisk {
    pub(super) mechanics: Arc<Mechanics>,
    /// Spindle time is the time plus this: the platters are at angle 0 at spindle time 0, and
    /// every drive's spindle is out of step with the others. Cursors hold spindle times.
    spindle_lead_ns: u64,
    arm: Arm,
    pub(super) queue: Queue,
    pub(super) in_service: Option<InService>,
    read_ahead: Option<ReadAhead>,
    last_end: Option<LastEnd>,
    pub(super) cache: ReadCache,
    pub(super) write_cache: Option<Box<WriteCache>>,
    from_buffer: VecDeque<InService>,
    interface_free_ns: u64,
    counters: DiskCounters,
}

impl HardDisk {
    /// The drive of a description that [`check::check`] finds nothing wrong with; `None` for one
    /// it does. The seed decides the angle of the platters at the start.
    pub(crate) fn new(description: &HardDiskDescription, seed: u64) -> Option<Self> {
        if !check::check(description, "").is_empty() {
            return None;
        }
        let mechanics = Arc::new(Mechanics::new(description)?);
        let mut drive = Self {
            spindle_lead_ns: 0,
            arm: Arm {
                cylinder: 0,
                head: 0,
            },
            queue: Queue::new(mechanics.on_board_queue_depth, mechanics.scheduler_depth),
            in_service: None,
            read_ahead: None,
            last_end: None,
            cache: ReadCache::new(description.read_cache.as_ref()),
            write_cache: WriteCache::new(description.write_cache_bytes),
            from_buffer: VecDeque::new(),
            interface_free_ns: 0,
            counters: DiskCounters::default(),
            mechanics,
        };
        drive.set_spindle(seed);
        Some(drive)
    }

    fn set_spindle(&mut self, seed: u64) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let angle = random.random_range(0..TURN);
        self.spindle_lead_ns = self.mechanics.rotation.ns_of(angle);
    }

    /// An unused drive of the same make; it shares the tables of this one.
    pub(crate) fn another(&self, seed: u64) -> Self {
        let mut drive = Self {
            arm: Arm {
                cylinder: 0,
                head: 0,
            },
            queue: Queue::new(
                self.mechanics.on_board_queue_depth,
                self.mechanics.scheduler_depth,
            ),
            in_service: None,
            read_ahead: None,
            last_end: None,
            cache: self.cache.unused(),
            write_cache: self.write_cache.as_ref().and_then(|cache| cache.unused()),
            from_buffer: VecDeque::new(),
            interface_free_ns: 0,
            counters: DiskCounters::default(),
            ..self.clone()
        };
        drive.set_spindle(seed);
        drive
    }

    /// Starts the next command if the mechanism is free and one waits; with none waiting, begins
    /// to empty the write cache.
    #[inline]
    pub(super) fn start_next(&mut self, now_ns: u64) {
        if self.in_service.is_some() {
            return;
        }
        let Some(mut write_cache) = self.write_cache.take() else {
            self.in_service = self.start_one(now_ns, None);
            return;
        };
        if !write_cache.is_emptying() {
            self.in_service = self.start_one(now_ns, None);
            if self.in_service.is_none() {
                // What the drive does of its own has no command to decode.
                write_cache.emptying = self.start_one(now_ns, Some(&mut write_cache.dirty));
            }
        }
        self.write_cache = Some(write_cache);
    }

    /// Starts the best of a queue, the drive's own by default.
    #[inline]
    fn start_one(&mut self, now_ns: u64, mut other: Option<&mut Queue>) -> Option<InService> {
        self.read_on(now_ns);
        let is_command = other.is_none();
        let least_ns = match is_command {
            true => self.mechanics.least_overhead_ns(),
            false => 0,
        };
        let lead_ns = self.spindle_lead_ns;
        let angle = self
            .mechanics
            .rotation
            .angle_at(now_ns + lead_ns + least_ns);
        let arm = self.arm_now();
        let near = self.near(now_ns);
        let queue = match &mut other {
            Some(other) => &mut **other,
            None => &mut self.queue,
        };
        let choice = queue.choose(&self.mechanics, now_ns, arm, angle, near)?;
        let overhead_ns = match is_command {
            true => queue.overhead_ns(&self.mechanics, choice.index, now_ns),
            false => 0,
        };
        let moves_ns = now_ns + lead_ns + overhead_ns;
        let angle = self.mechanics.rotation.angle_at(moves_ns);
        let way = queue.way_to(&self.mechanics, choice.index, arm, angle);
        let waiting = queue.take(choice.index);
        if choice.goes_on {
            return Some(self.go_on(now_ns, &waiting));
        }
        let parts = ServiceParts {
            overhead_ns,
            seek_ns: self.mechanics.rotation.ns_of(way.seek),
            rotation_ns: self.mechanics.rotation.ns_of(way.rotation),
            transfer_ns: 0,
        };
        let cursor = Cursor {
            place: waiting.place,
            at_ns: now_ns + self.spindle_lead_ns + parts.total_ns(),
        };
        self.read_ahead = None;
        Some(self.serve_at(now_ns, &waiting, cursor, parts))
    }

    /// What the head can serve where it is.
    #[inline]
    fn near(&self, now_ns: u64) -> Option<Near> {
        if let Some(ahead) = &self.read_ahead {
            let from_sector = self.cache.first_sector(ahead.segment);
            return Some(Near {
                direction: Direction::Read,
                from_sector,
                further_sectors: ahead.next_sector - from_sector,
                least_wait_ns: 0,
            });
        }
        // Without read-ahead a command has to have been decoded before the one before it ended.
        self.last_end
            .filter(|last| last.cursor.at_ns == now_ns + self.spindle_lead_ns)
            .map(|last| Near {
                direction: last.direction,
                from_sector: last.sector,
                further_sectors: 0,
                least_wait_ns: self.mechanics.sequential_overhead_ns(),
            })
    }

    /// Serves a command that goes on where the head is.
    fn go_on(&mut self, now_ns: u64, waiting: &Waiting) -> InService {
        if self.read_ahead.is_some() {
            return self.go_on_reading(now_ns, waiting);
        }
        let cursor = match self.last_end {
            Some(last) => last.cursor,
            None => Cursor {
                place: waiting.place,
                at_ns: now_ns + self.spindle_lead_ns,
            },
        };
        self.serve_at(now_ns, waiting, cursor, ServiceParts::default())
    }

    /// Serves a command whose first sector is under the head when the cursor says.
    fn serve_at(
        &mut self,
        now_ns: u64,
        waiting: &Waiting,
        mut cursor: Cursor,
        mut parts: ServiceParts,
    ) -> InService {
        let request = waiting.request;
        let end_sector = request.first_sector + u64::from(request.sectors);
        self.mechanics
            .pass(&mut cursor, request.sectors, request.direction);
        let mut finish_ns = cursor.at_ns - self.spindle_lead_ns;
        if request.direction == Direction::Read && !self.mechanics.overlaps_interface {
            finish_ns += self.mechanics.interface_ns(request.sectors);
        }
        parts.transfer_ns = finish_ns - now_ns - parts.total_ns();
        self.arm = Arm {
            cylinder: cursor.place.cylinder,
            head: cursor.place.head,
        };
        self.last_end = Some(LastEnd {
            direction: request.direction,
            sector: end_sector,
            cursor,
        });
        if self.cache.is_there() {
            match request.direction {
                Direction::Read => {
                    let limit_sector = self.limit_after(end_sector);
                    self.read_ahead = Some(ReadAhead {
                        segment: self.cache.begin(request.first_sector),
                        cursor,
                        next_sector: end_sector,
                        limit_sector,
                        stopped: limit_sector == end_sector,
                    });
                }
                Direction::Write => self.cache.invalidate(request.first_sector, end_sector),
            }
        }
        InService {
            request,
            submitted_ns: waiting.submitted_ns,
            started_ns: now_ns,
            finish_ns,
            parts,
        }
    }

    /// Serves a read out of what is being read ahead: it ends when its last sector has passed, or
    /// when the electronics have sent what had passed before.
    fn go_on_reading(&mut self, now_ns: u64, waiting: &Waiting) -> InService {
        let request = waiting.request;
        let end_sector = request.first_sector + u64::from(request.sectors);
        self.ask_ahead_to(now_ns, end_sector);
        let overhead_ns = self.mechanics.sequential_overhead_ns();
        let mut finish_ns = now_ns + overhead_ns + self.mechanics.interface_ns(request.sectors);
        if let Some(ahead) = &mut self.read_ahead {
            if end_sector > ahead.next_sector {
                let more = (end_sector - ahead.next_sector) as u32;
                self.mechanics
                    .pass(&mut ahead.cursor, more, Direction::Read);
                ahead.next_sector = end_sector;
                finish_ns = finish_ns.max(ahead.cursor.at_ns - self.spindle_lead_ns);
            }
            self.cache.touch(ahead.segment);
        }
        let overhead_ns = overhead_ns.min(finish_ns - now_ns);
        InService {
            request,
            submitted_ns: waiting.submitted_ns,
            started_ns: now_ns,
            finish_ns,
            parts: ServiceParts {
                overhead_ns,
                transfer_ns: finish_ns - now_ns - overhead_ns,
                ..ServiceParts::default()
            },
        }
    }

    fn limit_after(&self, end_sector: u64) -> u64 {
        (end_sector + self.cache.read_ahead_sectors).min(self.mechanics.capacity_sectors)
    }

    /// A stream has been asked for up to `end_sector`: reads on from there by the usual length.
    fn ask_ahead_to(&mut self, now_ns: u64, end_sector: u64) {
        let limit_sector = self.limit_after(end_sector);
        let spindle_ns = now_ns + self.spindle_lead_ns;
        let Some(ahead) = &mut self.read_ahead else {
            return;
        };
        ahead.limit_sector = ahead.limit_sector.max(limit_sector);
        if ahead.stopped && ahead.limit_sector > ahead.next_sector {
            // The head stayed on its track; the next sector has to come round again.
            ahead.stopped = false;
            ahead.cursor.at_ns = ahead.cursor.at_ns.max(spindle_ns);
            self.mechanics.wait_for_place(&mut ahead.cursor);
        }
    }

    /// Takes note of what has been read ahead by now.
    #[inline]
    fn read_on(&mut self, now_ns: u64) {
        let spindle_ns = now_ns + self.spindle_lead_ns;
        let Some(ahead) = &mut self.read_ahead else {
            return;
        };
        if spindle_ns < ahead.cursor.at_ns {
            return;
        }
        let most = ahead.limit_sector - ahead.next_sector;
        if most > 0 && spindle_ns > ahead.cursor.at_ns {
            let passed = self
                .mechanics
                .pass_until(&mut ahead.cursor, spindle_ns, most);
            ahead.next_sector += passed;
            ahead.stopped = ahead.next_sector == ahead.limit_sector;
        }
        self.cache.grow(ahead.segment, ahead.next_sector);
    }

    /// Where the arm is, having followed what is read ahead.
    #[inline]
    fn arm_now(&self) -> Arm {
        self.read_ahead.map_or(self.arm, |ahead| Arm {
            cylinder: ahead.cursor.place.cylinder,
            head: ahead.cursor.place.head,
        })
    }

    /// Answers a command from the buffer if that can be done: a read of what is there, a write
    /// that the write cache has room for.
    #[inline]
    fn serve_from_buffer(&mut self, now_ns: u64, request: &DiskRequest) -> bool {
        let served = match request.direction {
            Direction::Read => self.read_from_buffer(now_ns, request),
            Direction::Write => self.write_to_cache(now_ns, request),
        };
        if served {
            self.send_from_buffer(now_ns, now_ns, request);
        }
        served
    }

    fn read_from_buffer(&mut self, now_ns: u64, request: &DiskRequest) -> bool {
        if self.holds_unwritten(request) {
            return true;
        }
        if !self.cache.is_there() {
            return false;
        }
        self.read_on(now_ns);
        let end_sector = request.first_sector + u64::from(request.sectors);
        let Some(segment) = self.cache.find(request.first_sector, end_sector) else {
            return false;
        };
        if self
            .read_ahead
            .is_some_and(|ahead| ahead.segment == segment)
        {
            self.ask_ahead_to(now_ns, end_sector);
        }
        true
    }

    /// Moves the bytes of a command between buffer and host.
    pub(super) fn send_from_buffer(
        &mut self,
        now_ns: u64,
        submitted_ns: u64,
        request: &DiskRequest,
    ) {
        let transfer_ns = self.mechanics.interface_ns(request.sectors);
        let overhead_ns = self.mechanics.buffer_overhead_ns(request.direction);
        let finish_ns = self.interface_free_ns.max(now_ns + overhead_ns) + transfer_ns;
        self.interface_free_ns = finish_ns;
        self.from_buffer.push_back(InService {
            request: *request,
            submitted_ns,
            started_ns: now_ns,
            finish_ns,
            parts: ServiceParts {
                overhead_ns,
                transfer_ns,
                ..ServiceParts::default()
            },
        });
    }
}

impl Disk for HardDisk {
    fn capacity_sectors(&self) -> u64 {
        self.mechanics.capacity_sectors
    }

    #[inline]
    fn submit(&mut self, now_ns: u64, request: DiskRequest) {
        assert_servable(self, &request);
        self.counters.arrive(now_ns);
        self.catch_up(now_ns);
        if !self.serve_from_buffer(now_ns, &request) {
            self.queue.push(&self.mechanics, now_ns, request);
        }
        self.start_next(now_ns);
        self.predict_end();
    }

    #[inline]
    fn next_completion_ns(&self) -> Option<u64> {
        let mechanism = match &self.in_service {
            Some(service) => Some(service.finish_ns),
            None => self
                .write_cache
                .as_ref()
                .and_then(|cache| cache.predicted_end_ns),
        };
        let electronics = self.from_buffer.front().map(|service| service.finish_ns);
        match (mechanism, electronics) {
            (Some(one), Some(other)) => Some(one.min(other)),
            (one, other) => one.or(other),
        }
    }

    #[inline]
    fn complete(&mut self, now_ns: u64) -> DiskCompletion {
        self.catch_up(now_ns);
        let is_due = |service: &InService| service.finish_ns == now_ns;
        let from_mechanism = self.in_service.as_ref().is_some_and(is_due);
        let served = if from_mechanism {
            self.in_service.take()
        } else {
            self.counters.buffer_hits += 1;
            self.from_buffer.pop_front().filter(is_due)
        };
        let Some(served) = served else {
            panic!("no request of this disk completes at {now_ns} ns");
        };
        let (submitted_ns, started_ns) = (served.submitted_ns, served.started_ns);
        self.counters.leave(
            now_ns,
            submitted_ns,
            started_ns,
            &served.request,
            served.parts,
        );
        if from_mechanism {
            self.start_next(now_ns);
        }
        self.predict_end();
        DiskCompletion {
            tag: served.request.tag,
            started_ns,
        }
    }

    fn queued(&self) -> usize {
        self.counters.inside as usize
    }

    fn on_board_queue_depth(&self) -> usize {
        self.mechanics.on_board_queue_depth
    }

    fn counters(&self) -> &DiskCounters {
        &self.counters
    }
}
